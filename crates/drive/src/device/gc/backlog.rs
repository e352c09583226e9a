//! Erases that wait for the end of a burst of reads: they do not begin before no host read
//! has used their unit for a while, and then run one after the other. Space comes first: a
//! bin that is short of it waits for nothing.

use crate::device::Device;
use crate::device::flash::op::Class;
use engine::{Instant, Span, bits};
use ftl::{BinId, BlockId};
use metrics::State;

/// Erases of a bin that are ready and wait.
#[derive(Clone)]
pub struct Backlog {
    waiting: Vec<BlockId>,
    /// How long host reads had used the unit at the last look.
    read: Span,
    look: Instant,
}

impl Default for Backlog {
    fn default() -> Self {
        Self { waiting: Vec::new(), read: Span::ZERO, look: Instant::NEVER }
    }
}

impl Backlog {
    /// How many wait.
    pub fn len(&self) -> u32 {
        self.waiting.len() as u32
    }
}

impl Device {
    /// A victim is ready to be erased: it is, or waits for the reads to become fewer.
    pub(in crate::device) fn erase_or_defer(&mut self, bin: BinId, block: BlockId) {
        match self.gc.erase_batching {
            Some(batching) if self.class_of(bin) == Class::Soft => {
                self.gc.backlogs[bin].waiting.push(block);
                let count = self.gc.backlogs[bin].len();
                if count >= batching.most() {
                    self.clear_backlog(bin);
                } else if count == 1 {
                    self.watch_backlog(bin, batching.quiet.span());
                }
            }
            _ => {
                self.ask_erase(bin, block);
                self.clear_backlog(bin);
            }
        }
    }

    fn watch_backlog(&mut self, bin: BinId, quiet: Span) {
        let (read, _) = self.use_by_reads(bin);
        let look = self.base.time.now + quiet;
        self.base.time.agenda.schedule(
            look,
            crate::device::event::Event::Backlog(bin),
            bin.0.into(),
        );
        let backlog = &mut self.gc.backlogs[bin];
        (backlog.read, backlog.look) = (read, look);
    }

    /// How long host reads have used the cells that a bin's erases take so far, and whether
    /// one waits for them.
    fn use_by_reads(&mut self, bin: BinId) -> (Span, bool) {
        let place = &self.base.flash.places[bin];
        let group = place.group;
        let mut read = Span::ZERO;
        for cell in bits(place.erase) {
            let ledger = self.base.flash.ledgers.of(group, 1 << cell);
            ledger.settle_with(
                self.base.time.now,
                &mut self.base.flash.channels[place.channel].ledger,
            );
            read += ledger.totals()[State::UnitHostRead as usize];
        }
        let waits = self.base.flash.groups[group]
            .reads_on(&self.base.flash.ops, place.erase, true)
            .next()
            .is_some();
        (read, waits)
    }

    pub(in crate::device) fn backlog_due(&mut self, bin: BinId) {
        if self.gc.backlogs[bin].look != self.base.time.now {
            return;
        }
        let batching = self.gc.erase_batching.expect("only a drive that batches erases looks");
        let (read, waits) = self.use_by_reads(bin);
        if waits || read > self.gc.backlogs[bin].read {
            self.watch_backlog(bin, batching.quiet.span());
        } else {
            self.clear_backlog(bin);
            self.note_space(bin);
        }
    }

    /// All erases of a bin that wait for a burst to end wait for it no longer.
    pub(in crate::device) fn clear_backlog(&mut self, bin: BinId) {
        if self.gc.erase_batching.is_none() {
            return;
        }
        let backlog = &mut self.gc.backlogs[bin];
        backlog.look = Instant::NEVER;
        for block in std::mem::take(&mut backlog.waiting) {
            self.ask_erase(bin, block);
        }
    }
}
