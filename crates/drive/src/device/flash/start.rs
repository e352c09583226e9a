//! Operations on units: asking, waiting, starting.

use crate::device::Time;
use crate::device::event::Event;
use crate::device::flash::counters::OpKind;
use crate::device::flash::op::{AsksFor, Class, Op, Owner};
use crate::device::flash::place::Ask;
use crate::device::flash::queue::Pick;
use crate::device::flash::{Bound, Flash, Note, Placement, Wanted};
use crate::device::ids::OpId;
use engine::{IdOrNone, Instant, Span, count_bits};
use ftl::BinId;
use metrics::{Holder, Snapshot, SnapshotId, State};
use nand::{ChannelId, GroupId};

impl Flash {
    /// Asks for an operation: it starts at once if nothing is in its way.
    pub(in crate::device) fn ask<P: Placement>(
        &mut self,
        time: &mut Time,
        p: &mut P,
        ask: Ask,
    ) -> OpId {
        let id = self.insert(time, ask);
        self.enqueue(time, p, id);
        id
    }

    /// Creates an operation that is in no queue.
    #[inline(always)]
    pub(in crate::device) fn insert(&mut self, time: &mut Time, ask: Ask) -> OpId {
        let place = &self.places[self.place_id(ask.bin, ask.batch)];
        let (group, channel) = (place.group, place.channel);
        let cells = match ask.kind {
            OpKind::Read => place.read_cells(ask.planes),
            OpKind::Program | OpKind::CopyBack | OpKind::Modify => place.program,
            OpKind::Erase => place.erase,
        };
        let seq = self.next_seq;
        let now = time.now;
        let id = self.ops.insert_with(|| Op {
            kind: ask.kind,
            holder: ask.holder,
            owner: ask.owner,
            group,
            channel,
            cells,
            bin: ask.bin,
            transfer: ask.transfer,
            planes: count_bits(ask.planes) as u8,
            class: ask.class,
            block: ask.block,
            batch: ask.batch,
            row: ask.row,
            rows_left: ask.rows as u16,
            seq,
            turn: 0,
            asks_for: AsksFor::Data,
            failed: 0,
            since: now,
            waits: IdOrNone::NONE,
            blame: IdOrNone::NONE,
            next: IdOrNone::NONE,
        });
        self.next_seq += 1;
        if self.commands && ask.kind == OpKind::Program {
            self.add_cycles(id);
        }
        if self.transferred.is_some() {
            self.note_transferred(id, &ask);
        }
        id
    }

    #[inline]
    fn enqueue<P: Placement>(&mut self, time: &mut Time, p: &mut P, id: OpId) {
        if !self.begins_at_once {
            return self.enqueue_by_schedule(time, p, id);
        }
        let op = &self.ops[id];
        let (group, cells, kind, channel) = (op.group, op.cells, op.kind, op.channel);
        let state = &mut self.groups[group];
        state.idle_check = Instant::NEVER;
        let is_open = if self.commands {
            // No operation waits for a channel that carries nothing.
            state.is_open_to(cells)
                && !self.queues_all
                && !self.channels[channel].is_closed_to(time.now, op)
        } else {
            state.is_open_to(cells) || state.goes_first(op, &self.bypass)
        };
        if is_open && !(self.commands && self.has_work(group)) {
            match kind {
                OpKind::Read | OpKind::Erase => return self.start(time, p, id),
                OpKind::Program if self.has_page(p, id) => {
                    if !self.is_closed_to(time.now, &self.ops[id]) {
                        return self.start_program(time, p, id);
                    }
                    // A suspended operation may resume before the wait of this one begins.
                    if self.short_ways && !self.has_work(group) && self.groups[group].is_alone() {
                        let forced = self.groups[group].pass(
                            self.ops[id].class,
                            &self.bypass,
                            self.next_seq,
                        );
                        self.begin_wait(time, id);
                        return self.want_channel(time, id, group, forced);
                    }
                }
                OpKind::Modify if self.has_page(p, id) => return self.start_modify(time, p, id),
                OpKind::Program | OpKind::CopyBack | OpKind::Modify => {}
            }
        }
        self.begin_wait(time, id);
        if self.has_work(group) {
            return self.enqueue_beside_work(time, p, id);
        }
        let state = &mut self.groups[group];
        state.push_back(&mut self.ops, id);
        // Queueing this operation unblocks none of the waiting ones, so only it can start.
        if self.commands {
            return self.serve_commanded(time, p, group, channel);
        }
        if state.may_start(&self.ops[id]) {
            self.serve(time, p, group);
        }
    }

    /// Requeues operations that waited for space in a bin, each at its place by age. All are back
    /// before one starts, so the oldest goes first.
    pub(in crate::device) fn resume<P: Placement>(
        &mut self,
        time: &mut Time,
        p: &mut P,
        parked: impl Iterator<Item = OpId>,
    ) {
        let mut group = None;
        for id in parked {
            self.begin_wait(time, id);
            self.requeue(p, id);
            group = Some(self.ops[id].group);
        }
        if let Some(group) = group {
            self.serve(time, p, group);
        }
    }

    /// Requeues an operation by its age. An operation that was background GC when it left may be
    /// foreground GC by now.
    pub(super) fn requeue<P: Placement>(&mut self, p: &P, id: OpId) {
        let group = self.ops[id].group;
        if self.ops[id].is_collection() {
            let class = self.class_by_owner(p, &self.ops[id]);
            // Programs of a lane start in the order of asking: a younger one may be in the foreground.
            let least = if self.lanes > 1 { self.ops[id].class } else { Class::Background };
            self.ops[id].class = class.min(least);
        }
        self.groups[group].put_back(&mut self.ops, id);
    }

    #[inline]
    pub(in crate::device) fn begin_wait(&mut self, time: &mut Time, id: OpId) {
        // No request is charged with the waits of collection.
        if !self.ops[id].is_collection() {
            self.measure_wait(time.now, id);
        }
    }

    #[inline(never)]
    fn measure_wait(&mut self, now: Instant, id: OpId) {
        let op = &self.ops[id];
        let (group, cells, channel) = (op.group, op.cells, op.channel);
        let channel = &mut self.channels[channel].ledger;
        self.ledgers.watch(now, group, cells, &self.groups[group], channel);
        if self.commands {
            self.ledgers.await_channel(now, group, cells, channel);
        }
        let ledger = self.ledgers.of(group, cells);
        ledger.settle_with(now, channel);
        self.ops.begin_wait(id, now, ledger);
    }

    /// Ends the wait of an operation for a unit, if it had any, and charges it.
    #[inline(always)]
    pub(in crate::device) fn end_wait(&mut self, time: &mut Time, id: OpId) {
        if let Some(began) = self.ops[id].waits.take() {
            self.charge_wait(time, id, began);
        }
    }

    #[inline(never)]
    fn charge_wait(&mut self, time: &mut Time, id: OpId, began: SnapshotId) {
        let op = &self.ops[id];
        let has_waited = time.now > op.since;
        let (group, cells, channel) = (op.group, op.cells, op.channel);
        let ledger = self.ledgers.of(group, cells);
        if has_waited {
            ledger.settle_with(time.now, &mut self.channels[channel].ledger);
            self.ops.charge_wait(id, began, ledger);
        }
        self.ops.end_wait(began, ledger);
        self.ledgers.unwatch(group, cells);
    }

    /// Starts the operations of a group that may start.
    #[inline]
    pub(in crate::device) fn serve<P: Placement>(
        &mut self,
        time: &mut Time,
        p: &mut P,
        group: GroupId,
    ) {
        let state = &self.groups[group];
        let may_begin = if self.commands {
            // An operation may have to wait for its channel.
            state.queued() > 0 && state.busy != self.all_cells
        } else {
            state.may_serve(self.all_cells)
        };
        if may_begin || !self.only_serves_queues {
            self.serve_by_schedule(time, p, group);
        }
    }

    /// Starts an operation that was taken from its queue, on idle cells; or lets it wait for its
    /// channel, or for space.
    #[inline(always)]
    pub(super) fn begin<P: Placement>(&mut self, time: &mut Time, p: &mut P, pick: Pick) {
        let Pick { op: id, forced } = pick;
        if self.ops[id].kind == OpKind::CopyBack {
            self.make_read_if_needed(p, id);
        }
        let op = &self.ops[id];
        match op.kind {
            OpKind::Read | OpKind::Erase if !self.lacks_channel(time.now, op) => {
                self.start(time, p, id)
            }
            OpKind::Program | OpKind::CopyBack | OpKind::Modify if !self.has_page(p, id) => {
                self.park(time, p, id)
            }
            OpKind::Modify if !self.lacks_channel(time.now, op) => self.start_modify(time, p, id),
            OpKind::CopyBack if !self.lacks_channel(time.now, op) => {
                self.bind(p, id);
                self.start(time, p, id);
            }
            OpKind::Program if !self.is_closed_to(time.now, op) => self.start_program(time, p, id),
            _ => self.want_channel(time, id, self.ops[id].group, forced),
        }
    }

    /// Lets an operation wait for its channel; its cells stay idle meanwhile.
    pub(in crate::device) fn want_channel(
        &mut self,
        time: &mut Time,
        id: OpId,
        group: GroupId,
        forced: bool,
    ) {
        let (channel, cells) = (self.ops[id].channel, self.ops[id].cells);
        let state = &mut self.groups[group];
        state.wanted |= cells;
        if forced {
            state.barred |= cells;
        }
        let waits_for = &mut self.channels[channel].ledger;
        self.ledgers.follow(time.now, group, cells, &self.groups[group], waits_for);
        self.queue_for_channel(time, id, AsksFor::Both);
    }

    /// Gives the channel to an operation that waited for it to begin. If a read has occupied its
    /// unit meanwhile, the operation goes back to the queue; returns true if it started.
    pub(in crate::device) fn channel_granted<P: Placement>(
        &mut self,
        time: &mut Time,
        p: &mut P,
        id: OpId,
    ) -> bool {
        let op = &self.ops[id];
        let (group, cells, channel) = (op.group, op.cells, op.channel);
        let state = &mut self.groups[group];
        state.wanted &= !cells;
        state.barred &= !cells;
        let startable = state.busy & cells == 0;
        let awaited = &mut self.channels[channel].ledger;
        self.ledgers.follow(time.now, group, cells, &self.groups[group], awaited);
        if startable {
            self.begin(time, p, Pick { op: id, forced: true });
            return self.is_closed_to(time.now, &self.ops[id]);
        }
        self.requeue(p, id);
        false
    }

    /// Occupies the cells of an operation from now on.
    #[inline(always)]
    pub(in crate::device) fn occupy(&mut self, time: &mut Time, id: OpId) {
        let op = &self.ops[id];
        let state = &mut self.groups[op.group];
        assert!(state.busy & op.cells == 0, "a cell serves one operation at a time");
        state.busy |= op.cells;
        self.hold_on(time, id);
    }

    /// Counts an operation that occupies its cells, and charges waits for them to it.
    #[inline(always)]
    pub(in crate::device) fn hold_on(&mut self, time: &mut Time, id: OpId) {
        let Op { group, cells, channel, holder, kind, planes, .. } = self.ops[id];
        self.counters.count(kind, holder, planes);
        let (state, of) = (holder.on_unit(), &self.groups[group]);
        let channel = &mut self.channels[channel].ledger;
        self.ledgers.occupy(time.now, group, cells, state, of, channel);
    }

    /// Frees the cells of an operation that has ended. Their ledgers are updated only when it
    /// leaves ([`Flash::leave`]), at the same moment: by then most cells have been occupied again.
    #[inline(always)]
    pub(in crate::device) fn vacate(&mut self, id: OpId) {
        let op = &self.ops[id];
        self.groups[op.group].busy &= !op.cells;
    }

    /// Updates the ledgers of vacated cells that have not been occupied again.
    #[inline(always)]
    pub(super) fn note_vacated(
        &mut self,
        time: &Time,
        group: GroupId,
        cells: u64,
        channel: ChannelId,
    ) {
        if cells & !self.groups[group].busy != 0 {
            let channel = &mut self.channels[channel].ledger;
            self.ledgers.follow(time.now, group, cells, &self.groups[group], channel);
        }
    }

    /// Starts a read, copy-back or erase on idle cells.
    pub(in crate::device) fn start<P: Placement>(&mut self, time: &mut Time, p: &mut P, id: OpId) {
        self.end_wait(time, id);
        self.occupy(time, id);
        if self.commands {
            return self.command_first(time, id);
        }
        self.begin_array(time, p, id);
    }

    /// Begins the array's part of a read, copy-back or erase.
    #[inline(always)]
    pub(super) fn begin_array<P: Placement>(&mut self, time: &mut Time, p: &mut P, id: OpId) {
        let op = &self.ops[id];
        let (kind, row, batch, sequence) = (op.kind, op.row, op.batch, op.seq);
        let span = match kind {
            OpKind::Read => {
                let sense = self.timing.read(row);
                self.ops.charge_service(id, State::Sense, sense);
                time.agenda.schedule(time.now + sense, Event::Sensed(id), sequence);
                return;
            }
            OpKind::CopyBack => {
                let target = batch * self.shape.rows_per_batch;
                let rows = 0..self.shape.rows_per_batch;
                let sense: Span = rows.clone().map(|step| self.timing.read(row + step)).sum();
                let program: Span = rows.map(|step| self.timing.program(target + step)).sum();
                sense + program
            }
            OpKind::Erase if self.is_suspendable(kind) => return self.begin_work(time, p, id),
            OpKind::Erase => {
                let span = self.timing.erase.total();
                self.note_erase(id, time.now + span);
                span
            }
            OpKind::Program | OpKind::Modify => unreachable!("what carries data starts otherwise"),
        };
        time.agenda.schedule(time.now + span, Event::Array(id), sequence);
    }

    /// Binds a program to its page and starts its transfer.
    pub(super) fn start_program<P: Placement>(&mut self, time: &mut Time, p: &mut P, id: OpId) {
        let bound = self.bind(p, id);
        assert!(bound, "a program with a place binds");
        self.end_wait(time, id);
        self.occupy(time, id);
        self.carry(time, id);
    }

    // ---- placement ---------------------------------------------------------------------

    /// True if a program would find a page.
    #[inline(always)]
    pub(super) fn has_page<P: Placement>(&self, p: &P, id: OpId) -> bool {
        p.has_page(&self.ops[id], &self.payloads)
    }

    /// Binds a program (or copy-back) to its page; returns true if there is one.
    #[inline]
    pub(in crate::device) fn bind<P: Placement>(&mut self, p: &mut P, id: OpId) -> bool {
        let bound = p.bind(&mut self.ops[id], &self.payloads);
        if bound == Bound::Owing {
            self.raise_background(self.ops[id].group);
        }
        bound != Bound::Nowhere
    }

    /// Parks a program until its bin has space: its wait for the unit ends here.
    pub(super) fn park<P: Placement>(&mut self, time: &mut Time, p: &mut P, id: OpId) {
        self.end_wait(time, id);
        let bin = self.ops[id].bin;
        let totals = *self.settled_totals(time, bin);
        p.park(time.now, id, &self.ops[id], &totals);
    }

    /// Raises queued background GC of a group to foreground GC.
    pub(in crate::device) fn raise_background(&mut self, group: GroupId) {
        self.groups[group].raise_background(&mut self.ops, self.has_scrubber);
    }
    /// Raises programs of background GC that wait in a group to foreground GC, and starts them if they may
    /// start now.
    pub(in crate::device) fn raise_programs<P: Placement>(
        &mut self,
        time: &mut Time,
        p: &mut P,
        group: GroupId,
    ) {
        if self.groups[group].raise_where(&mut self.ops, Op::is_program) {
            self.serve(time, p, group);
        }
    }
    /// Raises queued operations of scrubbing that is a task of its own to foreground GC.
    pub(in crate::device) fn raise_scrubbing(&mut self, group: GroupId, bin: BinId) {
        let is_own = |op: &Op| op.is_scrubbing() && op.bin == bin;
        self.groups[group].raise_where(&mut self.ops, is_own);
    }

    /// The activity of the unit that a bin's programs occupy, since the first call for the bin.
    pub(in crate::device) fn settled_totals(&mut self, time: &Time, bin: BinId) -> &Snapshot {
        let place = self.first_place(bin);
        let place = &mut self.places[place];
        let (group, cells) = (place.group, place.program);
        let channel = &mut self.channels[place.channel].ledger;
        if !std::mem::replace(&mut place.is_watched, true) {
            self.ledgers.watch(time.now, group, cells, &self.groups[group], channel);
        }
        let ledger = self.ledgers.of(group, cells);
        ledger.settle_with(time.now, channel);
        ledger.totals()
    }

    /// The class of a bin's GC operations.
    #[inline]
    pub(in crate::device) fn class_of<P: Placement>(&self, p: &P, bin: BinId) -> Class {
        p.class_of(bin, || self.groups[self.places[self.first_place(bin)].group].is_kept_for(bin))
    }

    /// The class that an operation of GC or of scrubbing has now.
    #[inline]
    pub(super) fn class_by_owner<P: Placement>(&self, p: &P, op: &Op) -> Class {
        if op.is_scrubbing() { p.class_of_scrubbing(op.bin) } else { self.class_of(p, op.bin) }
    }

    /// Turns a copy-back into a read if other programs have taken the pages on the planes of its
    /// batch.
    #[inline(never)]
    pub(super) fn make_read_if_needed<P: Placement>(&mut self, p: &P, id: OpId) {
        let op = &self.ops[id];
        let (bin, Owner::CollectMove(from)) = (op.bin, op.owner) else { return };
        if p.may_copy_back(op.holder, bin, from) {
            return;
        }
        let cells = self.places[self.first_place(bin)].read_cells(self.shape.all_planes);
        let op = &mut self.ops[id];
        // The cells of a read, which are among those of the program that it was to be.
        op.cells &= cells;
        op.kind = OpKind::Read;
        if op.holder == Holder::GcProgram {
            op.holder = Holder::GcRead;
        }
        op.owner = Owner::CollectRead(self.shape.whole_batch.into());
        self.notes.push_back(Note::TurnedToRead(bin));
    }

    /// Starts an idle gap of a group that may have become idle, if idle gaps are used.
    #[inline]
    pub(in crate::device) fn watch_idle<P: Placement>(
        &mut self,
        time: &mut Time,
        p: &P,
        group: GroupId,
    ) {
        if let Some(gap) = self.idle_gap {
            self.watch_gap(time, p, group, gap);
        }
    }

    #[inline(never)]
    fn watch_gap<P: Placement>(&mut self, time: &mut Time, p: &P, group: GroupId, gap: Span) {
        let mut bins = self.bins_of_group[group].iter();
        if !bins.any(|bin| p.wants(*bin) != Wanted::Nothing) {
            return;
        }
        let state = &mut self.groups[group];
        if state.is_idle() && state.idle_check == Instant::NEVER {
            state.idle_check = time.now + gap;
            time.agenda.schedule(state.idle_check, Event::Idle(group), group.0.into());
        }
    }

    /// Handles the end of a possible idle gap; returns true if the group is still idle.
    pub(in crate::device) fn has_been_idle(&mut self, time: &Time, group: GroupId) -> bool {
        let state = &mut self.groups[group];
        let is_over = state.idle_check == time.now;
        if is_over {
            state.idle_check = Instant::NEVER;
        }
        is_over
    }
}
