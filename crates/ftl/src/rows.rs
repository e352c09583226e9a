//! Superblocks in operation: the stripes of their rows, parity that is due, and erase blocks that
//! replace failed ones. The arithmetic is in `superblocks`.

use crate::blocks::{BlockState, Open, Source};
use crate::ftl::Ftl;
use crate::ids::{Batch, BinId, BlockId};
use crate::streams::Stream;

impl Ftl {
    /// Batches of data that an open block can still take.
    pub(crate) fn left_in(&self, open: &Open) -> u32 {
        match (open.block, &self.layout.superblocks) {
            (None, _) => 0,
            (Some(_), None) => self.layout.batches_per_block - open.next,
            (Some(_), Some(_)) => self.data_left(open),
        }
    }
    /// As [`Ftl::left_in`], of superblocks.
    fn data_left(&self, open: &Open) -> u32 {
        let Some(block) = open.block else { return 0 };
        let superblocks = self.layout.of_superblocks();
        let before = |batch| superblocks.data_before(self.blocks.width[block], batch);
        before(self.layout.batches_per_block) - before(open.next)
    }

    /// As [`Ftl::free_units`], of superblocks. Free ones count as hosts fill them.
    #[cold]
    #[inline(never)]
    pub(crate) fn free_data_units(&self, bin: BinId) -> u32 {
        let open: u32 = self.bins[bin].open.iter().map(|open| self.data_left(open)).sum();
        let free = self.bins[bin].free() * self.layout.data_batches(Stream::Host);
        (free + open) * self.layout.units_per_batch
    }

    /// As [`Ftl::room`], of superblocks.
    #[cold]
    #[inline(never)]
    pub(crate) fn data_room(&self, bin: BinId, stream: Stream) -> u32 {
        let (row, state) = (stream.row(self.shared), &self.bins[bin]);
        let may_open = state.free().saturating_sub(row.leaves);
        let own = self.layout.data_batches(stream);
        let left = self.data_left(&state.open[row.open]);
        left + match row.goes_on_in {
            None => may_open * own,
            // The other stream's room includes the free blocks that this stream may open, in which
            // it may have to write more parity.
            Some(other) => {
                let more = self.layout.data_batches(other).saturating_sub(own);
                self.data_room(bin, other) - may_open * more
            }
        }
    }

    /// Lets an open block pass by places of parity, and ends it if there is nothing behind them.
    #[cold]
    #[inline(never)]
    pub(crate) fn pass_parity(&mut self, bin: BinId, index: usize) {
        let superblocks = self.layout.superblocks.as_ref().expect("a drive with superblocks");
        let open = &mut self.bins[bin].open[index];
        let width = self.blocks.width[open.block.expect("a block is open")];
        open.next = superblocks.next_data(width, open.next);
        if open.next == self.layout.batches_per_block {
            *open = Open::default();
        }
    }

    /// Counts a batch that is written.
    #[cold]
    #[inline(never)]
    pub(crate) fn note_written(&mut self, at: Batch) {
        let (row, lane) = self.layout.of_superblocks().row_and_lane(at.batch);
        let lane = self.lane_of(at.block, lane);
        let written = &mut self.blocks.written[lane];
        assert_eq!(*written, row, "batches of a lane are written in their order");
        *written += 1;
    }
    /// Forgets the stripes of a block that is erased.
    pub(crate) fn forget_stripes(&mut self, block: BlockId) {
        self.blocks.width[block] = 0;
        let (first, lanes) = (self.lane_of(block, 0), self.layout.lanes() as usize);
        self.blocks.written[first..first + lanes].fill(0);
    }
    /// Index of a block's lane among those of all blocks.
    fn lane_of(&self, block: BlockId, lane: u32) -> usize {
        block.0 as usize * self.layout.lanes() as usize + lane as usize
    }
    /// True if the program of a batch of a superblock has ended.
    pub fn is_written(&self, at: Batch) -> bool {
        let (row, lane) = self.layout.of_superblocks().row_and_lane(at.batch);
        row < self.written_in(at.block, lane)
    }
    /// Batches written in a lane of a block since its erase.
    pub fn written_in(&self, block: BlockId, lane: u32) -> u32 {
        self.blocks.written[self.lane_of(block, lane)]
    }

    /// Members of the stripes of a block, parity included; `None` if it has no parity.
    #[inline]
    pub fn stripe_width(&self, block: BlockId) -> Option<u32> {
        let width = self.blocks.width.as_slice().get(block.0 as usize).copied().unwrap_or(0);
        (width > 0).then_some(width.into())
    }

    /// Members of the stripes that can rebuild data of a block, parity included, in superblocks or over
    /// logical units; `None` if it has no parity.
    #[inline]
    pub fn members_of_stripes(&self, block: BlockId) -> Option<u32> {
        match self.layout.stripes {
            Some(stripes) => Some(stripes.width()),
            None => self.stripe_width(block),
        }
    }

    /// The place of the parity that is due because `at`, which was bound last, is the last batch of
    /// data of its stripe.
    #[inline]
    pub fn parity_after(&self, at: Batch) -> Option<Batch> {
        let superblocks = self.layout.superblocks.as_ref()?;
        let batch = superblocks.parity_after(self.blocks.width[at.block], at.batch)?;
        Some(Batch { batch, ..at })
    }

    /// Counts parity of a stream's data, and ends the write of its batch.
    pub fn finish_parity_at(&mut self, at: Batch, stream: Stream) {
        let units = u64::from(self.layout.units_per_batch);
        self.tally.units[Source::Parity as usize] += units;
        self.tally.parity_of[stream as usize] += units;
        self.finish(at);
    }

    /// Ends the untimed write of a bound batch, and that of the parity that is due then.
    #[inline]
    pub(crate) fn finish_untimed(&mut self, at: Batch, stream: Stream) {
        self.finish(at);
        if self.layout.has_superblocks() {
            self.finish_parity(at, stream);
        }
    }
    /// Ends the untimed write of the parity that is due after a batch, if some is.
    #[inline]
    pub(crate) fn finish_parity(&mut self, at: Batch, stream: Stream) {
        if let Some(parity) = self.parity_after(at) {
            self.finish_parity_at(parity, stream);
        }
    }

    /// Batches that are not written in an open block of which all that was bound is written.
    pub(crate) fn unwritten_at_rest(&self, block: BlockId, next: u32) -> u32 {
        let all = self.layout.batches_per_block;
        let Some(superblocks) = &self.layout.superblocks else { return all - next };
        let width = self.blocks.width[block];
        all - superblocks.data_before(width, next) - superblocks.stripes_before(width, next)
    }

    /// Draws the erase blocks of a superblock that fail at its erase; returns true if the superblock
    /// is retired, because one of them has no spare block on its lane and plane. Its other erase
    /// blocks become spare ones then.
    #[inline(never)]
    pub(crate) fn breaks(&mut self, bin: BinId) -> bool {
        let count = self.layout.lanes() * self.layout.block_planes;
        let first = (bin.0 * count) as usize;
        let spares = &mut self.spares[first..first + count as usize];
        let (numbers, share) = (&mut self.bad_numbers, self.grown_per_erase);
        let fails: Vec<bool> = spares.iter().map(|_| numbers.chance(share)).collect();
        let mut of_each = fails.iter().zip(spares.iter());
        let is_lost = of_each.any(|(fails, spares)| *fails && *spares == 0);
        for (fails, spares) in fails.into_iter().zip(spares) {
            match (is_lost, fails) {
                (false, true) => *spares -= 1,
                (true, false) => *spares += 1,
                _ => {}
            }
        }
        is_lost
    }

    /// Checks that places of parity hold no data, that no superblock holds more than its data places,
    /// and that those in use have as many batches unwritten as their lanes say.
    ///
    /// # Errors
    /// The first disagreement.
    pub(crate) fn audit_superblocks(&self) -> Result<(), String> {
        let Some(superblocks) = &self.layout.superblocks else { return Ok(()) };
        let all = self.layout.batches_per_block;
        for (block, width) in self.blocks.width.iter() {
            let is_parity = |batch: &u32| superblocks.is_parity(*width, *batch);
            let is_mapped = |batch: &u32| self.valid_in_batch(Batch { block, batch: *batch }) != 0;
            if let Some(batch) = (0..all).filter(is_parity).find(is_mapped) {
                return Err(format!("the place {batch} of parity in {block:?} is mapped"));
            }
            let data = superblocks.data_before(*width, all) * self.layout.units_per_batch;
            let held = self.blocks.valid(block) + self.blocks.moved[block];
            let state = self.blocks.state[block];
            if state != BlockState::Bad && held > data {
                return Err(format!("{block:?} holds {held} units, of {data} at most"));
            }
            let lanes = 0..superblocks.lanes();
            let written: u32 = lanes.map(|lane| self.written_in(block, lane)).sum();
            let (unwritten, is_early) =
                (all - written, self.blocks.rows_closed_early(block).is_some());
            let expected = match state {
                BlockState::Free | BlockState::Bad => all,
                BlockState::Open => self.blocks.unwritten[block],
                BlockState::Closed | BlockState::Collecting if is_early => unwritten,
                BlockState::Closed | BlockState::Collecting => 0,
            };
            if unwritten != expected {
                return Err(format!(
                    "{block:?}, {state:?}, has {unwritten} batches unwritten, not {expected}"
                ));
            }
        }
        Ok(())
    }
}
