//! Operations on units: their phases and their ends.

use crate::device::Time;
use crate::device::event::Event;
use crate::device::flash::counters::OpKind;
use crate::device::flash::op::{Op, Owner};
use crate::device::flash::{Flash, Placement};
use crate::device::ids::OpId;
use metrics::State;

/// An operation that has ended. It still occupies its parts of the group: the receiver frees them
/// ([`Flash::vacate`]), or turns the operation into another.
#[derive(Clone, Copy, Debug)]
pub struct Ended {
    pub id: OpId,
    pub owner: Owner,
}

impl Flash {
    /// Handles the end of a row's program if programs may be suspended, unless the event is stale.
    #[inline(never)]
    pub(in crate::device) fn programmed_beside_reads<P: Placement>(
        &mut self,
        time: &mut Time,
        p: &mut P,
        id: OpId,
        sequence: u64,
    ) -> Option<Ended> {
        if self.end_work(time, id, sequence) { self.programmed(time, p, id) } else { None }
    }

    /// Handles the end of an erase or copy-back if erases may be suspended, unless the event is
    /// stale.
    #[inline(never)]
    pub(in crate::device) fn array_ended(
        &mut self,
        time: &mut Time,
        id: OpId,
        sequence: u64,
    ) -> Option<Ended> {
        if self.end_work(time, id, sequence) { self.array_over(time, id) } else { None }
    }

    /// Handles the end of an erase or copy-back: a copy that fills a block writes its summary, too.
    #[inline]
    pub(in crate::device) fn array_over(&mut self, time: &mut Time, id: OpId) -> Option<Ended> {
        if self.ops[id].kind == OpKind::CopyBack && self.summarises(id) {
            self.write_summary(time, id);
            return None;
        }
        Some(self.ended(id))
    }

    /// True if a batch fills its block, and the block gets a summary.
    #[inline]
    fn summarises(&self, id: OpId) -> bool {
        self.shape.summary_page && self.ops[id].batch + 1 == self.shape.batches_per_block
    }

    /// Writes the summary of a block whose last data is programmed, on the same planes.
    #[cold]
    fn write_summary(&mut self, time: &mut Time, id: OpId) {
        let op = &mut self.ops[id];
        op.row = self.shape.rows_per_block;
        op.rows_left = 1;
        op.transfer = self.shape.summary;
        self.counters.count(OpKind::Program, op.holder, op.planes);
        self.want_transfer(time, id);
    }

    /// Handles the end of a row's program.
    #[inline]
    pub(in crate::device) fn programmed<P: Placement>(
        &mut self,
        time: &mut Time,
        p: &mut P,
        id: OpId,
    ) -> Option<Ended> {
        let op = &mut self.ops[id];
        op.rows_left -= 1;
        op.row += 1;
        if op.rows_left > 0 {
            if op.kind == OpKind::Modify {
                self.modify_row(time, p, id);
            } else {
                self.want_transfer(time, id);
            }
            return None;
        }
        if op.row == self.shape.rows_per_block && self.summarises(id) {
            self.write_summary(time, id);
            return None;
        }
        Some(self.ended(id))
    }

    /// Handles the end of the transfer of a read's row to its owner.
    #[inline(always)]
    pub(in crate::device) fn carried_out<P: Placement>(
        &mut self,
        time: &mut Time,
        p: &mut P,
        id: OpId,
    ) -> Option<Ended> {
        self.release_channel(time, p, id);
        let op = &mut self.ops[id];
        op.rows_left -= 1;
        op.row += 1;
        if op.rows_left == 0 {
            return Some(self.ended(id));
        }
        if self.commands {
            self.want_command(time, id);
            return None;
        }
        let span = self.timing.read(op.row);
        self.ops.charge_service(id, State::Sense, span);
        time.agenda.schedule(time.now + span, Event::Sensed(id), self.ops[id].seq);
        None
    }

    /// Handles the end of the transfer of a program's row to its unit.
    #[inline]
    pub(in crate::device) fn carried_in<P: Placement>(
        &mut self,
        time: &mut Time,
        p: &mut P,
        id: OpId,
    ) {
        self.release_channel(time, p, id);
        self.begin_program(time, p, id);
    }

    /// Begins to program a row whose data is in its unit.
    #[inline(always)]
    pub(in crate::device) fn begin_program<P: Placement>(
        &mut self,
        time: &mut Time,
        p: &mut P,
        id: OpId,
    ) {
        let span = self.timing.program(self.ops[id].row);
        self.ops.charge_service(id, State::Program, span);
        if self.is_suspendable(self.ops[id].kind) {
            return self.begin_work(time, p, id);
        }
        time.agenda.schedule(time.now + span, Event::Programmed(id), self.ops[id].seq);
    }

    #[inline]
    fn ended(&self, id: OpId) -> Ended {
        Ended { id, owner: self.ops[id].owner }
    }

    /// Lets others start once the owner of an operation has handled its end.
    #[inline(always)]
    pub(in crate::device) fn leave<P: Placement>(&mut self, time: &mut Time, p: &mut P, id: OpId) {
        let Op { group, cells, channel, .. } = self.ops[id];
        self.ops.remove(id);
        self.serve(time, p, group);
        self.note_vacated(time, group, cells, channel);
    }
}
