//! Reads that meet faults of flash.

use crate::device::errors::{Errors, ReadOf, RecoveryId};
use engine::{Instant, bits};
use ftl::{Batch, Ftl, Layout};
use nand::errors::{Fault, Wrong};
use std::ops::Range;

impl Errors {
    /// The fault of a page that is read, if it has one.
    #[inline]
    pub(super) fn fault(
        &self,
        (ftl, now): (&Ftl, Instant),
        at: Batch,
        plane: u32,
        row: u32,
    ) -> Option<Fault> {
        let faults = self.faults.as_ref()?;
        faults.of(ftl, now, at, plane, row)
    }

    /// Marks the codewords of a page that cannot be decoded because of a fault.
    #[cold]
    pub(super) fn find_faulty(&mut self, words: Range<u32>) {
        self.wrong.extend(words.map(|word| Wrong { word, errors: Wrong::FAULTY }));
    }

    /// Finds faults that have come since the last attempt of a read: a program made its word line
    /// fail, or its die failed. Codewords that were decoded stay decoded.
    pub(super) fn find_later_faults(
        &mut self,
        ftl: &Ftl,
        now: Instant,
        read: &ReadOf,
        id: RecoveryId,
    ) {
        if self.faults.is_none() {
            return;
        }
        for (row, plane, words) in read.pages(&ftl.layout) {
            let Some(fault) = self.fault((ftl, now), read.at, plane, row) else { continue };
            let recovery = &mut self.recoveries[id];
            let of_page = recovery.wrong.iter_mut().filter(|wrong| words.contains(&wrong.word));
            let mut is_met = false;
            for wrong in of_page {
                wrong.errors = Wrong::FAULTY;
                is_met = true;
            }
            if is_met && !std::mem::replace(&mut recovery.is_faulty, true) {
                self.counters.faulty[fault as usize][recovery.holder as usize] += 1;
            }
        }
    }
}

impl ReadOf {
    /// The pages of a read: row, plane and the numbers of its codewords among those of the read.
    pub(super) fn pages<'a>(
        &self,
        layout: &'a Layout,
    ) -> impl Iterator<Item = (u32, u32, Range<u32>)> + use<'a> {
        let Self { row, rows, planes, words, .. } = *self;
        let mut first = 0;
        let pages = (row..row + rows)
            .flat_map(move |row| (0..).zip(bits(planes)).map(move |(at, plane)| (row, at, plane)));
        pages.map(move |(row, at, plane)| {
            let plane = plane as u32;
            let from = first;
            first += words.on_plane(layout, planes, (at, plane));
            (row, plane, from..first)
        })
    }
}
