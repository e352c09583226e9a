//! State of an NVM set that the firmware keeps apart: counts, the clock of collection, and random
//! numbers. A drive without sets has none of it.

use crate::blocks::{Source, Tally};
use crate::ftl::Ftl;
use crate::ids::{BinId, BlockId, SetId};
use engine::ids::Id;
use engine::{Stream, Streams};
use serde::{Deserialize, Serialize};

/// State of a set. What happens in a set follows from it alone, whatever other sets do.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct OfSet {
    /// Counts of its programs and erases, which are among those of the drive.
    pub tally: Tally,
    /// Fingerprint of its erased blocks in order.
    #[serde(default)]
    pub erased: u64,
    victim_numbers: Stream,
    bad_numbers: Stream,
}

/// The state of `count` new sets; of none if the drive is one set.
pub(crate) fn of_sets(count: u32, streams: Streams) -> Vec<OfSet> {
    let of = |set| OfSet {
        tally: Tally::default(),
        erased: 0,
        victim_numbers: streams.stream(&format!("gc.victim.set-{set}")),
        bad_numbers: streams.stream(&format!("bad-blocks.grown.set-{set}")),
    };
    if count > 1 { (0..count).map(of).collect() } else { Vec::new() }
}

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

/// The random numbers of a bin's victims, and of erases that fail there.
#[inline]
pub(crate) fn numbers_of<'a>(
    [victims, failures]: [&'a mut Stream; 2],
    of_sets: &'a mut [OfSet],
    set: SetId,
) -> [&'a mut Stream; 2] {
    match of_sets.get_mut(set.index()) {
        Some(of) => [&mut of.victim_numbers, &mut of.bad_numbers],
        None => [victims, failures],
    }
}
