//! Reads and writes of 4 KiB units, and the distances between accesses of the same unit.
//!
//! Units lie in blocks of eight, which a hash table finds (its order never shows). Every unit is
//! counted while the blocks fit the memory. When they do not, half of the address space is
//! dropped, by a hash of the address, and half of that again (spatial sampling with a fixed size;
//! Waldspurger et al. 2015, "Efficient MRC construction with SHARDS"). The hash takes regions of
//! 1 MiB as a whole, so that neighbours stay together. The first block of the region after a
//! sampled one is kept, too: it only tells where touched stretches in the sample end. An access
//! that is counted while one in n regions is sampled counts n times, so that the time before
//! memory ran out weighs no more than the time after it.

use super::counts::{Counts, Spread};
use hashbrown::HashTable;
use serde::{Deserialize, Serialize};

/// The logarithm of the bytes of a unit.
const UNIT_BITS: u32 = 12;

/// Units of a block.
const UNITS: usize = 8;

/// The logarithm of the blocks of a region of 1 MiB.
const REGION_BITS: u32 = 5;

/// Blocks of a region.
const REGION: u64 = 1 << REGION_BITS;

/// Bits of a block's number that are its address; the others number its device.
const ADDRESS_BITS: u32 = 64 - UNIT_BITS - 3;

/// Devices that can be told apart.
pub(super) const DEVICES_MAX: usize = 1 << (64 - ADDRESS_BITS);

/// Classes of the number of accesses of a unit: 1, 2, 3, 4 to 5, 6 to 7, 8 to 11, …
pub(crate) const HEATS: usize = 64;

/// Classes of distances, in half octaves as those of heat.
pub(crate) const DISTANCES: usize = 128;

/// Most units of a device that one request may touch. A larger request is no access but a wipe,
/// and would fill the memory with a single row.
const TOUCHED_MAX: u64 = 1 << 18;

/// Counts of eight adjacent units.
pub(super) struct Block {
    number: u64,
    pub reads: [u32; UNITS],
    pub writes: [u32; UNITS],
    /// Units read, and written, before the last access of each unit.
    read_at: [u64; UNITS],
    write_at: [u64; UNITS],
    written_ns: [u64; UNITS],
}

impl Block {
    /// State of a unit on which the count of an access depends.
    #[inline]
    fn history(&self, is_write: bool, unit: usize) -> (u32, u32, u64, u64) {
        let (reads, writes) = (self.reads[unit], self.writes[unit]);
        if is_write {
            (reads, writes, self.write_at[unit], self.written_ns[unit])
        } else {
            (reads, writes, self.read_at[unit], 0)
        }
    }
}

/// Bytes of memory that a block takes: with its place in the table, and with the three
/// lists of heat that are made of its units at the end.
pub(super) const BLOCK_BYTES: u64 = size_of::<Block>() as u64 + 8 + 3 * (UNITS as u64) * 4;

/// Reuse: distances between accesses of the same unit.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Reuse {
    /// Time between writes of the same unit, in nanoseconds.
    pub rewrite_time_ns: Option<Spread>,
    /// Bytes that were written between them, the unit itself included.
    pub rewrite_distance_bytes: Option<Spread>,
    /// Bytes that were read between reads of the same unit.
    pub reread_distance_bytes: Option<Spread>,
    /// Share of the units read that the trace has written before.
    pub read_after_write_share: f64,
}

/// Most parts of the accesses in which first accesses are counted.
const PARTS: usize = 64;

/// First accesses of units over the trace, by reads or by writes.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Growth {
    /// Units accessed in a part, first or not.
    pub part_units: u64,
    /// Units accessed for the first time in each part.
    pub firsts: Vec<u64>,
}

impl Growth {
    #[inline]
    fn add(&mut self, at: u64, count: u64) {
        while at / self.part_units >= PARTS as u64 {
            self.double();
        }
        self.firsts[(at / self.part_units) as usize] += count;
    }

    #[cold]
    fn double(&mut self) {
        self.firsts = self.firsts.chunks(2).map(|pair| pair.iter().sum()).collect();
        self.firsts.resize(PARTS, 0);
        self.part_units *= 2;
    }
}

/// Counts accesses of one kind, reads or writes.
struct Side {
    /// Units accessed, all of them.
    units: u64,
    distances: Counts,
    /// By number of earlier accesses of the unit, then by distance.
    by_heat: Vec<[u64; DISTANCES]>,
    growth: Growth,
}

/// All places that were read or written.
pub(super) struct Places {
    table: HashTable<u32>,
    blocks: Vec<Block>,
    blocks_max: usize,
    sample: Sample,
    /// By device: the first accessed unit, and the end of the last.
    bounds: Vec<(u64, u64)>,
    reads: Side,
    writes: Side,
    rewrite_ns: Counts,
    reads_seen: u64,
    reads_of_written: u64,
    /// Units both read and written, by the first of the two.
    read_first: u64,
    written_first: u64,
    pub wipes: u64,
}

impl Places {
    /// Uses about this much memory.
    pub fn new(memory_bytes: u64) -> Self {
        let blocks_max = (memory_bytes / BLOCK_BYTES).clamp(64, 1 << 31) as usize;
        Self {
            table: HashTable::new(),
            blocks: Vec::new(),
            blocks_max,
            sample: Sample { halvings: 0 },
            bounds: Vec::new(),
            reads: Side::new(),
            writes: Side::new(),
            rewrite_ns: Counts::new(),
            reads_seen: 0,
            reads_of_written: 0,
            read_first: 0,
            written_first: 0,
            wipes: 0,
        }
    }

    /// Counts a read or write at `now_ns`.
    #[inline]
    pub fn access(&mut self, is_write: bool, device: usize, offset: u64, bytes: u64, now_ns: u64) {
        let first = offset >> UNIT_BITS;
        let behind = ((offset + bytes - 1) >> UNIT_BITS) + 1;
        if behind - first > TOUCHED_MAX {
            self.wipes += 1;
            return;
        }
        let side = if is_write { &mut self.writes } else { &mut self.reads };
        let at = side.units;
        side.units += behind - first;
        let device = device.min(DEVICES_MAX - 1);
        self.reach(device, first, behind);
        let device = (device as u64) << ADDRESS_BITS;
        let mut unit = first;
        while unit < behind {
            let block = unit >> 3;
            let end = behind.min((block + 1) << 3);
            if let Some(index) = self.find(device | block) {
                let range = (unit & 7) as usize..((end - 1) & 7) as usize + 1;
                self.count(is_write, index, range, at, now_ns);
            }
            unit = end;
        }
    }

    #[inline]
    fn reach(&mut self, device: usize, first: u64, behind: u64) {
        if device >= self.bounds.len() {
            self.bounds.resize(device + 1, (u64::MAX, 0));
        }
        let (low, high) = &mut self.bounds[device];
        (*low, *high) = ((*low).min(first), (*high).max(behind));
    }

    #[inline]
    fn count(
        &mut self,
        is_write: bool,
        index: usize,
        units: std::ops::Range<usize>,
        at: u64,
        now_ns: u64,
    ) {
        let mut begin = units.start;
        while begin < units.end {
            // Units side by side have most often the same history.
            let block = &self.blocks[index];
            let history = block.history(is_write, begin);
            let mut end = begin + 1;
            while end < units.end && block.history(is_write, end) == history {
                end += 1;
            }
            self.count_alike(is_write, index, begin..end, at, now_ns);
            begin = end;
        }
    }

    /// Counts units that have the same history.
    #[inline]
    fn count_alike(
        &mut self,
        is_write: bool,
        index: usize,
        units: std::ops::Range<usize>,
        at: u64,
        now_ns: u64,
    ) {
        let block = &mut self.blocks[index];
        let (first, count) = (units.start, units.len() as u64 * self.sample.weight(block.number));
        let (reads, writes) = (block.reads[first], block.writes[first]);
        if count == 0 {
            let heat = if is_write { &mut block.writes } else { &mut block.reads };
            let more = heat[first].saturating_add(1);
            heat[units].fill(more);
            return;
        }
        if is_write {
            if writes > 0 {
                self.writes.again(writes, at - block.write_at[first], count);
                self.rewrite_ns.add_many(now_ns - block.written_ns[first], count);
            } else {
                self.writes.growth.add(at, count);
                self.read_first += if reads > 0 { count } else { 0 };
            }
            block.writes[units.clone()].fill(writes.saturating_add(1));
            block.write_at[units.clone()].fill(at);
            block.written_ns[units].fill(now_ns);
        } else {
            if reads > 0 {
                self.reads.again(reads, at - block.read_at[first], count);
            } else {
                self.reads.growth.add(at, count);
                self.written_first += if writes > 0 { count } else { 0 };
            }
            self.reads_seen += count;
            self.reads_of_written += if writes > 0 { count } else { 0 };
            block.reads[units.clone()].fill(reads.saturating_add(1));
            block.read_at[units].fill(at);
        }
    }

    /// The index of a block, which is added if it is new; `None` if it is not sampled.
    #[inline]
    fn find(&mut self, number: u64) -> Option<usize> {
        if !self.sample.holds(number) {
            return None;
        }
        let hash = stirred(number);
        let blocks = &self.blocks;
        let found = self.table.find(hash, |index| blocks[*index as usize].number == number);
        match found {
            Some(index) => Some(*index as usize),
            None => self.make(number),
        }
    }

    #[cold]
    fn make(&mut self, number: u64) -> Option<usize> {
        while self.blocks.len() >= self.blocks_max {
            self.halve();
        }
        if !self.sample.holds(number) {
            return None;
        }
        let index = self.blocks.len();
        if index == self.blocks.capacity() {
            // Not more than may be used.
            let more = index.max(64).min(self.blocks_max - index);
            self.blocks.reserve_exact(more);
        }
        self.blocks.push(Block {
            number,
            reads: [0; UNITS],
            writes: [0; UNITS],
            read_at: [0; UNITS],
            write_at: [0; UNITS],
            written_ns: [0; UNITS],
        });
        let blocks = &self.blocks;
        let hash_of = |index: &u32| stirred(blocks[*index as usize].number);
        self.table.insert_unique(stirred(number), index as u32, hash_of);
        Some(index)
    }

    fn halve(&mut self) {
        self.sample.halvings += 1;
        let sample = self.sample;
        self.blocks.retain(|block| sample.holds(block.number));
        self.table.clear();
        let blocks = &self.blocks;
        for (index, block) in blocks.iter().enumerate() {
            let hash_of = |index: &u32| stirred(blocks[*index as usize].number);
            self.table.insert_unique(stirred(block.number), index as u32, hash_of);
        }
    }

    /// The counted part of the address space.
    pub fn sample(&self) -> Sample {
        self.sample
    }

    /// Devices that are accessed, and the units from the first to the last on each, summed.
    pub fn reached(&self) -> (u64, u64) {
        let reached = self.bounds.iter().filter(|(low, high)| low < high);
        reached.fold((0, 0), |(devices, units), (low, high)| (devices + 1, units + high - low))
    }

    /// Units accessed, written or read, by all requests.
    pub fn units(&self, is_write: bool) -> u64 {
        if is_write { self.writes.units } else { self.reads.units }
    }

    /// Number of accesses by number of earlier accesses of the unit and by distance to the last
    /// one.
    pub fn distances(&self, is_write: bool) -> Vec<(u32, u32, u64)> {
        let side = if is_write { &self.writes } else { &self.reads };
        let mut list = Vec::new();
        for (heat, row) in side.by_heat.iter().enumerate() {
            let counted = row.iter().enumerate().filter(|(_, count)| **count > 0);
            list.extend(counted.map(|(class, count)| (heat as u32, class as u32, *count)));
        }
        list
    }

    /// First reads or writes of units over the trace.
    pub fn growth(&self, is_write: bool) -> Growth {
        let side = if is_write { &self.writes } else { &self.reads };
        let mut growth = side.growth.clone();
        let used = growth.firsts.iter().rposition(|count| *count > 0).map_or(0, |last| last + 1);
        growth.firsts.truncate(used);
        growth
    }

    /// Share of the units both read and written that are written first.
    pub fn written_first_share(&self) -> f64 {
        self.written_first as f64 / (self.read_first + self.written_first).max(1) as f64
    }

    pub fn reuse(&self) -> Reuse {
        let bytes = |counts: &Counts| counts.spread().map(Spread::in_units);
        Reuse {
            rewrite_time_ns: self.rewrite_ns.spread(),
            rewrite_distance_bytes: bytes(&self.writes.distances),
            reread_distance_bytes: bytes(&self.reads.distances),
            read_after_write_share: self.reads_of_written as f64 / self.reads_seen.max(1) as f64,
        }
    }

    /// All accessed units, by device and address: device and unit as one number, reads, writes.
    /// For a block outside the sample only its first unit.
    pub fn sorted(&mut self) -> impl Iterator<Item = (u64, u32, u32)> + '_ {
        self.table = HashTable::new();
        self.blocks.sort_unstable_by_key(|block| block.number);
        let sample = self.sample;
        self.blocks.iter().flat_map(move |block| {
            let unit =
                |at: usize| (block.number << 3 | at as u64, block.reads[at], block.writes[at]);
            let units = if sample.has(block.number) { UNITS } else { 1 };
            (0..units).map(unit).filter(|(_, reads, writes)| reads | writes > 0)
        })
    }
}

impl Side {
    fn new() -> Self {
        Self {
            units: 0,
            distances: Counts::new(),
            by_heat: vec![[0; DISTANCES]; HEATS],
            growth: Growth { part_units: 1, firsts: vec![0; PARTS] },
        }
    }

    /// Counts accesses of units that were accessed `before` times, the last time `distance` units
    /// ago.
    #[inline]
    fn again(&mut self, before: u32, distance: u64, count: u64) {
        self.distances.add_many(distance, count);
        self.by_heat[half_octave(u64::from(before))][half_octave(distance)] += count;
    }
}

impl Spread {
    /// A spread of units, converted to bytes.
    fn in_units(self) -> Self {
        let bytes = |units: u64| units << UNIT_BITS;
        Self {
            mean: self.mean * bytes(1) as f64,
            min: bytes(self.min),
            p10: bytes(self.p10),
            p25: bytes(self.p25),
            p50: bytes(self.p50),
            p75: bytes(self.p75),
            p90: bytes(self.p90),
            p99: bytes(self.p99),
            p99_9: bytes(self.p99_9),
            max: bytes(self.max),
            ..self
        }
    }
}

/// The class of a number in half octaves: 0, 1, 2, 3, 4 to 5, 6 to 7, 8 to 11, …
#[inline]
pub(crate) fn half_octave(number: u64) -> usize {
    if number < 2 {
        return number as usize;
    }
    let octave = number.ilog2();
    (2 * octave + (number >> (octave - 1) & 1) as u32) as usize
}

/// The least number of a class.
pub(crate) fn least_of(class: usize) -> u64 {
    if class < 2 {
        return class as u64;
    }
    let octave = class / 2;
    (1 << octave) + ((class % 2) as u64) * (1 << (octave - 1))
}

/// SplitMix64's finaliser.
#[inline]
fn stirred(number: u64) -> u64 {
    let z = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// The sampled regions.
#[derive(Clone, Copy)]
pub(super) struct Sample {
    /// A region is sampled if this many of the highest bits of its hash are 0.
    halvings: u32,
}

impl Sample {
    /// One in this many regions is counted.
    pub fn one_in(self) -> u64 {
        1 << self.halvings
    }

    /// The share of the address space that is counted.
    pub fn share(self) -> f64 {
        1.0 / self.one_in() as f64
    }

    /// True if the region of a unit is counted.
    pub fn has_unit(self, unit: u64) -> bool {
        self.has(unit >> 3)
    }

    /// True if the end of a stretch before `unit` is sampled.
    pub fn sees_before(self, unit: u64) -> bool {
        unit & 7 != 0 || self.has((unit >> 3).wrapping_sub(1))
    }

    /// True if all units from one to another are counted.
    pub fn has_between(self, first: u64, last: u64) -> bool {
        let region = |unit: u64| unit >> 3 >> REGION_BITS;
        self.halvings == 0 || (region(first)..=region(last)).all(|at| self.has(at << REGION_BITS))
    }

    /// True if the region of a block is counted.
    #[inline]
    fn has(self, block: u64) -> bool {
        let hash = || stirred((block >> REGION_BITS).wrapping_add(0x9e37_79b9_7f4a_7c15));
        self.halvings == 0 || hash().leading_zeros() >= self.halvings
    }

    /// True if a block is counted, or is the first after a region that is.
    #[inline]
    fn holds(self, block: u64) -> bool {
        self.has(block) || block.is_multiple_of(REGION) && self.has(block.wrapping_sub(1))
    }

    /// Weight of an access.
    #[inline]
    fn weight(self, block: u64) -> u64 {
        if self.has(block) { self.one_in() } else { 0 }
    }
}
