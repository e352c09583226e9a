//! Garbage collection in time: a job for each bin, which reads a victim's live
//! units, writes them to the bin's next batches and has the victim erased. It
//! decides between page moves whether to go on; the scheduler decides who goes
//! first.

use super::Device;
use super::array::{Ask, BinPlace};
use super::counters::OpKind;
use super::event::Event;
use super::op::{Class, OpId, Owner};
use super::space::SpaceSnapshot;
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
    pub(super) victim: Option<BlockId>,
    pub(super) next: u32,
    pub(super) reads: u32,
    pub(super) writes: u32,
    /// Units that a paced collection still owes to host writes.
    pub(super) debt: u32,
    /// True from a threshold (or an idle gap) until enough is free.
    pub(super) running: bool,
    /// It was an idle gap.
    pub(super) by_idleness: bool,
    /// True where the present victim, or the last one, is scrubbed.
    pub(super) scrubs: bool,
    /// A look of scrubbing is due.
    pub(super) look: bool,
    /// A block was scrubbed since a host program last found a place.
    pub(super) scrubbed_last: bool,
    /// A block was collected since one was last scrubbed; and before the one that is
    /// scrubbed now.
    pub(super) collected: bool,
    collected_before: bool,
    /// Read and not yet written: logical unit and the place it was read from.
    pub(super) staged: Vec<[u32; 2]>,
    pub(super) erases: u32,
    /// Units whose moves gain as much space as a host's batch takes, from the last victim.
    pub(super) pace: u32,
    /// Victims that were read whole and wait to be erased.
    pub(super) draining: Vec<BlockId>,
    /// Victims of collection that are not erased yet, and when each was chosen.
    pub(super) chosen: Vec<(BlockId, Instant)>,
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
    pub(super) fn is_scrubbing(&self) -> bool {
        self.scrubs && (self.victim.is_some() || self.reads > 0 || !self.staged.is_empty())
    }
}

impl Device {
    /// Looks at the bins whose space has changed during the present event.
    #[inline(always)]
    pub(super) fn collect_where_needed(&mut self) {
        if !self.to_collect.is_empty() {
            self.collect_noted();
        }
    }

    #[inline(never)]
    fn collect_noted(&mut self) {
        while let Some(bin) = self.to_collect.pop() {
            self.collect_if_needed(bin);
            if self.to_collect.is_empty() && !self.parked_modifies.is_empty() {
                self.turn_parked_away();
            }
        }
    }

    fn collect_if_needed(&mut self, bin: BinId) {
        if self.goes_in_rounds() {
            return self.collect_in_rounds(bin);
        }
        let level = self.ftl.level(bin);
        if level == Level::Ample {
            // Its moves may have been set aside all the same, as pages may be free in a
            // block that hosts write.
            return self.write_rest(bin);
        }
        if level == Level::Urgent || self.jobs[bin].debt > 0 {
            self.clear_backlog(bin);
        }
        if level == Level::Urgent && self.class_of(bin) != Class::Soft {
            let group = self.group_of(bin);
            self.groups[group].raise_soft(&mut self.ops);
        }
        self.jobs[bin].begin();
        self.collect(bin);
    }

    /// Bins that were short of space look for a victim again, at once or in the
    /// next idle gap: data has died.
    pub(super) fn retry_starved(&mut self) {
        while let Some(group) = self.thwarted.pop() {
            self.note_idle(group);
        }
        if !self.starved.is_empty() {
            self.starved.sort_unstable();
            self.starved.dedup();
            self.to_collect.append(&mut self.starved);
        }
    }

    pub(super) fn group_of(&self, bin: BinId) -> GroupId {
        self.places[bin].group
    }

    pub(super) fn class_of(&self, bin: BinId) -> Class {
        if !self.gc_config.preemptible && self.groups[self.group_of(bin)].is_kept_for(bin) {
            return Class::Held;
        }
        let is_urgent = match self.jobs[bin].scrubs {
            false => self.jobs[bin].debt > 0 || self.ftl.level(bin) == Level::Urgent,
            true => self.is_scrubbing_urgent(bin),
        };
        if is_urgent { Class::Urgent } else { Class::Soft }
    }

    /// A block that is scrubbed is in the way of a collection that is urgent, if somebody
    /// waits for that, or owed. What is owed is not paid by scrubbing, so there must be
    /// collections in between: else host writes would wait for one block after the other.
    #[cold]
    fn is_scrubbing_urgent(&self, bin: BinId) -> bool {
        let job = &self.jobs[bin];
        match self.ftl.level(bin) {
            Level::Urgent => self.is_awaited(bin),
            Level::Soft => job.debt > 0 && job.collected_before,
            Level::Ample => false,
        }
    }

    /// A host's batch is bound in a bin. Between the soft and the urgent
    /// threshold a paced collection owes the moves that it takes to gain as much
    /// space again; while it owes some, it goes before host writes.
    pub(super) fn owe(&mut self, bin: BinId) {
        if self.gc_config.pacing == Pacing::None || self.ftl.level(bin) == Level::Ample {
            return;
        }
        let job = &mut self.jobs[bin];
        job.debt = (job.debt + job.pace).min(self.ftl.layout.units_per_block());
        if job.debt > 0 {
            let group = self.places[bin].group;
            self.groups[group].raise_soft(&mut self.ops);
            if self.backlogs[bin].len() > 0 {
                // Not here: what owes is about to take its cells.
                self.to_collect.push(bin);
            }
        }
    }

    /// Lets a bin's collection go on as far as it may.
    pub(super) fn collect(&mut self, bin: BinId) {
        while self.jobs[bin].under_way() < self.gc_config.window {
            if self.jobs[bin].victim.is_none() && !self.next_victim(bin) {
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
        let job = &self.jobs[bin];
        let moving = job.victim.is_some() || job.reads + job.writes + job.erases > 0;
        if !moving && !job.draining.is_empty() {
            self.unreserve(bin);
        }
    }

    /// A collection that an idle gap began makes way for whatever comes, unless it
    /// keeps its unit (what has come then waits for it) or scrubbing waits for it.
    pub(super) fn yields(&self, bin: BinId) -> bool {
        let group = &self.groups[self.group_of(bin)];
        let job = &self.jobs[bin];
        job.by_idleness
            && !job.look
            && !job.is_scrubbing()
            && self.ftl.level(bin) == Level::Ample
            && !group.is_kept_for(bin)
            && group.queued() > 0
    }

    /// Has a victim erased once nothing stands against it.
    #[inline]
    pub(super) fn erase_if_ready(&mut self, block: BlockId) {
        if self.ftl.is_erasable(block) {
            self.erase_if_drained(block);
        }
    }

    fn erase_if_drained(&mut self, block: BlockId) {
        let bin = self.ftl.layout.bin(block);
        let Some(index) = self.jobs[bin].draining.iter().position(|draining| *draining == block)
        else {
            return;
        };
        self.jobs[bin].draining.swap_remove(index);
        self.erase_or_defer(bin, block);
        self.note_space(bin);
    }

    /// Asks for the erase of a victim.
    pub(super) fn ask_erase(&mut self, bin: BinId, block: BlockId) {
        self.jobs[bin].erases += 1;
        let class = self.class_of(bin);
        self.ask(Ask {
            kind: OpKind::Erase,
            holder: Holder::Erase,
            owner: Owner::CollectErase,
            class,
            bin,
            planes: self.ftl.layout.all_planes(),
            block,
            batch: 0,
            row: 0,
            rows: 1,
            transfer: Span::ZERO,
        });
    }

    /// A block is erased: what waited for space goes on.
    pub(super) fn erased(&mut self, op: OpId) {
        let block = self.ops[op].block;
        let bin = self.ops[op].bin;
        let job = &mut self.jobs[bin];
        job.erases -= 1;
        // Scrubbed blocks are not among them.
        if let Some(place) = job.chosen.iter().position(|(chosen, _)| *chosen == block) {
            let (_, since) = job.chosen.swap_remove(place);
            self.counters.collected(self.now - since);
        }
        self.note_checkpoints();
        self.ftl.erase(block);
        self.audit_erase(block);
        if self.ftl.migration(bin).is_none() {
            self.unreserve(bin);
        }
        self.note_space(bin);
        self.unpark(bin);
        self.collect(bin);
    }

    /// Keeps a unit for a collection that does not yield.
    pub(super) fn reserve(&mut self, bin: BinId, group: GroupId) {
        let cells = self.places[bin].erase;
        self.groups[group].keep(cells, bin);
        self.mark_reserved(bin, cells);
    }

    fn mark_reserved(&mut self, bin: BinId, cells: u64) {
        let BinPlace { group, channel, .. } = self.places[bin];
        let channel = &mut self.channels[channel].ledger;
        self.ledgers.follow(self.now, group, cells, &self.groups[group], channel);
    }

    /// Gives a bin's unit back, where it is kept for the bin's collection.
    pub(super) fn unreserve(&mut self, bin: BinId) {
        let group = self.group_of(bin);
        let cells = self.places[bin].erase;
        if !self.groups[group].give_back(cells, bin) {
            return;
        }
        self.mark_reserved(bin, cells);
        // Collections of other bins of the group may have waited for their turn.
        self.to_collect.extend_from_slice(&self.bins_of_group[group]);
        self.serve(group);
    }

    /// Notes whether a bin's collection is under way, for waits for space.
    pub(super) fn note_space(&mut self, bin: BinId) {
        let job = &self.jobs[bin];
        let under_way = job.reads + job.writes + job.erases > 0 || !job.draining.is_empty();
        if under_way != self.spaces[bin].is_under_way() {
            self.settle_space_of(bin);
            self.spaces[bin].set_under_way(under_way);
        }
    }

    pub(super) fn settle_space_of(&mut self, bin: BinId) {
        let place = &self.places[bin];
        let ledger = self.ledgers.of(place.group, place.program);
        ledger.settle_with(self.now, &mut self.channels[place.channel].ledger);
        self.spaces[bin].settle(self.now, ledger.totals());
    }

    /// What a bin's waits for space are charged to, so far.
    pub(super) fn space_snapshot(&mut self, bin: BinId) -> SpaceSnapshot {
        self.settle_space_of(bin);
        *self.spaces[bin].totals()
    }

    /// A group may have become idle: looks again after the idle gap.
    pub(super) fn note_idle(&mut self, group: GroupId) {
        let Some(gap) = self.gc_config.idle_gap else { return };
        if self.wants_idle_collection(group) {
            let due = self.now + gap.span();
            self.agenda.schedule(due, Event::Idle(group), group.0.into());
            self.groups[group].idle_check = due;
        }
    }

    pub(super) fn idle_due(&mut self, group: GroupId) {
        if self.groups[group].idle_check != self.now {
            return;
        }
        self.groups[group].idle_check = Instant::NEVER;
        for index in 0..self.bins_of_group[group].len() {
            let bin = self.bins_of_group[group][index];
            if !self.ftl.has_enough(bin) && !self.jobs[bin].running {
                self.jobs[bin].running = true;
                self.jobs[bin].by_idleness = true;
            }
            if self.jobs[bin].running {
                self.collect(bin);
            }
        }
        if self.wants_idle_collection(group) && !self.thwarted.contains(&group) {
            self.thwarted.push(group);
        }
    }

    /// True where a group does nothing although its bins could do with more space.
    fn wants_idle_collection(&self, group: GroupId) -> bool {
        self.groups[group].is_idle()
            && self.groups[group].idle_check == Instant::NEVER
            && self.bins_of_group[group].iter().any(|bin| !self.ftl.has_enough(*bin))
    }
}
