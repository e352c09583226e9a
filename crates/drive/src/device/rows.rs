//! How long rows take on a channel.

use engine::Span;
use ftl::Layout;
use nand::Timing;

/// Durations that follow from the shape of a batch, computed once.
#[derive(Clone)]
pub(super) struct RowTiming {
    /// By number of chunks, which move as a whole: a mapping unit, or a page where
    /// units are larger.
    pub(super) chunks: Vec<Span>,
    /// By number of units, of one row of theirs.
    pub(super) units: Vec<Span>,
    /// Of a block's summary.
    pub(super) summary: Span,
}

impl RowTiming {
    pub(super) fn new(layout: &Layout, timing: &Timing) -> Self {
        let chunk = layout.unit_bytes.min(layout.page_bytes);
        let in_row = layout.unit_bytes.min(layout.row_bytes());
        let up_to = |count: u64, bytes: u64| {
            (0..=count).map(|count| timing.transfer(count * bytes)).collect()
        };
        Self {
            chunks: up_to(layout.row_bytes() / chunk, chunk),
            units: up_to(u64::from(layout.units_per_batch), in_row),
            summary: timing.transfer(SUMMARY_BYTES),
        }
    }
    /// Channel time of a row of the units of a batch that a mask names.
    #[inline]
    pub(super) fn of_units(&self, mask: u64) -> Span {
        self.units[mask.count_ones() as usize]
    }
    /// Channel time of a row.
    pub(super) fn of_row(&self) -> Span {
        self.chunks[self.chunks.len() - 1]
    }
    /// Channel time of a row of a whole batch.
    #[inline]
    pub(super) fn of_batch(&self) -> Span {
        self.units[self.units.len() - 1]
    }
}

/// Bytes of a summary that cross the channel: a sector, as in the simulator of ATC'08.
const SUMMARY_BYTES: u64 = 512;
