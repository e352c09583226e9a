//! Host data on its way from the buffer to flash.

use super::Device;
use super::array::Ask;
use super::buffer::{EntryId, Stage};
use super::counters::OpKind;
use super::event::Event;
use super::op::{Class, OpId, Owner, PayloadId};
use super::request::RequestId;
use super::space;
use crate::config::{Durability, FlushPolicy};
use engine::{Instant, Span};
use ftl::{BinId, Lpn, PoolId, Pun, Source};
use metrics::{Blame, Holder, State};

impl Device {
    /// Sends out what a pool holds now, full batch or not.
    pub(super) fn hurry(&mut self, pool: PoolId) {
        self.pools[pool].hurry_until = Some(self.now);
        self.pump(pool);
    }

    pub(super) fn pump_all(&mut self) {
        for pool in 0..self.ftl.layout.pool_count() {
            self.pump(PoolId(pool));
        }
    }

    /// Forms as many programs of a pool as its policy and its bins allow.
    pub(super) fn pump(&mut self, pool: PoolId) {
        self.pump_after(pool, None);
    }

    /// As [`Device::pump`], made possible by the end of a program.
    fn pump_after(&mut self, pool: PoolId, after: Option<OpId>) {
        while self.is_due(pool) {
            let Some(bin) = self.choose_bin(pool) else { return };
            self.form(pool, bin, after);
        }
        // What is left waits for its own time.
        self.watch_partial(pool);
    }

    /// True where a pool's first batch should go to flash.
    fn is_due(&mut self, pool: PoolId) -> bool {
        let Some(head) = self.buffer.head(pool) else {
            self.pools[pool].hurry_until = None;
            return false;
        };
        let through = self.buffer_config.durability == Durability::None;
        let waits = self.buffer_config.partial_after.is_some();
        if self.buffer.listed(pool) >= self.ftl.layout.units_per_batch {
            let eager = matches!(self.buffer_config.flush, FlushPolicy::Eager {});
            if eager || through || self.drains() {
                return true;
            }
        } else if through && !waits && !self.admitting {
            return true;
        }
        let since = self.buffer.entry(head).since;
        match self.pools[pool].hurry_until {
            Some(until) if since <= until => return true,
            Some(_) => self.pools[pool].hurry_until = None,
            None => {}
        }
        self.buffer.flush_wants(pool)
    }

    /// True while the buffer is being drained down to its low mark.
    fn drains(&mut self) -> bool {
        if let FlushPolicy::Watermark { low, .. } = self.buffer_config.flush {
            let left = f64::from(self.buffer.pending())
                / f64::from(self.buffer_config.units(&self.ftl.layout));
            self.draining &= left > low.fraction();
        }
        self.draining
    }

    /// Asks for a program of a pool's first entries.
    fn form(&mut self, pool: PoolId, bin: BinId, after: Option<OpId>) {
        let head = self.buffer.head(pool).expect("a due pool holds something");
        let payload = self.payloads.new_empty();
        let batch = self.ftl.layout.units_per_batch;
        while self.payloads.count(payload) < batch {
            let Some(entry) = self.buffer.head(pool) else { break };
            self.buffer.unlist(entry);
            self.buffer.entry_mut(entry).stage = Stage::Flying;
            self.buffer.flying += 1;
            self.payloads.push(payload, [entry.0, 0]);
        }
        self.settle_space(pool);
        self.pools[pool].starved = None;
        self.promise(bin, true);
        let op = self.ask_program(
            bin,
            payload,
            Holder::HostProgram,
            Class::Write,
            Owner::Flush(payload),
        );
        self.charge_listed(op, head, after);
    }

    /// Charges a program with the time that its first data stood in its list: for
    /// want of space as collection went on, else as with the program whose end
    /// made way for it.
    fn charge_listed(&mut self, op: OpId, head: EntryId, after: Option<OpId>) {
        let entry = self.buffer.entry(head);
        let mut waited = self.now - entry.since;
        if waited.is_zero() {
            return;
        }
        let pool = &self.pools[entry.pool];
        if pool.without_space_until > entry.since {
            let then = self.buffer.without_space(head);
            let starved = space::charge(then, &pool.without_space, self.ops.blame(op));
            waited = waited.checked_sub(starved).expect("a wait for space is a wait");
        }
        let rest = match after {
            Some(after) => {
                let (blame, other) = self.ops.blame_and_other(op, after);
                blame.add_wait_for(other, waited)
            }
            None => waited,
        };
        self.ops.blame(op).charge(State::BufferFull, rest);
    }

    /// Asks for a program of a payload; its place is bound when it starts.
    pub(super) fn ask_program(
        &mut self,
        bin: BinId,
        payload: PayloadId,
        holder: Holder,
        class: Class,
        owner: Owner,
    ) -> OpId {
        let transfer = self.rows.units[self.payloads.count(payload) as usize];
        self.ask_on_planes(OpKind::Program, bin, holder, class, owner, transfer)
    }

    /// Asks for what writes to all planes of a block; its place is bound when it starts.
    #[inline(always)]
    pub(super) fn ask_on_planes(
        &mut self,
        kind: OpKind,
        bin: BinId,
        holder: Holder,
        class: Class,
        owner: Owner,
        transfer: Span,
    ) -> OpId {
        let layout = &self.ftl.layout;
        self.ask(Ask {
            kind,
            holder,
            owner,
            class,
            bin,
            planes: layout.all_planes(),
            block: ftl::BlockId(0),
            batch: 0,
            row: 0,
            rows: layout.rows_per_batch,
            transfer,
        })
    }

    /// Brings what the end of a program of host data will look at near, in two steps:
    /// the map's entries when it starts, what they lead to when its data has crossed
    /// the channel. Since the write was taken in, all of it has left the caches.
    #[inline]
    pub(super) fn prefetch_flush(&self, id: OpId, prefetch: impl Fn(&ftl::Ftl, Lpn)) {
        if let Owner::Flush(payload) = self.ops[id].owner {
            for slot in 0..self.payloads.count(payload) {
                let entry = EntryId(self.payloads.slot(payload, slot)[0]);
                prefetch(&self.ftl, self.buffer.entry(entry).lpn);
            }
        }
    }

    /// A program of buffer entries is over: their data is on flash.
    pub(super) fn flushed(&mut self, op: OpId, payload: PayloadId) {
        let at = self.ops[op].at();
        let bin = self.ops[op].bin;
        let first = self.ftl.layout.first_unit(at.block, at.batch);
        let count = self.payloads.count(payload);
        for slot in 0..count {
            let entry = EntryId(self.payloads.slot(payload, slot)[0]);
            self.entry_on_flash(op, entry, Pun(first.0 + slot));
        }
        let from = self.copied_inside(op);
        self.ftl.note_copied(from, at);
        let tally = &mut self.ftl.tally;
        tally.units[Source::Host as usize] += u64::from(count);
        tally.units[Source::Padding as usize] += u64::from(self.ftl.layout.units_per_batch - count);
        self.note_checkpoints();
        self.ftl.finish(at);
        self.bins[bin].queued -= 1;
        self.update_home(bin);
        if self.modifies {
            self.go_on_modifying(op, payload);
        }
        self.payloads.remove(payload);
        self.end_flushes(Some(op));
        self.pump_after(self.ftl.layout.pool_of_bin(bin), Some(op));
        self.admit_waiting(Some(op));
        self.retry_starved();
    }

    fn entry_on_flash(&mut self, op: OpId, id: EntryId, pun: Pun) {
        let (lpn, stale, writer) = {
            let entry = self.buffer.entry(id);
            (entry.lpn, entry.stale, entry.writer)
        };
        self.ftl.note(pun, lpn);
        self.ftl.note_version(pun, self.buffer.version(id));
        self.audit_program(lpn, pun, self.buffer.token(id));
        if !stale {
            self.ftl.commit_write(lpn, pun);
            self.buffer.supersede_older(id);
        }
        if let Some((request, part)) = writer {
            self.written_through(op, id, request, part);
        }
        while let Some(deferred) = self.buffer.take_deferred(id) {
            match self.buffer.entry(id).stage {
                Stage::Void => self.read_after_void(op, deferred, lpn),
                _ => self.read_deferred(op, deferred, lpn, pun),
            }
        }
        self.buffer.flying -= 1;
        self.buffer.remove(id);
    }

    /// Part of a write that is acknowledged from flash is there.
    fn written_through(&mut self, op: OpId, entry: EntryId, id: RequestId, part: u32) {
        let waited = self.now - self.requests[id].since;
        let mut blame = Blame::default();
        let rest = blame.add_tail(self.ops.blame_ref(op), waited);
        let rest = blame.add_tail(self.buffer.fetch_blame(entry), rest);
        blame.charge(State::BufferFull, rest);
        self.requests.part_done(id, part, self.now, &blame);
        self.try_answer(id);
    }

    /// A read waited for its data to be on flash, where it is now.
    pub(super) fn read_deferred(
        &mut self,
        program: OpId,
        deferred: super::buffer::Deferred,
        lpn: Lpn,
        pun: Pun,
    ) {
        let command = self.requests[deferred.request].command;
        let class = Class::of_read(self.requests[deferred.request].priority);
        let mut blame = Blame::default();
        let rest = blame.add_tail(self.ops.blame_ref(program), self.now - deferred.since);
        blame.charge(State::BufferFull, rest);
        let mut pieces = Vec::new();
        self.split(&mut pieces, lpn, pun, command.offset, command.end());
        self.audit_flash_read(deferred.request, lpn, pun);
        self.audit_pieces(&pieces, lpn, pun, command.offset, command.end());
        let request = &mut self.requests[deferred.request];
        request.parts_left += pieces.len() as u32 - 1;
        let mut part = deferred.part;
        for piece in pieces {
            let op =
                self.ask_piece(piece, Holder::HostRead, class, Owner::Read(deferred.request, part));
            self.ops.blame(op).add(&blame);
            let request = &mut self.requests[deferred.request];
            part = request.parts;
            request.parts += 1;
        }
    }

    /// Looks again at a pool's partly filled batch when its first entry has
    /// waited for as long as it may.
    pub(super) fn watch_partial(&mut self, pool: PoolId) {
        let Some(after) = self.buffer_config.partial_after else { return };
        let Some(head) = self.buffer.head(pool) else { return };
        let since = self.buffer.entry(head).since;
        if self.pools[pool].hurry_until.is_some_and(|until| since <= until) {
            // It is late already and goes as soon as a bin takes it.
            return;
        }
        if self.pools[pool].partial_check == Instant::NEVER {
            let due = (since + after.span()).max(self.now);
            self.agenda.schedule(due, Event::Partial(pool), pool.0.into());
            self.pools[pool].partial_check = due;
        }
    }

    pub(super) fn partial_due(&mut self, pool: PoolId) {
        if self.pools[pool].partial_check != self.now {
            return;
        }
        self.pools[pool].partial_check = Instant::NEVER;
        let after = self.buffer_config.partial_after.expect("only then a look is scheduled").span();
        if let Some(head) = self.buffer.head(pool)
            && self.buffer.entry(head).since + after <= self.now
        {
            let since = self.buffer.entry(head).since;
            self.pools[pool].hurry_until = Some(since);
            self.pump(pool);
        }
        self.watch_partial(pool);
    }
}
