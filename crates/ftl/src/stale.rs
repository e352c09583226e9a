//! Stale pages of a drive that has been in use: pages without valid data at the beginning of blocks,
//! laid while the drive is filled.

use crate::blocks::Source;
use crate::ftl::Ftl;
use crate::ids::{Batch, BinId};
use crate::streams::Stream;
use engine::Column;

/// Stale batches that are still to be laid.
pub(crate) struct Stale {
    /// Stale batches of a block that has some.
    of_block: u32,
    /// Batches of each bin that are to become stale.
    left: Column<BinId, u32>,
    /// Batches that were laid.
    laid: u64,
}

impl Stale {
    /// A share of the batches of each bin's good blocks; a share of those of each block that has
    /// any.
    pub fn new(ftl: &Ftl, share: f64, of_block: f64) -> Self {
        let batches = ftl.layout.batches_per_block;
        let whole = |of: f64| (of - 1e-6).ceil() as u32;
        let left = Column::from_fn(ftl.layout.bins as usize, |bin| {
            let all = ftl.good_blocks(bin) * batches;
            whole(f64::from(all) * share)
        });
        // One batch of each block is left for data.
        let of_block = whole(f64::from(batches) * of_block).min(batches - 1);
        Self { of_block, left, laid: 0 }
    }

    /// Lays the stale batches of a bin's next block, if the host is about to open it.
    pub fn lay(&mut self, ftl: &mut Ftl, bin: BinId) {
        if self.left[bin] == 0 || ftl.is_open(bin, Stream::Host) {
            return;
        }
        for _ in 0..self.of_block {
            let at = ftl.bind(bin, Stream::Host).expect("the bin has room for host data");
            ftl.pad(at);
        }
        self.laid += u64::from(self.of_block);
        self.left[bin] = self.left[bin].saturating_sub(self.of_block);
    }

    /// Batches that were laid.
    ///
    /// # Errors
    /// The first bin that has too few stale batches.
    pub fn laid(&self) -> Result<u64, BinId> {
        let missing = self.left.ids().find(|bin| self.left[*bin] > 0);
        missing.map_or(Ok(self.laid), Err)
    }
}

impl Ftl {
    /// Leaves a bound batch without data, and does not program it.
    pub fn skip(&mut self, at: Batch) {
        self.count(at.block, |tally| tally.skipped += 1);
        self.note_copied(None, at);
        self.finish(at);
    }

    /// Programs a bound batch without data.
    pub(crate) fn pad(&mut self, at: Batch) {
        let units = u64::from(self.layout.units_per_batch);
        self.count(at.block, |tally| tally.units[Source::Padding as usize] += units);
        self.note_copied(None, at);
        self.finish(at);
    }
}
