//! Requests of operations that are tasks, and their ends.

use crate::device::base::Base;
use crate::device::event::Event;
use crate::device::flash::op::{Class, Owner};
use crate::device::flash::{Ask, Placement};
use crate::device::ids::OpId;
use crate::device::tasks::{Job, Next, Step, TaskCounts};
use ftl::{BinId, SetId};
use metrics::State;

impl Base {
    /// Begins a task for an operation of a job, which requests it next. If it must wait, the job is
    /// called later.
    #[inline]
    pub fn takes_task(&mut self, job: Job, step: Step) -> bool {
        self.tasks.is_none() || self.takes_free_task(job, step)
    }

    #[cold]
    #[inline(never)]
    fn takes_free_task(&mut self, job: Job, step: Step) -> bool {
        let set = self.set_of_job(job);
        let (now, parked) = (self.time.now, self.space.parked_moves(set));
        self.tasks.as_mut().is_none_or(|tasks| tasks[set].take(now, (job, step), parked))
    }

    /// The NVM set that a job belongs to.
    pub fn set_of_job(&self, job: Job) -> SetId {
        match job {
            Job::Collection(bin) | Job::Scrubbing(bin) => self.set_of_bin(bin),
            Job::Patrol(set) => set,
        }
    }

    /// Gives a task of a set back that a job took, because there is nothing to be read or programmed.
    #[cold]
    pub fn give_task_back(&mut self, set: SetId) {
        if let Some(tasks) = &mut self.tasks {
            tasks[set].give_back(self.time.now);
        }
    }

    /// Begins a task that cannot wait: the parity of data of a bin whose program was requested.
    pub fn begin_task(&mut self, bin: BinId) {
        let set = self.set_of_bin(bin);
        if let Some(tasks) = &mut self.tasks {
            tasks[set].begin(self.time.now);
        }
    }

    /// Requests the erase of planes of a block as soon as a task is free.
    pub fn ask_erase(&mut self, ask: Ask) {
        let set = self.set_of_bin(ask.bin);
        let (now, parked) = (self.time.now, self.space.parked_moves(set));
        let ask = match &mut self.tasks {
            None => Some(ask),
            Some(tasks) => tasks[set].take_erase(now, ask, parked),
        };
        if let Some(ask) = ask {
            self.ask(ask);
        }
    }

    /// Requests the read of a member for a rebuild as soon as a task is free.
    pub fn ask_for_rebuild(&mut self, ask: Ask) {
        let set = self.set_of_bin(ask.bin);
        let (now, parked) = (self.time.now, self.space.parked_moves(set));
        let ask = match &mut self.tasks {
            None => Some(ask),
            Some(tasks) => tasks[set].take_member(now, ask, parked),
        };
        if let Some(ask) = ask {
            self.ask(ask);
        }
    }

    /// Notes that programs of a set which waited for free pages go on: they are tasks again.
    pub fn note_resumed_moves(&mut self, set: SetId) {
        let (now, parked) = (self.time.now, self.space.parked_moves(set));
        if let Some(tasks) = &mut self.tasks {
            tasks[set].note_parked(now, parked);
        }
    }

    /// Handles the end of an operation if it is a task: the task thinks now.
    #[cold]
    #[inline(never)]
    pub fn task_ended(&mut self, id: OpId) {
        let op = self.flash.op(id);
        // A read whose data was rebuilt has ended its task before.
        let (is_task, bin) = (op.is_collection() || op.is_member(), op.bin);
        if is_task && !self.flash.holds_nothing(id) {
            self.end_task(bin);
        }
    }

    /// Ends the task of a read of collection, or of scrubbing, whose data is rebuilt from now on: it must
    /// not keep tasks from the members.
    pub fn rebuilds_task(&mut self, id: OpId) {
        let op = self.flash.op(id);
        if self.tasks.is_some() && op.is_collection() {
            self.end_task(op.bin);
        }
    }

    /// Ends a task of a bin's set.
    fn end_task(&mut self, bin: BinId) {
        let set = self.set_of_bin(bin);
        let Some(tasks) = &mut self.tasks else { return };
        tasks[set].end(self.time.now);
        let at = self.time.now + tasks[set].think();
        self.time.agenda.schedule(at, Event::Think(set), 0);
    }

    /// A task of a set has thought.
    pub fn task_thought(&mut self, set: SetId) {
        if self.audit.is_some() {
            self.audit_tasks(set);
        }
        self.tasks.as_mut().expect("its event goes with it")[set].thought(self.time.now);
    }

    /// Requests operations of a set that wait, as long as a task is free; returns the next job to be
    /// called, if it is the turn of one.
    pub fn next_task(&mut self, set: SetId) -> Option<Job> {
        loop {
            let parked = self.space.parked_moves(set);
            let Self { time, tasks, flash, space, .. } = self;
            let is_foreground = |job| match job {
                Job::Collection(bin) => flash.class_of(space, bin) != Class::Background,
                Job::Scrubbing(bin) => space.class_of_scrubbing(bin) != Class::Background,
                Job::Patrol(_) => false,
            };
            match tasks.as_mut()?[set].next(time.now, parked, is_foreground)? {
                Next::Job(job) => return Some(job),
                Next::Erase(ask) => self.ask_late(ask),
                Next::Member(ask, since) => {
                    let waited = self.time.now - since;
                    let id = self.ask_late(ask);
                    if !self.flash.op(id).is_collection() {
                        self.flash.blame_mut(id).charge(State::TaskLimit, waited);
                    }
                    id
                }
            };
        }
    }

    /// Requests an operation that has waited, by the class that it has now.
    fn ask_late(&mut self, mut ask: Ask) -> OpId {
        let now = match ask.owner {
            Owner::ScrubErase | Owner::ScrubStripeRead(..) => {
                self.space.class_of_scrubbing(ask.bin)
            }
            Owner::CollectErase | Owner::CollectStripeRead(..) => self.class_of(ask.bin),
            _ => ask.class,
        };
        ask.class = ask.class.min(now);
        self.ask(ask)
    }

    /// The job of a set that was called has gone on.
    pub fn end_call(&mut self, set: SetId) {
        self.tasks.as_mut().expect("a job was called")[set].end_call();
    }

    /// Finds a task of a set that is free, although something waits for one.
    pub fn audit_free_task(&self, set: SetId) {
        let Some(tasks) = &self.tasks else { return };
        let is_vain = tasks[set].has_waiting() && tasks[set].is_free(self.space.parked_moves(set));
        assert!(!is_vain, "audit: tasks of {set:?} wait in vain");
    }

    /// True if a job waits for a task.
    pub fn awaits_task(&self, job: Job) -> bool {
        self.tasks.as_ref().is_some_and(|tasks| tasks[self.set_of_job(job)].awaits(job))
    }

    /// Counts of tasks up to now by NVM set, if they are limited.
    pub fn task_counts(&mut self) -> Option<Vec<TaskCounts>> {
        let now = self.time.now;
        self.tasks.as_mut().map(|tasks| tasks.iter_mut().map(|of| of.counts(now)).collect())
    }

    /// Compares the number of a set's tasks with the operations, one by one. No operation's end is being
    /// handled now.
    fn audit_tasks(&self, set: SetId) {
        let Some(tasks) = &self.tasks else { return };
        let tasks = &tasks[set];
        let is_rebuilt = |id| self.errors.as_ref().is_some_and(|errors| errors.is_rebuilt(id));
        let is_task = |id: &OpId| {
            let op = self.flash.op(*id);
            let is_own = self.set_of_bin(op.bin) == set;
            is_own && (op.is_collection() || op.is_member()) && !is_rebuilt(*id)
        };
        let [busy, thinking] = tasks.under_way();
        let found = self.flash.op_ids().iter().filter(|id| is_task(id)).count() as u32;
        assert_eq!(found, busy, "audit: tasks under way");
        let parked = self.space.bins().flat_map(|bin| self.space.parked(bin));
        let parked = parked.filter(|(id, _)| is_task(id)).count() as u32;
        let pressure = self.space.pressure.iter();
        let late = pressure.flat_map(|pressure| pressure.late(set)).filter(is_task);
        // Those that wait for a credit since are no tasks yet.
        let parked = parked + late.count() as u32;
        assert_eq!(parked, self.space.parked_moves(set), "audit: moves that wait for space");
        assert_eq!(parked, tasks.parked(), "audit: tasks that wait for space");
        if self.space.binds_early() {
            // One parity may come with the last program.
            let most = tasks.most() + 1;
            assert!(busy + thinking <= most, "audit: {busy} + {thinking} tasks, at most {most}");
        }
    }
}
