//! Flash on Rails [RAILS] and ping-pong [IOD17]: one member writes, and the others read. The host
//! keeps each write until all members have it. Members swap their roles after each period.

use super::act::{Act, Allowed, Asked, HostId, PlanCounts, Timer, Wait, begin_period};
use super::kept::{Cache, Progress, bytes_of};
use crate::array::config::{CacheConfig, Release};
use crate::array::members::MemberId;
use engine::Instant;
use host::{Command, Kind};
use settings::Time;
use std::collections::VecDeque;

/// Constants of the plan.
#[derive(Clone, Copy, Debug)]
pub struct Rules {
    pub members: u32,
    pub period: Time,
    pub settle: Option<Time>,
    pub cache: CacheConfig,
    pub depth: u32,
    pub release: Release,
    /// True if the cache answers writes; otherwise the first member does.
    pub answers_early: bool,
    /// True if a member is sent only writes that came before its period.
    pub is_batch: bool,
}

/// State of the plan.
pub struct Rails {
    rules: Rules,
    writer: MemberId,
    /// The member that read last; members that do not write take turns.
    last: MemberId,
    /// True from `settle` before a swap on.
    settles: bool,
    /// Writes that the member which is to write may be sent before its turn begins.
    allowed: Allowed,
    /// The first write that does not belong to this period; if writes come in batches.
    until: u64,
    cache: Cache,
    progress: Progress,
    /// Requests that wait for room in the cache.
    waiting: VecDeque<(HostId, Command)>,
    counts: PlanCounts,
}

impl Rails {
    pub fn new(rules: Rules) -> Self {
        Self {
            writer: MemberId(0),
            last: MemberId(0),
            settles: false,
            allowed: Allowed::ALL,
            until: if rules.is_batch { 0 } else { u64::MAX },
            cache: Cache::default(),
            progress: Progress::new(rules.members),
            waiting: VecDeque::new(),
            counts: PlanCounts::default(),
            rules,
        }
    }

    pub fn counts(&self) -> PlanCounts {
        PlanCounts { peak_bytes: self.cache.peak(), ..self.counts }
    }
    /// True if every member has every write.
    pub fn is_at_rest(&self) -> bool {
        self.cache.is_replicated() && self.waiting.is_empty()
    }

    /// The member that writes.
    pub fn writer(&self) -> MemberId {
        self.writer
    }
    /// The run, or a period, begins.
    pub fn begin(&mut self, now: Instant, acts: &mut Vec<Act>) {
        begin_period(now, self.rules.period, self.rules.settle, acts);
    }

    pub fn asked(&mut self, asked: Asked, acts: &mut Vec<Act>) {
        let Asked { id, command, .. } = asked;
        if command.kind == Kind::Read {
            return self.read(id, command, acts);
        }
        if !self.waiting.is_empty() || !self.has_room(command) {
            self.counts.delayed += 1;
            self.waiting.push_back((id, command));
            return;
        }
        self.keep(id, command, acts);
        self.write_on(acts);
    }

    fn read(&mut self, id: HostId, command: Command, acts: &mut Vec<Act>) {
        let (has_some, outside) = self.cache.within(command);
        if has_some {
            match outside.is_empty() {
                true => self.counts.cached += 1,
                false => self.counts.cached_in_part += 1,
            }
            acts.push(Act::Serve {
                of: id,
                takes: self.rules.cache.latency.span(),
                after: Wait::Turn,
            });
        }
        if outside.is_empty() {
            return;
        }
        let to = self.reader();
        let part = |command| Act::Send { to, command, of: Some(id), after: Wait::Turn, token: 0 };
        acts.extend(outside.into_iter().map(part));
    }

    /// The member for a read: one that does not write.
    fn reader(&mut self) -> MemberId {
        let after = |member: MemberId| MemberId((member.0 + 1) % self.rules.members);
        let mut next = after(self.last);
        if next == self.writer {
            next = after(next);
        }
        self.last = next;
        next
    }

    fn has_room(&self, command: Command) -> bool {
        let size = self.rules.cache.size.bytes();
        self.cache.bytes() == 0 || self.cache.bytes() + bytes_of(command) <= size
    }

    /// Keeps a write for all members.
    fn keep(&mut self, id: HostId, command: Command, acts: &mut Vec<Act>) {
        self.counts.kept += 1;
        let request = (!self.rules.answers_early).then_some(id);
        self.cache.keep(command, request, self.rules.members, self.counts.swaps);
        if self.rules.answers_early {
            acts.push(Act::Serve {
                of: id,
                takes: self.rules.cache.latency.span(),
                after: Wait::Turn,
            });
        }
    }

    /// Sends the member that writes what it lacks, in order, as far as it may have more under way.
    fn write_on(&mut self, acts: &mut Vec<Act>) {
        if self.settles {
            return;
        }
        let until = self.cache.next().min(self.until);
        let (next, sent) = self.progress.of(self.writer);
        while *next < until && sent.count() < self.rules.depth {
            let kept = self.cache.get(*next);
            if sent.holds_back(kept.command) || !self.allowed.take(kept.command) {
                return;
            }
            sent.add(*next, kept.command);
            acts.push(Act::Send {
                to: self.writer,
                command: kept.command,
                of: kept.request.take(),
                after: Wait::Turn,
                token: *next,
            });
            *next += 1;
        }
    }

    /// A member has answered a write.
    pub fn written(&mut self, member: MemberId, number: u64, acts: &mut Vec<Act>) {
        self.progress.of(member).1.remove(number);
        if self.cache.answered(number) {
            let swaps = self.cache.get(number).swaps;
            let is_over = self.counts.swaps >= swaps + 2;
            if self.rules.release == Release::Replicated || is_over {
                self.cache.release(number);
                self.take_in(acts);
            }
        }
        self.write_on(acts);
    }

    /// Takes in writes that wait for room.
    fn take_in(&mut self, acts: &mut Vec<Act>) {
        while let Some(&(of, command)) = self.waiting.front()
            && self.has_room(command)
        {
            self.waiting.pop_front();
            acts.push(Act::Waited { of, wait: Wait::Room });
            self.keep(of, command, acts);
        }
    }

    pub fn woken(&mut self, now: Instant, timer: Timer, acts: &mut Vec<Act>) {
        if timer == Timer::Settle {
            self.settles = true;
            return;
        }
        self.counts.swaps += 1;
        (self.settles, self.allowed) = (false, Allowed::NONE);
        self.writer = MemberId((self.writer.0 + 1) % self.rules.members);
        if self.rules.is_batch {
            self.until = self.cache.next();
        }
        if self.rules.release == Release::SwapAfterNext {
            // It came before the swap before this one.
            self.cache.release_before(self.counts.swaps.saturating_sub(1));
            self.take_in(acts);
        }
        self.begin(now, acts);
    }

    /// The member that is to write may be sent so much.
    pub fn allow(&mut self, allowed: Allowed, acts: &mut Vec<Act>) {
        self.allowed = allowed;
        self.write_on(acts);
    }
}
