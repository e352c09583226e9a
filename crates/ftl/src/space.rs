//! Space: the free space of a bin, its level of scarcity, and the place that is written next.

use crate::blocks::{Bin, BlockState, Migration, Open};
use crate::ftl::Ftl;
use crate::gc::Level;
use crate::ids::{Batch, BinId, BlockId};
use crate::scrub::{Needs, ScrubChoice};
use crate::streams::{RESERVE, Stream};

/// Error: a bin has no place for a batch of the stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Full;

impl Ftl {
    /// Units bound in an open block so far.
    pub fn bound_units(&self, block: BlockId) -> u32 {
        let open = self.bins[self.layout.bin(block)].open;
        let next = open.iter().find(|open| open.block == Some(block)).map_or(0, |open| open.next);
        next * self.layout.units_per_batch
    }
    /// Free blocks of a bin.
    #[inline]
    pub fn free_blocks(&self, bin: BinId) -> u32 {
        self.bins[bin].free()
    }
    /// Free blocks of the drive.
    pub fn free_blocks_in_all(&self) -> u32 {
        self.bins.as_slice().iter().map(Bin::free).sum()
    }
    /// Units that can still be written in a bin before a block must be erased.
    pub fn free_units(&self, bin: BinId) -> u32 {
        let layout = &self.layout;
        if layout.has_superblocks() {
            return self.free_data_units(bin);
        }
        let open: u32 = self.bins[bin]
            .open
            .iter()
            .filter(|open| open.block.is_some())
            .map(|open| (layout.batches_per_block - open.next) * layout.units_per_batch)
            .sum();
        self.bins[bin].free() * layout.units_per_block() + open
    }
    /// Free units as a threshold in pages counts them: 0 if the host cannot write, although
    /// collection may still have an open block.
    #[inline(never)]
    fn counted_units(&self, bin: BinId) -> u32 {
        if self.can_bind(bin, Stream::Host) { self.free_units(bin) } else { 0 }
    }
    /// Blocks of a bin that are not retired.
    pub fn good_blocks(&self, bin: BinId) -> u32 {
        self.layout.blocks_per_bin() - self.bins[bin].bad
    }
    /// Level of free space in a bin.
    #[inline]
    pub fn level(&self, bin: BinId) -> Level {
        self.thresholds.level(self.bins[bin].free(), || self.counted_units(bin))
    }
    /// Units that hosts can write in a bin until foreground GC is due, if nothing is collected.
    pub fn units_before_foreground(&self, bin: BinId) -> u32 {
        let state = &self.bins[bin];
        let open = &state.open[Stream::Host.row(self.shared).open];
        let left = self.left_in(open) * self.layout.units_per_batch;
        let room = self.room(bin, Stream::Host) * self.layout.units_per_batch;
        let units = || self.counted_units(bin);
        self.thresholds.units_before_foreground(state.free(), left, units).min(room)
    }
    /// True if a collection of the bin may stop.
    #[inline]
    pub fn has_enough(&self, bin: BinId) -> bool {
        self.thresholds.enough(self.bins[bin].free(), || self.counted_units(bin))
    }
    /// True if a collection may stop once `coming` more blocks become free.
    #[inline]
    pub fn has_enough_with(&self, bin: BinId, coming: u32) -> bool {
        let units = coming * self.layout.data_units(Stream::Host);
        self.thresholds.enough(self.bins[bin].free() + coming, || self.counted_units(bin) + units)
    }
    /// Units that a collection must gain in addition to `coming` blocks before it may stop.
    pub fn lacks_with(&self, bin: BinId, coming: u32) -> u32 {
        let units = coming * self.layout.data_units(Stream::Host);
        self.thresholds.lacks(self.bins[bin].free() + coming, || self.counted_units(bin) + units)
    }
    /// True if a collection could stop once the open blocks of a bin were closed and `new` free
    /// blocks were opened instead.
    pub(crate) fn has_enough_for(&self, bin: BinId, new: u32) -> bool {
        let free = self.bins[bin].free();
        // New open blocks are free pages, too.
        let units = || free * self.layout.data_units(Stream::Host);
        free >= new + RESERVE && self.thresholds.enough(free - new, units)
    }
    /// True if a threshold counts pages, so that every write may reach it.
    #[inline]
    pub fn counts_pages(&self) -> bool {
        self.thresholds.count_pages()
    }
    /// The thresholds of collection, as free blocks: foreground, background, stop.
    pub fn thresholds_in_blocks(&self) -> [u32; 3] {
        self.thresholds.in_blocks()
    }

    /// True if [`Ftl::bind`] would succeed.
    #[inline(always)]
    pub fn can_bind(&self, bin: BinId, stream: Stream) -> bool {
        let (row, state) = (stream.row(self.shared), &self.bins[bin]);
        if row.migrates && state.migration.is_some() && self.next_of_migration(bin).is_some() {
            return true;
        }
        state.free() >= row.least
            && (state.open[row.open].block.is_some() || state.free() > row.leaves)
            || row.goes_on_in.is_some_and(|other| self.can_bind_in_others(bin, other))
    }

    /// As [`Ftl::can_bind`], in open blocks of the stream's own alone.
    pub fn can_bind_apart(&self, bin: BinId, stream: Stream) -> bool {
        let (row, state) = (stream.row(self.shared), &self.bins[bin]);
        state.free() >= row.least
            && (state.open[row.open].block.is_some() || state.free() > row.leaves)
    }

    #[cold]
    fn can_bind_in_others(&self, bin: BinId, other: Stream) -> bool {
        self.can_bind(bin, other)
    }

    /// The next place in a worn block of a migration, if moved data goes there.
    #[cold]
    fn next_of_migration(&self, bin: BinId) -> Option<Batch> {
        match self.bins[bin].migration {
            Some(Migration::Takes { to, next, from: Some(_) })
                if next < self.layout.batches_per_block =>
            {
                Some(Batch { block: to, batch: next })
            }
            _ => None,
        }
    }

    /// Batches that a stream can bind in a bin before a block must be erased.
    pub fn room(&self, bin: BinId, stream: Stream) -> u32 {
        let (row, state) = (stream.row(self.shared), &self.bins[bin]);
        if state.free() < row.least {
            return 0;
        }
        if self.layout.has_superblocks() {
            return self.data_room(bin, stream);
        }
        let per_block = self.layout.batches_per_block;
        let open = &state.open[row.open];
        let left = open.block.map_or(0, |_| per_block - open.next);
        left + match row.goes_on_in {
            None => state.free().saturating_sub(row.leaves) * per_block,
            // The other stream's room includes the free blocks that this stream may open.
            Some(other) => self.room(bin, other),
        }
    }

    /// As [`Ftl::room`], in open blocks of the stream's own alone.
    pub fn room_apart(&self, bin: BinId, stream: Stream) -> u32 {
        let (row, state) = (stream.row(self.shared), &self.bins[bin]);
        let may_open = state.free().saturating_sub(row.leaves);
        self.left_in(&state.open[row.open]) + may_open * self.layout.data_batches(stream)
    }

    /// Binds the next batch of the stream's open block, and opens a block if needed. The caller
    /// writes the batch and then calls [`Ftl::finish`].
    ///
    /// # Errors
    /// [`Full`] if a block would have to be erased first.
    #[inline(always)]
    pub fn bind(&mut self, bin: BinId, stream: Stream) -> Result<Batch, Full> {
        let (row, state) = (stream.row(self.shared), &self.bins[bin]);
        if state.free() < row.least {
            return Err(Full);
        }
        if row.migrates
            && state.migration.is_some()
            && let Some(at) = self.take_of_migration(bin)
        {
            return Ok(at);
        }
        let block = match self.bins[bin].open[row.open].block {
            Some(block) => block,
            None => match (self.open_block(bin, stream), row.goes_on_in) {
                (Ok(block), _) => block,
                (Err(Full), Some(other)) => return self.bind_in_others(bin, other),
                (Err(Full), None) => return Err(Full),
            },
        };
        let open = &mut self.bins[bin].open[row.open];
        let batch = Batch { block, batch: open.next };
        open.next += 1;
        if open.next == self.layout.batches_per_block {
            *open = Open::default();
        } else if self.layout.has_superblocks() {
            self.pass_parity(bin, row.open);
        }
        Ok(batch)
    }

    /// Takes the next place in a worn block of a migration, if moved data goes there.
    #[cold]
    fn take_of_migration(&mut self, bin: BinId) -> Option<Batch> {
        let at = self.next_of_migration(bin)?;
        if let Some(Migration::Takes { next, .. }) = &mut self.bins[bin].migration {
            *next += 1;
        }
        Some(at)
    }

    /// True if a block of the bin is open for the stream.
    pub(crate) fn is_open(&self, bin: BinId, stream: Stream) -> bool {
        self.bins[bin].open[stream.row(self.shared).open].block.is_some()
    }

    /// Streams with an open block of their own in each bin that hosts write to.
    pub(crate) fn streams_of_bins(&self) -> &'static [Stream] {
        if self.shared { &[Stream::Host] } else { &[Stream::Host, Stream::Gc] }
    }

    /// Opens a block for a stream that has none open.
    #[inline(never)]
    pub(crate) fn open_block(&mut self, bin: BinId, stream: Stream) -> Result<BlockId, Full> {
        let (row, state) = (stream.row(self.shared), &mut self.bins[bin]);
        let order = self.free_order;
        if state.free() <= row.leaves {
            return Err(Full);
        }
        let block = state.take(order).expect("a bin with free blocks gives one");
        state.open[row.open] = Open { block: Some(block), next: 0 };
        self.blocks.state[block] = BlockState::Open;
        self.blocks.unwritten[block] = self.layout.batches_per_block;
        if self.layout.has_superblocks() {
            self.blocks.width[block] = self.layout.of_superblocks().width(stream);
        }
        Ok(block)
    }

    #[cold]
    fn bind_in_others(&mut self, bin: BinId, other: Stream) -> Result<Batch, Full> {
        self.bind(bin, other)
    }

    /// The place in its block of the next batch that [`Ftl::bind`] would bind.
    pub fn next_place(&self, bin: BinId, stream: Stream) -> u32 {
        let open = &self.bins[bin].open[stream.row(self.shared).open];
        open.block.map_or(0, |_| open.next)
    }

    /// The block in which [`Ftl::bind`] would bind the next batch, if it can.
    pub fn next_block(&self, bin: BinId, stream: Stream) -> Option<BlockId> {
        let (row, state) = (stream.row(self.shared), &self.bins[bin]);
        if row.migrates
            && state.migration.is_some()
            && let Some(at) = self.next_of_migration(bin)
        {
            return Some(at.block);
        }
        match row.goes_on_in {
            Some(other) if state.open[row.open].block.is_none() && state.free() <= row.leaves => {
                self.next_block(bin, other)
            }
            _ => state.open[row.open].block.or_else(|| state.first_free()),
        }
    }

    /// The stream that scrubbing writes to.
    #[inline]
    pub fn scrub_stream(&self) -> Stream {
        self.scrubs_to
    }

    /// Needs of the policy of scrubbing besides the blocks.
    pub fn scrub_needs(&self) -> Needs {
        self.scrub.as_ref().map(ScrubChoice::needs).unwrap_or_default()
    }

    /// Closes the open blocks of scrubbing as they are, because scrubbing has none of its own any
    /// more. No write is in progress.
    pub(crate) fn close_scrubbed(&mut self) {
        for bin in self.bins.ids() {
            let open = std::mem::take(&mut self.bins[bin].open[Stream::Scrub as usize]);
            if let Some(block) = open.block {
                self.blocks.unwritten[block] = 0;
                self.close(block);
                self.close_early(block, self.layout.first_row(open.next));
            }
        }
    }
}
