//! Mirroring: writes go to all members, a read goes to one of them, and to another one if it takes
//! long.

use super::act::{Act, Asked, HostId, PlanCounts, Timer, UnderWay, Wait};
use crate::array::config::{HedgeConfig, ReadChoice};
use crate::array::members::MemberId;
use engine::Instant;
use host::{Command, Kind};
use std::collections::VecDeque;

/// Tokens of the first copy of a read, and of its hedge.
const FIRST: u64 = 0;
const HEDGE: u64 = 1;

/// State of a mirror.
pub struct Mirror {
    // ---- constant ----
    members: u32,
    reads: ReadChoice,
    hedge: Option<HedgeConfig>,
    // ---- state ----
    /// The member that read last, in turn.
    last: MemberId,
    /// Reads that may be hedged, by the index of their request.
    hedged: Vec<Hedged>,
    /// Hedges that wait in the host, by member, and the numbers of their requests.
    queues: Vec<VecDeque<(HostId, u64)>>,
    counts: PlanCounts,
}

/// A read that may be hedged.
#[derive(Clone, Copy)]
struct Hedged {
    /// The number of its request; another read has this place if it differs.
    number: u64,
    command: Command,
    /// The member that was sent the first copy.
    first: MemberId,
    stage: Stage,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// Its first copy is under way.
    Sent,
    /// Its hedge waits in the host.
    Queued,
    /// Both copies are under way.
    Both,
    /// It is answered.
    Answered,
}

impl Mirror {
    pub fn new(members: u32, reads: ReadChoice, hedge: Option<HedgeConfig>) -> Self {
        Self {
            members,
            reads,
            hedge,
            last: MemberId(members - 1),
            hedged: Vec::new(),
            queues: vec![VecDeque::new(); members as usize],
            counts: PlanCounts::default(),
        }
    }

    pub fn counts(&self) -> PlanCounts {
        self.counts
    }

    pub fn asked(&mut self, now: Instant, asked: Asked, under: UnderWay<'_>, acts: &mut Vec<Act>) {
        let Asked { id, command, write, .. } = asked;
        if command.kind != Kind::Read {
            let all = (0..self.members).map(MemberId);
            acts.extend(all.map(|to| send(to, command, id, Wait::Turn, write)));
            return;
        }
        let to = self.reader(None, under);
        acts.push(send(to, command, id, Wait::Turn, FIRST));
        if let Some(hedge) = self.hedge {
            self.note(asked, to);
            let at = now + hedge.after.span();
            acts.push(Act::Wake { at, timer: Timer::Hedge(id), number: asked.number });
        }
    }

    /// The member for a copy of a read, if it must not be `but`.
    fn reader(&mut self, but: Option<MemberId>, under: UnderWay<'_>) -> MemberId {
        if self.reads == ReadChoice::LeastOutstanding {
            return under.least(but);
        }
        let after = |member: MemberId| MemberId((member.0 + 1) % self.members);
        let mut next = after(self.last);
        if Some(next) == but {
            next = after(next);
        }
        // A hedge does not take a turn, so that reads go to all members alike.
        if but.is_none() {
            self.last = next;
        }
        next
    }

    fn note(&mut self, asked: Asked, first: MemberId) {
        let Asked { id, number, command, .. } = asked;
        let hedged = Hedged { number, command, first, stage: Stage::Sent };
        if self.hedged.len() <= id.0 as usize {
            self.hedged.resize(id.0 as usize + 1, Hedged { number: u64::MAX, ..hedged });
        }
        self.hedged[id.0 as usize] = hedged;
    }

    /// A read may have to be hedged.
    pub fn woken(&mut self, id: HostId, number: u64, under: UnderWay<'_>, acts: &mut Vec<Act>) {
        let read = self.hedged[id.0 as usize];
        if read.number != number || read.stage != Stage::Sent {
            return;
        }
        self.counts.hedges += 1;
        let to = self.reader(Some(read.first), under);
        self.hedged[id.0 as usize].stage = Stage::Queued;
        self.queues[to.0 as usize].push_back((id, number));
        self.send_hedges(to, under, acts);
    }

    /// Sends hedges that wait for a member while it has room for them.
    fn send_hedges(&mut self, to: MemberId, under: UnderWay<'_>, acts: &mut Vec<Act>) {
        let below = self.hedge.and_then(|hedge| hedge.below).unwrap_or(u32::MAX);
        let mut at = under.at(to);
        while at < below
            && let Some((id, number)) = self.queues[to.0 as usize].pop_front()
        {
            let read = &mut self.hedged[id.0 as usize];
            if read.number != number || read.stage != Stage::Queued {
                continue;
            }
            read.stage = Stage::Both;
            self.counts.sent += 1;
            at += 1;
            acts.push(send(to, read.command, id, Wait::Hedge, HEDGE));
        }
    }

    /// A command has ended at a member; `of` is its request, unless that was answered before.
    pub fn ended(
        &mut self,
        member: MemberId,
        of: Option<Asked>,
        token: u64,
        under: UnderWay<'_>,
        acts: &mut Vec<Act>,
    ) {
        if self.hedge.is_none() {
            return;
        }
        if let Some(Asked { id, number, command, .. }) = of
            && command.kind == Kind::Read
        {
            let read = &mut self.hedged[id.0 as usize];
            debug_assert_eq!(read.number, number, "a read that was not answered is known");
            self.counts.cancelled += u64::from(read.stage == Stage::Queued);
            self.counts.won += u64::from(token == HEDGE);
            if read.stage == Stage::Both {
                acts.push(Act::Answer { of: id });
            }
            read.stage = Stage::Answered;
        }
        self.send_hedges(member, under, acts);
    }
}

fn send(to: MemberId, command: Command, of: HostId, after: Wait, token: u64) -> Act {
    Act::Send { to, command, of: Some(of), after, token }
}
