//! Factory bad blocks. They follow from the seed, so the capacity that they leave is known before
//! the drive is assembled.

use crate::config::BadBlocksConfig;
use crate::layout::Layout;
use crate::superblocks::Superblocks;
use engine::{Stream, Streams};

/// The bad blocks of a new drive, drawn bin by bin.
#[derive(Clone, Debug)]
pub struct FactoryBlocks {
    bad_share: f64,
    planes: u32,
    homes: u32,
    blocks: u32,
    /// Dies of a superblock, if there are superblocks.
    lanes: Option<u32>,
    /// Good blocks of each lane and plane that are in no superblock.
    spares: Vec<u32>,
    numbers: Stream,
}

impl FactoryBlocks {
    /// Bad blocks of the drive with this layout and these random streams.
    pub fn new(layout: &Layout, config: &BadBlocksConfig, streams: Streams) -> Self {
        Self {
            bad_share: config.factory.fraction(),
            planes: layout.block_planes,
            homes: layout.planes_per_bin() / layout.block_planes,
            blocks: layout.blocks_per_home(),
            lanes: layout.superblocks.as_ref().map(Superblocks::lanes),
            spares: Vec::new(),
            numbers: streams.stream("bad-blocks.factory"),
        }
    }

    /// Places of the bad blocks in the next bin, ascending.
    pub fn of_next_bin(&mut self) -> Vec<u32> {
        if let Some(lanes) = self.lanes {
            return self.of_superblocks(lanes);
        }
        let mut all = Vec::new();
        for home in 0..self.homes {
            let first = home * self.blocks;
            all.extend(self.of_next_home().into_iter().map(|place| first + place));
        }
        all
    }

    /// Good erase blocks of each lane and plane of the last bin that are in no superblock.
    pub(crate) fn spares(&self) -> &[u32] {
        &self.spares
    }

    /// Places of the superblocks that a bin lacks: a superblock takes the next good block of each
    /// lane and plane, so there are as many as in the lane and plane with the fewest.
    fn of_superblocks(&mut self, lanes: u32) -> Vec<u32> {
        let mut bad = vec![0; (lanes * self.planes) as usize];
        if self.bad_share > 0.0 {
            let draws = |_: &mut u32| {
                (0..self.blocks).filter(|_| self.numbers.chance(self.bad_share)).count() as u32
            };
            bad = bad.iter_mut().map(draws).collect();
        }
        let most = bad.iter().copied().max().expect("a superblock has lanes");
        self.spares = bad.into_iter().map(|bad| most - bad).collect();
        (self.blocks - most..self.blocks).collect()
    }

    /// Places of the bad blocks among the blocks on the same planes. Each plane replaces its bad
    /// blocks from its own good ones, so all of them lose as many blocks as the worst plane.
    fn of_next_home(&mut self) -> Vec<u32> {
        let mut worst: Vec<u32> = Vec::new();
        if self.bad_share > 0.0 {
            for _ in 0..self.planes {
                let chance = |_: &u32| self.numbers.chance(self.bad_share);
                let bad: Vec<u32> = (0..self.blocks).filter(chance).collect();
                if bad.len() > worst.len() {
                    worst = bad;
                }
            }
        }
        worst
    }
}
