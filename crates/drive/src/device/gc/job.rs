//! State of a bin's collection.

use engine::{Instant, Span};
use ftl::BlockId;

/// Garbage collection of one bin. The fields that every move reads are in the first cache line.
#[derive(Clone, Default)]
#[repr(C, align(64))]
pub struct Job {
    /// The block whose valid data is being read, and the next batch to examine.
    pub(in crate::device) victim: Option<BlockId>,
    pub(in crate::device) next: u32,
    pub(in crate::device) reads: u32,
    pub(in crate::device) writes: u32,
    pub(in crate::device) course: Course,
    /// A poll of scrubbing is due.
    pub(in crate::device) look: bool,
    /// Another one came due while it waited.
    pub(in crate::device) look_is_late: bool,
    /// A block was collected since one was last scrubbed.
    pub(in crate::device) collected: bool,
    /// Copy-backs of the victim would gain no space: its data goes through the controller.
    pub(in crate::device) by_controller: bool,
    /// Units that were read and not yet written: logical unit and the place it was read from.
    pub(in crate::device) staged: Vec<[u32; 2]>,
    /// Blocks that are being erased, and the commands of these erases that have ended.
    pub(in crate::device) erases: u32,
    pub(in crate::device) erase_commands: u32,
    /// Superblocks that are being erased, and the number of their lanes that are not yet.
    pub(in crate::device) lanes_left: Vec<(BlockId, u32)>,
    /// Victims of collection that are not erased yet, and the moment of each choice.
    pub(in crate::device) chosen: Vec<(BlockId, Instant)>,
}

/// Cause of a bin's collection, and its pause.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Course {
    /// The bin needs space.
    #[default]
    Needed,
    /// A group was idle.
    Idle,
    /// A group was idle, but other operations wait by now: nothing is under way, and the permit and
    /// the turn were given back. It asks for them again before it goes on.
    IdlePaused,
    /// As `IdlePaused`, and the bin needs space by now.
    NeededPaused,
}

impl Course {
    /// The course of this collection if its bin needs space.
    pub(super) fn needed(self) -> Self {
        if self.is_paused() { Self::NeededPaused } else { Self::Needed }
    }
    /// True if it yields to operations that wait.
    pub(super) fn yields(self) -> bool {
        matches!(self, Self::Idle | Self::IdlePaused)
    }
    /// True if it has given its permit and its turn back.
    pub(super) fn is_paused(self) -> bool {
        matches!(self, Self::IdlePaused | Self::NeededPaused)
    }
}

impl Job {
    /// Moves that are being read or written.
    #[inline]
    pub fn under_way(&self) -> u32 {
        self.reads + self.writes
    }
    /// True if no unit is being moved and no block erased.
    pub(super) fn is_idle(&self) -> bool {
        let nothing = self.reads + self.writes + self.erases == 0;
        nothing && self.victim.is_none() && self.staged.is_empty()
    }
    /// True while some data of its victim has not been asked to be written.
    pub(super) fn is_moving(&self) -> bool {
        self.victim.is_some() || self.reads > 0 || !self.staged.is_empty()
    }
}

/// Erases of a bin that are ready and wait, and the time of the next poll.
#[derive(Clone)]
pub struct Backlog {
    /// Time that host reads had used the unit at the last poll.
    pub(super) read: Span,
    pub(super) look: Instant,
    /// True if they need not wait for the end of a burst any more, but for their turn.
    pub(super) awaits_turn: bool,
}

impl Default for Backlog {
    fn default() -> Self {
        Self { read: Span::ZERO, look: Instant::NEVER, awaits_turn: false }
    }
}
