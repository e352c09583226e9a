//! Victims: the choice of the block of a bin that is collected or scrubbed next, the reads that
//! delay its erase, and the erase.

use crate::blocks::{BARRED, BlockState, Blocks};
use crate::ftl::Ftl;
use crate::gc::Candidates;
use crate::ids::{BinId, BlockId};
use crate::layout::Layout;
use crate::of_set::numbers_of;
use crate::scrub::{Polled, Written};
use crate::streams::Stream;

impl Blocks {
    /// The blocks of a bin as a policy sees them.
    fn candidates(&self, layout: &Layout, bin: BinId, now: u64, most_valid: u32) -> Candidates<'_> {
        let first = layout.first_block(bin).0 as usize;
        let run = first..first + layout.blocks_per_bin() as usize;
        Candidates {
            valid: &self.standing.as_slice()[run.clone()],
            closed_at: &self.closed_at.as_slice()[run],
            now,
            units_per_block: layout.most_data_units(),
            most_valid,
        }
    }
}

impl Ftl {
    /// Chooses the next block of a bin to be collected; `None` if no block gains space (above the
    /// foreground threshold: `least_gain`) or if (because retired blocks have used up the reserve) no
    /// block's valid data has a place to go. The block is barred from being chosen again.
    pub fn pick_victim(&mut self, bin: BinId) -> Option<BlockId> {
        self.pick_with_gain(bin, self.thresholds.least_gain(self.level(bin)))
    }

    /// As [`Ftl::pick_victim`], whatever is free: any block that gains space.
    pub fn pick_any_victim(&mut self, bin: BinId) -> Option<BlockId> {
        self.pick_with_gain(bin, self.layout.units_per_batch)
    }

    fn pick_with_gain(&mut self, bin: BinId, least: u32) -> Option<BlockId> {
        if self.bins[bin].left.take().is_some() {
            return self.bins[bin].victim;
        }
        let place = match self.wear {
            None => self.choose(bin, least)?,
            Some(_) => self.choose_by_wear(bin, least)?,
        };
        let victim = self.take_victim(bin, place);
        let price = self.price_of(victim);
        let state = &mut self.bins[bin];
        (state.victim, state.price) = (Some(victim), price);
        Some(victim)
    }

    /// True if [`Ftl::pick_victim`] would find a victim, unless a policy of a user declines.
    pub fn has_victim(&self, bin: BinId) -> bool {
        let least = self.thresholds.least_gain(self.level(bin));
        let most_valid = self.most_valid(bin, least);
        let candidates = self.blocks.candidates(&self.layout, bin, self.clock_of(bin), most_valid);
        self.bins[bin].left.is_some() || candidates.gaining().next().is_some()
    }

    /// Most valid units of a block that gains `least` units and whose data has a place to go.
    fn most_valid(&self, bin: BinId, least: u32) -> u32 {
        let gaining = self.layout.data_units(Stream::Gc).saturating_sub(least);
        gaining.min(self.room(bin, Stream::Gc) * self.layout.units_per_batch)
    }

    /// The place of the block that the victim policy chooses among those that gain `least` units.
    #[inline]
    pub(crate) fn choose(&mut self, bin: BinId, least: u32) -> Option<usize> {
        let (most_valid, now) = (self.most_valid(bin, least), self.clock_of(bin));
        let candidates = self.blocks.candidates(&self.layout, bin, now, most_valid);
        debug_assert!(
            candidates
                .valid
                .iter()
                .all(|valid| *valid <= candidates.units_per_block || *valid & BARRED != 0),
            "a block holds no more valid units than it has places"
        );
        let set = self.layout.set_of_bin(bin);
        let own = [&mut self.victim_numbers, &mut self.bad_numbers];
        let [numbers, _] = numbers_of(own, &mut self.of_sets, set);
        self.victim.choose(candidates, numbers)
    }

    /// Chooses a block of a bin to rewrite; `None` if the policy takes none or there is no room
    /// for its data.
    pub fn find_scrub(&self, bin: BinId, polled: Polled<'_>) -> Option<BlockId> {
        let first = self.layout.first_block(bin).0 as usize;
        let run = first..first + self.layout.blocks_per_bin() as usize;
        let blocks = &self.blocks;
        let written = Written {
            valid: &blocks.standing.as_slice()[run.clone()],
            closed_at: &blocks.closed_at.as_slice()[run.clone()],
            sensed: &blocks.sensed.as_slice()[run.clone()],
            erase_count: &blocks.erase_count.as_slice()[run.clone()],
            expected_errors: polled.expected_errors,
            re_reads: blocks.re_reads.get(run).unwrap_or(&[]),
            data_age: polled.data_age,
            turn: polled.turn,
            now: self.clock_of(bin),
            units_per_block: self.layout.most_data_units(),
            units_per_page: self.layout.page_bytes as f64 / self.layout.unit_bytes as f64,
            most_valid: self.most_scrubbed(bin),
        };
        let place = self.scrub.as_ref()?.pick(written)?;
        assert!(written.fits(place), "a policy chose a block that cannot be moved");
        Some(BlockId(self.layout.first_block(bin).0 + place as u32))
    }

    /// Most valid units of a block to rewrite whose data has a place to go.
    fn most_scrubbed(&self, bin: BinId) -> u32 {
        let room = match self.has_scrubber {
            true => self.room_apart(bin, self.scrubs_to),
            false => self.room(bin, self.scrubs_to),
        };
        self.layout.most_data_units().min(room * self.layout.units_per_batch)
    }

    /// True if a block can be moved and erased now.
    pub fn may_scrub(&self, block: BlockId) -> bool {
        let valid = self.blocks.standing[block];
        (1..=self.most_scrubbed(self.layout.bin(block))).contains(&valid)
    }

    /// Bars a block from being chosen again; it will be moved and erased.
    pub fn take_scrub(&mut self, block: BlockId) {
        let bin = self.layout.bin(block);
        self.take_victim(bin, (block.0 - self.layout.first_block(bin).0) as usize);
    }

    /// Valid units of the blocks of a bin, as policies see them.
    pub fn standing_of(&self, bin: BinId) -> &[u32] {
        let first = self.layout.first_block(bin).0 as usize;
        &self.blocks.standing.as_slice()[first..first + self.layout.blocks_per_bin() as usize]
    }

    /// Bars the block at a place of a bin; it will be moved and erased.
    pub(crate) fn take_victim(&mut self, bin: BinId, place: usize) -> BlockId {
        let block = BlockId(self.layout.first_block(bin).0 + place as u32);
        assert!(self.blocks.standing[block] & BARRED == 0, "a policy chose a barred block");
        self.blocks.standing[block] |= BARRED;
        self.blocks.state[block] = BlockState::Collecting;
        self.bins[bin].collecting += 1;
        block
    }

    /// Begins a read of the block, which cannot be erased before the read ends.
    #[inline]
    pub fn begin_read(&mut self, block: BlockId) {
        self.begin_reads(block, 1);
    }
    /// Begins `count` reads of the block.
    #[inline]
    pub fn begin_reads(&mut self, block: BlockId, count: u32) {
        self.blocks.readers[block] += count;
    }
    /// Ends a read of the block; returns true if no read of it is left.
    #[inline]
    pub fn end_read(&mut self, block: BlockId) -> bool {
        self.end_reads(block, 1)
    }
    /// Ends `count` reads of the block; returns true if no read of it is left.
    #[inline]
    pub fn end_reads(&mut self, block: BlockId, count: u32) -> bool {
        let readers = &mut self.blocks.readers[block];
        *readers -= count;
        *readers == 0
    }
    /// Reads of the block in progress, moves of its data included.
    #[inline]
    pub fn reads_under_way(&self, block: BlockId) -> u32 {
        self.blocks.readers[block]
    }
    /// True if a collected block can be erased: it has no valid data and no read is in progress.
    #[inline]
    pub fn is_erasable(&self, block: BlockId) -> bool {
        self.blocks.valid(block) == 0 && self.blocks.readers[block] == 0
    }

    /// Erases a collected block. The block becomes free, or is retired if the erase fails or its
    /// endurance is used up. Returns true if it is free.
    ///
    /// # Panics
    /// If the block holds valid data, is being read or was not collected.
    pub fn erase(&mut self, block: BlockId) -> bool {
        let moved = u64::from(self.blocks.moved[block]);
        self.count(block, |tally| {
            tally.collected += 1;
            tally.moved += moved;
        });
        self.erase_uncollected(block)
    }

    /// Erases a block that was no victim.
    pub(crate) fn erase_uncollected(&mut self, block: BlockId) -> bool {
        assert!(self.is_erasable(block), "an erase waits for valid data and readers");
        assert_eq!(self.blocks.state[block], BlockState::Collecting, "only a victim is erased");
        let bin = self.layout.bin(block);
        let state = &mut self.bins[bin];
        state.collecting -= 1;
        if state.victim == Some(block) {
            (state.victim, state.left) = (None, None);
        }
        self.blocks.erase_count[block] += 1;
        self.bins[bin].erases += 1;
        self.blocks.standing[block] = BARRED;
        self.blocks.moved[block] = 0;
        if let Some(sensed) = self.blocks.sensed.as_mut_slice().get_mut(block.0 as usize) {
            *sensed = 0;
        }
        if let Some(rows) = self.blocks.closed_early.as_mut_slice().get_mut(block.0 as usize) {
            *rows = 0;
        }
        if self.layout.has_superblocks() {
            self.forget_stripes(block);
        }
        self.count(block, |tally| tally.erases += 1);
        self.forget_poison(block);
        if !self.blocks.born.is_empty() {
            self.end_exposure(block);
        }
        // Each step is invertible, so no two blocks lead to the same number.
        let after = |erased: u64| {
            let mixed = (erased ^ (u64::from(block.0) + 1)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            mixed.rotate_left(29)
        };
        self.erased = after(self.erased);
        if let Some(of_set) = self.of_set_mut(block) {
            of_set.erased = after(of_set.erased);
        }
        if self.persist.is_some() {
            self.forget_metadata(block);
        }
        let worn = self.endurance > 0 && self.blocks.erase_count[block] >= self.endurance;
        let failed = self.grown_per_erase > 0.0
            && match self.layout.superblocks {
                None => self.fails_to_erase(bin),
                Some(_) => self.breaks(bin),
            };
        if worn || failed {
            self.end_migration(bin, block);
            self.retire(bin, block);
            return false;
        }
        if self.bins[bin].migration.is_some() && self.migrates_on(bin, block) {
            return false;
        }
        self.release(bin, block);
        true
    }

    /// Draws if an erase in a bin fails.
    fn fails_to_erase(&mut self, bin: BinId) -> bool {
        let set = self.layout.set_of_bin(bin);
        let own = [&mut self.victim_numbers, &mut self.bad_numbers];
        let [_, numbers] = numbers_of(own, &mut self.of_sets, set);
        numbers.chance(self.grown_per_erase)
    }

    pub(crate) fn retire(&mut self, bin: BinId, block: BlockId) {
        self.blocks.state[block] = BlockState::Bad;
        self.bins[bin].bad += 1;
        self.count(block, |tally| tally.retired += 1);
    }

    /// Adds an erased block to the free ones.
    pub(crate) fn release(&mut self, bin: BinId, block: BlockId) {
        self.blocks.state[block] = BlockState::Free;
        let erase_count = self.blocks.erase_count[block];
        self.bins[bin].release(block, erase_count, self.free_order);
    }
}
