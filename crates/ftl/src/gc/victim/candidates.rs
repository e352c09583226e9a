//! Candidates for collection, and the trait of the policies that choose among them.

use crate::blocks::BARRED;
use engine::Stream;

/// View of a policy: the blocks of one bin, indexed by their place in it.
#[derive(Clone, Copy)]
pub struct Candidates<'a> {
    /// Valid units of each block; a block that may not be chosen has a value above
    /// `units_per_block`.
    pub valid: &'a [u32],
    /// Time at which each block was closed, in units written to the drive before.
    pub closed_at: &'a [u64],
    /// Units written to the drive so far: the present time, on the clock of `closed_at`.
    pub now: u64,
    /// Units in a block.
    pub units_per_block: u32,
    /// Most valid units at which collecting a block still gains a batch: moved units fill whole
    /// batches, so a gain below a batch is none.
    pub most_valid: u32,
}

impl Candidates<'_> {
    /// True if collecting block `index` gains space.
    #[inline]
    pub fn gains(&self, index: usize) -> bool {
        self.valid[index] <= self.most_valid
    }
    /// True if block `index` is closed or has no valid unit, that is: it is free, or all its
    /// units have been moved.
    pub(super) fn is_closed_or_free(&self, index: usize) -> bool {
        self.valid[index] <= self.units_per_block || self.valid[index] == BARRED
    }
    /// The blocks that may be chosen and gain space.
    pub fn gaining(&self) -> impl Iterator<Item = usize> {
        (0..self.valid.len()).filter(|index| self.gains(*index))
    }
    /// Blocks in the bin.
    pub fn len(&self) -> usize {
        self.valid.len()
    }
    /// True for a bin without blocks.
    pub fn is_empty(&self) -> bool {
        self.valid.is_empty()
    }
}

/// Picks the block to be collected next.
pub trait Choose {
    /// Returns the place of a block that gains space, or `None` if no block does. Given the same
    /// candidates and numbers it returns the same block.
    fn choose(&self, candidates: Candidates<'_>, numbers: &mut Stream) -> Option<usize>;
}
