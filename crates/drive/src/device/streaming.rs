//! Pages that stream from package to package while a block is collected [ATC08, 3.4].
//!
//! What leaves one package is latched by another as it passes: one transfer instead of two,
//! which takes the lines of both, and no correction by the controller. A target is looked for
//! when a page is about to be carried out, and taken only where it can take the page at once:
//! so nothing ever waits for two packages, and no two moves can wait for each other. Where
//! there is none the page goes through the controller, as without streaming.

use super::Device;
use super::array::BinPlace;
use super::channel::NO_AGE;
use super::counters::OpKind;
use super::op::{Op, OpId, Owner};
use engine::{Column, Span};
use ftl::{Batch, BinId, Level, Stream};
use metrics::Holder;

/// Streaming between packages.
#[derive(Clone)]
pub struct Streaming {
    /// Planes of a package.
    planes_per_package: u32,
    /// Batches that have come to a bin, less those that have left it.
    gained: Column<BinId, i64>,
}

impl Streaming {
    pub fn new(planes_per_package: u32, bins: u32) -> Self {
        Self { planes_per_package, gained: Column::filled(0, bins as usize) }
    }
}

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
    /// pages, and of several the first after its own.
    fn target_of(&self, id: OpId) -> Option<BinId> {
        let from = self.ops[id].bin;
        let bins = self.ftl.layout.bins_of(self.ftl.layout.pool_of_bin(from));
        let own = bins.iter().position(|bin| *bin == from).expect("a pool has its bins");
        let (before, after) = bins.split_at(own);
        let in_turn = after.iter().chain(before).copied();
        let open = in_turn.filter(|bin| self.can_latch(id, *bin));
        open.min_by_key(|bin| u32::MAX - self.ftl.free_units(*bin))
    }

    /// True where a bin of another package can take a batch from now on: it is idle, has more
    /// space than the batch's own, keeps a block for its own collection, and has taken less than
    /// a block from others on balance.
    fn can_latch(&self, id: OpId, to: BinId) -> bool {
        let streaming = self.streaming.as_ref().expect("batches stream");
        let Op { bin: from, channel, .. } = self.ops[id];
        let package = |bin| self.ftl.layout.first_plane(bin).0 / streaming.planes_per_package;
        let place = &self.places[to];
        package(from) != package(to)
            && (place.channel == channel || !self.channels[place.channel].busy)
            && self.groups[place.group].is_open_to(place.program)
            && !self.has_work(place.group)
            && streaming.gained[to] < i64::from(self.ftl.layout.batches_per_block)
            && self.ftl.free_units(to) > self.ftl.free_units(from)
            && self.ftl.level(to) != Level::Urgent
            && self.ftl.migration(to).is_none()
            && self.has_room_for_more(to, 1)
            && self.ftl.can_bind(to, Stream::Gc)
    }

    /// A package latches what another sends, and holds its lines for that.
    fn latch(&mut self, source: OpId, from: Batch, to: BinId, holder: Holder) -> OpId {
        let BinPlace { group, channel, program: cells, .. } = self.places[to];
        let layout = &self.ftl.layout;
        let (planes, rows) = (layout.block_planes, layout.rows_per_batch);
        let (now, seq) = (self.now, self.next_seq);
        let class = self.ops[source].class;
        self.next_seq += 1;
        let id = self.ops.insert_with(|| Op {
            kind: OpKind::Program,
            holder,
            owner: Owner::Streamed(from),
            group,
            channel,
            cells,
            bin: to,
            transfer: Span::ZERO,
            planes,
            class,
            block: ftl::BlockId(0),
            batch: 0,
            row: 0,
            rows_left: rows,
            seq,
            age: NO_AGE,
            since: now,
            waits: false,
            next: None,
        });
        let is_bound = self.bind(id);
        debug_assert!(is_bound, "a bin that takes a batch has a place for it");
        self.groups[group].idle_check = engine::Ticket::NONE;
        self.occupy(id);
        if channel != self.ops[source].channel {
            self.channels[channel].busy = true;
            self.channels[channel].ledger.occupy(now, holder.on_channel());
        }
        self.counters.streamed += u64::from(planes);
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
        self.begin_program(program);
        self.collect(bin);
        self.leave(source, group);
    }

    /// A batch is on flash in another package.
    pub(super) fn streamed_in(&mut self, id: OpId, from: Batch) {
        let Op { group, bin, .. } = self.ops[id];
        let source = self.ftl.layout.bin(from.block);
        let gained = &mut self.streaming.as_mut().expect("batches stream").gained;
        gained[bin] += 1;
        gained[source] -= 1;
        self.vacate(id);
        self.moved(id, from);
        self.collect(source);
        self.leave(id, group);
    }
}
