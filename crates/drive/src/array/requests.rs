//! Requests of the host that are under way, and the commands that members were sent for them.

use super::members::MemberId;
use super::plan::act::{Asked, HostId, WAITS, Wait, changes};
use crate::device::Completion;
use engine::{Instant, Slab, Span, typed_id};
use host::{Command, Priority};
use metrics::{Blame, State};

typed_id! {
    /// A command that a member was sent.
    pub struct SentId;
    /// A part of a request that the host's cache serves.
    pub struct ServingId;
}

/// Time that a request has waited in the host, by [`Wait`].
pub type Waits = [Span; WAITS];

/// The state of each wait.
const STATES: [State; WAITS] = [State::HostRoom, State::HostTurn, State::HedgeDelay];

/// A request of the host.
pub struct HostRequest {
    // ---- constant ----
    /// Its number among all requests to the array.
    pub number: u64,
    pub initiator: u32,
    /// Its command, with addresses of the array's namespace.
    pub command: Command,
    pub priority: Priority,
    pub arrived: Instant,
    /// The moment at which the plan was asked.
    pub submitted: Instant,
    // ---- state ----
    pub is_answered: bool,
    /// Parts that have not ended, and true if those that have ended answer it.
    parts: u32,
    is_enough: bool,
    /// The moment until which its waits are known, and these.
    since: Instant,
    waits: Waits,
    /// The part that ended last, and its blame; of several such the first one.
    critical: Option<Instant>,
    pub blame: Blame,
    /// Mapping units read that had no data, and those that it did not get.
    pub unmapped: u32,
    pub failed: u32,
    /// True if a part met collection, or waited for it.
    pub met: bool,
    pub blocked: bool,
    /// Number of commands that change data before it.
    pub write: u64,
}

/// A command that a member was sent.
#[derive(Clone, Copy)]
pub struct Sent {
    pub to: MemberId,
    /// The plan's token.
    pub token: u64,
    /// Its request and the request's number, if it is a part of one.
    pub of: Option<(HostId, u64)>,
    /// Its command, with addresses of the array's namespace.
    pub command: Command,
    /// Time that its request had waited in the host when it was sent.
    pub waits: Waits,
}

/// A part of a request that the host's cache serves.
#[derive(Clone, Copy)]
pub struct Serving {
    /// The request and its number.
    pub of: (HostId, u64),
    /// The moment at which the cache began, and time that the request had waited until then.
    from: Instant,
    waits: Waits,
}

/// All requests under way.
#[derive(Default)]
pub struct Requests {
    slab: Slab<HostId, HostRequest>,
    count: u64,
    /// Number of requests that change data.
    writes: u64,
}

impl Requests {
    /// Takes a request in.
    pub fn insert(
        &mut self,
        initiator: u32,
        command: Command,
        priority: Priority,
        (arrived, submitted): (Instant, Instant),
    ) -> Asked {
        let (number, write) = (self.count, self.writes);
        self.count += 1;
        self.writes += u64::from(changes(command.kind));
        let id = self.slab.insert_with(|| HostRequest {
            number,
            initiator,
            command,
            priority,
            arrived,
            submitted,
            is_answered: false,
            parts: 0,
            is_enough: false,
            since: submitted,
            waits: Waits::default(),
            critical: None,
            blame: Blame::NONE,
            unmapped: 0,
            failed: 0,
            met: false,
            blocked: false,
            write,
        });
        Asked { id, number, command, write }
    }
    /// A request.
    pub fn get(&self, id: HostId) -> &HostRequest {
        &self.slab[id]
    }
    /// A request, to change it.
    pub fn get_mut(&mut self, id: HostId) -> &mut HostRequest {
        &mut self.slab[id]
    }
    /// The request of this number, unless it was answered before.
    pub fn unanswered(&self, (id, number): (HostId, u64)) -> Option<Asked> {
        let request = &self.slab[id];
        let is_it = request.number == number && !request.is_answered;
        is_it.then_some(Asked { id, number, command: request.command, write: request.write })
    }
    /// Gives the place of an answered request back.
    pub fn remove(&mut self, id: HostId) {
        self.slab.remove(id);
    }
    /// Number of requests that change data, answered or not.
    pub fn writes(&self) -> u64 {
        self.writes
    }
    /// Number of the first request that is under way.
    pub fn first(&self) -> Option<u64> {
        self.slab.ids().into_iter().map(|id| self.slab[id].number).min()
    }
    /// Number of requests under way.
    pub fn under_way(&self) -> u64 {
        self.slab.taken() as u64
    }
    /// Bytes that they take.
    pub fn bytes(&self) -> u64 {
        self.slab.bytes()
    }
}

impl HostRequest {
    /// The request has waited in the host until `now`.
    pub fn waited(&mut self, now: Instant, wait: Wait) {
        self.waits[wait as usize] += now - self.since;
        self.since = now;
    }
    /// Begins a part at `now`; returns the waits until then, of which the last was `after`.
    pub fn begin_part(&mut self, now: Instant, after: Wait) -> Waits {
        self.parts += 1;
        let mut waits = self.waits;
        waits[after as usize] += now - self.since;
        waits
    }
    /// Begins a part that the host's cache serves, after a wait until now.
    pub fn begin_served(&mut self, id: HostId, now: Instant, after: Wait) -> Serving {
        let waits = self.begin_part(now, after);
        Serving { of: (id, self.number), from: now, waits }
    }
    /// The parts that have ended answer it.
    pub fn suffices(&mut self) {
        self.is_enough = true;
    }
    /// True if it can be answered.
    pub fn is_done(&self) -> bool {
        self.parts == 0 || self.is_enough
    }
    /// A part that a member was sent has ended.
    pub fn part_ended(&mut self, completion: &Completion, blame: &Blame, waits: &Waits) {
        self.parts -= 1;
        self.unmapped += completion.unmapped;
        self.failed += completion.failed;
        self.met |= completion.met;
        self.blocked |= completion.blocked;
        if self.critical.is_none_or(|before| before < completion.finished) {
            self.critical = Some(completion.finished);
            self.blame.clone_from(blame);
            // The drive took all time before it was sent the command for a wait for the queue.
            for (state, span) in STATES.into_iter().zip(*waits) {
                if !span.is_zero() {
                    self.blame.transfer(span, State::QueueDepth, state);
                }
            }
        }
    }
    /// A part that the cache served has ended.
    pub fn served(&mut self, now: Instant, serving: Serving) {
        self.parts -= 1;
        if self.critical.is_some_and(|before| before >= now) {
            return;
        }
        self.critical = Some(now);
        self.blame.clear();
        let queued = self.submitted - self.arrived;
        for (state, span) in STATES.into_iter().zip(serving.waits) {
            self.blame.charge(state, span);
        }
        self.blame.charge(State::QueueDepth, queued);
        self.blame.charge(State::HostCache, now - serving.from);
    }
}
