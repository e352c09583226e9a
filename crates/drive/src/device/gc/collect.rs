//! Garbage collection in time: a job for each bin, which reads a victim's live
//! units, writes them to the bin's next batches and has the victim erased. It
//! decides between page moves whether to go on; the scheduler decides who goes
//! first.

use crate::device::Device;
use crate::device::event::Event;
use crate::device::flash::counters::OpKind;
use crate::device::flash::op::{Class, OpId, Owner};
use crate::device::flash::{Ask, BinPlace};
use crate::device::space::waits::SpaceSnapshot;
use engine::{Instant, Span};
use ftl::{BinId, BlockId, Level, Pacing};
use metrics::Holder;
use nand::GroupId;

/// Garbage collection of one bin. What every move looks at stands in the first cache
/// line.
#[derive(Clone, Default)]
#[repr(C, align(64))]
pub struct Job {
    /// The block whose live data is being read, and the next batch to look at.
    pub(in crate::device) victim: Option<BlockId>,
    pub(in crate::device) next: u32,
    pub(in crate::device) reads: u32,
    pub(in crate::device) writes: u32,
    /// Units that a paced collection still owes to host writes.
    pub(in crate::device) debt: u32,
    /// True from a threshold (or an idle gap) until enough is free.
    pub(in crate::device) running: bool,
    /// It was an idle gap.
    pub(in crate::device) by_idleness: bool,
    /// True where the present victim, or the last one, is scrubbed.
    pub(in crate::device) scrubs: bool,
    /// A look of scrubbing is due.
    pub(in crate::device) look: bool,
    /// A block was scrubbed since a host program last found a place.
    pub(in crate::device) scrubbed_last: bool,
    /// A block was collected since one was last scrubbed; and before the one that is
    /// scrubbed now.
    pub(in crate::device) collected: bool,
    collected_before: bool,
    /// Read and not yet written: logical unit and the place it was read from.
    pub(in crate::device) staged: Vec<[u32; 2]>,
    pub(in crate::device) erases: u32,
    /// Units whose moves gain as much space as a host's batch takes, from the last victim.
    pub(in crate::device) pace: u32,
    /// Victims that were read whole and wait to be erased.
    pub(in crate::device) draining: Vec<BlockId>,
    /// Victims of collection that are not erased yet, and when each was chosen.
    pub(in crate::device) chosen: Vec<(BlockId, Instant)>,
}

impl Job {
    /// Moves that are being read or written.
    #[inline]
    pub fn under_way(&self) -> u32 {
        self.reads + self.writes
    }
    /// True where nothing of a collection is under way.
    pub fn is_idle(&self) -> bool {
        let nothing = self.reads + self.writes + self.erases == 0;
        nothing && self.victim.is_none() && self.staged.is_empty() && self.draining.is_empty()
    }
    /// Collects until enough is free.
    pub fn begin(&mut self) {
        self.running = true;
        self.by_idleness = false;
    }
    /// True from a threshold (or an idle gap) until enough is free.
    pub fn is_running(&self) -> bool {
        self.running
    }
    /// A block that was read whole and waits to be erased.
    pub fn drained(&self) -> Option<BlockId> {
        self.draining.first().copied()
    }
    /// No idle gap comes any more: what one has begun goes on as any collection.
    pub fn end_idleness(&mut self) {
        self.running &= !(self.by_idleness && self.is_idle());
        self.by_idleness = false;
    }
    /// Begins to move a block that is scrubbed.
    pub fn begin_scrub(&mut self, block: BlockId) {
        self.victim = Some(block);
        self.next = 0;
        self.scrubs = true;
        self.scrubbed_last = true;
        self.collected_before = std::mem::take(&mut self.collected);
    }
    /// True while data of a scrubbed block has not been asked to be written.
    pub(in crate::device) fn is_scrubbing(&self) -> bool {
        self.scrubs && (self.victim.is_some() || self.reads > 0 || !self.staged.is_empty())
    }
}

impl Device {
    /// Looks at the bins whose space has changed during the present event.
    #[inline(always)]
    pub(in crate::device) fn collect_where_needed(&mut self) {
        if !self.base.space.to_collect.is_empty() {
            self.collect_noted();
        }
    }

    #[inline(never)]
    fn collect_noted(&mut self) {
        while let Some(bin) = self.base.space.to_collect.pop() {
            self.collect_if_needed(bin);
            if self.base.space.to_collect.is_empty() && !self.base.space.parked_modifies.is_empty()
            {
                self.turn_parked_away();
            }
        }
    }

    fn collect_if_needed(&mut self, bin: BinId) {
        if self.goes_in_rounds() {
            return self.collect_in_rounds(bin);
        }
        let level = self.base.space.ftl.level(bin);
        if level == Level::Ample {
            // Its moves may have been set aside all the same, as pages may be free in a
            // block that hosts write.
            return self.write_rest(bin);
        }
        if level == Level::Urgent || self.gc.jobs[bin].debt > 0 {
            self.clear_backlog(bin);
        }
        if level == Level::Urgent && self.class_of(bin) != Class::Soft {
            let group = self.group_of(bin);
            self.base.flash.groups[group].raise_soft(&mut self.base.flash.ops);
        }
        self.gc.jobs[bin].begin();
        self.collect(bin);
    }

    /// Bins that were short of space look for a victim again, at once or in the
    /// next idle gap: data has died.
    pub(in crate::device) fn retry_starved(&mut self) {
        while let Some(group) = self.gc.thwarted.pop() {
            self.note_idle(group);
        }
        if !self.base.space.starved.is_empty() {
            self.base.space.starved.sort_unstable();
            self.base.space.starved.dedup();
            self.base.space.to_collect.append(&mut self.base.space.starved);
        }
    }

    pub(in crate::device) fn group_of(&self, bin: BinId) -> GroupId {
        self.base.flash.places[bin].group
    }

    pub(in crate::device) fn class_of(&self, bin: BinId) -> Class {
        if !self.gc.config.preemptible
            && self.base.flash.groups[self.group_of(bin)].is_kept_for(bin)
        {
            return Class::Held;
        }
        let is_urgent = match self.gc.jobs[bin].scrubs {
            false => self.gc.jobs[bin].debt > 0 || self.base.space.ftl.level(bin) == Level::Urgent,
            true => self.is_scrubbing_urgent(bin),
        };
        if is_urgent { Class::Urgent } else { Class::Soft }
    }

    /// A block that is scrubbed is in the way of a collection that is urgent, if somebody
    /// waits for that, or owed. What is owed is not paid by scrubbing, so there must be
    /// collections in between: else host writes would wait for one block after the other.
    #[cold]
    fn is_scrubbing_urgent(&self, bin: BinId) -> bool {
        let job = &self.gc.jobs[bin];
        match self.base.space.ftl.level(bin) {
            Level::Urgent => self.is_awaited(bin),
            Level::Soft => job.debt > 0 && job.collected_before,
            Level::Ample => false,
        }
    }

    /// A host's batch is bound in a bin. Between the soft and the urgent
    /// threshold a paced collection owes the moves that it takes to gain as much
    /// space again; while it owes some, it goes before host writes.
    pub(in crate::device) fn owe(&mut self, bin: BinId) {
        if self.gc.config.pacing == Pacing::None || self.base.space.ftl.level(bin) == Level::Ample {
            return;
        }
        let job = &mut self.gc.jobs[bin];
        job.debt = (job.debt + job.pace).min(self.base.space.ftl.layout.units_per_block());
        if job.debt > 0 {
            let group = self.base.flash.places[bin].group;
            self.base.flash.groups[group].raise_soft(&mut self.base.flash.ops);
            if self.gc.backlogs[bin].len() > 0 {
                // Not here: what owes is about to take its cells.
                self.base.space.to_collect.push(bin);
            }
        }
    }

    /// Lets a bin's collection go on as far as it may.
    pub(in crate::device) fn collect(&mut self, bin: BinId) {
        while self.gc.jobs[bin].under_way() < self.gc.config.window {
            if self.gc.jobs[bin].victim.is_none() && !self.next_victim(bin) {
                break;
            }
            if self.yields(bin) {
                break;
            }
            self.next_batch(bin);
        }
        self.write_rest(bin);
        self.lift_for_readers(bin);
        self.note_space(bin);
    }

    /// A victim that only reads of hosts keep from being erased: they may wait for
    /// the very unit that is kept for the collection, so it is kept no longer.
    fn lift_for_readers(&mut self, bin: BinId) {
        let job = &self.gc.jobs[bin];
        let moving = job.victim.is_some() || job.reads + job.writes + job.erases > 0;
        if !moving && !job.draining.is_empty() {
            self.unreserve(bin);
        }
    }

    /// A collection that an idle gap began makes way for whatever comes, unless it
    /// keeps its unit (what has come then waits for it) or scrubbing waits for it.
    pub(in crate::device) fn yields(&self, bin: BinId) -> bool {
        let group = &self.base.flash.groups[self.group_of(bin)];
        let job = &self.gc.jobs[bin];
        job.by_idleness
            && !job.look
            && !job.is_scrubbing()
            && self.base.space.ftl.level(bin) == Level::Ample
            && !group.is_kept_for(bin)
            && group.queued() > 0
    }

    /// Has a victim erased once nothing stands against it.
    #[inline]
    pub(in crate::device) fn erase_if_ready(&mut self, block: BlockId) {
        if self.base.space.ftl.is_erasable(block) {
            self.erase_if_drained(block);
        }
    }

    fn erase_if_drained(&mut self, block: BlockId) {
        let bin = self.base.space.ftl.layout.bin(block);
        let Some(index) = self.gc.jobs[bin].draining.iter().position(|draining| *draining == block)
        else {
            return;
        };
        self.gc.jobs[bin].draining.swap_remove(index);
        self.erase_or_defer(bin, block);
        self.note_space(bin);
    }

    /// Asks for the erase of a victim.
    pub(in crate::device) fn ask_erase(&mut self, bin: BinId, block: BlockId) {
        self.gc.jobs[bin].erases += 1;
        let class = self.class_of(bin);
        self.ask(Ask {
            kind: OpKind::Erase,
            holder: Holder::Erase,
            owner: Owner::CollectErase,
            class,
            bin,
            planes: self.base.space.ftl.layout.all_planes(),
            block,
            batch: 0,
            row: 0,
            rows: 1,
            transfer: Span::ZERO,
        });
    }

    /// A block is erased: what waited for space goes on.
    pub(in crate::device) fn erased(&mut self, op: OpId) {
        let block = self.base.flash.ops[op].block;
        let bin = self.base.flash.ops[op].bin;
        let job = &mut self.gc.jobs[bin];
        job.erases -= 1;
        // Scrubbed blocks are not among them.
        if let Some(place) = job.chosen.iter().position(|(chosen, _)| *chosen == block) {
            let (_, since) = job.chosen.swap_remove(place);
            self.base.flash.counters.collected(self.base.time.now - since);
        }
        self.note_checkpoints();
        self.base.space.ftl.erase(block);
        self.audit_erase(block);
        if self.base.space.ftl.migration(bin).is_none() {
            self.unreserve(bin);
        }
        self.note_space(bin);
        self.unpark(bin);
        self.collect(bin);
    }

    /// Keeps a unit for a collection that does not yield.
    pub(in crate::device) fn reserve(&mut self, bin: BinId, group: GroupId) {
        let cells = self.base.flash.places[bin].erase;
        self.base.flash.groups[group].keep(cells, bin);
        self.mark_reserved(bin, cells);
    }

    fn mark_reserved(&mut self, bin: BinId, cells: u64) {
        let BinPlace { group, channel, .. } = self.base.flash.places[bin];
        let channel = &mut self.base.flash.channels[channel].ledger;
        self.base.flash.ledgers.follow(
            self.base.time.now,
            group,
            cells,
            &self.base.flash.groups[group],
            channel,
        );
    }

    /// Gives a bin's unit back, where it is kept for the bin's collection.
    pub(in crate::device) fn unreserve(&mut self, bin: BinId) {
        let group = self.group_of(bin);
        let cells = self.base.flash.places[bin].erase;
        if !self.base.flash.groups[group].give_back(cells, bin) {
            return;
        }
        self.mark_reserved(bin, cells);
        // Collections of other bins of the group may have waited for their turn.
        self.base.space.to_collect.extend_from_slice(&self.base.flash.bins_of_group[group]);
        self.serve(group);
    }

    /// Notes whether a bin's collection is under way, for waits for space.
    pub(in crate::device) fn note_space(&mut self, bin: BinId) {
        let job = &self.gc.jobs[bin];
        let under_way = job.reads + job.writes + job.erases > 0 || !job.draining.is_empty();
        if under_way != self.base.space.spaces[bin].is_under_way() {
            self.settle_space_of(bin);
            self.base.space.spaces[bin].set_under_way(under_way);
        }
    }

    pub(in crate::device) fn settle_space_of(&mut self, bin: BinId) {
        let place = &self.base.flash.places[bin];
        let ledger = self.base.flash.ledgers.of(place.group, place.program);
        ledger.settle_with(self.base.time.now, &mut self.base.flash.channels[place.channel].ledger);
        self.base.space.spaces[bin].settle(self.base.time.now, ledger.totals());
    }

    /// What a bin's waits for space are charged to, so far.
    pub(in crate::device) fn space_snapshot(&mut self, bin: BinId) -> SpaceSnapshot {
        self.settle_space_of(bin);
        *self.base.space.spaces[bin].totals()
    }

    /// A group may have become idle: looks again after the idle gap.
    pub(in crate::device) fn note_idle(&mut self, group: GroupId) {
        let Some(gap) = self.gc.config.idle_gap else { return };
        if self.wants_idle_collection(group) {
            let due = self.base.time.now + gap.span();
            self.base.time.agenda.schedule(due, Event::Idle(group), group.0.into());
            self.base.flash.groups[group].idle_check = due;
        }
    }

    pub(in crate::device) fn idle_due(&mut self, group: GroupId) {
        if self.base.flash.groups[group].idle_check != self.base.time.now {
            return;
        }
        self.base.flash.groups[group].idle_check = Instant::NEVER;
        for index in 0..self.base.flash.bins_of_group[group].len() {
            let bin = self.base.flash.bins_of_group[group][index];
            if !self.base.space.ftl.has_enough(bin) && !self.gc.jobs[bin].running {
                self.gc.jobs[bin].running = true;
                self.gc.jobs[bin].by_idleness = true;
            }
            if self.gc.jobs[bin].running {
                self.collect(bin);
            }
        }
        if self.wants_idle_collection(group) && !self.gc.thwarted.contains(&group) {
            self.gc.thwarted.push(group);
        }
    }

    /// True where a group does nothing although its bins could do with more space.
    fn wants_idle_collection(&self, group: GroupId) -> bool {
        self.base.flash.groups[group].is_idle()
            && self.base.flash.groups[group].idle_check == Instant::NEVER
            && self.base.flash.bins_of_group[group]
                .iter()
                .any(|bin| !self.base.space.ftl.has_enough(*bin))
    }
}
