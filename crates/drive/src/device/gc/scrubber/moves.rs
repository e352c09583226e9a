//! Moves and erases of the task.

use crate::device::Base;
use crate::device::flash::Ask;
use crate::device::flash::Placement;
use crate::device::flash::counters::OpKind;
use crate::device::flash::op::{Op, Owner};
use crate::device::gc::Gc;
use crate::device::gc::moves::audit_copies;
use crate::device::ids::{OpId, PayloadId};
use crate::device::tasks::{Job, Step};
use engine::{Span, bits};
use ftl::{Batch, BinId, BlockId, BlockState, Lpn, Ppn, Source};
use metrics::Holder;

impl Gc {
    /// Handles the end of an operation of the task.
    pub(in crate::device) fn scrub_ended(&mut self, base: &mut Base, id: OpId) {
        base.vacate(id);
        let bin = base.flash.op(id).bin;
        match base.flash.op(id).owner {
            Owner::ScrubRead(slots) => self.scrub_read_ended(base, id, slots.bits()),
            Owner::ScrubWrite(payload) => self.scrub_write_ended(base, id, payload),
            Owner::ScrubErase => return self.scrub_erased(base, id),
            Owner::PatrolRead => return self.patrol_ended(base, id),
            _ => unreachable!("an operation of scrubbing"),
        }
        self.scrub_on(base, bin);
    }

    /// Continues to scrub a bin's block as far as it may go.
    pub(in crate::device::gc) fn scrub_on(&mut self, base: &mut Base, bin: BinId) {
        let Some(block) = self.scrub_job(bin).block else { return };
        loop {
            self.read_more(base, bin, block);
            if !self.write_scrubbed(base, bin) {
                break;
            }
        }
        self.erase_scrubbed(base, block);
    }

    /// Reads further batches of the block that is scrubbed. Data that waits for space stays in its old
    /// place, and no more is read meanwhile.
    fn read_more(&mut self, base: &mut Base, bin: BinId, block: BlockId) {
        let batch = base.space.ftl.layout.units_per_batch as usize;
        let window = self.scrubber().window;
        loop {
            let job = self.scrub_job(bin);
            if job.is_read || job.under_way() >= window || job.staged.len() >= batch {
                return;
            }
            match base.space.ftl.next_valid_batch(Batch { block, batch: job.next }) {
                Some(_) if !base.takes_task(Job::Scrubbing(bin), Step::Read) => return,
                Some((at, valid)) => self.ask_scrub_read(base, at, valid),
                None => job.is_read = true,
            }
        }
    }

    /// Reads the valid units of a batch.
    fn ask_scrub_read(&mut self, base: &mut Base, at: Batch, valid: u64) {
        let layout = &base.space.ftl.layout;
        let bin = layout.bin(at.block);
        let ask = Ask {
            slots: 0,
            kind: OpKind::Read,
            holder: Holder::Scrub,
            owner: Owner::ScrubRead(valid.into()),
            class: base.space.class_of_scrubbing(bin),
            bin,
            planes: layout.planes_of(valid),
            block: at.block,
            batch: at.batch,
            row: layout.first_row(at.batch),
            rows: layout.rows_per_batch,
            transfer: base.flash.shape().of_units(valid),
            bytes: 0,
        };
        base.space.ftl.begin_reads(at.block, valid.count_ones());
        let job = self.scrub_job(bin);
        (job.next, job.reads) = (at.batch + 1, job.reads + 1);
        let read = base.ask(ask);
        if base.space.pressure.is_some() {
            base.keep_credit(bin, read);
        }
    }

    fn scrub_read_ended(&mut self, base: &mut Base, id: OpId, valid: u64) {
        let (at, bin) = (base.flash.op(id).at(), base.flash.op(id).bin);
        self.note_sensed(base, at);
        let first = base.space.ftl.layout.first_unit(at.block, at.batch);
        for slot in bits(valid) {
            let ppn = Ppn(first.0 + slot as u32);
            if base.space.ftl.is_valid(ppn) {
                let lpn = base.space.ftl.holds(ppn);
                self.scrub_job(bin).staged.push([lpn.0, ppn.0]);
            } else {
                self.unpin(base, at.block);
            }
        }
        self.scrub_job(bin).reads -= 1;
    }

    /// Asks for a program of what was read, if that is a whole batch, or the rest. It is put off while
    /// there is no space for it. Returns true if units that were read are dealt with.
    fn write_scrubbed(&mut self, base: &mut Base, bin: BinId) -> bool {
        let batch = base.space.ftl.layout.units_per_batch as usize;
        let job = self.scrub_job(bin);
        let is_rest = job.is_read && job.reads == 0 && !job.staged.is_empty();
        if job.staged.len() < batch && !is_rest {
            return false;
        }
        if !base.space.can_move(bin, Holder::Scrub) {
            if self.follows_hosts() {
                // A collection that rests goes on now.
                base.space.look_at([bin]);
            }
            return self.drop_invalid(base, bin);
        }
        if !base.begins_program(Job::Scrubbing(bin), Step::Program) {
            return false;
        }
        self.write_batch(base, bin);
        true
    }

    /// True if scrubbing of a bin, as a task of its own, has read data for a whole program that finds space.
    pub(in crate::device::gc) fn has_batch_to_scrub(&self, base: &Base, bin: BinId) -> bool {
        let whole = base.space.ftl.layout.units_per_batch as usize;
        let jobs = self.scrubber.as_ref().map(|scrubber| &scrubber.jobs);
        jobs.is_some_and(|jobs| jobs[bin].staged.len() >= whole)
            && base.space.can_move(bin, Holder::Scrub)
    }

    /// True if a block of a bin is being scrubbed, by scrubbing as a task of its own, and its data finds
    /// no space.
    pub(in crate::device::gc) fn lacks_space_to_scrub(&self, base: &Base, bin: BinId) -> bool {
        let job = self.scrubber.as_ref().map(|scrubber| &scrubber.jobs[bin]);
        job.is_some_and(|job| job.block.is_some()) && !base.space.can_move(bin, Holder::Scrub)
    }

    /// Drops units that were read and are not valid any more; returns true if there are some.
    #[cold]
    fn drop_invalid(&mut self, base: &mut Base, bin: BinId) -> bool {
        let (valid, invalid): (Vec<_>, Vec<_>) = std::mem::take(&mut self.scrub_job(bin).staged)
            .into_iter()
            .partition(|[_, from]| base.space.ftl.is_valid(Ppn(*from)));
        self.scrub_job(bin).staged = valid;
        for [_, from] in &invalid {
            let block = base.space.ftl.layout.block(Ppn(*from));
            self.unpin(base, block);
        }
        !invalid.is_empty()
    }

    /// Asks for a program of the first units that were read and are still valid.
    fn write_batch(&mut self, base: &mut Base, bin: BinId) {
        let batch = base.space.ftl.layout.units_per_batch as usize;
        let staged = &mut self.scrub_job(bin).staged;
        let units: Vec<_> = staged.drain(..staged.len().min(batch)).collect();
        let payload = base.flash.payloads.new_empty();
        for [lpn, from] in units {
            if base.space.ftl.is_valid(Ppn(from)) {
                base.flash.payloads.push(payload, [lpn, from]);
            } else {
                let block = base.space.ftl.layout.block(Ppn(from));
                self.unpin(base, block);
            }
        }
        if base.flash.payloads.count(payload) == 0 {
            base.give_task_back(base.set_of_bin(bin));
            base.give_credit_back(bin);
            return base.flash.payloads.remove(payload);
        }
        self.scrub_job(bin).writes += 1;
        let (class, owner) = (base.space.class_of_scrubbing(bin), Owner::ScrubWrite(payload));
        let op = base.ask_program(bin, payload, Holder::Scrub, class, owner);
        if base.space.binds_early() {
            audit_copies(base, op, payload);
        }
    }

    fn scrub_write_ended(&mut self, base: &mut Base, id: OpId, payload: PayloadId) {
        let (at, bin) = (base.flash.op(id).at(), base.flash.op(id).bin);
        let first = base.space.ftl.layout.first_unit(at.block, at.batch);
        let count = base.flash.payloads.count(payload);
        base.space.ftl.note_copied(None, at);
        for slot in 0..count {
            let [lpn, from] = base.flash.payloads.slot(payload, slot);
            self.commit_move(base, Lpn(lpn), Ppn(from), Ppn(first.0 + slot));
        }
        base.flash.payloads.remove(payload);
        base.count_units(at.block, Source::Scrub, count);
        base.space.ftl.finish(at);
        self.scrub_job(bin).writes -= 1;
        if base.space.ftl.block_states()[at.block.0 as usize] == BlockState::Closed {
            // Collection may gain space by it.
            base.space.look_at([bin]);
        }
    }

    /// Asks for the erase of the scrubbed block once nothing prevents that.
    pub(in crate::device::gc) fn erase_scrubbed(&mut self, base: &mut Base, block: BlockId) {
        let bin = base.space.ftl.layout.bin(block);
        let job = self.scrub_job(bin);
        let is_over = job.block == Some(block) && job.is_read && job.erases == 0;
        if !is_over || !base.space.ftl.is_erasable(block) {
            return;
        }
        let lanes = base.flash.lanes();
        self.scrub_job(bin).erases = lanes;
        (0..lanes).for_each(|lane| Self::ask_scrub_erase(base, bin, block, lane));
    }

    /// Asks for one of the commands that erase a block, which are numbered lane by lane.
    fn ask_scrub_erase(base: &mut Base, bin: BinId, block: BlockId, number: u32) {
        let command = number / base.flash.lanes();
        base.ask_erase(Ask {
            slots: 0,
            kind: OpKind::Erase,
            holder: Holder::Erase,
            owner: Owner::ScrubErase,
            class: base.space.class_of_scrubbing(bin),
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

    /// Continues after planes of a block are erased.
    fn scrub_erased(&mut self, base: &mut Base, id: OpId) {
        let Op { block, bin, batch, .. } = *base.flash.op(id);
        let next = batch + base.flash.lanes();
        if next < base.space.ftl.layout.erases_per_block() * base.flash.lanes() {
            return Self::ask_scrub_erase(base, bin, block, next);
        }
        let job = self.scrub_job(bin);
        job.erases -= 1;
        if job.erases > 0 {
            return;
        }
        job.block = None;
        let set = base.set_of_bin(bin);
        self.note_scrubbed(set);
        base.space.task_mut(bin).scrub_goes_first = false;
        base.audit_erase(block);
        base.space.ftl.erase(block);
        self.note_space(base, bin);
        base.unpark(bin);
        self.collect(base, bin);
        base.space.look_at([bin]);
        self.go_on_polling(base, set);
    }
}
