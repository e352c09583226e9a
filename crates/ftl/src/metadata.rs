//! The part of the metadata on flash that recovery needs and that is not in the map's columns:
//! versions, checkpoints, and the log of trims.

use crate::ids::{BlockId, Lpn, Ppn};
use engine::Column;

/// What recovery needs beside the map's own columns: 4 bytes a block and two bits a logical
/// unit; where checkpoints are all that keeps trims, a bit a physical unit.
#[derive(Clone)]
pub struct Persist {
    next_version: u32,
    /// Checkpoints that had been taken when the block was last closed or erased.
    changed: Column<BlockId, u32>,
    /// Checkpoints so far.
    pub checkpoints: u32,
    /// What was valid at the last one, bit `i` of word `i / 64` for a physical unit: the places
    /// that the map on flash leads to, where that is asked for.
    pub valid_then: Option<Vec<u64>>,
    /// The log of trims, by what it says: units that were trimmed and not written since, bit
    /// `i` of word `i / 64`.
    pub trimmed: Vec<u64>,
    /// Those among them that stay so without a log: the last checkpoint has them without data,
    /// or zeroes were written.
    pub gone: Vec<u64>,
}

/// True where bit `i` of word `i / 64` is set.
fn has(bits: &[u64], number: u32) -> bool {
    bits[number as usize / 64] >> (number % 64) & 1 == 1
}

impl Persist {
    /// Of a drive of so many blocks, whose next write has this version.
    pub fn new(blocks: usize, units: u32, next_version: u32) -> Self {
        Self {
            next_version,
            changed: Column::filled(0, blocks),
            checkpoints: 0,
            valid_then: None,
            trimmed: vec![0; units as usize / 64 + 1],
            gone: vec![0; units as usize / 64 + 1],
        }
    }
    /// The version that the next write has.
    pub fn next_version(&self) -> u32 {
        self.next_version
    }
    /// Goes on behind the newest version that recovery has found.
    pub fn go_on_after(&mut self, newest: u32) {
        self.next_version = newest.saturating_add(1);
    }
    #[inline]
    pub fn take_version(&mut self) -> u32 {
        let version = self.next_version;
        self.next_version = version.saturating_add(1);
        version
    }
    /// A block was closed or erased.
    #[inline]
    pub fn note_change(&mut self, block: BlockId) {
        self.changed[block] = self.checkpoints;
    }
    /// True where a block is not as the last checkpoint has it.
    pub fn has_changed(&self, block: BlockId) -> bool {
        self.changed[block] >= self.checkpoints
    }
    /// A unit was trimmed.
    #[inline]
    pub fn note_trim(&mut self, lpn: Lpn) {
        self.trimmed[lpn.0 as usize / 64] |= 1 << (lpn.0 % 64);
    }
    /// A unit that was trimmed stays so, log or not.
    #[inline]
    pub fn note_gone(&mut self, lpn: Lpn) {
        self.gone[lpn.0 as usize / 64] |= 1 << (lpn.0 % 64);
    }
    /// A unit that was trimmed, or never written, holds data.
    #[inline]
    pub fn note_fresh(&mut self, lpn: Lpn) {
        self.trimmed[lpn.0 as usize / 64] &= !(1 << (lpn.0 % 64));
        self.gone[lpn.0 as usize / 64] &= !(1 << (lpn.0 % 64));
    }
    pub fn is_trimmed(&self, lpn: Lpn) -> bool {
        has(&self.trimmed, lpn.0)
    }
    /// True where a unit that was trimmed and not written since stays so: any where there is
    /// a log of trims.
    pub fn stays_trimmed(&self, lpn: Lpn, is_logged: bool) -> bool {
        has(if is_logged { &self.trimmed } else { &self.gone }, lpn.0)
    }
    /// Nothing has changed since a checkpoint, which is the first.
    pub fn forget_checkpoints(&mut self) {
        self.changed.as_mut_slice().fill(0);
        (self.checkpoints, self.valid_then) = (0, None);
    }
    /// True where the last checkpoint leads to a place; nothing where that is not known.
    pub fn was_valid_then(&self, ppn: Ppn) -> Option<bool> {
        self.valid_then.as_ref().map(|valid| has(valid, ppn.0))
    }
    /// Bytes that it takes.
    pub fn bytes(&self) -> usize {
        let words = self.trimmed.len() + self.gone.len();
        let valid = self.valid_then.as_ref().map_or(0, Vec::len);
        self.changed.len() * 4 + (words + valid) * 8
    }
}
