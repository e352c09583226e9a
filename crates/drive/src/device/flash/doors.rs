//! Doors of flash: what the other parts may see of it and leave with it. All else goes through
//! [`Flash::ask`] and what it returns.

use crate::device::Time;
use crate::device::blames::{BlameId, Blames};
use crate::device::flash::counters::Counters;
use crate::device::flash::op::Op;
use crate::device::flash::shape::Shape;
use crate::device::flash::{BinPlace, Flash, Note};
use crate::device::ids::OpId;
use engine::{Span, bits};
use ftl::BinId;
use metrics::{Blame, State};
use nand::{CellId, GroupId, Timing, Units};

/// What does not change.
impl Flash {
    #[inline]
    pub(in crate::device) fn timing(&self) -> &Timing {
        &self.timing
    }
    #[inline]
    pub(in crate::device) fn units(&self) -> &Units {
        &self.units
    }
    #[inline]
    pub(in crate::device) fn shape(&self) -> &Shape {
        &self.shape
    }
    /// The units and the channel of a bin.
    #[inline]
    pub(in crate::device) fn place(&self, bin: BinId) -> &BinPlace {
        &self.places[bin]
    }
    /// The bins of a group, in order.
    #[inline]
    pub(in crate::device) fn bins_of(&self, group: GroupId) -> &[BinId] {
        &self.bins_of_group[group]
    }
    /// All groups, in order.
    pub(in crate::device) fn groups(&self) -> impl Iterator<Item = GroupId> + use<> {
        self.groups.ids()
    }
    /// How many channels there are.
    pub(in crate::device) fn channel_count(&self) -> usize {
        self.channels.len()
    }
    /// The die of a plane, by its number.
    pub(in crate::device) fn die_of(&self, plane: u32) -> u32 {
        plane / self.planes_per_die
    }
    /// Whether any erase or program may be suspended.
    #[inline]
    pub(in crate::device) fn suspends(&self) -> bool {
        self.suspends
    }
    /// Whether operations of collection may turn into each other.
    #[inline]
    pub(in crate::device) fn turns_moves(&self) -> bool {
        self.short_ways
    }
}

/// Operations.
impl Flash {
    /// An operation that has been asked for and whose owner has not let it go.
    #[inline]
    pub(in crate::device) fn op(&self, id: OpId) -> &Op {
        &self.ops[id]
    }
    /// All operations that have been asked for, in no order.
    pub(in crate::device) fn op_ids(&self) -> Vec<OpId> {
        self.ops.ids()
    }
    /// So many units of an operation fail: its owner finds out when it ends.
    #[cfg(test)]
    pub(in crate::device) fn fail(&mut self, id: OpId, units: u8) {
        self.ops[id].failed = units;
    }
    /// What the time of an operation is charged to so far.
    #[inline]
    pub(in crate::device) fn blame(&self, id: OpId) -> &Blame {
        self.ops.blame_ref(id)
    }
    /// The same for its owner, who charges what only the owner knows.
    #[inline]
    pub(in crate::device) fn blame_mut(&mut self, id: OpId) -> &mut Blame {
        self.ops.blame(id)
    }
    /// All blames, those of requests included.
    #[inline]
    pub(in crate::device) fn blames(&mut self) -> &mut Blames {
        self.ops.blames()
    }
    /// The same, to look at.
    #[inline]
    pub(in crate::device) fn all_blames(&self) -> &Blames {
        self.ops.all_blames()
    }
    /// Hands over what an operation was charged with, which is nobody else's from now on.
    #[inline]
    pub(in crate::device) fn hand_over_blame(&mut self, id: OpId) -> BlameId {
        self.ops.hand_over_blame(id)
    }
    /// A blame of a request, and that of an operation to add to it.
    pub(in crate::device) fn blame_of_request(
        &mut self,
        of: BlameId,
        id: OpId,
    ) -> (&mut Blame, &Blame) {
        self.ops.blame_of_request(of, id)
    }
    /// The blame of an operation, and that of another to add to it.
    #[inline]
    pub(in crate::device) fn blame_and_other(
        &mut self,
        id: OpId,
        other: OpId,
    ) -> (&mut Blame, &Blame) {
        self.ops.blame_and_other(id, other)
    }
    /// An operation that stands in no queue is not to be.
    pub(in crate::device) fn remove(&mut self, id: OpId) {
        self.ops.remove(id);
    }
    /// Operations that wait for their channel.
    pub(in crate::device) fn that_wait_for_channels(&self) -> impl Iterator<Item = OpId> {
        self.channels.as_slice().iter().flat_map(|channel| channel.waiting(&self.ops))
    }
}

/// What groups do.
impl Flash {
    /// True if something waits for a unit of a group.
    #[inline]
    pub(in crate::device) fn has_queue(&self, group: GroupId) -> bool {
        self.groups[group].queued() > 0
    }
    /// True if a collection has reserved units of a group.
    #[inline]
    pub(in crate::device) fn is_reserved(&self, group: GroupId) -> bool {
        self.groups[group].reserved != 0
    }
    /// True if a bin's collection has reserved its units.
    #[inline]
    pub(in crate::device) fn is_kept_for(&self, bin: BinId) -> bool {
        self.groups[self.places[bin].group].is_kept_for(bin)
    }
    /// True if a host read waits for the units that a bin's erases take.
    pub(in crate::device) fn awaits_read(&self, bin: BinId) -> bool {
        let place = &self.places[bin];
        self.groups[place.group].has_reads_on(&self.ops, place.erase, true)
    }
    /// How long host reads have used the units that a bin's erases take so far.
    pub(in crate::device) fn host_reads_of(&mut self, time: &Time, bin: BinId) -> Span {
        let place = &self.places[bin];
        let of_cell = |cell: usize| {
            let ledger = self.ledgers.of(place.group, 1 << cell);
            ledger.settle_with(time.now, &mut self.channels[place.channel].ledger);
            ledger.totals()[State::UnitHostRead as usize]
        };
        bits(place.erase).map(of_cell).sum()
    }
}

/// What flash has noted for others.
impl Flash {
    /// How many notes are left.
    #[inline]
    pub(in crate::device) fn note_count(&self) -> usize {
        self.notes.len()
    }
    /// True if a copy-back of a bin has become a read of which nobody was told yet.
    pub(in crate::device) fn has_turned_to_read(&self, bin: BinId) -> bool {
        self.notes.iter().any(|note| matches!(note, Note::TurnedToRead(of) if *of == bin))
    }
    /// The next note, in the order of events.
    #[inline]
    pub(in crate::device) fn next_note(&mut self) -> Option<Note> {
        self.notes.pop_front()
    }
}

/// Figures.
impl Flash {
    pub(in crate::device) fn counters(&self) -> &Counters {
        &self.counters
    }
    /// A collection was over after this time.
    pub(in crate::device) fn count_collection(&mut self, took: Span) {
        self.counters.collected(took);
    }
    /// What is the longest is the longest from now on.
    pub(in crate::device) fn begin_counting(&mut self) {
        self.counters.longest_collection = Span::ZERO;
    }
    /// Operations that another one turned into.
    pub(in crate::device) fn chained(&self) -> u64 {
        self.chained
    }
    /// Bytes that operations take, with room to grow.
    pub(in crate::device) fn bytes(&self) -> u64 {
        self.ops.bytes()
    }
    /// Operations that were under way or waited at a time, at most.
    pub(in crate::device) fn most_operations(&self) -> usize {
        self.ops.most()
    }
    /// How long each unit was busy so far, by unit.
    pub(in crate::device) fn unit_busy(&mut self, time: &Time) -> Vec<Span> {
        let busy = |cell: CellId| {
            let channel = &mut self.channels[self.units.channel_of(cell)].ledger;
            self.ledgers.busy(time.now, cell, channel)
        };
        (0..self.units.cells()).map(CellId).map(busy).collect()
    }
    /// How long each channel was busy so far, by channel.
    pub(in crate::device) fn channel_busy(&mut self, time: &Time) -> Vec<Span> {
        let channels = self.channels.as_mut_slice().iter_mut();
        let busy = channels.map(|channel| {
            channel.ledger.bring_up(time.now);
            channel.ledger.settle(time.now);
            channel.ledger.busy(false)
        });
        busy.collect()
    }
    /// What went wrong with a policy of the user, if anything did.
    pub(in crate::device) fn policy_fault(&self) -> Option<String> {
        let rules = [&self.erase_rules, &self.program_rules];
        let outside = || rules.into_iter().find_map(|of| of.policy.fault());
        self.routing.fault().or_else(outside)
    }
}

/// What the drive is told to leave.
impl Flash {
    /// Moves of collection do not turn into each other from now on, and programs are queued before
    /// they wait for their channel.
    pub(in crate::device) fn forgo_short_ways(&mut self) {
        self.short_ways = false;
        self.queues_all = true;
    }
    /// No idle gap is told of from now on.
    pub(in crate::device) fn forgo_idle_gaps(&mut self) {
        self.idle_gap = None;
    }
}
