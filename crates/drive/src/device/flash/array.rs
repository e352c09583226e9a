//! Operations on units: asking, starting, ending.

use crate::device::Device;
use crate::device::event::Event;
use crate::device::flash::counters::OpKind;
use crate::device::flash::op::{Class, Op, OpId, Owner};
use engine::{Instant, Span, bits};
use ftl::{BinId, BlockId};
use metrics::{Holder, State};
use nand::{ChannelId, GroupId, PlaneId};

impl Op {
    /// True for operations of garbage collection.
    #[inline]
    pub fn is_collection(&self) -> bool {
        matches!(
            self.owner,
            Owner::CollectRead(_)
                | Owner::CollectWrite(_)
                | Owner::CollectMove(_)
                | Owner::CollectErase
                | Owner::StreamOut(_)
                | Owner::Streamed(_)
        )
    }
}

/// What an operation is asked for with; the rest follows from where it goes.
pub struct Ask {
    pub kind: OpKind,
    pub holder: Holder,
    pub owner: Owner,
    pub class: Class,
    pub bin: BinId,
    /// Planes that take part, counted from the bin's first: bit `i` for plane `i`.
    pub planes: u64,
    pub block: BlockId,
    pub batch: u32,
    pub row: u32,
    pub rows: u32,
    /// Channel time of each row.
    pub transfer: Span,
}

/// Where the operations of a bin go.
#[derive(Clone)]
#[repr(align(64))]
pub struct BinPlace {
    pub group: GroupId,
    pub channel: ChannelId,
    pub program: u64,
    pub erase: u64,
    /// Cells that a read of all planes occupies, and of each.
    read_of_all: u64,
    read: Vec<u64>,
}

impl BinPlace {
    pub fn new(bin: BinId, layout: &ftl::Layout, units: &nand::Units) -> Self {
        let first = layout.first_plane(bin).0;
        let planes =
            || (first..first + layout.block_planes).map(|plane| units.place(PlaneId(plane)));
        let of_first = units.place(PlaneId(first));
        Self {
            group: of_first.group,
            channel: of_first.channel,
            read_of_all: planes().fold(0, |cells, place| cells | place.read),
            read: planes().map(|place| place.read).collect(),
            program: planes().fold(0, |cells, place| cells | place.program),
            erase: planes().fold(0, |cells, place| cells | place.erase),
        }
    }
    /// True where any read and program in the bin occupies the same cells.
    pub fn is_uniform(&self) -> bool {
        self.units_of_hosts().all(|cells| cells == self.program)
    }
    /// The units that operations of hosts occupy in the bin.
    pub fn units_of_hosts(&self) -> impl Iterator<Item = u64> {
        self.read.iter().copied().chain([self.program])
    }
    /// Cells that a read of some planes occupies.
    #[inline]
    pub fn read_cells(&self, planes: u64) -> u64 {
        if planes.trailing_ones() as usize == self.read.len() {
            return self.read_of_all;
        }
        bits(planes).fold(0, |cells, plane| cells | self.read[plane])
    }
}

impl Device {
    /// Asks for an operation: it starts at once where nothing is in its way.
    pub(in crate::device) fn ask(&mut self, ask: Ask) -> OpId {
        let id = self.insert(ask);
        self.enqueue(id);
        id
    }

    /// Makes an operation that stands in no queue.
    #[inline(always)]
    pub(in crate::device) fn insert(&mut self, ask: Ask) -> OpId {
        let place = &self.base.flash.places[ask.bin];
        let (group, channel) = (place.group, place.channel);
        let cells = match ask.kind {
            OpKind::Read => place.read_cells(ask.planes),
            OpKind::Program | OpKind::CopyBack | OpKind::Modify => place.program,
            OpKind::Erase => place.erase,
        };
        let seq = self.base.flash.next_seq;
        let now = self.base.time.now;
        let id = self.base.flash.ops.insert_with(|| Op {
            kind: ask.kind,
            holder: ask.holder,
            owner: ask.owner,
            group,
            channel,
            cells,
            bin: ask.bin,
            transfer: ask.transfer,
            planes: ask.planes.count_ones(),
            class: ask.class,
            block: ask.block,
            batch: ask.batch,
            row: ask.row,
            rows_left: ask.rows,
            seq,
            turn: 0,
            awaits_both: false,
            since: now,
            waits: false,
            next: None,
        });
        self.base.flash.next_seq += 1;
        id
    }

    #[inline]
    fn enqueue(&mut self, id: OpId) {
        if self.goes_in_rounds() {
            return self.enqueue_for_round(id);
        }
        let op = &self.base.flash.ops[id];
        let (group, cells, kind, channel) = (op.group, op.cells, op.kind, op.channel);
        self.base.flash.groups[group].idle_check = Instant::NEVER;
        let group_state = &self.base.flash.groups[group];
        if group_state.is_open_to(cells)
            || group_state.goes_first(&self.base.flash.ops, id, self.base.flash.bypass)
        {
            match kind {
                OpKind::Read | OpKind::Erase => return self.start(id),
                OpKind::Program if self.has_place(id) => {
                    if !self.base.flash.channels[channel].busy {
                        return self.start_program(id);
                    }
                    // What makes way may go on before this one's wait has begun.
                    if self.base.flash.short_ways
                        && !self.has_work(group)
                        && self.base.flash.groups[group].is_alone()
                    {
                        let forced = self.base.flash.groups[group]
                            .pass(self.base.flash.ops[id].class, self.base.flash.bypass);
                        self.begin_wait(id);
                        return self.want_channel(id, group, forced);
                    }
                }
                OpKind::Modify if self.has_place(id) => return self.start_modify(id),
                OpKind::Program | OpKind::CopyBack | OpKind::Modify => {}
            }
        }
        self.begin_wait(id);
        if self.has_work(group) {
            return self.enqueue_beside_work(id);
        }
        self.base.flash.groups[group].push_back(&mut self.base.flash.ops, id);
        // What waits already cannot start because of it, so only it can.
        if self.base.flash.groups[group].may_start(&self.base.flash.ops, id) {
            self.serve(group);
        }
    }

    /// Puts an operation back that waited for space, with its place by age.
    pub(in crate::device) fn resume(&mut self, id: OpId) {
        let group = self.base.flash.ops[id].group;
        self.begin_wait(id);
        self.requeue(id);
        self.serve(group);
    }

    /// Puts an operation back in front of its class. What was soft collection when
    /// it left may be urgent by now.
    fn requeue(&mut self, id: OpId) {
        let Op { group, bin, .. } = self.base.flash.ops[id];
        if self.base.flash.ops[id].is_collection() {
            self.base.flash.ops[id].class = self.class_of(bin);
        }
        self.base.flash.groups[group].push_front(&mut self.base.flash.ops, id);
    }

    pub(in crate::device) fn begin_wait(&mut self, id: OpId) {
        let now = self.base.time.now;
        let op = &mut self.base.flash.ops[id];
        if op.is_collection() {
            // Nobody is charged with what collection waits for.
            return;
        }
        op.since = now;
        op.waits = true;
        let (group, cells, channel) = (op.group, op.cells, op.channel);
        let ledger = self.base.flash.ledgers.of(group, cells);
        ledger.settle_with(now, &mut self.base.flash.channels[channel].ledger);
        *self.base.flash.ops.snapshot_mut(id) = *ledger.totals();
    }

    /// Charges an operation with its wait for a unit, if it had any, which ends now.
    #[inline(always)]
    pub(in crate::device) fn end_wait(&mut self, id: OpId) {
        if std::mem::take(&mut self.base.flash.ops[id].waits) {
            self.charge_wait(id);
        }
    }

    #[inline(never)]
    fn charge_wait(&mut self, id: OpId) {
        let op = &self.base.flash.ops[id];
        let waited = self.base.time.now - op.since;
        if waited.is_zero() {
            return;
        }
        let (group, cells, channel) = (op.group, op.cells, op.channel);
        let ledger = self.base.flash.ledgers.of(group, cells);
        ledger.settle_with(self.base.time.now, &mut self.base.flash.channels[channel].ledger);
        let (earlier, blame) = self.base.flash.ops.wait_and_blame(id);
        ledger.charge_wait(earlier, waited, blame);
    }

    /// Starts what may start on a group.
    pub(in crate::device) fn serve(&mut self, group: GroupId) {
        if self.goes_in_rounds() {
            return self.serve_in_rounds(group);
        }
        if self.has_work(group) {
            self.go_on_working(group);
        }
        while self.base.flash.groups[group].may_serve(self.base.flash.all_cells) {
            let pick = self.base.flash.groups[group].pick(
                &self.base.flash.ops,
                self.base.flash.bypass,
                self.base.flash.next_seq,
            );
            let Some(pick) = pick else { break };
            self.base.flash.groups[group].take(&self.base.flash.ops, pick.op);
            let kind = self.base.flash.ops[pick.op].kind;
            match kind {
                OpKind::Read | OpKind::Erase => self.start(pick.op),
                OpKind::CopyBack if self.reads_instead(pick.op) => self.start(pick.op),
                OpKind::Program | OpKind::CopyBack | OpKind::Modify if !self.has_place(pick.op) => {
                    self.park(pick.op)
                }
                OpKind::Modify => self.start_modify(pick.op),
                OpKind::CopyBack => {
                    self.bind(pick.op);
                    self.start(pick.op);
                }
                OpKind::Program
                    if self.base.flash.channels[self.base.flash.ops[pick.op].channel].busy =>
                {
                    self.want_channel(pick.op, group, pick.forced);
                }
                OpKind::Program => self.start_program(pick.op),
            }
            if self.has_work(group) {
                self.go_on_working(group);
            }
        }
        self.note_idle(group);
    }

    /// A program waits for its channel; its cells stay idle meanwhile.
    pub(in crate::device) fn want_channel(&mut self, id: OpId, group: GroupId, forced: bool) {
        let (channel, cells) = (self.base.flash.ops[id].channel, self.base.flash.ops[id].cells);
        let state = &mut self.base.flash.groups[group];
        state.wanted |= cells;
        if forced {
            state.held |= cells;
        }
        let waits_for = &mut self.base.flash.channels[channel].ledger;
        self.base.flash.ledgers.follow(
            self.base.time.now,
            group,
            cells,
            &self.base.flash.groups[group],
            waits_for,
        );
        self.base.flash.channels[channel].push_in(&mut self.base.flash.ops, id);
    }

    /// The channel is free for a program that wanted it. If a read has taken its
    /// unit meanwhile it goes back to the queue; returns whether it started.
    pub(in crate::device) fn channel_granted(&mut self, id: OpId) -> bool {
        let op = &self.base.flash.ops[id];
        let (group, cells, channel) = (op.group, op.cells, op.channel);
        let state = &mut self.base.flash.groups[group];
        state.wanted &= !cells;
        state.held &= !cells;
        let startable = state.busy & cells == 0;
        let awaited = &mut self.base.flash.channels[channel].ledger;
        self.base.flash.ledgers.follow(
            self.base.time.now,
            group,
            cells,
            &self.base.flash.groups[group],
            awaited,
        );
        if startable && self.has_place(id) {
            self.start_program(id);
            return true;
        }
        if startable {
            self.park(id);
        } else {
            self.requeue(id);
        }
        false
    }

    /// Occupies the cells of an operation from now on.
    #[inline]
    pub(in crate::device) fn occupy(&mut self, id: OpId) {
        let op = &self.base.flash.ops[id];
        let (group, cells) = (op.group, op.cells);
        debug_assert_eq!(
            self.base.flash.groups[group].busy & cells,
            0,
            "a cell serves one operation at a time"
        );
        self.base.flash.groups[group].busy |= cells;
        self.hold_on(id);
    }

    /// Counts an operation, which holds its cells, and charges waits for them to it.
    #[inline]
    pub(in crate::device) fn hold_on(&mut self, id: OpId) {
        let op = &self.base.flash.ops[id];
        let (group, cells, state) = (op.group, op.cells, op.holder.on_unit());
        self.base.flash.counters.count(op.kind, op.holder, op.planes);
        let channel = &mut self.base.flash.channels[op.channel].ledger;
        self.base.flash.ledgers.occupy(
            self.base.time.now,
            group,
            cells,
            state,
            &self.base.flash.groups[group],
            channel,
        );
    }

    /// Frees the cells of an operation that has ended.
    pub(in crate::device) fn vacate(&mut self, id: OpId) {
        let op = &self.base.flash.ops[id];
        let (group, cells, channel) = (op.group, op.cells, op.channel);
        self.base.flash.groups[group].busy &= !cells;
        let channel = &mut self.base.flash.channels[channel].ledger;
        self.base.flash.ledgers.follow(
            self.base.time.now,
            group,
            cells,
            &self.base.flash.groups[group],
            channel,
        );
    }

    /// Starts a read, copy-back or erase on idle cells.
    pub(in crate::device) fn start(&mut self, id: OpId) {
        self.end_wait(id);
        self.occupy(id);
        let op = &self.base.flash.ops[id];
        let (kind, row, batch, block) = (op.kind, op.row, op.batch, op.block);
        let sequence = op.seq;
        let span = match kind {
            OpKind::Read => {
                let sense = self.base.flash.timing.read(row);
                self.base.space.ftl.note_sensed(block, 1);
                self.base.flash.ops.charge_service(id, State::Sense, sense);
                self.base.time.agenda.schedule(
                    self.base.time.now + sense,
                    Event::Sensed(id),
                    sequence,
                );
                return;
            }
            OpKind::CopyBack => {
                let from = match op.owner {
                    Owner::CollectMove(from) => from.block,
                    _ => unreachable!("only collection copies back"),
                };
                self.base.space.ftl.note_sensed(from, self.base.space.ftl.layout.rows_per_batch);
                let target = batch * self.base.space.ftl.layout.rows_per_batch;
                let rows = 0..self.base.space.ftl.layout.rows_per_batch;
                let sense: Span =
                    rows.clone().map(|step| self.base.flash.timing.read(row + step)).sum();
                let program: Span =
                    rows.map(|step| self.base.flash.timing.program(target + step)).sum();
                sense + program
            }
            OpKind::Erase if self.may_make_way(kind) => return self.begin_work(id),
            OpKind::Erase => self.base.flash.timing.erase.total(),
            OpKind::Program | OpKind::Modify => unreachable!("what carries data starts otherwise"),
        };
        self.base.time.agenda.schedule(self.base.time.now + span, Event::Array(id), sequence);
    }

    /// Binds a program to its place and starts its transfer.
    pub(in crate::device) fn start_program(&mut self, id: OpId) {
        let bound = self.bind(id);
        debug_assert!(bound, "a program with a place binds");
        self.prefetch_flush(id, ftl::Ftl::prefetch);
        self.end_wait(id);
        self.occupy(id);
        self.carry(id);
    }

    /// A unit has programmed a row, where programs may make way; or the event is stale.
    #[inline(never)]
    pub(in crate::device) fn programmed_beside_reads(&mut self, id: OpId, sequence: u64) {
        if self.end_work(id, sequence) {
            self.programmed(id);
        }
    }

    /// A unit has erased, or copied back, where erases may make way; or the event is stale.
    #[inline(never)]
    pub(in crate::device) fn array_ended(&mut self, id: OpId, sequence: u64) {
        if self.end_work(id, sequence) {
            self.array_over(id);
        }
    }

    /// A unit has erased, or copied back: a copy that fills a block writes its summary, too.
    #[inline]
    pub(in crate::device) fn array_over(&mut self, id: OpId) {
        if self.base.flash.ops[id].kind == OpKind::CopyBack && self.summarises(id) {
            return self.write_summary(id);
        }
        self.end(id);
    }

    /// True where a batch fills its block, and that gets a summary.
    #[inline]
    fn summarises(&self, id: OpId) -> bool {
        let layout = &self.base.space.ftl.layout;
        layout.summary_page && self.base.flash.ops[id].batch + 1 == layout.batches_per_block
    }

    /// The last data of a block is programmed: its summary follows, on the same cells.
    #[cold]
    fn write_summary(&mut self, id: OpId) {
        let op = &mut self.base.flash.ops[id];
        op.row = self.base.space.ftl.layout.rows_per_block;
        op.rows_left = 1;
        op.transfer = self.base.flash.rows.summary;
        self.base.flash.counters.count(OpKind::Program, op.holder, op.planes);
        self.want_transfer(id);
    }

    /// A unit has programmed a row.
    #[inline]
    pub(in crate::device) fn programmed(&mut self, id: OpId) {
        let op = &mut self.base.flash.ops[id];
        op.rows_left -= 1;
        op.row += 1;
        if op.rows_left > 0 {
            return if op.kind == OpKind::Modify {
                self.modify_row(id)
            } else {
                self.want_transfer(id)
            };
        }
        if op.row == self.base.space.ftl.layout.rows_per_block && self.summarises(id) {
            return self.write_summary(id);
        }
        self.end(id);
    }

    /// A channel has carried a row of a read to its owner.
    #[inline]
    pub(in crate::device) fn carried_out(&mut self, id: OpId) {
        self.release_channel(id);
        let op = &mut self.base.flash.ops[id];
        op.rows_left -= 1;
        op.row += 1;
        if op.rows_left == 0 {
            return self.end(id);
        }
        let span = self.base.flash.timing.read(op.row);
        self.base.space.ftl.note_sensed(op.block, 1);
        self.base.flash.ops.charge_service(id, State::Sense, span);
        self.base.time.agenda.schedule(
            self.base.time.now + span,
            Event::Sensed(id),
            self.base.flash.ops[id].seq,
        );
    }

    /// A channel has carried a row of a program to its cells.
    #[inline]
    pub(in crate::device) fn carried_in(&mut self, id: OpId) {
        self.release_channel(id);
        self.prefetch_flush(id, ftl::Ftl::prefetch_old);
        self.begin_program(id);
    }

    /// The data of a program's row is in its unit.
    #[inline]
    pub(in crate::device) fn begin_program(&mut self, id: OpId) {
        let span = self.base.flash.timing.program(self.base.flash.ops[id].row);
        self.base.flash.ops.charge_service(id, State::Program, span);
        if self.may_make_way(self.base.flash.ops[id].kind) {
            return self.begin_work(id);
        }
        self.base.time.agenda.schedule(
            self.base.time.now + span,
            Event::Programmed(id),
            self.base.flash.ops[id].seq,
        );
    }

    /// An operation is over: its cells are free and its owner hears of it.
    pub(in crate::device) fn end(&mut self, id: OpId) {
        let op = &self.base.flash.ops[id];
        let (owner, group, bin) = (op.owner, op.group, op.bin);
        match owner {
            Owner::CollectRead(live) if self.chain_program(id, live) => return,
            Owner::CollectMove(from) if self.may_chain_read(bin, from) => {
                // Its cells are not freed before: a move from a block that is still
                // being read asks for nothing.
                self.moved(id, from);
                if self.chain_read(id) {
                    return;
                }
                self.vacate(id);
                self.collect(bin);
                return self.leave(id, group);
            }
            Owner::StreamOut(program) => return self.streamed_out(id, program),
            Owner::Streamed(from) => return self.streamed_in(id, from),
            _ => {}
        }
        self.vacate(id);
        match owner {
            Owner::Read(request, part) => self.read_ended(id, request, part),
            Owner::Fetch(entry) => self.fetched(id, entry),
            Owner::Flush(payload) => self.flushed(id, payload),
            Owner::CollectRead(live) => self.collect_read_ended(id, live),
            Owner::CollectWrite(payload) => self.collect_write_ended(id, payload),
            Owner::CollectMove(from) => {
                self.moved(id, from);
                self.collect(bin);
            }
            Owner::CollectErase => self.erased(id),
            Owner::StreamOut(_) | Owner::Streamed(_) => unreachable!("they have gone their way"),
        }
        self.leave(id, group);
    }

    /// An operation's owner has heard of its end: others may start.
    pub(in crate::device) fn leave(&mut self, id: OpId, group: GroupId) {
        self.base.flash.ops.remove(id);
        self.serve(group);
    }

    /// A program is set aside: its wait for the unit ends here.
    pub(in crate::device) fn park_wait(&mut self, id: OpId) {
        self.end_wait(id);
    }
}
