//! Blocks and bins: which blocks are free, open, closed, being collected or bad,
//! how much valid data each holds, and how worn it is.

use crate::allocation::FreeBlockOrder;
use crate::ids::BlockId;
use crate::streams::STREAMS;
use engine::Column;
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Why units were programmed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// The host wrote them.
    Host = 0,
    /// Garbage collection moved them.
    Gc = 1,
    /// A batch went out before it was full: its empty slots.
    Padding = 2,
    /// Scrubbing moved them.
    Scrub = 3,
    /// They summarise a full block.
    Summary = 4,
}

/// Number of sources.
pub const SOURCES: usize = 5;

/// What became of the flash, in units and blocks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tally {
    /// Units programmed, by [`Source`].
    pub units: [u64; SOURCES],
    /// Blocks erased.
    pub erases: u64,
    /// Those among them that were victims, and the units that were moved out of them, each counted
    /// with the erase: so no more were moved than there were in what was erased, over any time.
    #[serde(default)]
    pub collected: u64,
    /// See `collected`.
    #[serde(default)]
    pub moved: u64,
    /// Blocks retired since the drive was new.
    pub retired: u64,
    /// Worn blocks that took the data of others.
    #[serde(default)]
    pub migrations: u64,
}

impl Tally {
    /// What was added since `earlier`.
    pub fn since(&self, earlier: &Self) -> Self {
        Self {
            units: std::array::from_fn(|source| self.units[source] - earlier.units[source]),
            erases: self.erases - earlier.erases,
            collected: self.collected - earlier.collected,
            moved: self.moved - earlier.moved,
            retired: self.retired - earlier.retired,
            migrations: self.migrations - earlier.migrations,
        }
    }
    /// Units programmed over units that the host wrote; 1 where it wrote none.
    pub fn write_amplification(&self) -> f64 {
        let total: u64 = self.units.iter().sum();
        let host = self.units[Source::Host as usize];
        if host == 0 { 1.0 } else { total as f64 / host as f64 }
    }
}

/// What a block is used for.
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

/// Marks the standing of a block that garbage collection may not choose.
pub const BARRED: u32 = 1 << 31;

/// The state of all blocks: a column a fact, so that choosing a victim reads
/// only what it compares.
#[derive(Clone)]
pub struct Blocks {
    /// Valid units, with [`BARRED`] unless the block is closed.
    pub standing: Column<BlockId, u32>,
    /// Erases so far.
    pub erase_count: Column<BlockId, u32>,
    /// When the block was closed, in units written to the drive before.
    pub closed_at: Column<BlockId, u64>,
    /// Batches of an open block that are not written yet, bound or not.
    pub unwritten: Column<BlockId, u32>,
    /// Units moved out of the block since it was erased.
    pub moved: Column<BlockId, u32>,
    /// Reads of the block that are under way; an erase waits for them.
    pub readers: Column<BlockId, u32>,
    /// What the block is used for.
    pub state: Column<BlockId, BlockState>,
    /// Rows of the block sensed since its last erase, by anybody; empty where nobody has
    /// ever asked.
    pub sensed: Column<BlockId, u32>,
    /// How often in a row the data of each batch was copied back, by block and batch; empty
    /// where nothing limits that.
    pub copied: Vec<u8>,
    /// What interruptions of erases and programs have worn: extra ramps, and pulses that were
    /// asserted in vain; empty where nothing is interrupted.
    pub strain: Column<BlockId, [u32; 2]>,
    /// Rows that were written of a block that was closed before it was full, plus one; such a
    /// block has no summary. 0 for all others; empty where there never was one.
    pub closed_early: Column<BlockId, u32>,
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
        }
    }
    /// From now on it is noted of blocks that are closed before they are full.
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

/// How far a bin's migration has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Migration {
    /// The worn block is collected as any other.
    Empties {
        /// It.
        to: BlockId,
    },
    /// It is erased and takes data.
    Takes {
        /// It.
        to: BlockId,
        /// Its next batch.
        next: u32,
        /// The block with the data, once it was chosen.
        from: Option<BlockId>,
    },
}

/// The blocks of one bin that are not closed.
#[derive(Clone)]
#[repr(align(64))]
pub struct Bin {
    // The least key is opened first: the erase count, the time of release, or round and position.
    free: BinaryHeap<Reverse<(u64, BlockId)>>,
    // How many blocks were released or, by position, the least key that a released block may have.
    released: u64,
    /// Open blocks, by the place that streams name.
    pub open: [Open; STREAMS],
    /// Retired blocks.
    pub bad: u32,
    /// Blocks that garbage collection has chosen and not yet erased.
    pub collecting: u32,
    /// How far the migration of a worn block has come.
    pub migration: Option<Migration>,
    /// Erases of all blocks that ever were good, and how many those are.
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
    /// What the order of opening goes by beside the keys.
    pub fn released(&self) -> u64 {
        self.released
    }
    /// The free blocks with their keys, in no order.
    pub fn free_list(&self) -> impl Iterator<Item = (u64, BlockId)> {
        self.free.iter().map(|Reverse(pair)| *pair)
    }
    /// Takes up what [`Bin::free_list`] and [`Bin::released`] gave.
    pub fn restore(&mut self, free: impl Iterator<Item = (u64, BlockId)>, released: u64) {
        self.free = free.map(Reverse).collect();
        self.released = released;
    }
    /// Goes over to another order of opening. Where blocks are now to be opened by the
    /// time for which they have been free, their order until now stands for it.
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
        // 13 to 15 are ahead, and what is released behind the last one comes in the next round.
        for block in [11, 9, 12] {
            bin.release(BlockId(block), 7, order);
        }
        assert_eq!([0; 5].map(|_| take(&mut bin)), [13, 14, 15, 9, 11].map(Some));
        // Behind 11 come 12, and 13, which is released now; 8 and 10 are of the next round.
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
