//! Erases that make way for reads: an erase goes on step by step, and at the end of a step,
//! if reads have asked, it may leave its unit to those that wait there by then. Nothing else
//! takes the unit in between.

use super::Device;
use super::counters::OpKind;
use super::event::Event;
use super::op::{Class, OpId};
use crate::config::Bypass;
use crate::policies::routing::{Meeting, Route};
use crate::policies::suspension::SafePoint;
use engine::Instant;
use metrics::State;
use nand::GroupId;

/// An erase that has begun and may make way.
#[derive(Clone, Copy, Debug)]
pub struct Erasing {
    op: OpId,
    cells: u64,
    began: Instant,
    /// When its present step ends; of an erase that makes way, when that began.
    step_ends: Instant,
    steps_done: u32,
    steps_left: u32,
    suspensions: u32,
    /// Reads that have asked since it last began to erase, and when the first did.
    asking: u32,
    asked_at: Instant,
    /// While it makes way: reads that were asked for before this number go first.
    parked_before: Option<u64>,
}

/// An erase that may make way, as whoever it is in the way of sees it.
#[derive(Clone, Copy, Debug)]
pub struct ErasingView {
    /// The operation.
    pub op: OpId,
    /// When it began.
    pub began: Instant,
    /// When it is over if nothing interrupts it; nothing while it makes way.
    pub ends: Option<Instant>,
    /// How often it has made way.
    pub suspensions: u32,
}

impl Device {
    /// The erases of a group that have begun and may make way, or have made way.
    pub(super) fn erases_in(&self, group: GroupId) -> impl Iterator<Item = ErasingView> + '_ {
        let step = self.timing.erase.step();
        self.erases[group].iter().map(move |erasing| ErasingView {
            op: erasing.op,
            began: erasing.began,
            ends: match erasing.parked_before {
                None => Some(erasing.step_ends + step * u64::from(erasing.steps_left - 1)),
                Some(_) => None,
            },
            suspensions: erasing.suspensions,
        })
    }

    /// An erase begins: it holds its cells by now.
    pub(super) fn note_erase(&mut self, id: OpId) {
        let op = &self.ops[id];
        let (group, cells) = (op.group, op.cells);
        let step_ends = self.now + self.timing.erase.step();
        self.erases[group].push(Erasing {
            op: id,
            cells,
            began: self.now,
            step_ends,
            steps_done: 0,
            steps_left: self.timing.erase.steps,
            suspensions: 0,
            asking: 0,
            asked_at: self.now,
            parked_before: None,
        });
        // Those that wait already meet it, too.
        self.meet_all(group, self.erases[group].len() - 1);
    }

    /// An operation has to wait on units where erases may make way. Out of line:
    /// inlined it costs drives without suspension ten instructions an operation.
    #[inline(never)]
    pub(super) fn enqueue_beside_erases(&mut self, id: OpId) {
        self.route(id);
        let group = self.ops[id].group;
        self.groups[group].push_back(&mut self.ops, id);
        self.serve(group);
    }

    /// A read has to wait; where an erase is in its way it may ask that to make way.
    fn route(&mut self, id: OpId) {
        let op = &self.ops[id];
        if op.kind != OpKind::Read || !op.class.is_read() {
            return;
        }
        let (group, cells) = (op.group, op.cells);
        for place in 0..self.erases[group].len() {
            let erasing = &self.erases[group][place];
            if erasing.cells & cells != 0 && erasing.parked_before.is_none() {
                self.meet(group, place);
            }
        }
    }

    /// All reads that wait for the cells of an erase meet it.
    fn meet_all(&mut self, group: GroupId, place: usize) {
        let cells = self.erases[group][place].cells;
        for _ in 0..self.groups[group].reads_on(&self.ops, cells).count() {
            self.meet(group, place);
        }
    }

    /// A read meets an erase that is at work.
    fn meet(&mut self, group: GroupId, place: usize) {
        let (now, step) = (self.now, self.timing.erase.step());
        let erasing = &mut self.erases[group][place];
        let meeting = Meeting {
            now,
            free_at: erasing.step_ends + step * u64::from(erasing.steps_left - 1),
            safe_at: erasing.step_ends,
            suspensions: erasing.suspensions,
            since_begun: now - erasing.began,
            asking: erasing.asking,
        };
        if self.routing.route(&meeting) == Route::Suspend {
            if erasing.asking == 0 {
                erasing.asked_at = now;
            }
            erasing.asking += 1;
        }
    }

    /// A copy-back is over, or a step of an erase.
    pub(super) fn array_ended(&mut self, id: OpId) {
        let group = self.ops[id].group;
        let place = self.erases[group].iter().position(|erasing| erasing.op == id);
        let Some(place) = place else { return self.end(id) };
        let is_urgent = self.class_of(self.ops[id].bin) != Class::Soft;
        let erasing = &mut self.erases[group][place];
        erasing.steps_done += 1;
        erasing.steps_left -= 1;
        if erasing.steps_left == 0 {
            self.erases[group].swap_remove(place);
            return self.end(id);
        }
        let at = SafePoint {
            now: self.now,
            steps_done: erasing.steps_done,
            steps_left: erasing.steps_left,
            step: self.timing.erase.step(),
            asking: erasing.asking,
            waited: self.now - erasing.asked_at,
            suspensions: erasing.suspensions,
            since_begun: self.now - erasing.began,
            urgent: is_urgent,
        };
        if at.asking > 0 && self.suspension.yields(&at) {
            self.make_way(group, place);
        } else {
            self.next_step(group, place);
        }
    }

    fn next_step(&mut self, group: GroupId, place: usize) {
        let erasing = &mut self.erases[group][place];
        erasing.step_ends = self.now + self.timing.erase.step();
        self.agenda.schedule(erasing.step_ends, Event::Array(erasing.op));
    }

    /// An erase leaves its cells to the reads that wait for them.
    fn make_way(&mut self, group: GroupId, place: usize) {
        let bound = if self.bypass == Bypass::Drain { u64::MAX } else { self.next_seq };
        let erasing = &mut self.erases[group][place];
        erasing.suspensions += 1;
        erasing.asking = 0;
        erasing.parked_before = Some(bound);
        let (id, cells) = (erasing.op, erasing.cells);
        self.counters.suspensions += 1;
        // Nothing takes its cells but the reads that it makes way for.
        self.groups[group].wanted |= cells;
        self.groups[group].held |= cells;
        self.vacate(id);
        self.serve(group);
    }

    /// Serves the reads that erases have made way for; erases go on once those are done.
    #[inline(never)]
    pub(super) fn go_on_erasing(&mut self, group: GroupId) {
        for place in 0..self.erases[group].len() {
            let Erasing { cells, parked_before, .. } = self.erases[group][place];
            let Some(bound) = parked_before else { continue };
            while let Some(read) = self.first_read_on(group, cells) {
                self.groups[group].take_out(&mut self.ops, read);
                self.start(read);
            }
            let mut waiting = self.groups[group].reads_on(&self.ops, cells);
            let has_to_wait = waiting.any(|id| self.ops[id].seq < bound);
            drop(waiting);
            if !has_to_wait && self.groups[group].busy & cells == 0 {
                self.take_up(group, place);
            }
        }
    }

    fn first_read_on(&self, group: GroupId, cells: u64) -> Option<OpId> {
        // A read of several cells may go where an erase has made way on each.
        let open_to = |seq| {
            let open = |erasing: &&Erasing| erasing.parked_before.is_some_and(|bound| seq < bound);
            self.erases[group].iter().filter(open).fold(0, |open, erasing| open | erasing.cells)
        };
        self.groups[group].first_read_on(&self.ops, cells, open_to)
    }

    /// An erase that has made way takes its cells again.
    fn take_up(&mut self, group: GroupId, place: usize) {
        let erasing = &mut self.erases[group][place];
        erasing.parked_before = None;
        let (id, cells) = (erasing.op, erasing.cells);
        let state = &mut self.groups[group];
        state.wanted &= !cells;
        state.held &= !cells;
        state.busy |= cells;
        let channel = &mut self.channels[self.ops[id].channel].ledger;
        self.ledgers.occupy(self.now, group, cells, State::UnitErase, &self.groups[group], channel);
        self.next_step(group, place);
        // Those that came meanwhile meet it now.
        self.meet_all(group, place);
    }
}
