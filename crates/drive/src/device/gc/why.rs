//! Reasons why a collection gains no space.

use crate::device::Base;
use crate::device::gc::Gc;
use crate::device::tasks::Job;
use ftl::{BinId, BlockId};

/// The obstacle of a bin's collection that has no operation under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rest {
    /// Reads of a block whose valid data was moved.
    Readers(BlockId, u32),
    /// The end of a burst of reads, which this many erases wait for.
    Burst(usize),
    /// Its turn, to move data of a block.
    Turn(BlockId),
    /// Host writes, at whose rate it moves data.
    HostWrites,
    /// One of the firmware's tasks, which others have.
    Task,
    /// The end of other programs of its NVM set, whose number is limited.
    Pressure,
    /// A permit to copy, channels that it reserves, or its turn in a group of stripes.
    Permit,
    /// A channel that has nothing to do for hosts.
    Quiet,
    /// A block that gains space; the bin has this many free blocks and good ones.
    Victim { free: u32, good: u32 },
}

impl Gc {
    /// The obstacle of a bin's collection, if it has no operation under way.
    pub(in crate::device) fn why_rests(&self, base: &Base, bin: BinId) -> Rest {
        let (ftl, task) = (&base.space.ftl, base.space.task(bin));
        let awaits = || self.awaits_permit(base, bin);
        match (task.draining.first(), self.jobs[bin].victim, task.deferred.len()) {
            _ if base.space.awaits_credit(bin) => Rest::Pressure,
            // An erase that was requested and is no operation yet waits for a task, too.
            _ if self.jobs[bin].erases > 0 || base.awaits_task(Job::Collection(bin)) => Rest::Task,
            (Some(block), ..) => Rest::Readers(*block, ftl.reads_under_way(*block)),
            (_, Some(_), _) if self.jobs[bin].course.is_paused() && awaits() => Rest::Permit,
            _ if self.rests_at_pace(base, bin) => Rest::HostWrites,
            (_, Some(block), _) => Rest::Turn(block),
            (.., erases) if (erases == 0 || self.backlogs[bin].awaits_turn) && awaits() => {
                Rest::Permit
            }
            (.., 0) if self.await_quiet.contains(&bin) => Rest::Quiet,
            (.., 0) => Rest::Victim { free: ftl.free_blocks(bin), good: ftl.good_blocks(bin) },
            (.., erases) => Rest::Burst(erases),
        }
    }
}
