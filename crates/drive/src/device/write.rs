//! Host writes: into the buffer, and from the buffer to flash.

use super::Device;
use super::array::Ask;
use super::buffer::{EntryId, Stage};
use super::counters::OpKind;
use super::event::Event;
use super::op::{Class, Op, OpId, Owner, PayloadId};
use super::request::{RequestId, Touches};
use super::space::{self, SpaceSnapshot};
use crate::config::{BufferOrder, Durability, FlushPolicy};
use engine::{Instant, Ticket};
use ftl::{BinChoice, BinId, Lpn, PoolId, Pun, Source, Stream};
use host::Kind;
use metrics::{Blame, Holder, State};

/// How a pool's writes are placed.
#[derive(Clone)]
pub struct Pool {
    choice: BinChoice,
    /// Place of the bin whose turn it is.
    turn: usize,
    /// Bins that can take a program, by their place: bit `i` of word `i / 64`.
    available: Vec<u64>,
    /// Bins with space for another batch, whether or not they can take it now.
    roomy: u32,
    /// The pending look at whether a partly filled batch has waited for long enough.
    partial_check: Ticket,
    /// Entries listed before this moment go out in batches that are not full.
    hurry_until: Option<Instant>,
    /// Time that no bin of the pool had space, by what it is charged to.
    without_space: SpaceSnapshot,
    /// Until when that is counted; the start where there was no such time.
    without_space_until: Instant,
    /// While that is so: the bin whose collection is blamed, and what it had done
    /// by the time that is counted so far.
    starved: Option<(BinId, SpaceSnapshot)>,
}

impl Pool {
    pub fn new(choice: BinChoice, bins: usize) -> Self {
        let available = vec![0; bins.div_ceil(64)];
        Self {
            choice,
            turn: 0,
            available,
            roomy: 0,
            partial_check: Ticket::NONE,
            hurry_until: None,
            without_space: SpaceSnapshot::default(),
            without_space_until: Instant::START,
            starved: None,
        }
    }

    /// The same for which nothing has happened yet.
    pub fn begun_anew(&self, bins: usize) -> Self {
        Self::new(self.choice, bins)
    }

    fn set_available(&mut self, place: u32, available: bool) {
        let word = &mut self.available[place as usize / 64];
        let bit = 1u64 << (place % 64);
        *word = if available { *word | bit } else { *word & !bit };
    }

    /// The first place of an available bin from the turn on and around.
    fn next_in_turn(&self) -> Option<usize> {
        let (word, bit) = (self.turn / 64, self.turn % 64);
        let here = self.available[word] & u64::MAX << bit;
        if here != 0 {
            return Some(word * 64 + here.trailing_zeros() as usize);
        }
        // Of the turn's own word, what is left lies before the turn.
        let words = self.available.len();
        (1..=words).map(|step| (word + step) % words).find_map(|index| {
            let left = self.available[index];
            (left != 0).then(|| index * 64 + left.trailing_zeros() as usize)
        })
    }

    /// The places of available bins, in turn.
    fn in_turn(&self) -> impl Iterator<Item = usize> + '_ {
        let places = self.available.len() * 64;
        let available = |place: &usize| self.available[place / 64] >> (place % 64) & 1 == 1;
        (self.turn..places).chain(0..self.turn).filter(available)
    }
}

/// Host programs on their way to a bin.
#[derive(Clone, Default)]
pub struct Home {
    /// Its place in its pool's turn order.
    place: u32,
    /// Whether there is space for another batch, and whether one can be taken now.
    roomy: bool,
    available: bool,
    /// Asked for and not ended.
    queued: u32,
    /// Asked for and not bound to a place.
    unbound: u32,
    /// Those whose turn came when there was no place.
    pub parked: Vec<(OpId, SpaceSnapshot)>,
}

impl Device {
    // ---- into the buffer ---------------------------------------------------

    /// The firmware takes a write in. It waits where the buffer is full.
    pub(super) fn admit(&mut self, id: RequestId) {
        let priority = self.requests[id].priority;
        let (first, _) = self.requests[id].command.units(&self.ftl.layout);
        self.requests[id].cursor = first;
        self.requests[id].since = self.now;
        if self.buffer.must_queue(priority) || !self.admit_units(id) {
            self.buffer.wait(id, priority);
            self.hurry_if_stuck();
        }
    }

    /// Lets as much of a write in as there is room for; returns whether that was
    /// all of it.
    fn admit_units(&mut self, id: RequestId) -> bool {
        // Units that come together fill batches together: those that stay partial
        // go out once all are in.
        self.admitting = true;
        let all = self.take_in(id);
        self.admitting = false;
        if self.buffer_config.durability == Durability::None {
            for index in 0..self.listed.len() {
                self.pump(self.listed[index]);
            }
            self.listed.clear();
        }
        all
    }

    fn take_in(&mut self, id: RequestId) -> bool {
        let command = self.requests[id].command;
        let (_, behind) = command.units(&self.ftl.layout);
        while self.requests[id].cursor < behind {
            let lpn = Lpn(self.requests[id].cursor);
            if !self.admit_unit(id, lpn) {
                return false;
            }
            self.requests[id].cursor += 1;
        }
        self.requests[id].complete_set = true;
        if command.kind == Kind::WriteZeroes {
            // Data has died, which a collection may have waited for.
            self.retry_starved();
        }
        if self.buffer_config.durability == Durability::None {
            self.answer_if_through(id);
        } else {
            let latency = self.buffer_config.latency.span();
            self.requests.blame_mut(id).charge(State::Buffer, latency);
            self.answer(id, self.now + latency);
        }
        true
    }

    /// A write that is acknowledged from flash is taken in whole. Its parts may
    /// all have ended before that, or it may (write-zeroes) have none.
    fn answer_if_through(&mut self, id: RequestId) {
        let ended = if self.requests[id].parts == 0 {
            Some(self.requests[id].since)
        } else {
            self.requests.settle(id)
        };
        if let Some(ended) = ended {
            self.requests.blame_mut(id).charge(State::BufferFull, self.now - ended);
            self.answer(id, self.now);
        }
    }

    fn admit_unit(&mut self, id: RequestId, lpn: Lpn) -> bool {
        let command = self.requests[id].command;
        let unit = self.ftl.layout.unit_bytes;
        let start = u64::from(lpn.0) * unit;
        let whole = command.offset <= start && command.end() >= start + unit;
        if command.kind == Kind::WriteZeroes && whole {
            self.discard(lpn, id);
            return true;
        }
        let early = self.acknowledges_early();
        let newest = self.buffer.find(lpn);
        if let Some(entry) = newest
            && early
            && self.buffer.entry(entry).stage != Stage::Flying
        {
            self.overwrite(id, entry, whole);
            return true;
        }
        if self.buffer.is_full() {
            return false;
        }
        let token = self.audit_token(id, lpn);
        let pool = self.ftl.layout.pool(lpn);
        let version = self.ftl.take_version();
        let entry = self.buffer.insert(lpn, pool, newest, (token, version), self.now);
        if !early {
            self.buffer.fetch_blame(entry).add(&self.wait_for_room);
            let request = &mut self.requests[id];
            self.buffer.entry_mut(entry).writer = Some((id, request.parts));
            request.parts += 1;
            request.parts_left += 1;
        }
        // Only where the rest is wanted: most look-ups would wait for memory.
        let flash = if whole || newest.is_some() { None } else { self.ftl.lookup(lpn) };
        match flash {
            Some(pun) => self.fetch(entry, lpn, pun),
            // The buffer holds the rest where there is an older entry, or will.
            _ => {
                let rest = newest.filter(|_| !whole);
                if let Some(older) = rest {
                    let token = self.audit_merge(lpn, token, older);
                    self.buffer.set_token(entry, token);
                }
                match rest.filter(|older| self.buffer.entry(*older).stage == Stage::Fetching) {
                    Some(older) => self.followers.push((older, entry)),
                    None => self.entry_ready(entry),
                }
            }
        }
        true
    }

    /// New data for a unit that still waits in the buffer.
    fn overwrite(&mut self, id: RequestId, entry: EntryId, whole: bool) {
        let lpn = self.buffer.entry(entry).lpn;
        let token = self.audit_token(id, lpn);
        let token = if whole { token } else { self.audit_merge(lpn, token, entry) };
        self.buffer.set_token(entry, token);
        let lru = self.buffer_config.order == BufferOrder::Lru;
        // While a flush or a read waits, entries keep their order, in which it finds them.
        let may_move = !self.buffer.is_flushing() && !self.buffer.is_awaited(entry);
        if lru && may_move && self.buffer.entry(entry).stage == Stage::Pending {
            self.buffer.unlist(entry);
            self.list(entry);
        }
    }

    /// Reads the rest of a unit that is written in part.
    fn fetch(&mut self, entry: EntryId, lpn: Lpn, pun: Pun) {
        self.audit_fetch(entry, lpn, pun);
        self.fetch_rest(entry, pun);
    }

    /// As [`Device::fetch`], of a unit that the auditor calls by the whole already.
    pub(super) fn fetch_rest(&mut self, entry: EntryId, pun: Pun) {
        let lpn = self.buffer.entry(entry).lpn;
        let unit = self.ftl.layout.unit_bytes;
        let start = u64::from(lpn.0) * unit;
        let mut pieces = Vec::new();
        self.split(&mut pieces, lpn, pun, start, start + unit);
        self.audit_pieces(&pieces, lpn, pun, start, start + unit);
        // Rows of one unit lie in one bin and are read one after the other.
        self.buffer.entry_mut(entry).since = self.now;
        self.fetches_left.push((entry, pieces.len() as u32));
        for piece in pieces {
            self.ask_piece(piece, Holder::RmwRead, Class::Fetch, Owner::Fetch(entry));
        }
    }

    /// A read that an entry waits for is over.
    pub(super) fn fetched(&mut self, op: OpId, entry: EntryId) {
        let block = self.ops[op].block;
        self.unpin(block);
        let index =
            self.fetches_left.iter().position(|(of, _)| *of == entry).expect("a fetch is noted");
        self.fetches_left[index].1 -= 1;
        if self.fetches_left[index].1 > 0 {
            return;
        }
        self.fetches_left.swap_remove(index);
        let decode = self.timing.decode;
        self.ops.blame(op).charge(State::Decode, decode);
        let blame = self.ops.blame_ref(op).clone();
        self.buffer.fetch_blame(entry).add(&blame);
        self.agenda.schedule(self.now + decode, Event::Fetched(entry));
    }

    /// An entry holds a whole unit: it may be programmed.
    pub(super) fn entry_ready(&mut self, entry: EntryId) {
        let in_front = self.list(entry);
        let pool = self.buffer.entry(entry).pool;
        let hurry = &mut self.pools[pool].hurry_until;
        if self.buffer.is_awaited(entry) || (in_front && hurry.is_some()) {
            // A read waits for it, or for what it stands before.
            *hurry = Some(self.now);
        }
        while let Some(index) = self.followers.iter().position(|(older, _)| *older == entry) {
            let (_, follower) = self.followers.remove(index);
            let blame = self.buffer.fetch_blame(entry).clone();
            self.buffer.fetch_blame(follower).add(&blame);
            self.entry_ready(follower);
        }
        if self.admitting
            && self.buffer_config.durability == Durability::None
            && self.listed.last() != Some(&pool)
        {
            self.listed.push(pool);
        }
        if let FlushPolicy::Watermark { high, .. } = self.buffer_config.flush
            && !self.draining
            && self.buffer.fill() >= high.fraction()
        {
            self.draining = true;
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
        let pool = self.buffer.entry(entry).pool;
        self.settle_space(pool);
        if self.was_starved {
            self.buffer.note_space(entry, &self.pools[pool].without_space);
        }
        self.buffer.list(entry, self.now)
    }

    /// Room has come free, by the end of `op` if by a program's: lets in what
    /// waits. A wait for room inherits what the program that ended it went through.
    pub(super) fn admit_waiting(&mut self, op: Option<OpId>) {
        while let Some(id) = self.buffer.next_waiting() {
            if self.buffer.is_full() {
                break;
            }
            self.charge_wait_for_room(id, op);
            let priority = self.requests[id].priority;
            let all = self.admit_units(id);
            self.wait_for_room.clear();
            if !all {
                break;
            }
            self.buffer.admitted(priority);
        }
        self.hurry_if_stuck();
    }

    /// Charges a request that is let in with its wait for room. Where writes are
    /// acknowledged from flash, each unit that is taken in now takes it along: which
    /// of them ends last is not known yet.
    fn charge_wait_for_room(&mut self, id: RequestId, op: Option<OpId>) {
        let request = &mut self.requests[id];
        let waited = self.now - request.since;
        let blame = if self.buffer_config.durability == Durability::None {
            &mut self.wait_for_room
        } else {
            request.since = self.now;
            self.requests.blame_mut(id)
        };
        let rest = match op {
            Some(op) => blame.add_wait_for(self.ops.blame_ref(op), waited),
            None => waited,
        };
        blame.charge(State::BufferFull, rest);
    }

    /// Where requests wait for room and nothing is on its way to flash, no full
    /// batch can form any more: the fullest pool goes out as it is.
    fn hurry_if_stuck(&mut self) {
        if self.buffer.flying == 0
            && self.buffer.is_full()
            && self.buffer.next_waiting().is_some()
            && let Some(pool) = self.buffer.fullest()
        {
            self.hurry(pool);
        }
    }

    // ---- from the buffer to flash -------------------------------------------

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

    /// Works out anew whether a bin can take another program.
    pub(super) fn update_home(&mut self, bin: BinId) {
        let through = self.buffer_config.durability == Durability::None;
        let home = &mut self.bins[bin];
        let roomy = self.ftl.room(bin, Stream::Host) > home.unbound;
        let available = roomy && (through || home.queued < self.buffer_config.programs_per_bin());
        if roomy == home.roomy && available == home.available {
            return;
        }
        let pool = &mut self.pools[self.ftl.layout.pool_of_bin(bin)];
        pool.roomy = pool.roomy + u32::from(roomy) - u32::from(home.roomy);
        pool.set_available(home.place, available);
        home.roomy = roomy;
        home.available = available;
    }

    /// Numbers the bins of every pool, at the start.
    pub(super) fn place_homes(&mut self) {
        for pool in (0..self.ftl.layout.pool_count()).map(PoolId) {
            for place in 0..self.ftl.layout.bins_of(pool).len() {
                let bin = self.ftl.layout.bins_of(pool)[place];
                self.bins[bin].place = place as u32;
                self.update_home(bin);
            }
        }
    }

    /// The bin that takes a pool's next batch; `None` where all are busy or full.
    fn choose_bin(&mut self, pool: PoolId) -> Option<BinId> {
        let bins = self.ftl.layout.bins_of(pool);
        let state = &self.pools[pool];
        let place = match state.choice {
            BinChoice::RoundRobin => state.next_in_turn(),
            choice => self.best(choice, state.in_turn(), |place| bins[place]),
        };
        match place {
            Some(place) => {
                let bin = bins[place];
                self.pools[pool].turn = if place + 1 == bins.len() { 0 } else { place + 1 };
                Some(bin)
            }
            None => {
                if state.roomy == 0 {
                    self.starve(pool);
                }
                None
            }
        }
    }

    /// The best of some places in turn.
    #[inline]
    fn best(
        &self,
        choice: BinChoice,
        mut in_turn: impl Iterator<Item = usize>,
        bin: impl Fn(usize) -> BinId,
    ) -> Option<usize> {
        match choice {
            BinChoice::RoundRobin => in_turn.next(),
            BinChoice::LeastQueued => in_turn.min_by_key(|place| self.bins[bin(*place)].queued),
            BinChoice::MostFree => {
                in_turn.min_by_key(|place| u32::MAX - self.unpromised_units(bin(*place)))
            }
        }
    }

    /// A host program that stands in no queue is given to the bin of its group, and its pool,
    /// on which the choice falls now; `turn` is the place among the group's bins that is next.
    pub(super) fn choose_again(&mut self, id: OpId, turn: &mut usize) {
        let Op { bin: old, group, .. } = self.ops[id];
        let pool = self.ftl.layout.pool_of_bin(old);
        let choice = self.pools[pool].choice;
        self.promise(old, false);
        let bins = &self.bins_of_group[group];
        let is_open =
            |place: &usize| self.bins[bins[*place]].available && self.is_of(pool, bins[*place]);
        let in_turn = (*turn..bins.len()).chain(0..*turn).filter(is_open);
        let place = self.best(choice, in_turn, |place| bins[place]);
        let bin = place.map_or(old, |place| bins[place]);
        if let Some(place) = place {
            *turn = if place + 1 == bins.len() { 0 } else { place + 1 };
        }
        self.promise(bin, true);
        let (cells, channel) = (self.places[bin].program, self.places[bin].channel);
        let op = &mut self.ops[id];
        (op.bin, op.cells, op.channel) = (bin, cells, channel);
    }

    fn is_of(&self, pool: PoolId, bin: BinId) -> bool {
        self.ftl.layout.pool_of_bin(bin) == pool
    }

    /// A host program is asked for in a bin, or no longer.
    fn promise(&mut self, bin: BinId, is_asked: bool) {
        let home = &mut self.bins[bin];
        if is_asked {
            (home.queued, home.unbound) = (home.queued + 1, home.unbound + 1);
        } else {
            (home.queued, home.unbound) = (home.queued - 1, home.unbound - 1);
        }
        self.update_home(bin);
    }

    /// Free units of a bin that no program waits for.
    fn unpromised_units(&self, bin: BinId) -> u32 {
        let promised = self.bins[bin].unbound * self.ftl.layout.units_per_batch;
        self.ftl.free_units(bin).saturating_sub(promised)
    }

    /// Notes that a pool has no space left, once.
    fn starve(&mut self, pool: PoolId) {
        if self.pools[pool].starved.is_none() {
            let bins = self.ftl.layout.bins_of(pool);
            let bin = bins[self.pools[pool].turn];
            self.starved.extend_from_slice(bins);
            self.to_collect.extend_from_slice(bins);
            let snapshot = self.space_snapshot(bin);
            self.pools[pool].starved = Some((bin, snapshot));
            self.was_starved = true;
        }
    }

    /// True where host programs are yet to find a place in a bin.
    pub(super) fn is_awaited(&self, bin: BinId) -> bool {
        self.bins[bin].unbound > 0 || self.is_starved(bin)
    }

    /// Where a pool is without space, the bin whose collection is blamed for that.
    pub(super) fn starved_bin(&self, pool: PoolId) -> Option<BinId> {
        self.pools[pool].starved.map(|(bin, _)| bin)
    }

    /// True where a bin's pool waits for space.
    pub(super) fn is_starved(&self, bin: BinId) -> bool {
        self.pools[self.ftl.layout.pool_of_bin(bin)].starved.is_some()
    }

    /// Counts the time without space up to now.
    #[inline]
    fn settle_space(&mut self, pool: PoolId) {
        let Some((bin, earlier)) = self.pools[pool].starved else { return };
        let present = self.space_snapshot(bin);
        let pool = &mut self.pools[pool];
        for (state, total) in pool.without_space.iter_mut().enumerate() {
            *total += present[state] - earlier[state];
        }
        pool.without_space_until = self.now;
        pool.starved = Some((bin, present));
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
        let layout = &self.ftl.layout;
        self.ask(Ask {
            kind: OpKind::Program,
            holder,
            owner,
            class,
            bin,
            planes: (1u64 << layout.block_planes) - 1,
            block: ftl::BlockId(0),
            batch: 0,
            row: 0,
            rows: layout.rows_per_batch,
            transfer: self.rows.units[self.payloads.count(payload) as usize],
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

    /// True where a program would find a place.
    #[inline(always)]
    pub(super) fn has_place(&self, id: OpId) -> bool {
        let op = &self.ops[id];
        let (bin, stream) = (op.bin, stream_of(op.holder));
        self.ftl.can_bind(bin, stream)
            && (stream == Stream::Host || self.leaves_room(bin, |older| self.moves_from(id, older)))
    }

    /// Binds a program (or copy-back) to its place; returns whether there is one.
    pub(super) fn bind(&mut self, id: OpId) -> bool {
        let op = &mut self.ops[id];
        let (bin, stream) = (op.bin, stream_of(op.holder));
        let Ok(at) = self.ftl.bind(bin, stream) else { return false };
        op.block = at.block;
        op.batch = at.batch;
        if op.kind == OpKind::Program {
            op.row = at.batch * self.ftl.layout.rows_per_batch;
        }
        if stream == Stream::Host {
            self.bins[bin].unbound -= 1;
        }
        if stream == Stream::Host || at.batch == 0 {
            self.update_home(bin);
        }
        if stream == Stream::Host {
            self.owe(bin);
            if self.scrubs.is_some() {
                self.jobs[bin].scrubbed_last = false;
            }
        }
        if at.batch == 0 || self.ftl.counts_pages() {
            // A block was opened (or a page taken): less is free than before.
            self.to_collect.push(bin);
        }
        true
    }

    /// Sets a program aside until its bin has space.
    pub(super) fn park(&mut self, id: OpId) {
        let op = &self.ops[id];
        let bin = op.bin;
        self.park_wait(id);
        let snapshot = self.space_snapshot(bin);
        self.bins[bin].parked.push((id, snapshot));
        self.starved.push(bin);
        self.to_collect.push(bin);
    }

    /// A bin has space again.
    pub(super) fn unpark(&mut self, bin: BinId) {
        self.update_home(bin);
        let parked = std::mem::take(&mut self.bins[bin].parked);
        if !parked.is_empty() {
            let present = self.space_snapshot(bin);
            for (id, then) in &parked {
                space::charge(then, &present, self.ops.blame(*id));
            }
        }
        for (id, _) in parked.into_iter().rev() {
            self.resume(id);
        }
        self.pump(self.ftl.layout.pool_of_bin(bin));
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
        self.ftl.note_copied(None, at);
        let tally = &mut self.ftl.tally;
        tally.units[Source::Host as usize] += u64::from(count);
        tally.units[Source::Padding as usize] += u64::from(self.ftl.layout.units_per_batch - count);
        self.note_checkpoints();
        self.ftl.finish(at);
        self.payloads.remove(payload);
        self.bins[bin].queued -= 1;
        self.update_home(bin);
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
            self.read_deferred(op, deferred, lpn, pun);
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
    fn read_deferred(
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
    fn watch_partial(&mut self, pool: PoolId) {
        let Some(after) = self.buffer_config.partial_after else { return };
        let Some(head) = self.buffer.head(pool) else { return };
        let since = self.buffer.entry(head).since;
        if self.pools[pool].hurry_until.is_some_and(|until| since <= until) {
            // It is late already and goes as soon as a bin takes it.
            return;
        }
        if self.pools[pool].partial_check == Ticket::NONE {
            let due = since + after.span();
            self.pools[pool].partial_check =
                self.agenda.schedule(due.max(self.now), Event::Partial(pool));
        }
    }

    pub(super) fn partial_due(&mut self, pool: PoolId, ticket: Ticket) {
        if self.pools[pool].partial_check != ticket {
            return;
        }
        self.pools[pool].partial_check = Ticket::NONE;
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

/// The stream that an operation of a holder writes to.
#[inline]
fn stream_of(holder: Holder) -> Stream {
    if holder == Holder::HostProgram { Stream::Host } else { Stream::Gc }
}
