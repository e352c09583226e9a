//! Turn order of scrubbing, and what it did.

use engine::{Column, Span};
use ftl::{BinId, ScrubConfig};

/// State of the turn order.
#[derive(Clone, Debug)]
pub struct Turn {
    pub(super) interval: Span,
    pub(super) next: BinId,
    /// True once the first poll is due.
    pub(super) begun: bool,
    /// Blocks that were scrubbed one after the other without any other progress.
    pub(super) in_vain: u32,
    /// Commands under way, and flash operations other than scrubbing, at the last scrubbed block.
    pub(super) seen: (u32, u64),
    /// Results.
    pub(super) counts: ScrubCounts,
    /// Expected errors that the last poll of each bin found.
    pub(super) found: Column<BinId, Found>,
}

/// Counts of scrubbing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ScrubCounts {
    /// Times that the policy was asked, and that it took a block.
    pub polls: u64,
    /// See `polls`.
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

/// Expected errors of the codewords in the blocks of a bin, at a poll.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Found {
    /// The highest of all blocks with valid data.
    pub highest: f64,
    /// Blocks above the limit that the poll did not take.
    pub left: u32,
}

impl Found {
    /// What a poll found and took, for a policy with a limit.
    pub(super) fn new(expected: &[f64], above: f64, taken: Option<usize>) -> Self {
        let is_left = |(index, errors): &(usize, &f64)| **errors > above && taken != Some(*index);
        Self {
            highest: expected.iter().copied().fold(0.0, f64::max),
            left: expected.iter().enumerate().filter(is_left).count() as u32,
        }
    }
}

impl Turn {
    pub fn new(config: &ScrubConfig, bins: u32) -> Self {
        Self {
            interval: config.interval.span(),
            next: BinId(0),
            begun: false,
            in_vain: 0,
            seen: (0, 0),
            counts: ScrubCounts::default(),
            found: Column::filled(Found::default(), bins as usize),
        }
    }
    /// The same turn order in its initial state.
    pub fn begun_anew(&self) -> Self {
        Self { next: BinId(0), begun: false, in_vain: 0, seen: (0, 0), ..self.clone() }
    }

    /// Counts of scrubbing.
    pub fn counts(&self) -> ScrubCounts {
        self.counts
    }
    /// What the last polls of all bins found.
    pub fn found(&self) -> Found {
        let of_bins = self.found.as_slice().iter();
        of_bins.fold(Found::default(), |sum, of| Found {
            highest: f64::max(sum.highest, of.highest),
            left: sum.left + of.left,
        })
    }
}
