//! Failed flash: bins that can no longer be read or written. Units whose pages lie there are *lost*;
//! the map still leads there, until new data or data computed from the rest of their stripes is
//! elsewhere.

use crate::ftl::Ftl;
use crate::ids::{BinId, Lpn, PoolId, Ppn};
use crate::layout::Layout;

impl Ftl {
    /// Marks a bin as failed. Nothing must be bound there any more, except what was asked for before.
    pub fn fail(&mut self, bin: BinId) {
        self.failed.mark(bin, self.layout.bins);
    }
    /// True if some bin has failed.
    #[inline]
    pub fn has_failed_bins(&self) -> bool {
        self.failed.has_some()
    }
    /// True if a bin has failed.
    #[inline]
    pub fn is_failed(&self, bin: BinId) -> bool {
        self.failed.has(bin)
    }
    /// True if a pool has failed: all of its bins fail together.
    pub fn has_failed(&self, pool: PoolId) -> bool {
        self.is_failed(self.layout.bins_of(pool)[0])
    }
    /// True if a page lies in a bin that has failed.
    #[inline]
    pub fn is_lost(&self, ppn: Ppn) -> bool {
        self.has_failed_bins() && self.is_failed(self.layout.bin(self.layout.block(ppn)))
    }
    /// Takes a placed unit back, whose page is lost.
    ///
    /// # Panics
    /// If it is not placed.
    pub fn take_back(&mut self, lpn: Lpn) {
        let ppn = self.detached.placed.remove(&lpn).expect("it is placed");
        self.invalidate(ppn);
    }
    /// Units of which the page is placed, and lost.
    pub fn placed_and_lost(&self) -> Vec<Lpn> {
        let placed = self.detached.placed.iter();
        placed.filter(|(_, ppn)| self.is_lost(**ppn)).map(|(lpn, _)| *lpn).collect()
    }
    /// Most units that may be valid in a bin so that collection can always pass the thresholds that it
    /// has to pass, if `open` blocks are being written.
    pub fn most_units(&self, bin: BinId, open: u32) -> u64 {
        let [foreground, _, stop] = self.thresholds.in_blocks();
        let passed = if self.thresholds.may_end_early() { foreground } else { stop };
        most_units(&self.layout, self.good_blocks(bin).saturating_sub(open + passed + 1))
    }
}

/// Most valid units of which `closed` blocks hold all, and one block more has an invalid batch,
/// however they lie.
fn most_units(layout: &Layout, closed: u32) -> u64 {
    let (block, batch) = (u64::from(layout.units_per_block()), u64::from(layout.units_per_batch));
    let closed = u64::from(closed);
    (closed * block).min(((closed + 1) * (block - batch + 1)).saturating_sub(1))
}
