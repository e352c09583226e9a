//! Garbage collection in time: a job for each bin, which reads a victim's live
//! units, writes them to the bin's next batches and has the victim erased. It
//! decides between page moves whether to go on; the scheduler decides who goes
//! first.

use super::Device;
use super::array::{Ask, BinPlace};
use super::counters::OpKind;
use super::event::Event;
use super::op::{Class, Op, OpId, Owner, PayloadId};
use super::space::SpaceSnapshot;
use engine::{Instant, Span, Ticket, bits};
use ftl::wear::Migration;
use ftl::{Batch, BinId, BlockId, Level, Lpn, Pacing, Pun, Source, Stream};
use metrics::Holder;
use nand::GroupId;

/// Garbage collection of one bin. What every move looks at stands in the first cache
/// line.
#[derive(Clone, Default)]
#[repr(C, align(64))]
pub struct Job {
    /// The block whose live data is being read, and the next batch to look at.
    pub(super) victim: Option<BlockId>,
    next: u32,
    pub(super) reads: u32,
    pub(super) writes: u32,
    /// Units that a paced collection still owes to host writes.
    debt: u32,
    /// True from a threshold (or an idle gap) until enough is free.
    running: bool,
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
    collected: bool,
    collected_before: bool,
    /// Read and not yet written: logical unit and the place it was read from.
    pub(super) staged: Vec<[u32; 2]>,
    erases: u32,
    /// Units whose moves gain as much space as a host's batch takes, from the last victim.
    pace: u32,
    /// Victims that were read whole and wait to be erased.
    draining: Vec<BlockId>,
    /// Victims of collection that are not erased yet, and when each was chosen.
    chosen: Vec<(BlockId, Instant)>,
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
    fn is_scrubbing(&self) -> bool {
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

    fn group_of(&self, bin: BinId) -> GroupId {
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
    fn yields(&self, bin: BinId) -> bool {
        let group = &self.groups[self.group_of(bin)];
        let job = &self.jobs[bin];
        job.by_idleness
            && !job.look
            && !job.is_scrubbing()
            && self.ftl.level(bin) == Level::Ample
            && !group.is_kept_for(bin)
            && group.queued() > 0
    }

    /// Chooses the next victim, of collection or of scrubbing.
    fn next_victim(&mut self, bin: BinId) -> bool {
        if let Some(migration) = self.ftl.migration(bin) {
            return self.next_of_migration(bin, migration);
        }
        if self.jobs[bin].look { self.next_with_look(bin) } else { self.next_collected(bin) }
    }

    /// A worn block of a bin is emptied, or takes data: nothing else is chosen before that is
    /// over, but the block with the data.
    #[cold]
    fn next_of_migration(&mut self, bin: BinId, migration: Migration) -> bool {
        if !matches!(migration, Migration::Takes { from: None, .. }) {
            return false;
        }
        let Some(cold) = self.ftl.pick_cold(bin) else {
            // The worn block is free after all.
            self.unreserve(bin);
            self.unpark(bin);
            return self.next_victim(bin);
        };
        let group = self.group_of(bin);
        if !self.gc_config.preemptible && !self.groups[group].is_kept_for(bin) {
            // A read of a host had the worn block's unit given back.
            self.reserve(bin, group);
        }
        let now = self.now;
        let job = &mut self.jobs[bin];
        job.chosen.push((cold, now));
        job.victim = Some(cold);
        job.next = 0;
        true
    }

    /// Chooses the next victim of collection, if the bin needs and can take one.
    pub(super) fn next_collected(&mut self, bin: BinId) -> bool {
        let job = &self.jobs[bin];
        // What was read for scrubbing is written as that.
        if !job.running || job.is_scrubbing() || self.yields(bin) {
            return false;
        }
        let under_way = job.draining.len() as u32 + job.erases;
        let to_come = under_way + self.backlogs[bin].len();
        if self.ftl.has_enough_with(bin, to_come) {
            self.jobs[bin].running = to_come > 0 && !self.ftl.has_enough(bin);
            return false;
        }
        if !self.can_take_victim(bin, under_way) {
            return false;
        }
        let group = self.group_of(bin);
        let is_kept = match self.goes_in_rounds() {
            true => !self.may_choose(bin),
            false => !self.gc_config.preemptible && self.groups[group].reserved != 0,
        };
        if is_kept {
            return false;
        }
        let Some(victim) = self.ftl.pick_victim(bin) else {
            self.jobs[bin].running = to_come > 0;
            return false;
        };
        if !self.gc_config.preemptible {
            self.reserve(bin, group);
        }
        let pace = self.pace_of(victim);
        let now = self.now;
        let job = &mut self.jobs[bin];
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
        let layout = &self.ftl.layout;
        let live = self.ftl.live_units(victim);
        let gained = layout.units_per_block() - live;
        let moves = u64::from(layout.units_per_batch) * u64::from(live);
        moves.checked_div(u64::from(gained)).map_or(0, |moves| moves as u32)
    }

    /// A second victim is taken before the first is erased only where both fit
    /// into what is free; and never where the unit is withheld for the first.
    fn can_take_victim(&self, bin: BinId, under_way: u32) -> bool {
        if under_way == 0 {
            return self.jobs[bin].staged.is_empty() || self.has_room_for_more(bin);
        }
        self.gc_config.preemptible && under_way < 2 && self.has_room_for_more(bin)
    }

    fn has_room_for_more(&self, bin: BinId) -> bool {
        let layout = &self.ftl.layout;
        let room = self.ftl.room(bin, Stream::Gc) * layout.units_per_batch;
        let under_way = self.jobs[bin].staged.len() as u32
            + (self.jobs[bin].writes + self.jobs[bin].reads) * layout.units_per_batch;
        room >= under_way + layout.units_per_block()
    }

    /// Whether a move may take a place of its bin while an older victim is being moved.
    /// Hosts may have taken space since the second was chosen, so the first goes before:
    /// its erase gives some to the second. With two free blocks no first victim lacks any.
    #[inline(always)]
    pub(super) fn leaves_room(&self, bin: BinId, is_from: impl Fn(BlockId) -> bool) -> bool {
        self.ftl.free_blocks(bin) > 1 || self.leaves_room_of_little(bin, is_from)
    }

    #[inline(never)]
    fn leaves_room_of_little(&self, bin: BinId, is_from: impl Fn(BlockId) -> bool) -> bool {
        let Some(&older) = self.jobs[bin].draining.first() else { return true };
        let needed = self.ftl.reads_under_way(older).min(self.ftl.layout.batches_per_block);
        self.ftl.room(bin, Stream::Gc) > needed || is_from(older)
    }

    /// True where a move carries data of a block.
    pub(super) fn moves_from(&self, id: OpId, block: BlockId) -> bool {
        match self.ops[id].owner {
            Owner::CollectMove(from) => from.block == block,
            Owner::CollectWrite(payload) => {
                let mut slots = 0..self.payloads.count(payload);
                let from = |slot| Pun(self.payloads.slot(payload, slot)[1]);
                slots.any(|slot| self.ftl.layout.block(from(slot)) == block)
            }
            _ => false,
        }
    }

    /// Writes what was read and fills no batch, once no more is read or a move waits for
    /// space: it may be the rest of the older victim, for whose erase that move waits.
    fn write_rest(&mut self, bin: BinId) {
        let job = &self.jobs[bin];
        if job.reads > 0 || job.staged.is_empty() {
            return;
        }
        let is_move = |id: OpId| self.ops[id].is_collection();
        if job.victim.is_none() || self.bins[bin].parked.iter().any(|(id, _)| is_move(*id)) {
            self.write_staged(bin);
        }
    }

    /// Moves on to the victim's next batch with live units; ends the victim where
    /// there is none.
    fn next_batch(&mut self, bin: BinId) {
        match self.next_live_batch(bin) {
            Some((at, live)) => self.move_batch(bin, at, live),
            None => {
                let victim = self.jobs[bin].victim.take().expect("a victim was chosen");
                self.jobs[bin].draining.push(victim);
                self.erase_if_ready(victim);
            }
        }
    }

    /// The victim's next batch with live units, and those.
    #[inline]
    pub(super) fn next_live_batch(&self, bin: BinId) -> Option<(Batch, u64)> {
        let job = &self.jobs[bin];
        let block = job.victim.expect("a victim was chosen");
        let at = self.ftl.next_live_batch(Batch { block, batch: job.next })?;
        Some((at, self.ftl.live_in_batch(at)))
    }

    /// The live units of a batch are about to be moved.
    #[inline]
    pub(super) fn begin_move(&mut self, bin: BinId, at: Batch, live: u64) {
        self.jobs[bin].next = at.batch + 1;
        let first = self.ftl.layout.first_unit(at.block, at.batch);
        let mut count = 0;
        for slot in bits(live) {
            self.ftl.prefetch(self.ftl.holds(Pun(first.0 + slot as u32)));
            count += 1;
        }
        self.ftl.begin_reads(at.block, count);
    }

    /// Reads (or copies back) the live units of a batch.
    fn move_batch(&mut self, bin: BinId, at: Batch, live: u64) {
        self.begin_move(bin, at, live);
        let (reader, writer) = (self.reader_of(bin), self.writer_of(bin));
        let copies_back = self.gc_config.copy_back
            && live == self.ftl.layout.whole_batch()
            && self.ftl.may_be_copied(at)
            && self.may_copy_back(bin, at);
        let layout = &self.ftl.layout;
        let job = &mut self.jobs[bin];
        let (kind, holder, owner) = if copies_back {
            job.writes += 1;
            (OpKind::CopyBack, writer, Owner::CollectMove(at))
        } else {
            job.reads += 1;
            (OpKind::Read, reader, Owner::CollectRead(live))
        };
        self.ask(Ask {
            kind,
            holder,
            owner,
            class: self.class_of(bin),
            bin,
            planes: layout.planes_of(live),
            block: at.block,
            batch: at.batch,
            row: at.batch * layout.rows_per_batch,
            rows: layout.rows_per_batch,
            transfer: self.rows.of_units(live),
        });
    }

    /// True where a batch would be copied to the planes on which it lies.
    #[inline]
    fn may_copy_back(&self, bin: BinId, at: Batch) -> bool {
        let layout = &self.ftl.layout;
        layout.planes_per_bin() == layout.block_planes || {
            let to = self.ftl.next_block(bin, Stream::Gc);
            to.is_some_and(|to| layout.share_planes(at.block, to))
        }
    }

    /// Others have taken the places on the planes of a batch that was to be copied back: it is
    /// read instead. Returns whether it must be.
    pub(super) fn reads_instead(&mut self, id: OpId) -> bool {
        let op = &self.ops[id];
        let (bin, Owner::CollectMove(from)) = (op.bin, op.owner) else { return false };
        if self.may_copy_back(bin, from) {
            return false;
        }
        let holder = self.reader_of(bin);
        self.jobs[bin].writes -= 1;
        self.jobs[bin].reads += 1;
        let layout = &self.ftl.layout;
        let cells = self.places[bin].read_cells(layout.planes_of(layout.whole_batch()));
        let op = &mut self.ops[id];
        // Those of a read, which are no others than those of the program that it was to be.
        op.cells &= cells;
        (op.kind, op.holder) = (OpKind::Read, holder);
        op.owner = Owner::CollectRead(self.ftl.layout.whole_batch());
        true
    }

    /// Live units of a victim are in the controller.
    pub(super) fn collect_read_ended(&mut self, op: OpId, live: u64) {
        let at = self.ops[op].at();
        let bin = self.ops[op].bin;
        let first = self.ftl.layout.first_unit(at.block, at.batch);
        let mut left = live;
        while left != 0 {
            let pun = Pun(first.0 + left.trailing_zeros());
            left &= left - 1;
            if self.ftl.is_live(pun) {
                self.jobs[bin].staged.push([self.ftl.holds(pun).0, pun.0]);
            } else {
                self.unpin(at.block);
            }
        }
        self.jobs[bin].reads -= 1;
        while self.jobs[bin].staged.len() >= self.ftl.layout.units_per_batch as usize {
            self.write_staged(bin);
        }
        self.collect(bin);
    }

    /// Asks for a program of the first units that were read and are still live.
    fn write_staged(&mut self, bin: BinId) {
        let payload = self.payloads.new_empty();
        let batch = self.ftl.layout.units_per_batch;
        let mut taken = 0;
        while self.payloads.count(payload) < batch && taken < self.jobs[bin].staged.len() {
            let [lpn, from] = self.jobs[bin].staged[taken];
            taken += 1;
            if self.ftl.is_live(Pun(from)) {
                self.payloads.push(payload, [lpn, from]);
            } else {
                let block = self.ftl.layout.block(Pun(from));
                self.unpin(block);
            }
        }
        self.jobs[bin].staged.drain(..taken);
        if self.payloads.count(payload) == 0 {
            return self.payloads.remove(payload);
        }
        self.jobs[bin].writes += 1;
        let class = self.class_of(bin);
        let writer = self.writer_of(bin);
        self.ask_program(bin, payload, writer, class, Owner::CollectWrite(payload));
    }

    /// Moved units are on flash in their new place.
    pub(super) fn collect_write_ended(&mut self, op: OpId, payload: PayloadId) {
        let at = self.ops[op].at();
        let first = self.ftl.layout.first_unit(at.block, at.batch);
        let count = self.payloads.count(payload);
        self.ftl.note_copied(None, at);
        for slot in 0..count {
            let [lpn, from] = self.payloads.slot(payload, slot);
            self.commit_move(Lpn(lpn), Pun(from), Pun(first.0 + slot));
        }
        self.payloads.remove(payload);
        let bin = self.ops[op].bin;
        self.write_ended(op, at, count);
        self.collect(bin);
    }

    /// A batch that was moved as a whole is on flash in its new place.
    pub(super) fn moved(&mut self, op: OpId, from: Batch) {
        let at = self.ops[op].at();
        let count = self.ftl.layout.units_per_batch;
        if self.is_audited() {
            let first = |at: Batch| self.ftl.layout.first_unit(at.block, at.batch).0;
            let (from, to) = (first(from), first(at));
            (0..count).for_each(|slot| self.audit_copy(Pun(from + slot), Pun(to + slot)));
        }
        let op_state = &self.ops[op];
        let is_uncorrected =
            op_state.kind == OpKind::CopyBack || matches!(op_state.owner, Owner::Streamed(_));
        self.ftl.note_copied(is_uncorrected.then_some(from), at);
        self.ftl.commit_batch_move(from, at);
        if self.ftl.end_reads(from.block, count) {
            self.erase_if_ready(from.block);
        }
        self.write_ended(op, at, count);
    }

    fn commit_move(&mut self, lpn: Lpn, from: Pun, to: Pun) {
        self.ftl.note_copy(from, to, lpn);
        self.audit_copy(from, to);
        self.ftl.commit_move(lpn, from, to);
        self.unpin(self.ftl.layout.block(from));
    }

    /// A program of `count` moved units is over.
    #[inline]
    fn write_ended(&mut self, op: OpId, at: Batch, count: u32) {
        let Op { bin: to, holder, owner, .. } = self.ops[op];
        let bin = match owner {
            Owner::Streamed(from) => self.ftl.layout.bin(from.block),
            _ => to,
        };
        let source = if holder == Holder::Scrub { Source::Scrub } else { Source::Gc };
        let tally = &mut self.ftl.tally;
        tally.units[source as usize] += u64::from(count);
        tally.units[Source::Padding as usize] += u64::from(self.ftl.layout.units_per_batch - count);
        self.note_checkpoints();
        self.ftl.finish(at);
        let job = &mut self.jobs[bin];
        job.writes -= 1;
        // Scrubbing gains no space: what is owed stays owed.
        if source == Source::Gc {
            job.debt = job.debt.saturating_sub(count);
        }
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
            planes: (1u64 << self.ftl.layout.block_planes) - 1,
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
    fn reserve(&mut self, bin: BinId, group: GroupId) {
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
    fn unreserve(&mut self, bin: BinId) {
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

    fn settle_space_of(&mut self, bin: BinId) {
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

    // ---- idleness ------------------------------------------------------------

    /// A group may have become idle: looks again after the idle gap.
    pub(super) fn note_idle(&mut self, group: GroupId) {
        let Some(gap) = self.gc_config.idle_gap else { return };
        if self.wants_idle_collection(group) {
            let ticket = self.agenda.schedule(self.now + gap.span(), Event::Idle(group));
            self.groups[group].idle_check = ticket;
        }
    }

    pub(super) fn idle_due(&mut self, group: GroupId, ticket: Ticket) {
        if self.groups[group].idle_check != ticket {
            return;
        }
        self.groups[group].idle_check = Ticket::NONE;
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
            && self.groups[group].idle_check == Ticket::NONE
            && self.bins_of_group[group].iter().any(|bin| !self.ftl.has_enough(*bin))
    }
}
