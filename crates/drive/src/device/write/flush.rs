//! Host data on its way from the buffer to flash.

use crate::config::{Durability, FlushPolicy};
use crate::device::Base;
use crate::device::dispatched::Dispatch;
use crate::device::event::Event;
use crate::device::flash::op::{Class, Owner};
use crate::device::ids::{EntryId, OpId, PayloadId, RequestId};
use crate::device::request::Requests;
use crate::device::space::waits::{self, SpaceSnapshot};
use crate::device::write::Write;
use crate::device::write::buffer::{Deferred, Stage};
use engine::Instant;
use ftl::{BinId, Lpn, PoolId, Ppn, Source};
use metrics::{Blame, Holder, State};

impl Write {
    /// Forces a flush of a pool's present entries, even if they do not fill a batch.
    #[inline(never)]
    pub(in crate::device) fn force_flush(&mut self, base: &mut Base, pool: PoolId) {
        self.pools[pool].forced_until = Some(base.time.now);
        self.flush_pool(base, pool);
    }

    /// Forms programs of all pools: first of the pool whose first entry has waited longest.
    #[inline(never)]
    pub(in crate::device) fn flush_pools(&mut self, base: &mut Base) {
        let mut pools = std::mem::take(&mut self.by_age);
        let all = base.space.ftl.layout.pools_of(self.set);
        pools.extend(all.map(|pool| (self.since(pool).unwrap_or(Instant::NEVER), pool)));
        pools.sort_unstable();
        for (_, pool) in pools.drain(..) {
            self.flush_pool(base, pool);
        }
        self.by_age = pools;
    }

    /// The moment from which the first entry in a pool's list has waited.
    pub(in crate::device) fn since(&self, pool: PoolId) -> Option<Instant> {
        Some(self.buffer.entry(self.buffer.head(pool)?).since)
    }

    /// Forms as many programs of a pool as its policy and its bins allow.
    pub(in crate::device) fn flush_pool(&mut self, base: &mut Base, pool: PoolId) {
        self.flush_pool_after(base, pool, None);
    }

    /// Forms programs of a pool after the end of a program has made it possible.
    #[inline]
    fn flush_pool_after(&mut self, base: &mut Base, pool: PoolId, after: Option<OpId>) {
        if self.updates.is_some() {
            self.update_due(base, pool, after);
        } else if self.buffer.head(pool).is_some() {
            self.form_due(base, pool, after);
        } else {
            self.pools[pool].forced_until = None;
        }
    }

    #[inline(never)]
    fn form_due(&mut self, base: &mut Base, pool: PoolId, after: Option<OpId>) {
        if base.space.pressure.is_some() {
            self.note_room(base, pool, after);
        }
        while self.is_due(base, pool) {
            let Some(bin) = base.choose_bin(pool) else { return };
            self.form(base, pool, bin, after);
        }
        // The remaining entries wait for their own time.
        self.watch_partial(base, pool);
    }

    /// True if a pool's first batch should go to flash.
    pub(super) fn is_due(&mut self, base: &mut Base, pool: PoolId) -> bool {
        let Some(head) = self.buffer.head(pool) else {
            self.pools[pool].forced_until = None;
            return false;
        };
        let through = self.config.durability == Durability::None;
        let waits = self.config.partial_after.is_some();
        if self.buffer.listed(pool) >= base.space.ftl.layout.units_per_batch {
            let eager = matches!(self.config.flush, FlushPolicy::Eager {});
            if eager || through || self.drains(base) {
                return true;
            }
        } else if through && !waits && !self.admitting {
            return true;
        }
        let since = self.buffer.entry(head).since;
        match self.pools[pool].forced_until {
            Some(until) if since <= until => return true,
            Some(_) => self.pools[pool].forced_until = None,
            None => {}
        }
        self.buffer.flush_wants(pool)
    }

    /// True while the buffer is being drained down to its low mark.
    #[inline(never)]
    fn drains(&mut self, base: &mut Base) -> bool {
        if let FlushPolicy::Watermark { low, .. } = self.config.flush {
            let left = f64::from(self.buffer.pending())
                / f64::from(self.config.units(&base.space.ftl.layout));
            self.draining &= left > low.fraction();
        }
        self.draining
    }

    /// Asks for a program of a pool's first entries.
    fn form(&mut self, base: &mut Base, pool: PoolId, bin: BinId, after: Option<OpId>) {
        let head = self.buffer.head(pool).expect("a due pool holds something");
        let payload = base.flash.payloads.new_empty();
        let batch = base.space.ftl.layout.units_per_batch;
        while base.flash.payloads.count(payload) < batch {
            let Some(entry) = self.buffer.head(pool) else { break };
            self.buffer.unlist(entry);
            self.buffer.entry_mut(entry).stage = Stage::Flying;
            self.buffer.flying += 1;
            let lpn = self.buffer.entry(entry).lpn;
            base.flash.payloads.push(payload, [entry.0, lpn.0]);
        }
        base.settle_space(pool);
        base.space.end_starving(pool);
        base.space.promise(bin, true);
        let (transfer, owner) = (self.transfer_of(base, payload), Owner::Flush(payload));
        let op = base.ask_transferred(bin, transfer, Holder::HostProgram, Class::Write, owner);
        if base.space.binds_early() {
            self.audit_members(base, op, payload);
        }
        self.charge_listed(base, op, head, after);
        if after.is_none() && !self.room.is_empty() {
            self.charge_room(base, op, pool);
        }
    }

    /// Notes the program that has made room in a pool, because data may wait for a credit from now on.
    #[cold]
    #[inline(never)]
    fn note_room(&mut self, base: &Base, pool: PoolId, after: Option<OpId>) {
        let Some(blame) = after.map(|after| base.flash.blame(after)) else { return };
        match self.room.iter_mut().find(|(of, _)| *of == pool) {
            Some((_, room)) => room.clone_from(blame),
            None => self.room.push((pool, blame.clone())),
        }
    }

    /// Charges a program, which has its credit at last, with its wait for the last one that made room.
    #[cold]
    #[inline(never)]
    fn charge_room(&mut self, base: &mut Base, op: OpId, pool: PoolId) {
        let Some((_, made)) = self.room.iter().find(|(of, _)| *of == pool) else { return };
        let blame = base.flash.blame_mut(op);
        let mut waited = Blame::default();
        waited.add_wait_for(made, blame.of(State::BufferFull));
        for (state, span) in waited.iter() {
            blame.transfer(span, State::BufferFull, state);
        }
    }

    /// Reports the data of a program in a superblock, which is bound to its page.
    #[cold]
    #[inline(never)]
    fn audit_members(&self, base: &mut Base, op: OpId, payload: PayloadId) {
        for slot in 0..base.flash.payloads.count(payload) {
            let entry = EntryId(base.flash.payloads.slot(payload, slot)[0]);
            base.audit_bound(op, slot, self.buffer.token(entry));
        }
    }

    /// Charges a program with the wait of its first entry in its list.
    #[inline(always)]
    pub(super) fn charge_listed(
        &mut self,
        base: &mut Base,
        op: OpId,
        head: EntryId,
        after: Option<OpId>,
    ) {
        let entry = self.buffer.entry(head);
        let since = (entry.since, self.buffer.without_space(head));
        charge_wait(base, op, entry.pool, since, after);
    }

    /// Continues after a program of buffer entries: their data is on flash.
    pub(in crate::device) fn flushed(
        &mut self,
        base: &mut Base,
        requests: &mut Requests,
        op: OpId,
        payload: PayloadId,
    ) {
        if self.updates.is_some() {
            return self.flushed_with_parity(base, requests, op, payload);
        }
        let at = base.flash.op(op).at();
        let first = base.space.ftl.layout.first_unit(at.block, at.batch);
        for slot in 0..base.flash.payloads.count(payload) {
            let entry = EntryId(base.flash.payloads.slot(payload, slot)[0]);
            self.entry_on_flash(base, requests, op, entry, Ppn(first.0 + slot));
        }
        self.end_program(base, op, payload, 0);
        if self.modifies {
            self.go_on_modifying(base, requests, op, payload);
        }
        base.flash.payloads.remove(payload);
        self.go_on_flushing(base, requests, op);
    }

    /// Handles the end of a program if data has parity, some of which the program may have carried.
    #[inline(never)]
    fn flushed_with_parity(
        &mut self,
        base: &mut Base,
        requests: &mut Requests,
        op: OpId,
        payload: PayloadId,
    ) {
        let parity = self.units_on_flash(base, requests, op, payload);
        self.end_program(base, op, payload, parity);
        base.flash.payloads.remove(payload);
        self.commit_ended(base, requests, Some(op));
        self.go_on_flushing(base, requests, op);
    }

    /// Counts the units of a program, of which some are parity, and ends the write of its batch.
    #[inline(always)]
    fn end_program(&mut self, base: &mut Base, op: OpId, payload: PayloadId, parity: u64) {
        let (at, bin) = (base.flash.op(op).at(), base.flash.op(op).bin);
        let count = base.flash.payloads.count(payload);
        let from = base.flash.copied_inside(op);
        base.space.ftl.note_copied(from, at);
        let padding = u64::from(base.space.ftl.layout.units_per_batch - count);
        base.space.ftl.count(at.block, |tally| {
            tally.units[Source::Host as usize] += u64::from(count) - parity;
            tally.units[Source::Parity as usize] += parity;
            tally.units[Source::Padding as usize] += padding;
        });
        base.note_checkpoints();
        base.space.ftl.finish(at);
        base.space.program_ended(bin);
        base.space.update_home(bin);
    }

    /// Continues with what waited for the end of a program: flushes, other programs, and requests.
    #[inline(always)]
    fn go_on_flushing(&mut self, base: &mut Base, requests: &mut Requests, op: OpId) {
        self.end_flushes(base, requests, Some(op));
        let pool = base.space.ftl.layout.pool_of_bin(base.flash.op(op).bin);
        self.flush_pool_after(base, pool, Some(op));
        self.admit_waiting(base, requests, Some(op));
        base.space.retry_starved(self.set);
    }

    #[inline(always)]
    pub(super) fn entry_on_flash(
        &mut self,
        base: &mut Base,
        requests: &mut Requests,
        op: OpId,
        id: EntryId,
        ppn: Ppn,
    ) {
        let (lpn, stale) = (self.buffer.entry(id).lpn, self.buffer.entry(id).stale);
        base.space.ftl.note(ppn, lpn);
        base.space.ftl.note_version(ppn, self.buffer.version(id));
        self.note_subunits(base, id, ppn);
        base.audit_program(lpn, ppn, self.buffer.token(id));
        self.move_unread(base, id, ppn);
        if !stale {
            base.space.ftl.commit_write(lpn, ppn);
            self.buffer.supersede_older(id);
            self.void_parts(base, self.buffer.entry(id).older);
        }
        self.tell_of(base, requests, Some(op), id, ppn);
    }

    /// Tells those who wait for an entry that its data is at `ppn`, by the end of `op` if it was a
    /// program's, and removes the entry.
    #[inline(always)]
    pub(super) fn tell_of(
        &mut self,
        base: &mut Base,
        requests: &mut Requests,
        op: Option<OpId>,
        id: EntryId,
        ppn: Ppn,
    ) {
        let (lpn, writer) = (self.buffer.entry(id).lpn, self.buffer.entry(id).writer);
        if let Some((request, part)) = writer {
            self.written_through(base, requests, op, id, (request, part));
        }
        while let Some(deferred) = self.buffer.take_deferred(id) {
            match (self.buffer.entry(id).stage, op) {
                (Stage::Void, Some(op)) => self.read_after_void(base, requests, op, deferred, lpn),
                _ => self.read_deferred(base, requests, op, deferred, (lpn, ppn)),
            }
        }
        self.buffer.flying -= 1;
        self.buffer.remove(id);
    }

    /// Notes that a part of a write that is acknowledged from flash is there.
    pub(super) fn written_through(
        &mut self,
        base: &mut Base,
        requests: &mut Requests,
        op: Option<OpId>,
        entry: EntryId,
        (id, part): (RequestId, u32),
    ) {
        let waited = base.time.now - requests[id].since;
        let mut blame = Blame::default();
        let rest = op.map_or(waited, |op| blame.add_tail(base.flash.blame(op), waited));
        let rest = blame.add_tail(self.buffer.rmw_blame(entry), rest);
        blame.charge(State::BufferFull, rest);
        requests.part_done(id, part, base.time.now, &blame, base.flash.blames());
        requests.try_answer(id, base.flash.blames());
    }

    /// Continues a read that waited for its data to be on flash, by the end of `program` if it was
    /// one's.
    pub(in crate::device) fn read_deferred(
        &mut self,
        base: &mut Base,
        requests: &mut Requests,
        program: Option<OpId>,
        deferred: Deferred,
        (lpn, ppn): (Lpn, Ppn),
    ) {
        if base.space.ftl.is_poisoned(ppn) {
            base.audit_flash_read(requests, deferred.request, lpn, ppn);
            requests.part_failed(deferred.request, 1);
            return end_deferred(base, requests, program, deferred);
        }
        let command = requests[deferred.request].command;
        let class = Class::of_read(requests[deferred.request].priority);
        let blame = blame_since(base, program, deferred.since);
        if requests.dispatch != Dispatch::Nothing {
            let part = (deferred.request, deferred.part);
            if requests.routes_later(base, part, (lpn, ppn), &blame) {
                return;
            }
        }
        let mut pieces = Vec::new();
        base.split(&mut pieces, lpn, ppn, command.offset, command.end());
        base.audit_flash_read(requests, deferred.request, lpn, ppn);
        base.audit_pieces(&pieces, lpn, ppn, command.offset, command.end());
        let rest = requests[deferred.request].parts.split(pieces.len() as u32);
        for (part, piece) in std::iter::once(deferred.part).chain(rest..).zip(pieces) {
            let owner = Owner::Read(deferred.request, part);
            let op = base.ask_piece(piece, Holder::HostRead, class, owner);
            base.flash.blame_mut(op).add(&blame);
        }
    }

    /// Schedules a poll of a pool's partly filled batch for the moment at which its first entry has
    /// waited for as long as it may.
    pub(in crate::device) fn watch_partial(&mut self, base: &mut Base, pool: PoolId) {
        let Some(after) = self.config.partial_after else { return };
        let Some(head) = self.buffer.head(pool) else { return };
        let since = self.buffer.entry(head).since;
        if self.pools[pool].forced_until.is_some_and(|until| since <= until) {
            // It is late already and is flushed as soon as a bin takes it.
            return;
        }
        if self.pools[pool].partial_check == Instant::NEVER {
            let due = (since + after.span()).max(base.time.now);
            base.time.agenda.schedule(due, Event::Partial(pool), pool.0.into());
            self.pools[pool].partial_check = due;
        }
    }

    pub(in crate::device) fn partial_due(&mut self, base: &mut Base, pool: PoolId) {
        if self.pools[pool].partial_check != base.time.now {
            return;
        }
        self.pools[pool].partial_check = Instant::NEVER;
        let after = self.config.partial_after.expect("only then a poll is scheduled").span();
        if let Some(head) = self.buffer.head(pool)
            && self.buffer.entry(head).since + after <= base.time.now
        {
            let since = self.buffer.entry(head).since;
            self.pools[pool].forced_until = Some(since);
            self.flush_pool(base, pool);
        }
        self.watch_partial(base, pool);
    }
}

/// Charges a program with the wait of a unit of a pool, since a moment and the pool's time without
/// space until then: with the want of space while collection went on, else with the blame of the
/// program whose end made room for it.
#[inline(always)]
pub(super) fn charge_wait(
    base: &mut Base,
    op: OpId,
    pool: PoolId,
    (since, then): (Instant, &SpaceSnapshot),
    after: Option<OpId>,
) {
    let mut waited = base.time.now - since;
    if waited.is_zero() {
        return;
    }
    let (without_space, until) = base.space.without_space(pool);
    if until > since {
        let starved = waits::charge(then, without_space, base.flash.blame_mut(op));
        waited = waited.checked_sub(starved).expect("a wait for space is a wait");
    }
    let rest = match after {
        Some(after) => {
            let (blame, other) = base.flash.blame_and_other(op, after);
            blame.add_wait_for(other, waited)
        }
        None => waited,
    };
    base.flash.blame_mut(op).charge(State::BufferFull, rest);
}

/// The blame of a read that has waited in the buffer since a moment: that of the program that ended the
/// wait, if one did.
pub(super) fn blame_since(base: &mut Base, program: Option<OpId>, since: Instant) -> Blame {
    let mut blame = Blame::default();
    let waited = base.time.now - since;
    let rest = program.map_or(waited, |op| blame.add_tail(base.flash.blame(op), waited));
    blame.charge(State::BufferFull, rest);
    blame
}

/// Ends a read that has waited in the buffer: there is nothing to be read from flash.
pub(super) fn end_deferred(
    base: &mut Base,
    requests: &mut Requests,
    program: Option<OpId>,
    read: Deferred,
) {
    let blame = blame_since(base, program, read.since);
    let blames = base.flash.blames();
    requests.part_done(read.request, read.part, base.time.now, &blame, blames);
    requests.try_answer(read.request, blames);
}
