//! Chains of collection: where nothing stands in between, an operation turns into
//! the one that collection asks for next. The read of a batch becomes the program
//! that moves it, which becomes the read of the next batch, and so on.
//!
//! This is a short cut through [`Device::end`], [`Device::collect`] and
//! [`Device::ask`], and nothing else: it is taken only where they would do the
//! same at the same moment; the fuzz test compares. Most flash operations of a drive
//! under random writes are of this kind.

use crate::device::Device;
use crate::device::event::Event;
use crate::device::flash::counters::OpKind;
use crate::device::flash::op::{Class, Op, OpId, Owner};
use engine::Instant;
use ftl::{Batch, BinId, Stream};

impl Device {
    /// A batch of a victim is in the controller: goes on to program it, if the whole
    /// batch is live and nothing else was read before it. Returns whether it does.
    pub(in crate::device) fn chain_program(&mut self, id: OpId, live: u64) -> bool {
        let op = &self.base.flash.ops[id];
        let (bin, from) = (op.bin, op.at());
        if live != self.base.space.ftl.layout.whole_batch()
            || self.base.space.ftl.live_in_batch(from) != live
        {
            return false;
        }
        let job = &self.gc.jobs[bin];
        if !self.base.flash.short_ways
            || !job.staged.is_empty()
            || job.under_way() < self.gc.config.window
        {
            return false;
        }
        let class = self.class_of(bin);
        if !self.program_takes(op.cells, bin)
            || !self.base.flash.groups[op.group].passes_on(
                class,
                op.cells,
                bin,
                self.base.flash.bypass,
            )
            || !self.base.space.ftl.can_bind(bin, Stream::Gc)
            || !self.leaves_room(bin, |older| older == from.block)
        {
            return false;
        }
        let job = &mut self.gc.jobs[bin];
        job.reads -= 1;
        job.writes += 1;
        let transfer = self.base.flash.rows.of_batch();
        let writer = self.writer_of(bin);
        let (planes, rows) =
            (self.base.space.ftl.layout.block_planes, self.base.space.ftl.layout.rows_per_batch);
        self.turn(id, class, Owner::CollectMove(from), |op| {
            op.kind = OpKind::Program;
            op.holder = writer;
            op.planes = planes;
            op.transfer = transfer;
            op.rows_left = rows;
        });
        let (group, channel) = (self.base.flash.ops[id].group, self.base.flash.ops[id].channel);
        if self.base.flash.channels[channel].busy {
            let op = &self.base.flash.ops[id];
            self.base.flash.groups[group].busy &= !op.cells;
            let forced = self.base.flash.groups[group].pass(class, self.base.flash.bypass);
            self.want_channel(id, group, forced);
        } else {
            let bound = self.bind(id);
            debug_assert!(bound, "a program with a place binds");
            self.hold_on(id);
            self.carry(id);
        }
        true
    }

    /// True where a read may follow the end of a move from `from` on the same cells,
    /// so that they need not be freed before.
    #[inline]
    pub(in crate::device) fn may_chain_read(&self, bin: BinId, from: Batch) -> bool {
        let job = &self.gc.jobs[bin];
        // A block that is read whole is erased after the last move from it, on cells
        // that must be free then.
        self.base.flash.short_ways
            && job.victim == Some(from.block)
            && !job.by_idleness
            && job.under_way() == self.gc.config.window
            && !self.gc.config.copy_back
    }

    /// A batch was moved: goes on to read the victim's next one. Returns whether it
    /// does.
    pub(in crate::device) fn chain_read(&mut self, id: OpId) -> bool {
        let op = &self.base.flash.ops[id];
        let (bin, group, cells) = (op.bin, op.group, op.cells);
        let Some((at, live)) = self.next_live_batch(bin) else { return false };
        let planes = self.base.space.ftl.layout.planes_of(live);
        let class = self.class_of(bin);
        if !self.read_takes(cells, planes, bin)
            || !self.base.flash.groups[group].passes_on(class, cells, bin, self.base.flash.bypass)
        {
            return false;
        }
        self.begin_move(bin, at, live);
        self.gc.jobs[bin].reads += 1;
        let row = at.batch * self.base.space.ftl.layout.rows_per_batch;
        let rows = self.base.space.ftl.layout.rows_per_batch;
        let transfer = self.base.flash.rows.of_units(live);
        let reader = self.reader_of(bin);
        self.turn(id, class, Owner::CollectRead(live), |op| {
            op.kind = OpKind::Read;
            op.holder = reader;
            op.planes = planes.count_ones();
            op.transfer = transfer;
            op.block = at.block;
            op.batch = at.batch;
            op.row = row;
            op.rows_left = rows;
        });
        self.hold_on(id);
        self.base.space.ftl.note_sensed(at.block, 1);
        let due = self.base.time.now + self.base.flash.timing.read(row);
        self.base.time.agenda.schedule(due, Event::Sensed(id), self.base.flash.ops[id].seq);
        true
    }

    #[inline]
    fn program_takes(&self, cells: u64, bin: BinId) -> bool {
        self.base.flash.uniform || self.base.flash.places[bin].program == cells
    }
    #[inline]
    fn read_takes(&self, cells: u64, planes: u64, bin: BinId) -> bool {
        self.base.flash.uniform || self.base.flash.places[bin].read_cells(planes) == cells
    }

    /// Makes an operation the next one of its bin's collection, on the same cells.
    #[inline(always)]
    fn turn(&mut self, id: OpId, class: Class, owner: Owner, rest: impl FnOnce(&mut Op)) {
        let seq = self.base.flash.next_seq;
        self.base.flash.next_seq += 1;
        let op = &mut self.base.flash.ops[id];
        op.owner = owner;
        op.class = class;
        op.seq = seq;
        rest(op);
        debug_assert!(!op.waits, "collection's waits are not measured");
        let group = op.group;
        self.base.flash.groups[group].idle_check = Instant::NEVER;
        self.base.flash.chained += 1;
    }
}
