//! Collection and scrubbing where the number of the firmware's tasks, or of programs, is limited.

use crate::device::Base;
use crate::device::gc::Gc;
use crate::device::tasks::{Job, Step};
use ftl::{Batch, BinId, SetId};

impl Gc {
    /// A task of a set has thought: others go on.
    #[cold]
    #[inline(never)]
    pub(in crate::device) fn thought(&mut self, base: &mut Base, set: SetId) {
        base.task_thought(set);
        self.go_on_with_tasks(base, set);
    }

    /// Lets those of a set go on that wait for a task, as long as one is free.
    #[cold]
    #[inline(never)]
    pub(in crate::device) fn go_on_with_tasks(&mut self, base: &mut Base, set: SetId) {
        while let Some(job) = base.next_task(set) {
            match job {
                Job::Collection(bin) => {
                    self.write_whole_batches(base, bin);
                    self.collect(base, bin);
                }
                Job::Scrubbing(bin) => self.scrub_on(base, bin),
                Job::Patrol(set) => self.go_on_polling(base, set),
            }
            base.end_call(set);
        }
    }

    /// True if the move of a batch may begin. None does while a batch that was read waits for a task or a
    /// credit; and a copy-back is a program.
    #[inline]
    pub(super) fn may_move(&self, base: &mut Base, bin: BinId, at: Batch, valid: u64) -> bool {
        base.tasks.is_none() && base.space.pressure.is_none()
            || self.may_move_within_limits(base, bin, at, valid)
    }

    #[cold]
    #[inline(never)]
    fn may_move_within_limits(&self, base: &mut Base, bin: BinId, at: Batch, valid: u64) -> bool {
        if self.jobs[bin].staged.len() >= base.space.ftl.layout.units_per_batch as usize {
            return false;
        }
        match self.copies_back(base, bin, at, valid) {
            true => base.begins_program(Job::Collection(bin), Step::Read),
            false => base.takes_task(Job::Collection(bin), Step::Read),
        }
    }
}
