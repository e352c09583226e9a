//! Garbage collection in time: a job for each bin, which reads a victim's valid units, writes them
//! to the bin's next batches and has the victim erased. Between page moves the job decides if it
//! goes on; the scheduler decides the order of operations.

use crate::device::Base;
use crate::device::flash::Ask;
use crate::device::flash::counters::OpKind;
use crate::device::flash::op::{Class, Op, Owner};
use crate::device::gc::Gc;
use crate::device::gc::job::Course;
use crate::device::ids::OpId;
use engine::Span;
use ftl::{BinId, BlockId, Level, ReserveUntil};
use metrics::Holder;
use nand::GroupId;

impl Gc {
    /// Re-evaluates a bin whose space has changed.
    pub(in crate::device) fn collect_if_needed(&mut self, base: &mut Base, bin: BinId) {
        if base.flash.calls_collection() {
            return base.serve(base.group_of(bin));
        }
        let level = base.space.ftl.level(bin);
        if level == Level::Ample {
            if self.permits.is_some() && self.asks_again(base, bin) {
                // It waited for its permit on the way to the stop threshold, or in an idle gap.
                return self.collect(base, bin);
            }
            if self.is_resting(bin) {
                // Hosts have written since.
                return self.collect(base, bin);
            }
            // Its moves may have been parked nevertheless, as pages may be free in a block that
            // hosts write.
            return self.write_rest(base, bin);
        }
        let waits_no_more = level == Level::Foreground || base.space.task(bin).debt > 0;
        if waits_no_more || self.backlogs[bin].awaits_turn {
            self.end_backlog(base, bin);
        }
        if level == Level::Foreground && base.class_of(bin) != Class::Background {
            base.raise_background(bin);
            if base.space.pressure.is_some() {
                base.raise_programs_before(bin);
            }
        }
        self.run(base, bin);
        self.collect(base, bin);
    }

    /// Lets groups retry whose idle collection found nothing: data has become invalid, so they may
    /// find a victim after the next idle gap.
    pub(in crate::device) fn retry_thwarted(&mut self, base: &mut Base) {
        while let Some(group) = self.thwarted.pop() {
            base.flash.watch_idle(&mut base.time, &base.space, group);
        }
    }

    /// Starts collection of a bin, which lasts until enough is free.
    pub(in crate::device) fn run(&mut self, base: &mut Base, bin: BinId) {
        base.space.task_mut(bin).running = true;
        let job = &mut self.jobs[bin];
        job.course = job.course.needed();
    }

    /// Ends idle gaps: collection that one has begun goes on like any collection.
    pub(in crate::device) fn end_idleness(&mut self, base: &mut Base, bin: BinId) {
        let is_idle = self.is_idle(base, bin);
        let course = self.jobs[bin].course;
        self.jobs[bin].course = course.needed();
        base.space.task_mut(bin).running &= !(course.yields() && is_idle);
        if !is_idle {
            self.collect(base, bin);
        }
    }

    /// Continues a bin's collection as far as it may go.
    pub(in crate::device) fn collect(&mut self, base: &mut Base, bin: BinId) {
        while self.jobs[bin].under_way() < self.config.window {
            if self.rests_at_pace(base, bin) {
                break;
            }
            if self.jobs[bin].victim.is_none() && !self.next_victim(base, bin) {
                break;
            }
            if self.jobs[bin].course != Course::Needed && self.rests(base, bin) {
                break;
            }
            if !self.next_batch(base, bin) {
                break;
            }
        }
        self.write_rest(base, bin);
        if self.permits.is_some() {
            self.let_others_begin(base, bin);
        }
        self.lift_for_readers(base, bin);
        self.note_space(base, bin);
    }

    /// Ends the reservation of the unit if only host reads keep a victim from being erased: they
    /// may wait for the very unit that is reserved for the collection.
    fn lift_for_readers(&mut self, base: &mut Base, bin: BinId) {
        if !self.is_at_work(bin) && !base.space.task(bin).draining.is_empty() {
            self.unreserve(base, bin);
        }
    }

    /// True if a collection that an idle gap began must yield to new operations. It does not yield
    /// while its unit is reserved (new operations then wait for it) or while scrubbing waits for
    /// it.
    #[inline]
    pub(in crate::device) fn yields(&self, base: &Base, bin: BinId) -> bool {
        self.jobs[bin].course != Course::Needed && self.idleness_yields(base, bin)
    }

    #[inline(never)]
    fn idleness_yields(&self, base: &Base, bin: BinId) -> bool {
        self.jobs[bin].course.yields()
            && !self.jobs[bin].look
            && !self.is_scrubbing(base, bin)
            && base.space.ftl.level(bin) == Level::Ample
            && !base.flash.is_kept_for(bin)
            && base.flash.has_queue(base.group_of(bin))
    }

    /// Erases a victim once nothing prevents that.
    #[inline(always)]
    pub(in crate::device) fn erase_if_ready(&mut self, base: &mut Base, block: BlockId) {
        if base.space.ftl.is_erasable(block) {
            self.erase_if_drained(base, block);
        }
    }

    #[inline(never)]
    fn erase_if_drained(&mut self, base: &mut Base, block: BlockId) {
        let bin = base.space.ftl.layout.bin(block);
        let draining = &mut base.space.task_mut(bin).draining;
        let Some(index) = draining.iter().position(|draining| *draining == block) else {
            if self.scrubber.is_some() {
                self.erase_scrubbed(base, block);
            }
            return;
        };
        draining.swap_remove(index);
        self.erase_or_defer(base, bin, block);
        self.note_space(base, bin);
    }

    /// Asks for the erase of a victim.
    pub(in crate::device) fn ask_erase(&mut self, base: &mut Base, bin: BinId, block: BlockId) {
        self.jobs[bin].erases += 1;
        if self.reserves_until == ReserveUntil::Copied {
            self.unreserve(base, bin);
        }
        let lanes = base.flash.lanes();
        if lanes > 1 {
            self.jobs[bin].lanes_left.push((block, lanes));
        }
        (0..lanes).for_each(|lane| Self::command_erase(base, bin, block, lane));
    }

    /// Asks for one of the commands that erase a block: the first ones of all lanes have the first
    /// numbers, and so on.
    fn command_erase(base: &mut Base, bin: BinId, block: BlockId, number: u32) {
        let class = base.class_of(bin);
        let command = number / base.flash.lanes();
        base.ask_erase(Ask {
            slots: 0,
            kind: OpKind::Erase,
            holder: Holder::Erase,
            owner: Owner::CollectErase,
            class,
            bin,
            planes: base.space.ftl.layout.planes_of_erase(command),
            block,
            batch: number,
            row: 0,
            rows: 1,
            transfer: Span::ZERO,
            bytes: 0,
        });
    }

    /// Continues after planes of a block are erased: the next planes follow, or operations that
    /// waited for space go on.
    pub(in crate::device) fn erased(&mut self, base: &mut Base, op: OpId) {
        let Op { block, bin, batch, .. } = *base.flash.op(op);
        let lanes = base.flash.lanes();
        let (next, commands) = (batch + lanes, base.space.ftl.layout.erases_per_block());
        if next < commands * lanes {
            self.jobs[bin].erase_commands += 1;
            return Self::command_erase(base, bin, block, next);
        }
        if lanes > 1 && !self.ends_erase(bin, block) {
            return;
        }
        let job = &mut self.jobs[bin];
        job.erases -= 1;
        job.erase_commands -= (commands - 1) * lanes;
        // Scrubbed blocks are not in this list.
        if let Some(place) = job.chosen.iter().position(|(chosen, _)| *chosen == block) {
            let (_, since) = job.chosen.swap_remove(place);
            base.flash.count_collection(base.time.now - since);
        } else {
            self.note_scrubbed(base.set_of_bin(bin));
        }
        base.note_checkpoints();
        base.audit_erase(block);
        base.space.ftl.erase(block);
        if base.space.ftl.migration(bin).is_none() && self.reserves_until != ReserveUntil::Stop {
            self.unreserve(base, bin);
        }
        self.note_space(base, bin);
        base.unpark(bin);
        self.collect(base, bin);
        if self.reserves_until == ReserveUntil::Stop && !self.is_at_work(bin) {
            self.unreserve(base, bin);
        }
        if self.scrubber.is_some() {
            self.scrub_in_new_space(base, bin);
        }
    }

    /// Notes that a lane of a superblock is erased; returns true if it is the last one.
    #[cold]
    fn ends_erase(&mut self, bin: BinId, block: BlockId) -> bool {
        let left = &mut self.jobs[bin].lanes_left;
        let place = left.iter().position(|(of, _)| *of == block).expect("it is being erased");
        left[place].1 -= 1;
        let is_last = left[place].1 == 0;
        if is_last {
            left.swap_remove(place);
        }
        is_last
    }

    /// True if a victim is being moved or erased.
    fn is_at_work(&self, bin: BinId) -> bool {
        let job = &self.jobs[bin];
        job.victim.is_some() || job.reads + job.writes + job.erases > 0
    }

    /// Reserves a unit for a collection that does not yield.
    pub(in crate::device) fn reserve(&mut self, base: &mut Base, bin: BinId) {
        if !base.flash.is_kept_for(bin) {
            base.flash.reserve(&base.time, bin);
        }
    }

    /// Gives a bin's unit back, if it is reserved for the bin's collection.
    pub(in crate::device) fn unreserve(&mut self, base: &mut Base, bin: BinId) {
        if base.flash.give_back(&base.time, bin) {
            let group = base.group_of(bin);
            if self.reserves_until == ReserveUntil::Stop {
                self.collect_in_others(base, group, bin);
            }
            // Collections of other bins of the group may have waited for their turn.
            base.space.look_at(base.flash.bins_of(group).iter().copied());
            base.flash.reservation_ended(&mut base.time, &mut base.space, group);
            base.serve(group);
        }
    }

    /// Lets collections of a group begin that waited until a suspended operation has resumed.
    #[inline(never)]
    pub(in crate::device) fn resumed(&mut self, base: &mut Base, group: GroupId) {
        if !self.config.preemptible {
            base.space.look_at(base.flash.bins_of(group).iter().copied());
        }
    }

    /// Lets another bin of a group that needs space collect before operations that wait.
    fn collect_in_others(&mut self, base: &mut Base, group: GroupId, than: BinId) {
        for index in 0..base.flash.bins_of(group).len() {
            let bin = base.flash.bins_of(group)[index];
            if bin != than && !base.flash.is_reserved(group) {
                self.collect_if_needed(base, bin);
            }
        }
    }

    /// Records if a bin's collection is under way, for waits for space.
    pub(in crate::device) fn note_space(&mut self, base: &mut Base, bin: BinId) {
        let job = &self.jobs[bin];
        let task = base.space.task(bin);
        let under_way = job.reads + job.writes + job.erases > 0
            || !task.draining.is_empty()
            || task.scrub_goes_first
            || base.space.awaits_credit(bin);
        if under_way != base.space.is_collecting(bin) {
            base.settle_space_of(bin);
            base.space.set_collecting(bin, under_way);
            if !under_way && self.windows.is_some() {
                self.came_to_rest(base, bin);
            }
        }
    }

    /// True while some data of a scrubbed block has not been asked to be written.
    pub(in crate::device) fn is_scrubbing(&self, base: &Base, bin: BinId) -> bool {
        base.space.task(bin).scrubs && self.jobs[bin].is_moving()
    }

    /// True if no operation of a collection is under way.
    pub(in crate::device) fn is_idle(&self, base: &Base, bin: BinId) -> bool {
        self.jobs[bin].is_idle() && base.space.task(bin).draining.is_empty()
    }

    /// Starts collection in the bins of a group that has been idle for the idle gap, if they want
    /// more space.
    pub(in crate::device) fn idle_due(&mut self, base: &mut Base, group: GroupId) {
        if !base.flash.has_been_idle(&base.time, group) {
            return;
        }
        for index in 0..base.flash.bins_of(group).len() {
            let bin = base.flash.bins_of(group)[index];
            let has_enough = base.space.ftl.has_enough(bin);
            let rests = self.rests_at_pace(base, bin);
            let task = base.space.task_mut(bin);
            if !has_enough && (!task.running || rests) {
                task.running = true;
                self.jobs[bin].course = Course::Idle;
            }
            if task.running {
                self.collect(base, bin);
            }
        }
        let mut bins = base.flash.bins_of(group).iter();
        let wants_more = bins.any(|bin| !base.space.ftl.has_enough(*bin));
        let is_idle = base.flash.is_unwatched(group);
        if is_idle && wants_more && !self.thwarted.contains(&group) {
            self.thwarted.push(group);
        }
    }
}
