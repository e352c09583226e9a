//! Bins that have failed.

use crate::ids::BinId;

/// Failed bins.
#[derive(Clone, Default)]
pub struct Failed {
    /// By bin; empty as long as none has failed.
    bins: Vec<bool>,
}

impl Failed {
    /// Marks a bin, of `count` bins, as failed.
    pub fn mark(&mut self, bin: BinId, count: u32) {
        self.bins.resize(count as usize, false);
        self.bins[bin.0 as usize] = true;
    }
    /// True if some bin has failed.
    #[inline]
    pub fn has_some(&self) -> bool {
        !self.bins.is_empty()
    }
    /// True if a bin has failed.
    #[inline]
    pub fn has(&self, bin: BinId) -> bool {
        self.has_some() && self.bins[bin.0 as usize]
    }
}
