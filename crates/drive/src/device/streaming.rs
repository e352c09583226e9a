//! Pages that stream from package to package while a block is collected [ATC08, 3.4].
//!
//! What leaves one package is latched by another as it passes: one transfer instead of two,
//! which takes the lines of both, and no correction by the controller. A target is looked for
//! when a page is about to be carried out, and taken only where it can take the page at once:
//! so nothing ever waits for two packages, and no two moves can wait for each other. Where
//! there is none the page goes through the controller, as without streaming.

use super::Device;
use super::array::Ask;
use super::counters::OpKind;
use super::op::{Op, OpId, Owner};
use ftl::{Batch, BinId, Level, Stream};
use metrics::Holder;

impl Device {
    /// The channel has begun to carry a batch of a victim: where another package can take
    /// it, it does.
    #[inline(never)]
    pub(super) fn stream_if_possible(&mut self, id: OpId) {
        let op = &self.ops[id];
        let Owner::CollectRead(live) = op.owner else { return };
        let (from, bin) = (op.at(), op.bin);
        let is_whole =
            live == self.ftl.layout.whole_batch() && self.ftl.live_in_batch(from) == live;
        // What is scrubbed is to be corrected; and a worn block takes the data of a migration.
        let is_free = !self.jobs[bin].scrubs && self.ftl.migration(bin).is_none();
        if !is_whole || !is_free || !self.ftl.may_be_copied(from) {
            return;
        }
        if let Some(target) = self.target_of(id) {
            let holder = self.writer_of(bin);
            let program = self.latch(id, from, target, holder);
            self.ops[id].owner = Owner::StreamOut(program);
        }
    }

    /// The bin that takes a batch: of those that can take it at once the one with most free
    /// pages, and of several the first after its own; but only if it holds less data.
    fn target_of(&self, id: OpId) -> Option<BinId> {
        let from = self.ops[id].bin;
        let bins = self.ftl.layout.bins_of(self.ftl.layout.pool_of_bin(from));
        let (before, after) = bins.split_at(self.bins[from].place as usize);
        let in_turn = after.iter().chain(before).copied();
        let open = in_turn.filter(|bin| self.can_latch(id, *bin));
        let to = open.min_by_key(|bin| u32::MAX - self.ftl.free_units(*bin))?;
        (self.ftl.live_in_bin(to) < self.ftl.live_in_bin(from)).then_some(to)
    }

    /// True where a bin of another package can take a batch from now on: it is idle, has more
    /// free pages than the batch's own, and keeps a block for its own collection.
    fn can_latch(&self, id: OpId, to: BinId) -> bool {
        let Op { bin: from, channel, .. } = self.ops[id];
        let planes = self.streaming.expect("batches stream");
        let package = |bin| self.ftl.layout.first_plane(bin).0 / planes;
        let place = &self.places[to];
        self.groups[place.group].is_open_to(place.program)
            && (place.channel == channel || !self.channels[place.channel].busy)
            && package(from) != package(to)
            && !self.has_work(place.group)
            && self.ftl.free_units(to) > self.ftl.free_units(from)
            && self.ftl.level(to) != Level::Urgent
            && self.ftl.migration(to).is_none()
            && self.has_room_for_more(to, 1)
            && self.ftl.can_bind(to, Stream::Gc)
    }

    /// A package latches what another sends, and holds its lines for that.
    fn latch(&mut self, source: OpId, from: Batch, to: BinId, holder: Holder) -> OpId {
        let layout = &self.ftl.layout;
        let (planes, rows) = (layout.all_planes(), layout.rows_per_batch);
        let Op { class, transfer, .. } = self.ops[source];
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
        let Op { group, channel, .. } = self.ops[id];
        let is_bound = self.bind(id);
        debug_assert!(is_bound, "a bin that takes a batch has a place for it");
        // Where streams share open blocks it may have been the last one for hosts.
        self.update_home(to);
        self.groups[group].idle_check = engine::Instant::NEVER;
        self.occupy(id);
        if channel != self.ops[source].channel {
            self.channels[channel].busy = true;
            self.channels[channel].ledger.occupy(self.now, holder.on_channel());
        }
        self.counters.streamed += u64::from(planes.count_ones());
        id
    }

    /// A batch has left its package: that is free, and the other programs it.
    pub(super) fn streamed_out(&mut self, source: OpId, program: OpId) {
        let Op { group, channel, bin, .. } = self.ops[source];
        self.vacate(source);
        if self.ops[program].channel != channel {
            self.release_channel(program);
        }
        let job = &mut self.jobs[bin];
        (job.reads, job.writes) = (job.reads - 1, job.writes + 1);
        self.settle_space_of(bin);
        self.spaces[bin].elsewhere += 1;
        self.begin_program(program);
        self.collect(bin);
        self.leave(source, group);
    }

    /// A batch is on flash in another package.
    pub(super) fn streamed_in(&mut self, id: OpId, from: Batch) {
        let group = self.ops[id].group;
        let source = self.job_of(id);
        self.settle_space_of(source);
        self.spaces[source].elsewhere -= 1;
        self.vacate(id);
        self.moved(id, from);
        self.collect(source);
        self.leave(id, group);
    }
}
