//! Turn order of scrubbing in an NVM set, and what it did.

use engine::Span;
use ftl::{BinId, Layout, ScrubConfig, SetId};
use std::iter::Sum;

/// State of the turn order.
#[derive(Clone, Debug)]
pub struct Turn {
    pub(super) interval: Span,
    /// The bins of the set, and the place of the one that is polled next.
    pub(super) bins: Vec<BinId>,
    pub(super) next: usize,
    /// True once the first poll is due.
    pub(super) begun: bool,
    /// Blocks that were scrubbed one after the other without any other progress.
    pub(super) in_vain: u32,
    /// Commands under way, and flash operations other than scrubbing, at the last scrubbed block.
    pub(super) seen: (u32, u64),
    /// Results.
    pub(super) counts: ScrubCounts,
    /// Expected errors that the last poll of each bin found.
    pub(super) found: Vec<Found>,
}

/// Counts of scrubbing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ScrubCounts {
    /// Times that the policy was asked.
    pub polls: u64,
    /// Times that the policy took a block.
    pub taken: u64,
    /// Blocks that were moved and erased.
    pub blocks: u64,
}

impl ScrubCounts {
    /// Counts since `earlier`.
    pub fn since(&self, earlier: &Self) -> Self {
        Self {
            polls: self.polls - earlier.polls,
            taken: self.taken - earlier.taken,
            blocks: self.blocks - earlier.blocks,
        }
    }
}

impl Sum for ScrubCounts {
    fn sum<I: Iterator<Item = Self>>(counts: I) -> Self {
        counts.fold(Self::default(), |sum, of| Self {
            polls: sum.polls + of.polls,
            taken: sum.taken + of.taken,
            blocks: sum.blocks + of.blocks,
        })
    }
}

/// Expected errors of the codewords in the blocks of a bin, at a poll.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Found {
    /// The highest of all blocks with valid data.
    pub highest: f64,
    /// Blocks above the limit that the poll did not take.
    pub left: u32,
}

impl Found {
    /// The result of a poll, for a policy with a limit.
    pub(super) fn new(expected: &[f64], above: f64, taken: Option<usize>) -> Self {
        let is_left = |(index, errors): &(usize, &f64)| **errors > above && taken != Some(*index);
        Self {
            highest: expected.iter().copied().fold(0.0, f64::max),
            left: expected.iter().enumerate().filter(is_left).count() as u32,
        }
    }
}

impl Sum for Found {
    fn sum<I: Iterator<Item = Self>>(found: I) -> Self {
        found.fold(Self::default(), |sum, of| Self {
            highest: f64::max(sum.highest, of.highest),
            left: sum.left + of.left,
        })
    }
}

impl Turn {
    pub fn new(config: &ScrubConfig, layout: &Layout, set: SetId) -> Self {
        let is_own = |bin: &BinId| layout.set_of_bin(*bin) == set;
        let bins: Vec<BinId> = (0..layout.bins).map(BinId).filter(is_own).collect();
        Self {
            interval: config.interval.span(),
            next: 0,
            begun: false,
            in_vain: 0,
            seen: (0, 0),
            counts: ScrubCounts::default(),
            found: vec![Found::default(); bins.len()],
            bins,
        }
    }
    /// A copy of the turn order in its initial state.
    pub fn begun_anew(&self) -> Self {
        Self { next: 0, begun: false, in_vain: 0, seen: (0, 0), ..self.clone() }
    }

    /// The bin that is polled now; the next one is polled next time.
    pub(super) fn take_next(&mut self) -> BinId {
        let bin = self.bins[self.next];
        self.next = (self.next + 1) % self.bins.len();
        bin
    }
    /// Notes what a poll of a bin found.
    pub(super) fn note_found(&mut self, bin: BinId, found: Found) {
        let place = self.bins.binary_search(&bin).expect("a bin of the set");
        self.found[place] = found;
    }

    /// Counts of scrubbing.
    pub fn counts(&self) -> ScrubCounts {
        self.counts
    }
    /// Sum of the results of the last polls of all bins.
    pub fn found(&self) -> Found {
        self.found.iter().copied().sum()
    }
}
