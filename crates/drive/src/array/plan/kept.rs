//! The host's cache of writes that members lack.

use super::act::HostId;
use crate::array::members::MemberId;
use crate::array::ranges::Ranges;
use host::{Command, Kind};
use std::collections::VecDeque;
use std::ops::Range;

/// A write, or another command that all members get, while it is kept.
#[derive(Clone, Copy, Debug)]
pub struct Kept {
    pub command: Command,
    /// Its request, until the first member is sent it. None if the cache has answered it.
    pub request: Option<HostId>,
    /// Members that have not answered it.
    pub lacking: u32,
    /// Swaps before it came.
    pub swaps: u64,
    is_released: bool,
}

/// Writes that are kept, in the order in which they came.
#[derive(Clone, Debug, Default)]
pub struct Cache {
    kept: VecDeque<Kept>,
    /// The number of the first one; the others are numbered from there.
    first: u64,
    newest: Ranges,
    bytes: u64,
    peak: u64,
    /// Writes that some member lacks.
    lacking: u64,
}

/// Bytes that the cache holds of a command: only writes have data.
pub fn bytes_of(command: Command) -> u64 {
    if command.kind == Kind::Write { command.bytes } else { 0 }
}

impl Cache {
    /// Bytes that it holds.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }
    /// Most bytes that it has held.
    pub fn peak(&self) -> u64 {
        self.peak
    }
    /// The number of the next write.
    pub fn next(&self) -> u64 {
        self.first + self.kept.len() as u64
    }
    /// True if no member lacks a write.
    pub fn is_replicated(&self) -> bool {
        self.lacking == 0
    }
    /// A write that is kept.
    pub fn get(&mut self, number: u64) -> &mut Kept {
        &mut self.kept[(number - self.first) as usize]
    }

    /// Keeps a write that `members` members lack.
    pub fn keep(&mut self, command: Command, request: Option<HostId>, members: u32, swaps: u64) {
        let number = self.next();
        if command.kind.has_range() {
            self.newest.write(command.offset..command.end(), number);
        }
        self.bytes += bytes_of(command);
        self.peak = self.peak.max(self.bytes);
        self.lacking += 1;
        self.kept.push_back(Kept { command, request, lacking: members, swaps, is_released: false });
    }

    /// A member has answered a write. Returns true if none lacks it any more.
    pub fn answered(&mut self, number: u64) -> bool {
        let kept = self.get(number);
        kept.lacking -= 1;
        let is_replicated = kept.lacking == 0;
        self.lacking -= u64::from(is_replicated);
        is_replicated
    }

    /// Forgets a write that no member lacks.
    pub fn release(&mut self, number: u64) {
        let kept = self.get(number);
        assert!(kept.lacking == 0 && !kept.is_released, "a write is released once all have it");
        kept.is_released = true;
        let command = kept.command;
        self.bytes -= bytes_of(command);
        if command.kind.has_range() {
            self.newest.forget(command.offset..command.end(), number);
        }
        while self.kept.front().is_some_and(|kept| kept.is_released) {
            self.kept.pop_front();
            self.first += 1;
        }
    }

    /// Releases the writes that came before so many swaps and that no member lacks.
    pub fn release_before(&mut self, swaps: u64) {
        let mut number = self.first;
        while number < self.next() && self.get(number).swaps < swaps {
            let kept = self.get(number);
            if kept.lacking == 0 && !kept.is_released {
                self.release(number);
            }
            // Those behind it may be gone, too.
            number = (number + 1).max(self.first);
        }
    }

    /// The parts of a read that it has, and those that it does not have.
    pub fn within(&self, command: Command) -> (bool, Vec<Command>) {
        let parts = self.newest.within(command.offset..command.end());
        let has_some = parts.iter().any(|(_, number)| number.is_some());
        let outside = parts.into_iter().filter(|(_, number)| number.is_none());
        let part = |(range, _): (Range<u64>, _)| Command {
            offset: range.start,
            bytes: range.end - range.start,
            ..command
        };
        (has_some, outside.map(part).collect())
    }
}

/// Writes under way at a member, by number. There are at most as many as the plan's depth.
#[derive(Clone, Debug, Default)]
pub struct Sent(Vec<(u64, Command)>);

impl Sent {
    pub fn count(&self) -> u32 {
        self.0.len() as u32
    }
    pub fn add(&mut self, number: u64, command: Command) {
        self.0.push((number, command));
    }
    pub fn remove(&mut self, number: u64) {
        self.0.retain(|(of, _)| *of != number);
    }
    /// True if a command must wait for one of them: one to the same bytes, so that the newest data
    /// stays. A flush waits for all, and all wait for a flush.
    pub fn holds_back(&self, command: Command) -> bool {
        let meet = |(_, other): &(u64, Command)| {
            !(command.kind.has_range() && other.kind.has_range())
                || command.offset < other.end() && other.offset < command.end()
        };
        self.0.iter().any(meet)
    }
}

/// By member: the next write that it is sent, and those under way.
#[derive(Clone, Debug)]
pub struct Progress {
    pub next: Vec<u64>,
    pub sent: Vec<Sent>,
}

impl Progress {
    pub fn new(members: u32) -> Self {
        let members = members as usize;
        Self { next: vec![0; members], sent: vec![Sent::default(); members] }
    }
    /// The next write of a member, and those that it has under way.
    pub fn of(&mut self, member: MemberId) -> (&mut u64, &mut Sent) {
        let index = member.0 as usize;
        (&mut self.next[index], &mut self.sent[index])
    }
}
