//! Writes and trims of subunits: which parts of each mapping unit hold data of hosts, in the map and
//! in the metadata on flash.

use crate::ftl::Ftl;
use crate::ids::{Lpn, Ppn};

impl Ftl {
    /// Subunits of a unit that hold data of hosts, also if it is not on flash yet. Only with subunits.
    pub fn written(&self, lpn: Lpn) -> u64 {
        self.map.subunits.written(lpn)
    }
    /// Records the subunits of a unit that hold data.
    pub fn set_written(&mut self, lpn: Lpn, mask: u64) {
        self.map.subunits.set_written(lpn, mask);
    }
    /// Records that a host writes some subunits of a unit.
    pub fn add_written(&mut self, lpn: Lpn, mask: u64) {
        let before = self.map.subunits.written(lpn);
        self.map.subunits.set_written(lpn, before | mask);
    }
    /// Records that no subunit of a unit holds data, if that is kept.
    #[inline]
    pub fn forget_written(&mut self, lpn: Lpn) {
        if self.map.subunits.are_kept() {
            self.map.subunits.set_written(lpn, 0);
        }
    }
    /// Records that hosts trim some subunits of a unit; returns those that still hold data. The trim
    /// outlasts a power cut if trims do.
    pub fn trim_subunits(&mut self, lpn: Lpn, mask: u64) -> u64 {
        let left = self.map.subunits.written(lpn) & !mask;
        self.map.subunits.set_written(lpn, left);
        if self.persist.as_ref().is_some_and(|persist| persist.trims_stay)
            && let Some(ppn) = self.map.lookup(lpn)
            && let Some(on_flash) = self.map.subunits.on_flash(ppn)
        {
            self.map.subunits.program(ppn, on_flash & !mask);
        }
        left
    }
    /// Subunits with which a place on flash was written, by the metadata there. Only if it is kept.
    pub fn written_at(&self, ppn: Ppn) -> u64 {
        self.map.subunits.on_flash(ppn).unwrap_or(0)
    }
    /// Records the subunits with which a bound place is written.
    pub fn note_subunits(&mut self, ppn: Ppn, mask: u64) {
        self.map.subunits.program(ppn, mask);
    }
    /// Records that a run of units is written as their logical units are now.
    pub(crate) fn note_all_written(&mut self, first: Ppn, units: &[Lpn]) {
        if !self.map.subunits.are_kept_on_flash() {
            return;
        }
        for (slot, lpn) in (0..).zip(units) {
            let written = self.map.subunits.written(*lpn);
            self.map.subunits.program(Ppn(first.0 + slot), written);
        }
    }
    /// Begins to keep the subunits of physical units, or stops.
    pub(crate) fn keep_written(&mut self, keeps: bool) {
        if !keeps {
            return self.map.subunits.drop_on_flash();
        }
        self.map.subunits.keep_on_flash();
        self.take_written();
    }
    /// Takes the subunits that logical units hold for those of their places.
    pub fn take_written(&mut self) {
        if !self.map.subunits.are_kept_on_flash() {
            return;
        }
        for lpn in (0..self.layout.map_units).map(Lpn) {
            if let Some(ppn) = self.map.lookup(lpn) {
                let written = self.map.subunits.written(lpn);
                self.map.subunits.program(ppn, written);
            }
        }
    }
    /// Finds the subunits that hold data after a power cut: those of the place of each unit.
    pub(crate) fn recover_written(&mut self) {
        if !self.map.subunits.are_kept() {
            return;
        }
        for lpn in (0..self.layout.map_units).map(Lpn) {
            let ppn = self.map.lookup(lpn);
            let found = ppn.and_then(|ppn| self.map.subunits.on_flash(ppn));
            self.map.subunits.set_written(lpn, found.unwrap_or(0));
        }
    }
}
