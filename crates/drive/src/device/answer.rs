//! Answers: from a request's last part to its completion.

use super::Device;
use super::event::Event;
use super::op::OpId;
use super::request::{Completion, RequestId};
use engine::Instant;
use host::Kind;
use metrics::Blame;

impl Device {
    /// A part of a request ended at `at`, which may be a little ahead by the
    /// decoding of its data.
    #[inline]
    pub(super) fn part_done(&mut self, id: RequestId, part: u32, at: Instant, op: OpId) {
        self.requests.part_done(id, part, at, self.ops.blame_ref(op));
        self.try_answer(id);
    }

    /// Answers a request whose parts are all done; what is left is the way to
    /// the host.
    #[inline]
    pub(super) fn try_answer(&mut self, id: RequestId) {
        if let Some(at) = self.requests.settle(id) {
            self.answer(id, at);
        }
    }

    /// A request is done at `at`. What a buffer holds, or what is not mapped, may be
    /// ready before what is still being decoded, so the link is taken only then;
    /// where nothing can overtake, at once, which spares an event.
    #[inline]
    pub(super) fn answer(&mut self, id: RequestId, at: Instant) {
        let all_on_flash =
            self.buffer.used() == 0 && self.ftl.mapped_units() == self.ftl.layout.logical_units;
        if at > self.now && (!all_on_flash || self.link.is_shared()) {
            self.agenda.schedule(at, Event::Answer(id), self.requests[id].number);
        } else {
            self.send(id, at);
        }
    }

    #[inline]
    pub(super) fn send(&mut self, id: RequestId, at: Instant) {
        let command = self.requests[id].command;
        let mut ready = at;
        if command.kind == Kind::Read {
            ready = self.link.up(at, command.bytes, self.requests.blame_mut(id));
        }
        if ready == self.now {
            self.complete(id);
        } else {
            self.agenda.schedule(ready, Event::Complete(id), self.requests[id].number);
        }
    }

    pub(super) fn complete(&mut self, id: RequestId) {
        let request = &mut self.requests[id];
        let latency = self.now - request.arrived;
        let completion = Completion {
            id,
            tag: request.tag,
            command: request.command,
            arrived: request.arrived,
            finished: self.now,
            unmapped: request.unmapped,
        };
        if let Some(audit) = &mut self.audit {
            let ticket = std::mem::take(&mut request.ticket);
            audit.completed(&self.ftl.layout, id, request.command, ticket, self.now);
        }
        let blamed = self.requests.blame(id).total();
        assert_eq!(
            blamed, latency,
            "blame does not sum to the latency of {:?}",
            completion.command
        );
        self.digest.mix(completion.arrived.as_ns());
        self.digest.mix(latency.as_ns() << 8 | completion.command.kind.index() as u64);
        self.outstanding -= 1;
        self.done.push(completion);
        self.requests.remove(id);
    }

    /// The blame of a completed request; valid until the next submission.
    #[inline]
    pub fn blame(&self, id: RequestId) -> &Blame {
        self.requests.blame(id)
    }
}
