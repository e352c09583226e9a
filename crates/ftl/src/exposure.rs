//! Exposure of blocks since their erase, which errors depend on: the reads of each of their erase
//! blocks, and the time since their first program; and their re-reads. Recorded only if something depends on it.

use crate::blocks::BlockState;
use crate::ftl::Ftl;
use crate::ids::{Batch, BlockId};
use engine::{Column, bits};

/// Age of the data of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Age {
    /// Nanoseconds since its first program.
    Since(u64),
    /// It was programmed before its age was recorded: nanoseconds since then.
    SinceBefore(u64),
}

/// The value of a block that was programmed before recording began, at that moment. It grows with
/// time: values below [`FIRST_MOMENT`] count nanoseconds since then.
const BEFORE: i64 = i64::MIN;
/// The least value that is a moment, in nanoseconds.
const FIRST_MOMENT: i64 = i64::MIN / 2;
/// The value of a block without a program that took time since its erase.
const UNBORN: i64 = i64::MAX;

impl Ftl {
    /// Begins to record the exposure of blocks, if it is not recorded yet.
    pub fn record_exposure(&mut self) {
        let (blocks, planes) = (self.blocks.state.len(), self.layout.erase_blocks());
        if self.blocks.born.is_empty() {
            self.blocks.born = Column::filled(BEFORE, blocks);
        }
        if self.blocks.disturbed.is_empty() {
            self.blocks.disturbed = vec![0; blocks * planes as usize];
        }
        if self.blocks.re_reads.is_empty() {
            self.blocks.re_reads = vec![0; blocks];
        }
    }

    /// Begins the ages of data that was programmed in no time: it was there before the present
    /// moment. Free blocks have no age.
    pub fn settle_ages(&mut self) {
        let states = self.blocks.state.as_slice();
        for (born, state) in self.blocks.born.as_mut_slice().iter_mut().zip(states) {
            match (*state, *born) {
                (BlockState::Free, _) => *born = UNBORN,
                (_, UNBORN) => *born = BEFORE,
                _ => {}
            }
        }
    }
    /// Records that a program of a block has ended, which may be the first; `now` in nanoseconds.
    #[inline]
    pub fn note_program(&mut self, block: BlockId, now: u64) {
        let born = &mut self.blocks.born[block];
        if *born == UNBORN {
            *born = now as i64;
        }
    }
    /// Age of a block's data.
    #[inline]
    pub fn age(&self, block: BlockId, now: u64) -> Age {
        match self.blocks.born[block] {
            UNBORN => Age::Since(0),
            born if born < FIRST_MOMENT => Age::SinceBefore((born - BEFORE) as u64 + now),
            born => Age::Since((now as i64 - born) as u64),
        }
    }
    /// Sets the present moment to 0 for all ages.
    pub fn restart_ages(&mut self, now: u64) {
        let states = self.blocks.state.as_slice();
        for (born, state) in self.blocks.born.as_mut_slice().iter_mut().zip(states) {
            *born = match *born {
                UNBORN if *state == BlockState::Free => UNBORN,
                // What was written in no time was written just now.
                UNBORN => 0,
                before if before < FIRST_MOMENT => before + now as i64,
                moment => moment - now as i64,
            };
        }
    }

    /// Number over the drive of the erase block in a plane of a lane of a block; the lane is that of a
    /// batch.
    #[inline]
    pub fn erase_block(&self, at: Batch, plane: u32) -> usize {
        let of_lane = self.layout.lane(at.batch) * self.layout.block_planes + plane;
        at.block.0 as usize * self.layout.erase_blocks() as usize + of_lane as usize
    }
    /// Rows sensed in an erase block since its erase.
    #[inline]
    pub fn disturbed(&self, erase_block: usize) -> u32 {
        self.blocks.disturbed[erase_block]
    }
    /// Rows sensed in each erase block of a block since its erase.
    #[inline]
    pub fn disturbed_of(&self, block: BlockId) -> &[u32] {
        let first = self.erase_block(Batch { block, batch: 0 }, 0);
        &self.blocks.disturbed[first..first + self.layout.erase_blocks() as usize]
    }
    /// Counts a re-read of a block.
    #[inline]
    pub fn note_re_read(&mut self, block: BlockId) {
        self.blocks.re_reads[block.0 as usize] += 1;
    }
    /// Re-reads of a block since its erase.
    pub fn re_reads(&self, block: BlockId) -> u32 {
        self.blocks.re_reads[block.0 as usize]
    }
    /// Counts rows that were sensed in the erase blocks of a mask of planes, in the lane of a batch.
    #[inline]
    pub fn disturb(&mut self, at: Batch, planes: u64, rows: u32) {
        let first = self.erase_block(at, 0);
        for plane in bits(planes) {
            self.blocks.disturbed[first + plane] += rows;
        }
    }
    /// Forgets the exposure of an erased block.
    pub(crate) fn end_exposure(&mut self, block: BlockId) {
        self.blocks.born[block] = UNBORN;
        let first = self.erase_block(Batch { block, batch: 0 }, 0);
        let count = self.layout.erase_blocks() as usize;
        if let Some(of_block) = self.blocks.disturbed.get_mut(first..first + count) {
            of_block.fill(0);
        }
        if let Some(re_reads) = self.blocks.re_reads.get_mut(block.0 as usize) {
            *re_reads = 0;
        }
    }
}
