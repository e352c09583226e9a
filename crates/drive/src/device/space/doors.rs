//! Interface of space to the other parts: the state of bins and pools that they may see and change.
//! The firmware itself ([`Space::ftl`]) has an interface of its own.

use crate::device::flash::op::Op;
use crate::device::ids::OpId;
use crate::device::space::Space;
use crate::device::space::home::Task;
use crate::device::space::waits::SpaceSnapshot;
use engine::Instant;
use ftl::{BinId, PoolId, SetId};
use metrics::Snapshot;

/// Bins.
impl Space {
    /// True if scrubbing is a task of its own.
    pub(in crate::device) fn has_scrubber(&self) -> bool {
        self.has_scrubber
    }
    /// All bins, in order.
    pub(in crate::device) fn bins(&self) -> impl Iterator<Item = BinId> + use<> {
        self.bins.ids()
    }
    /// State of a bin's collection that placement needs.
    #[inline]
    pub(in crate::device) fn task(&self, bin: BinId) -> &Task {
        &self.bins[bin].task
    }
    /// State of a bin's collection, for the collector, which changes it.
    #[inline]
    pub(in crate::device) fn task_mut(&mut self, bin: BinId) -> &mut Task {
        &mut self.bins[bin].task
    }
    /// A bin's place in its pool's turn order.
    pub(in crate::device) fn place_of(&self, bin: BinId) -> usize {
        self.bins[bin].place as usize
    }
    /// True if a bin takes another host program now.
    pub(in crate::device) fn is_available(&self, bin: BinId) -> bool {
        self.bins[bin].available
    }
    /// Counts the end of a host program of a bin.
    #[inline]
    pub(in crate::device) fn program_ended(&mut self, bin: BinId) {
        self.bins[bin].queued -= 1;
    }
    /// Programs that were parked in a bin for want of space, and the state of the bin's waits then.
    pub(in crate::device) fn parked(&self, bin: BinId) -> &[(OpId, SpaceSnapshot)] {
        &self.bins[bin].parked
    }
    /// Programs of collection and scrubbing that are parked, in all bins of an NVM set.
    #[inline]
    pub(in crate::device) fn parked_moves(&self, set: SetId) -> u32 {
        self.parked_moves[set]
    }
    /// Notes that a parked program goes on.
    pub(in crate::device) fn note_resumed(&mut self, op: &Op) {
        let set = self.ftl.layout.set_of_bin(op.bin);
        self.parked_moves[set] -= u32::from(op.is_collection());
    }
    /// Takes the parked programs of a bin.
    #[inline]
    pub(in crate::device) fn take_parked(&mut self, bin: BinId) -> Vec<(OpId, SpaceSnapshot)> {
        std::mem::take(&mut self.bins[bin].parked)
    }
    /// Puts those programs back that stay parked.
    pub(in crate::device) fn put_back(&mut self, bin: BinId, parked: Vec<(OpId, SpaceSnapshot)>) {
        self.bins[bin].parked = parked;
    }
}

/// Waits for a bin's space.
impl Space {
    /// True once an operation has waited for a bin's space.
    #[inline]
    pub(in crate::device) fn keeps_waits(&self, bin: BinId) -> bool {
        self.spaces[bin].is_kept()
    }
    /// Updates the charges of such waits up to `now`; `unit` is the activity of the bin's unit.
    pub(in crate::device) fn settle_waits(
        &mut self,
        bin: BinId,
        now: Instant,
        unit: &Snapshot,
    ) -> &SpaceSnapshot {
        self.spaces[bin].settle(now, unit);
        self.spaces[bin].totals()
    }
    /// True if a bin's collection is noted as under way.
    #[inline]
    pub(in crate::device) fn is_collecting(&self, bin: BinId) -> bool {
        self.spaces[bin].is_under_way()
    }
    /// Notes that a bin's collection begins or ends. Settle first.
    pub(in crate::device) fn set_collecting(&mut self, bin: BinId, collecting: bool) {
        self.spaces[bin].set_under_way(collecting);
    }
    /// True while a bin's collection waits until it may request a program.
    #[inline]
    pub(in crate::device) fn awaits_credit(&self, bin: BinId) -> bool {
        self.spaces[bin].awaits_credit()
    }
    /// Notes that it does, or no longer. Settle first.
    pub(in crate::device) fn set_awaits_credit(&mut self, bin: BinId, awaits: bool) {
        self.spaces[bin].set_awaits_credit(awaits);
    }
    /// Notes that another package programs a move of a bin's collection from now on.
    pub(in crate::device) fn begin_elsewhere(&mut self, bin: BinId) {
        self.spaces[bin].elsewhere += 1;
    }
    /// Notes that another package has programmed a move of a bin's collection.
    pub(in crate::device) fn end_elsewhere(&mut self, bin: BinId) {
        self.spaces[bin].elsewhere -= 1;
    }
}

/// Pools.
impl Space {
    /// While no bin of a pool has space: the bin whose collection is blamed.
    #[inline]
    pub(in crate::device) fn blamed_for(&self, pool: PoolId) -> Option<BinId> {
        self.pools[pool].starved.map(|(bin, _)| bin)
    }
    /// Counts a pool's time without space up to `now`; `present` is the state of the blamed bin's
    /// waits.
    pub(in crate::device) fn count_without_space(
        &mut self,
        pool: PoolId,
        now: Instant,
        present: SpaceSnapshot,
    ) {
        let pool = &mut self.pools[pool];
        let Some((bin, earlier)) = pool.starved else { return };
        for (state, total) in pool.without_space.iter_mut().enumerate() {
            *total += present[state] - earlier[state];
        }
        pool.without_space_until = now;
        pool.starved = Some((bin, present));
    }
    /// Notes that a pool has a bin with space again. Count first.
    #[inline]
    pub(in crate::device) fn end_starving(&mut self, pool: PoolId) {
        self.pools[pool].starved = None;
    }
    /// Time in which no bin of a pool had space, and the moment up to which it is counted.
    #[inline]
    pub(in crate::device) fn without_space(&self, pool: PoolId) -> (&SpaceSnapshot, Instant) {
        let pool = &self.pools[pool];
        (&pool.without_space, pool.without_space_until)
    }
    /// True if a bin of a pool takes another host program now.
    pub(in crate::device) fn has_available(&self, pool: PoolId) -> bool {
        self.pools[pool].next_in_turn().is_some()
    }
    /// True if data of a pool could be programmed but for the limit of outstanding programs.
    pub(in crate::device) fn is_held(&self, pool: PoolId) -> bool {
        self.pools[pool].held.is_some()
    }
    /// Notes that data of a pool waits for that limit. Its bins have space.
    pub(in crate::device) fn hold(&mut self, pool: PoolId, now: Instant) {
        self.pools[pool].settle_hold(now, true);
        self.was_starved = true;
    }
    /// Counts that wait up to now; it goes on, or has ended.
    pub(in crate::device) fn settle_hold(&mut self, pool: PoolId, now: Instant, goes_on: bool) {
        let pool = &mut self.pools[pool];
        pool.settle_hold(now, goes_on && pool.held.is_some());
    }
    /// Programs of a bin for hosts that were asked for and have no page yet.
    pub(in crate::device) fn unbound(&self, bin: BinId) -> u32 {
        self.bins[bin].unbound
    }
    /// True once a pool was without space.
    #[inline]
    pub(in crate::device) fn was_starved(&self) -> bool {
        self.was_starved
    }
    /// The next bin in turn, among those of a pool that have space, other than `bin`.
    pub(in crate::device) fn another(&self, pool: PoolId, bin: BinId) -> Option<BinId> {
        let bins = self.ftl.layout.bins_of(pool);
        self.pools[pool].in_turn().map(|place| bins[place]).find(|of| *of != bin)
    }
}

/// Bins and pools to be re-evaluated when the present event is over.
impl Space {
    /// Number of such bins and pools; not 0 if there are any.
    #[inline]
    pub(in crate::device) fn change_count(&self) -> usize {
        self.to_collect.len() | usize::from(self.has_others)
    }
    /// Marks bins whose need for collection is to be re-evaluated.
    pub(in crate::device) fn look_at(&mut self, bins: impl IntoIterator<Item = BinId>) {
        self.to_collect.extend(bins);
    }
    /// The next bin to be re-evaluated.
    #[inline]
    pub(in crate::device) fn next_to_collect(&mut self) -> Option<BinId> {
        self.to_collect.pop()
    }
    /// True if partial writes are parked and no bin is to be re-evaluated.
    #[inline]
    pub(in crate::device) fn has_parked_parts(&self) -> bool {
        self.to_collect.is_empty() && !self.parked_parts.is_empty()
    }
    /// Takes the bins in which partial writes are parked.
    pub(in crate::device) fn take_parked_parts(&mut self) -> Vec<BinId> {
        std::mem::take(&mut self.parked_parts)
    }
    /// Notes that partial writes of a bin stay parked.
    pub(in crate::device) fn keep_parked_parts(&mut self, bin: BinId) {
        self.parked_parts.push(bin);
    }
    /// Marks a pool whose bins may take programs again.
    pub(in crate::device) fn call_pool(&mut self, pool: PoolId) {
        self.due_pools.push(pool);
        self.has_others = true;
    }
    /// The next pool whose bins may take programs again.
    #[inline]
    pub(in crate::device) fn next_due_pool(&mut self) -> Option<PoolId> {
        self.due_pools.pop()
    }
    /// True if data has become invalid since the last call. No bin and no pool is left.
    #[inline]
    pub(in crate::device) fn take_died(&mut self) -> bool {
        self.has_others = self.is_watched;
        std::mem::take(&mut self.has_died)
    }
    /// True if estimates of space are watched after each event.
    #[inline]
    pub(in crate::device) fn is_watched(&self) -> bool {
        self.is_watched
    }
}
