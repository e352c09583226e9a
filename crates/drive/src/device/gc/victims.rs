//! The choice of a bin's next victim, and the check that there is room for its data.

use crate::device::Base;
use crate::device::gc::Gc;
use crate::device::gc::gate::{Leave, Maintenance};
use ftl::wear::Migration;
use ftl::{BackgroundBegins, BinId, ONE, Stream};

impl Gc {
    /// Chooses the next victim, of collection or of scrubbing.
    pub(in crate::device) fn next_victim(&mut self, base: &mut Base, bin: BinId) -> bool {
        if base.space.binds_early() && !self.is_bound(base, bin) {
            return false;
        }
        if let Some(migration) = base.space.ftl.migration(bin) {
            return self.next_of_migration(base, bin, migration);
        }
        if self.jobs[bin].look {
            self.next_with_look(base, bin)
        } else {
            self.next_collected(base, bin)
        }
    }

    /// Chooses the next victim while a worn block of a bin is emptied, or takes data: until that is
    /// over, only the block with that data is chosen.
    #[cold]
    fn next_of_migration(&mut self, base: &mut Base, bin: BinId, migration: Migration) -> bool {
        if !matches!(migration, Migration::Takes { from: None, .. }) {
            return false;
        }
        let Some(cold) = base.space.ftl.pick_cold(bin) else {
            // The worn block is free again.
            self.unreserve(base, bin);
            base.unpark(bin);
            return self.next_victim(base, bin);
        };
        if !self.config.preemptible {
            // A host read had ended the reservation of the worn block's unit.
            self.reserve(base, bin);
        }
        let now = base.time.now;
        let job = &mut self.jobs[bin];
        job.chosen.push((cold, now));
        job.victim = Some(cold);
        job.next = 0;
        true
    }

    /// True if a bin chooses no victim for now: data that was read for scrubbing is written as such.
    #[inline(always)]
    fn is_put_off(&self, base: &Base, bin: BinId) -> bool {
        self.is_scrubbing(base, bin) || self.yields(base, bin)
    }

    /// Chooses the next victim of collection, if the bin needs and can take one.
    pub(in crate::device) fn next_collected(&mut self, base: &mut Base, bin: BinId) -> bool {
        let job = &self.jobs[bin];
        if !base.space.task(bin).running || self.is_put_off(base, bin) {
            return false;
        }
        let under_way = base.space.task(bin).draining.len() as u32 + job.erases;
        let to_come = under_way + base.space.task(bin).deferred.len() as u32;
        if base.space.ftl.has_enough_with(bin, to_come) {
            base.space.task_mut(bin).running = to_come > 0 && !base.space.ftl.has_enough(bin);
            return false;
        }
        if !self.can_take_victim(base, bin, under_way) {
            return false;
        }
        if base.space.ftl.is_failed(bin) && !base.space.is_awaited(bin) {
            // Only what was requested before it failed needs space.
            base.space.task_mut(bin).running = false;
            return false;
        }
        if self.permits.is_some() && !base.space.ftl.has_victim(bin) {
            self.end_claim(base, bin);
            base.space.task_mut(bin).running = to_come > 0;
            return false;
        }
        let anytime = self.config.background_begins == BackgroundBegins::AnyTime;
        if !anytime && self.waits_for_quiet(base, bin) {
            return false;
        }
        if self.asks_leave(base, bin, Maintenance::Collection) != Leave::Go {
            return false;
        }
        let Some(victim) = base.space.ftl.pick_victim(bin) else {
            base.space.task_mut(bin).running = to_come > 0;
            if self.scrubber.is_some() {
                self.put_scrubbing_first(base, bin);
            }
            return false;
        };
        if self.permits.is_some() {
            self.note_turn(base, bin);
        }
        if !self.config.preemptible {
            self.reserve(base, bin);
        }
        let by_controller = base.space.odd_even && !base.space.copies_gain(bin, victim);
        let pace = base.space.ftl.price(bin) / ONE;
        let now = base.time.now;
        let job = &mut self.jobs[bin];
        debug_assert!(job.victim.is_none(), "a bin moves one victim at a time");
        job.chosen.push((victim, now));
        job.victim = Some(victim);
        (job.collected, job.by_controller) = (true, by_controller);
        job.next = 0;
        let task = base.space.task_mut(bin);
        (task.scrubs, task.pace) = (false, pace);
        true
    }

    /// True if a second victim may be taken before the first is erased: both must fit into the free
    /// space, and the unit must not be reserved for the first.
    fn can_take_victim(&self, base: &Base, bin: BinId, under_way: u32) -> bool {
        if base.space.binds_early() {
            return under_way < 2;
        }
        if under_way == 0 {
            return self.jobs[bin].staged.is_empty() || self.has_room_for_more(base, bin, 0);
        }
        self.config.preemptible && under_way < 2 && self.has_room_for_more(base, bin, 0)
    }

    /// Binds the rest of the last victim's data to pages. True if a further victim of a bin with
    /// superblocks surely finds pages, too: programs are bound when they are asked for and cannot wait
    /// for space. All data of earlier victims is bound, and a block is kept for moved data, which hosts
    /// cannot take.
    #[cold]
    #[inline(never)]
    fn is_bound(&mut self, base: &mut Base, bin: BinId) -> bool {
        self.write_rest(base, bin);
        let job = &self.jobs[bin];
        job.reads == 0 && job.staged.is_empty() && job.under_way() < self.config.window
    }

    /// True if a whole block and `batches` batches fit into the space that collection can still
    /// write, in addition to the work under way.
    pub(in crate::device) fn has_room_for_more(
        &self,
        base: &Base,
        bin: BinId,
        batches: u32,
    ) -> bool {
        let layout = &base.space.ftl.layout;
        let room = base.space.ftl.room(bin, Stream::Gc) * layout.units_per_batch;
        let under_way = self.jobs[bin].staged.len() as u32
            + (self.jobs[bin].writes + self.jobs[bin].reads) * layout.units_per_batch;
        room >= under_way + layout.data_units(Stream::Gc) + batches * layout.units_per_batch
    }
}
