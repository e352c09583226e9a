//! Blocks and bins: the state of each block (free, open, closed, being collected, bad), its valid
//! units and its wear.

use crate::allocation::FreeBlockOrder;
use crate::ids::BlockId;
use crate::streams::STREAMS;
use engine::Column;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Reason for programming units.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// The host wrote them.
    Host = 0,
    /// Garbage collection moved them.
    Gc = 1,
    /// Empty slots of a batch that was programmed before it was full.
    Padding = 2,
    /// Scrubbing moved them.
    Scrub = 3,
    /// Summary of a full block.
    Summary = 4,
    /// Parity of logical stripes, or of the stripes of superblocks.
    Parity = 5,
    /// Units that had been lost with failed flash, and were rebuilt.
    Rebuild = 6,
}

/// Number of sources.
pub const SOURCES: usize = 7;

/// Counts of programs and erases, in units and blocks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tally {
    /// Units programmed, by [`Source`].
    #[serde(deserialize_with = "of_sources")]
    pub units: [u64; SOURCES],
    /// Blocks erased.
    pub erases: u64,
    /// Erased victims of garbage collection.
    #[serde(default)]
    pub collected: u64,
    /// Units that were moved out of these victims, counted at the erase. So over any period no more
    /// units are moved than were in the erased victims.
    #[serde(default)]
    pub moved: u64,
    /// Blocks retired since the drive was new.
    pub retired: u64,
    /// Migrations: worn blocks that took the data of other blocks.
    #[serde(default)]
    pub migrations: u64,
    /// Batches that copy-backs passed over because their data did not fit there
    /// ([`nand::CopyBackPages`]). They were not programmed.
    #[serde(default)]
    pub skipped: u64,
    /// Units of parity of superblocks, by the [`crate::Stream`] whose data they
    /// protect. They are among the
    /// units of [`Source::Parity`].
    #[serde(default, skip_serializing_if = "is_nothing")]
    pub parity_of: [u64; STREAMS],
}

/// True without parity of superblocks.
fn is_nothing(units: &[u64; STREAMS]) -> bool {
    *units == [0; STREAMS]
}

/// Reads units by source. Earlier versions had fewer sources.
fn of_sources<'de, D: Deserializer<'de>>(from: D) -> Result<[u64; SOURCES], D::Error> {
    let known = Vec::<u64>::deserialize(from)?;
    let mut units = [0; SOURCES];
    match units.get_mut(..known.len()) {
        Some(places) => places.copy_from_slice(&known),
        None => return Err(D::Error::invalid_length(known.len(), &"units by source")),
    }
    Ok(units)
}

impl Tally {
    /// The difference to `earlier`.
    pub fn since(&self, earlier: &Self) -> Self {
        Self {
            units: std::array::from_fn(|source| self.units[source] - earlier.units[source]),
            erases: self.erases - earlier.erases,
            collected: self.collected - earlier.collected,
            moved: self.moved - earlier.moved,
            retired: self.retired - earlier.retired,
            skipped: self.skipped - earlier.skipped,
            migrations: self.migrations - earlier.migrations,
            parity_of: std::array::from_fn(|stream| {
                self.parity_of[stream] - earlier.parity_of[stream]
            }),
        }
    }
    /// The counts of both together.
    pub fn plus(&self, other: &Self) -> Self {
        Self {
            units: std::array::from_fn(|source| self.units[source] + other.units[source]),
            erases: self.erases + other.erases,
            collected: self.collected + other.collected,
            moved: self.moved + other.moved,
            retired: self.retired + other.retired,
            skipped: self.skipped + other.skipped,
            migrations: self.migrations + other.migrations,
            parity_of: std::array::from_fn(|stream| {
                self.parity_of[stream] + other.parity_of[stream]
            }),
        }
    }
    /// Units programmed over units that the host wrote; 1 if it wrote none.
    pub fn write_amplification(&self) -> f64 {
        let total: u64 = self.units.iter().sum();
        let host = self.units[Source::Host as usize];
        if host == 0 { 1.0 } else { total as f64 / host as f64 }
    }
}

impl std::iter::Sum for Tally {
    fn sum<I: Iterator<Item = Self>>(counts: I) -> Self {
        counts.fold(Self::default(), |sum, one| sum.plus(&one))
    }
}

/// Use of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockState {
    /// Erased, waiting to be opened.
    Free,
    /// Taking writes.
    Open,
    /// Full; garbage collection may choose it.
    Closed,
    /// Chosen by garbage collection.
    Collecting,
    /// Retired.
    Bad,
}

impl BlockState {
    /// The state that `state as u8` gave.
    pub fn from_number(number: u8) -> Option<Self> {
        let all = [Self::Free, Self::Open, Self::Closed, Self::Collecting, Self::Bad];
        all.into_iter().find(|state| *state as u8 == number)
    }
}

/// Bit of a block's standing that bars garbage collection from choosing it.
pub const BARRED: u32 = 1 << 31;

/// The state of all blocks, one column per fact, so that victim selection reads only the values
/// that it compares.
#[derive(Clone)]
pub struct Blocks {
    /// Valid units, with [`BARRED`] unless the block is closed.
    pub standing: Column<BlockId, u32>,
    /// Erases so far.
    pub erase_count: Column<BlockId, u32>,
    /// Time at which the block was closed, in units written to the drive before.
    pub closed_at: Column<BlockId, u64>,
    /// Batches of an open block that are not written yet, whether bound or not.
    pub unwritten: Column<BlockId, u32>,
    /// Units moved out of the block since it was erased.
    pub moved: Column<BlockId, u32>,
    /// Reads of the block that are under way; an erase waits for them.
    pub readers: Column<BlockId, u32>,
    /// Use of the block.
    pub state: Column<BlockId, BlockState>,
    /// Rows of the block sensed since its last erase, by any operation; empty if nothing has ever
    /// asked for this count.
    pub sensed: Column<BlockId, u32>,
    /// Copy-backs in a row of the data of each batch, by block and batch; empty if nothing limits
    /// them.
    pub copied: Vec<u8>,
    /// Wear by interruptions of erases and programs: extra ramps, and pulses that were asserted
    /// in vain. Empty if nothing is interrupted.
    pub strain: Column<BlockId, [u32; 2]>,
    /// Rows written of a block that was closed before it was full, plus one; such a block has no
    /// summary. 0 for all other blocks; empty if no block was ever closed early.
    pub closed_early: Column<BlockId, u32>,
    /// Moments of first programs (see `exposure`); empty if nothing depends on them.
    pub born: Column<BlockId, i64>,
    /// Rows sensed in each erase block since its erase, by [`crate::Ftl::erase_block`]; empty if
    /// nothing depends on them.
    pub disturbed: Vec<u32>,
    /// Re-reads of each block since its erase; empty if no read is repeated.
    pub re_reads: Vec<u32>,
    /// Members of the stripes of each block that is not free, parity included; 0 without parity.
    /// Empty without superblocks.
    pub width: Column<BlockId, u8>,
    /// Batches written in each lane of each block since its erase, those of parity included. Empty
    /// without superblocks.
    pub written: Vec<u32>,
}

impl Blocks {
    /// `count` free blocks.
    pub fn new(count: usize) -> Self {
        Self {
            standing: Column::filled(BARRED, count),
            erase_count: Column::filled(0, count),
            closed_at: Column::filled(0, count),
            unwritten: Column::filled(0, count),
            moved: Column::filled(0, count),
            readers: Column::filled(0, count),
            state: Column::filled(BlockState::Free, count),
            sensed: Column::filled(0, 0),
            copied: Vec::new(),
            strain: Column::filled([0; 2], 0),
            closed_early: Column::filled(0, 0),
            born: Column::filled(0, 0),
            disturbed: Vec::new(),
            re_reads: Vec::new(),
            width: Column::filled(0, 0),
            written: Vec::new(),
        }
    }
    /// Begins to record the stripes of superblocks with so many lanes.
    pub fn know_stripes(&mut self, lanes: u32) {
        self.width = Column::filled(0, self.state.len());
        self.written = vec![0; self.state.len() * lanes as usize];
    }
    /// Begins to record the blocks that are closed before they are full.
    pub fn know_closed_early(&mut self) {
        if self.closed_early.is_empty() {
            self.closed_early = Column::filled(0, self.state.len());
        }
    }
    /// Rows written of a block that was closed before it was full.
    pub fn rows_closed_early(&self, block: BlockId) -> Option<u32> {
        let noted = self.closed_early.as_slice().get(block.0 as usize)?;
        noted.checked_sub(1)
    }
    /// Valid units of a block.
    #[inline]
    pub fn valid(&self, block: BlockId) -> u32 {
        self.standing[block] & !BARRED
    }
    /// Bytes of all columns.
    pub fn bytes(&self) -> usize {
        self.standing.len() * (4 + 4 + 8 + 4 + 4 + 4 + 1)
            + self.sensed.len() * 4
            + self.copied.len()
            + self.strain.len() * 8
            + self.closed_early.len() * 4
            + self.born.len() * 8
            + self.disturbed.len() * 4
            + self.re_reads.len() * 4
            + self.width.len()
            + self.written.len() * 4
    }
}

/// A stream's open block in a bin.
#[derive(Clone, Copy, Debug, Default)]
pub struct Open {
    /// The block, if one is open.
    pub block: Option<BlockId>,
    /// The next batch to be bound.
    pub next: u32,
}

/// Progress of a bin's migration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Migration {
    /// The worn block is being collected like any other victim.
    Empties {
        /// The worn block.
        to: BlockId,
    },
    /// The worn block is erased and takes data.
    Takes {
        /// The worn block.
        to: BlockId,
        /// The next batch of the worn block.
        next: u32,
        /// The block whose data moves to the worn block, once it is chosen.
        from: Option<BlockId>,
    },
}

/// The blocks of one bin that are not closed.
#[derive(Clone)]
#[repr(align(64))]
pub struct Bin {
    // The least key is opened first: the erase count, the time of release, or round and position.
    free: BinaryHeap<Reverse<(u64, BlockId)>>,
    // Number of blocks released or, in order by position, the least key that a released block may
    // have.
    released: u64,
    /// Open blocks, indexed by `Row::open` of a stream.
    pub open: [Open; STREAMS],
    /// Retired blocks.
    pub bad: u32,
    /// Blocks that garbage collection has chosen and not yet erased.
    pub collecting: u32,
    /// The victim that was chosen last, until it is erased.
    pub victim: Option<BlockId>,
    /// The batch of that victim with which its collection goes on, if nobody moves its data now. The
    /// next choice takes it up again.
    pub left: Option<u32>,
    /// Moves that regain the space of a host's batch, in 256ths of a unit, by the victim that was
    /// chosen last.
    pub price: u32,
    /// Progress of the migration to a worn block.
    pub migration: Option<Migration>,
    /// Erases of all blocks that were ever good, and the number of those blocks.
    pub erases: u64,
    pub lives: u32,
}

impl Bin {
    /// A bin without blocks.
    pub fn new() -> Self {
        Self {
            free: BinaryHeap::new(),
            released: 0,
            open: [Open::default(); STREAMS],
            bad: 0,
            collecting: 0,
            victim: None,
            left: None,
            price: 0,
            migration: None,
            erases: 0,
            lives: 0,
        }
    }
    /// Free blocks.
    #[inline]
    pub fn free(&self) -> u32 {
        self.free.len() as u32
    }
    /// Adds an erased block; `order` is the same in every call.
    pub fn release(&mut self, block: BlockId, erase_count: u32, order: FreeBlockOrder) {
        if order != FreeBlockOrder::NextFit {
            self.released += 1;
        }
        let key = match order {
            FreeBlockOrder::LeastWorn => u64::from(erase_count),
            FreeBlockOrder::Fifo => self.released,
            FreeBlockOrder::NextFit => {
                let in_this_round = self.released >> 32 << 32 | u64::from(block.0);
                let is_passed = in_this_round < self.released;
                in_this_round + (u64::from(is_passed) << 32)
            }
        };
        self.free.push(Reverse((key, block)));
    }
    /// Takes the free block that is opened next; `order` is that of [`Bin::release`].
    pub fn take(&mut self, order: FreeBlockOrder) -> Option<BlockId> {
        let Reverse((key, block)) = self.free.pop()?;
        if order == FreeBlockOrder::NextFit {
            self.released = key + 1;
        }
        Some(block)
    }
    /// The free block that is opened next.
    pub fn first_free(&self) -> Option<BlockId> {
        self.free.peek().map(|Reverse((_, block))| *block)
    }
    /// State of the opening order beside the keys: see the field `released`.
    pub fn released(&self) -> u64 {
        self.released
    }
    /// The free blocks with their keys, in no order.
    pub fn free_list(&self) -> impl Iterator<Item = (u64, BlockId)> {
        self.free.iter().map(|Reverse(pair)| *pair)
    }
    /// Restores the result of [`Bin::free_list`] and [`Bin::released`].
    pub fn restore(&mut self, free: impl Iterator<Item = (u64, BlockId)>, released: u64) {
        self.free = free.map(Reverse).collect();
        self.released = released;
    }
    /// Changes the order in which free blocks are opened. If the new order is by the time that
    /// blocks have been free, the previous order of the blocks takes the place of that time.
    pub fn reorder(&mut self, order: FreeBlockOrder, erase_count: impl Fn(BlockId) -> u32) {
        let mut blocks = Vec::with_capacity(self.free.len());
        while let Some(Reverse((_, block))) = self.free.pop() {
            blocks.push(block);
        }
        self.released = 0;
        blocks.into_iter().for_each(|block| self.release(block, erase_count(block), order));
    }
    /// The free blocks, in no order.
    pub fn free_blocks(&self) -> impl Iterator<Item = BlockId> {
        self.free.iter().map(|Reverse((_, block))| *block)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A bin of blocks 8 to 15, all free.
    fn bin(order: FreeBlockOrder) -> Bin {
        let mut bin = Bin::new();
        (8..16).for_each(|block| bin.release(BlockId(block), 0, order));
        bin
    }

    #[test]
    fn by_position_the_next_block_behind_the_last_one_is_opened() {
        let order = FreeBlockOrder::NextFit;
        let mut bin = bin(order);
        let take = |bin: &mut Bin| bin.take(order).map(|block| block.0);
        assert_eq!(
            (0..5).map(|_| take(&mut bin)).collect::<Option<Vec<_>>>(),
            Some((8..13).collect())
        );
        // Blocks 13 to 15 come next; a block released after the last opened one comes in the
        // next round.
        for block in [11, 9, 12] {
            bin.release(BlockId(block), 7, order);
        }
        assert_eq!([0; 5].map(|_| take(&mut bin)), [13, 14, 15, 9, 11].map(Some));
        // After 11 come 12 and 13, which is released now; 8 and 10 belong to the next round.
        for block in [13, 10, 8] {
            bin.release(BlockId(block), 1, order);
        }
        assert_eq!([0; 5].map(|_| take(&mut bin)), [Some(12), Some(13), Some(8), Some(10), None]);
    }

    #[test]
    fn a_restored_bin_goes_on_behind_the_block_that_was_opened_last() {
        let order = FreeBlockOrder::NextFit;
        let mut first = bin(order);
        for _ in 0..4 {
            first.take(order);
        }
        first.release(BlockId(9), 1, order);
        let mut second = Bin::new();
        second.restore(first.free_list().collect::<Vec<_>>().into_iter(), first.released());
        for bin in [&mut first, &mut second] {
            bin.release(BlockId(8), 1, order);
        }
        let rest = |bin: &mut Bin| [0; 7].map(|_| bin.take(order).map(|block| block.0));
        assert_eq!(
            rest(&mut first),
            [12, 13, 14, 15, 8, 9].map(Some).into_iter().chain([None]).collect::<Vec<_>>()[..]
        );
        assert_eq!(rest(&mut second)[..6], [12, 13, 14, 15, 8, 9].map(Some));
    }

    #[test]
    fn the_least_worn_and_the_one_free_for_longest_go_first() {
        for (order, expected) in
            [(FreeBlockOrder::LeastWorn, [10, 12, 9]), (FreeBlockOrder::Fifo, [9, 12, 10])]
        {
            let mut bin = Bin::new();
            for (block, erases) in [(9, 5), (12, 3), (10, 1)] {
                bin.release(BlockId(block), erases, order);
            }
            assert_eq!([0; 3].map(|_| bin.take(order).unwrap().0), expected);
        }
    }
}
