//! Rotation: members hold parity over each other, one of them writes at a time, and what is read of that
//! one is computed from the others. At most one member of the group is in maintenance, as far as
//! maintenance follows writes: the fire-department rule.
//!
//! A write is answered from the host's cache. An update of its parity reads what it needs from members
//! that do not write; then the data and the parity wait for the turns of their members. Until a member
//! has them, the cache has them for reads.

use super::act::{Act, Allowed, Asked, HostId, PlanCounts, Timer, Wait, begin_period};
use super::kept::{Sent, bytes_of};
use super::stripes::{Piece, Stripes};
use super::updates::{Update, UpdateId, Updates, meet};
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

/// Tokens of commands that are sent. A write's token is its entry.
const DIRECT: u64 = 0;
const BESIDE: u64 = 1 << 32;
const UPDATE: u64 = 1 << 33;

/// State of the plan.
pub struct Rotation {
    rules: Rules,
    writer: MemberId,
    settles: bool,
    /// Writes that the member which is to write may be sent before its turn begins.
    allowed: Allowed,
    /// By member: bytes that the cache has for it, and what it will be sent, in order.
    newest: Vec<Ranges>,
    /// By member: the same without updates that wait. This is what the parity of a row goes with.
    settled: Vec<Ranges>,
    queues: Vec<VecDeque<EntryId>>,
    /// By member: writes under way.
    sent: Vec<Sent>,
    entries: Slab<EntryId, Entry>,
    bytes: u64,
    next: u64,
    updates: Updates,
    /// Reads for what another member holds.
    beside: Slab<BesideId, (MemberId, Range<u64>)>,
    reading: Vec<BesideId>,
    /// Requests that wait for room in the cache.
    waiting: VecDeque<(HostId, Command)>,
    counts: PlanCounts,
    /// Reads of updates, and the ends of updates.
    #[cfg(test)]
    log: Vec<tests::Logged>,
}

impl Rotation {
    pub fn new(rules: Rules) -> Self {
        let members = rules.stripes.members as usize;
        Self {
            writer: MemberId(0),
            settles: false,
            allowed: Allowed::ALL,
            newest: vec![Ranges::default(); members],
            settled: vec![Ranges::default(); members],
            queues: vec![VecDeque::new(); members],
            sent: vec![Sent::default(); members],
            entries: Slab::default(),
            bytes: 0,
            next: 0,
            updates: Updates::new(rules.stripes.chunk),
            beside: Slab::default(),
            reading: Vec::new(),
            waiting: VecDeque::new(),
            counts: PlanCounts::default(),
            #[cfg(test)]
            log: Vec::new(),
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
        self.entries.taken() == 0 && self.updates.is_empty() && self.waiting.is_empty()
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
        acts.push(Act::Serve { of, takes: self.rules.cache.latency.span(), after: Wait::Turn });
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
        if member != self.writer || self.updates.meet(&bytes) {
            acts.push(read_of(member, &bytes, Some(id), DIRECT));
            return true;
        }
        self.counts.rebuilt += 1;
        let mut is_sent = false;
        #[cfg(test)]
        let before = self.reading.len();
        for other in self.others(&[member]) {
            for part in outside(&self.newest, other, &bytes) {
                let beside = self.beside.insert((other, part.clone()));
                self.reading.push(beside);
                acts.push(read_of(other, &part, Some(id), BESIDE | u64::from(beside.0)));
                is_sent = true;
            }
        }
        #[cfg(test)]
        self.log_rebuilt(member, &bytes, before);
        is_sent
    }

    /// All members but some.
    fn others(&self, but: &[MemberId]) -> Vec<MemberId> {
        let all = (0..self.rules.stripes.members).map(MemberId);
        all.filter(|member| !but.contains(member)).collect()
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
            let waits = self.updates.meet(&piece.bytes);
            self.newest[piece.member.0 as usize].write(piece.bytes.clone(), number);
            let update = Update { number, kind: command.kind, piece };
            match waits {
                true => self.updates.wait(update),
                false => self.begin_update(update, acts),
            }
        }
        self.write_on(acts);
    }

    /// Reads what the new parity is computed from: the old data and parity; or, if one of their members
    /// writes, the data of the others. Data of writes whose updates wait is not part of the parity yet.
    fn begin_update(&mut self, update: Update, acts: &mut Vec<Act>) {
        let Piece { member, parity, bytes } = update.piece.clone();
        let from = match [member, parity].contains(&self.writer) {
            true => self.others(&[member, parity]),
            false => vec![member, parity],
        };
        let parts: Vec<(MemberId, Range<u64>)> = from
            .iter()
            .flat_map(|of| outside(&self.settled, *of, &bytes).into_iter().map(|part| (*of, part)))
            .collect();
        let number = update.number;
        let id = self.updates.begin(update, parts.len() as u32);
        #[cfg(test)]
        self.log.push(tests::Logged::begun((id, number), &from, &bytes, &self.settled));
        self.settled[member.0 as usize].write(bytes, number);
        let is_known = parts.is_empty();
        for (of, part) in parts {
            acts.push(read_of(of, &part, None, UPDATE | u64::from(id.0)));
        }
        if is_known {
            self.end_update(id);
        }
    }

    /// The parity is computed: both wait for the turns of their members. Returns the bytes.
    fn end_update(&mut self, id: UpdateId) -> Range<u64> {
        let Update { number, kind, piece } = self.updates.end(id);
        #[cfg(test)]
        self.log.push(tests::Logged::Ended(number));
        for known in [&mut self.newest, &mut self.settled] {
            known[piece.parity.0 as usize].write(piece.bytes.clone(), number);
        }
        for (member, kind) in [(piece.member, kind), (piece.parity, Kind::Write)] {
            let Range { start, end } = piece.bytes;
            let command = Command { kind, offset: start, bytes: end - start };
            let entry = self.entries.insert(Entry { command, number });
            self.queues[member.0 as usize].push_back(entry);
        }
        piece.bytes
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
            let is_held = self.sent[at].holds_back(command) || self.reading.iter().any(is_read);
            if is_held || !self.allowed.take(command) {
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
            if self.updates.read_ended(id) {
                let bytes = self.end_update(id);
                while let Some(update) = self.updates.take_ready(&bytes) {
                    self.begin_update(update, acts);
                }
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
        for known in [&mut self.newest, &mut self.settled] {
            known[at].forget(command.offset..command.end(), number);
        }
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
        (self.settles, self.allowed) = (false, Allowed::NONE);
        self.writer = MemberId((self.writer.0 + 1) % self.rules.stripes.members);
        self.begin(now, acts);
    }

    /// The member that is to write may be sent so much.
    pub fn allow(&mut self, allowed: Allowed, acts: &mut Vec<Act>) {
        self.allowed = allowed;
        self.write_on(acts);
    }
}

/// The bytes of a range that the cache does not have for a member.
fn outside(known: &[Ranges], member: MemberId, bytes: &Range<u64>) -> Vec<Range<u64>> {
    let parts = known[member.0 as usize].within(bytes.clone());
    parts.into_iter().filter(|(_, number)| number.is_none()).map(|(part, _)| part).collect()
}

fn read_of(to: MemberId, bytes: &Range<u64>, of: Option<HostId>, token: u64) -> Act {
    let command = Command { kind: Kind::Read, offset: bytes.start, bytes: bytes.end - bytes.start };
    Act::Send { to, command, of, after: Wait::Turn, token }
}

#[cfg(test)]
mod tests;
