//! Blocks that scrubbing may rewrite, and the trait of the policies that choose one.

use crate::blocks::BARRED;

/// View of a policy: the blocks of one bin, indexed by their place in it.
#[derive(Clone, Copy, Debug)]
pub struct Written<'a> {
    /// Valid units of each block; a block that may not be chosen has a value above
    /// `units_per_block`.
    pub valid: &'a [u32],
    /// Time at which each block was closed, in units written to the drive before.
    pub closed_at: &'a [u64],
    /// Rows sensed in each block since its last erase.
    pub sensed: &'a [u32],
    /// Erases of each block.
    pub erase_count: &'a [u32],
    /// Expected errors of a codeword in the worst erase block of each block with valid data. Empty
    /// without bit errors, or if the policy does not need it.
    pub expected_errors: &'a [f64],
    /// Re-reads of each block since its last erase. Empty without bit errors.
    pub re_reads: &'a [u32],
    /// Nanoseconds since the first program of each block with valid data. Empty without bit errors, or
    /// if the policy does not need it.
    pub data_age: &'a [u64],
    /// The place of the block whose turn it is, for policies that go round.
    pub turn: usize,
    /// Units written to the drive so far: the present time, on the clock of `closed_at`.
    pub now: u64,
    /// Units in a block.
    pub units_per_block: u32,
    /// Units in a page; less than 1 if a unit has several pages.
    pub units_per_page: f64,
    /// Most valid units for which there is free space.
    pub most_valid: u32,
}

impl Written<'_> {
    /// True if block `index` holds data and may be rewritten.
    pub fn fits(&self, index: usize) -> bool {
        self.valid[index] > 0
            && self.valid[index] & BARRED == 0
            && self.valid[index] <= self.most_valid
    }
    /// The blocks that may be chosen.
    pub fn fitting(&self) -> impl Iterator<Item = usize> {
        (0..self.valid.len()).filter(|index| self.fits(*index))
    }
    /// Pages that the valid data of a block fills.
    pub fn valid_pages(&self, index: usize) -> f64 {
        f64::from(self.valid[index]) / self.units_per_page
    }
    /// The block with the highest figure among those that may be chosen, if it is above a limit; the
    /// lowest number breaks ties.
    pub fn highest(&self, above: f64, figure: impl Fn(usize) -> f64) -> Option<usize> {
        let mut best = (above, None);
        for index in self.fitting() {
            let figure = figure(index);
            if figure > best.0 {
                best = (figure, Some(index));
            }
        }
        best.1
    }
}

/// The part of [`Written`] that the device adds at a poll.
#[derive(Clone, Copy, Debug, Default)]
pub struct Polled<'a> {
    /// The column [`Written::expected_errors`].
    pub expected_errors: &'a [f64],
    /// The column [`Written::data_age`].
    pub data_age: &'a [u64],
    /// The value of [`Written::turn`].
    pub turn: usize,
}

/// Needs of a policy besides the blocks.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Needs {
    /// True if flash must have bit errors.
    pub errors: bool,
    /// True if it looks at the column of expected errors, where flash has errors.
    pub expected_errors: bool,
    /// True if it looks at the column of data ages, where flash has errors.
    pub data_age: bool,
    /// Expected errors of a codeword above which a block is to be rewritten, if it has such a limit.
    pub above: Option<f64>,
    /// If a page of the block is to be read first: the number of re-reads that this must need for the
    /// block to be taken.
    pub patrol: Option<u32>,
}

/// Chooses the block to rewrite.
pub trait PickOld {
    /// Returns the place of a block that fits, or `None` if none needs scrubbing. Given the same
    /// blocks it returns the same place.
    fn pick(&self, written: Written<'_>) -> Option<usize>;
    /// Its needs besides the blocks.
    fn needs(&self) -> Needs {
        Needs::default()
    }
}
