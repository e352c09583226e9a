//! In-plane read-modify-writes: planes sense the row that holds the rest of a unit, take the
//! written part over the channel, and program both elsewhere in themselves.

use crate::device::Time;
use crate::device::event::Event;
use crate::device::flash::counters::OpKind;
use crate::device::flash::op::Owner;
use crate::device::flash::{Flash, Note, Placement};
use crate::device::ids::{OpId, PayloadId};
use engine::Span;
use ftl::{Batch, Lpn};
use metrics::State;

impl Flash {
    fn payload_of(&self, id: OpId) -> PayloadId {
        let Owner::Flush(payload) = self.ops[id].owner else { unreachable!("hosts write parts") };
        payload
    }

    /// Binds a partial write to its page, on idle planes, and begins its first row.
    pub(super) fn start_modify<P: Placement>(&mut self, time: &mut Time, p: &mut P, id: OpId) {
        let payload = self.payload_of(id);
        let lpn = Lpn(self.payloads.slot(payload, 0)[1]);
        let part = self.payloads.part_mut(payload);
        part.rest = if part.is_void { None } else { p.rest_of(lpn) };
        self.notes.push_back(Note::PartStarted(id));
        let bound = self.bind(p, id);
        debug_assert!(bound, "a program with a place binds");
        self.end_wait(time, id);
        self.occupy(time, id);
        self.modify_row(time, p, id);
    }

    /// The batch that a program of host data copies without correction.
    pub(in crate::device) fn copied_inside(&self, id: OpId) -> Option<Batch> {
        let Owner::Flush(payload) = self.ops[id].owner else { return None };
        if self.ops[id].kind != OpKind::Modify {
            return None;
        }
        let rest = self.payloads.part(payload)?.rest?;
        rest.may_be_copied.then_some(rest.at)
    }

    /// Begins the next row of a partial write: the planes sense the rest of it, if there is one.
    pub(super) fn modify_row<P: Placement>(&mut self, time: &mut Time, p: &mut P, id: OpId) {
        self.ops[id].transfer = self.part_of_row(id) + self.cycles_before_data();
        let payload = self.payload_of(id);
        if self.payloads.part(payload).is_none_or(|part| part.rest.is_none()) {
            self.rest_sensed(time, p, id);
        } else if self.commands {
            self.want_command(time, id);
        } else {
            self.sense_rest(time, id);
        }
    }

    /// Senses a row of the rest, which must exist.
    pub(super) fn sense_rest(&mut self, time: &mut Time, id: OpId) {
        let step = self.ops[id].row - self.ops[id].batch * self.shape.rows_per_batch;
        let rest = self.payloads.part(self.payload_of(id)).and_then(|part| part.rest);
        let rest = rest.expect("a rest is sensed where there is one");
        let sense = self.timing.read(rest.at.batch * self.shape.rows_per_batch + step);
        self.ops.charge_service(id, State::Sense, sense);
        let mut span = sense;
        if !rest.may_be_copied {
            // It is transferred out, corrected and transferred back as a whole.
            let decode = self.timing.decode;
            self.ops.charge_service(id, State::Decode, decode);
            let twice = self.shape.of_row() + self.shape.of_row();
            self.ops[id].transfer = twice + self.cycles_before_data();
            span += decode;
        }
        time.agenda.schedule(time.now + span, Event::SensedRest(id), self.ops[id].seq);
    }

    /// Merges the written part into the rest of a row, which is in the page register now.
    pub(in crate::device) fn rest_sensed<P: Placement>(
        &mut self,
        time: &mut Time,
        p: &mut P,
        id: OpId,
    ) {
        match self.ops[id].transfer.is_zero() {
            true => self.begin_program(time, p, id),
            false => self.want_transfer(time, id),
        }
    }

    /// Channel time of the host's part of an operation's present row.
    fn part_of_row(&self, id: OpId) -> Span {
        let part = self.payloads.part(self.payload_of(id)).expect("a part is written");
        let step = self.ops[id].row - self.ops[id].batch * self.shape.rows_per_batch;
        let length = self.shape.unit_in_row;
        let start = u64::from(step) * length;
        let from = part.from.clamp(start, start + length) - start;
        let to = part.to.clamp(start, start + length) - start;
        self.timing.transfer_part(from, to)
    }
}
