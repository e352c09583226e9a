//! Reads that find out if a block is to be scrubbed.

use crate::device::Base;
use crate::device::flash::Ask;
use crate::device::flash::counters::OpKind;
use crate::device::flash::op::{Class, Owner};
use crate::device::gc::Gc;
use crate::device::gc::gate::{Leave, Maintenance};
use crate::device::ids::OpId;
use ftl::{Batch, BinId, BlockId};
use metrics::Holder;

impl Gc {
    /// Reads a page of a block whose turn it is: one that holds valid data, in each round behind that of
    /// the round before.
    pub(super) fn patrol(&mut self, base: &mut Base, bin: BinId, block: BlockId) {
        let ftl = &base.space.ftl;
        let layout = &ftl.layout;
        let place = block.0 - layout.first_block(bin).0;
        let job = self.scrub_job(bin);
        job.rounds += u32::from(place < job.turn);
        (job.turn, job.patrolled) = (place + 1, Some(block));
        let from = job.rounds % layout.batches_per_block;
        let found =
            [from, 0].into_iter().find_map(|batch| ftl.next_valid_batch(Batch { block, batch }));
        let (at, valid) = found.expect("it holds valid data");
        let slot = valid.trailing_zeros();
        // A unit may have several pages.
        let page = u64::from(slot) * (layout.unit_bytes / layout.page_bytes);
        let planes = match layout.unit_bytes <= layout.page_bytes {
            true => layout.planes_of_slot(slot),
            false => 1 << (page % u64::from(layout.block_planes)),
        };
        let row = match layout.unit_bytes <= layout.page_bytes {
            true => 0,
            false => (page / u64::from(layout.block_planes)) as u32,
        };
        let words = layout.page_bytes / base.flash.shape().bytes_of(1);
        let ask = Ask {
            slots: 0,
            kind: OpKind::Read,
            holder: Holder::Scrub,
            owner: Owner::PatrolRead,
            class: Class::Background,
            bin,
            planes,
            block,
            batch: at.batch,
            row: layout.first_row(at.batch) + row,
            rows: 1,
            transfer: base.flash.shape().words[words as usize],
            bytes: layout.page_bytes,
        };
        base.space.ftl.begin_read(block);
        base.ask(ask);
    }

    /// Takes the block if its page was hard to read, and still can be moved.
    pub(super) fn patrol_ended(&mut self, base: &mut Base, id: OpId) {
        let op = base.flash.op(id);
        let (bin, block, has_failed) = (op.bin, op.block, op.failed > 0);
        let re_reads = base.errors.as_ref().map_or(0, |errors| errors.last_re_reads());
        self.scrub_job(bin).patrolled = None;
        base.space.ftl.note_sensed(block, 1);
        self.unpin(base, block);
        let limit = base.space.ftl.scrub_needs().patrol.unwrap_or(u32::MAX);
        let is_hard = (re_reads >= limit || has_failed) && base.space.ftl.may_scrub(block);
        let may_begin =
            !self.scrubber().ends && self.asks_leave(base, bin, Maintenance::Scrub) == Leave::Go;
        if is_hard && may_begin {
            self.take_block(base, block);
            self.begin_block(base, bin, block);
        }
        self.go_on_polling(base, base.set_of_bin(bin));
    }
}
