//! Host writes on their way into the buffer.

use crate::config::{BufferOrder, Durability, FlushPolicy};
use crate::device::Base;
use crate::device::event::Event;
use crate::device::flash::op::{Class, Owner};
use crate::device::ids::{EntryId, OpId, RequestId, tagged};
use crate::device::join::Join;
use crate::device::pieces::Piece;
use crate::device::request::{Requests, Touches};
use crate::device::write::Write;
use crate::device::write::buffer::Stage;
use crate::device::write::subunits::Part;
use engine::{Instant, Span};
use ftl::{Lpn, PoolId, Ppn};
use host::Kind;
use metrics::{Holder, State};

impl Write {
    /// Takes a write in. It waits if the buffer is full.
    pub(in crate::device) fn admit(
        &mut self,
        base: &mut Base,
        requests: &mut Requests,
        id: RequestId,
    ) {
        let priority = requests[id].priority;
        let (first, _) = requests[id].command.units(&base.space.ftl.layout);
        requests[id].cursor = first;
        requests[id].since = base.time.now;
        if self.buffer.must_queue(priority) || !self.admit_units(base, requests, id) {
            self.buffer.wait(id, priority, units_left(base, requests, id));
            self.force_flush_if_stuck(base);
        }
    }

    /// Admits as much of a write as there is room for; returns true if that was all of it.
    fn admit_units(&mut self, base: &mut Base, requests: &mut Requests, id: RequestId) -> bool {
        // Units that come together fill batches together: batches that stay partial are flushed
        // once all units are in.
        self.admitting = true;
        let all = self.take_in(base, requests, id);
        self.admitting = false;
        if self.gathers {
            self.flush_gathered(base);
        }
        all
    }

    fn take_in(&mut self, base: &mut Base, requests: &mut Requests, id: RequestId) -> bool {
        let command = requests[id].command;
        let (_, behind) = command.units(&base.space.ftl.layout);
        while requests[id].cursor < behind {
            let lpn = Lpn(requests[id].cursor);
            if !self.admit_unit(base, requests, id, lpn) {
                return false;
            }
            requests[id].cursor += 1;
        }
        requests[id].parts.close();
        if command.kind == Kind::WriteZeroes {
            // Data has become invalid, which a collection may have waited for.
            base.space.retry_starved(self.set);
        }
        if self.config.durability == Durability::None {
            self.answer_if_through(base, requests, id);
        } else {
            let blame = requests.blame_mut(id, base.flash.blames());
            let copied = self.copy(base.time.now, blame);
            requests.answer(id, copied);
        }
        true
    }

    /// Answers a write that is acknowledged from flash and is taken in completely, if its parts
    /// have all ended before that, or (write-zeroes) it has none.
    fn answer_if_through(&mut self, base: &mut Base, requests: &mut Requests, id: RequestId) {
        let ended = if requests[id].parts.made() == 0 {
            Some(requests[id].since)
        } else {
            requests.settle(id, base.flash.blames())
        };
        if let Some(ended) = ended {
            let blame = requests.blame_mut(id, base.flash.blames());
            blame.charge(State::BufferFull, base.time.now - ended);
            requests.answer(id, base.time.now);
        }
    }

    fn admit_unit(
        &mut self,
        base: &mut Base,
        requests: &mut Requests,
        id: RequestId,
        lpn: Lpn,
    ) -> bool {
        let command = requests[id].command;
        let whole = base.space.ftl.layout.is_whole(lpn, command.offset, command.end());
        if command.kind == Kind::WriteZeroes && whole {
            self.discard(base, requests, lpn, id);
            return true;
        }
        let part = Self::part_of(base, lpn, command, whole);
        let early = self.acknowledges_early();
        let newest = self.buffer.find(lpn);
        if let Some(entry) = newest
            && early
            && self.buffer.entry(entry).stage != Stage::Flying
        {
            self.overwrite(base, requests, id, entry, part);
            return true;
        }
        if self.buffer.is_full() {
            return false;
        }
        let token = base.audit_token(requests, id, lpn);
        let pool = base.space.ftl.layout.pool(lpn);
        let version = base.space.ftl.take_version();
        let entry = self.buffer.insert(lpn, pool, newest, (token, version), base.time.now);
        self.forget_unread(base, entry);
        self.note_part(base, lpn, entry, part);
        if !early {
            self.buffer.rmw_blame(entry).add(&self.wait_for_room);
            self.buffer.entry_mut(entry).writer = Some((id, requests[id].parts.add(1)));
        }
        // Only if the rest is needed: most lookups would wait for memory.
        let needs_rest = !part.is_complete;
        let looks = needs_rest && newest.is_none();
        let flash = if looks { base.space.ftl.lookup(lpn) } else { None };
        match flash {
            Some(ppn) if self.stays_in_planes(base, ppn) => self.modify(base, requests, entry, ppn),
            Some(ppn) => self.begin_rmw(base, entry, lpn, ppn),
            None if looks && self.is_lost(base, lpn) => {
                self.begin_rmw_of_lost(base, entry, lpn);
            }
            // The buffer holds the rest, or will, if there is an older entry.
            _ => self.take_rest_from(base, entry, (lpn, token), newest.filter(|_| needs_rest)),
        }
        true
    }

    /// Readies an entry: the rest of its unit is in an older one, if it needs any.
    #[inline(always)]
    fn take_rest_from(
        &mut self,
        base: &mut Base,
        entry: EntryId,
        (lpn, token): (Lpn, u64),
        older: Option<EntryId>,
    ) {
        if let Some(older) = older {
            if self.buffer.entry(older).stage == Stage::Modifying {
                return self.follow(older, entry);
            }
            let token = base.audit_merge(lpn, token, self.buffer.token(older));
            self.buffer.set_token(entry, token);
            self.inherit_unread(older, entry);
        }
        match older.filter(|older| self.buffer.entry(*older).stage == Stage::ReadingRest) {
            Some(older) => self.followers.put(older, entry),
            None => self.entry_ready(base, entry),
        }
    }

    /// Overwrites a unit that still waits in the buffer.
    fn overwrite(
        &mut self,
        base: &mut Base,
        requests: &mut Requests,
        id: RequestId,
        entry: EntryId,
        part: Part,
    ) {
        let whole = part.is_complete;
        let lpn = self.buffer.entry(entry).lpn;
        let token = base.audit_token(requests, id, lpn);
        let token =
            if whole { token } else { base.audit_merge(lpn, token, self.buffer.token(entry)) };
        self.buffer.set_token(entry, token);
        self.note_overwriting(base, entry, part);
        if whole {
            let reads_rest = self.buffer.entry(entry).stage == Stage::ReadingRest;
            self.note_overwritten(base, entry, reads_rest);
        }
        let lru = self.config.order == BufferOrder::Lru;
        // While a flush or a read waits, entries keep their order, which the search for them needs.
        let may_move = !self.buffer.is_flushing() && !self.buffer.is_awaited(entry);
        if lru && may_move && self.buffer.entry(entry).stage == Stage::Pending {
            self.buffer.unlist(entry);
            self.list(base, entry);
        }
    }

    /// Reads the rest of a partly written unit.
    fn begin_rmw(&mut self, base: &mut Base, entry: EntryId, lpn: Lpn, ppn: Ppn) {
        self.merge_with_flash(base, entry, lpn, ppn);
        self.read_rest(base, entry, ppn);
    }

    /// Computes the rest of a partly written unit that only parity tells.
    #[cold]
    fn begin_rmw_of_lost(&mut self, base: &mut Base, entry: EntryId, lpn: Lpn) {
        let token = self.lost_token(base, lpn);
        let token = base.audit_merge(lpn, self.buffer.token(entry), token);
        self.buffer.set_token(entry, token);
        self.compute_rest(base, entry, lpn);
    }

    /// As [`Write::begin_rmw`], for a unit that has the token of the whole already.
    pub(in crate::device) fn read_rest(&mut self, base: &mut Base, entry: EntryId, ppn: Ppn) {
        let lpn = self.buffer.entry(entry).lpn;
        if base.space.ftl.is_lost(ppn) {
            return self.compute_rest(base, entry, lpn);
        }
        if base.space.ftl.is_poisoned(ppn) {
            return self.begin_without_rest(base, entry);
        }
        let mut pieces = Vec::new();
        base.split_parts(&mut pieces, lpn, ppn, self.rest_of(base, entry));
        self.read_for_rest(base, entry, pieces);
    }

    /// Reads what the rest of a partly written unit follows from.
    fn read_for_rest(&mut self, base: &mut Base, entry: EntryId, pieces: Vec<Piece>) {
        // Rows of one unit lie in one bin and are read one after the other.
        self.buffer.entry_mut(entry).since = base.time.now;
        self.rmw_reads.put(entry, Join::of(pieces.len() as u32));
        for (row, piece) in pieces.into_iter().enumerate() {
            let owner = Owner::RmwRead(entry, row as u32);
            base.ask_piece(piece, Holder::RmwRead, Class::RmwRead, owner);
        }
    }

    /// Reads the rest of its stripe for a partly written unit that is lost.
    #[cold]
    fn compute_rest(&mut self, base: &mut Base, entry: EntryId, lpn: Lpn) {
        let stripe = base.space.ftl.layout.stripes.expect("what fails has parity").of(lpn);
        let others = self.others(base, stripe, |member| member == lpn);
        debug_assert!(others.is_some() || base.loss().is_some());
        let Some(others) = others else { return };
        let mut pieces = Vec::new();
        others.on_flash.iter().for_each(|(lpn, ppn)| base.split_whole(&mut pieces, *lpn, *ppn));
        self.updates_mut().computing.insert(entry);
        if pieces.is_empty() {
            return self.rest_is_there(base, entry, (base.time.now, u64::from(entry.0)));
        }
        self.read_for_rest(base, entry, pieces);
    }

    /// Continues after a read that an entry waits for.
    pub(in crate::device) fn rest_read(
        &mut self,
        base: &mut Base,
        op: OpId,
        (entry, row): (EntryId, u32),
    ) {
        let (fails, at) = base.decoded_unless_failed(op);
        self.note_unread(base, op, entry);
        let join = self.rmw_reads.get_mut(entry).expect("its reads are noted");
        let sum = self.buffer.rmw_blame(entry);
        let blame = base.flash.blame(op);
        // Units that failed count as failed flash here: nothing else fails.
        join.fail(fails.into());
        join.ended(row, at, blame, sum, &mut self.aside);
        let Some(at) = join.settle(sum, &mut self.aside) else { return };
        let has_failed = join.failed() > 0;
        self.rmw_reads.take(entry);
        if has_failed && !self.buffer.entry(entry).stale {
            let lpn = self.buffer.entry(entry).lpn;
            self.updates_mut().computing.remove(&entry);
            return match base.space.ftl.lookup(lpn) {
                Some(ppn) => self.read_rest(base, entry, ppn),
                None => self.compute_rest(base, entry, lpn),
            };
        }
        self.rest_is_there(base, entry, (at, base.flash.op(op).seq));
    }

    /// The rest of a partly written unit is known at `at`, or was read from which it is computed;
    /// `number` is the order of what happens then.
    pub(super) fn rest_is_there(
        &mut self,
        base: &mut Base,
        entry: EntryId,
        (at, number): (Instant, u64),
    ) {
        let updates = self.updates.as_mut();
        let computes = updates.filter(|updates| !updates.computing.is_empty());
        let xor = computes.map_or(Span::ZERO, |updates| {
            if updates.computing.remove(&entry) { updates.xor } else { Span::ZERO }
        });
        self.buffer.rmw_blame(entry).charge(State::Xor, xor);
        let event = Event::RestRead(tagged(self.set, self.sets, entry));
        base.time.agenda.schedule(at + xor, event, number);
    }

    /// Lists an entry that holds a whole unit: it may be programmed.
    pub(in crate::device) fn entry_ready(&mut self, base: &mut Base, entry: EntryId) {
        let in_front = self.list(base, entry);
        let pool = self.buffer.entry(entry).pool;
        let forced = &mut self.pools[pool].forced_until;
        if self.buffer.is_awaited(entry) || (in_front && forced.is_some()) {
            // A read waits for this entry, or for one behind it.
            *forced = Some(base.time.now);
        }
        if let Some(follower) = self.followers.take(entry) {
            let blame = self.buffer.rmw_blame(entry).clone();
            self.buffer.rmw_blame(follower).add(&blame);
            self.inherit_unread(entry, follower);
            self.entry_ready(base, follower);
        }
        if self.admitting && self.gathers && self.gather(pool) {
            return;
        }
        if self.begins_to_drain() {
            self.flush_pools(base);
        } else {
            self.flush_pool(base, pool);
            self.watch_partial(base, pool);
        }
        self.force_flush_if_stuck(base);
    }

    /// Begins to drain the buffer if it is filled to its high mark; returns true if it does.
    #[inline(always)]
    fn begins_to_drain(&mut self) -> bool {
        let begins = matches!(self.config.flush, FlushPolicy::Watermark { high, .. }
            if !self.draining && self.buffer.fill() >= high.fraction());
        self.draining |= begins;
        begins
    }

    /// Notes the pool of a unit that is listed while others are taken in with it; returns true if its
    /// list is to be looked at later, because other members of its stripe may follow.
    fn gather(&mut self, pool: PoolId) -> bool {
        if self.listed.last() != Some(&pool) {
            self.listed.push(pool);
        }
        self.updates.is_some()
    }

    /// Flushes the pools of units that were taken in together.
    #[inline(never)]
    pub(super) fn flush_gathered(&mut self, base: &mut Base) {
        if self.begins_to_drain() {
            self.flush_pools(base);
        }
        for index in 0..self.listed.len() {
            self.flush_pool(base, self.listed[index]);
        }
        self.listed.clear();
        self.end_trims(base);
    }

    /// Begins what the trims of a command leave to be done.
    #[inline]
    pub(in crate::device) fn end_trims(&mut self, base: &mut Base) {
        if self.updates.is_some() {
            self.fill_holes(base);
        }
    }

    /// Puts an entry into its pool's list, with the pool's time without space so far; returns true
    /// if it is in front of others.
    fn list(&mut self, base: &mut Base, entry: EntryId) -> bool {
        let pool = self.buffer.entry(entry).pool;
        base.settle_space(pool);
        if base.space.was_starved() {
            base.settle_hold(pool);
            self.buffer.note_space(entry, base.space.without_space(pool).0);
        }
        let kept = self.buffer.entry(entry);
        // One that waited behind an update is as old as before.
        let since = if kept.stage == Stage::Behind { kept.since } else { base.time.now };
        self.buffer.list(entry, since)
    }

    /// Admits waiting requests after room has become free, by the end of `op` if it was a
    /// program's. A wait for room inherits the blame of the program that ended it.
    pub(in crate::device) fn admit_waiting(
        &mut self,
        base: &mut Base,
        requests: &mut Requests,
        op: Option<OpId>,
    ) {
        while let Some(id) = self.buffer.next_waiting() {
            if self.buffer.is_full() {
                break;
            }
            self.charge_wait_for_room(base, requests, id, op);
            let priority = requests[id].priority;
            self.buffer.admits(units_left(base, requests, id));
            let all = self.admit_units(base, requests, id);
            self.wait_for_room.clear();
            if !all {
                self.buffer.refuses(units_left(base, requests, id));
                break;
            }
            self.buffer.admitted(priority);
        }
        self.force_flush_if_stuck(base);
    }

    /// Charges an admitted request with its wait for room. If writes are acknowledged from flash,
    /// each unit that is taken in now carries the charge, because it is not known yet which of them
    /// ends last.
    fn charge_wait_for_room(
        &mut self,
        base: &mut Base,
        requests: &mut Requests,
        id: RequestId,
        op: Option<OpId>,
    ) {
        let request = &mut requests[id];
        let waited = base.time.now - request.since;
        let flash = &mut base.flash;
        let blame = if self.config.durability == Durability::None {
            &mut self.wait_for_room
        } else {
            request.since = base.time.now;
            let blame = requests.blame_id(id, flash.blames());
            let Some(op) = op else {
                return flash.blames()[blame].charge(State::BufferFull, waited);
            };
            let (blame, other) = flash.blame_of_request(blame, op);
            let rest = blame.add_wait_for(other, waited);
            return blame.charge(State::BufferFull, rest);
        };
        let rest = match op {
            Some(op) => blame.add_wait_for(flash.blame(op), waited),
            None => waited,
        };
        blame.charge(State::BufferFull, rest);
    }

    /// Forces a flush of the fullest pool if requests wait for room and nothing is on its way to
    /// flash: no full batch can form any more.
    #[inline(always)]
    fn force_flush_if_stuck(&mut self, base: &mut Base) {
        if !self.buffer.is_full() || self.buffer.next_waiting().is_none() {
            return;
        }
        let pool = if self.buffer.flying == 0 {
            self.buffer.fullest(u32::MAX)
        } else if self.config.partial_after.is_some() && self.buffer.is_short_of_room() {
            // Data that waits for its time has waited long enough.
            self.buffer.fullest(base.space.ftl.layout.units_per_batch - 1)
        } else {
            None
        };
        if let Some(pool) = pool {
            self.force_flush(base, pool);
        }
    }
}

/// Units of a write that are not admitted yet.
fn units_left(base: &Base, requests: &Requests, id: RequestId) -> u32 {
    let (_, behind) = requests[id].command.units(&base.space.ftl.layout);
    behind - requests[id].cursor
}
