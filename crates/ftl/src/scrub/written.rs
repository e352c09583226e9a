//! Blocks that scrubbing may write anew, and the trait of the policies that pick one.

use crate::blocks::BARRED;

/// What a policy sees: the blocks of one bin, by their place in it.
#[derive(Clone, Copy, Debug)]
pub struct Written<'a> {
    /// Valid units of each block; blocks that may not be chosen stand above
    /// `units_per_block`.
    pub valid: &'a [u32],
    /// When each block was closed, in units written to the drive before.
    pub closed_at: &'a [u64],
    /// Rows sensed in each block since its last erase.
    pub sensed: &'a [u32],
    /// Erases of each block.
    pub erase_count: &'a [u32],
    /// Units written to the drive so far: the present, on the clock of `closed_at`.
    pub now: u64,
    /// Units in a block.
    pub units_per_block: u32,
    /// Valid units that there is room for.
    pub most_valid: u32,
}

impl Written<'_> {
    /// True where block `index` holds data and may be written anew.
    pub fn fits(&self, index: usize) -> bool {
        self.valid[index] > 0
            && self.valid[index] & BARRED == 0
            && self.valid[index] <= self.most_valid
    }
    /// The blocks that may be chosen.
    pub fn fitting(&self) -> impl Iterator<Item = usize> {
        (0..self.valid.len()).filter(|index| self.fits(*index))
    }
}

/// Picks the block to be written anew.
pub trait PickOld {
    /// The place of a block that fits, or `None` where none needs it. Given the same blocks
    /// it returns the same.
    fn pick(&self, written: Written<'_>) -> Option<usize>;
}
