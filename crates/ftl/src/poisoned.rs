//! Units whose data was lost when it was moved: they stay mapped, and reads of them fail until
//! they are written anew.

use crate::ftl::Ftl;
use crate::ids::{BlockId, Ppn};

impl Ftl {
    /// True if the data of any unit may have been lost.
    #[inline]
    pub(crate) fn has_poison(&self) -> bool {
        !self.poison.units.is_empty()
    }
    /// True if the data of a physical unit was lost.
    #[inline]
    pub fn is_poisoned(&self, ppn: Ppn) -> bool {
        self.has_poison() && self.poison.units.contains(&ppn)
    }
    /// Records that the data of a physical unit is lost.
    pub fn poison(&mut self, ppn: Ppn) {
        self.poison.units.insert(ppn);
    }
    /// Number of logical units of hosts whose data is lost: parity is none.
    pub fn poisoned_units(&self) -> u32 {
        let host_units = self.layout.host_units;
        let is_lost = |ppn: &Ppn| self.is_valid(*ppn) && self.holds(*ppn).0 < host_units;
        self.poison.units.iter().filter(|ppn| is_lost(ppn)).count() as u32
    }
    /// Physical units without data, in order: those that are still valid.
    pub(crate) fn poisoned(&self) -> Vec<u32> {
        self.poison.units.iter().filter(|ppn| self.is_valid(**ppn)).map(|ppn| ppn.0).collect()
    }
    pub(crate) fn restore_poison(&mut self, units: &[u32]) {
        self.poison.units = units.iter().map(|ppn| Ppn(*ppn)).collect();
    }
    /// A copy of a unit without data has none, either.
    #[inline]
    pub(crate) fn copy_poison(&mut self, from: Ppn, to: Ppn) {
        if self.is_poisoned(from) {
            self.poison(to);
        }
    }
    /// Copies the poison of all units of a batch, from their first.
    #[cold]
    #[inline(never)]
    pub(crate) fn copy_poison_of(&mut self, from: Ppn, to: Ppn) {
        for slot in 0..self.layout.units_per_batch {
            self.copy_poison(Ppn(from.0 + slot), Ppn(to.0 + slot));
        }
    }
    /// Forgets the units of an erased block.
    #[inline]
    pub(crate) fn forget_poison(&mut self, block: BlockId) {
        if self.has_poison() {
            let [first, behind] = [0, self.layout.batches_per_block]
                .map(|batch| self.layout.first_unit(block, batch));
            let of_block: Vec<Ppn> = self.poison.units.range(first..behind).copied().collect();
            of_block.iter().for_each(|ppn| {
                self.poison.units.remove(ppn);
            });
        }
    }
}
