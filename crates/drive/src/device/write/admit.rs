//! Host writes on their way into the buffer.

use crate::config::{BufferOrder, Durability, FlushPolicy};
use crate::device::Device;
use crate::device::event::Event;
use crate::device::flash::op::{Class, OpId, Owner};
use crate::device::port::request::{RequestId, Touches};
use crate::device::write::buffer::{EntryId, Stage};
use ftl::{Lpn, Pun};
use host::Kind;
use metrics::{Holder, State};

impl Device {
    /// The firmware takes a write in. It waits where the buffer is full.
    pub(in crate::device) fn admit(&mut self, id: RequestId) {
        let priority = self.port.requests[id].priority;
        let (first, _) = self.port.requests[id].command.units(&self.base.space.ftl.layout);
        self.port.requests[id].cursor = first;
        self.port.requests[id].since = self.base.time.now;
        if self.write.buffer.must_queue(priority) || !self.admit_units(id) {
            self.write.buffer.wait(id, priority);
            self.hurry_if_stuck();
        }
    }

    /// Lets as much of a write in as there is room for; returns whether that was
    /// all of it.
    fn admit_units(&mut self, id: RequestId) -> bool {
        // Units that come together fill batches together: those that stay partial
        // go out once all are in.
        self.write.admitting = true;
        let all = self.take_in(id);
        self.write.admitting = false;
        if self.write.config.durability == Durability::None {
            for index in 0..self.write.listed.len() {
                self.pump(self.write.listed[index]);
            }
            self.write.listed.clear();
        }
        all
    }

    fn take_in(&mut self, id: RequestId) -> bool {
        let command = self.port.requests[id].command;
        let (_, behind) = command.units(&self.base.space.ftl.layout);
        while self.port.requests[id].cursor < behind {
            let lpn = Lpn(self.port.requests[id].cursor);
            if !self.admit_unit(id, lpn) {
                return false;
            }
            self.port.requests[id].cursor += 1;
        }
        self.port.requests[id].complete_set = true;
        if command.kind == Kind::WriteZeroes {
            // Data has died, which a collection may have waited for.
            self.retry_starved();
        }
        if self.write.config.durability == Durability::None {
            self.answer_if_through(id);
        } else {
            let latency = self.write.config.latency.span();
            self.port.requests.blame_mut(id).charge(State::Buffer, latency);
            self.answer(id, self.base.time.now + latency);
        }
        true
    }

    /// A write that is acknowledged from flash is taken in whole. Its parts may
    /// all have ended before that, or it may (write-zeroes) have none.
    fn answer_if_through(&mut self, id: RequestId) {
        let ended = if self.port.requests[id].parts == 0 {
            Some(self.port.requests[id].since)
        } else {
            self.port.requests.settle(id)
        };
        if let Some(ended) = ended {
            self.port.requests.blame_mut(id).charge(State::BufferFull, self.base.time.now - ended);
            self.answer(id, self.base.time.now);
        }
    }

    fn admit_unit(&mut self, id: RequestId, lpn: Lpn) -> bool {
        let command = self.port.requests[id].command;
        let unit = self.base.space.ftl.layout.unit_bytes;
        let start = u64::from(lpn.0) * unit;
        let whole = command.offset <= start && command.end() >= start + unit;
        if command.kind == Kind::WriteZeroes && whole {
            self.discard(lpn, id);
            return true;
        }
        let early = self.acknowledges_early();
        let newest = self.write.buffer.find(lpn);
        if let Some(entry) = newest
            && early
            && self.write.buffer.entry(entry).stage != Stage::Flying
        {
            self.overwrite(id, entry, whole);
            return true;
        }
        if self.write.buffer.is_full() {
            return false;
        }
        let token = self.audit_token(id, lpn);
        let pool = self.base.space.ftl.layout.pool(lpn);
        let version = self.base.space.ftl.take_version();
        let entry =
            self.write.buffer.insert(lpn, pool, newest, (token, version), self.base.time.now);
        if !early {
            self.write.buffer.fetch_blame(entry).add(&self.write.wait_for_room);
            let request = &mut self.port.requests[id];
            self.write.buffer.entry_mut(entry).writer = Some((id, request.parts));
            request.parts += 1;
            request.parts_left += 1;
        }
        // Only where the rest is wanted: most look-ups would wait for memory.
        let flash = if whole || newest.is_some() { None } else { self.base.space.ftl.lookup(lpn) };
        match flash {
            Some(pun) if self.stays_in_planes(pun) => self.modify(entry, pun),
            Some(pun) => self.fetch(entry, lpn, pun),
            // The buffer holds the rest where there is an older entry, or will.
            _ => {
                let rest = newest.filter(|_| !whole);
                if let Some(older) = rest {
                    if self.write.buffer.entry(older).stage == Stage::Modifying {
                        self.follow(older, entry);
                        return true;
                    }
                    let token = self.audit_merge(lpn, token, older);
                    self.write.buffer.set_token(entry, token);
                }
                match rest.filter(|older| self.write.buffer.entry(*older).stage == Stage::Fetching)
                {
                    Some(older) => self.write.followers.push((older, entry)),
                    None => self.entry_ready(entry),
                }
            }
        }
        true
    }

    /// New data for a unit that still waits in the buffer.
    fn overwrite(&mut self, id: RequestId, entry: EntryId, whole: bool) {
        let lpn = self.write.buffer.entry(entry).lpn;
        let token = self.audit_token(id, lpn);
        let token = if whole { token } else { self.audit_merge(lpn, token, entry) };
        self.write.buffer.set_token(entry, token);
        let lru = self.write.config.order == BufferOrder::Lru;
        // While a flush or a read waits, entries keep their order, in which it finds them.
        let may_move = !self.write.buffer.is_flushing() && !self.write.buffer.is_awaited(entry);
        if lru && may_move && self.write.buffer.entry(entry).stage == Stage::Pending {
            self.write.buffer.unlist(entry);
            self.list(entry);
        }
    }

    /// Reads the rest of a unit that is written in part.
    fn fetch(&mut self, entry: EntryId, lpn: Lpn, pun: Pun) {
        self.audit_fetch(entry, lpn, pun);
        self.fetch_rest(entry, pun);
    }

    /// As [`Device::fetch`], of a unit that the auditor calls by the whole already.
    pub(in crate::device) fn fetch_rest(&mut self, entry: EntryId, pun: Pun) {
        let lpn = self.write.buffer.entry(entry).lpn;
        let unit = self.base.space.ftl.layout.unit_bytes;
        let start = u64::from(lpn.0) * unit;
        let mut pieces = Vec::new();
        self.split(&mut pieces, lpn, pun, start, start + unit);
        self.audit_pieces(&pieces, lpn, pun, start, start + unit);
        // Rows of one unit lie in one bin and are read one after the other.
        self.write.buffer.entry_mut(entry).since = self.base.time.now;
        self.write.fetches_left.push((entry, pieces.len() as u32));
        for piece in pieces {
            self.ask_piece(piece, Holder::RmwRead, Class::Fetch, Owner::Fetch(entry));
        }
    }

    /// A read that an entry waits for is over.
    pub(in crate::device) fn fetched(&mut self, op: OpId, entry: EntryId) {
        let block = self.base.flash.ops[op].block;
        self.unpin(block);
        let index = self
            .write
            .fetches_left
            .iter()
            .position(|(of, _)| *of == entry)
            .expect("a fetch is noted");
        self.write.fetches_left[index].1 -= 1;
        if self.write.fetches_left[index].1 > 0 {
            return;
        }
        self.write.fetches_left.swap_remove(index);
        let decode = self.base.flash.timing.decode;
        self.base.flash.ops.blame(op).charge(State::Decode, decode);
        let blame = self.base.flash.ops.blame_ref(op).clone();
        self.write.buffer.fetch_blame(entry).add(&blame);
        let sequence = self.base.flash.ops[op].seq;
        self.base.time.agenda.schedule(
            self.base.time.now + decode,
            Event::Fetched(entry),
            sequence,
        );
    }

    /// An entry holds a whole unit: it may be programmed.
    pub(in crate::device) fn entry_ready(&mut self, entry: EntryId) {
        let in_front = self.list(entry);
        let pool = self.write.buffer.entry(entry).pool;
        let hurry = &mut self.base.space.pools[pool].hurry_until;
        if self.write.buffer.is_awaited(entry) || (in_front && hurry.is_some()) {
            // A read waits for it, or for what it stands before.
            *hurry = Some(self.base.time.now);
        }
        while let Some(index) = self.write.followers.iter().position(|(older, _)| *older == entry) {
            let (_, follower) = self.write.followers.remove(index);
            let blame = self.write.buffer.fetch_blame(entry).clone();
            self.write.buffer.fetch_blame(follower).add(&blame);
            self.entry_ready(follower);
        }
        if self.write.admitting
            && self.write.config.durability == Durability::None
            && self.write.listed.last() != Some(&pool)
        {
            self.write.listed.push(pool);
        }
        if let FlushPolicy::Watermark { high, .. } = self.write.config.flush
            && !self.write.draining
            && self.write.buffer.fill() >= high.fraction()
        {
            self.write.draining = true;
            self.pump_all();
        } else {
            self.pump(pool);
            self.watch_partial(pool);
        }
        self.hurry_if_stuck();
    }

    /// Puts an entry into its pool's list, with the pool's time without space so
    /// far; returns whether it stands before others.
    fn list(&mut self, entry: EntryId) -> bool {
        let pool = self.write.buffer.entry(entry).pool;
        self.settle_space(pool);
        if self.base.space.was_starved {
            self.write.buffer.note_space(entry, &self.base.space.pools[pool].without_space);
        }
        self.write.buffer.list(entry, self.base.time.now)
    }

    /// Room has come free, by the end of `op` if by a program's: lets in what
    /// waits. A wait for room inherits what the program that ended it went through.
    pub(in crate::device) fn admit_waiting(&mut self, op: Option<OpId>) {
        while let Some(id) = self.write.buffer.next_waiting() {
            if self.write.buffer.is_full() {
                break;
            }
            self.charge_wait_for_room(id, op);
            let priority = self.port.requests[id].priority;
            let all = self.admit_units(id);
            self.write.wait_for_room.clear();
            if !all {
                break;
            }
            self.write.buffer.admitted(priority);
        }
        self.hurry_if_stuck();
    }

    /// Charges a request that is let in with its wait for room. Where writes are
    /// acknowledged from flash, each unit that is taken in now takes it along: which
    /// of them ends last is not known yet.
    fn charge_wait_for_room(&mut self, id: RequestId, op: Option<OpId>) {
        let request = &mut self.port.requests[id];
        let waited = self.base.time.now - request.since;
        let blame = if self.write.config.durability == Durability::None {
            &mut self.write.wait_for_room
        } else {
            request.since = self.base.time.now;
            self.port.requests.blame_mut(id)
        };
        let rest = match op {
            Some(op) => blame.add_wait_for(self.base.flash.ops.blame_ref(op), waited),
            None => waited,
        };
        blame.charge(State::BufferFull, rest);
    }

    /// Where requests wait for room and nothing is on its way to flash, no full
    /// batch can form any more: the fullest pool goes out as it is.
    fn hurry_if_stuck(&mut self) {
        if self.write.buffer.flying == 0
            && self.write.buffer.is_full()
            && self.write.buffer.next_waiting().is_some()
            && let Some(pool) = self.write.buffer.fullest()
        {
            self.hurry(pool);
        }
    }
}
