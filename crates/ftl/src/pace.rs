//! Collection at the rate of host writes: the space of a bin in fine steps, the moves that a batch of
//! a host calls for, and victims that are left half moved.

use crate::ftl::Ftl;
use crate::gc::{Band, ONE};
use crate::ids::{BinId, BlockId};
use crate::streams::Stream;

impl Ftl {
    /// Moves that regain the space of a host's batch, in 256ths of a unit, if `victim` is collected:
    /// it has `v` valid units of `n`, so it gains `n - v` by `v` moves.
    pub(crate) fn price_of(&self, victim: BlockId) -> u32 {
        let layout = &self.layout;
        let valid = u64::from(self.blocks.valid(victim));
        let [host, moved] =
            [Stream::Host, Stream::Gc].map(|stream| u64::from(layout.data_units(stream)));
        let batch = u64::from(layout.units_per_batch) * u64::from(ONE);
        // A batch of hosts takes another share of a block than a moved one.
        let moves = batch * valid * moved / host;
        let most = valid * u64::from(ONE);
        moves.checked_div(moved - valid).map_or(0, |moves| moves.min(most)) as u32
    }

    /// Moves that regain the space of a host's batch, in 256ths of a unit, by the victim that was
    /// chosen last in a bin; 0 before the first one.
    #[inline]
    pub fn price(&self, bin: BinId) -> u32 {
        self.bins[bin].price
    }

    /// Moves that collection at the rate of host writes owes for the next batch of a host in a bin, in
    /// 256ths of a unit.
    pub fn moves_owed(&self, bin: BinId) -> u32 {
        let rate = self.band().rate(self.units_in_reach(bin));
        (u64::from(self.bins[bin].price) * u64::from(rate) / u64::from(ONE)) as u32
    }

    /// True if collection follows host writes.
    #[inline]
    pub(crate) fn follows_hosts(&self) -> bool {
        self.thresholds.follow_hosts()
    }

    /// The band over which collection follows host writes.
    pub(crate) fn band(&self) -> Band {
        let own = u32::from(self.scrubs_to == Stream::Scrub);
        self.thresholds.band(self.streams_of_bins().len() as u32 + own)
    }

    /// Units that can be written in a bin, with those that the victims under way gain. The last victim
    /// counts by the share of its data that has moved, all others as a whole. So the number changes in
    /// small steps, with each batch of a host and of collection.
    pub(crate) fn units_in_reach(&self, bin: BinId) -> u32 {
        let state = &self.bins[bin];
        let whole = self.layout.data_units(Stream::Host);
        let last = state.victim.map_or(0, |victim| {
            let (valid, moved) = (self.blocks.valid(victim), self.blocks.moved[victim]);
            let share = u64::from(whole) * u64::from(moved);
            share.checked_div(u64::from(moved + valid)).map_or(whole, |units| units as u32)
        });
        let others = state.collecting - u32::from(state.victim.is_some());
        self.free_units(bin) + others * whole + last
    }

    /// True if the victim of a bin is left half moved.
    pub(crate) fn has_left(&self, bin: BinId) -> bool {
        self.bins[bin].left.is_some()
    }
}
