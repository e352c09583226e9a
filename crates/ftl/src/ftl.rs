//! One instance of the firmware: map, blocks, bins and look-ups in them. The operations that keep
//! them consistent are in `space`, `commit` and `victims`: deciding (`bind`, `pick_victim`) is
//! separate from committing (`commit_*`, `finish`, `erase`), so that time may pass in between.

use crate::allocation::{FreeBlockOrder, StreamSharing};
use crate::blocks::{Bin, BlockState, Blocks, Tally};
use crate::config::FtlConfig;
use crate::detached::Detached;
use crate::factory::FactoryBlocks;
use crate::failed::Failed;
use crate::gc::{Thresholds, VictimPolicy};
use crate::ids::{Batch, BinId, BlockId, Lpn, Ppn};
use crate::layout::Layout;
use crate::leveling::Wear;
use crate::map::Map;
use crate::metadata::Persist;
use crate::of_set::{OfSet, begin_streams, of_sets};
use crate::poison::Poison;
use crate::scrub::ScrubChoice;
use crate::streams::Stream;
use engine::{Column, Streams};

/// Random streams of the firmware, by name.
const VICTIMS: &str = "gc.victim";
const GROWN_BAD_BLOCKS: &str = "bad-blocks.grown";

/// The firmware of a drive, or of a part of it.
#[derive(Clone)]
pub struct Ftl {
    /// Arithmetic of addresses.
    pub layout: Layout,
    pub(crate) map: Map,
    pub(crate) blocks: Blocks,
    pub(crate) bins: Column<BinId, Bin>,
    pub(crate) free_order: FreeBlockOrder,
    pub(crate) thresholds: Thresholds,
    pub(crate) victim: VictimPolicy,
    pub(crate) scrub: Option<ScrubChoice>,
    /// The stream that scrubbing writes to.
    pub(crate) scrubs_to: Stream,
    /// True if scrubbing is a task of its own, which leaves the space of collection alone.
    pub(crate) has_scrubber: bool,
    pub(crate) wear: Option<Wear>,
    /// Most copy-backs in a row of the same data.
    pub(crate) copies_most: Option<u8>,
    pub(crate) shared: bool,
    pub(crate) endurance: u32,
    pub(crate) grown_per_erase: f64,
    /// Counts of programs and erases since the drive was new.
    pub tally: Tally,
    /// Fingerprint of the erased blocks in order.
    pub(crate) erased: u64,
    pub(crate) mapped: u32,
    /// Pages that are valid, but not current.
    pub(crate) detached: Detached,
    pub(crate) failed: Failed,
    /// Units whose data is lost.
    pub(crate) poison: Poison,
    /// Good erase blocks in no superblock, by bin, lane and plane; empty without superblocks.
    pub(crate) spares: Vec<u32>,
    pub(crate) victim_numbers: engine::Stream,
    pub(crate) bad_numbers: engine::Stream,
    /// State that each NVM set has apart; empty without sets.
    pub(crate) of_sets: Vec<OfSet>,
    /// Metadata for recovery from power cuts, if it is kept.
    pub(crate) persist: Option<Box<Persist>>,
}

impl Ftl {
    /// A new drive: all blocks are erased except the factory bad ones. `endurance` is the number
    /// of erases that a block endures; 0 means any number.
    pub fn new(layout: Layout, config: &FtlConfig, endurance: u32, streams: Streams) -> Self {
        let mut ftl = Self {
            map: Map::new(layout.map_units, layout.physical_units(), layout.subunits),
            blocks: Blocks::new(layout.blocks() as usize),
            bins: Column::from_fn(layout.bins as usize, |_| Bin::new()),
            free_order: config.allocation.free_block,
            thresholds: Thresholds::new(&config.gc, &layout),
            victim: config.gc.victim.clone(),
            scrub: None,
            scrubs_to: Stream::Gc,
            has_scrubber: false,
            wear: None,
            copies_most: None,
            shared: config.allocation.streams == StreamSharing::Shared,
            endurance,
            grown_per_erase: config.bad_blocks.grown_per_erase.fraction(),
            tally: Tally::default(),
            erased: 0,
            mapped: 0,
            detached: Detached::default(),
            failed: Failed::default(),
            poison: Poison::default(),
            spares: Vec::new(),
            victim_numbers: streams.stream(VICTIMS),
            bad_numbers: streams.stream(GROWN_BAD_BLOCKS),
            of_sets: of_sets(layout.set_count(), streams),
            persist: None,
            layout,
        };
        if let Some(superblocks) = &ftl.layout.superblocks {
            ftl.blocks.know_stripes(superblocks.lanes());
        }
        let factory = FactoryBlocks::new(&ftl.layout, &config.bad_blocks, streams);
        ftl.format(factory);
        ftl.set_scrub(config);
        ftl.set_wear(config.wear);
        ftl.limit_copies(config.gc.copy_back_most);
        ftl
    }

    /// Begins the firmware's random streams anew. What was drawn before, such as the factory's bad
    /// blocks, stays.
    pub fn begin_streams(&mut self, streams: Streams) {
        self.victim_numbers = streams.stream(VICTIMS);
        self.bad_numbers = streams.stream(GROWN_BAD_BLOCKS);
        begin_streams(&mut self.of_sets, streams);
    }

    /// Applies the configuration of scrubbing. Sensed rows are counted from the first moment at
    /// which a policy needs the count.
    pub(crate) fn set_scrub(&mut self, config: &FtlConfig) {
        self.scrub = config.scrub.as_ref().map(|scrub| scrub.choice.clone());
        self.scrubs_to = config.scrub_stream();
        self.has_scrubber = config.has_scrubber();
        if self.scrubs_to == Stream::Gc {
            self.close_scrubbed();
        }
        if self.scrub.is_some() && self.blocks.sensed.is_empty() {
            self.blocks.sensed = Column::filled(0, self.blocks.state.len());
        }
    }

    /// Retires the factory's bad blocks and frees the others.
    fn format(&mut self, mut factory: FactoryBlocks) {
        let per_bin = self.layout.blocks_per_bin();
        for bin in self.bins.ids() {
            let first = self.layout.first_block(bin).0;
            let mut bad = factory.of_next_bin().into_iter().peekable();
            self.spares.extend_from_slice(factory.spares());
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

    /// The physical unit that holds a logical unit, if it was ever written.
    #[inline]
    pub fn lookup(&self, lpn: Lpn) -> Option<Ppn> {
        self.map.lookup(lpn)
    }
    /// Prefetches the map entry that [`Ftl::lookup`] will read.
    #[inline]
    pub fn prefetch(&self, lpn: Lpn) {
        self.map.prefetch(lpn);
    }
    /// Prefetches the valid bit that a new write of `lpn` will clear.
    #[inline]
    pub fn prefetch_old(&self, lpn: Lpn) {
        if let Some(old) = self.map.lookup(lpn) {
            self.map.prefetch_valid(old);
        }
    }
    /// Logical units that hold data.
    pub fn mapped_units(&self) -> u32 {
        self.mapped
    }
    /// The logical unit that a physical unit was last written with.
    #[inline]
    pub fn holds(&self, ppn: Ppn) -> Lpn {
        self.map.holds(ppn)
    }
    /// True if a physical unit holds the current data of a logical one.
    #[inline]
    pub fn is_valid(&self, ppn: Ppn) -> bool {
        self.map.is_valid(ppn)
    }
    /// Valid units of a batch: bit `i` for slot `i`.
    #[inline]
    pub fn valid_in_batch(&self, at: Batch) -> u64 {
        let first = self.layout.first_unit(at.block, at.batch);
        self.map.valid_bits(first, self.layout.units_per_batch)
    }
    /// The first batch of a block, from `at` on, that has valid units, and the mask of those
    /// units.
    #[inline(always)]
    pub fn next_valid_batch(&self, at: Batch) -> Option<(Batch, u64)> {
        let layout = &self.layout;
        let first = layout.first_unit(at.block, at.batch);
        let end = layout.first_unit(at.block, layout.batches_per_block);
        let found = self.map.first_valid(first, end)?;
        let (ahead, slot) = layout.batch_and_slot(found.0 - first.0);
        let units = self.map.valid_bits(Ppn(found.0 - slot), layout.units_per_batch);
        Some((Batch { batch: at.batch + ahead, ..at }, units))
    }
    /// Fingerprint of the blocks erased since [`Ftl::begin_order_of_erases`], in order.
    pub fn order_of_erases(&self) -> u64 {
        self.erased
    }
    /// Resets the fingerprint: a drive that comes from a snapshot does not know the erases before
    /// it.
    pub fn begin_order_of_erases(&mut self) {
        self.erased = 0;
        self.of_sets.iter_mut().for_each(|of| of.erased = 0);
    }
    /// Erases of each block so far, by block.
    pub fn erase_counts(&self) -> &[u32] {
        self.blocks.erase_count.as_slice()
    }
    /// Erases of a block so far.
    #[inline]
    pub fn erases_of(&self, block: BlockId) -> u32 {
        self.blocks.erase_count[block]
    }
    /// Use of each block, by block.
    pub fn block_states(&self) -> &[BlockState] {
        self.blocks.state.as_slice()
    }
    /// Valid units of a block.
    #[inline]
    pub fn valid_units(&self, block: BlockId) -> u32 {
        self.blocks.valid(block)
    }
    /// Valid units of a bin, counted block by block.
    pub fn valid_in_bin(&self, bin: BinId) -> u64 {
        let first = self.layout.first_block(bin).0;
        let blocks = (first..first + self.layout.blocks_per_bin()).map(BlockId);
        blocks.map(|block| u64::from(self.blocks.valid(block))).sum()
    }
    /// Bytes of memory that the firmware's state takes once all of it is touched.
    pub fn bytes(&self) -> usize {
        let superblocks = self.layout.superblocks.as_ref().map_or(0, |of| of.bytes());
        let persist = self.persist.as_ref().map_or(0, |of| of.bytes());
        self.map.bytes() + self.blocks.bytes() + superblocks + persist
    }

    /// Counts units that were mapped for the first time.
    #[inline]
    pub(crate) fn count_mapped(&mut self, fresh: u32) {
        self.mapped += fresh;
    }

    /// The error of a user's policy, if there was one.
    pub fn policy_fault(&self) -> Option<String> {
        self.victim.fault().or_else(|| self.scrub.as_ref().and_then(ScrubChoice::fault))
    }
}
