//! Rotation: members hold parity over each other, one of them writes at a time, and what is read of that
//! one is computed from the others. At most one member of the group is in maintenance, as far as
//! maintenance follows writes: the fire-department rule.
//!
//! A write is answered from the host's cache. An update of its parity reads what it needs from members
//! that do not write; then the data and the parity wait for the turns of their members. Until a member
//! has them, the cache has them for reads.

use super::act::{Act, Asked, HostId, PlanCounts, Timer, Wait, begin_period};
use super::kept::{Sent, bytes_of};
use super::stripes::{Piece, Stripes};
use crate::array::config::CacheConfig;
use crate::array::members::MemberId;
use crate::array::ranges::Ranges;
use engine::{Instant, Slab, typed_id};
use host::{Command, Kind};
use settings::Time;
use std::collections::VecDeque;
use std::ops::Range;

typed_id! {
    /// Data or parity that a member lacks.
    struct EntryId;
    /// An update of parity that reads.
    struct UpdateId;
    /// A read of a member to compute what another one holds.
    struct BesideId;
}

/// Constants of the plan.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    pub stripes: Stripes,
    pub period: Time,
    pub settle: Option<Time>,
    pub cache: CacheConfig,
    pub depth: u32,
}

/// Data or parity that a member lacks.
#[derive(Clone, Copy)]
struct Entry {
    command: Command,
    number: u64,
}

/// An update of parity.
#[derive(Clone)]
struct Update {
    number: u64,
    kind: Kind,
    piece: Piece,
    /// The old data that was not in the cache when it came.
    old: Vec<Range<u64>>,
    /// Reads that have not ended.
    reads: u32,
}

/// Tokens of commands that are sent. A write's token is its entry.
const DIRECT: u64 = 0;
const BESIDE: u64 = 1 << 32;
const UPDATE: u64 = 1 << 33;

/// State of the plan.
pub struct Rotation {
    rules: Rules,
    writer: MemberId,
    settles: bool,
    /// By member: bytes that the cache has for it, and what it will be sent, in order.
    newest: Vec<Ranges>,
    queues: Vec<VecDeque<EntryId>>,
    /// By member: writes under way.
    sent: Vec<Sent>,
    entries: Slab<EntryId, Entry>,
    bytes: u64,
    next: u64,
    /// Updates that read, and those that wait for one of the same bytes.
    updates: Slab<UpdateId, Update>,
    under_way: Vec<UpdateId>,
    pending: VecDeque<Update>,
    /// Reads for what another member holds.
    beside: Slab<BesideId, (MemberId, Range<u64>)>,
    reading: Vec<BesideId>,
    /// Requests that wait for room in the cache.
    waiting: VecDeque<(HostId, Command)>,
    counts: PlanCounts,
}

impl Rotation {
    pub fn new(rules: Rules) -> Self {
        let members = rules.stripes.members as usize;
        Self {
            writer: MemberId(0),
            settles: false,
            newest: vec![Ranges::default(); members],
            queues: vec![VecDeque::new(); members],
            sent: vec![Sent::default(); members],
            entries: Slab::default(),
            bytes: 0,
            next: 0,
            updates: Slab::default(),
            under_way: Vec::new(),
            pending: VecDeque::new(),
            beside: Slab::default(),
            reading: Vec::new(),
            waiting: VecDeque::new(),
            counts: PlanCounts::default(),
            rules,
        }
    }

    pub fn counts(&self) -> PlanCounts {
        self.counts
    }
    pub fn writer(&self) -> MemberId {
        self.writer
    }
    /// True if every member has its data and parity.
    pub fn is_at_rest(&self) -> bool {
        self.entries.taken() == 0
            && self.under_way.is_empty()
            && self.pending.is_empty()
            && self.waiting.is_empty()
    }

    /// The run, or a period, begins.
    pub fn begin(&mut self, now: Instant, acts: &mut Vec<Act>) {
        begin_period(now, self.rules.period, self.rules.settle, acts);
    }

    pub fn asked(&mut self, asked: Asked, acts: &mut Vec<Act>) {
        let Asked { id, command, .. } = asked;
        match command.kind {
            Kind::Read => self.read(id, command, acts),
            // The cache is durable, so nothing has to reach a member.
            Kind::Flush => self.serve(id, acts),
            _ if !self.waiting.is_empty() || !self.has_room(command) => {
                self.counts.delayed += 1;
                self.waiting.push_back((id, command));
            }
            _ => self.keep(id, command, acts),
        }
    }

    fn serve(&self, of: HostId, acts: &mut Vec<Act>) {
        acts.push(Act::Serve { of, takes: self.rules.cache.latency.span() });
    }

    // ---- reads -----------------------------------------------------------------------

    fn read(&mut self, id: HostId, command: Command, acts: &mut Vec<Act>) {
        let (mut is_cached, mut is_sent) = (false, false);
        for piece in self.rules.stripes.pieces(command) {
            for (bytes, number) in self.newest[piece.member.0 as usize].within(piece.bytes.clone())
            {
                match number {
                    Some(_) => is_cached = true,
                    None => is_sent |= self.read_part(id, (piece.member, bytes), acts),
                }
            }
        }
        match (is_cached, is_sent) {
            (true, true) => self.counts.cached_in_part += 1,
            (true, false) => self.counts.cached += 1,
            (false, _) => {}
        }
        if is_cached || !is_sent {
            self.serve(id, acts);
        }
    }

    /// Reads bytes of a member, or computes them from the others; returns true if something is sent.
    fn read_part(
        &mut self,
        id: HostId,
        (member, bytes): (MemberId, Range<u64>),
        acts: &mut Vec<Act>,
    ) -> bool {
        // Parity that is being computed does not fit the data of the others yet.
        if member != self.writer || self.is_updated(&bytes) {
            acts.push(read_of(member, &bytes, Some(id), DIRECT));
            return true;
        }
        self.counts.rebuilt += 1;
        let mut is_sent = false;
        for other in self.others(&[member]) {
            for part in self.outside(other, &bytes) {
                let beside = self.beside.insert((other, part.clone()));
                self.reading.push(beside);
                acts.push(read_of(other, &part, Some(id), BESIDE | u64::from(beside.0)));
                is_sent = true;
            }
        }
        is_sent
    }

    /// All members but some.
    fn others(&self, but: &[MemberId]) -> Vec<MemberId> {
        let all = (0..self.rules.stripes.members).map(MemberId);
        all.filter(|member| !but.contains(member)).collect()
    }

    /// The bytes of a range that the cache does not have for a member.
    fn outside(&self, member: MemberId, bytes: &Range<u64>) -> Vec<Range<u64>> {
        let parts = self.newest[member.0 as usize].within(bytes.clone());
        parts.into_iter().filter(|(_, number)| number.is_none()).map(|(part, _)| part).collect()
    }

    /// True if the parity of some of these bytes is being computed.
    fn is_updated(&self, bytes: &Range<u64>) -> bool {
        let under_way = self.under_way.iter().map(|id| &self.updates[*id]);
        under_way.chain(&self.pending).any(|update| meet(&update.piece.bytes, bytes))
    }

    // ---- writes ----------------------------------------------------------------------

    /// Bytes that the cache takes for a command: data, and parity.
    fn cost(command: Command) -> u64 {
        bytes_of(command) + command.bytes
    }

    fn has_room(&self, command: Command) -> bool {
        self.bytes == 0 || self.bytes + Self::cost(command) <= self.rules.cache.size.bytes()
    }

    /// Takes a write in, and answers it.
    fn keep(&mut self, id: HostId, command: Command, acts: &mut Vec<Act>) {
        self.counts.kept += 1;
        self.bytes += Self::cost(command);
        self.counts.peak_bytes = self.counts.peak_bytes.max(self.bytes);
        self.serve(id, acts);
        for piece in self.rules.stripes.pieces(command) {
            let number = self.next;
            self.next += 1;
            let old = self.outside(piece.member, &piece.bytes);
            let waits = self.is_updated(&piece.bytes);
            self.newest[piece.member.0 as usize].write(piece.bytes.clone(), number);
            let update = Update { number, kind: command.kind, piece, old, reads: 0 };
            match waits {
                true => self.pending.push_back(update),
                false => self.begin_update(update, acts),
            }
        }
        self.write_on(acts);
    }

    /// Reads what the new parity is computed from: the old data and parity; or, if one of their members
    /// writes, the data of the others.
    fn begin_update(&mut self, mut update: Update, acts: &mut Vec<Act>) {
        let Piece { member, parity, ref bytes } = update.piece;
        let parts: Vec<(MemberId, Range<u64>)> = match [member, parity].contains(&self.writer) {
            true => {
                let others = self.others(&[member, parity]).into_iter();
                others
                    .flat_map(|of| self.outside(of, bytes).into_iter().map(move |p| (of, p)))
                    .collect()
            }
            false => {
                let old = update.old.iter().map(|part| (member, part.clone()));
                let parity = self.outside(parity, bytes).into_iter().map(|part| (parity, part));
                old.chain(parity).collect()
            }
        };
        update.reads = parts.len() as u32;
        let id = self.updates.insert(update);
        self.under_way.push(id);
        for (of, part) in parts {
            acts.push(read_of(of, &part, None, UPDATE | u64::from(id.0)));
        }
        if self.updates[id].reads == 0 {
            self.end_update(id);
        }
    }

    /// The parity is computed: both wait for the turns of their members.
    fn end_update(&mut self, id: UpdateId) {
        let Update { number, kind, piece, .. } = self.updates[id].clone();
        self.updates.remove(id);
        self.under_way.retain(|other| *other != id);
        self.newest[piece.parity.0 as usize].write(piece.bytes.clone(), number);
        for (member, kind) in [(piece.member, kind), (piece.parity, Kind::Write)] {
            let Range { start, end } = piece.bytes;
            let command = Command { kind, offset: start, bytes: end - start };
            let entry = self.entries.insert(Entry { command, number });
            self.queues[member.0 as usize].push_back(entry);
        }
    }

    /// Begins updates that waited, each behind all before it that it meets.
    fn begin_pending(&mut self, acts: &mut Vec<Act>) {
        let mut waiting = std::mem::take(&mut self.pending);
        while let Some(update) = waiting.pop_front() {
            match self.is_updated(&update.piece.bytes) {
                true => self.pending.push_back(update),
                false => self.begin_update(update, acts),
            }
        }
    }

    /// Sends the member that writes what it lacks, as far as it may have more under way.
    fn write_on(&mut self, acts: &mut Vec<Act>) {
        let at = self.writer.0 as usize;
        while !self.settles
            && self.sent[at].count() < self.rules.depth
            && let Some(&id) = self.queues[at].front()
        {
            let Entry { command, .. } = self.entries[id];
            let bytes = command.offset..command.end();
            let is_read = |id: &BesideId| {
                let (member, part) = &self.beside[*id];
                *member == self.writer && meet(part, &bytes)
            };
            if self.sent[at].holds_back(command) || self.reading.iter().any(is_read) {
                return;
            }
            self.queues[at].pop_front();
            self.sent[at].add(u64::from(id.0), command);
            let (to, token) = (self.writer, u64::from(id.0));
            acts.push(Act::Send { to, command, of: None, after: Wait::Turn, token });
        }
    }

    // ---- what ends -------------------------------------------------------------------

    /// A member has answered a read.
    pub fn read_ended(&mut self, token: u64, acts: &mut Vec<Act>) {
        let index = token as u32;
        if token & BESIDE != 0 {
            self.reading.retain(|id| id.0 != index);
            self.beside.remove(BesideId(index));
            self.write_on(acts);
        } else if token & UPDATE != 0 {
            let id = UpdateId(index);
            self.updates[id].reads -= 1;
            if self.updates[id].reads == 0 {
                self.end_update(id);
                self.begin_pending(acts);
                self.write_on(acts);
            }
        }
    }

    /// A member has answered a write.
    pub fn written(&mut self, member: MemberId, token: u64, acts: &mut Vec<Act>) {
        let id = EntryId(token as u32);
        let Entry { command, number } = self.entries[id];
        self.entries.remove(id);
        let at = member.0 as usize;
        self.sent[at].remove(token);
        self.newest[at].forget(command.offset..command.end(), number);
        // Parity is written, whatever the command was.
        self.bytes -= bytes_of(command);
        while let Some(&(of, command)) = self.waiting.front()
            && self.has_room(command)
        {
            self.waiting.pop_front();
            acts.push(Act::Waited { of, wait: Wait::Room });
            self.keep(of, command, acts);
        }
        self.write_on(acts);
    }

    pub fn woken(&mut self, now: Instant, timer: Timer, acts: &mut Vec<Act>) {
        if timer == Timer::Settle {
            self.settles = true;
            return;
        }
        self.counts.swaps += 1;
        self.settles = false;
        self.writer = MemberId((self.writer.0 + 1) % self.rules.stripes.members);
        self.begin(now, acts);
        self.write_on(acts);
    }
}

fn meet(one: &Range<u64>, other: &Range<u64>) -> bool {
    one.start < other.end && other.start < one.end
}

fn read_of(to: MemberId, bytes: &Range<u64>, of: Option<HostId>, token: u64) -> Act {
    let command = Command { kind: Kind::Read, offset: bytes.start, bytes: bytes.end - bytes.start };
    Act::Send { to, command, of, after: Wait::Turn, token }
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine::{Span, Stream, Streams};
    use settings::Size;
    use std::collections::BTreeMap;

    const MEMBERS: u32 = 4;
    const CHUNK: u64 = 4;
    const ROWS: u64 = 3;
    const BYTES: u64 = CHUNK * ROWS;

    /// Members with contents: a number for each byte, and parity that is the XOR of the data.
    struct Bench {
        plan: Rotation,
        stream: Stream,
        /// By member and byte: the newest data that the host wrote, and what is on flash.
        newest: Vec<[u64; BYTES as usize]>,
        flash: Vec<[u64; BYTES as usize]>,
        /// By number of an update and byte: its data, and the parity with all updates up to it.
        made: BTreeMap<(u64, u64), [u64; 2]>,
        under_way: Vec<Act>,
        requests: u32,
    }

    impl Bench {
        fn new(seed: u64) -> Self {
            let stripes = Stripes { members: MEMBERS, chunk: CHUNK };
            let none = Time::from(Span::ZERO);
            let cache = CacheConfig { size: Size::from_bytes(1 << 20), latency: none };
            let period = Time::from(Span::from_us(1));
            let rules = Rules { stripes, period, settle: None, cache, depth: 3 };
            Self {
                plan: Rotation::new(rules),
                stream: Streams::new(seed).stream("test.rotation"),
                newest: vec![[0; BYTES as usize]; MEMBERS as usize],
                flash: vec![[0; BYTES as usize]; MEMBERS as usize],
                made: BTreeMap::new(),
                under_way: Vec::new(),
                requests: 0,
            }
        }

        /// A request of the host.
        fn ask(&mut self) {
            let offset = self.stream.below(BYTES * 3 - 6);
            let kind = [Kind::Read, Kind::Write, Kind::Write][self.stream.below(3) as usize];
            let command = Command { kind, offset, bytes: 1 + self.stream.below(6) };
            self.requests += 1;
            let (id, number) = (HostId(self.requests), u64::from(self.requests));
            let mut acts = Vec::new();
            let next = self.plan.next;
            self.plan.asked(Asked { id, number, command, write: 0 }, &mut acts);
            self.accept(command, next);
            self.take(acts);
        }

        /// Notes the data and parity of the updates of a write that was taken in.
        fn accept(&mut self, command: Command, first: u64) {
            let pieces = self.plan.rules.stripes.pieces(command);
            for (number, piece) in (first..self.plan.next).zip(pieces) {
                for byte in piece.bytes {
                    let at = byte as usize;
                    let data = self.stream.bits();
                    self.newest[piece.member.0 as usize][at] = data;
                    let parity = piece.parity.0 as usize;
                    self.newest[parity][at] = 0;
                    let sum = self.newest.iter().fold(0, |sum, of| sum ^ of[at]);
                    self.newest[parity][at] = sum;
                    self.made.insert((number, byte), [data, sum]);
                }
            }
        }

        fn take(&mut self, acts: Vec<Act>) {
            for act in acts {
                match act {
                    Act::Send { .. } => self.under_way.push(act),
                    Act::Serve { .. } | Act::Wake { .. } => {}
                    // The cache is never full here, and nothing is hedged.
                    _ => panic!("{act:?}"),
                }
            }
        }

        /// One of the commands under way ends.
        fn end_one(&mut self) {
            if self.under_way.is_empty() {
                return;
            }
            let index = self.stream.below(self.under_way.len() as u64) as usize;
            let Act::Send { to, command, token, .. } = self.under_way.swap_remove(index) else {
                panic!("only commands are under way");
            };
            let mut acts = Vec::new();
            if command.kind == Kind::Read {
                self.check_beside(token);
                self.plan.read_ended(token, &mut acts);
            } else {
                let number = self.plan.entries[EntryId(token as u32)].number;
                for byte in command.offset..command.end() {
                    let is_parity = byte / CHUNK % u64::from(MEMBERS) == u64::from(to.0);
                    let made = self.made[&(number, byte)];
                    self.flash[to.0 as usize][byte as usize] = made[usize::from(is_parity)];
                }
                self.plan.written(to, token, &mut acts);
            }
            self.take(acts);
        }

        /// A read of the member beside the one that writes: with what the cache has, the members give
        /// the data of that one.
        fn check_beside(&self, token: u64) {
            if token & BESIDE == 0 {
                return;
            }
            let (of, bytes) = self.plan.beside[BesideId(token as u32)].clone();
            for byte in bytes {
                let at = byte as usize;
                let value = |member: u32| match self.cached(member, byte) {
                    Some(value) => value,
                    None => self.flash[member as usize][at],
                };
                // What was asked for is not known here, but no row may contradict itself.
                let sum = (0..MEMBERS).fold(0, |sum, member| sum ^ value(member));
                if !self.plan.is_updated(&(byte..byte + 1)) {
                    assert_eq!(sum, 0, "byte {byte}, read of {of:?}");
                }
            }
        }

        fn cached(&self, member: u32, byte: u64) -> Option<u64> {
            let within = self.plan.newest[member as usize].within(byte..byte + 1);
            let number = within[0].1?;
            let is_parity = byte / CHUNK % u64::from(MEMBERS) == u64::from(member);
            Some(self.made[&(number, byte)][usize::from(is_parity)])
        }
    }

    #[test]
    fn rows_never_contradict_themselves() {
        let mut rebuilt = 0;
        for seed in 0..300 {
            println!("seed {seed}");
            let mut bench = Bench::new(seed);
            let mut now = Instant::START;
            for step in 0..600 {
                match bench.stream.below(8) {
                    0 if step < 500 => bench.ask(),
                    1 => {
                        now += Span::from_us(1);
                        let mut acts = Vec::new();
                        bench.plan.woken(now, Timer::Swap, &mut acts);
                        bench.take(acts);
                    }
                    _ => bench.end_one(),
                }
            }
            while !bench.plan.is_at_rest() || !bench.under_way.is_empty() {
                bench.end_one();
                if bench.under_way.is_empty() {
                    let mut acts = Vec::new();
                    bench.plan.woken(now, Timer::Swap, &mut acts);
                    bench.take(acts);
                }
            }
            assert_eq!(bench.plan.bytes, 0, "the cache is empty");
            assert_eq!(bench.flash, bench.newest, "every member has its data and parity");
            rebuilt += bench.plan.counts().rebuilt;
        }
        assert!(rebuilt > 1_000, "{rebuilt} reads of the member that writes");
    }
}
