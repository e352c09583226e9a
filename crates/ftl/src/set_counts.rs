//! Counts and clocks by NVM set.

use crate::blocks::{Source, Tally};
use crate::ftl::Ftl;
use crate::ids::{BinId, BlockId, SetId};
use crate::of_set::OfSet;
use engine::ids::Id;

impl Ftl {
    /// Counts something that happened in a block: for the drive, and for the block's set.
    #[inline(always)]
    pub fn count(&mut self, block: BlockId, count: impl Fn(&mut Tally)) {
        count(&mut self.tally);
        if let Some(of_set) = self.of_set_mut(block) {
            count(&mut of_set.tally);
        }
    }

    /// Counts of programs and erases in a set since the drive was new; those of the drive without sets.
    pub fn tally_of(&self, set: SetId) -> Tally {
        self.of_sets.get(set.index()).map_or(self.tally, |of| of.tally)
    }
    /// Fingerprint of a set's blocks erased since [`Ftl::begin_order_of_erases`], in order.
    pub fn order_of_erases_in(&self, set: SetId) -> u64 {
        self.of_sets.get(set.index()).map_or(self.erased, |of| of.erased)
    }

    /// The clock of collection in a bin: units that hosts have written to its set.
    #[inline]
    pub(crate) fn clock_of(&self, bin: BinId) -> u64 {
        let tally = match self.of_sets.is_empty() {
            true => &self.tally,
            false => &self.of_sets[self.layout.set_of_bin(bin).index()].tally,
        };
        tally.units[Source::Host as usize]
    }

    /// The state of a block's set, if the drive has sets.
    #[inline(always)]
    pub(crate) fn of_set_mut(&mut self, block: BlockId) -> Option<&mut OfSet> {
        if self.of_sets.is_empty() { None } else { Some(self.some_set_mut(block)) }
    }
    #[inline(never)]
    fn some_set_mut(&mut self, block: BlockId) -> &mut OfSet {
        let set = self.layout.set_of_bin(self.layout.bin(block));
        &mut self.of_sets[set.index()]
    }
}
