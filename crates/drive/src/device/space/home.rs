//! State of a bin that placement needs.

use crate::device::ids::OpId;
use crate::device::space::waits::SpaceSnapshot;
use ftl::BlockId;

/// Host programs on their way to a bin.
#[derive(Clone, Default)]
pub struct Home {
    /// Its place in its pool's turn order.
    pub(in crate::device) place: u32,
    /// True if there is space for another batch; and true if the bin can take one now.
    pub(super) roomy: bool,
    pub(in crate::device) available: bool,
    /// Programs that were asked for and have not ended.
    pub(in crate::device) queued: u32,
    /// Programs that were asked for and are not bound to a page.
    pub(super) unbound: u32,
    /// Programs that were next when there was no page.
    pub parked: Vec<(OpId, SpaceSnapshot)>,
    /// State of the bin's collection that placement needs.
    pub task: Task,
}

/// State of a bin's collection that placement needs.
#[derive(Clone, Debug, Default)]
pub struct Task {
    /// True from a threshold (or an idle gap) until enough is free.
    pub running: bool,
    /// Units that a paced collection still owes to host writes. Below zero, it has moved more.
    pub debt: i32,
    /// The part of the debt that is less than a unit, in 256ths.
    pub fraction: u32,
    /// Units whose moves gain as much space as a host's batch takes, from the last victim.
    pub pace: u32,
    /// True if the present victim, or the last one, is scrubbed.
    pub scrubs: bool,
    /// True if scrubbing, as a task of its own, goes first because only its end frees space: it may use
    /// the space of collection, which begins nothing meanwhile.
    pub scrub_goes_first: bool,
    /// True if a block was collected before the one that is scrubbed now.
    pub collected_before: bool,
    /// A block was scrubbed since a host program last found a page.
    pub scrubbed_last: bool,
    /// Victims that were read whole and wait to be erased.
    pub draining: Vec<BlockId>,
    /// Blocks that are ready to be erased and wait for a burst of reads to end.
    pub deferred: Vec<BlockId>,
}
