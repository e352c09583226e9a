//! Static wear-leveling in operation: victims that are passed over, and migrations to worn
//! blocks. The conditions are in `leveling`.

pub use crate::blocks::Migration;
pub use crate::leveling::WearConfig;

use crate::blocks::{BARRED, BlockState};
use crate::ftl::Ftl;
use crate::ids::{BinId, BlockId};
use crate::leveling::Wear;
use crate::of_set::numbers_of;

impl Ftl {
    /// Applies the configuration of wear-leveling, and sums up the erases of each bin.
    pub(crate) fn set_wear(&mut self, config: Option<WearConfig>) {
        self.wear = config.map(Wear::new);
        self.count_lives();
    }

    /// Sums up the erases of each bin's blocks, without those that were never good.
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

    /// Progress of a bin's migration, if there is one.
    #[inline]
    pub fn migration(&self, bin: BinId) -> Option<Migration> {
        self.bins[bin].migration
    }

    /// Rest of a block's life as a share of the mean of its bin.
    fn share_of_life(&self, bin: BinId, block: BlockId) -> f64 {
        let endurance = f64::from(self.endurance);
        let state = &self.bins[bin];
        let mean = endurance - state.erases as f64 / f64::from(state.lives.max(1));
        let left = endurance - f64::from(self.blocks.erase_count[block]);
        if mean > 0.0 { left / mean } else { 1.0 }
    }

    /// Chooses a victim. Wear-leveling may pass over some victims; if it passes over all of them,
    /// the last one is taken. Decides if the victim is to take seldom written data.
    #[cold]
    pub(crate) fn choose_by_wear(&mut self, bin: BinId, least: u32) -> Option<usize> {
        let first = self.layout.first_block(bin).0;
        let mut wear = self.wear.take().expect("there is wear-leveling");
        let chosen = loop {
            let Some(place) = self.choose(bin, least) else { break wear.passed.last().copied() };
            let block = BlockId(first + place as u32);
            let share = self.share_of_life(bin, block);
            let may_take = wear.retires(share) && self.bins[bin].collecting == 0;
            if may_take && self.coldest(&wear, bin).is_some() {
                self.bins[bin].migration = Some(Migration::Empties { to: block });
                break Some(place);
            }
            if !self.passes_over(&wear, bin, share) {
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

    /// Draws if wear-leveling passes a victim over.
    fn passes_over(&mut self, wear: &Wear, bin: BinId, share: f64) -> bool {
        let set = self.layout.set_of_bin(bin);
        let own = [&mut self.victim_numbers, &mut self.bad_numbers];
        let [numbers, _] = numbers_of(own, &mut self.of_sets, set);
        wear.passes_over(share, numbers)
    }

    /// The closed block of a bin with data that was filled longest ago, among the blocks with
    /// life left: worn blocks have taken such data before.
    fn coldest(&self, wear: &Wear, bin: BinId) -> Option<BlockId> {
        let first = self.layout.first_block(bin).0;
        let blocks = (first..first + self.layout.blocks_per_bin()).map(BlockId);
        let is_closed = |block: &BlockId| {
            let valid = self.blocks.standing[*block];
            valid & BARRED == 0 && valid > 0 && !wear.retires(self.share_of_life(bin, *block))
        };
        blocks.filter(is_closed).min_by_key(|block| self.blocks.closed_at[*block])
    }

    /// Chooses the block whose data the worn block takes. Returns `None` if there is no such
    /// block any more, which ends the migration, or if it was chosen before.
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

    /// Continues the migration of a bin after the erase of `block`, which did not go bad; returns
    /// true if the block takes data now.
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

    /// Ends the migration once the block that stored the data is erased or bad. The block that
    /// took the data is closed, full or not, and gets the age of the data.
    pub(crate) fn end_migration(&mut self, bin: BinId, block: BlockId) {
        match self.bins[bin].migration {
            Some(Migration::Takes { to, from, .. }) if from == Some(block) => {
                let unwritten = std::mem::take(&mut self.blocks.unwritten[to]);
                if unwritten == self.layout.batches_per_block {
                    // The cold data was overwritten or trimmed before it was moved.
                    self.release(bin, to);
                } else if unwritten > 0 {
                    self.close(to);
                    let written = self.layout.batches_per_block - unwritten;
                    self.close_early(to, written * self.layout.rows_per_batch);
                }
                self.blocks.closed_at[to] = self.blocks.closed_at[block];
                self.count(block, |tally| tally.migrations += 1);
            }
            Some(Migration::Empties { to }) if to == block => {}
            _ => return,
        }
        self.bins[bin].migration = None;
    }
}
