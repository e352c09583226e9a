//! Operations in rounds: a group starts some on idle units together, and no more before all of them
//! have ended. The authors' simulator of ATC'08 interleaves in this way; without rounds every
//! operation starts as soon as its unit is free.
//!
//! A batch is the set of operations that wait when the batch before it has ended. Its reads go
//! first, then its programs, in rounds of one operation a unit. Collection begins between batches
//! only: one bin a unit, all units together, and nothing else before they are done.

use crate::config::RoundCollection;
use crate::device::Time;
use crate::device::flash::counters::OpKind;
use crate::device::flash::op::{Op, Owner};
use crate::device::flash::queue::Pick;
use crate::device::flash::schedule::kinds::Schedule;
use crate::device::flash::schedule::round::{Round, Rounds, Stage};
use crate::device::flash::{Flash, Note, Placement, Wanted};
use crate::device::ids::OpId;
use ftl::BinId;
use nand::GroupId;

impl Flash {
    /// Queues an operation for its round, or begins a round with it.
    pub(super) fn enqueue_for_round<P: Placement>(&mut self, time: &mut Time, p: &mut P, id: OpId) {
        let group = self.ops[id].group;
        self.begin_wait(time, id);
        self.groups[group].push_back(&mut self.ops, id);
        self.serve_in_rounds(time, p, group);
    }

    fn rounds(&self) -> &Rounds {
        let Schedule::Rounds(rounds) = &self.schedule else {
            unreachable!("operations go in rounds")
        };
        rounds
    }

    fn round(&mut self, group: GroupId) -> &mut Round {
        let Schedule::Rounds(rounds) = &mut self.schedule else {
            unreachable!("operations go in rounds")
        };
        &mut rounds.groups[group]
    }

    /// True if no collection has reserved the units that a bin's erases occupy.
    pub(in crate::device) fn is_free(&self, bin: BinId) -> bool {
        let place = &self.places[self.first_place(bin)];
        self.groups[place.group].reserved & place.erase == 0
    }

    /// True if groups collect between any two batches; false if they collect only for waiting
    /// operations.
    pub(in crate::device) fn collects_at_once(&self) -> bool {
        self.rounds().config.collect == RoundCollection::AtOnce
    }

    /// Lets the bins of a group choose victims; the operations that they ask for wait until all
    /// have chosen.
    pub(in crate::device) fn begin_choosing(&mut self, group: GroupId) {
        self.round(group).stage = Stage::Choosing;
    }

    /// The bin, by its place in the group, that is polled first when a bin of the unit of a cell is
    /// to collect.
    pub(in crate::device) fn turn_of(&mut self, group: GroupId, cell: u32) -> &mut u32 {
        &mut self.round(group).turns[cell as usize]
    }

    /// Continues after the end of a batch, once bins have chosen victims if any were due: starts
    /// the collection, or else the next batch.
    pub(in crate::device) fn begin_next<P: Placement>(
        &mut self,
        time: &mut Time,
        p: &mut P,
        group: GroupId,
    ) {
        if !self.begins_collection(group) && !self.start_round(time, p, group) {
            return self.watch_idle(time, p, group);
        }
        self.serve_in_rounds(time, p, group);
    }

    /// Decides if a group collects next: its bins have chosen victims, or an erase waits that a
    /// read had delayed.
    fn begins_collection(&mut self, group: GroupId) -> bool {
        let waits = self.groups[group].collections(&self.ops).next().is_some();
        let collects = waits || self.groups[group].reserved != 0;
        self.round(group).stage = if collects { Stage::Collecting } else { Stage::Serving };
        collects
    }

    /// Continues after the end of a round.
    #[inline(never)]
    pub(super) fn serve_in_rounds<P: Placement>(
        &mut self,
        time: &mut Time,
        p: &mut P,
        group: GroupId,
    ) {
        loop {
            match self.round(group).stage {
                // `begin_next` continues.
                Stage::Choosing | Stage::Resting => return,
                Stage::Collecting => self.start_collection(time, p, group),
                Stage::Serving => {}
            }
            let state = &self.groups[group];
            if state.busy | state.wanted != 0 {
                return;
            }
            let is_kept = state.reserved != 0;
            self.round(group).stage = if is_kept { Stage::Collecting } else { Stage::Serving };
            if is_kept {
                return;
            }
            let mut bins = self.bins_of_group[group].iter();
            let needs = bins.any(|bin| p.wants(*bin) == Wanted::Now);
            if needs && self.round(group).batch.is_empty() {
                self.round(group).stage = Stage::Resting;
                return self.notes.push_back(Note::RoundEnded(group));
            }
            if self.round(group).batch.is_empty() && self.begins_collection(group) {
                continue;
            }
            if !self.start_round(time, p, group) {
                return self.watch_idle(time, p, group);
            }
        }
    }

    // ---- operations of hosts ---------------------------------------------------------

    /// Starts one operation on each unit for which one of the batch waits, all reads or all
    /// programs; returns false if none waits.
    fn start_round<P: Placement>(&mut self, time: &mut Time, p: &mut P, group: GroupId) -> bool {
        if self.round(group).batch.is_empty() {
            self.begin_batch(time, p, group);
        }
        let mut batch = std::mem::take(&mut self.round(group).batch);
        if batch.is_empty() {
            return false;
        }
        let is_read = |id: &OpId| self.ops[*id].kind == OpKind::Read;
        let reads = batch.iter().any(is_read);
        let mut taken = 0;
        let mut chosen = Vec::new();
        batch.retain(|id| {
            let cells = self.ops[*id].cells;
            let is_next = is_read(id) == reads && cells & taken == 0;
            if is_next {
                chosen.push(*id);
            }
            if is_read(id) == reads {
                // An older operation that waits for some of the same cells goes before others.
                taken |= cells;
            }
            !is_next
        });
        self.round(group).batch = batch;
        // Units are started in the order of their numbers.
        chosen.sort_by_key(|id| self.ops[*id].cells.trailing_zeros());
        for id in chosen {
            self.groups[group].take_out(&mut self.ops, id);
            self.begin(time, p, Pick { op: id, forced: true });
        }
        true
    }

    /// Makes the waiting operations of hosts the batch: the oldest one if the group has one unit,
    /// else all, but no more of a kind than a batch holds. The bins of its writes are chosen now,
    /// by the present space.
    fn begin_batch<P: Placement>(&mut self, time: &mut Time, p: &mut P, group: GroupId) {
        let batch = match self.all_cells {
            1 => self.groups[group].oldest_of_hosts(&self.ops).into_iter().collect(),
            _ => self.several(group),
        };
        let mut turns = std::mem::take(&mut self.round(group).writes_to);
        turns.resize(self.bins_of_group[group].len(), 0);
        for id in batch.iter().copied() {
            // An in-plane read-modify-write stays in its planes.
            let is_free = self.ops[id].kind == OpKind::Program;
            if is_free && matches!(self.ops[id].owner, Owner::Flush(_)) {
                self.groups[group].take_out(&mut self.ops, id);
                self.end_wait(time, id);
                self.place_again(p, id, &mut turns);
                self.begin_wait(time, id);
                self.groups[group].put_back(&mut self.ops, id);
            }
        }
        let round = self.round(group);
        (round.batch, round.writes_to) = (batch, turns);
    }

    /// The oldest operations of hosts that wait, in order.
    fn several(&self, group: GroupId) -> Vec<OpId> {
        let most = self.rounds().config.most();
        let mut counts = [0; 2];
        let mut batch = Vec::new();
        for id in self.groups[group].oldest_first(&self.ops) {
            batch.push(id);
            let count = &mut counts[usize::from(self.ops[id].kind == OpKind::Read)];
            *count += 1;
            if *count == most {
                break;
            }
        }
        batch
    }

    /// Gives a host program that is in no queue to the bin of its group and pool that is chosen
    /// now.
    fn place_again<P: Placement>(&mut self, p: &mut P, id: OpId, turns: &mut [usize]) {
        let Op { bin, group, .. } = self.ops[id];
        let bin = p.place_again(bin, &self.bins_of_group[group], turns);
        let (cells, channel) = (
            self.places[self.first_place(bin)].program,
            self.places[self.first_place(bin)].channel,
        );
        let op = &mut self.ops[id];
        (op.bin, op.cells, op.channel) = (bin, cells, channel);
    }

    // ---- collection ------------------------------------------------------------------

    /// Starts waiting operations of collection whose cells are idle.
    fn start_collection<P: Placement>(&mut self, time: &mut Time, p: &mut P, group: GroupId) {
        let mut all: Vec<OpId> = self.groups[group].collections(&self.ops).collect();
        all.sort_unstable_by_key(|id| self.ops[*id].seq);
        for id in all {
            let state = &self.groups[group];
            if (state.busy | state.wanted) & self.ops[id].cells == 0 {
                self.groups[group].take_out(&mut self.ops, id);
                self.begin(time, p, Pick { op: id, forced: true });
            }
        }
    }
}
