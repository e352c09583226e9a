//! Shapes of batches and blocks, and transfer times of their rows on a channel.

use engine::{Span, count_bits, low_bits};
use ftl::Layout;
use nand::Timing;
use std::ops::Range;

/// The shape of batches and blocks, and the durations that follow from it, computed once.
#[derive(Clone)]
pub(in crate::device) struct Shape {
    /// Rows of a batch, and of a block: pages of each of its erase blocks.
    pub rows_per_batch: u32,
    pub rows_per_block: u32,
    pub batches_per_block: u32,
    /// True if a block ends with a summary.
    pub summary_page: bool,
    /// All planes of a block, and all slots of a batch.
    pub all_planes: u64,
    pub whole_batch: u64,
    /// Bytes of a row that hold data of one unit.
    pub unit_in_row: u64,
    /// Rows of one unit.
    unit_rows: u64,
    /// Bytes that lie in one page as a piece: a mapping unit, or a page if units are larger.
    chunk_bytes: u64,
    /// Bytes that a read transfers as a whole: a codeword of a chunk, or a chunk.
    word_bytes: u64,
    /// Transfer times by number of words, of one row at most.
    pub(in crate::device) words: Vec<Span>,
    /// Transfer times by number of units, of one of their rows.
    pub(in crate::device) units: Vec<Span>,
    /// Transfer time of a block's summary, its command included.
    pub(in crate::device) summary: Span,
}

impl Shape {
    pub(in crate::device) fn new(layout: &Layout, timing: &Timing) -> Self {
        let chunk_bytes = layout.unit_bytes.min(layout.page_bytes);
        let word_bytes = timing.codeword_bytes.unwrap_or(chunk_bytes);
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
            unit_rows: layout.unit_bytes / in_row,
            chunk_bytes,
            word_bytes,
            words: up_to(layout.row_bytes() / word_bytes, word_bytes),
            units: up_to(u64::from(layout.units_per_batch), in_row),
            summary: timing.transfer(SUMMARY_BYTES)
                + timing.cycles.map_or(Span::ZERO, |cycles| cycles.program),
        }
    }
    /// Words of a chunk that begins at `start` which a range of bytes touches.
    #[inline]
    pub(in crate::device) fn words_of(&self, start: u64, from: u64, to: u64) -> u32 {
        if self.word_bytes == self.chunk_bytes {
            return 1;
        }
        let (from, to) = (from.max(start), to.min(start + self.chunk_bytes));
        (to.div_ceil(self.word_bytes) - from / self.word_bytes) as u32
    }
    /// Words of a unit that some of its parts, of `bytes` each, lie in.
    pub(in crate::device) fn words_of_parts(&self, parts: u64, bytes: u64) -> u32 {
        self.runs(parts, bytes).map(|run| (run.end - run.start) as u32).sum()
    }
    /// Bytes of a unit's beginning up to each end of the words that some of its parts lie in.
    pub(in crate::device) fn ranges(
        &self,
        parts: u64,
        bytes: u64,
    ) -> impl Iterator<Item = Range<u64>> {
        let word = self.word_bytes;
        self.runs(parts, bytes).map(move |run| run.start * word..run.end * word)
    }
    /// Words of a unit that some of its parts, of `bytes` each, lie in, run by run. No two runs overlap.
    fn runs(&self, mut parts: u64, bytes: u64) -> impl Iterator<Item = Range<u64>> {
        let (word, mut behind) = (self.word_bytes, 0);
        std::iter::from_fn(move || {
            if parts == 0 {
                return None;
            }
            let first = parts.trailing_zeros();
            let count = (parts >> first).trailing_ones();
            parts &= !(low_bits(count) << first);
            let (from, to) = (u64::from(first) * bytes, u64::from(first + count) * bytes);
            let run = (from / word).max(behind)..to.div_ceil(word);
            behind = run.end.max(behind);
            Some(run)
        })
        .filter(|run| run.start < run.end)
    }
    /// Bytes of a number of words.
    #[inline]
    pub(in crate::device) fn bytes_of(&self, words: u32) -> u64 {
        u64::from(words) * self.word_bytes
    }
    /// Channel time of a row of the units of a batch in a mask.
    #[inline(always)]
    pub(in crate::device) fn of_units(&self, mask: u64) -> Span {
        self.units[count_bits(mask) as usize]
    }
    /// Rows of a unit.
    pub(in crate::device) fn rows_of_unit(&self) -> u64 {
        self.unit_rows
    }
    /// Channel time of a row.
    pub(in crate::device) fn of_row(&self) -> Span {
        self.words[self.words.len() - 1]
    }
    /// Channel time of a row of a whole batch.
    #[inline]
    pub(in crate::device) fn of_batch(&self) -> Span {
        self.units[self.units.len() - 1]
    }
}

/// Bytes of a summary that cross the channel: a sector, as in the simulator of ATC'08.
const SUMMARY_BYTES: u64 = 512;
