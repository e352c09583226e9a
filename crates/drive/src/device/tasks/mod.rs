//! The firmware's tasks: operations of collection, wear-leveling and scrubbing, and reads for rebuilds,
//! of which only some may be under way at a time in each NVM set (`ftl.tasks`).
//!
//! A task lasts from the request of its operation until the operation has ended, and then for the time
//! to think. What would begin one more waits: operations that are requested later as they are, and jobs,
//! which are called when a task is free. A task that is free goes to what may free memory or space
//! first: to an erase or a program, and before that, in turns, to a read for a rebuild.

mod asking;
#[cfg(test)]
mod tests;

use crate::device::flash::Ask;
use engine::{Instant, Span};
use ftl::{BinId, SetId, TasksConfig};
use std::collections::VecDeque;
use std::iter::Sum;

/// Work that begins operations one by one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Job {
    /// The collection of a bin.
    Collection(BinId),
    /// The scrubbing of a bin, as a task of its own.
    Scrubbing(BinId),
    /// Reads of scrubbing in an NVM set that find out if a block is to be moved.
    Patrol(SetId),
}

/// The operation that a job would begin next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// A read, or a copy-back: it begins a move, or a patrol.
    Read,
    /// A program of data that was read.
    Program,
}

/// The next one for a task that is free.
#[derive(Debug)]
pub enum Next {
    /// The read of a member for a rebuild, and the moment from which it has waited.
    Member(Ask, Instant),
    /// An erase.
    Erase(Ask),
    /// A job, which takes a task if it still needs one.
    Job(Job),
}

/// An erase or a program that waits.
#[derive(Clone, Debug)]
enum Write {
    Erase(Ask),
    Program(Job),
}

/// Tasks of an NVM set that are under way, and what waits for one.
#[derive(Clone)]
pub struct Tasks {
    // ---- constant ----
    most: u32,
    think: Span,
    // ---- state ----
    /// Tasks whose operation has been requested and has not ended, and those that think.
    busy: u32,
    thinking: u32,
    /// Tasks among the busy ones whose program waits for a free page: they do not count.
    parked: u32,
    /// Reads of members for rebuilds, each with the moment from which it waits; erases and programs; and
    /// jobs that would begin a read. The oldest is first.
    members: VecDeque<(Ask, Instant)>,
    writes: VecDeque<Write>,
    reads: VecDeque<Job>,
    /// The job that was called, until it takes its task.
    called: Option<(Job, Step)>,
    /// True if the last task that others waited for, too, went to a rebuild.
    rebuilt_last: bool,
    counts: TaskCounts,
    /// The moment up to which time is counted.
    counted: Instant,
}

/// Counts of tasks, and times.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TaskCounts {
    /// Tasks that have begun.
    pub begun: u64,
    /// Number of tasks whose operation was under way, integrated over time in nanoseconds. Programs
    /// that waited for a free page are left out.
    pub busy_ns: u128,
    /// Number of tasks that thought, integrated over time in nanoseconds.
    pub thinking_ns: u128,
    /// Time for which no task was free.
    pub full: Span,
    /// Greatest number at a time, unless that time was no longer than a moment.
    pub greatest: u32,
}

impl TaskCounts {
    /// Counts since `earlier`; the greatest number is that of the later ones.
    pub fn since(&self, earlier: &Self) -> Self {
        Self {
            begun: self.begun - earlier.begun,
            busy_ns: self.busy_ns - earlier.busy_ns,
            thinking_ns: self.thinking_ns - earlier.thinking_ns,
            full: self.full - earlier.full,
            greatest: self.greatest,
        }
    }
}

/// Counts of several NVM sets together: the greatest number is that of any set.
impl Sum for TaskCounts {
    fn sum<I: Iterator<Item = Self>>(counts: I) -> Self {
        counts.fold(Self::default(), |sum, of| Self {
            begun: sum.begun + of.begun,
            busy_ns: sum.busy_ns + of.busy_ns,
            thinking_ns: sum.thinking_ns + of.thinking_ns,
            full: sum.full + of.full,
            greatest: sum.greatest.max(of.greatest),
        })
    }
}

impl Tasks {
    /// No task is under way yet.
    pub fn new(config: &TasksConfig) -> Self {
        Self {
            most: config.most,
            think: config.think(),
            busy: 0,
            thinking: 0,
            parked: 0,
            members: VecDeque::new(),
            writes: VecDeque::new(),
            reads: VecDeque::new(),
            called: None,
            rebuilt_last: false,
            counts: TaskCounts::default(),
            counted: Instant::START,
        }
    }

    /// Forgets all tasks, because the power is cut.
    pub fn begin_anew(&mut self, now: Instant) {
        self.count_time(now);
        let Self { busy, thinking, parked, members, writes, reads, .. } = self;
        (*busy, *thinking, *parked) = (0, 0, 0);
        members.clear();
        writes.clear();
        reads.clear();
        (self.called, self.rebuilt_last) = (None, false);
    }

    /// Time for which a task thinks.
    pub fn think(&self) -> Span {
        self.think
    }
    /// Most tasks at a time.
    pub fn most(&self) -> u32 {
        self.most
    }
    /// Tasks whose program waits for a free page.
    pub fn parked(&self) -> u32 {
        self.parked
    }
    /// Tasks whose operation is under way or waits for a free page, and those that think.
    pub fn under_way(&self) -> [u32; 2] {
        [self.busy, self.thinking]
    }
    /// True if a job waits for a task.
    pub fn awaits(&self, job: Job) -> bool {
        let programs = |write: &Write| matches!(write, Write::Program(of) if *of == job);
        self.reads.contains(&job) || self.writes.iter().any(programs)
    }
    /// True if reads for rebuilds wait for a task.
    pub fn holds_members(&self) -> bool {
        !self.members.is_empty()
    }
    /// True if an operation, or a job, waits for a task.
    pub fn has_waiting(&self) -> bool {
        !(self.members.is_empty() && self.writes.is_empty() && self.reads.is_empty())
    }
    /// True if a task is free, while programs of so many tasks wait for free pages: those do not count,
    /// because the pages may come from others.
    pub fn is_free(&self, parked: u32) -> bool {
        self.busy + self.thinking < self.most + parked
    }

    // ---- beginnings --------------------------------------------------------------------

    /// Begins a task for a job; false if it must wait. It is called then.
    pub fn take(&mut self, now: Instant, (job, step): (Job, Step), parked: u32) -> bool {
        self.note_parked(now, parked);
        let is_called = self.called == Some((job, step));
        if !self.is_free(parked) || !is_called && self.has_waiting() {
            self.wait(job, step);
            return false;
        }
        if is_called {
            self.called = None;
        }
        self.begin(now);
        true
    }

    fn wait(&mut self, job: Job, step: Step) {
        match step {
            Step::Read if self.reads.contains(&job) => {}
            Step::Read => self.reads.push_back(job),
            Step::Program => {
                let is_own = |write: &Write| matches!(write, Write::Program(of) if *of == job);
                if !self.writes.iter().any(is_own) {
                    self.writes.push_back(Write::Program(job));
                }
            }
        }
    }

    /// Begins a task for the read of a member, and returns it; or holds it back.
    pub fn take_member(&mut self, now: Instant, ask: Ask, parked: u32) -> Option<Ask> {
        self.note_parked(now, parked);
        if self.is_free(parked) && !self.has_waiting() {
            self.begin(now);
            return Some(ask);
        }
        self.members.push_back((ask, now));
        None
    }

    /// Begins a task for an erase, and returns it; or holds it back.
    pub fn take_erase(&mut self, now: Instant, ask: Ask, parked: u32) -> Option<Ask> {
        self.note_parked(now, parked);
        if self.is_free(parked) && !self.has_waiting() {
            self.begin(now);
            return Some(ask);
        }
        self.writes.push_back(Write::Erase(ask));
        None
    }

    /// Begins a task, whether one is free or not.
    pub fn begin(&mut self, now: Instant) {
        self.count_time(now);
        self.busy += 1;
        self.counts.begun += 1;
    }

    /// Takes back a task that had begun for a job, which does not need it.
    pub fn give_back(&mut self, now: Instant) {
        self.count_time(now);
        self.busy -= 1;
        self.counts.begun -= 1;
    }

    // ---- ends --------------------------------------------------------------------------

    /// The operation of a task has ended: the task thinks from now on.
    pub fn end(&mut self, now: Instant) {
        self.count_time(now);
        self.busy -= 1;
        self.thinking += 1;
    }

    /// A task has thought: it is over.
    pub fn thought(&mut self, now: Instant) {
        self.count_time(now);
        self.thinking -= 1;
    }

    /// The next one to go on, if a task is free and something waits. Operations begin their task,
    /// and a job may take it until [`Tasks::end_call`].
    pub fn next(
        &mut self,
        now: Instant,
        parked: u32,
        is_foreground: impl Fn(Job) -> bool,
    ) -> Option<Next> {
        self.note_parked(now, parked);
        if !self.has_waiting() || !self.is_free(parked) {
            return None;
        }
        let foreground = self.reads.iter().position(|job| is_foreground(*job));
        let others = !self.writes.is_empty() || foreground.is_some();
        let rebuilds_go_first = !self.rebuilt_last || !others;
        if rebuilds_go_first && let Some((ask, since)) = self.members.pop_front() {
            self.rebuilt_last = others;
            self.begin(now);
            return Some(Next::Member(ask, since));
        }
        self.rebuilt_last = false;
        let (job, step) = match self.writes.pop_front() {
            Some(Write::Erase(ask)) => {
                self.begin(now);
                return Some(Next::Erase(ask));
            }
            Some(Write::Program(job)) => (job, Step::Program),
            None => (self.reads.remove(foreground.unwrap_or(0))?, Step::Read),
        };
        self.called = Some((job, step));
        Some(Next::Job(job))
    }

    /// The job that was called has gone on.
    pub fn end_call(&mut self) {
        self.called = None;
    }

    // ---- counts ------------------------------------------------------------------------

    /// Notes the number of programs that wait for free pages from now on.
    pub fn note_parked(&mut self, now: Instant, parked: u32) {
        if self.parked != parked {
            self.count_time(now);
            self.parked = parked;
        }
    }

    fn count_time(&mut self, now: Instant) {
        let passed = now - self.counted;
        if passed.is_zero() {
            return;
        }
        self.counted = now;
        let ns = u128::from(passed.as_ns());
        let busy = self.busy - self.parked;
        self.counts.busy_ns += ns * u128::from(busy);
        self.counts.thinking_ns += ns * u128::from(self.thinking);
        let under_way = busy + self.thinking;
        self.counts.greatest = self.counts.greatest.max(under_way);
        if under_way >= self.most {
            self.counts.full += passed;
        }
    }

    /// Counts up to now.
    pub fn counts(&mut self, now: Instant) -> TaskCounts {
        self.count_time(now);
        self.counts
    }

    /// Begins a new greatest number.
    pub fn begin_counting(&mut self, now: Instant) {
        self.count_time(now);
        self.counts.greatest = 0;
    }
}
