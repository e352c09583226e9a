//! Why a collection gives no space.

use crate::device::Base;
use crate::device::gc::Gc;
use ftl::{BinId, BlockId};

/// What a bin's collection waits for that has no operation under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rest {
    /// Reads of a block whose valid data was moved.
    Readers(BlockId, u32),
    /// The end of a burst of reads, which so many erases wait for.
    Burst(usize),
    /// Its turn, to move data of a block.
    Turn(BlockId),
    /// A block that gains space, as its bin has so many free blocks and good ones.
    Victim { free: u32, good: u32 },
}

impl Gc {
    /// What a bin's collection waits for, where it has no operation under way.
    pub(in crate::device) fn why_rests(&self, base: &Base, bin: BinId) -> Rest {
        let (ftl, task) = (&base.space.ftl, base.space.task(bin));
        match (task.draining.first(), self.jobs[bin].victim, task.deferred.len()) {
            (Some(block), ..) => Rest::Readers(*block, ftl.reads_under_way(*block)),
            (_, Some(block), _) => Rest::Turn(block),
            (.., 0) => Rest::Victim { free: ftl.free_blocks(bin), good: ftl.good_blocks(bin) },
            (.., erases) => Rest::Burst(erases),
        }
    }
}
