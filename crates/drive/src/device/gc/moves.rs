//! The moves of a collection: a victim's valid units are read, written and committed.

use crate::device::Base;
use crate::device::flash::Ask;
use crate::device::flash::Placement;
use crate::device::flash::counters::OpKind;
use crate::device::flash::op::Owner;
use crate::device::gc::Gc;
use crate::device::ids::{OpId, PayloadId};
use crate::device::tasks::{Job, Step};
use engine::bits;
use ftl::{Batch, BinId, Lpn, Ppn, Source};
use metrics::Holder;

impl Gc {
    /// Writes the remaining read data although it fills no batch, once no more is read or a move
    /// waits for space: it may be the rest of the older victim, whose erase that move waits for.
    #[inline(always)]
    pub(in crate::device) fn write_rest(&mut self, base: &mut Base, bin: BinId) {
        let job = &self.jobs[bin];
        if job.reads == 0 && !job.staged.is_empty() {
            self.write_staged_rest(base, bin);
        }
    }

    #[inline(never)]
    fn write_staged_rest(&mut self, base: &mut Base, bin: BinId) {
        if base.flash.has_turned_to_read(bin) {
            return;
        }
        let job = &self.jobs[bin];
        let is_move = |id: OpId| {
            let op = base.flash.op(id);
            op.is_collection() && !op.is_scrubbing()
        };
        let is_due =
            job.victim.is_none() || base.space.parked(bin).iter().any(|(id, _)| is_move(*id));
        if is_due && base.begins_program(Job::Collection(bin), Step::Program) {
            self.write_staged(base, bin);
        }
    }

    /// Moves the victim's next batch with valid units; ends the victim if there is none. Returns false if
    /// the move must wait for a task, or for the end of another program.
    pub(in crate::device) fn next_batch(&mut self, base: &mut Base, bin: BinId) -> bool {
        match self.next_valid_batch(base, bin) {
            Some((at, valid)) if !self.may_move(base, bin, at, valid) => return false,
            Some((at, valid)) => self.move_batch(base, bin, at, valid),
            None => {
                let victim = self.jobs[bin].victim.take().expect("a victim was chosen");
                base.space.task_mut(bin).draining.push(victim);
                self.erase_if_ready(base, victim);
            }
        }
        true
    }

    /// The victim's next batch with valid units, and a mask of those.
    #[inline(always)]
    pub(in crate::device) fn next_valid_batch(
        &self,
        base: &Base,
        bin: BinId,
    ) -> Option<(Batch, u64)> {
        let job = &self.jobs[bin];
        let block = job.victim.expect("a victim was chosen");
        base.space.ftl.next_valid_batch(Batch { block, batch: job.next })
    }

    /// Begins the move of a batch's valid units.
    #[inline(always)]
    pub(in crate::device) fn begin_move(
        &mut self,
        base: &mut Base,
        bin: BinId,
        at: Batch,
        valid: u64,
    ) {
        self.jobs[bin].next = at.batch + 1;
        let first = base.space.ftl.layout.first_unit(at.block, at.batch);
        let mut count = 0;
        for slot in bits(valid) {
            base.space.ftl.prefetch(base.space.ftl.holds(Ppn(first.0 + slot as u32)));
            count += 1;
        }
        base.space.ftl.begin_reads(at.block, count);
    }

    /// True if a batch is copied back and not read.
    #[inline(always)]
    pub(in crate::device::gc) fn copies_back(
        &self,
        base: &Base,
        bin: BinId,
        at: Batch,
        valid: u64,
    ) -> bool {
        self.config.copy_back
            && !self.jobs[bin].by_controller
            && valid == base.space.ftl.layout.whole_batch()
            && base.space.ftl.may_be_copied(at)
            && base.space.may_copy_back(self.writer_of(base, bin), bin, at)
    }

    /// Reads (or copies back) the valid units of a batch.
    fn move_batch(&mut self, base: &mut Base, bin: BinId, at: Batch, valid: u64) {
        self.begin_move(base, bin, at, valid);
        let (reader, writer) = (self.reader_of(base, bin), self.writer_of(base, bin));
        let copies_back = self.copies_back(base, bin, at, valid);
        let layout = &base.space.ftl.layout;
        let job = &mut self.jobs[bin];
        let (kind, holder, owner) = if copies_back {
            job.writes += 1;
            (OpKind::CopyBack, writer, Owner::CollectMove(at))
        } else {
            job.reads += 1;
            (OpKind::Read, reader, Owner::CollectRead(valid.into()))
        };
        let op = base.ask(Ask {
            slots: 0,
            kind,
            holder,
            owner,
            class: base.class_of(bin),
            bin,
            planes: layout.planes_of(valid),
            block: at.block,
            batch: at.batch,
            row: layout.first_row(at.batch),
            rows: layout.rows_per_batch,
            transfer: base.flash.shape().of_units(valid),
            bytes: 0,
        });
        if !copies_back && base.space.pressure.is_some() {
            base.keep_credit(bin, op);
        }
    }

    /// Counts a copy-back of a bin as the read that it has become.
    pub(in crate::device) fn turned_to_read(&mut self, bin: BinId) {
        let job = &mut self.jobs[bin];
        (job.writes, job.reads) = (job.writes - 1, job.reads + 1);
    }

    /// Counts the reads of a batch whose rows were sensed.
    #[inline]
    pub(in crate::device) fn note_sensed(&self, base: &mut Base, at: Batch) {
        base.space.ftl.note_sensed(at.block, base.space.ftl.layout.rows_per_batch);
    }

    /// Continues after valid units of a victim were read into the controller.
    #[inline(always)]
    pub(in crate::device) fn collect_read_ended(&mut self, base: &mut Base, op: OpId, valid: u64) {
        let at = base.flash.op(op).at();
        let bin = base.flash.op(op).bin;
        self.note_sensed(base, at);
        let first = base.space.ftl.layout.first_unit(at.block, at.batch);
        let mut left = valid;
        while left != 0 {
            let ppn = Ppn(first.0 + left.trailing_zeros());
            left &= left - 1;
            if base.space.ftl.is_valid(ppn) {
                self.jobs[bin].staged.push([base.space.ftl.holds(ppn).0, ppn.0]);
            } else {
                self.unpin(base, at.block);
            }
        }
        self.jobs[bin].reads -= 1;
        self.write_whole_batches(base, bin);
        self.collect(base, bin);
    }

    /// Asks for programs of whole batches that were read, as far as tasks and credits are free.
    #[inline]
    pub(in crate::device::gc) fn write_whole_batches(&mut self, base: &mut Base, bin: BinId) {
        let batch = base.space.ftl.layout.units_per_batch as usize;
        while self.jobs[bin].staged.len() >= batch
            && base.begins_program(Job::Collection(bin), Step::Program)
        {
            self.write_staged(base, bin);
        }
    }

    /// Asks for a program of the first units that were read and are still valid, for which a task has
    /// begun.
    fn write_staged(&mut self, base: &mut Base, bin: BinId) {
        let payload = base.flash.payloads.new_empty();
        let batch = base.space.ftl.layout.units_per_batch;
        let mut taken = 0;
        while base.flash.payloads.count(payload) < batch && taken < self.jobs[bin].staged.len() {
            let [lpn, from] = self.jobs[bin].staged[taken];
            taken += 1;
            if base.space.ftl.is_valid(Ppn(from)) {
                base.flash.payloads.push(payload, [lpn, from]);
            } else {
                let block = base.space.ftl.layout.block(Ppn(from));
                self.unpin(base, block);
            }
        }
        self.jobs[bin].staged.drain(..taken);
        if base.flash.payloads.count(payload) == 0 {
            base.give_task_back(base.set_of_bin(bin));
            base.give_credit_back(bin);
            return base.flash.payloads.remove(payload);
        }
        self.jobs[bin].writes += 1;
        let class = base.class_of(bin);
        let writer = self.writer_of(base, bin);
        let op = base.ask_program(bin, payload, writer, class, Owner::CollectWrite(payload));
        if base.space.binds_early() {
            audit_copies(base, op, payload);
        }
    }

    /// Commits moved units, which are on flash in their new place.
    #[inline(always)]
    pub(in crate::device) fn collect_write_ended(
        &mut self,
        base: &mut Base,
        op: OpId,
        payload: PayloadId,
    ) {
        let at = base.flash.op(op).at();
        let first = base.space.ftl.layout.first_unit(at.block, at.batch);
        let count = base.flash.payloads.count(payload);
        base.space.ftl.note_copied(None, at);
        for slot in 0..count {
            let [lpn, from] = base.flash.payloads.slot(payload, slot);
            self.commit_move(base, Lpn(lpn), Ppn(from), Ppn(first.0 + slot));
        }
        base.flash.payloads.remove(payload);
        let bin = base.flash.op(op).bin;
        self.write_ended(base, op, at, count);
        self.collect(base, bin);
    }

    /// Commits a batch that was moved as a whole and is on flash in its new place.
    pub(in crate::device) fn moved(&mut self, base: &mut Base, op: OpId, from: Batch) {
        let at = base.flash.op(op).at();
        let count = base.space.ftl.layout.units_per_batch;
        if base.is_audited() {
            if base.flash.op(op).kind == OpKind::CopyBack {
                base.audit_fit(from, at);
            }
            base.audit_batch_copy(from, at);
        }
        if base.flash.op(op).kind == OpKind::CopyBack {
            self.note_sensed(base, from);
        }
        let uncorrected = base.flash.op(op).uncorrected();
        base.space.ftl.note_copied(uncorrected, at);
        base.space.ftl.commit_batch_move(from, at);
        if base.space.ftl.end_reads(from.block, count) {
            self.erase_if_ready(base, from.block);
        }
        self.write_ended(base, op, at, count);
    }

    #[inline(always)]
    pub(in crate::device::gc) fn commit_move(
        &mut self,
        base: &mut Base,
        lpn: Lpn,
        from: Ppn,
        to: Ppn,
    ) {
        base.space.ftl.note_copy(from, to, lpn);
        base.audit_copy(from, to);
        base.space.ftl.commit_move(lpn, from, to);
        let block = base.space.ftl.layout.block(from);
        self.unpin(base, block);
    }

    /// Continues after a program of `count` moved units.
    #[inline]
    fn write_ended(&mut self, base: &mut Base, op: OpId, at: Batch, count: u32) {
        let (bin, holder) = (base.job_of(op), base.flash.op(op).holder);
        let source = if holder == Holder::Scrub { Source::Scrub } else { Source::Gc };
        let padding = u64::from(base.space.ftl.layout.units_per_batch - count);
        base.space.ftl.count(at.block, |tally| {
            tally.units[source as usize] += u64::from(count);
            tally.units[Source::Padding as usize] += padding;
        });
        base.note_checkpoints();
        base.space.ftl.finish(at);
        let job = &mut self.jobs[bin];
        job.writes -= 1;
        // Scrubbing gains no space, so it pays no debt.
        if source == Source::Gc {
            base.space.pay(bin, count);
        }
    }
}

/// Reports the data of a move in a superblock, which is bound to its page.
#[cold]
#[inline(never)]
pub(in crate::device::gc) fn audit_copies(base: &mut Base, op: OpId, payload: PayloadId) {
    for slot in 0..base.flash.payloads.count(payload) {
        let from = Ppn(base.flash.payloads.slot(payload, slot)[1]);
        base.audit_bound(op, slot, base.audit_stored(from));
    }
}
