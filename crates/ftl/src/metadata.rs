//! Metadata for recovery that is not in the columns of the map: versions, checkpoints, and the
//! log of trims.

use crate::ids::{BlockId, Lpn, Ppn};
use engine::Column;

/// Metadata for recovery beside the columns of the map: 4 bytes per block and two bits per
/// logical unit. If only checkpoints keep trims, also a bit per physical unit.
#[derive(Clone)]
pub struct Persist {
    next_version: u32,
    /// Number of checkpoints taken before the block was last closed or erased.
    changed: Column<BlockId, u32>,
    /// Number of checkpoints so far.
    pub checkpoints: u32,
    /// Physical units that were valid at the last checkpoint: bit `i` of word `i / 64`. These are
    /// the places in the map on flash. Kept only if trims or an audit need it.
    pub valid_then: Option<Vec<u64>>,
    /// Content of the log of trims: units that were trimmed and not written since, bit `i` of
    /// word `i / 64`.
    pub trimmed: Vec<u64>,
    /// Units of `trimmed` that stay trimmed without a log: the last checkpoint has them without
    /// data, or zeroes were written to them.
    pub gone: Vec<u64>,
    /// True if trims of subunits outlast a power cut.
    pub trims_stay: bool,
}

/// True if bit `i` of word `i / 64` is set.
fn has(bits: &[u64], number: u32) -> bool {
    bits[number as usize / 64] >> (number % 64) & 1 == 1
}

impl Persist {
    /// Metadata of a drive with this many blocks and units, whose next write has this version.
    pub fn new(blocks: usize, units: u32, next_version: u32) -> Self {
        Self {
            next_version,
            changed: Column::filled(0, blocks),
            checkpoints: 0,
            valid_then: None,
            trimmed: vec![0; units as usize / 64 + 1],
            gone: vec![0; units as usize / 64 + 1],
            trims_stay: false,
        }
    }
    /// Version of the next write.
    pub fn next_version(&self) -> u32 {
        self.next_version
    }
    /// Continues after the newest version that recovery has found.
    pub fn go_on_after(&mut self, newest: u32) {
        self.next_version = newest.saturating_add(1);
    }
    #[inline]
    pub fn take_version(&mut self) -> u32 {
        let version = self.next_version;
        self.next_version = version.saturating_add(1);
        version
    }
    /// Records that a block was closed or erased.
    #[inline]
    pub fn note_change(&mut self, block: BlockId) {
        self.changed[block] = self.checkpoints;
    }
    /// True if a block differs from the last checkpoint.
    pub fn has_changed(&self, block: BlockId) -> bool {
        self.changed[block] >= self.checkpoints
    }
    /// Records that a unit was trimmed.
    #[inline]
    pub fn note_trim(&mut self, lpn: Lpn) {
        self.trimmed[lpn.0 as usize / 64] |= 1 << (lpn.0 % 64);
    }
    /// Records that a trimmed unit stays trimmed with or without a log.
    #[inline]
    pub fn note_gone(&mut self, lpn: Lpn) {
        self.gone[lpn.0 as usize / 64] |= 1 << (lpn.0 % 64);
    }
    /// Records that a unit which was trimmed, or never written, holds data.
    #[inline]
    pub fn note_fresh(&mut self, lpn: Lpn) {
        self.trimmed[lpn.0 as usize / 64] &= !(1 << (lpn.0 % 64));
        self.gone[lpn.0 as usize / 64] &= !(1 << (lpn.0 % 64));
    }
    pub fn is_trimmed(&self, lpn: Lpn) -> bool {
        has(&self.trimmed, lpn.0)
    }
    /// True if a unit that was trimmed and not written since stays trimmed after a power cut.
    /// With a log of trims every such unit does.
    pub fn stays_trimmed(&self, lpn: Lpn, is_logged: bool) -> bool {
        has(if is_logged { &self.trimmed } else { &self.gone }, lpn.0)
    }
    /// Makes the present state that of the first checkpoint.
    pub fn forget_checkpoints(&mut self) {
        self.changed.as_mut_slice().fill(0);
        (self.checkpoints, self.valid_then) = (0, None);
    }
    /// True if a physical unit was valid at the last checkpoint; `None` if that is not kept.
    pub fn was_valid_then(&self, ppn: Ppn) -> Option<bool> {
        self.valid_then.as_ref().map(|valid| has(valid, ppn.0))
    }
    /// Bytes of the metadata.
    pub fn bytes(&self) -> usize {
        let words = self.trimmed.len() + self.gone.len();
        let valid = self.valid_then.as_ref().map_or(0, Vec::len);
        self.changed.len() * 4 + (words + valid) * 8
    }
}
