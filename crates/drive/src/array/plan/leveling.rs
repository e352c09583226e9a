//! Wear-leveling from member to member: each holds a part of the namespace. If one was written more
//! than another, a chunk that hosts write much changes places with one that they write little.
//!
//! The plan has the map of chunks ([`chunks`]), the counts by which it chooses ([`wear`]), and the
//! exchange under way ([`exchange`]). Reads go to the place of the newest data, which may be the host's
//! memory; writes to a piece that is under way wait until it is at its new place.

pub mod chunks;
mod exchange;
pub mod wear;

use super::act::{Act, Asked, HostId, PlanCounts, Wait};
use super::updates::meet;
use crate::array::members::MemberId;
use chunks::{Chunks, Map, Place};
use engine::{Slab, typed_id};
use exchange::{Exchange, Stage};
use host::{Command, Kind};
use settings::{Share, Time};
use std::collections::VecDeque;
use std::ops::Range;
use wear::{Limits, Wear, Written};

typed_id! {
    /// A part of a request at a member.
    struct PartId;
}

/// Constants of the plan.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    pub chunks: Chunks,
    pub gap: u64,
    pub copies: Share,
    /// Bytes of a piece of a chunk.
    pub piece: u64,
    /// Most pieces under way.
    pub depth: u32,
    /// Time to read from the host's memory.
    pub latency: Time,
}

/// Tokens: a copy has its piece, and a part of a request its place in the list of parts.
const COPY: u64 = 1 << 32;
const FLUSH: u64 = 1 << 33;

/// A part of a request at a member.
#[derive(Clone)]
struct Part {
    member: MemberId,
    bytes: Range<u64>,
    is_read: bool,
    has_ended: bool,
}

/// State of the plan.
pub struct Leveling {
    rules: Rules,
    map: Map,
    wear: Wear,
    exchange: Option<Exchange>,
    parts: Slab<PartId, Part>,
    /// Requests that wait for a piece that is under way.
    waiting: VecDeque<(HostId, Command)>,
    counts: PlanCounts,
}

impl Leveling {
    pub fn new(rules: Rules) -> Self {
        let Rules { chunks, gap, copies, .. } = rules;
        let limits = Limits { chunk: chunks.bytes, member: chunks.member_bytes(), gap, copies };
        Self {
            rules,
            map: Map::new(chunks),
            wear: Wear::new(limits, chunks.members, chunks.count()),
            exchange: None,
            parts: Slab::default(),
            waiting: VecDeque::new(),
            counts: PlanCounts::default(),
        }
    }

    pub fn counts(&self) -> PlanCounts {
        PlanCounts { copied_bytes: self.wear.copied(), ..self.counts }
    }
    /// Bytes that each member was sent to write.
    pub fn written(&self) -> &[Written] {
        self.wear.members()
    }
    /// True if no exchange is under way.
    pub fn is_at_rest(&self) -> bool {
        self.exchange.is_none()
    }

    pub fn asked(&mut self, asked: Asked, acts: &mut Vec<Act>) {
        let Asked { id, command, .. } = asked;
        match command.kind {
            Kind::Read => self.read(id, command, acts),
            Kind::Flush => acts.extend((0..self.rules.chunks.members).map(|member| Act::Send {
                to: MemberId(member),
                command,
                of: Some(id),
                after: Wait::Turn,
                token: FLUSH,
            })),
            _ if self.is_kept_back(command) => {
                self.counts.delayed += 1;
                self.waiting.push_back((id, command));
            }
            _ => {
                self.write(id, command, acts);
                self.begin_exchange(acts);
            }
        }
    }

    // ---- requests --------------------------------------------------------------------

    fn read(&mut self, id: HostId, command: Command, acts: &mut Vec<Act>) {
        let (mut is_kept, mut is_sent) = (false, false);
        for Located { at, bytes } in located(&self.map, self.exchange.as_ref(), command) {
            match at {
                Some(at) => {
                    is_sent = true;
                    acts.push(send(&mut self.parts, id, command.kind, at, bytes));
                }
                None => is_kept = true,
            }
        }
        match (is_kept, is_sent) {
            (true, true) => self.counts.cached_in_part += 1,
            (true, false) => self.counts.cached += 1,
            (false, _) => return,
        }
        acts.push(Act::Serve { of: id, takes: self.rules.latency.span(), after: Wait::Turn });
    }

    /// Sends a write, or another command that changes data, to where the data lies.
    fn write(&mut self, id: HostId, command: Command, acts: &mut Vec<Act>) {
        let writes = command.kind == Kind::Write;
        for Located { at, bytes } in located(&self.map, self.exchange.as_ref(), command) {
            let at = at.expect("writes to pieces that the memory has wait");
            if writes {
                self.wear.add_host(at.0, bytes.end - bytes.start);
            }
            acts.push(send(&mut self.parts, id, command.kind, at, bytes));
        }
        if writes {
            for (chunk, bytes) in self.rules.chunks.of(command) {
                self.wear.add_recent(chunk, bytes.end - bytes.start);
            }
        }
    }

    /// True if some bytes of a command belong to a piece that is under way.
    fn is_kept_back(&self, command: Command) -> bool {
        let Some(exchange) = &self.exchange else { return false };
        let chunks = self.rules.chunks.of(command);
        let mut own = chunks.filter(|(chunk, _)| exchange.chunks.contains(chunk));
        own.any(|(_, bytes)| {
            let start = bytes.start % self.rules.chunks.bytes;
            let within = start..start + (bytes.end - bytes.start);
            let bytes_of = |piece: u64| piece * self.rules.piece..(piece + 1) * self.rules.piece;
            exchange.under_way().iter().any(|piece| meet(&bytes_of((*piece).into()), &within))
        })
    }

    /// Sends what had to wait for pieces that have come to their new places.
    fn release(&mut self, acts: &mut Vec<Act>) {
        for _ in 0..self.waiting.len() {
            let (id, command) = self.waiting.pop_front().expect("it has so many");
            match self.is_kept_back(command) {
                true => self.waiting.push_back((id, command)),
                false => self.write(id, command, acts),
            }
        }
    }

    // ---- exchanges -------------------------------------------------------------------

    fn begin_exchange(&mut self, acts: &mut Vec<Act>) {
        if self.exchange.is_none()
            && let Some(chunks) = self.wear.choose(&self.map)
        {
            let from = chunks.map(|chunk| self.map.place(chunk));
            let bytes = (self.rules.chunks.bytes, self.rules.piece);
            self.exchange = Some(Exchange::new(chunks, from, bytes));
            self.go_on(acts);
        }
    }

    /// Begins pieces, reads those that no host is writing, and writes those that no host is reading at
    /// their old places.
    fn go_on(&mut self, acts: &mut Vec<Act>) {
        let Some(exchange) = &mut self.exchange else { return };
        while exchange.begin_piece(self.rules.depth) {}
        for piece in exchange.under_way().to_vec() {
            let places = exchange.bytes(piece);
            match exchange.stage(piece) {
                Stage::Clearing if !are_used(&self.parts, &places, false) => {
                    acts.extend(places.map(|place| copy(Kind::Read, place, piece)));
                    exchange.set_stage(piece, Stage::Reading(2));
                }
                Stage::Kept if !are_used(&self.parts, &places, true) => {
                    for place in places {
                        self.wear.add_copy(place.0, self.rules.piece);
                        acts.push(copy(Kind::Write, place, piece));
                    }
                    exchange.set_stage(piece, Stage::Writing(2));
                }
                _ => {}
            }
        }
    }

    /// A member has answered a command.
    pub fn ended(&mut self, token: u64, acts: &mut Vec<Act>) {
        if token & COPY != 0 {
            let exchange = self.exchange.as_mut().expect("an exchange copies");
            if exchange.copy_ended(token as u32) == Stage::New {
                self.piece_ended(acts);
            }
        } else if token != FLUSH {
            let id = PartId(token as u32);
            self.parts[id].has_ended = true;
            self.parts.remove(id);
        }
        self.go_on(acts);
    }

    /// A piece has come to its new place.
    fn piece_ended(&mut self, acts: &mut Vec<Act>) {
        if let Some(exchange) = self.exchange.take_if(|exchange| exchange.is_over()) {
            self.map.exchange(exchange.chunks);
            self.counts.exchanges += 1;
        }
        self.release(acts);
    }
}

/// Bytes of the namespace that lie together: at a member, from a byte of it on, or in the host's memory.
struct Located {
    at: Option<(MemberId, u64)>,
    bytes: Range<u64>,
}

/// The places of the bytes of a command, in order.
fn located(
    map: &Map,
    exchange: Option<&Exchange>,
    command: Command,
) -> impl Iterator<Item = Located> {
    let (mut next, end) = (command.offset, command.end());
    std::iter::from_fn(move || {
        (next < end).then(|| {
            let mut found = locate(map, exchange, next..end);
            while found.bytes.end < end {
                let more = locate(map, exchange, found.bytes.end..end);
                let length = found.bytes.end - found.bytes.start;
                if more.at != found.at.map(|(member, start)| (member, start + length)) {
                    break;
                }
                found.bytes.end = more.bytes.end;
            }
            next = found.bytes.end;
            found
        })
    })
}

/// The place of the first of some bytes, and those with it in a chunk, or in a piece of a chunk.
fn locate(map: &Map, exchange: Option<&Exchange>, bytes: Range<u64>) -> Located {
    let of_chunk = map.chunks().bytes;
    let chunk = chunks::ChunkId((bytes.start / of_chunk) as u32);
    let within = bytes.start % of_chunk;
    let found = exchange.and_then(|exchange| exchange.find(chunk, within));
    let (stage, place, until) = found.unwrap_or((Stage::Old, map.place(chunk), of_chunk));
    let end = bytes.end.min(bytes.start - within + until);
    let Place { member, index } = place;
    let at = match stage {
        Stage::Kept | Stage::Writing(_) => None,
        _ => Some((member, u64::from(index) * of_chunk + within)),
    };
    Located { at, bytes: bytes.start..end }
}

/// A part of a request, which is noted among those under way.
fn send(
    parts: &mut Slab<PartId, Part>,
    of: HostId,
    kind: Kind,
    (member, offset): (MemberId, u64),
    bytes: Range<u64>,
) -> Act {
    let bytes = bytes.end - bytes.start;
    let (is_read, range) = (kind == Kind::Read, offset..offset + bytes);
    let part = Part { member, bytes: range, is_read, has_ended: false };
    let token = u64::from(parts.insert(part).0);
    let command = Command { kind, offset, bytes };
    Act::Send { to: member, command, of: Some(of), after: Wait::Turn, token }
}

/// A read or a write of a piece.
fn copy(kind: Kind, (to, bytes): exchange::Bytes, piece: u32) -> Act {
    let command = Command { kind, offset: bytes.start, bytes: bytes.end - bytes.start };
    let token = COPY | u64::from(piece);
    Act::Send { to, command, of: None, after: Wait::Turn, token }
}

/// True if hosts are reading, or writing, some bytes of places.
fn are_used(parts: &Slab<PartId, Part>, places: &[exchange::Bytes; 2], is_read: bool) -> bool {
    let uses = |part: &Part, (member, bytes): &exchange::Bytes| {
        part.member == *member && meet(&part.bytes, bytes)
    };
    let is_used = |part: &Part| {
        !part.has_ended && part.is_read == is_read && places.iter().any(|place| uses(part, place))
    };
    (0..parts.slots() as u32).any(|index| is_used(&parts[PartId(index)]))
}

#[cfg(test)]
mod tests;
