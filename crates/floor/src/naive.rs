//! A page-mapped FTL with greedy cleaning, as plain as possible: every page knows its content,
//! and everything else is found by searching. Slow, and meant to be believed.

use std::collections::VecDeque;

/// Sharing of open blocks between host writes and cleaning.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OpenBlocks {
    /// One open block takes both.
    Shared,
    /// The host and cleaning have an open block each.
    Separate,
}

/// A drive and its writes.
#[derive(Clone, Copy, Debug)]
pub struct Naive {
    /// Blocks of the drive.
    pub blocks: usize,
    /// Pages of a block.
    pub pages_per_block: usize,
    /// Pages that the host can address; all are written once before anything else.
    pub logical_pages: usize,
    /// Number of free blocks at or below which cleaning begins when the host needs a block.
    pub reserve: usize,
    /// Sharing of open blocks.
    pub open: OpenBlocks,
    /// Uniformly random overwrites before counting begins.
    pub writes_before: u64,
    /// Uniformly random overwrites that are counted.
    pub writes: u64,
    /// Seed of the addresses.
    pub seed: u64,
}

/// Pages programmed for each page that the host writes, under uniformly random
/// overwrites with greedy cleaning.
///
/// # Panics
/// If the drive is too full to be cleaned.
pub fn naive_write_amplification(run: &Naive) -> f64 {
    let mut ftl = NaiveFtl::new(run);
    (0..run.logical_pages).for_each(|page| ftl.write(page));

    // Multiplicative congruential, modulo 2^61 - 1 (a prime; 37 is a generator in
    // common use), so that no generator is shared with what is tested against this.
    let modulus = (1 << 61) - 1;
    let mut state = u128::from(run.seed) % (modulus - 1) + 1;
    let mut draw = || {
        for _ in 0..4 {
            state = state * 37 % modulus;
        }
        (state * run.logical_pages as u128 / modulus) as usize
    };

    (0..run.writes_before).for_each(|_| ftl.write(draw()));
    let moved_before = ftl.moved();
    (0..run.writes).for_each(|_| ftl.write(draw()));
    let moved = ftl.moved() - moved_before;
    (run.writes + moved) as f64 / run.writes as f64
}

/// Place of a page.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Place {
    block: usize,
    page: usize,
}

/// A block: the pages programmed into it since its erase, in order.
#[derive(Clone, Default, Debug)]
struct Block {
    written: Vec<usize>,
    valid: usize,
}

/// The drive of a [`Naive`] run.
#[derive(Clone, Debug)]
pub struct NaiveFtl {
    pages_per_block: usize,
    reserve: usize,
    open: OpenBlocks,
    /// Place of the current version of each logical page.
    places: Vec<Option<Place>>,
    blocks: Vec<Block>,
    /// Erased blocks, the one erased first in front.
    free: VecDeque<usize>,
    host_block: Option<usize>,
    /// Used if open blocks are separate.
    cleaning_block: Option<usize>,
    moved: u64,
    erased: u64,
}

impl NaiveFtl {
    /// An empty drive. The writes of `run` are ignored.
    ///
    /// # Panics
    /// If no block is in reserve: cleaning needs one to move pages to.
    pub fn new(run: &Naive) -> Self {
        assert!(run.reserve > 0, "cleaning needs a free block to move pages to");
        Self {
            pages_per_block: run.pages_per_block,
            reserve: run.reserve,
            open: run.open,
            places: vec![None; run.logical_pages],
            blocks: vec![Block::default(); run.blocks],
            free: (0..run.blocks).collect(),
            host_block: None,
            cleaning_block: None,
            moved: 0,
            erased: 0,
        }
    }

    /// Writes logical page `page`.
    ///
    /// # Panics
    /// If the drive is too full to be cleaned.
    pub fn write(&mut self, page: usize) {
        let block = self.host_block_with_room();
        self.place(page, block);
    }

    /// Number of pages that cleaning has moved.
    pub fn moved(&self) -> u64 {
        self.moved
    }

    /// Number of blocks erased.
    pub fn erased(&self) -> u64 {
        self.erased
    }

    fn host_block_with_room(&mut self) -> usize {
        loop {
            if let Some(block) = self.host_block
                && self.has_room(block)
            {
                return block;
            }
            self.host_block = None;
            if self.free.len() > self.reserve {
                self.host_block = self.free.pop_front();
            } else {
                self.clean();
            }
        }
    }

    fn cleaning_block_with_room(&mut self) -> usize {
        let open = match self.open {
            OpenBlocks::Shared => &mut self.host_block,
            OpenBlocks::Separate => &mut self.cleaning_block,
        };
        if let Some(block) = *open
            && self.blocks[block].written.len() < self.pages_per_block
        {
            return block;
        }
        let block = self.free.pop_front().expect("the reserve has a block for what is moved");
        *open = Some(block);
        block
    }

    /// Moves the valid pages out of the full block with the fewest of them (on ties, with the
    /// lowest number), and erases it.
    fn clean(&mut self) {
        let is_full = |block: &usize| !self.has_room(*block);
        let victim = (0..self.blocks.len())
            .filter(is_full)
            .min_by_key(|block| self.blocks[*block].valid)
            .expect("where no block is free, some are full");
        assert!(
            self.blocks[victim].valid < self.pages_per_block,
            "no block has an invalid page: the drive is too full to be cleaned"
        );
        for page_in_block in 0..self.pages_per_block {
            let page = self.blocks[victim].written[page_in_block];
            if self.places[page] == Some(Place { block: victim, page: page_in_block }) {
                let block = self.cleaning_block_with_room();
                self.place(page, block);
                self.moved += 1;
            }
        }
        assert_eq!(self.blocks[victim].valid, 0, "all valid pages were moved");
        self.blocks[victim].written.clear();
        self.free.push_back(victim);
        self.erased += 1;
    }

    /// Programs `page` into the next page of `block`, which has room.
    fn place(&mut self, page: usize, block: usize) {
        if let Some(old) = self.places[page] {
            self.blocks[old.block].valid -= 1;
        }
        let written = &mut self.blocks[block].written;
        self.places[page] = Some(Place { block, page: written.len() });
        written.push(page);
        self.blocks[block].valid += 1;
    }

    fn has_room(&self, block: usize) -> bool {
        self.blocks[block].written.len() < self.pages_per_block
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMALL: Naive = Naive {
        blocks: 4,
        pages_per_block: 2,
        logical_pages: 4,
        reserve: 1,
        open: OpenBlocks::Shared,
        writes_before: 0,
        writes: 0,
        seed: 1,
    };

    fn written(run: &Naive, pages: &[usize]) -> NaiveFtl {
        let mut ftl = NaiveFtl::new(run);
        pages.iter().for_each(|page| ftl.write(*page));
        ftl
    }

    #[test]
    fn it_can_be_followed_by_hand() {
        // Blocks [0 1] [2 3] [0 2]; one is free, so the next write cleans. Blocks 0
        // and 1 have one valid page each: the lower, 0, gives page 1 to block 3,
        // whose second page takes the write.
        let ftl = written(&SMALL, &[0, 1, 2, 3, 0, 2, 3]);
        assert_eq!((ftl.moved(), ftl.erased()), (1, 1));
        assert_eq!(ftl.places[1], Some(Place { block: 3, page: 0 }));
        assert_eq!(ftl.places[3], Some(Place { block: 3, page: 1 }));
        assert_eq!(ftl.free, [0]);
    }

    #[test]
    fn separate_open_blocks_keep_moved_pages_apart() {
        // As above, but page 1 moves to block 3 alone. That takes the last free
        // block and gives back block 0, no more than the reserve; so block 1 is
        // cleaned too, which by then holds page 3 alone. The write goes to block 0.
        let run = Naive { open: OpenBlocks::Separate, ..SMALL };
        let ftl = written(&run, &[0, 1, 2, 3, 0, 2, 3]);
        assert_eq!((ftl.moved(), ftl.erased()), (2, 2));
        assert_eq!(ftl.places[1], Some(Place { block: 3, page: 0 }));
        assert_eq!(ftl.places[3], Some(Place { block: 0, page: 0 }));
        assert_eq!(ftl.free, [1]);
    }

    #[test]
    fn sequential_overwrites_move_nothing() {
        let round_and_round: Vec<_> = (0..100).map(|n| n % 4).collect();
        for open in [OpenBlocks::Shared, OpenBlocks::Separate] {
            assert_eq!(written(&Naive { open, ..SMALL }, &round_and_round).moved(), 0);
        }
    }

    #[test]
    fn what_is_counted_agrees_with_what_is_stored() {
        for (open, reserve) in [(OpenBlocks::Shared, 1), (OpenBlocks::Separate, 3)] {
            let run = Naive {
                blocks: 20,
                pages_per_block: 8,
                logical_pages: 100,
                reserve,
                open,
                ..SMALL
            };
            let pages: Vec<_> = (0..5_000).map(|n: usize| n * n * n % 101 % 100).collect();
            let ftl = written(&run, &pages);
            for (number, block) in ftl.blocks.iter().enumerate() {
                let is_current = |(page, stored): &(usize, &usize)| {
                    ftl.places[**stored] == Some(Place { block: number, page: *page })
                };
                let current = block.written.iter().enumerate().filter(is_current).count();
                assert_eq!(current, block.valid, "block {number}");
            }
            let programmed = pages.len() as u64 + ftl.moved();
            let stored: usize = ftl.blocks.iter().map(|block| block.written.len()).sum();
            assert_eq!(
                programmed,
                ftl.erased() * 8 + stored as u64,
                "programs are erased or stored"
            );
        }
    }

    #[test]
    #[should_panic(expected = "too full to be cleaned")]
    fn a_drive_without_spare_is_refused() {
        written(&Naive { logical_pages: 6, ..SMALL }, &[0, 1, 2, 3, 4, 5, 0]);
    }

    /// Greedy cleaning of uniformly written pages, in the limit of many blocks.
    ///
    /// Blocks are born with all `b` pages valid and lose them one by one, at `i`
    /// valid pages at a rate of `i`; so among the blocks `i` occurs in proportion
    /// to `1/i`, from `b` down to where cleaning takes them: a share `f` of them at
    /// `j`, the others at `j + 1` (greedy allows no wider spread). The mean of this
    /// distribution is the load times `b`, which fixes `j` and `f`:
    ///
    /// `load * b = (b - j - 1 + f) / (1/b + … + 1/(j+2) + f/(j+1))`
    ///
    /// and of every `b` pages programmed, `b - j - 1 + f` are the host's. For large
    /// blocks this is the known `load = (1 - v) / -ln v`, `v` the valid share of
    /// victims (Menon 1995; Desnoyers, Analytic modeling of SSD write performance,
    /// SYSTOR 2012).
    fn greedy_in_the_limit(pages_per_block: usize, load: f64) -> f64 {
        let b = pages_per_block as f64;
        let mut harmonic = 0.0;
        for level in (1..=pages_per_block).rev() {
            // `level` is j + 1. Solve for f; it is a share where the level is right,
            // which is below the mean.
            let host = b - level as f64;
            let f = (load * b * harmonic - host) / (1.0 - load * b / level as f64);
            if (level as f64) < load * b && (0.0..=1.0).contains(&f) {
                return b / (host + f);
            }
            harmonic += 1.0 / level as f64;
        }
        unreachable!("a load below 1 has a level")
    }

    #[test]
    fn write_amplification_is_that_of_the_theory() {
        println!("pages  spare  theory  naive shared  separate");
        for (pages_per_block, spare) in [(16, 0.10), (64, 0.07), (64, 0.20), (256, 0.28)] {
            let (blocks, reserve) = (600, 1);
            // The theory's blocks are all full: not those in reserve or open.
            let full = (blocks - reserve - 1) * pages_per_block;
            let logical_pages = (full as f64 * (1.0 - spare)) as usize;
            let theory = greedy_in_the_limit(pages_per_block, logical_pages as f64 / full as f64);
            let writes = 4 * logical_pages as u64;
            let [shared, separate] = [OpenBlocks::Shared, OpenBlocks::Separate].map(|open| {
                naive_write_amplification(&Naive {
                    blocks,
                    pages_per_block,
                    logical_pages,
                    reserve,
                    open,
                    writes_before: writes,
                    writes,
                    seed: 3,
                })
            });
            println!("{pages_per_block:5} {spare:6} {theory:7.3} {shared:13.3} {separate:9.3}");
            for found in [shared, separate] {
                assert!((found / theory - 1.0).abs() < 0.02, "{found} against {theory}");
            }
        }
    }

    #[test]
    fn the_theory_of_small_blocks_tends_to_that_of_large_ones() {
        // v = 0.5: load = 0.5 / ln 2 = 0.7213, write amplification 1 / (1 - v) = 2.
        let load = 0.5 / std::f64::consts::LN_2;
        assert!((greedy_in_the_limit(1 << 16, load) - 2.0).abs() < 1e-3);
    }
}
