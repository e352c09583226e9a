//! Host data on its way from the buffer to flash.

use crate::config::{Durability, FlushPolicy};
use crate::device::Device;
use crate::device::event::Event;
use crate::device::flash::Ask;
use crate::device::flash::counters::OpKind;
use crate::device::flash::op::{Class, OpId, Owner, PayloadId};
use crate::device::port::request::RequestId;
use crate::device::space::waits as space;
use crate::device::write::buffer::{EntryId, Stage};
use engine::{Instant, Span};
use ftl::{BinId, Lpn, PoolId, Pun, Source};
use metrics::{Blame, Holder, State};

impl Device {
    /// Sends out what a pool holds now, full batch or not.
    pub(in crate::device) fn hurry(&mut self, pool: PoolId) {
        self.base.space.pools[pool].hurry_until = Some(self.base.time.now);
        self.pump(pool);
    }

    pub(in crate::device) fn pump_all(&mut self) {
        for pool in 0..self.base.space.ftl.layout.pool_count() {
            self.pump(PoolId(pool));
        }
    }

    /// Forms as many programs of a pool as its policy and its bins allow.
    pub(in crate::device) fn pump(&mut self, pool: PoolId) {
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
        let Some(head) = self.write.buffer.head(pool) else {
            self.base.space.pools[pool].hurry_until = None;
            return false;
        };
        let through = self.write.config.durability == Durability::None;
        let waits = self.write.config.partial_after.is_some();
        if self.write.buffer.listed(pool) >= self.base.space.ftl.layout.units_per_batch {
            let eager = matches!(self.write.config.flush, FlushPolicy::Eager {});
            if eager || through || self.drains() {
                return true;
            }
        } else if through && !waits && !self.write.admitting {
            return true;
        }
        let since = self.write.buffer.entry(head).since;
        match self.base.space.pools[pool].hurry_until {
            Some(until) if since <= until => return true,
            Some(_) => self.base.space.pools[pool].hurry_until = None,
            None => {}
        }
        self.write.buffer.flush_wants(pool)
    }

    /// True while the buffer is being drained down to its low mark.
    fn drains(&mut self) -> bool {
        if let FlushPolicy::Watermark { low, .. } = self.write.config.flush {
            let left = f64::from(self.write.buffer.pending())
                / f64::from(self.write.config.units(&self.base.space.ftl.layout));
            self.write.draining &= left > low.fraction();
        }
        self.write.draining
    }

    /// Asks for a program of a pool's first entries.
    fn form(&mut self, pool: PoolId, bin: BinId, after: Option<OpId>) {
        let head = self.write.buffer.head(pool).expect("a due pool holds something");
        let payload = self.base.flash.payloads.new_empty();
        let batch = self.base.space.ftl.layout.units_per_batch;
        while self.base.flash.payloads.count(payload) < batch {
            let Some(entry) = self.write.buffer.head(pool) else { break };
            self.write.buffer.unlist(entry);
            self.write.buffer.entry_mut(entry).stage = Stage::Flying;
            self.write.buffer.flying += 1;
            self.base.flash.payloads.push(payload, [entry.0, 0]);
        }
        self.settle_space(pool);
        self.base.space.pools[pool].starved = None;
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
        let entry = self.write.buffer.entry(head);
        let mut waited = self.base.time.now - entry.since;
        if waited.is_zero() {
            return;
        }
        let pool = &self.base.space.pools[entry.pool];
        if pool.without_space_until > entry.since {
            let then = self.write.buffer.without_space(head);
            let starved = space::charge(then, &pool.without_space, self.base.flash.ops.blame(op));
            waited = waited.checked_sub(starved).expect("a wait for space is a wait");
        }
        let rest = match after {
            Some(after) => {
                let (blame, other) = self.base.flash.ops.blame_and_other(op, after);
                blame.add_wait_for(other, waited)
            }
            None => waited,
        };
        self.base.flash.ops.blame(op).charge(State::BufferFull, rest);
    }

    /// Asks for a program of a payload; its place is bound when it starts.
    pub(in crate::device) fn ask_program(
        &mut self,
        bin: BinId,
        payload: PayloadId,
        holder: Holder,
        class: Class,
        owner: Owner,
    ) -> OpId {
        let transfer = self.base.flash.rows.units[self.base.flash.payloads.count(payload) as usize];
        self.ask_on_planes(OpKind::Program, bin, holder, class, owner, transfer)
    }

    /// Asks for what writes to all planes of a block; its place is bound when it starts.
    #[inline(always)]
    pub(in crate::device) fn ask_on_planes(
        &mut self,
        kind: OpKind,
        bin: BinId,
        holder: Holder,
        class: Class,
        owner: Owner,
        transfer: Span,
    ) -> OpId {
        let layout = &self.base.space.ftl.layout;
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
    pub(in crate::device) fn prefetch_flush(&self, id: OpId, prefetch: impl Fn(&ftl::Ftl, Lpn)) {
        if let Owner::Flush(payload) = self.base.flash.ops[id].owner {
            for slot in 0..self.base.flash.payloads.count(payload) {
                let entry = EntryId(self.base.flash.payloads.slot(payload, slot)[0]);
                prefetch(&self.base.space.ftl, self.write.buffer.entry(entry).lpn);
            }
        }
    }

    /// A program of buffer entries is over: their data is on flash.
    pub(in crate::device) fn flushed(&mut self, op: OpId, payload: PayloadId) {
        let at = self.base.flash.ops[op].at();
        let bin = self.base.flash.ops[op].bin;
        let first = self.base.space.ftl.layout.first_unit(at.block, at.batch);
        let count = self.base.flash.payloads.count(payload);
        for slot in 0..count {
            let entry = EntryId(self.base.flash.payloads.slot(payload, slot)[0]);
            self.entry_on_flash(op, entry, Pun(first.0 + slot));
        }
        let from = self.copied_inside(op);
        self.base.space.ftl.note_copied(from, at);
        let tally = &mut self.base.space.ftl.tally;
        tally.units[Source::Host as usize] += u64::from(count);
        tally.units[Source::Padding as usize] +=
            u64::from(self.base.space.ftl.layout.units_per_batch - count);
        self.note_checkpoints();
        self.base.space.ftl.finish(at);
        self.base.space.bins[bin].queued -= 1;
        self.update_home(bin);
        if self.write.modifies {
            self.go_on_modifying(op, payload);
        }
        self.base.flash.payloads.remove(payload);
        self.end_flushes(Some(op));
        self.pump_after(self.base.space.ftl.layout.pool_of_bin(bin), Some(op));
        self.admit_waiting(Some(op));
        self.retry_starved();
    }

    fn entry_on_flash(&mut self, op: OpId, id: EntryId, pun: Pun) {
        let (lpn, stale, writer) = {
            let entry = self.write.buffer.entry(id);
            (entry.lpn, entry.stale, entry.writer)
        };
        self.base.space.ftl.note(pun, lpn);
        self.base.space.ftl.note_version(pun, self.write.buffer.version(id));
        self.audit_program(lpn, pun, self.write.buffer.token(id));
        if !stale {
            self.base.space.ftl.commit_write(lpn, pun);
            self.write.buffer.supersede_older(id);
        }
        if let Some((request, part)) = writer {
            self.written_through(op, id, request, part);
        }
        while let Some(deferred) = self.write.buffer.take_deferred(id) {
            match self.write.buffer.entry(id).stage {
                Stage::Void => self.read_after_void(op, deferred, lpn),
                _ => self.read_deferred(op, deferred, lpn, pun),
            }
        }
        self.write.buffer.flying -= 1;
        self.write.buffer.remove(id);
    }

    /// Part of a write that is acknowledged from flash is there.
    fn written_through(&mut self, op: OpId, entry: EntryId, id: RequestId, part: u32) {
        let waited = self.base.time.now - self.port.requests[id].since;
        let mut blame = Blame::default();
        let rest = blame.add_tail(self.base.flash.ops.blame_ref(op), waited);
        let rest = blame.add_tail(self.write.buffer.fetch_blame(entry), rest);
        blame.charge(State::BufferFull, rest);
        self.port.requests.part_done(id, part, self.base.time.now, &blame);
        self.try_answer(id);
    }

    /// A read waited for its data to be on flash, where it is now.
    pub(in crate::device) fn read_deferred(
        &mut self,
        program: OpId,
        deferred: crate::device::write::buffer::Deferred,
        lpn: Lpn,
        pun: Pun,
    ) {
        let command = self.port.requests[deferred.request].command;
        let class = Class::of_read(self.port.requests[deferred.request].priority);
        let mut blame = Blame::default();
        let rest = blame
            .add_tail(self.base.flash.ops.blame_ref(program), self.base.time.now - deferred.since);
        blame.charge(State::BufferFull, rest);
        let mut pieces = Vec::new();
        self.split(&mut pieces, lpn, pun, command.offset, command.end());
        self.audit_flash_read(deferred.request, lpn, pun);
        self.audit_pieces(&pieces, lpn, pun, command.offset, command.end());
        let request = &mut self.port.requests[deferred.request];
        request.parts_left += pieces.len() as u32 - 1;
        let mut part = deferred.part;
        for piece in pieces {
            let op =
                self.ask_piece(piece, Holder::HostRead, class, Owner::Read(deferred.request, part));
            self.base.flash.ops.blame(op).add(&blame);
            let request = &mut self.port.requests[deferred.request];
            part = request.parts;
            request.parts += 1;
        }
    }

    /// Looks again at a pool's partly filled batch when its first entry has
    /// waited for as long as it may.
    pub(in crate::device) fn watch_partial(&mut self, pool: PoolId) {
        let Some(after) = self.write.config.partial_after else { return };
        let Some(head) = self.write.buffer.head(pool) else { return };
        let since = self.write.buffer.entry(head).since;
        if self.base.space.pools[pool].hurry_until.is_some_and(|until| since <= until) {
            // It is late already and goes as soon as a bin takes it.
            return;
        }
        if self.base.space.pools[pool].partial_check == Instant::NEVER {
            let due = (since + after.span()).max(self.base.time.now);
            self.base.time.agenda.schedule(due, Event::Partial(pool), pool.0.into());
            self.base.space.pools[pool].partial_check = due;
        }
    }

    pub(in crate::device) fn partial_due(&mut self, pool: PoolId) {
        if self.base.space.pools[pool].partial_check != self.base.time.now {
            return;
        }
        self.base.space.pools[pool].partial_check = Instant::NEVER;
        let after = self.write.config.partial_after.expect("only then a look is scheduled").span();
        if let Some(head) = self.write.buffer.head(pool)
            && self.write.buffer.entry(head).since + after <= self.base.time.now
        {
            let since = self.write.buffer.entry(head).since;
            self.base.space.pools[pool].hurry_until = Some(since);
            self.pump(pool);
        }
        self.watch_partial(pool);
    }
}
