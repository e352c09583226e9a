//! Chains of collection: where nothing stands in between, an operation turns into
//! the one that collection asks for next. The read of a batch becomes the program
//! that moves it, which becomes the read of the next batch, and so on.
//!
//! This is a short cut through [`Device::end`], [`Device::collect`] and
//! [`Device::ask`], and nothing else: it is taken only where they would do the
//! same at the same moment; the fuzz test compares. Most flash operations of a drive
//! under random writes are of this kind.

use super::Device;
use super::counters::OpKind;
use super::event::Event;
use super::op::{Class, Op, OpId, Owner};
use engine::Instant;
use ftl::{Batch, BinId, Stream};

impl Device {
    /// A batch of a victim is in the controller: goes on to program it, if the whole
    /// batch is live and nothing else was read before it. Returns whether it does.
    pub(super) fn chain_program(&mut self, id: OpId, live: u64) -> bool {
        let op = &self.ops[id];
        let (bin, from) = (op.bin, op.at());
        if live != self.ftl.layout.whole_batch() || self.ftl.live_in_batch(from) != live {
            return false;
        }
        let job = &self.jobs[bin];
        if !self.short_ways || !job.staged.is_empty() || job.under_way() < self.gc_config.window {
            return false;
        }
        let class = self.class_of(bin);
        if !self.program_takes(op.cells, bin)
            || !self.groups[op.group].passes_on(class, op.cells, bin, self.bypass)
            || !self.ftl.can_bind(bin, Stream::Gc)
            || !self.leaves_room(bin, |older| older == from.block)
        {
            return false;
        }
        let job = &mut self.jobs[bin];
        job.reads -= 1;
        job.writes += 1;
        let transfer = self.rows.of_batch();
        let writer = self.writer_of(bin);
        let (planes, rows) = (self.ftl.layout.block_planes, self.ftl.layout.rows_per_batch);
        self.turn(id, class, Owner::CollectMove(from), |op| {
            op.kind = OpKind::Program;
            op.holder = writer;
            op.planes = planes;
            op.transfer = transfer;
            op.rows_left = rows;
        });
        let (group, channel) = (self.ops[id].group, self.ops[id].channel);
        if self.channels[channel].busy {
            let op = &self.ops[id];
            self.groups[group].busy &= !op.cells;
            let forced = self.groups[group].pass(class, self.bypass);
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
    pub(super) fn may_chain_read(&self, bin: BinId, from: Batch) -> bool {
        let job = &self.jobs[bin];
        // A block that is read whole is erased after the last move from it, on cells
        // that must be free then.
        self.short_ways
            && job.victim == Some(from.block)
            && !job.by_idleness
            && job.under_way() == self.gc_config.window
            && !self.gc_config.copy_back
    }

    /// A batch was moved: goes on to read the victim's next one. Returns whether it
    /// does.
    pub(super) fn chain_read(&mut self, id: OpId) -> bool {
        let op = &self.ops[id];
        let (bin, group, cells) = (op.bin, op.group, op.cells);
        let Some((at, live)) = self.next_live_batch(bin) else { return false };
        let planes = self.ftl.layout.planes_of(live);
        let class = self.class_of(bin);
        if !self.read_takes(cells, planes, bin)
            || !self.groups[group].passes_on(class, cells, bin, self.bypass)
        {
            return false;
        }
        self.begin_move(bin, at, live);
        self.jobs[bin].reads += 1;
        let row = at.batch * self.ftl.layout.rows_per_batch;
        let rows = self.ftl.layout.rows_per_batch;
        let transfer = self.rows.of_units(live);
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
        self.ftl.note_sensed(at.block, 1);
        let due = self.now + self.timing.read(row);
        self.agenda.schedule(due, Event::Sensed(id), self.ops[id].seq);
        true
    }

    #[inline]
    fn program_takes(&self, cells: u64, bin: BinId) -> bool {
        self.uniform || self.places[bin].program == cells
    }
    #[inline]
    fn read_takes(&self, cells: u64, planes: u64, bin: BinId) -> bool {
        self.uniform || self.places[bin].read_cells(planes) == cells
    }

    /// Makes an operation the next one of its bin's collection, on the same cells.
    #[inline(always)]
    fn turn(&mut self, id: OpId, class: Class, owner: Owner, rest: impl FnOnce(&mut Op)) {
        let seq = self.next_seq;
        self.next_seq += 1;
        let op = &mut self.ops[id];
        op.owner = owner;
        op.class = class;
        op.seq = seq;
        rest(op);
        debug_assert!(!op.waits, "collection's waits are not measured");
        let group = op.group;
        self.groups[group].idle_check = Instant::NEVER;
        self.chained += 1;
    }
}
