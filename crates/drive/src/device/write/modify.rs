//! Partial writes inside the planes: the rest of a unit never leaves them. They sense the row
//! that the unit lies in, take the written part over the channel and program both elsewhere in
//! themselves. So the packages of a synchronous gang write a part of a page [ATC08].
//!
//! The controller never holds the whole unit. What reads it, or writes another part of it, waits
//! until the program has ended.

use crate::device::Device;
use crate::device::event::Event;
use crate::device::flash::counters::OpKind;
use crate::device::flash::op::{Class, OpId, Owner, PayloadId};
use crate::device::space::waits as space;
use crate::device::write::buffer::{Deferred, EntryId, Stage};
use engine::Span;
use ftl::{Batch, BinId, Lpn, Pun, Stream};
use metrics::{Blame, Holder, State};

impl Device {
    /// Whether writes of a part of a unit leave the rest of it in its planes.
    pub(crate) fn modifies(&self) -> bool {
        self.write.modifies
    }

    /// True where the rest of a unit at `pun` can stay in its planes: they have space. Where they
    /// have none, the unit goes through the controller to others.
    pub(in crate::device) fn stays_in_planes(&self, pun: Pun) -> bool {
        self.write.modifies && self.base.space.bins[self.bin_of(pun)].available
    }

    fn bin_of(&self, pun: Pun) -> BinId {
        self.base.space.ftl.layout.bin(self.base.space.ftl.layout.block(pun))
    }

    fn batch_of(&self, pun: Pun) -> Batch {
        let (block, place) = self.base.space.ftl.layout.block_and_place(pun);
        Batch { block, batch: self.base.space.ftl.layout.batch_and_slot(place).0 }
    }

    /// Asks the planes that hold the rest of an entry's unit to program both.
    pub(in crate::device) fn modify(&mut self, entry: EntryId, pun: Pun) {
        self.modify_in(self.bin_of(pun), entry);
    }

    fn modify_in(&mut self, bin: BinId, entry: EntryId) {
        self.write.buffer.entry_mut(entry).stage = Stage::Modifying;
        self.write.buffer.flying += 1;
        let payload = self.base.flash.payloads.new_empty();
        self.base.flash.payloads.push(payload, [entry.0, 0]);
        self.promise(bin, true);
        // What it carries follows from its rows, one by one.
        self.ask_on_planes(
            OpKind::Modify,
            bin,
            Holder::HostProgram,
            Class::Write,
            Owner::Flush(payload),
            Span::ZERO,
        );
    }

    /// A part of a unit is written whose rest is being programmed for another: it waits for that.
    pub(in crate::device) fn follow(&mut self, older: EntryId, entry: EntryId) {
        self.write.buffer.entry_mut(entry).stage = Stage::Modifying;
        self.write.followers.push((older, entry));
    }

    /// A program has ended: what waited for its data goes on.
    pub(in crate::device) fn go_on_modifying(&mut self, op: OpId, payload: PayloadId) {
        for slot in 0..self.base.flash.payloads.count(payload) {
            let [older, _] = self.base.flash.payloads.slot(payload, slot);
            let follows = |(of, _): &(EntryId, EntryId)| of.0 == older;
            if let Some(index) = self.write.followers.iter().position(follows) {
                let (_, entry) = self.write.followers.remove(index);
                let waited = self.base.time.now - self.write.buffer.entry(entry).since;
                let blame = self.write.buffer.fetch_blame(entry);
                let rest = blame.add_wait_for(self.base.flash.ops.blame_ref(op), waited);
                blame.charge(State::BufferFull, rest);
                self.go_on_with(self.base.flash.ops[op].bin, entry);
            }
        }
    }

    fn go_on_with(&mut self, bin: BinId, entry: EntryId) {
        let kept = self.write.buffer.entry(entry);
        let (lpn, is_stale) = (kept.lpn, kept.stale);
        match self.base.space.ftl.lookup(lpn).filter(|_| !is_stale) {
            Some(pun) if self.stays_in_planes(pun) => self.modify(entry, pun),
            Some(pun) => {
                // What waits for this one finds the whole in the buffer.
                self.audit_fetch(entry, lpn, pun);
                self.turn_to_fetching(entry);
                self.fetch_rest(entry, pun);
            }
            None => self.modify_in(bin, entry),
        }
    }

    /// Partial writes whose planes have no space wait no longer where others of their pool have.
    pub(in crate::device) fn turn_parked_away(&mut self) {
        for bin in std::mem::take(&mut self.base.space.parked_modifies) {
            let is_modify = |(id, _): &(OpId, _)| self.base.flash.ops[*id].kind == OpKind::Modify;
            if !self.base.space.bins[bin].parked.iter().any(is_modify) {
                continue;
            }
            let pool = self.base.space.ftl.layout.pool_of_bin(bin);
            let bins = self.base.space.ftl.layout.bins_of(pool);
            let other = self.base.space.pools[pool]
                .in_turn()
                .map(|place| bins[place])
                .find(|of| *of != bin);
            match other.filter(|_| !self.base.space.ftl.can_bind(bin, Stream::Host)) {
                Some(other) => self.turn_away(bin, other),
                None => self.base.space.parked_modifies.push(bin),
            }
        }
    }

    /// Partial writes that were set aside in a bin go through the controller, or to another bin
    /// where nothing of them is left to be read.
    fn turn_away(&mut self, bin: BinId, other: BinId) {
        let present = self.space_snapshot(bin);
        let parked = std::mem::take(&mut self.base.space.bins[bin].parked);
        let (modifies, rest): (Vec<_>, Vec<_>) =
            parked.into_iter().partition(|(id, _)| self.base.flash.ops[*id].kind == OpKind::Modify);
        self.base.space.bins[bin].parked = rest;
        for (id, then) in modifies {
            space::charge(&then, &present, self.base.flash.ops.blame(id));
            let Owner::Flush(payload) = self.base.flash.ops[id].owner else {
                unreachable!("hosts write")
            };
            let entry = self.entry_of(payload);
            self.write.buffer.fetch_blame(entry).add(self.base.flash.ops.blame_ref(id));
            self.promise(bin, false);
            self.base.flash.payloads.remove(payload);
            self.write.buffer.flying -= 1;
            self.base.flash.ops.remove(id);
            self.go_on_with(other, entry);
        }
    }

    /// The controller comes to hold the whole of an entry, and so of all that wait for it.
    fn turn_to_fetching(&mut self, entry: EntryId) {
        let mut last = Some(entry);
        while let Some(entry) = last {
            self.write.buffer.entry_mut(entry).stage = Stage::Fetching;
            last =
                self.write.followers.iter().find(|(older, _)| *older == entry).map(|(_, own)| *own);
            if let Some(follower) = last {
                let (lpn, token) =
                    (self.write.buffer.entry(entry).lpn, self.write.buffer.token(follower));
                let token = self.audit_merge(lpn, token, entry);
                self.write.buffer.set_token(follower, token);
            }
        }
    }

    /// A read waited for a partial write that was void in the end: it reads what is there now.
    pub(in crate::device) fn read_after_void(&mut self, op: OpId, read: Deferred, lpn: Lpn) {
        if let Some(newer) = self.write.buffer.find(lpn) {
            self.write.buffer.defer(newer, read.request, read.part, read.since);
            return;
        }
        if let Some(pun) = self.base.space.ftl.lookup(lpn) {
            return self.read_deferred(op, read, lpn, pun);
        }
        self.audit_unmapped_read(read.request, lpn);
        self.port.requests[read.request].unmapped += 1;
        let mut blame = Blame::default();
        let rest =
            blame.add_tail(self.base.flash.ops.blame_ref(op), self.base.time.now - read.since);
        blame.charge(State::BufferFull, rest);
        self.port.requests.part_done(read.request, read.part, self.base.time.now, &blame);
        self.try_answer(read.request);
    }

    // ---- on the planes ----------------------------------------------------------------

    /// Binds a partial write to its place, on idle cells, and begins its first row.
    pub(in crate::device) fn start_modify(&mut self, id: OpId) {
        let Owner::Flush(payload) = self.base.flash.ops[id].owner else {
            unreachable!("hosts write parts")
        };
        let entry = self.entry_of(payload);
        let kept = self.write.buffer.entry(entry);
        let lpn = kept.lpn;
        // What is stale is programmed all the same: its request waits for that.
        match self.base.space.ftl.lookup(lpn).filter(|_| !kept.stale) {
            Some(pun) => {
                debug_assert_eq!(
                    self.bin_of(pun),
                    self.base.flash.ops[id].bin,
                    "data stays in its bin"
                );
                self.audit_fetch(entry, lpn, pun);
                self.base.flash.payloads.replace(payload, 0, [entry.0, pun.0 + 1]);
            }
            None => self.write.buffer.make_void(entry),
        }
        let bound = self.bind(id);
        debug_assert!(bound, "a program with a place binds");
        self.end_wait(id);
        self.occupy(id);
        self.modify_row(id);
    }

    fn entry_of(&self, payload: PayloadId) -> EntryId {
        EntryId(self.base.flash.payloads.slot(payload, 0)[0])
    }

    /// Where the rest lies that a partial write leaves in its planes.
    fn rest_of(&self, id: OpId) -> Option<Pun> {
        match self.base.flash.ops[id].owner {
            Owner::Flush(payload) => {
                self.base.flash.payloads.slot(payload, 0)[1].checked_sub(1).map(Pun)
            }
            _ => None,
        }
    }

    /// The batch that a program of host data has copied without correcting it.
    pub(in crate::device) fn copied_inside(&self, id: OpId) -> Option<Batch> {
        if self.base.flash.ops[id].kind != OpKind::Modify {
            return None;
        }
        self.rest_of(id)
            .map(|pun| self.batch_of(pun))
            .filter(|at| self.base.space.ftl.may_be_copied(*at))
    }

    /// The planes sense the next row of the rest.
    pub(in crate::device) fn modify_row(&mut self, id: OpId) {
        let part = self.part_of_row(id);
        let step = self.base.flash.ops[id].row
            - self.base.flash.ops[id].batch * self.base.space.ftl.layout.rows_per_batch;
        let Some(rest) = self.rest_of(id).map(|pun| self.batch_of(pun)) else {
            self.base.flash.ops[id].transfer = part;
            return self.rest_sensed(id);
        };
        let sense = self
            .base
            .flash
            .timing
            .read(rest.batch * self.base.space.ftl.layout.rows_per_batch + step);
        self.base.space.ftl.note_sensed(rest.block, 1);
        self.base.flash.ops.charge_service(id, State::Sense, sense);
        let mut span = sense;
        self.base.flash.ops[id].transfer = part;
        if !self.base.space.ftl.may_be_copied(rest) {
            // It goes out, is corrected and comes back as a whole.
            let decode = self.base.flash.timing.decode;
            self.base.flash.ops.charge_service(id, State::Decode, decode);
            self.base.flash.ops[id].transfer =
                self.base.flash.rows.of_row() + self.base.flash.rows.of_row();
            span += decode;
        }
        self.base.time.agenda.schedule(
            self.base.time.now + span,
            Event::SensedRest(id),
            self.base.flash.ops[id].seq,
        );
    }

    /// The rest of a row is in the page register: the part that was written joins it.
    pub(in crate::device) fn rest_sensed(&mut self, id: OpId) {
        match self.base.flash.ops[id].transfer.is_zero() {
            true => self.begin_program(id),
            false => self.want_transfer(id),
        }
    }

    /// Channel time of what the host wrote of an operation's present row.
    fn part_of_row(&self, id: OpId) -> Span {
        let Owner::Flush(payload) = self.base.flash.ops[id].owner else {
            unreachable!("hosts write parts")
        };
        let kept = self.write.buffer.entry(self.entry_of(payload));
        let (request, _) = kept.writer.expect("writes are acknowledged from flash");
        let (command, layout) = (self.port.requests[request].command, &self.base.space.ftl.layout);
        let step =
            self.base.flash.ops[id].row - self.base.flash.ops[id].batch * layout.rows_per_batch;
        let length = layout.row_bytes().min(layout.unit_bytes);
        let start = u64::from(kept.lpn.0) * layout.unit_bytes + u64::from(step) * length;
        let from = command.offset.clamp(start, start + length) - start;
        let to = command.end().clamp(start, start + length) - start;
        self.base.flash.timing.transfer_part(from, to)
    }
}
