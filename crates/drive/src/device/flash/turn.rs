//! Operations that turn into others on the same units, and packages that latch data that another
//! sends: both are used by collection.
//!
//! A turn is a short cut through the end of an operation, [`Flash::vacate`] and [`Flash::ask`], and
//! nothing else: it is taken only if they would do the same at the same moment; the fuzz test
//! compares the two. Most flash operations of a drive under random writes are of this kind.

use crate::device::Time;
use crate::device::event::Event;
use crate::device::flash::counters::OpKind;
use crate::device::flash::op::{Class, Op, Owner};
use crate::device::flash::place::Ask;
use crate::device::flash::{Flash, Note, Placement};
use crate::device::ids::OpId;
use engine::{Instant, count_bits};
use ftl::{Batch, BinId};
use metrics::Holder;

impl Flash {
    /// True if an operation of `class` in a bin, on the cells that `id` still occupies, would go
    /// next there: `planes` are those of a read; a program occupies all.
    #[inline(always)]
    pub(in crate::device) fn may_turn(
        &self,
        time: &Time,
        id: OpId,
        bin: BinId,
        class: Class,
        read: Option<u64>,
    ) -> bool {
        let op = &self.ops[id];
        let place = &self.places[self.first_place(bin)];
        let takes_same = self.uniform
            || match read {
                Some(planes) => place.read_cells(planes) == op.cells,
                None => place.program == op.cells,
            };
        takes_same
            && self.groups[op.group].passes_on(class, op.cells, bin, &self.bypass)
            && (!self.commands || self.may_be_commanded(time.now, id))
    }

    /// True if the command of an operation's successor is sent at once: its channel is free, and
    /// nothing was interrupted in its group.
    #[inline(always)]
    fn may_be_commanded(&self, now: Instant, id: OpId) -> bool {
        let op = &self.ops[id];
        !self.is_closed_to(now, op) && !self.has_work(op.group)
    }

    /// Turns the read of a whole batch into the program that moves it. There must be a page for it.
    pub(in crate::device) fn turn_to_program<P: Placement>(
        &mut self,
        time: &mut Time,
        p: &mut P,
        id: OpId,
        class: Class,
        holder: Holder,
    ) {
        let planes = count_bits(self.shape.all_planes) as u8;
        let rows = self.shape.rows_per_batch;
        let transfer = self.cycles_before_data() + self.shape.of_batch();
        let from = self.ops[id].at();
        self.turn(id, class, Owner::CollectMove(from), |op| {
            op.kind = OpKind::Program;
            op.holder = holder;
            op.planes = planes;
            op.transfer = transfer;
            op.rows_left = rows as u16;
        });
        let group = self.ops[id].group;
        if self.is_closed_to(time.now, &self.ops[id]) {
            let op = &self.ops[id];
            self.groups[group].busy &= !op.cells;
            let forced = self.groups[group].pass(class, &self.bypass, self.next_seq);
            self.want_channel(time, id, group, forced);
        } else {
            let bound = self.bind(p, id);
            debug_assert!(bound, "a program with a place binds");
            self.hold_on(time, id);
            self.carry(time, id);
        }
    }

    /// Turns the program of a move into the read of `valid` units of the victim's next batch.
    #[inline(always)]
    pub(in crate::device) fn turn_to_read(
        &mut self,
        time: &mut Time,
        id: OpId,
        (class, holder): (Class, Holder),
        (at, valid, planes): (Batch, u64, u64),
    ) {
        let rows = self.shape.rows_per_batch;
        let row = at.batch * rows;
        let transfer = self.shape.of_units(valid);
        self.turn(id, class, Owner::CollectRead(valid.into()), |op| {
            op.kind = OpKind::Read;
            op.holder = holder;
            op.planes = count_bits(planes) as u8;
            op.transfer = transfer;
            op.block = at.block;
            op.batch = at.batch;
            op.row = row;
            op.rows_left = rows as u16;
        });
        self.hold_on(time, id);
        if self.commands {
            return self.command_first(time, id);
        }
        let due = time.now + self.timing.read(row);
        time.agenda.schedule(due, Event::Sensed(id), self.ops[id].seq);
    }

    /// Makes an operation the next one of its bin's collection, on the same cells.
    #[inline(always)]
    fn turn(&mut self, id: OpId, class: Class, owner: Owner, rest: impl FnOnce(&mut Op)) {
        let seq = self.next_seq;
        self.next_seq += 1;
        let op = &mut self.ops[id];
        op.owner = owner;
        op.class = class;
        op.seq = seq;
        op.failed = 0;
        rest(op);
        debug_assert!(op.waits.is_none(), "collection's waits are not measured");
        let group = op.group;
        self.groups[group].idle_check = Instant::NEVER;
        self.chained += 1;
    }

    // ---- streaming ---------------------------------------------------------------------

    /// True if a bin's package could latch now the data that another sends over `source`'s channel.
    pub(in crate::device) fn could_latch(&self, now: Instant, source: OpId, to: BinId) -> bool {
        let place = &self.places[self.first_place(to)];
        self.groups[place.group].is_open_to(place.program)
            && (place.channel == self.ops[source].channel
                || !self.channels[place.channel].is_busy(now))
            && !self.has_work(place.group)
    }

    /// Lets a package latch the data that another sends, and occupy its lines for that. It must be
    /// able to latch, and there must be a page.
    pub(in crate::device) fn latch<P: Placement>(
        &mut self,
        time: &mut Time,
        p: &mut P,
        source: OpId,
        ask: Ask,
    ) -> OpId {
        let holder = ask.holder;
        let id = self.insert(time, ask);
        let Op { group, channel, planes, .. } = self.ops[id];
        let is_bound = self.bind(p, id);
        debug_assert!(is_bound, "a bin that takes a batch has a place for it");
        self.groups[group].idle_check = Instant::NEVER;
        self.occupy(time, id);
        if channel != self.ops[source].channel {
            self.channels[channel].take(time.now, holder.on_channel());
        }
        self.counters.streamed += u64::from(planes);
        self.ops[source].owner = Owner::StreamOut(id);
        id
    }

    /// Begins the program of data that a package has latched.
    pub(in crate::device) fn latched<P: Placement>(
        &mut self,
        time: &mut Time,
        p: &mut P,
        source: OpId,
        program: OpId,
    ) {
        if self.ops[program].channel != self.ops[source].channel {
            self.release_channel(time, p, program);
        }
        self.begin_program(time, p, program);
    }

    // ---- units that are reserved -------------------------------------------------------

    /// Reserves a bin's unit for its collection.
    pub(in crate::device) fn reserve(&mut self, time: &Time, bin: BinId) {
        let (group, cells) =
            (self.places[self.first_place(bin)].group, self.places[self.first_place(bin)].erase);
        self.groups[group].keep(cells, bin);
        self.follow(time, bin, cells);
        self.note_reserved(time.now, group, cells, true);
        if self.tells_reservations {
            self.notes.push_back(Note::Reserved(bin));
        }
    }

    /// Ends the reservation of a bin's unit for its collection; returns true if it was reserved.
    pub(in crate::device) fn give_back(&mut self, time: &Time, bin: BinId) -> bool {
        let (group, cells) =
            (self.places[self.first_place(bin)].group, self.places[self.first_place(bin)].erase);
        let was_reserved = self.groups[group].give_back(cells, bin);
        if was_reserved {
            self.follow(time, bin, cells);
            self.note_reserved(time.now, group, cells, false);
        }
        was_reserved
    }

    /// Updates ledgers after a change of the reason why cells of a bin's group are idle.
    pub(super) fn follow(&mut self, time: &Time, bin: BinId, cells: u64) {
        let place = &self.places[self.first_place(bin)];
        let (group, channel) = (place.group, &mut self.channels[place.channel].ledger);
        self.ledgers.follow(time.now, group, cells, &self.groups[group], channel);
    }

    /// True if a group is idle and no idle gap of it is being measured.
    pub(in crate::device) fn is_unwatched(&self, group: nand::GroupId) -> bool {
        let state = &self.groups[group];
        state.is_idle() && state.idle_check == Instant::NEVER
    }
}
