//! Which block a bin's collection takes next, and whether there is room for it.

use crate::device::Device;
use ftl::wear::Migration;
use ftl::{BinId, BlockId, Stream};

impl Device {
    /// Chooses the next victim, of collection or of scrubbing.
    pub(in crate::device) fn next_victim(&mut self, bin: BinId) -> bool {
        if let Some(migration) = self.base.space.ftl.migration(bin) {
            return self.next_of_migration(bin, migration);
        }
        if self.gc.jobs[bin].look { self.next_with_look(bin) } else { self.next_collected(bin) }
    }

    /// A worn block of a bin is emptied, or takes data: nothing else is chosen before that is
    /// over, but the block with the data.
    #[cold]
    fn next_of_migration(&mut self, bin: BinId, migration: Migration) -> bool {
        if !matches!(migration, Migration::Takes { from: None, .. }) {
            return false;
        }
        let Some(cold) = self.base.space.ftl.pick_cold(bin) else {
            // The worn block is free after all.
            self.unreserve(bin);
            self.unpark(bin);
            return self.next_victim(bin);
        };
        let group = self.group_of(bin);
        if !self.gc.config.preemptible && !self.base.flash.groups[group].is_kept_for(bin) {
            // A read of a host had the worn block's unit given back.
            self.reserve(bin, group);
        }
        let now = self.base.time.now;
        let job = &mut self.gc.jobs[bin];
        job.chosen.push((cold, now));
        job.victim = Some(cold);
        job.next = 0;
        true
    }

    /// Chooses the next victim of collection, if the bin needs and can take one.
    pub(in crate::device) fn next_collected(&mut self, bin: BinId) -> bool {
        let job = &self.gc.jobs[bin];
        // What was read for scrubbing is written as that.
        if !job.running || job.is_scrubbing() || self.yields(bin) {
            return false;
        }
        let under_way = job.draining.len() as u32 + job.erases;
        let to_come = under_way + self.gc.backlogs[bin].len();
        if self.base.space.ftl.has_enough_with(bin, to_come) {
            self.gc.jobs[bin].running = to_come > 0 && !self.base.space.ftl.has_enough(bin);
            return false;
        }
        if !self.can_take_victim(bin, under_way) {
            return false;
        }
        let group = self.group_of(bin);
        let is_kept = match self.goes_in_rounds() {
            true => !self.may_choose(bin),
            false => !self.gc.config.preemptible && self.base.flash.groups[group].reserved != 0,
        };
        if is_kept {
            return false;
        }
        let Some(victim) = self.base.space.ftl.pick_victim(bin) else {
            self.gc.jobs[bin].running = to_come > 0;
            return false;
        };
        if !self.gc.config.preemptible {
            self.reserve(bin, group);
        }
        let pace = self.pace_of(victim);
        let now = self.base.time.now;
        let job = &mut self.gc.jobs[bin];
        job.chosen.push((victim, now));
        job.victim = Some(victim);
        job.scrubs = false;
        job.collected = true;
        job.pace = pace;
        job.next = 0;
        true
    }

    /// How many of a victim's live units are moved for each batch of space that it gains:
    /// never more than there are, because a victim gains at least a batch.
    fn pace_of(&self, victim: BlockId) -> u32 {
        let layout = &self.base.space.ftl.layout;
        let live = self.base.space.ftl.live_units(victim);
        let gained = layout.units_per_block() - live;
        let moves = u64::from(layout.units_per_batch) * u64::from(live);
        moves.checked_div(u64::from(gained)).map_or(0, |moves| moves as u32)
    }

    /// A second victim is taken before the first is erased only where both fit
    /// into what is free; and never where the unit is withheld for the first.
    fn can_take_victim(&self, bin: BinId, under_way: u32) -> bool {
        if under_way == 0 {
            return self.gc.jobs[bin].staged.is_empty() || self.has_room_for_more(bin, 0);
        }
        self.gc.config.preemptible && under_way < 2 && self.has_room_for_more(bin, 0)
    }

    /// True where a whole block fits into what collection can still write, and so many batches,
    /// beside what is under way.
    pub(in crate::device) fn has_room_for_more(&self, bin: BinId, batches: u32) -> bool {
        let layout = &self.base.space.ftl.layout;
        let room = self.base.space.ftl.room(bin, Stream::Gc) * layout.units_per_batch;
        let under_way = self.gc.jobs[bin].staged.len() as u32
            + (self.gc.jobs[bin].writes + self.gc.jobs[bin].reads) * layout.units_per_batch;
        room >= under_way + layout.units_per_block() + batches * layout.units_per_batch
    }

    /// Whether a move may take a place of its bin while an older victim is being moved.
    /// Hosts may have taken space since the second was chosen, so the first goes before:
    /// its erase gives some to the second. With two free blocks no first victim lacks any.
    #[inline(always)]
    pub(in crate::device) fn leaves_room(
        &self,
        bin: BinId,
        is_from: impl Fn(BlockId) -> bool,
    ) -> bool {
        self.base.space.ftl.free_blocks(bin) > 1 || self.leaves_room_of_little(bin, is_from)
    }

    #[inline(never)]
    fn leaves_room_of_little(&self, bin: BinId, is_from: impl Fn(BlockId) -> bool) -> bool {
        let Some(&older) = self.gc.jobs[bin].draining.first() else { return true };
        let needed = self
            .base
            .space
            .ftl
            .reads_under_way(older)
            .min(self.base.space.ftl.layout.batches_per_block);
        self.base.space.ftl.room(bin, Stream::Gc) > needed || is_from(older)
    }
}
