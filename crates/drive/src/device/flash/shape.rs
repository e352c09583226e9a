//! The shape of what operations carry, and how long rows of it take on a channel.

use engine::{Span, count_bits};
use ftl::Layout;
use nand::Timing;

/// The shape of batches and blocks, and the durations that follow from it, computed once.
#[derive(Clone)]
pub(in crate::device) struct Shape {
    /// Rows of a batch, and of a block: pages of each of its erase blocks.
    pub rows_per_batch: u32,
    pub rows_per_block: u32,
    pub batches_per_block: u32,
    /// Whether a block ends with a summary.
    pub summary_page: bool,
    /// All planes of a block, and all slots of a batch.
    pub all_planes: u64,
    pub whole_batch: u64,
    /// Bytes of a row that hold data of one unit.
    pub unit_in_row: u64,
    /// By number of chunks, which move as a whole: a mapping unit, or a page where
    /// units are larger.
    pub(in crate::device) chunks: Vec<Span>,
    /// By number of units, of one row of theirs.
    pub(in crate::device) units: Vec<Span>,
    /// Of a block's summary, its command included.
    pub(in crate::device) summary: Span,
}

impl Shape {
    pub(in crate::device) fn new(layout: &Layout, timing: &Timing) -> Self {
        let chunk = layout.unit_bytes.min(layout.page_bytes);
        let in_row = layout.unit_bytes.min(layout.row_bytes());
        let up_to = |count: u64, bytes: u64| {
            (0..=count).map(|count| timing.transfer(count * bytes)).collect()
        };
        Self {
            rows_per_batch: layout.rows_per_batch,
            rows_per_block: layout.rows_per_block,
            batches_per_block: layout.batches_per_block,
            summary_page: layout.summary_page,
            all_planes: layout.all_planes(),
            whole_batch: layout.whole_batch(),
            unit_in_row: in_row,
            chunks: up_to(layout.row_bytes() / chunk, chunk),
            units: up_to(u64::from(layout.units_per_batch), in_row),
            summary: timing.transfer(SUMMARY_BYTES)
                + timing.cycles.map_or(Span::ZERO, |cycles| cycles.program),
        }
    }
    /// Channel time of a row of the units of a batch that a mask names.
    #[inline]
    pub(in crate::device) fn of_units(&self, mask: u64) -> Span {
        self.units[count_bits(mask) as usize]
    }
    /// Channel time of a row.
    pub(in crate::device) fn of_row(&self) -> Span {
        self.chunks[self.chunks.len() - 1]
    }
    /// Channel time of a row of a whole batch.
    #[inline]
    pub(in crate::device) fn of_batch(&self) -> Span {
        self.units[self.units.len() - 1]
    }
}

/// Bytes of a summary that cross the channel: a sector, as in the simulator of ATC'08.
const SUMMARY_BYTES: u64 = 512;
