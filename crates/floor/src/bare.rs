//! The floor of an FTL: page map, reverse map, valid counts and greedy cleaning,
//! with every trick that keeps the result the same.
//!
//! - A physical page is valid if the map points back at it, so invalidating one touches a count
//!   in the nearest cache and no page.
//! - Moving a block's valid pages does not branch on validity, which cannot be predicted: each
//!   page is written to the destination, and the destination advances if the page was valid.
//! - Map entries are scattered, and waiting for them takes most of the time. The entries of 64
//!   pages are prefetched at once, so that the waits overlap.
//! - The victim is found by reading all counts, eight or more per instruction: 0.1 ns per page at
//!   4096 blocks of 1024 pages, while lists by count would have to be kept up to date at each
//!   overwrite. It grows with the ratio of the two: at 65536 blocks of 64 pages it is 30 ns.
//!
//! Victims and moves are those of [`NaiveFtl`](crate::NaiveFtl) with one shared
//! open block and one block in reserve.

use std::fmt;

/// Added to the count of a block that is not full, so that it is no victim.
const NOT_FULL: i16 = 1 << 14;

/// Counts that are compared in one step of the search for the victim.
const SCAN: usize = 64;

/// Map entries that are prefetched at once.
const AHEAD: usize = 64;

/// A page-mapped FTL without simulated time.
#[derive(Clone, Debug)]
pub struct BareFtl {
    /// Physical page of each logical page; `UNMAPPED` before its first write.
    map: Vec<u32>,
    /// Logical page last programmed into each physical page.
    reverse: Vec<u32>,
    /// Valid pages of each full block. For the open block, those that it will have
    /// once full, so that programming a page need not count it, plus `NOT_FULL`.
    valid: Vec<i16>,
    page_bits: u32,
    /// The next physical page to program, and the end of its block.
    next: u32,
    end: u32,
    /// First block that was never written; the last block is the first spare.
    fresh: u32,
    /// The block in reserve.
    spare: u32,
    moved: u64,
}

/// No physical page. Only the last page of a drive of 2^32 pages would have this number, and
/// there is no such drive.
const UNMAPPED: u32 = u32::MAX;

/// Error: a drive so full that cleaning gains nothing.
#[derive(Debug, PartialEq, Eq)]
pub struct TooFull;

impl fmt::Display for TooFull {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "the logical pages must leave two blocks and a page of the drive free")
    }
}
impl std::error::Error for TooFull {}

impl BareFtl {
    /// An empty drive of `blocks` blocks of `2^page_bits` pages.
    ///
    /// # Errors
    /// If `logical_pages` leaves less free than the block in reserve, the open
    /// block and one page to be gained.
    ///
    /// # Panics
    /// For blocks of more than 2^13 pages or drives of 2^32 pages and more.
    pub fn new(blocks: u32, page_bits: u32, logical_pages: u32) -> Result<Self, TooFull> {
        assert!(page_bits <= 13, "a count and NOT_FULL share 16 bits");
        let pages = u64::from(blocks) << page_bits;
        assert!(pages < u64::from(u32::MAX), "pages have 32-bit numbers");
        if u64::from(logical_pages) + (2 << page_bits) >= pages {
            return Err(TooFull);
        }
        let mut valid = vec![NOT_FULL; blocks as usize];
        valid[0] = NOT_FULL + (1 << page_bits);
        Ok(Self {
            map: vec![UNMAPPED; logical_pages as usize],
            reverse: vec![0; pages as usize],
            valid,
            page_bits,
            next: 0,
            end: 1 << page_bits,
            fresh: 1,
            spare: blocks - 1,
            moved: 0,
        })
    }

    /// Number of pages that the host can address.
    pub fn logical_pages(&self) -> u32 {
        self.map.len() as u32
    }

    /// Number of pages that cleaning has moved.
    pub fn moved(&self) -> u64 {
        self.moved
    }

    /// Writes logical page `page`.
    #[inline]
    pub fn write(&mut self, page: u32) {
        if self.next == self.end {
            self.make_room();
        }
        let old = std::mem::replace(&mut self.map[page as usize], self.next);
        if old != UNMAPPED {
            self.valid[(old >> self.page_bits) as usize] -= 1;
        }
        self.reverse[self.next as usize] = page;
        self.next += 1;
    }

    /// Writes `pages`, one after the other.
    pub fn write_all(&mut self, pages: &[u32]) {
        for ahead in pages.chunks(AHEAD) {
            prefetch(&self.map, ahead);
            ahead.iter().for_each(|page| self.write(*page));
        }
    }

    /// Opens a block when the open one is full, and cleans if none is left.
    #[cold]
    #[inline(never)]
    fn make_room(&mut self) {
        let pages = 1 << self.page_bits;
        let full = (self.end - 1) >> self.page_bits;
        self.valid[full as usize] -= NOT_FULL;
        if (self.fresh as usize) < self.valid.len() - 1 {
            self.next = self.fresh << self.page_bits;
            self.end = self.next + pages;
            self.valid[self.fresh as usize] = NOT_FULL + pages as i16;
            self.fresh += 1;
            return;
        }
        let victim = self.fewest_valid();
        assert!(self.valid[victim as usize] < pages as i16, "cleaning gains at least a page");
        let to = self.spare << self.page_bits;
        let kept = self.move_valid(victim << self.page_bits, to);
        self.valid[self.spare as usize] = NOT_FULL + pages as i16;
        self.valid[victim as usize] = NOT_FULL;
        self.moved += u64::from(kept);
        (self.next, self.end) = (to + kept, to + pages);
        self.spare = victim;
    }

    /// Copies the valid pages of the block at `from` to the start of the erased block at `to`;
    /// returns their number.
    fn move_valid(&mut self, from: u32, to: u32) -> u32 {
        let pages = 1usize << self.page_bits;
        // Two blocks of one column: slices of each, so that bounds are checked once.
        let low = from.min(to) as usize;
        let high = from.max(to) as usize;
        let (lower, upper) = self.reverse.split_at_mut(high);
        let (lower, upper) = (&mut lower[low..low + pages], &mut upper[..pages]);
        let (source, target) = if from < to { (lower, upper) } else { (upper, lower) };
        let mut kept = 0;
        let mut place = from;
        for ahead in source.chunks(AHEAD) {
            prefetch(&self.map, ahead);
            for page in ahead {
                let mapped = &mut self.map[*page as usize];
                let is_valid = *mapped == place;
                // The mask changes nothing, and spares a check of the bounds.
                target[kept as usize & (pages - 1)] = *page;
                *mapped = if is_valid { to + kept } else { *mapped };
                kept += u32::from(is_valid);
                place += 1;
            }
        }
        kept
    }

    /// The block with the fewest valid pages; of equal ones the lowest.
    fn fewest_valid(&self) -> u32 {
        let (mut fewest, mut chunk_of_fewest) = (i16::MAX, 0);
        for (chunk, counts) in self.valid.chunks(SCAN).enumerate() {
            let least = counts.iter().copied().fold(i16::MAX, i16::min);
            if least < fewest {
                (fewest, chunk_of_fewest) = (least, chunk);
            }
        }
        let first = chunk_of_fewest * SCAN;
        let within = self.valid[first..].iter().position(|count| *count == fewest);
        (first + within.expect("the least count is one of them")) as u32
    }

    /// A checksum of the places of all pages.
    pub fn checksum(&self) -> u64 {
        let mix = |sum: u64, place: &u32| {
            (sum ^ u64::from(*place)).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29)
        };
        self.map.iter().fold(1, mix)
    }
}

/// Prefetches the map entries of `pages`: reads that do not wait for each other.
#[inline]
fn prefetch(map: &[u32], pages: &[u32]) {
    let all = pages.iter().fold(0, |all, page| all ^ map[*page as usize]);
    std::hint::black_box(all);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Naive, NaiveFtl, OpenBlocks, Random};
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(crate::cases!())]

        #[test]
        fn it_moves_the_pages_that_the_naive_one_moves(
            blocks in 4u32..200,
            page_bits in 1u32..6,
            free_share in 0.02f64..0.6,
            seed: u64,
        ) {
            let pages_in_use = (blocks - 2) << page_bits;
            let logical_pages = ((f64::from(pages_in_use) * (1.0 - free_share)) as u32).max(1);
            let mut bare = BareFtl::new(blocks, page_bits, logical_pages).unwrap();
            let mut naive = NaiveFtl::new(&Naive {
                blocks: blocks as usize,
                pages_per_block: 1 << page_bits,
                logical_pages: logical_pages as usize,
                reserve: 1,
                open: OpenBlocks::Shared,
                writes_before: 0,
                writes: 0,
                seed: 0,
            });
            let mut random = Random::new(seed);
            for _ in 0..3 * (blocks << page_bits) {
                let page = random.below(logical_pages);
                bare.write(page);
                naive.write(page as usize);
                prop_assert_eq!(bare.moved(), naive.moved());
            }
        }
    }

    #[test]
    fn a_drive_that_cleaning_cannot_help_is_refused() {
        // 8 blocks of 4 pages: 24 logical pages would fill all but two blocks.
        assert_eq!(BareFtl::new(8, 2, 24).err(), Some(TooFull));
        let mut fullest = BareFtl::new(8, 2, 23).unwrap();
        let mut random = Random::new(crate::seed(2));
        (0..23).for_each(|page| fullest.write(page));
        (0..10_000).for_each(|_| fullest.write(random.below(23)));
    }

    #[test]
    fn writing_many_is_writing_each() {
        let mut random = Random::new(crate::seed(4));
        let pages: Vec<u32> = (0..10_000).map(|_| random.below(800)).collect();
        let mut at_once = BareFtl::new(64, 4, 800).unwrap();
        let mut one_by_one = at_once.clone();
        at_once.write_all(&pages);
        pages.iter().for_each(|page| one_by_one.write(*page));
        assert!(at_once.moved() > 0);
        assert_eq!(at_once.checksum(), one_by_one.checksum());
    }

    #[test]
    fn the_checksum_follows_the_addresses() {
        let checksum = |seed| {
            let mut ftl = BareFtl::new(64, 4, 800).unwrap();
            let mut random = Random::new(seed);
            (0..10_000).for_each(|_| ftl.write(random.below(800)));
            ftl.checksum()
        };
        assert_eq!(checksum(1), checksum(1));
        assert_ne!(checksum(1), checksum(2));
    }
}
