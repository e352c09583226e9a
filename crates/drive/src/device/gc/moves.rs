//! The moves of a collection: a victim's live units are read, written and committed.

use crate::device::Device;
use crate::device::flash::Ask;
use crate::device::flash::counters::OpKind;
use crate::device::flash::op::{OpId, Owner, PayloadId};
use engine::bits;
use ftl::{Batch, BinId, BlockId, Lpn, Pun, Source, Stream};
use metrics::Holder;

impl Device {
    /// True where a move carries data of a block.
    pub(in crate::device) fn moves_from(&self, id: OpId, block: BlockId) -> bool {
        match self.base.flash.ops[id].owner {
            Owner::CollectMove(from) => from.block == block,
            Owner::CollectWrite(payload) => {
                let mut slots = 0..self.base.flash.payloads.count(payload);
                let from = |slot| Pun(self.base.flash.payloads.slot(payload, slot)[1]);
                slots.any(|slot| self.base.space.ftl.layout.block(from(slot)) == block)
            }
            _ => false,
        }
    }

    /// Writes what was read and fills no batch, once no more is read or a move waits for
    /// space: it may be the rest of the older victim, for whose erase that move waits.
    pub(in crate::device) fn write_rest(&mut self, bin: BinId) {
        let job = &self.gc.jobs[bin];
        if job.reads > 0 || job.staged.is_empty() {
            return;
        }
        let is_move = |id: OpId| self.base.flash.ops[id].is_collection();
        if job.victim.is_none()
            || self.base.space.bins[bin].parked.iter().any(|(id, _)| is_move(*id))
        {
            self.write_staged(bin);
        }
    }

    /// Moves on to the victim's next batch with live units; ends the victim where
    /// there is none.
    pub(in crate::device) fn next_batch(&mut self, bin: BinId) {
        match self.next_live_batch(bin) {
            Some((at, live)) => self.move_batch(bin, at, live),
            None => {
                let victim = self.gc.jobs[bin].victim.take().expect("a victim was chosen");
                self.gc.jobs[bin].draining.push(victim);
                self.erase_if_ready(victim);
            }
        }
    }

    /// The victim's next batch with live units, and those.
    #[inline]
    pub(in crate::device) fn next_live_batch(&self, bin: BinId) -> Option<(Batch, u64)> {
        let job = &self.gc.jobs[bin];
        let block = job.victim.expect("a victim was chosen");
        let at = self.base.space.ftl.next_live_batch(Batch { block, batch: job.next })?;
        Some((at, self.base.space.ftl.live_in_batch(at)))
    }

    /// The live units of a batch are about to be moved.
    #[inline]
    pub(in crate::device) fn begin_move(&mut self, bin: BinId, at: Batch, live: u64) {
        self.gc.jobs[bin].next = at.batch + 1;
        let first = self.base.space.ftl.layout.first_unit(at.block, at.batch);
        let mut count = 0;
        for slot in bits(live) {
            self.base.space.ftl.prefetch(self.base.space.ftl.holds(Pun(first.0 + slot as u32)));
            count += 1;
        }
        self.base.space.ftl.begin_reads(at.block, count);
    }

    /// Reads (or copies back) the live units of a batch.
    fn move_batch(&mut self, bin: BinId, at: Batch, live: u64) {
        self.begin_move(bin, at, live);
        let (reader, writer) = (self.reader_of(bin), self.writer_of(bin));
        let copies_back = self.gc.config.copy_back
            && live == self.base.space.ftl.layout.whole_batch()
            && self.base.space.ftl.may_be_copied(at)
            && self.may_copy_back(bin, at);
        let layout = &self.base.space.ftl.layout;
        let job = &mut self.gc.jobs[bin];
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
            transfer: self.base.flash.rows.of_units(live),
        });
    }

    /// True where a batch would be copied to the planes on which it lies.
    #[inline]
    fn may_copy_back(&self, bin: BinId, at: Batch) -> bool {
        let layout = &self.base.space.ftl.layout;
        layout.planes_per_bin() == layout.block_planes || {
            let to = self.base.space.ftl.next_block(bin, Stream::Gc);
            to.is_some_and(|to| layout.share_planes(at.block, to))
        }
    }

    /// Others have taken the places on the planes of a batch that was to be copied back: it is
    /// read instead. Returns whether it must be.
    pub(in crate::device) fn reads_instead(&mut self, id: OpId) -> bool {
        let op = &self.base.flash.ops[id];
        let (bin, Owner::CollectMove(from)) = (op.bin, op.owner) else { return false };
        if self.may_copy_back(bin, from) {
            return false;
        }
        let holder = self.reader_of(bin);
        self.gc.jobs[bin].writes -= 1;
        self.gc.jobs[bin].reads += 1;
        let layout = &self.base.space.ftl.layout;
        let cells = self.base.flash.places[bin].read_cells(layout.planes_of(layout.whole_batch()));
        let op = &mut self.base.flash.ops[id];
        // Those of a read, which are no others than those of the program that it was to be.
        op.cells &= cells;
        (op.kind, op.holder) = (OpKind::Read, holder);
        op.owner = Owner::CollectRead(self.base.space.ftl.layout.whole_batch());
        true
    }

    /// Live units of a victim are in the controller.
    pub(in crate::device) fn collect_read_ended(&mut self, op: OpId, live: u64) {
        let at = self.base.flash.ops[op].at();
        let bin = self.base.flash.ops[op].bin;
        let first = self.base.space.ftl.layout.first_unit(at.block, at.batch);
        let mut left = live;
        while left != 0 {
            let pun = Pun(first.0 + left.trailing_zeros());
            left &= left - 1;
            if self.base.space.ftl.is_live(pun) {
                self.gc.jobs[bin].staged.push([self.base.space.ftl.holds(pun).0, pun.0]);
            } else {
                self.unpin(at.block);
            }
        }
        self.gc.jobs[bin].reads -= 1;
        while self.gc.jobs[bin].staged.len() >= self.base.space.ftl.layout.units_per_batch as usize
        {
            self.write_staged(bin);
        }
        self.collect(bin);
    }

    /// Asks for a program of the first units that were read and are still live.
    fn write_staged(&mut self, bin: BinId) {
        let payload = self.base.flash.payloads.new_empty();
        let batch = self.base.space.ftl.layout.units_per_batch;
        let mut taken = 0;
        while self.base.flash.payloads.count(payload) < batch
            && taken < self.gc.jobs[bin].staged.len()
        {
            let [lpn, from] = self.gc.jobs[bin].staged[taken];
            taken += 1;
            if self.base.space.ftl.is_live(Pun(from)) {
                self.base.flash.payloads.push(payload, [lpn, from]);
            } else {
                let block = self.base.space.ftl.layout.block(Pun(from));
                self.unpin(block);
            }
        }
        self.gc.jobs[bin].staged.drain(..taken);
        if self.base.flash.payloads.count(payload) == 0 {
            return self.base.flash.payloads.remove(payload);
        }
        self.gc.jobs[bin].writes += 1;
        let class = self.class_of(bin);
        let writer = self.writer_of(bin);
        self.ask_program(bin, payload, writer, class, Owner::CollectWrite(payload));
    }

    /// Moved units are on flash in their new place.
    pub(in crate::device) fn collect_write_ended(&mut self, op: OpId, payload: PayloadId) {
        let at = self.base.flash.ops[op].at();
        let first = self.base.space.ftl.layout.first_unit(at.block, at.batch);
        let count = self.base.flash.payloads.count(payload);
        self.base.space.ftl.note_copied(None, at);
        for slot in 0..count {
            let [lpn, from] = self.base.flash.payloads.slot(payload, slot);
            self.commit_move(Lpn(lpn), Pun(from), Pun(first.0 + slot));
        }
        self.base.flash.payloads.remove(payload);
        let bin = self.base.flash.ops[op].bin;
        self.write_ended(op, at, count);
        self.collect(bin);
    }

    /// A batch that was moved as a whole is on flash in its new place.
    pub(in crate::device) fn moved(&mut self, op: OpId, from: Batch) {
        let at = self.base.flash.ops[op].at();
        let count = self.base.space.ftl.layout.units_per_batch;
        if self.is_audited() {
            let first = |at: Batch| self.base.space.ftl.layout.first_unit(at.block, at.batch).0;
            let (from, to) = (first(from), first(at));
            (0..count).for_each(|slot| self.audit_copy(Pun(from + slot), Pun(to + slot)));
        }
        let uncorrected = self.base.flash.ops[op].uncorrected();
        self.base.space.ftl.note_copied(uncorrected, at);
        self.base.space.ftl.commit_batch_move(from, at);
        if self.base.space.ftl.end_reads(from.block, count) {
            self.erase_if_ready(from.block);
        }
        self.write_ended(op, at, count);
    }

    fn commit_move(&mut self, lpn: Lpn, from: Pun, to: Pun) {
        self.base.space.ftl.note_copy(from, to, lpn);
        self.audit_copy(from, to);
        self.base.space.ftl.commit_move(lpn, from, to);
        self.unpin(self.base.space.ftl.layout.block(from));
    }

    /// The bin whose collection asked for an operation.
    #[inline]
    pub(in crate::device) fn job_of(&self, op: OpId) -> BinId {
        match self.base.flash.ops[op].owner {
            Owner::Streamed(from) => self.base.space.ftl.layout.bin(from.block),
            _ => self.base.flash.ops[op].bin,
        }
    }

    /// A program of `count` moved units is over.
    #[inline]
    fn write_ended(&mut self, op: OpId, at: Batch, count: u32) {
        let (bin, holder) = (self.job_of(op), self.base.flash.ops[op].holder);
        let source = if holder == Holder::Scrub { Source::Scrub } else { Source::Gc };
        let tally = &mut self.base.space.ftl.tally;
        tally.units[source as usize] += u64::from(count);
        tally.units[Source::Padding as usize] +=
            u64::from(self.base.space.ftl.layout.units_per_batch - count);
        self.note_checkpoints();
        self.base.space.ftl.finish(at);
        let job = &mut self.gc.jobs[bin];
        job.writes -= 1;
        // Scrubbing gains no space: what is owed stays owed.
        if source == Source::Gc {
            job.debt = job.debt.saturating_sub(count);
        }
    }
}
