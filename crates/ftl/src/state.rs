//! The firmware's state without its settings, which a drive keeps when it is shut down. The state
//! is stored as long columns of bytes and a short rest. A firmware of the same layout can restore
//! it, also under other policies and thresholds.

use crate::blocks::{BlockState, Open, Tally};
use crate::config::FtlConfig;
use crate::ftl::Ftl;
use crate::gc::Thresholds;
use crate::ids::{BinId, BlockId};
use crate::map::Map;
use crate::metadata::Persist;
use crate::of_set::OfSet;
use crate::streams::STREAMS;
use engine::Column;
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io;
use std::sync::Arc;

/// Least size of a map that clones share. A shorter one is copied: that takes a millisecond or
/// two, and look-ups are faster in memory with huge pages.
const SHARED_FROM_BYTES: usize = 16 << 20;

/// Name of the column of blocks closed early in snapshots.
const CLOSED_EARLY: &str = "blocks.closed_early";
/// Names of the columns of exposure.
const BORN: &str = "blocks.born";
const DISTURBED: &str = "blocks.disturbed";
const RE_READS: &str = "blocks.re_reads";

/// Names of the columns of superblocks in snapshots.
const WIDTHS: &str = "blocks.width";
const WRITTEN: &str = "blocks.written";

/// The part of the state that is not in a column.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Rest {
    /// Counts of programs and erases since the drive was new.
    pub tally: Tally,
    /// Logical units that hold data.
    pub mapped: u32,
    /// True if sensed rows are counted.
    sensed: bool,
    /// True if the wear of interruptions is counted.
    #[serde(default)]
    strained: bool,
    /// True if copy-backs in a row are counted.
    #[serde(default)]
    copied: bool,
    /// True if the blocks that were closed before they were full are recorded.
    #[serde(default)]
    closed_early: bool,
    /// True if the exposure of blocks is recorded.
    #[serde(default)]
    exposed: bool,
    /// True if re-reads are counted.
    #[serde(default)]
    re_read: bool,
    /// Physical units whose data is lost.
    #[serde(default)]
    poisoned: Vec<u32>,
    /// The next version, if metadata for recovery is kept.
    #[serde(default)]
    next_version: Option<u32>,
    /// Good erase blocks in no superblock, by bin, lane and plane.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    spares: Vec<u32>,
    victim_numbers: engine::Stream,
    bad_numbers: engine::Stream,
    /// State that each NVM set has apart.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    of_sets: Vec<OfSet>,
    bins: Vec<RestOfBin>,
}

impl Rest {
    /// Retired blocks, by bin.
    pub fn bad_blocks(&self) -> Vec<u32> {
        self.bins.iter().map(|bin| bin.bad).collect()
    }
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct RestOfBin {
    released: u64,
    /// By stream: the open block and its next batch. Earlier versions had fewer streams.
    open: Vec<Option<(u32, u32)>>,
    bad: u32,
    free: u32,
    /// Moves that regain the space of a host's batch, in 256ths of a unit.
    #[serde(default)]
    price: u32,
    /// The victim that is left half moved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    left: Option<LeftVictim>,
}

/// A victim that is left half moved.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct LeftVictim {
    block: u32,
    /// The batch with which its collection goes on.
    next: u32,
    /// Units that were moved out of it.
    moved: u32,
}

/// Function that stores a column: its name and its bytes in memory order.
pub type Give<'a, Error> = &'a mut dyn FnMut(&'static str, &[u8]) -> Result<(), Error>;
/// Function that fills a column: its name and the place for its bytes.
pub type Take<'a, Error> = &'a mut dyn FnMut(&'static str, &mut [u8]) -> Result<(), Error>;

/// Error: a state that no drive of this layout can have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unknown;

impl Ftl {
    /// Continues the firmware of a drive that has been shut down under other settings. The layout
    /// stays the same.
    pub fn reconfigure(&mut self, config: &FtlConfig, endurance: u32) {
        if let Some(superblocks) = &mut self.layout.superblocks {
            superblocks.set_widths(config);
        }
        self.thresholds = Thresholds::new(&config.gc, &self.layout);
        self.victim = config.gc.victim.clone();
        self.set_scrub(config);
        self.set_wear(config.wear);
        self.limit_copies(config.gc.copy_back_most);
        self.endurance = endurance;
        self.grown_per_erase = config.bad_blocks.grown_per_erase.fraction();
        if self.free_order != config.allocation.free_block {
            self.free_order = config.allocation.free_block;
            let (blocks, order) = (&self.blocks, self.free_order);
            for bin in self.bins.as_mut_slice() {
                bin.reorder(order, |block| blocks.erase_count[block]);
            }
        }
    }

    /// Puts an empty map, if it is long, into memory that copies of the firmware share from
    /// [`Ftl::share_map`] on.
    pub fn make_map_to_share(&mut self) {
        debug_assert_eq!(self.mapped, 0);
        if let Some(map) = self.map_to_share() {
            self.map = map;
        }
    }

    /// Ends the filling of the map: from now on copies of the firmware share its unchanged parts.
    /// A long map in other memory is moved, which takes as long as a copy.
    pub fn share_map(&mut self) {
        self.map.share();
        if !self.map.is_shared()
            && let Some(mut map) = self.map_to_share()
        {
            map.copy_from(&self.map);
            map.share();
            self.map = map;
        }
    }

    /// Logical and physical units of the map.
    fn units_of_map(&self) -> [u32; 2] {
        [self.layout.map_units, self.layout.physical_units()]
    }

    /// An empty map that can be shared; `None` if the map is too short for that, or if the system
    /// has no such memory: then copies of the firmware copy the whole map.
    fn map_to_share(&self) -> Option<Map> {
        let (units, subunits) = (self.units_of_map(), self.layout.subunits);
        let is_long = self.map.bytes() >= SHARED_FROM_BYTES;
        let versions = self.persist.is_some();
        is_long.then(|| Map::to_share(units, subunits, versions).ok()).flatten()
    }

    /// True if no operation of the firmware is half done: no read or write is in progress, and no
    /// collection but that of victims which are left.
    pub fn is_at_rest(&self) -> bool {
        let blocks = &self.blocks;
        let open = |bin: &crate::blocks::Bin| {
            bin.open.iter().all(|open| {
                let left = |block| self.unwritten_at_rest(block, open.next);
                open.block.is_none_or(|block| blocks.unwritten[block] == left(block))
            })
        };
        let unwritten =
            |(block, left): (BlockId, &u32)| *left == 0 || blocks.state[block] == BlockState::Open;
        self.detached.is_empty()
            && self
                .bins
                .as_slice()
                .iter()
                .all(|bin| bin.collecting == u32::from(bin.left.is_some()) && open(bin))
            && blocks.readers.as_slice().iter().all(|readers| *readers == 0)
            && blocks.unwritten.iter().all(unwritten)
    }

    /// Passes all long columns to `each`.
    ///
    /// # Errors
    /// Those of `each`.
    pub fn give_columns<Error>(&self, each: Give<'_, Error>) -> Result<(), Error> {
        for (name, bytes) in self.map.columns() {
            each(name, bytes)?;
        }
        let blocks = &self.blocks;
        each("blocks.standing", bytemuck::cast_slice(blocks.standing.as_slice()))?;
        each("blocks.erase_count", bytemuck::cast_slice(blocks.erase_count.as_slice()))?;
        each("blocks.closed_at", bytemuck::cast_slice(blocks.closed_at.as_slice()))?;
        each("blocks.unwritten", bytemuck::cast_slice(blocks.unwritten.as_slice()))?;
        let states: Vec<u8> = self.block_states().iter().map(|state| *state as u8).collect();
        each("blocks.state", &states)?;
        each("blocks.sensed", bytemuck::cast_slice(blocks.sensed.as_slice()))?;
        if !blocks.strain.is_empty() {
            each("blocks.strain", bytemuck::cast_slice(blocks.strain.as_slice()))?;
        }
        if !blocks.copied.is_empty() {
            each("blocks.copied", &blocks.copied)?;
        }
        if !blocks.width.is_empty() {
            each(WIDTHS, blocks.width.as_slice())?;
            each(WRITTEN, bytemuck::cast_slice(&blocks.written))?;
        }
        if !blocks.closed_early.is_empty() {
            each(CLOSED_EARLY, bytemuck::cast_slice(blocks.closed_early.as_slice()))?;
        }
        if !blocks.born.is_empty() {
            each(BORN, bytemuck::cast_slice(blocks.born.as_slice()))?;
            each(DISTURBED, bytemuck::cast_slice(&blocks.disturbed))?;
            each(RE_READS, bytemuck::cast_slice(&blocks.re_reads))?;
        }
        each("bins.free", bytemuck::cast_slice(&self.free_lists()))
    }

    /// The free blocks of all bins, bin by bin, in pairs of key and block.
    fn free_lists(&self) -> Vec<u64> {
        let mut pairs = Vec::new();
        for bin in self.bins.as_slice() {
            let mut free: Vec<_> = bin.free_list().collect();
            // The order of a heap depends on its history.
            free.sort_unstable();
            pairs.extend(free.into_iter().flat_map(|(key, block)| [key, u64::from(block.0)]));
        }
        pairs
    }

    /// The part of the state that [`Ftl::give_columns`] leaves out.
    pub fn rest(&self) -> Rest {
        let of_bin = |bin: &crate::blocks::Bin| RestOfBin {
            released: bin.released(),
            open: bin.open.map(|open| open.block.map(|block| (block.0, open.next))).to_vec(),
            bad: bin.bad,
            free: bin.free(),
            price: bin.price,
            left: bin.left.zip(bin.victim).map(|(next, victim)| LeftVictim {
                block: victim.0,
                next,
                moved: self.blocks.moved[victim],
            }),
        };
        Rest {
            tally: self.tally,
            mapped: self.mapped,
            sensed: !self.blocks.sensed.is_empty(),
            strained: !self.blocks.strain.is_empty(),
            copied: !self.blocks.copied.is_empty(),
            closed_early: !self.blocks.closed_early.is_empty(),
            exposed: !self.blocks.born.is_empty(),
            re_read: !self.blocks.re_reads.is_empty(),
            poisoned: self.poisoned(),
            next_version: self.persist.as_ref().map(|persist| persist.next_version()),
            spares: self.spares.clone(),
            victim_numbers: self.victim_numbers.clone(),
            bad_numbers: self.bad_numbers.clone(),
            of_sets: self.of_sets.clone(),
            bins: self.bins.as_slice().iter().map(of_bin).collect(),
        }
    }

    /// Restores the state of a drive of the same layout. The map stays in the file until it is
    /// changed, at the offsets that `place` returns for a column and its size. `each` fills the
    /// other columns.
    ///
    /// # Errors
    /// Those of `each` and of mapping the file, and [`Unknown`] if the state is one that no drive
    /// of this layout can have.
    pub fn take_columns<Error: From<Unknown> + From<io::Error>>(
        &mut self,
        rest: &Rest,
        file: &Arc<File>,
        place: &dyn Fn(&'static str, u64) -> Option<u64>,
        each: Take<'_, Error>,
    ) -> Result<(), Error> {
        if !self.may_be(rest) {
            return Err(Unknown.into());
        }
        let (units, subunits) = (self.units_of_map(), self.layout.subunits);
        let versions = rest.next_version.is_some();
        self.map = Map::of_file(units, subunits, versions, file, place)?.ok_or(Unknown)?;
        let blocks = self.blocks.state.len();
        self.persist = rest.next_version.map(|next| Box::new(Persist::new(blocks, units[0], next)));
        self.keep_written(self.persist.is_some());
        self.take_blocks(rest, each)?;
        self.take_bins(rest, each)?;
        self.restore_poison(&rest.poisoned);
        self.tally = rest.tally;
        self.mapped = rest.mapped;
        self.victim_numbers = rest.victim_numbers.clone();
        self.bad_numbers = rest.bad_numbers.clone();
        self.of_sets.clone_from(&rest.of_sets);
        self.spares.clone_from(&rest.spares);
        Ok(())
    }

    /// Restores the columns of blocks.
    fn take_blocks<Error: From<Unknown>>(
        &mut self,
        rest: &Rest,
        each: Take<'_, Error>,
    ) -> Result<(), Error> {
        let blocks = &mut self.blocks;
        blocks.sensed = Column::filled(0, if rest.sensed { blocks.state.len() } else { 0 });
        if rest.strained {
            blocks.strain = Column::filled([0; 2], blocks.state.len());
        }
        each("blocks.standing", bytemuck::cast_slice_mut(blocks.standing.as_mut_slice()))?;
        each("blocks.erase_count", bytemuck::cast_slice_mut(blocks.erase_count.as_mut_slice()))?;
        each("blocks.closed_at", bytemuck::cast_slice_mut(blocks.closed_at.as_mut_slice()))?;
        each("blocks.unwritten", bytemuck::cast_slice_mut(blocks.unwritten.as_mut_slice()))?;
        let mut states = vec![0; blocks.state.len()];
        each("blocks.state", &mut states)?;
        for (state, number) in blocks.state.as_mut_slice().iter_mut().zip(states) {
            *state = BlockState::from_number(number).ok_or(Unknown)?;
        }
        each("blocks.sensed", bytemuck::cast_slice_mut(self.blocks.sensed.as_mut_slice()))?;
        if rest.strained {
            each("blocks.strain", bytemuck::cast_slice_mut(self.blocks.strain.as_mut_slice()))?;
        }
        if !self.blocks.width.is_empty() {
            each(WIDTHS, self.blocks.width.as_mut_slice())?;
            each(WRITTEN, bytemuck::cast_slice_mut(&mut self.blocks.written))?;
        }
        self.blocks.copied = Vec::new();
        if rest.copied {
            let batches = self.layout.blocks() as usize * self.layout.batches_per_block as usize;
            self.blocks.copied = vec![0; batches];
            each("blocks.copied", &mut self.blocks.copied)?;
        }
        self.blocks.closed_early = Column::filled(0, 0);
        if rest.closed_early {
            self.blocks.know_closed_early();
            let early = &mut self.blocks.closed_early;
            each(CLOSED_EARLY, bytemuck::cast_slice_mut(early.as_mut_slice()))?;
        }
        (self.blocks.born, self.blocks.disturbed) = (Column::filled(0, 0), Vec::new());
        self.blocks.re_reads = Vec::new();
        if rest.exposed {
            self.record_exposure();
            each(BORN, bytemuck::cast_slice_mut(self.blocks.born.as_mut_slice()))?;
            each(DISTURBED, bytemuck::cast_slice_mut(&mut self.blocks.disturbed))?;
        }
        if rest.re_read {
            each(RE_READS, bytemuck::cast_slice_mut(&mut self.blocks.re_reads))?;
        }
        Ok(())
    }

    /// Restores the free and the open blocks.
    fn take_bins<Error: From<Unknown>>(
        &mut self,
        rest: &Rest,
        each: Take<'_, Error>,
    ) -> Result<(), Error> {
        let free: usize = rest.bins.iter().map(|bin| bin.free as usize).sum();
        let mut pairs = vec![0u64; 2 * free];
        each("bins.free", bytemuck::cast_slice_mut(&mut pairs))?;
        let bins = self.bins.ids().zip(&rest.bins);
        let mut wanted = bins.flat_map(|(bin, rest)| (0..rest.free).map(move |_| bin));
        let is_there = |(pair, bin)| self.is_block_of(bin, pair, BlockState::Free);
        if !pairs.chunks_exact(2).map(|pair| pair[1]).zip(&mut wanted).all(is_there) {
            return Err(Unknown.into());
        }
        let open = |(bin, rest): (BinId, &RestOfBin)| {
            let mut open = rest.open.iter().flatten();
            let left = rest.left.map(|left| u64::from(left.block));
            open.all(|(block, _)| self.is_block_of(bin, u64::from(*block), BlockState::Open))
                && left.is_none_or(|block| self.is_block_of(bin, block, BlockState::Collecting))
        };
        if !self.bins.ids().zip(&rest.bins).all(open) {
            return Err(Unknown.into());
        }
        let mut pairs = pairs.chunks_exact(2).map(|pair| (pair[0], BlockId(pair[1] as u32)));
        for (bin, of_bin) in self.bins.as_mut_slice().iter_mut().zip(&rest.bins) {
            let free = pairs.by_ref().take(of_bin.free as usize);
            bin.restore(free, of_bin.released);
            bin.open = [Open::default(); STREAMS];
            for (open, kept) in bin.open.iter_mut().zip(&of_bin.open) {
                if let Some((block, next)) = *kept {
                    *open = Open { block: Some(BlockId(block)), next };
                }
            }
            bin.bad = of_bin.bad;
            bin.price = of_bin.price;
            if let Some(left) = of_bin.left {
                let victim = BlockId(left.block);
                (bin.victim, bin.left, bin.collecting) = (Some(victim), Some(left.next), 1);
                self.blocks.moved[victim] = left.moved;
            }
        }
        Ok(())
    }

    /// True if a drive of this layout may have the numbers of the rest.
    fn may_be(&self, rest: &Rest) -> bool {
        let layout = &self.layout;
        let fits = |bin: &RestOfBin| {
            let mut open = bin.open.iter().flatten();
            bin.open.len() <= STREAMS
                && u64::from(bin.free) + u64::from(bin.bad) <= u64::from(layout.blocks_per_bin())
                && open.all(|(_, next)| *next < layout.batches_per_block)
                && bin.left.is_none_or(|left| {
                    left.next < layout.batches_per_block && left.moved <= layout.units_per_block()
                })
        };
        rest.bins.len() == self.bins.len()
            && rest.spares.len() == self.spares.len()
            && rest.of_sets.len() == self.of_sets.len()
            && rest.mapped <= layout.map_units
            && rest.bins.iter().all(fits)
    }

    /// True if `number` is a block of the bin that has this state.
    fn is_block_of(&self, bin: BinId, number: u64, state: BlockState) -> bool {
        let first = u64::from(self.layout.first_block(bin).0);
        let blocks = first..first + u64::from(self.layout.blocks_per_bin());
        blocks.contains(&number) && self.blocks.state[BlockId(number as u32)] == state
    }
}
