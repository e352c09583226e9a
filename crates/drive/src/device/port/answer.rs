//! Answers: from a request's last part to its completion.

use crate::device::Device;
use crate::device::event::Event;
use crate::device::flash::op::OpId;
use crate::device::port::request::{Completion, RequestId};
use engine::Instant;
use host::Kind;
use metrics::Blame;

impl Device {
    /// A part of a request ended at `at`, which may be a little ahead by the
    /// decoding of its data.
    #[inline]
    pub(in crate::device) fn part_done(&mut self, id: RequestId, part: u32, at: Instant, op: OpId) {
        self.port.requests.part_done(id, part, at, self.base.flash.ops.blame_ref(op));
        self.try_answer(id);
    }

    /// Answers a request whose parts are all done; what is left is the way to
    /// the host.
    #[inline]
    pub(in crate::device) fn try_answer(&mut self, id: RequestId) {
        if let Some(at) = self.port.requests.settle(id) {
            self.answer(id, at);
        }
    }

    /// A request is done at `at`. What a buffer holds, or what is not mapped, may be
    /// ready before what is still being decoded, so the link is taken only then;
    /// where nothing can overtake, at once, which spares an event.
    #[inline]
    pub(in crate::device) fn answer(&mut self, id: RequestId, at: Instant) {
        let all_on_flash = self.write.buffer.used() == 0
            && self.base.space.ftl.mapped_units() == self.base.space.ftl.layout.logical_units;
        if at > self.base.time.now && (!all_on_flash || self.port.link.is_shared()) {
            self.base.time.agenda.schedule(at, Event::Answer(id), self.port.requests[id].number);
        } else {
            self.send(id, at);
        }
    }

    #[inline]
    pub(in crate::device) fn send(&mut self, id: RequestId, at: Instant) {
        let command = self.port.requests[id].command;
        let mut ready = at;
        if command.kind == Kind::Read {
            ready = self.port.link.up(at, command.bytes, self.port.requests.blame_mut(id));
        }
        if ready == self.base.time.now {
            self.complete(id);
        } else {
            self.base.time.agenda.schedule(
                ready,
                Event::Complete(id),
                self.port.requests[id].number,
            );
        }
    }

    pub(in crate::device) fn complete(&mut self, id: RequestId) {
        let request = &mut self.port.requests[id];
        let latency = self.base.time.now - request.arrived;
        let completion = Completion {
            id,
            tag: request.tag,
            command: request.command,
            arrived: request.arrived,
            finished: self.base.time.now,
            unmapped: request.unmapped,
        };
        if let Some(audit) = &mut self.base.audit {
            let ticket = std::mem::take(&mut request.ticket);
            audit.completed(
                &self.base.space.ftl.layout,
                id,
                request.command,
                ticket,
                self.base.time.now,
            );
        }
        let blamed = self.port.requests.blame(id).total();
        assert_eq!(
            blamed, latency,
            "blame does not sum to the latency of {:?}",
            completion.command
        );
        self.port.digest.mix(completion.arrived.as_ns());
        self.port.digest.mix(latency.as_ns() << 8 | completion.command.kind.index() as u64);
        self.port.outstanding -= 1;
        self.port.done.push(completion);
        self.port.requests.remove(id);
    }

    /// The blame of a completed request; valid until the next submission.
    #[inline]
    pub fn blame(&self, id: RequestId) -> &Blame {
        self.port.requests.blame(id)
    }
}
