//! In-plane read-modify-writes: the rest of a unit never leaves its planes. They sense the row that
//! the unit lies in, take the written part over the channel and program both elsewhere in
//! themselves. The packages of a synchronous gang write a part of a page in this way [ATC08].
//!
//! The controller never holds the whole unit. A read of it, or a write to another part of it, waits
//! until the program has ended.

use crate::device::Base;
use crate::device::flash::counters::OpKind;
use crate::device::flash::op::{Class, Owner, Part};
use crate::device::ids::{EntryId, OpId, PayloadId};
use crate::device::request::Requests;
use crate::device::space::waits;
use crate::device::write::Write;
use crate::device::write::buffer::{Deferred, Stage};
use crate::device::write::flush::end_deferred;
use engine::Span;
use ftl::{BinId, Lpn, Ppn, Stream};
use metrics::{Holder, State};

impl Write {
    /// True if the rest of a unit at `ppn` can stay in its planes: they have space. If they have
    /// none, the unit goes through the controller to other planes.
    pub(in crate::device) fn stays_in_planes(&self, base: &Base, ppn: Ppn) -> bool {
        self.modifies && base.space.is_available(base.space.bin_of(ppn))
    }

    /// Asks the planes that hold the rest of an entry's unit for a read-modify-write.
    pub(in crate::device) fn modify(
        &mut self,
        base: &mut Base,
        requests: &mut Requests,
        entry: EntryId,
        ppn: Ppn,
    ) {
        self.modify_in(base, requests, base.space.bin_of(ppn), entry);
    }

    fn modify_in(&mut self, base: &mut Base, requests: &mut Requests, bin: BinId, entry: EntryId) {
        self.buffer.entry_mut(entry).stage = Stage::Modifying;
        self.buffer.flying += 1;
        let payload = base.flash.payloads.new_empty();
        let kept = self.buffer.entry(entry);
        let (request, _) = kept.writer.expect("writes are acknowledged from flash");
        let (command, bytes) = (requests[request].command, base.space.ftl.layout.unit_bytes);
        let start = u64::from(kept.lpn.0) * bytes;
        let within = |byte: u64| byte.clamp(start, start + bytes) - start;
        let part = Part {
            from: within(command.offset),
            to: within(command.end()),
            rest: None,
            is_void: kept.stale,
        };
        base.flash.payloads.push(payload, [entry.0, kept.lpn.0]);
        base.flash.payloads.set_part(payload, part);
        self.buffer.set_program(entry, Some(payload));
        base.space.promise(bin, true);
        // Its transfers follow from its rows, one by one.
        base.ask_on_planes(
            OpKind::Modify,
            bin,
            Holder::HostProgram,
            Class::Write,
            Owner::Flush(payload),
            Span::ZERO,
        );
    }

    /// Lets a partial write wait for another one of the same unit, whose program is under way.
    pub(in crate::device) fn follow(&mut self, older: EntryId, entry: EntryId) {
        self.buffer.entry_mut(entry).stage = Stage::Modifying;
        self.buffer.set_program(entry, None);
        self.followers.put(older, entry);
    }

    /// Continues the partial writes that waited for the data of a program that has ended.
    pub(in crate::device) fn go_on_modifying(
        &mut self,
        base: &mut Base,
        requests: &mut Requests,
        op: OpId,
        payload: PayloadId,
    ) {
        for slot in 0..base.flash.payloads.count(payload) {
            let [older, _] = base.flash.payloads.slot(payload, slot);
            if let Some(entry) = self.followers.take(EntryId(older)) {
                let waited = base.time.now - self.buffer.entry(entry).since;
                let blame = self.buffer.rmw_blame(entry);
                let rest = blame.add_wait_for(base.flash.blame(op), waited);
                blame.charge(State::BufferFull, rest);
                self.go_on_with(base, requests, base.flash.op(op).bin, entry);
            }
        }
    }

    fn go_on_with(&mut self, base: &mut Base, requests: &mut Requests, bin: BinId, entry: EntryId) {
        let kept = self.buffer.entry(entry);
        let (lpn, is_stale) = (kept.lpn, kept.stale);
        match base.space.ftl.lookup(lpn).filter(|_| !is_stale) {
            Some(ppn) if self.stays_in_planes(base, ppn) => self.modify(base, requests, entry, ppn),
            Some(ppn) => {
                // Partial writes that wait for this one find the whole unit in the buffer.
                self.merge_with_flash(base, entry, lpn, ppn);
                self.turn_to_reading(base, entry);
                self.read_rest(base, entry, ppn);
            }
            None => self.modify_in(base, requests, bin, entry),
        }
    }

    /// Redirects partial writes whose planes have no space if other bins of their pool have some.
    pub(in crate::device) fn turn_parked_away(&mut self, base: &mut Base, requests: &mut Requests) {
        for bin in base.space.take_parked_parts() {
            let is_modify = |(id, _): &(OpId, _)| base.flash.op(*id).kind == OpKind::Modify;
            if !base.space.parked(bin).iter().any(is_modify) {
                continue;
            }
            let pool = base.space.ftl.layout.pool_of_bin(bin);
            let other = base.space.another(pool, bin);
            match other.filter(|_| !base.space.ftl.can_bind(bin, Stream::Host)) {
                Some(other) => self.turn_away(base, requests, bin, other),
                None => base.space.keep_parked_parts(bin),
            }
        }
    }

    /// Redirects partial writes that were parked in a bin: through the controller, or to another
    /// bin if nothing of their units is left to be read.
    fn turn_away(&mut self, base: &mut Base, requests: &mut Requests, bin: BinId, other: BinId) {
        let present = base.space_snapshot(bin);
        let parked = base.space.take_parked(bin);
        let (modifies, rest): (Vec<_>, Vec<_>) =
            parked.into_iter().partition(|(id, _)| base.flash.op(*id).kind == OpKind::Modify);
        base.space.put_back(bin, rest);
        for (id, then) in modifies {
            waits::charge(&then, &present, base.flash.blame_mut(id));
            let Owner::Flush(payload) = base.flash.op(id).owner else {
                unreachable!("hosts write")
            };
            let entry = EntryId(base.flash.payloads.slot(payload, 0)[0]);
            self.buffer.rmw_blame(entry).add(base.flash.blame(id));
            base.space.promise(bin, false);
            base.flash.payloads.remove(payload);
            self.buffer.flying -= 1;
            base.flash.remove(id);
            self.go_on_with(base, requests, other, entry);
        }
    }

    /// Reads the rest of an entry into the controller, and so the rest of all that wait for it.
    fn turn_to_reading(&mut self, base: &mut Base, entry: EntryId) {
        let mut last = Some(entry);
        while let Some(entry) = last {
            self.buffer.entry_mut(entry).stage = Stage::ReadingRest;
            last = self.followers.get(entry).copied();
            if let Some(follower) = last {
                let (lpn, token) = (self.buffer.entry(entry).lpn, self.buffer.token(follower));
                let token = base.audit_merge(lpn, token, self.buffer.token(entry));
                self.buffer.set_token(follower, token);
            }
        }
    }

    /// Continues a read that waited for a partial write that became void: it reads the present
    /// data.
    pub(in crate::device) fn read_after_void(
        &mut self,
        base: &mut Base,
        requests: &mut Requests,
        op: OpId,
        read: Deferred,
        lpn: Lpn,
    ) {
        if let Some(newer) = self.buffer.find(lpn) {
            self.buffer.defer(newer, read.request, read.part, read.since);
            return;
        }
        if let Some(ppn) = base.space.ftl.lookup(lpn) {
            return self.read_deferred(base, requests, Some(op), read, (lpn, ppn));
        }
        base.audit_unmapped_read(requests, read.request, lpn);
        requests[read.request].unmapped += 1;
        end_deferred(base, requests, Some(op), read);
    }

    /// Makes partial writes of a unit void that have not started, from an entry on and before it:
    /// newer data of the unit is on flash, or it was trimmed.
    pub(super) fn void_parts(&mut self, base: &mut Base, newest: Option<EntryId>) {
        let mut at = newest.filter(|_| self.modifies);
        while let Some(entry) = at {
            let kept = self.buffer.entry(entry);
            at = kept.older;
            if kept.stage == Stage::Modifying
                && let Some(payload) = self.buffer.program(entry)
            {
                base.flash.payloads.part_mut(payload).is_void = true;
            }
        }
    }

    /// Notes that a partial write has started, and the rest that it found.
    pub(in crate::device) fn part_started(&mut self, base: &mut Base, op: OpId) {
        let Owner::Flush(payload) = base.flash.op(op).owner else { unreachable!("hosts write") };
        let entry = EntryId(base.flash.payloads.slot(payload, 0)[0]);
        let rest = base.flash.payloads.part(payload).and_then(|part| part.rest);
        if let Some(rest) = rest {
            let rows = base.space.ftl.layout.rows_per_batch;
            base.space.ftl.note_sensed(rest.at.block, rows);
        }
        let kept = self.buffer.entry(entry);
        let lpn = kept.lpn;
        // Stale data is programmed nevertheless: its request waits for that.
        match base.space.ftl.lookup(lpn).filter(|_| rest.is_some()) {
            Some(ppn) => self.merge_with_flash(base, entry, lpn, ppn),
            None => self.buffer.make_void(entry),
        }
    }

    /// Merges the token of an entry, which is a part of a unit, with that of its rest at `ppn`.
    pub(super) fn merge_with_flash(&mut self, base: &Base, entry: EntryId, lpn: Lpn, ppn: Ppn) {
        let token = base.audit_rmw_read(lpn, self.buffer.token(entry), ppn);
        self.buffer.set_token(entry, token);
    }
}
