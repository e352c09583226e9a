//! Looking for a request: where its unfinished parts are, and what is in their way. Found in the
//! queues, the buffer and the agenda when somebody asks, so that nothing is kept for it.

use crate::device::Device;
use crate::device::event::Event;
use crate::device::flash::op::{Op, OpId, Owner};
use crate::device::port::request::RequestId;
use crate::device::why::census::{Census, Doing};
use crate::device::why::standing::{Stage, Standing, rounded};
use crate::device::write::buffer::{EntryId, Stage as Held};
use engine::Instant;
use ftl::PoolId;
use metrics::Blame;

/// How far down it is told what is in the way of what is in the way. Two collections may each
/// wait for the other's unit, so there must be an end.
pub const DEPTH: u32 = 4;

/// How many of several things in the way are told.
pub const MOST: usize = 3;

/// How many ways to stand are told of one request.
const MOST_WAYS: usize = 16;

impl Device {
    /// Where the unfinished parts of a request stand; those that stand alike are told once.
    pub fn standings(&self, id: RequestId) -> Vec<Standing> {
        let look = Look { device: self, census: self.census() };
        let mut found: Vec<Standing> = Vec::new();
        for standing in look.parts(id) {
            let known = found.iter().position(|other| other.is_like(&standing));
            match known {
                Some(place) => found[place].parts += 1,
                None if found.len() < MOST_WAYS => found.push(standing),
                None => {}
            }
        }
        if found.is_empty() {
            let words = format!("nothing is under way for it; {}", self.why_stuck());
            found.push(Standing::new(Stage::Rest, words));
        }
        found
    }

    /// What an unfinished request is charged with so far: its own, and of its first operation
    /// what has ended and what it waits for. Service that is under way is charged whole.
    pub fn blame_so_far(&mut self, id: RequestId) -> Blame {
        let mut blame = self.port.requests.blame(id).clone();
        let census = self.census();
        let of_request = |op: &OpId| match self.base.flash.ops[*op].owner {
            Owner::Read(request, part) if request == id => Some((part, *op)),
            _ => None,
        };
        let Some((_, op)) = census.ops.keys().filter_map(of_request).min() else { return blame };
        blame.add(self.base.flash.ops.blame_ref(op));
        let Op { waits, since, group, cells, channel, .. } = self.base.flash.ops[op];
        if !waits {
            return blame;
        }
        let waited = self.base.time.now - since;
        let holds_unit = matches!(census.ops[&op], Doing::AwaitsChannel);
        let channel = &mut self.base.flash.channels[channel].ledger;
        let ledger = if holds_unit {
            channel.settle(self.base.time.now);
            channel
        } else {
            let unit = self.base.flash.ledgers.of(group, cells);
            unit.settle_with(self.base.time.now, channel);
            unit
        };
        ledger.charge_wait(self.base.flash.ops.wait_and_blame(op).0, waited, &mut blame);
        blame
    }
}

/// A look at everything that a drive is doing.
pub struct Look<'a> {
    pub device: &'a Device,
    pub census: Census,
}

impl Look<'_> {
    // ---- parts of a request -------------------------------------------------

    /// Every unfinished part of a request.
    fn parts(&self, id: RequestId) -> Vec<Standing> {
        let mut parts = Vec::new();
        parts.extend(self.own_event(id));
        let buffer = &self.device.write.buffer;
        if let Some(ahead) = buffer.ahead_of(id) {
            parts.push(self.room(id, ahead));
        }
        if let Some(epoch) = buffer.epoch_of_flush(id) {
            parts.push(self.flush(id, epoch));
        }
        for op in self.census.ops.keys().copied() {
            if matches!(self.device.base.flash.ops[op].owner, Owner::Read(request, _) if request == id)
            {
                parts.push(self.op(op, "its read", DEPTH));
            }
        }
        parts.extend(buffer.awaited_by(id).map(|entry| self.entry(entry, "its data")));
        parts.extend(self.written_by(id).map(|entry| self.entry(entry, "its data")));
        parts
    }

    /// What is due for the request itself.
    fn own_event(&self, id: RequestId) -> Option<Standing> {
        let (_, event, due) = *self.census.requests.iter().find(|(of, ..)| *of == id)?;
        let (stage, words) = match event {
            Event::Dispatch(_) => {
                (Stage::TakenIn, "it is on its way in, through link and firmware")
            }
            Event::Complete(_) => (Stage::Answered, "its answer is on its way to the host"),
            _ => (Stage::Work, "the data of its last part is being decoded or copied"),
        };
        let left = rounded(due - self.device.base.time.now);
        let mut standing = Standing::new(stage, format!("{words}, for {left} more"));
        standing.until = Some(due);
        Some(standing)
    }

    /// A write that has to wait for room in the buffer.
    fn room(&self, id: RequestId, ahead: usize) -> Standing {
        let buffer = &self.device.write.buffer;
        let (used, capacity) = (buffer.used(), buffer.capacity());
        let mut standing = Standing::new(
            Stage::Room,
            format!(
                "it waits for room in the write buffer, behind {ahead} others ({used} of \
                 {capacity} units are used)"
            ),
        );
        standing.since = Some(self.device.port.requests[id].since);
        standing.behind = self.on_the_way_to_flash(|_| true);
        standing
    }

    /// A flush, which waits for what was in the buffer before it.
    fn flush(&self, id: RequestId, epoch: u64) -> Standing {
        let words = "it waits until what the write buffer held before is on flash";
        let mut standing = Standing::new(Stage::Flush, words.into());
        standing.since = Some(self.device.port.requests[id].since);
        let is_older = |entry| self.device.write.buffer.entry(entry).epoch <= epoch;
        standing.behind = self.on_the_way_to_flash(is_older);
        standing
    }

    // ---- data in the buffer -------------------------------------------------

    /// The entries that a program carries.
    fn carried(&self, op: OpId) -> impl Iterator<Item = EntryId> + '_ {
        let payloads = &self.device.base.flash.payloads;
        let payload = match self.device.base.flash.ops[op].owner {
            Owner::Flush(payload) => Some(payload),
            _ => None,
        };
        let slots =
            payload.into_iter().flat_map(|of| (0..payloads.count(of)).map(move |n| (of, n)));
        slots.map(|(of, slot)| EntryId(payloads.slot(of, slot)[0]))
    }

    /// Entries whose rest is being read.
    fn fetched(&self) -> impl Iterator<Item = EntryId> + '_ {
        let read = self.device.write.fetches.iter().map(|(entry, _)| *entry);
        let following = self.device.write.followers.iter().map(|(_, follower)| *follower);
        read.chain(self.census.decoded.iter().map(|(entry, _)| *entry)).chain(following)
    }

    fn pools(&self) -> impl Iterator<Item = PoolId> {
        (0..self.device.base.space.ftl.layout.pool_count()).map(PoolId)
    }

    /// The entries of a write that is acknowledged from flash.
    fn written_by(&self, id: RequestId) -> impl Iterator<Item = EntryId> + '_ {
        let buffer = &self.device.write.buffer;
        let listed = self.pools().flat_map(|pool| buffer.waiting_in(pool));
        let flying = self.census.ops.keys().flat_map(|op| self.carried(*op));
        let all = self.fetched().chain(listed).chain(flying);
        all.filter(move |entry| buffer.entry(*entry).writer.is_some_and(|(of, _)| of == id))
    }

    /// Data in the buffer that must go to flash.
    fn entry(&self, entry: EntryId, whose: &str) -> Standing {
        let kept = self.device.write.buffer.entry(entry);
        match kept.stage {
            Held::Fetching => self.fetch(entry, whose),
            Held::Pending => self.listed(kept.pool, whose, kept.since),
            Held::Modifying | Held::Void | Held::Flying => {
                if let Some(older) = self.older(entry) {
                    return self.entry(older, whose);
                }
                let mut programs = self.census.ops.keys().copied();
                let program = programs.find(|op| self.carried(*op).any(|of| of == entry));
                match program {
                    Some(op) => self.op(op, &format!("the program of {whose}"), DEPTH),
                    None => Standing::new(Stage::Work, format!("{whose} is being programmed")),
                }
            }
        }
    }

    /// The older write that a partial one waits for.
    fn older(&self, entry: EntryId) -> Option<EntryId> {
        let mut followers = self.device.write.followers.iter();
        followers.find(|(_, own)| *own == entry).map(|(older, _)| *older)
    }

    /// The rest of a unit that was written in part is being read.
    fn fetch(&self, entry: EntryId, whose: &str) -> Standing {
        let device = self.device;
        if let Some(older) = self.older(entry) {
            return self.entry(older, whose);
        }
        let is_of = |op: &&OpId| matches!(device.base.flash.ops[**op].owner, Owner::Fetch(of, _) if of == entry);
        match self.census.ops.keys().find(is_of) {
            Some(op) => self.op(*op, &format!("the read of the rest of {whose}"), DEPTH),
            None => Standing::new(Stage::Work, format!("the rest of {whose} is being decoded")),
        }
    }

    /// Data that stands in a pool's list.
    fn listed(&self, pool: PoolId, whose: &str, since: Instant) -> Standing {
        let mut standing = match self.device.base.space.starved_bin(pool) {
            Some(bin) => {
                let words = format!("{whose} waits for free space in bin {}", bin.0);
                let mut standing = self.of_bin(Stage::Space, words, bin);
                standing.behind = self.collection(bin, DEPTH);
                standing
            }
            None => {
                let words = format!("{whose} waits in the buffer for a full batch, or for a bin");
                Standing::new(Stage::Buffer, words)
            }
        };
        standing.since = Some(since);
        standing
    }

    /// What of the buffer is on its way to flash, or should be: programs that go on first, then
    /// those that wait, then what no program was asked for.
    fn on_the_way_to_flash(&self, counts: impl Fn(EntryId) -> bool) -> Vec<Standing> {
        let mut programs: Vec<(Instant, OpId)> = Vec::new();
        for (op, doing) in &self.census.ops {
            if self.carried(*op).any(&counts) {
                let until = if let Doing::Goes(_, until) = doing { *until } else { Instant::NEVER };
                programs.push((until, *op));
            }
        }
        programs.sort_unstable();
        let fetched = self.fetched().filter(|entry| counts(*entry));
        let mut others: Vec<_> =
            fetched.take(MOST).map(|entry| self.fetch(entry, "data in it")).collect();
        for pool in self.pools() {
            let first = self.device.write.buffer.head(pool).filter(|entry| counts(*entry));
            let Some(first) = first else { continue };
            // Where nothing waits for space, what is listed goes on behind what is under way.
            let goes_on = !programs.is_empty() || !others.is_empty();
            if self.device.base.space.starved_bin(pool).is_some() || !goes_on {
                let since = self.device.write.buffer.entry(first).since;
                others.push(self.listed(pool, "data in it", since));
            }
        }
        // One place at least is for what is not under way.
        let most = MOST - usize::from(!others.is_empty());
        let name = "a program of host data";
        let mut found: Vec<_> =
            programs.iter().take(most).map(|(_, op)| self.op(*op, name, DEPTH - 1)).collect();
        found.append(&mut others);
        found.truncate(MOST);
        found
    }
}
