//! Answers: from a request's last part to its completion.

use crate::device::Base;
use crate::device::event::Event;
use crate::device::ids::RequestId;
use crate::device::port::Port;
use crate::device::port::bus::Crossing;
use crate::device::request::Completion;
use crate::device::write::Write;
use engine::Instant;
use engine::ids::Id;
use ftl::BySet;
use host::{Command, Kind};

impl Port {
    /// Answers a request whose parts are all done; only the transfer to the host is left.
    #[inline]
    pub(in crate::device) fn try_answer(&mut self, base: &mut Base, write: &Write, id: RequestId) {
        if let Some(at) = self.requests.settle(id, base.flash.blames()) {
            self.answer(base, write, id, at);
        }
    }

    /// Answers a request that is done at `at`. Buffered or unmapped data may be ready before data
    /// that is still being decoded, so the link is occupied only then; if no request can overtake,
    /// it is occupied at once, which saves an event.
    #[inline]
    pub(in crate::device) fn answer(
        &mut self,
        base: &mut Base,
        write: &Write,
        id: RequestId,
        at: Instant,
    ) {
        let all_on_flash = write.buffer.used() == 0
            && base.space.ftl.mapped_units() == base.space.ftl.layout.map_units;
        if at > base.time.now && (!all_on_flash || self.link.is_shared()) {
            base.time.agenda.schedule(at, Event::Answer(id), self.requests[id].number);
        } else {
            self.send(base, id, at);
        }
    }

    #[inline]
    pub(in crate::device) fn send(&mut self, base: &mut Base, id: RequestId, at: Instant) {
        if self.needs_bus() {
            return self.ask_for_bus(base, Crossing::End, id);
        }
        let command = self.requests[id].command;
        let mut ready = at;
        if command.kind == Kind::Read {
            let blame = self.requests.blame_mut(id, base.flash.blames());
            ready = self.link.up(at, command.bytes, blame);
        }
        if ready == base.time.now {
            self.complete(base, id);
        } else {
            base.time.agenda.schedule(ready, Event::Complete(id), self.requests[id].number);
        }
    }

    pub(in crate::device) fn complete(&mut self, base: &mut Base, id: RequestId) {
        let request = &self.requests[id];
        // Field by field: a copy of the whole would copy its padding, too.
        let Command { kind, offset, bytes } = request.command;
        let latency = base.time.now - request.arrived;
        let completion = Completion {
            id,
            tag: request.tag,
            command: Command { kind, offset, bytes },
            arrived: request.arrived,
            finished: base.time.now,
            unmapped: request.unmapped,
            failed: request.parts.failed(),
            met: request.met,
            blocked: request.blocked,
        };
        if let Some(audit) = &mut base.audit {
            let ticket = std::mem::take(self.requests.ticket(id));
            audit.completed(&base.space.ftl.layout, id, completion.command, ticket, base.time.now);
        }
        let blamed = self.requests.blame(id, base.flash.all_blames()).total();
        assert_eq!(
            blamed, latency,
            "blame does not sum to the latency of {:?}",
            completion.command
        );
        let figures = [
            completion.arrived.as_ns(),
            latency.as_ns() << 8 | completion.command.kind.index() as u64,
        ];
        figures.into_iter().for_each(|figure| self.digest.mix(figure));
        if completion.failed > 0 {
            self.mix_failed(completion.failed);
        }
        if !self.digests_of_sets.is_empty() {
            let digest = &mut self.digests_of_sets[base.set_at(offset).index()];
            figures.into_iter().for_each(|figure| digest.mix(figure));
            digest.mix(completion.failed.into());
        }
        base.command_ended();
        self.requests.remove(id, self.done.is_empty(), base.flash.blames());
        debug_assert_eq!(self.requests.under_way(), base.outstanding(), "both count commands");
        self.done.push(completion);
    }

    #[cold]
    #[inline(never)]
    fn mix_failed(&mut self, units: u32) {
        self.digest.mix(units.into());
    }

    /// Answers requests whose last parts were written or read for others.
    pub(in crate::device) fn answer_ready(&mut self, base: &mut Base, write: &BySet<Write>) {
        for index in 0..self.requests.ready.len() {
            let (id, at) = self.requests.ready[index];
            let set = base.set_at(self.requests[id].command.offset);
            self.answer(base, &write[set], id, at);
        }
        self.requests.ready.clear();
    }
}
