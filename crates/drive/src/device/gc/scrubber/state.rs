//! State of the task.

use engine::{Column, Instant};
use ftl::{BinId, BlockId, BySet, Layout, ScrubConfig, ScrubTask};
use settings::Rate;
use std::collections::VecDeque;

/// The task, if it is one of its own.
#[derive(Clone)]
pub struct Scrubber {
    // ---- constant ----
    /// Most moves of a block that are under way.
    pub(super) window: u32,
    /// Most data that is moved in a time in each NVM set, if that is limited.
    pub(super) rate: Option<Rate>,
    // ---- state ----
    pub(super) jobs: Column<BinId, ScrubJob>,
    pub(super) polls: BySet<Polls>,
    /// True once the drive is being shut down.
    pub(super) ends: bool,
}

/// Polls of an NVM set.
#[derive(Clone)]
pub struct Polls {
    /// Bins with a pending poll, the oldest first.
    pub(super) pending: VecDeque<BinId>,
    /// The moment from which the next block may be begun, and that of the scheduled event.
    pub(super) due: Instant,
    pub(super) event_at: Instant,
}

impl Polls {
    /// No poll is pending, and no block is begun before `due`.
    fn from(due: Instant) -> Self {
        Self { pending: VecDeque::new(), due, event_at: Instant::NEVER }
    }
}

/// Scrubbing of one bin.
#[derive(Clone, Default)]
pub struct ScrubJob {
    /// The block that is moved and erased, and the next batch to examine.
    pub(super) block: Option<BlockId>,
    pub(super) next: u32,
    /// True if all of its valid data has been asked to be read.
    pub(super) is_read: bool,
    pub(super) reads: u32,
    pub(super) writes: u32,
    /// Units that were read and not yet asked to be written: logical unit and old place.
    pub(super) staged: Vec<[u32; 2]>,
    /// Lanes of the block that are being erased.
    pub(super) erases: u32,
    /// The block of which a page is being read to find out if it is to be scrubbed.
    pub(super) patrolled: Option<BlockId>,
    /// The place of the block that is read next, and the rounds that are over.
    pub(super) turn: u32,
    pub(super) rounds: u32,
}

impl Scrubber {
    /// The task of a drive, if scrubbing has one of its own.
    pub fn new(config: Option<&ScrubConfig>, layout: &Layout) -> Option<Box<Self>> {
        let config = config.filter(|config| config.task == ScrubTask::Own)?;
        Some(Box::new(Self {
            window: config.window.unwrap_or(1),
            rate: config.rate,
            jobs: Column::from_fn(layout.bins as usize, |_| ScrubJob::default()),
            polls: BySet::from_fn(layout.set_count(), |_| Polls::from(Instant::START)),
            ends: false,
        }))
    }
    /// A copy of the state while nothing is scrubbed.
    pub fn begun_anew(&self) -> Box<Self> {
        Box::new(Self {
            jobs: Column::from_fn(self.jobs.len(), |_| ScrubJob::default()),
            polls: BySet::from_fn(self.polls.count(), |set| Polls::from(self.polls[set].due)),
            ..*self
        })
    }
}

impl Scrubber {
    /// The place of the block of a bin whose turn it is.
    pub fn turn_of(&self, bin: BinId) -> usize {
        self.jobs[bin].turn as usize
    }
    /// Sets with a scheduled event, because the rate does not allow their next block yet.
    pub fn awaiting_rate(&self) -> u32 {
        self.polls.iter().filter(|polls| polls.event_at != Instant::NEVER).count() as u32
    }
}

impl ScrubJob {
    /// Moves that are being read or written.
    pub(super) fn under_way(&self) -> u32 {
        self.reads + self.writes
    }
}
