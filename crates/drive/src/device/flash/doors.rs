//! Interface of flash to the other parts: state that they may see, and settings that they may
//! change. All else goes through [`Flash::ask`] and its results.

use crate::device::Time;
use crate::device::blames::{BlameId, Blames};
use crate::device::flash::counters::Counters;
use crate::device::flash::op::{AsksFor, Op};
use crate::device::flash::shape::Shape;
use crate::device::flash::{Flash, Note};
use crate::device::ids::OpId;
use engine::{Span, bits};
use ftl::BinId;
use metrics::{Blame, Ledger, State};
use nand::{CellId, GroupId, Timing, Units};

/// Constants.
impl Flash {
    /// True for an operation that has begun: it waits neither in its queue nor for its channel.
    pub(in crate::device) fn has_begun(&self, id: OpId) -> bool {
        let op = &self.ops[id];
        let group = &self.groups[op.group];
        let wants_channel = group.wanted & op.cells != 0 && op.asks_for == AsksFor::Both;
        !(wants_channel || group.has_queued(&self.ops, id))
    }
    /// Number of operations that wait in the queue of a bin's group, and one more if the bin's flash unit
    /// is occupied.
    pub(in crate::device) fn load(&self, bin: BinId) -> u32 {
        let place = &self.places[self.first_place(bin)];
        let group = &self.groups[place.group];
        group.queued() + u32::from(group.busy & place.all_cells() != 0)
    }

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
    /// The bins of a group, in order.
    #[inline]
    pub(in crate::device) fn bins_of(&self, group: GroupId) -> &[BinId] {
        &self.bins_of_group[group]
    }
    /// All groups, in order.
    pub(in crate::device) fn groups(&self) -> impl Iterator<Item = GroupId> + use<> {
        self.groups.ids()
    }
    /// Lanes of a bin.
    #[inline]
    pub(in crate::device) fn lanes(&self) -> u32 {
        self.lanes
    }
    /// Number of channels.
    pub(in crate::device) fn channel_count(&self) -> usize {
        self.channels.len()
    }
    /// The die of a plane, by its number.
    pub(in crate::device) fn die_of(&self, plane: u32) -> u32 {
        plane / self.planes_per_die
    }
    /// True if any erase or program may be suspended.
    #[inline]
    pub(in crate::device) fn suspends(&self) -> bool {
        self.suspends
    }
    /// True if an operation of collection may turn into the next one.
    #[inline]
    pub(in crate::device) fn turns_moves(&self) -> bool {
        self.short_ways
    }
}

/// Operations.
impl Flash {
    /// An operation that has been asked for and that its owner has not released.
    #[inline]
    pub(in crate::device) fn op(&self, id: OpId) -> &Op {
        &self.ops[id]
    }
    /// All operations that have been asked for, in no order.
    pub(in crate::device) fn op_ids(&self) -> Vec<OpId> {
        self.ops.ids()
    }
    /// Marks this many units of an operation as failed; its owner handles that when the operation
    /// ends.
    pub(in crate::device) fn fail(&mut self, id: OpId, units: u8) {
        self.ops[id].failed = units;
    }
    /// The charges of an operation so far.
    #[inline]
    pub(in crate::device) fn blame(&self, id: OpId) -> &Blame {
        self.ops.blame_ref(id)
    }
    /// The charges of an operation, for its owner, which adds those that only the owner knows.
    #[inline]
    pub(in crate::device) fn blame_mut(&mut self, id: OpId) -> &mut Blame {
        self.ops.blame(id)
    }
    /// All blames, those of requests included.
    #[inline]
    pub(in crate::device) fn blames(&mut self) -> &mut Blames {
        self.ops.blames()
    }
    /// All blames, read-only.
    #[inline]
    pub(in crate::device) fn all_blames(&self) -> &Blames {
        self.ops.all_blames()
    }
    /// Hands over the blame of an operation, which belongs to the caller from now on.
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
    /// Cancels an operation that is in no queue.
    pub(in crate::device) fn remove(&mut self, id: OpId) {
        self.ops.remove(id);
    }
    /// Operations that wait for their channel.
    pub(in crate::device) fn that_wait_for_channels(&self) -> impl Iterator<Item = OpId> {
        self.channels.as_slice().iter().flat_map(|channel| channel.waiting(&self.ops))
    }
}

/// State of groups.
impl Flash {
    /// True if an operation waits for a unit of a group.
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
        self.groups[self.places[self.first_place(bin)].group].is_kept_for(bin)
    }
    /// True if a host read waits for the units that a bin's erases occupy.
    pub(in crate::device) fn awaits_read(&self, bin: BinId) -> bool {
        let place = &self.places[self.first_place(bin)];
        self.groups[place.group].has_reads_on(&self.ops, place.erase, true)
    }
    /// Total time that host reads have used the units that a bin's erases occupy.
    pub(in crate::device) fn host_reads_of(&mut self, time: &Time, bin: BinId) -> Span {
        let place = &self.places[self.first_place(bin)];
        let of_cell = |cell: usize| {
            let ledger = self.ledgers.of(place.group, 1 << cell);
            ledger.settle_with(time.now, &mut self.channels[place.channel].ledger);
            ledger.totals()[State::UnitHostRead as usize]
        };
        bits(place.erase).map(of_cell).sum()
    }
}

/// Notes for other parts.
impl Flash {
    /// Number of notes left.
    #[inline]
    pub(in crate::device) fn note_count(&self) -> usize {
        self.notes.len()
    }
    /// True if a copy-back of a bin has become a read and no other part has been told yet.
    pub(in crate::device) fn has_turned_to_read(&self, bin: BinId) -> bool {
        self.notes.iter().any(|note| matches!(note, Note::TurnedToRead(of) if *of == bin))
    }
    /// Adds a note for a part other than flash.
    pub(in crate::device) fn note(&mut self, note: Note) {
        self.notes.push_back(note);
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
    /// Counts a collection that took this long.
    pub(in crate::device) fn count_collection(&mut self, took: Span) {
        self.counters.collected(took);
    }
    /// Counts a victim that was chosen out of turn.
    pub(in crate::device) fn count_out_of_turn(&mut self) {
        self.counters.out_of_turn += 1;
    }
    /// Counts units that are programmed again because their flash has failed.
    pub(in crate::device) fn count_retried(&mut self, units: u64) {
        self.counters.retried += units;
    }
    /// Counts a unit on failed flash that a read computes from the rest of its stripe.
    pub(in crate::device) fn count_computed_lost(&mut self) {
        self.counters.computed_lost += 1;
    }
    /// Counts a unit that is not programmed because no flash has room for it.
    pub(in crate::device) fn count_degraded(&mut self) {
        self.counters.degraded += 1;
    }
    /// Counts a unit that counts as placed while collection holds its flash: parity, or data.
    pub(in crate::device) fn count_held(&mut self, is_parity: bool) {
        self.counters.held(is_parity);
    }
    /// Counts a unit that is computed from the rest of its stripe, and the units that are read besides.
    pub(in crate::device) fn count_rebuilt(&mut self, beside: u32) {
        self.counters.rebuilt(beside);
    }
    /// Begins a new maximum of the longest collection.
    pub(in crate::device) fn begin_counting(&mut self) {
        self.counters.longest_collection = Span::ZERO;
    }
    /// Number of operations that another one turned into.
    pub(in crate::device) fn chained(&self) -> u64 {
        self.chained
    }
    /// Bytes that operations take, with room to grow.
    pub(in crate::device) fn bytes(&self) -> u64 {
        self.ops.bytes()
    }
    /// Greatest number of operations that were under way or waiting at a time.
    pub(in crate::device) fn most_operations(&self) -> usize {
        self.ops.most()
    }
    /// Busy time so far, by unit.
    pub(in crate::device) fn unit_busy(&mut self, time: &Time) -> Vec<Span> {
        self.of_units(time, |_, ledger| ledger.busy(true))
    }
    /// Time so far that waits for each unit were charged to a state.
    pub(in crate::device) fn unit_spent(&mut self, time: &Time, state: State) -> Vec<Span> {
        self.of_units(time, |_, ledger| ledger.totals()[state as usize])
    }
    /// The numbers of the units of a group.
    pub(in crate::device) fn units_of(&self, group: GroupId) -> std::ops::Range<usize> {
        let first = self.ledgers.cell(group, 0).0 as usize;
        first..first + self.units.cells_per_group as usize
    }
    /// A figure of each unit, by its number and from its ledger up to now.
    pub(super) fn of_units<T>(
        &mut self,
        time: &Time,
        figure: impl Fn(usize, &Ledger) -> T,
    ) -> Vec<T> {
        let figure = |cell: CellId| {
            let channel = &mut self.channels[self.units.channel_of(cell)].ledger;
            figure(cell.0 as usize, self.ledgers.settled(time.now, cell, channel))
        };
        (0..self.units.cells()).map(CellId).map(figure).collect()
    }
    /// Busy time so far, by channel.
    pub(in crate::device) fn channel_busy(&mut self, time: &Time) -> Vec<Span> {
        let channels = self.channels.as_mut_slice().iter_mut();
        let busy = channels.map(|channel| {
            channel.ledger.bring_up(time.now);
            channel.ledger.settle(time.now);
            channel.ledger.busy(false)
        });
        busy.collect()
    }
    /// The fault of a policy of the user, if there was one.
    pub(in crate::device) fn policy_fault(&self) -> Option<String> {
        let rules = [&self.erase_rules, &self.program_rules];
        let outside = || rules.into_iter().find_map(|of| of.policy.fault());
        self.routing.fault().or_else(outside)
    }
}

/// Features that the drive turns off.
impl Flash {
    /// Turns off short cuts: moves of collection no longer turn into each other, and programs are
    /// queued before they wait for their channel.
    pub(in crate::device) fn forgo_short_ways(&mut self) {
        self.short_ways = false;
        self.queues_all = true;
    }
    /// Keeps a move of collection from turning into the next one: each operation ends.
    pub(in crate::device) fn keep_moves_apart(&mut self) {
        self.short_ways = false;
    }
    /// Turns off the reports of idle gaps.
    pub(in crate::device) fn forgo_idle_gaps(&mut self) {
        self.idle_gap = None;
    }
}
