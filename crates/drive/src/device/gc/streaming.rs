//! Pages that stream from package to package while a block is collected [ATC08, 3.4].
//!
//! What leaves one package is latched by another as it passes: one transfer instead of two,
//! which takes the lines of both, and no correction by the controller. A target is looked for
//! when a page is about to be carried out, and taken only where it can take the page at once:
//! so nothing ever waits for two packages, and no two moves can wait for each other. Where
//! there is none the page goes through the controller, as without streaming.

use crate::device::Device;
use crate::device::flash::Ask;
use crate::device::flash::counters::OpKind;
use crate::device::flash::op::{Op, OpId, Owner};
use ftl::{Batch, BinId, Level, Stream};
use metrics::Holder;

impl Device {
    /// The channel has begun to carry a batch of a victim: where another package can take
    /// it, it does.
    #[inline(never)]
    pub(in crate::device) fn stream_if_possible(&mut self, id: OpId) {
        let op = &self.base.flash.ops[id];
        let Owner::CollectRead(live) = op.owner else { return };
        let (from, bin) = (op.at(), op.bin);
        let is_whole = live == self.base.space.ftl.layout.whole_batch()
            && self.base.space.ftl.live_in_batch(from) == live;
        // What is scrubbed is to be corrected; and a worn block takes the data of a migration.
        let is_free = !self.gc.jobs[bin].scrubs && self.base.space.ftl.migration(bin).is_none();
        if !is_whole || !is_free || !self.base.space.ftl.may_be_copied(from) {
            return;
        }
        if let Some(target) = self.target_of(id) {
            let holder = self.writer_of(bin);
            let program = self.latch(id, from, target, holder);
            self.base.flash.ops[id].owner = Owner::StreamOut(program);
        }
    }

    /// The bin that takes a batch: of those that can take it at once the one with most free
    /// pages, and of several the first after its own; but only if it holds less data.
    fn target_of(&self, id: OpId) -> Option<BinId> {
        let from = self.base.flash.ops[id].bin;
        let bins = self.base.space.ftl.layout.bins_of(self.base.space.ftl.layout.pool_of_bin(from));
        let (before, after) = bins.split_at(self.base.space.bins[from].place as usize);
        let in_turn = after.iter().chain(before).copied();
        let open = in_turn.filter(|bin| self.can_latch(id, *bin));
        let to = open.min_by_key(|bin| u32::MAX - self.base.space.ftl.free_units(*bin))?;
        (self.base.space.ftl.live_in_bin(to) < self.base.space.ftl.live_in_bin(from)).then_some(to)
    }

    /// True where a bin of another package can take a batch from now on: it is idle, has more
    /// free pages than the batch's own, and keeps a block for its own collection.
    fn can_latch(&self, id: OpId, to: BinId) -> bool {
        let Op { bin: from, channel, .. } = self.base.flash.ops[id];
        let planes = self.gc.streaming.expect("batches stream");
        let package = |bin| self.base.space.ftl.layout.first_plane(bin).0 / planes;
        let place = &self.base.flash.places[to];
        self.base.flash.groups[place.group].is_open_to(place.program)
            && (place.channel == channel || !self.base.flash.channels[place.channel].busy)
            && package(from) != package(to)
            && !self.has_work(place.group)
            && self.base.space.ftl.free_units(to) > self.base.space.ftl.free_units(from)
            && self.base.space.ftl.level(to) != Level::Urgent
            && self.base.space.ftl.migration(to).is_none()
            && self.has_room_for_more(to, 1)
            && self.base.space.ftl.can_bind(to, Stream::Gc)
    }

    /// A package latches what another sends, and holds its lines for that.
    fn latch(&mut self, source: OpId, from: Batch, to: BinId, holder: Holder) -> OpId {
        let layout = &self.base.space.ftl.layout;
        let (planes, rows) = (layout.all_planes(), layout.rows_per_batch);
        let Op { class, transfer, .. } = self.base.flash.ops[source];
        let id = self.insert(Ask {
            kind: OpKind::Program,
            holder,
            owner: Owner::Streamed(from),
            class,
            bin: to,
            planes,
            block: ftl::BlockId(0),
            batch: 0,
            row: 0,
            rows,
            transfer,
        });
        let Op { group, channel, .. } = self.base.flash.ops[id];
        let is_bound = self.bind(id);
        debug_assert!(is_bound, "a bin that takes a batch has a place for it");
        // Where streams share open blocks it may have been the last one for hosts.
        self.update_home(to);
        self.base.flash.groups[group].idle_check = engine::Instant::NEVER;
        self.occupy(id);
        if channel != self.base.flash.ops[source].channel {
            self.base.flash.channels[channel].busy = true;
            self.base.flash.channels[channel]
                .ledger
                .occupy(self.base.time.now, holder.on_channel());
        }
        self.base.flash.counters.streamed += u64::from(planes.count_ones());
        id
    }

    /// A batch has left its package: that is free, and the other programs it.
    pub(in crate::device) fn streamed_out(&mut self, source: OpId, program: OpId) {
        let Op { group, channel, bin, .. } = self.base.flash.ops[source];
        self.vacate(source);
        if self.base.flash.ops[program].channel != channel {
            self.release_channel(program);
        }
        let job = &mut self.gc.jobs[bin];
        (job.reads, job.writes) = (job.reads - 1, job.writes + 1);
        self.settle_space_of(bin);
        self.base.space.spaces[bin].elsewhere += 1;
        self.begin_program(program);
        self.collect(bin);
        self.leave(source, group);
    }

    /// A batch is on flash in another package.
    pub(in crate::device) fn streamed_in(&mut self, id: OpId, from: Batch) {
        let group = self.base.flash.ops[id].group;
        let source = self.job_of(id);
        self.settle_space_of(source);
        self.base.space.spaces[source].elsewhere -= 1;
        self.vacate(id);
        self.moved(id, from);
        self.collect(source);
        self.leave(id, group);
    }
}
