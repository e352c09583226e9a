//! Static wear-leveling, by what is left of a block's life: its endurance less its erases.
//! Data that hardly ever changes keeps its blocks from being erased, so that the others wear
//! out first. A worn block is collected less often (rate-limiting), or is given data that
//! changes seldom, and the block that held it takes part instead (migration).
//!
//! Source: [ATC08], section 3.6: retirement age and age variance.

use crate::blocks::{BARRED, BlockState};
use crate::ftl::Ftl;
use crate::layout::{BinId, BlockId};
use engine::Stream;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use settings::Share;

/// Static wear-leveling; at least one of its two ways. Lives are compared with the mean of the
/// blocks of a bin.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WearConfig {
    /// Migration: a victim with less life left than this share of the mean takes the data of
    /// the block that was filled longest ago (among those with more life left than that), and
    /// that block is free instead. [ATC08] has 85 %.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retirement_age: Option<Share>,
    /// Rate-limiting: a victim whose life lies further below the mean than this share of it is
    /// passed over by chance. [ATC08] has 20 %.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub age_variance: Option<Share>,
    /// The share of the mean over which the chance to be taken falls to nothing. Default: all
    /// that is left. Only with `age_variance`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate_window: Option<Share>,
}

/// Wear-leveling at work.
#[derive(Clone)]
pub struct Wear {
    config: WearConfig,
    /// Blocks that were passed over, kept for its memory.
    passed: Vec<usize>,
}

impl Wear {
    /// As configured.
    pub fn new(config: WearConfig) -> Self {
        Self { config, passed: Vec::new() }
    }

    /// True where a block of this share of the mean life is to take seldom written data.
    fn retires(&self, share: f64) -> bool {
        self.config.retirement_age.is_some_and(|age| share < age.fraction())
    }

    /// True where a block of this share of the mean life is not collected this time.
    fn passes_over(&self, share: f64, numbers: &mut Stream) -> bool {
        let Some(variance) = self.config.age_variance else { return false };
        let from = 1.0 - variance.fraction();
        if share >= from {
            return false;
        }
        let window = self.config.rate_window.map_or(from, Share::fraction);
        !numbers.chance(((share - (from - window)) / window).max(0.0))
    }
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

impl Ftl {
    /// Takes up what the configuration says of wear-leveling. The blocks' lives are counted.
    pub(crate) fn set_wear(&mut self, config: Option<WearConfig>) {
        self.wear = config.map(Wear::new);
        self.count_lives();
    }

    /// Sums up how often the blocks of each bin were erased, but for those that were never
    /// good.
    pub(crate) fn count_lives(&mut self) {
        for bin in self.bins.ids() {
            let first = self.layout.first_block(bin).0;
            let blocks = (first..first + self.layout.blocks_per_bin()).map(BlockId);
            let was_good = |block: &BlockId| {
                self.blocks.state[*block] != BlockState::Bad || self.blocks.erase_count[*block] > 0
            };
            let (mut lives, mut erases) = (0, 0);
            for block in blocks.filter(was_good) {
                lives += 1;
                erases += u64::from(self.blocks.erase_count[block]);
            }
            (self.bins[bin].lives, self.bins[bin].erases) = (lives, erases);
        }
    }

    /// How far a bin's migration has come, if there is one.
    #[inline]
    pub fn migration(&self, bin: BinId) -> Option<Migration> {
        self.bins[bin].migration
    }

    /// What is left of a block's life, as a share of its bin's mean.
    fn share_of_life(&self, bin: BinId, block: BlockId) -> f64 {
        let endurance = f64::from(self.endurance);
        let state = &self.bins[bin];
        let mean = endurance - state.erases as f64 / f64::from(state.lives.max(1));
        let left = endurance - f64::from(self.blocks.erase_count[block]);
        if mean > 0.0 { left / mean } else { 1.0 }
    }

    /// Chooses a victim, of which wear-leveling may pass some over; the last is taken. Decides
    /// whether it is to take seldom written data.
    #[cold]
    pub(crate) fn choose_by_wear(&mut self, bin: BinId) -> Option<usize> {
        let first = self.layout.first_block(bin).0;
        let mut wear = self.wear.take().expect("there is wear-leveling");
        let chosen = loop {
            let Some(place) = self.choose(bin) else { break wear.passed.last().copied() };
            let block = BlockId(first + place as u32);
            let share = self.share_of_life(bin, block);
            let may_take = wear.retires(share) && self.bins[bin].collecting == 0;
            if may_take && self.coldest(&wear, bin).is_some() {
                self.bins[bin].migration = Some(Migration::Empties { to: block });
                break Some(place);
            }
            if !wear.passes_over(share, &mut self.victim_numbers) {
                break Some(place);
            }
            self.blocks.standing[block] |= BARRED;
            wear.passed.push(place);
        };
        for place in wear.passed.drain(..) {
            self.blocks.standing[BlockId(first + place as u32)] &= !BARRED;
        }
        self.wear = Some(wear);
        chosen
    }

    /// The closed block of a bin with data that was filled longest ago, among those that have
    /// life left themselves: worn ones have taken such data before.
    fn coldest(&self, wear: &Wear, bin: BinId) -> Option<BlockId> {
        let first = self.layout.first_block(bin).0;
        let blocks = (first..first + self.layout.blocks_per_bin()).map(BlockId);
        let is_closed = |block: &BlockId| {
            let live = self.blocks.standing[*block];
            live & BARRED == 0 && live > 0 && !wear.retires(self.share_of_life(bin, *block))
        };
        blocks.filter(is_closed).min_by_key(|block| self.blocks.closed_at[*block])
    }

    /// Chooses the block whose data the worn one takes; `None` where there is none any more,
    /// which ends the migration, or where it was chosen before.
    pub fn pick_cold(&mut self, bin: BinId) -> Option<BlockId> {
        let Some(Migration::Takes { to, next, from: None }) = self.bins[bin].migration else {
            return None;
        };
        let wear = self.wear.take().expect("there is wear-leveling");
        let from = self.coldest(&wear, bin);
        self.wear = Some(wear);
        let Some(from) = from else {
            self.bins[bin].migration = None;
            self.blocks.unwritten[to] = 0;
            self.release(bin, to);
            return None;
        };
        self.bins[bin].migration = Some(Migration::Takes { to, next, from: Some(from) });
        let place = from.0 - self.layout.first_block(bin).0;
        Some(self.take_victim(bin, place as usize))
    }

    /// A block of a bin in migration was erased, and did not go bad; returns whether it takes
    /// data now.
    pub(crate) fn migrates_on(&mut self, bin: BinId, block: BlockId) -> bool {
        match self.bins[bin].migration {
            Some(Migration::Empties { to }) if to == block => {
                self.bins[bin].migration = Some(Migration::Takes { to, next: 0, from: None });
                self.blocks.state[to] = BlockState::Open;
                self.blocks.unwritten[to] = self.layout.batches_per_block;
                true
            }
            Some(Migration::Takes { .. }) => {
                self.end_migration(bin, block);
                false
            }
            _ => false,
        }
    }

    /// The block that held the data was erased, or went bad: the one that took it is closed,
    /// full or not, and as old as the data.
    pub(crate) fn end_migration(&mut self, bin: BinId, block: BlockId) {
        match self.bins[bin].migration {
            Some(Migration::Takes { to, from, .. }) if from == Some(block) => {
                let unwritten = std::mem::take(&mut self.blocks.unwritten[to]);
                if unwritten == self.layout.batches_per_block {
                    // What was cold has been overwritten or trimmed before it was moved.
                    self.release(bin, to);
                } else if unwritten > 0 {
                    self.close(to);
                    let written = self.layout.batches_per_block - unwritten;
                    self.close_early(to, written * self.layout.rows_per_batch);
                }
                self.blocks.closed_at[to] = self.blocks.closed_at[block];
                self.tally.migrations += 1;
            }
            Some(Migration::Empties { to }) if to == block => {}
            _ => return,
        }
        self.bins[bin].migration = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine::Streams;

    /// In how many of 10,000 cases a block of this share of the mean life is passed over.
    fn passed_over(variance: u64, window: Option<u64>, share: f64) -> f64 {
        let percent = Share::from_percent;
        let wear = Wear::new(WearConfig {
            retirement_age: None,
            age_variance: Some(percent(variance)),
            rate_window: window.map(percent),
        });
        let mut numbers = Streams::new(7).stream("wear");
        (0..10_000).filter(|_| wear.passes_over(share, &mut numbers)).count() as f64
    }

    #[test]
    fn the_chance_to_be_taken_falls_linearly() {
        // r / x: [ATC08]'s from 80 % of the mean down to nothing.
        for (share, chance) in
            [(1.0, 1.0), (0.8, 1.0), (0.6, 0.75), (0.4, 0.5), (0.08, 0.1), (0.0, 0.0)]
        {
            let passed = passed_over(20, None, share);
            let sigma = f64::sqrt(10_000.0 * chance * (1.0 - chance));
            let expected = 10_000.0 * (1.0 - chance);
            assert!((passed - expected).abs() <= 4.0 * sigma, "{share}: {passed} and {expected}");
        }
        // Within a tenth of the mean.
        for (share, expected) in [(0.8, 0.0), (0.75, 5_000.0), (0.7, 10_000.0), (0.3, 10_000.0)] {
            let passed = passed_over(20, Some(10), share);
            assert!((passed - expected).abs() <= 200.0, "{share}: {passed} and {expected}");
        }
    }
}
