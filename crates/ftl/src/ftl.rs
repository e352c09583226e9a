//! One instance of the firmware: map, blocks and bins, and the operations that
//! keep them consistent. Deciding (`bind`, `pick_victim`) and committing
//! (`commit_*`, `finish`, `erase`) are separate, so that time may pass between.

use crate::blocks::{BARRED, Batch, Bin, BlockState, Blocks, Open, Source, Stream, Tally};
use crate::config::{FreeBlockOrder, FtlConfig, StreamSharing};
use crate::factory::FactoryBlocks;
use crate::gc::{Candidates, Level, Thresholds, VictimPolicy};
use crate::layout::{BinId, BlockId, Layout, Lpn, Pun};
use crate::map::Map;
use crate::persist::Persist;
use crate::scrub::{ScrubChoice, Written};
use crate::wear::{Migration, Wear};
use engine::{Column, Streams};

/// A bin has no place for a batch of the stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Full;

/// Free blocks of a bin that only garbage collection may open, so that it always
/// has somewhere to move a victim's live data.
pub const RESERVE: u32 = 1;

/// The firmware of a drive, or of a part of it.
#[derive(Clone)]
pub struct Ftl {
    /// What lies where.
    pub layout: Layout,
    pub(crate) map: Map,
    pub(crate) blocks: Blocks,
    pub(crate) bins: Column<BinId, Bin>,
    pub(crate) free_order: FreeBlockOrder,
    pub(crate) thresholds: Thresholds,
    pub(crate) victim: VictimPolicy,
    pub(crate) scrub: Option<ScrubChoice>,
    pub(crate) wear: Option<Wear>,
    /// Times in a row that data may be copied back.
    copies_most: Option<u8>,
    shared: bool,
    pub(crate) endurance: u32,
    pub(crate) grown_per_erase: f64,
    /// What became of the flash since the drive was new.
    pub tally: Tally,
    /// Which blocks were erased, in order, as one number.
    erased: u64,
    pub(crate) mapped: u32,
    pub(crate) victim_numbers: engine::Stream,
    pub(crate) bad_numbers: engine::Stream,
    /// What recovery from power cuts takes, where that is kept.
    pub(crate) persist: Option<Box<Persist>>,
}

impl Ftl {
    /// A new drive: everything erased but the blocks that left the factory bad.
    /// `endurance` is the erases that a block endures, 0 for any number.
    pub fn new(layout: Layout, config: &FtlConfig, endurance: u32, streams: Streams) -> Self {
        let mut ftl = Self {
            map: Map::new(layout.logical_units, layout.physical_units()),
            blocks: Blocks::new(layout.blocks() as usize),
            bins: Column::from_fn(layout.bins as usize, |_| Bin::new()),
            free_order: config.allocation.free_block,
            thresholds: Thresholds::new(&config.gc, &layout),
            victim: config.gc.victim.clone(),
            scrub: None,
            wear: None,
            copies_most: None,
            shared: config.allocation.streams == StreamSharing::Shared,
            endurance,
            grown_per_erase: config.bad_blocks.grown_per_erase.fraction(),
            tally: Tally::default(),
            erased: 0,
            mapped: 0,
            victim_numbers: streams.stream("gc.victim"),
            bad_numbers: streams.stream("bad-blocks.grown"),
            persist: None,
            layout,
        };
        let factory = FactoryBlocks::new(&ftl.layout, &config.bad_blocks, streams);
        ftl.format(factory);
        ftl.set_scrub(config);
        ftl.set_wear(config.wear);
        ftl.limit_copies(config.gc.copy_back_most);
        ftl
    }

    /// Takes up what the configuration says of scrubbing. Rows sensed are counted from the
    /// first time on that somebody asks.
    pub(crate) fn set_scrub(&mut self, config: &FtlConfig) {
        self.scrub = config.scrub.as_ref().map(|scrub| scrub.choice.clone());
        if self.scrub.is_some() && self.blocks.sensed.is_empty() {
            self.blocks.sensed = Column::filled(0, self.blocks.state.len());
        }
    }

    /// Takes up how often data may be copied back in a row, which is counted from now on.
    pub(crate) fn limit_copies(&mut self, most: Option<u8>) {
        self.copies_most = most;
        if most.is_some() && self.blocks.copied.is_empty() {
            let batches = self.layout.blocks() as usize * self.layout.batches_per_block as usize;
            self.blocks.copied = vec![0; batches];
        }
    }

    fn copied_at(&self, at: Batch) -> usize {
        at.block.0 as usize * self.layout.batches_per_block as usize + at.batch as usize
    }
    /// True where a batch may be copied back once more.
    #[inline]
    pub fn may_be_copied(&self, at: Batch) -> bool {
        self.copies_most.is_none_or(|most| self.blocks.copied[self.copied_at(at)] < most)
    }
    /// A batch was written at `to`: as a copy back of `from`, or with corrected or new data.
    #[inline]
    pub fn note_copied(&mut self, from: Option<Batch>, to: Batch) {
        if !self.blocks.copied.is_empty() {
            let count =
                from.map_or(0, |from| self.blocks.copied[self.copied_at(from)].saturating_add(1));
            let to = self.copied_at(to);
            self.blocks.copied[to] = count;
        }
    }

    /// Retires the factory's bad blocks and frees the others.
    fn format(&mut self, mut factory: FactoryBlocks) {
        let per_bin = self.layout.blocks_per_bin();
        for bin in self.bins.ids() {
            let first = self.layout.first_block(bin).0;
            let mut bad = factory.of_next_bin().into_iter().peekable();
            for place in 0..per_bin {
                let block = BlockId(first + place);
                if bad.next_if_eq(&place).is_some() {
                    self.retire(bin, block);
                } else {
                    self.bins[bin].release(block, 0, self.free_order);
                }
            }
        }
    }

    fn retire(&mut self, bin: BinId, block: BlockId) {
        self.blocks.state[block] = BlockState::Bad;
        self.bins[bin].bad += 1;
        self.tally.retired += 1;
    }

    // ---- looking up -------------------------------------------------------

    /// Where a logical unit lives, if it was ever written.
    #[inline]
    pub fn lookup(&self, lpn: Lpn) -> Option<Pun> {
        self.map.lookup(lpn)
    }
    /// Brings what [`Ftl::lookup`] will read near.
    #[inline]
    pub fn prefetch(&self, lpn: Lpn) {
        self.map.prefetch(lpn);
    }
    /// Brings what superseding `lpn` will change near.
    #[inline]
    pub fn prefetch_old(&self, lpn: Lpn) {
        if let Some(old) = self.map.lookup(lpn) {
            self.map.prefetch_live(old);
        }
    }
    /// Units bound in an open block so far.
    pub fn bound_units(&self, block: BlockId) -> u32 {
        let open = self.bins[self.layout.bin(block)].open;
        let next = open.iter().find(|open| open.block == Some(block)).map_or(0, |open| open.next);
        next * self.layout.units_per_batch
    }
    /// Logical units that hold data.
    pub fn mapped_units(&self) -> u32 {
        self.mapped
    }
    /// What a physical unit was last written with.
    #[inline]
    pub fn holds(&self, pun: Pun) -> Lpn {
        self.map.holds(pun)
    }
    /// True where a physical unit holds the current data of a logical one.
    #[inline]
    pub fn is_live(&self, pun: Pun) -> bool {
        self.map.is_live(pun)
    }
    /// Which units of a batch are live: bit `i` for slot `i`.
    #[inline]
    pub fn live_in_batch(&self, at: Batch) -> u64 {
        let first = self.layout.first_unit(at.block, at.batch);
        self.map.live_bits(first, self.layout.units_per_batch)
    }
    /// The first batch of a block with live units, from `at` on.
    #[inline]
    pub fn next_live_batch(&self, at: Batch) -> Option<Batch> {
        let layout = &self.layout;
        let first = layout.first_unit(at.block, at.batch);
        let end = layout.first_unit(at.block, layout.batches_per_block);
        let live = self.map.first_live(first, end)?;
        let ahead = layout.batch_and_slot(live.0 - first.0).0;
        Some(Batch { batch: at.batch + ahead, ..at })
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
        let open: u32 = self.bins[bin]
            .open
            .iter()
            .filter(|open| open.block.is_some())
            .map(|open| (layout.batches_per_block - open.next) * layout.units_per_batch)
            .sum();
        self.bins[bin].free() * layout.units_per_block() + open
    }
    /// Free units as a threshold in pages counts them: none where the host can
    /// write nothing, though collection may still have an open block.
    fn counted_units(&self, bin: BinId) -> u32 {
        if self.can_bind(bin, Stream::Host) { self.free_units(bin) } else { 0 }
    }
    /// Blocks of a bin that are not retired.
    pub fn good_blocks(&self, bin: BinId) -> u32 {
        self.layout.blocks_per_bin() - self.bins[bin].bad
    }
    /// A fingerprint of the blocks that were erased since [`Ftl::begin_order_of_erases`], in
    /// order.
    pub fn order_of_erases(&self) -> u64 {
        self.erased
    }
    /// The fingerprint begins anew, whatever was erased before: a drive that comes from a
    /// snapshot knows nothing of that.
    pub fn begin_order_of_erases(&mut self) {
        self.erased = 0;
    }
    /// Erases of each block so far, by block.
    pub fn erase_counts(&self) -> &[u32] {
        self.blocks.erase_count.as_slice()
    }
    /// What each block is used for, by block.
    pub fn block_states(&self) -> &[BlockState] {
        self.blocks.state.as_slice()
    }
    /// Live units of a block.
    #[inline]
    pub fn live_units(&self, block: BlockId) -> u32 {
        self.blocks.live(block)
    }
    /// Live units of a bin, counted block by block.
    pub fn live_in_bin(&self, bin: BinId) -> u64 {
        let first = self.layout.first_block(bin).0;
        let blocks = (first..first + self.layout.blocks_per_bin()).map(BlockId);
        blocks.map(|block| u64::from(self.blocks.live(block))).sum()
    }
    /// How scarce space is in a bin.
    #[inline]
    pub fn level(&self, bin: BinId) -> Level {
        self.thresholds.level(self.bins[bin].free(), || self.counted_units(bin))
    }
    /// True where a collection of the bin may stop.
    #[inline]
    pub fn has_enough(&self, bin: BinId) -> bool {
        self.thresholds.enough(self.bins[bin].free(), || self.counted_units(bin))
    }
    /// The same where `coming` blocks more will be free soon.
    #[inline]
    pub fn has_enough_with(&self, bin: BinId, coming: u32) -> bool {
        let units = coming * self.layout.units_per_block();
        self.thresholds.enough(self.bins[bin].free() + coming, || self.counted_units(bin) + units)
    }
    /// True where a threshold counts pages, so that every write may reach it.
    #[inline]
    pub fn counts_pages(&self) -> bool {
        self.thresholds.count_pages()
    }
    /// The thresholds of collection, as free blocks: urgent, soft, stop.
    pub fn thresholds_in_blocks(&self) -> [u32; 3] {
        self.thresholds.in_blocks()
    }
    /// Bytes of memory that the firmware's state takes once all of it is in use.
    pub fn bytes(&self) -> usize {
        self.map.bytes() + self.blocks.bytes() + self.persist.as_ref().map_or(0, |of| of.bytes())
    }

    /// Counts units that were mapped for the first time.
    #[inline]
    pub(crate) fn count_mapped(&mut self, fresh: u32) {
        self.mapped += fresh;
    }

    /// What went wrong with a policy of the user, if anything did.
    pub fn policy_fault(&self) -> Option<String> {
        self.victim.fault().or_else(|| self.scrub.as_ref().and_then(ScrubChoice::fault))
    }

    // ---- writing ----------------------------------------------------------

    #[inline]
    fn open_index(&self, stream: Stream) -> usize {
        if self.shared { 0 } else { stream as usize }
    }

    /// True where [`Ftl::bind`] would succeed.
    #[inline]
    pub fn can_bind(&self, bin: BinId, stream: Stream) -> bool {
        let state = &self.bins[bin];
        if stream == Stream::Gc
            && state.migration.is_some()
            && self.next_of_migration(bin).is_some()
        {
            return true;
        }
        !self.is_barred(bin, stream)
            && (state.open[self.open_index(stream)].block.is_some()
                || state.free() > Self::kept_from(stream))
    }

    /// The place of a worn block that takes what is moved next, if one does.
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

    /// Free blocks that a stream may not open.
    #[inline]
    fn kept_from(stream: Stream) -> u32 {
        if stream == Stream::Gc { 0 } else { RESERVE }
    }

    /// Batches that a stream can bind in a bin before a block must be erased.
    pub fn room(&self, bin: BinId, stream: Stream) -> u32 {
        let open = &self.bins[bin].open[self.open_index(stream)];
        let per_block = self.layout.batches_per_block;
        if self.is_barred(bin, stream) {
            return 0;
        }
        let left = open.block.map_or(0, |_| per_block - open.next);
        left + self.bins[bin].free().saturating_sub(Self::kept_from(stream)) * per_block
    }

    /// Where host and collection share open blocks, the reserve, once opened, is
    /// for what collection moves alone.
    #[inline]
    fn is_barred(&self, bin: BinId, stream: Stream) -> bool {
        self.shared && stream == Stream::Host && self.bins[bin].free() < RESERVE
    }

    /// Binds the next batch of the stream's open block, opening a block where
    /// needed. The caller writes it and then calls [`Ftl::finish`].
    ///
    /// # Errors
    /// [`Full`] where a block would have to be erased first.
    #[inline]
    pub fn bind(&mut self, bin: BinId, stream: Stream) -> Result<Batch, Full> {
        if self.is_barred(bin, stream) {
            return Err(Full);
        }
        if stream == Stream::Gc
            && self.bins[bin].migration.is_some()
            && let Some(at) = self.next_of_migration(bin)
        {
            self.bins[bin].migration = match self.bins[bin].migration {
                Some(Migration::Takes { to, next, from }) => {
                    Some(Migration::Takes { to, next: next + 1, from })
                }
                other => other,
            };
            return Ok(at);
        }
        let index = self.open_index(stream);
        let state = &mut self.bins[bin];
        let mut open = state.open[index];
        let block = match open.block {
            Some(block) => block,
            None => {
                if state.free() <= Self::kept_from(stream) {
                    return Err(Full);
                }
                let block = state.take().expect("a bin with free blocks gives one");
                self.blocks.state[block] = BlockState::Open;
                self.blocks.unwritten[block] = self.layout.batches_per_block;
                open = Open { block: Some(block), next: 0 };
                block
            }
        };
        let batch = Batch { block, batch: open.next };
        open.next += 1;
        if open.next == self.layout.batches_per_block {
            open = Open::default();
        }
        state.open[index] = open;
        Ok(batch)
    }

    /// The block that [`Ftl::bind`] would take a place of, if it would.
    pub fn next_block(&self, bin: BinId, stream: Stream) -> Option<BlockId> {
        if stream == Stream::Gc
            && self.bins[bin].migration.is_some()
            && let Some(at) = self.next_of_migration(bin)
        {
            return Some(at.block);
        }
        let state = &self.bins[bin];
        state.open[self.open_index(stream)].block.or_else(|| state.first_free())
    }

    /// Notes what a bound place is written with; `None` for padding.
    #[inline]
    pub fn note(&mut self, pun: Pun, lpn: Lpn) {
        self.map.note(pun, lpn);
    }

    /// A place is written with a copy of what `from` holds.
    #[inline]
    pub fn note_copy(&mut self, from: Pun, to: Pun, lpn: Lpn) {
        self.map.note(to, lpn);
        self.map.copy_version(from, to);
    }

    /// A host write of `lpn` to `pun` is on flash: it becomes the current data.
    #[inline]
    pub fn commit_write(&mut self, lpn: Lpn, pun: Pun) {
        match self.map.point(lpn, pun) {
            Some(old) => self.invalidate(old),
            None => self.map_fresh(lpn),
        }
        self.map.set_live(pun, 1);
        let block = self.layout.block(pun);
        self.blocks.standing[block] += 1;
    }

    /// A unit without data has some.
    #[inline]
    fn map_fresh(&mut self, lpn: Lpn) {
        self.mapped += 1;
        if let Some(persist) = &mut self.persist {
            persist.note_fresh(lpn);
        }
    }

    /// A copy of `from` is on flash at `to`. It becomes the current data only if
    /// `from` still is; returns whether it did.
    #[inline]
    pub fn commit_move(&mut self, lpn: Lpn, from: Pun, to: Pun) -> bool {
        if self.map.lookup(lpn) != Some(from) {
            return false;
        }
        self.invalidate(from);
        self.blocks.moved[self.layout.block(from)] += 1;
        self.map.point(lpn, to);
        self.map.set_live(to, 1);
        let block = self.layout.block(to);
        self.blocks.standing[block] += 1;
        true
    }

    /// The batch `to` is on flash as a copy of all of the batch `from`. Each unit of it
    /// becomes the current data only if the one that it was copied from still is.
    #[inline]
    pub fn commit_batch_move(&mut self, from: Batch, to: Batch) {
        let first = self.layout.first_unit(from.block, from.batch);
        let first_to = self.layout.first_unit(to.block, to.batch);
        let (mut moved, mut count) = (0u64, 0);
        for slot in 0..self.layout.units_per_batch {
            let (pun, new) = (Pun(first.0 + slot), Pun(first_to.0 + slot));
            let lpn = self.map.holds(pun);
            self.map.note(new, lpn);
            self.map.copy_version(pun, new);
            if self.map.lookup(lpn) == Some(pun) {
                self.map.point(lpn, new);
                moved |= 1 << slot;
                count += 1;
            }
        }
        if count > 0 {
            self.map.kill_some(first, moved);
            self.map.set_some_live(first_to, moved);
            debug_assert!(self.blocks.live(from.block) >= count, "only a live unit can move");
            self.blocks.standing[from.block] -= count;
            self.blocks.moved[from.block] += count;
            self.blocks.standing[to.block] += count;
        }
    }

    #[inline]
    fn invalidate(&mut self, pun: Pun) {
        self.map.kill(pun);
        let block = self.layout.block(pun);
        let standing = &mut self.blocks.standing[block];
        debug_assert!(*standing & !BARRED > 0, "only a live unit can die");
        *standing -= 1;
    }

    /// Forgets a logical unit (trim); returns whether it held data.
    #[inline]
    pub fn trim(&mut self, lpn: Lpn) -> bool {
        let old = self.map.unmap(lpn);
        if let Some(persist) = &mut self.persist {
            persist.note_trim(lpn);
        }
        let Some(old) = old else { return false };
        self.invalidate(old);
        self.mapped -= 1;
        true
    }

    /// A bound batch is written (and committed): once all of a full block's are,
    /// the block is closed and may be collected.
    #[inline]
    pub fn finish(&mut self, at: Batch) {
        let unwritten = &mut self.blocks.unwritten[at.block];
        *unwritten -= 1;
        if *unwritten == 0 {
            if self.layout.summary_page {
                self.tally.units[Source::Summary as usize] +=
                    u64::from(self.layout.units_per_batch);
            }
            self.close(at.block);
        }
    }

    pub(crate) fn close(&mut self, block: BlockId) {
        self.blocks.state[block] = BlockState::Closed;
        self.blocks.standing[block] &= !BARRED;
        self.blocks.closed_at[block] = self.tally.units[Source::Host as usize];
        if let Some(persist) = &mut self.persist {
            persist.note_change(block);
        }
    }

    // ---- collecting -------------------------------------------------------

    /// Chooses the next block of a bin to be collected; `None` where no block
    /// gains space or (where retired blocks have eaten the reserve) none's live
    /// data has a place to go. The block is barred from being chosen again.
    pub fn pick_victim(&mut self, bin: BinId) -> Option<BlockId> {
        let place = match self.wear {
            None => self.choose(bin)?,
            Some(_) => self.choose_by_wear(bin)?,
        };
        Some(self.take_victim(bin, place))
    }

    /// The place of the block that the victim policy chooses.
    #[inline]
    pub(crate) fn choose(&mut self, bin: BinId) -> Option<usize> {
        let first = self.layout.first_block(bin).0 as usize;
        let run = first..first + self.layout.blocks_per_bin() as usize;
        let gaining = self.layout.units_per_block() - self.layout.units_per_batch;
        let candidates = Candidates {
            live: &self.blocks.standing.as_slice()[run.clone()],
            closed_at: &self.blocks.closed_at.as_slice()[run],
            now: self.tally.units[Source::Host as usize],
            units_per_block: self.layout.units_per_block(),
            most_live: gaining.min(self.room(bin, Stream::Gc) * self.layout.units_per_batch),
        };
        debug_assert!(
            candidates
                .live
                .iter()
                .all(|live| *live <= candidates.units_per_block || *live & BARRED != 0),
            "a block holds no more live units than it has places"
        );
        self.victim.choose(candidates, &mut self.victim_numbers)
    }

    /// Chooses a block of a bin to be written anew; `None` where the policy takes none that
    /// there is room for. The block is barred from being chosen again.
    pub fn pick_scrub(&mut self, bin: BinId) -> Option<BlockId> {
        let first = self.layout.first_block(bin).0 as usize;
        let run = first..first + self.layout.blocks_per_bin() as usize;
        let room = self.room(bin, Stream::Gc) * self.layout.units_per_batch;
        let written = Written {
            live: &self.blocks.standing.as_slice()[run.clone()],
            closed_at: &self.blocks.closed_at.as_slice()[run.clone()],
            sensed: &self.blocks.sensed.as_slice()[run.clone()],
            erase_count: &self.blocks.erase_count.as_slice()[run],
            now: self.tally.units[Source::Host as usize],
            units_per_block: self.layout.units_per_block(),
            most_live: self.layout.units_per_block().min(room),
        };
        let place = self.scrub.as_ref()?.pick(written)?;
        Some(self.take_victim(bin, place))
    }

    /// Bars the block at a place of a bin, which is about to be moved and erased.
    pub(crate) fn take_victim(&mut self, bin: BinId, place: usize) -> BlockId {
        let block = BlockId(self.layout.first_block(bin).0 + place as u32);
        assert!(self.blocks.standing[block] & BARRED == 0, "a policy chose a barred block");
        self.blocks.standing[block] |= BARRED;
        self.blocks.state[block] = BlockState::Collecting;
        // What a collection that was cut off had moved may be current here again.
        self.blocks.moved[block] = 0;
        self.bins[bin].collecting += 1;
        block
    }

    /// From now on the wear of interruptions is counted.
    pub fn count_strain(&mut self) {
        if self.blocks.strain.is_empty() {
            self.blocks.strain = Column::filled([0; 2], self.blocks.state.len());
        }
    }
    /// An interruption has worn a block by `ramps` pairs of ramp and recovery and by `pulses`
    /// that are asserted again.
    pub fn note_strain(&mut self, block: BlockId, ramps: u32, pulses: u32) {
        let [all_ramps, all_pulses] = &mut self.blocks.strain[block];
        *all_ramps = all_ramps.saturating_add(ramps);
        *all_pulses = all_pulses.saturating_add(pulses);
    }
    /// What interruptions have worn since the drive was new, by block: extra pairs of ramp
    /// and recovery, and pulses that were asserted again. Empty where that is not counted.
    pub fn strain(&self) -> &[[u32; 2]] {
        self.blocks.strain.as_slice()
    }
    /// Rows of a block are sensed.
    #[inline]
    pub fn note_sensed(&mut self, block: BlockId, rows: u32) {
        if let Some(sensed) = self.blocks.sensed.as_mut_slice().get_mut(block.0 as usize) {
            *sensed = sensed.saturating_add(rows);
        }
    }

    /// A read of the block begins: it cannot be erased before the read ends.
    #[inline]
    pub fn begin_read(&mut self, block: BlockId) {
        self.begin_reads(block, 1);
    }
    /// As many reads begin.
    #[inline]
    pub fn begin_reads(&mut self, block: BlockId, count: u32) {
        self.blocks.readers[block] += count;
    }
    /// A read of the block ends; returns true where none is left.
    #[inline]
    pub fn end_read(&mut self, block: BlockId) -> bool {
        self.end_reads(block, 1)
    }
    /// As many reads of the block end; returns true where none is left.
    #[inline]
    pub fn end_reads(&mut self, block: BlockId, count: u32) -> bool {
        let readers = &mut self.blocks.readers[block];
        *readers -= count;
        *readers == 0
    }
    /// Reads of the block under way, moves of its data included.
    #[inline]
    pub fn reads_under_way(&self, block: BlockId) -> u32 {
        self.blocks.readers[block]
    }
    /// True where nothing stands against erasing a collected block: no live data
    /// and no read under way.
    #[inline]
    pub fn is_erasable(&self, block: BlockId) -> bool {
        self.blocks.live(block) == 0 && self.blocks.readers[block] == 0
    }

    /// A collected block is erased: it is free again, or retired where the erase
    /// failed or its endurance is used up. Returns whether it is free.
    ///
    /// # Panics
    /// Where the block holds live data, is being read or was not collected.
    pub fn erase(&mut self, block: BlockId) -> bool {
        self.tally.collected += 1;
        self.tally.moved += u64::from(self.blocks.moved[block]);
        self.erase_uncollected(block)
    }

    /// The same of a block that was no victim.
    pub(crate) fn erase_uncollected(&mut self, block: BlockId) -> bool {
        assert!(self.is_erasable(block), "an erase waits for live data and readers");
        assert_eq!(self.blocks.state[block], BlockState::Collecting, "only a victim is erased");
        let bin = self.layout.bin(block);
        self.bins[bin].collecting -= 1;
        self.blocks.erase_count[block] += 1;
        self.bins[bin].erases += 1;
        self.blocks.standing[block] = BARRED;
        if let Some(sensed) = self.blocks.sensed.as_mut_slice().get_mut(block.0 as usize) {
            *sensed = 0;
        }
        if let Some(rows) = self.blocks.closed_early.as_mut_slice().get_mut(block.0 as usize) {
            *rows = 0;
        }
        self.tally.erases += 1;
        // Each step can be undone, so that no two blocks lead to the same number.
        self.erased = (self.erased ^ (u64::from(block.0) + 1))
            .wrapping_mul(0x9e37_79b9_7f4a_7c15)
            .rotate_left(29);
        if self.persist.is_some() {
            self.forget_metadata(block);
        }
        let worn = self.endurance > 0 && self.blocks.erase_count[block] >= self.endurance;
        let failed = self.grown_per_erase > 0.0 && self.bad_numbers.chance(self.grown_per_erase);
        if worn || failed {
            self.end_migration(bin, block);
            self.retire(bin, block);
            return false;
        }
        if self.bins[bin].migration.is_some() && self.migrates_on(bin, block) {
            return false;
        }
        self.release(bin, block);
        true
    }

    /// An erased block is free.
    pub(crate) fn release(&mut self, bin: BinId, block: BlockId) {
        self.blocks.state[block] = BlockState::Free;
        let erase_count = self.blocks.erase_count[block];
        self.bins[bin].release(block, erase_count, self.free_order);
    }

    // ---- auditing ---------------------------------------------------------

    /// Proves that map, reverse map, live bits, counts and free lists agree.
    /// Takes time proportional to the drive.
    ///
    /// # Errors
    /// The first disagreement found.
    pub fn audit(&self) -> Result<(), String> {
        let layout = &self.layout;
        let mut live_in = vec![0u32; layout.blocks() as usize];
        let mut mapped = 0;
        for lpn in (0..layout.logical_units).map(Lpn) {
            let Some(pun) = self.map.lookup(lpn) else { continue };
            mapped += 1;
            if !self.map.is_live(pun) || self.map.holds(pun) != lpn {
                return Err(format!(
                    "{lpn:?} is mapped to {pun:?}, which holds {:?}, live: {}",
                    self.map.holds(pun),
                    self.map.is_live(pun)
                ));
            }
            live_in[layout.block(pun).0 as usize] += 1;
        }
        if mapped != self.mapped {
            return Err(format!("{mapped} units are mapped, {} were counted", self.mapped));
        }
        let live: u64 = (0..layout.physical_units().div_ceil(64))
            .map(|word| u64::from(self.map.live_bits(Pun(word * 64), 64).count_ones()))
            .sum();
        if live != u64::from(mapped) {
            return Err(format!(
                "{live} physical units are live, {mapped} logical units are mapped"
            ));
        }
        for (block, live) in live_in.iter().enumerate() {
            let counted = self.blocks.live(BlockId(block as u32));
            if counted != *live {
                return Err(format!(
                    "block {block} holds {live} live units, {counted} were counted"
                ));
            }
        }
        self.audit_versions()?;
        self.bins.ids().try_for_each(|bin| self.audit_bin(bin))
    }

    fn audit_bin(&self, bin: BinId) -> Result<(), String> {
        let state = &self.bins[bin];
        let count = |wanted| {
            let first = self.layout.first_block(bin).0 as usize;
            self.blocks.state.as_slice()[first..first + self.layout.blocks_per_bin() as usize]
                .iter()
                .filter(|state| **state == wanted)
                .count() as u32
        };
        let listed_free = state
            .free_blocks()
            .filter(|block| self.blocks.state[*block] == BlockState::Free)
            .count() as u32;
        for (what, counted, kept) in [
            ("free", count(BlockState::Free), state.free()),
            ("listed as free", listed_free, state.free()),
            ("bad", count(BlockState::Bad), state.bad),
            ("being collected", count(BlockState::Collecting), state.collecting),
        ] {
            if counted != kept {
                return Err(format!("{counted} blocks of {bin:?} are {what}, {kept} were counted"));
            }
        }
        Ok(())
    }
}
