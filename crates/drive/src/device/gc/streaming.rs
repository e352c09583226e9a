//! Pages that stream from package to package while a block is collected [ATC08, 3.4].
//!
//! Another package latches the data of a page as the first sends it: one transfer instead of two,
//! which occupies the lines of both packages, without correction by the controller. A target is
//! searched when a page is about to be transferred out, and used only if it can take the page at
//! once. So no operation ever waits for two packages, and no two moves can wait for each other.
//! Without a target the page goes through the controller, as without streaming.

use crate::device::Base;
use crate::device::flash::Ask;
use crate::device::flash::counters::OpKind;
use crate::device::flash::op::{Op, Owner};
use crate::device::gc::Gc;
use crate::device::ids::OpId;
use ftl::{Batch, BinId, Level, Stream};

impl Gc {
    /// Streams a batch of a victim, which the channel has begun to carry, to another package that
    /// can take it.
    #[inline(never)]
    pub(in crate::device) fn stream_if_possible(&mut self, base: &mut Base, id: OpId) {
        let op = base.flash.op(id);
        let Owner::CollectRead(slots) = op.owner else { return };
        let units = slots.bits();
        let (from, bin) = (op.at(), op.bin);
        let is_whole = units == base.space.ftl.layout.whole_batch()
            && base.space.ftl.valid_in_batch(from) == units;
        // Scrubbed data must be corrected; and a worn block takes the data of a migration.
        let is_free = !base.space.task(bin).scrubs && base.space.ftl.migration(bin).is_none();
        if !is_whole || !is_free || !base.space.ftl.may_be_copied(from) {
            return;
        }
        if let Some(target) = self.target_of(base, id) {
            self.latch(base, id, from, target);
        }
    }

    /// The bin that takes a batch: among those that can take it at once the one with most free
    /// pages, and among several the first after the batch's own bin; but only if it holds less
    /// data.
    fn target_of(&self, base: &Base, id: OpId) -> Option<BinId> {
        let from = base.flash.op(id).bin;
        let bins = base.space.ftl.layout.bins_of(base.space.ftl.layout.pool_of_bin(from));
        let (before, after) = bins.split_at(base.space.place_of(from));
        let in_turn = after.iter().chain(before).copied();
        let open = in_turn.filter(|bin| self.can_latch(base, id, *bin));
        let to = open.min_by_key(|bin| u32::MAX - base.space.ftl.free_units(*bin))?;
        (base.space.ftl.valid_in_bin(to) < base.space.ftl.valid_in_bin(from)).then_some(to)
    }

    /// True if a bin of another package can take a batch from now on: it is idle, has more free
    /// pages than the batch's own bin, and keeps a block for its own collection.
    fn can_latch(&self, base: &Base, id: OpId, to: BinId) -> bool {
        let from = base.flash.op(id).bin;
        let planes = self.streaming.expect("batches stream");
        let package = |bin| base.space.ftl.layout.first_plane(bin, 0).0 / planes;
        base.flash.could_latch(base.time.now, id, to)
            && package(from) != package(to)
            && base.space.ftl.free_units(to) > base.space.ftl.free_units(from)
            && base.space.ftl.level(to) != Level::Foreground
            && base.space.ftl.migration(to).is_none()
            && self.has_room_for_more(base, to, 1)
            && base.space.ftl.can_bind(to, Stream::Gc)
    }

    fn latch(&mut self, base: &mut Base, source: OpId, from: Batch, to: BinId) {
        let layout = &base.space.ftl.layout;
        let (planes, rows) = (layout.all_planes(), layout.rows_per_batch);
        let Op { class, transfer, bin, .. } = *base.flash.op(source);
        let ask = Ask {
            slots: 0,
            kind: OpKind::Program,
            holder: self.writer_of(base, bin),
            owner: Owner::Streamed(from),
            class,
            bin: to,
            planes,
            block: ftl::BlockId(0),
            batch: 0,
            row: 0,
            rows,
            transfer,
            bytes: 0,
        };
        base.flash.latch(&mut base.time, &mut base.space, source, ask);
        // If streams share open blocks, this may have been the last page for hosts.
        base.space.update_home(to);
    }

    /// Continues after a batch has left its package: that is free, and the other package programs
    /// it.
    pub(in crate::device) fn streamed_out(&mut self, base: &mut Base, source: OpId, program: OpId) {
        let bin = base.flash.op(source).bin;
        base.vacate(source);
        let job = &mut self.jobs[bin];
        (job.reads, job.writes) = (job.reads - 1, job.writes + 1);
        base.settle_space_of(bin);
        base.space.begin_elsewhere(bin);
        base.flash.latched(&mut base.time, &mut base.space, source, program);
        self.collect(base, bin);
        base.leave(source);
    }

    /// Commits a batch that is on flash in another package.
    pub(in crate::device) fn streamed_in(&mut self, base: &mut Base, id: OpId, from: Batch) {
        let source = base.job_of(id);
        base.settle_space_of(source);
        base.space.end_elsewhere(source);
        base.vacate(id);
        self.moved(base, id, from);
        self.collect(base, source);
        base.leave(id);
    }
}
