//! Strain on the flash: copy-backs in a row, sensed rows and interruptions, as far as they are
//! counted.

use crate::ftl::Ftl;
use crate::ids::{Batch, BlockId};
use engine::Column;

impl Ftl {
    /// Sets the most copy-backs in a row, which are counted from now on.
    pub(crate) fn limit_copies(&mut self, most: Option<u8>) {
        self.copies_most = most;
        if most.is_some() && self.blocks.copied.is_empty() {
            let batches = self.layout.blocks() as usize * self.layout.batches_per_block as usize;
            self.blocks.copied = vec![0; batches];
        }
    }

    fn copied_at(&self, at: Batch) -> usize {
        at.block.0 as usize * self.layout.batches_per_block as usize + at.batch as usize
    }
    /// True if a batch may be copied back once more.
    #[inline]
    pub fn may_be_copied(&self, at: Batch) -> bool {
        self.copies_most.is_none_or(|most| self.blocks.copied[self.copied_at(at)] < most)
    }
    /// Records that a batch was written at `to`: as a copy-back of `from`, or with corrected or
    /// new data.
    #[inline]
    pub fn note_copied(&mut self, from: Option<Batch>, to: Batch) {
        if !self.blocks.copied.is_empty() {
            self.count_copied(from, to);
        }
    }
    #[inline(never)]
    fn count_copied(&mut self, from: Option<Batch>, to: Batch) {
        let count =
            from.map_or(0, |from| self.blocks.copied[self.copied_at(from)].saturating_add(1));
        let to = self.copied_at(to);
        self.blocks.copied[to] = count;
    }

    /// Begins to count the wear of interruptions.
    pub fn count_strain(&mut self) {
        if self.blocks.strain.is_empty() {
            self.blocks.strain = Column::filled([0; 2], self.blocks.state.len());
        }
    }
    /// Adds the wear of an interruption to a block: `ramps` pairs of ramp and recovery, and
    /// `pulses` that are asserted again.
    pub fn note_strain(&mut self, block: BlockId, ramps: u32, pulses: u32) {
        let [all_ramps, all_pulses] = &mut self.blocks.strain[block];
        *all_ramps = all_ramps.saturating_add(ramps);
        *all_pulses = all_pulses.saturating_add(pulses);
    }
    /// Wear of interruptions since the drive was new, by block: extra pairs of ramp and recovery,
    /// and pulses that were asserted again. Empty if they are not counted.
    pub fn strain(&self) -> &[[u32; 2]] {
        self.blocks.strain.as_slice()
    }
    /// Counts sensed rows of a block.
    #[inline]
    pub fn note_sensed(&mut self, block: BlockId, rows: u32) {
        if let Some(sensed) = self.blocks.sensed.as_mut_slice().get_mut(block.0 as usize) {
            *sensed = sensed.saturating_add(rows);
        }
    }
}
