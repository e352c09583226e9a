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
    /// Units written to the drive so far: the present time, on the clock of `closed_at`.
    pub now: u64,
    /// Units in a block.
    pub units_per_block: u32,
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
}

/// Chooses the block to rewrite.
pub trait PickOld {
    /// Returns the place of a block that fits, or `None` if none needs scrubbing. Given the same
    /// blocks it returns the same place.
    fn pick(&self, written: Written<'_>) -> Option<usize>;
}
