//! Transfers of requests over a link that is a bus.

use crate::device::Base;
use crate::device::event::Event;
use crate::device::ids::RequestId;
use crate::device::port::Port;
use crate::device::port::bus::{Bus, Crossing};
use host::Kind;
use metrics::State;

impl Port {
    /// True if commands need the link to begin and to end.
    #[inline]
    pub(in crate::device) fn needs_bus(&self) -> bool {
        self.link.is_bus()
    }

    /// Asks for the bus for a request.
    #[cold]
    pub(in crate::device) fn ask_for_bus(
        &mut self,
        base: &mut Base,
        crossing: Crossing,
        id: RequestId,
    ) {
        let now = base.time.now;
        self.bus().ask(crossing, id, now);
        self.serve_bus(base);
    }

    /// Continues after the data of a write has crossed the bus.
    pub(in crate::device) fn crossed(&mut self, base: &mut Base, id: RequestId) {
        self.bus().release();
        self.begin(base, id);
        self.serve_bus(base);
    }

    /// Completes a request whose data, or answer without data, has crossed the bus.
    #[cold]
    pub(in crate::device) fn complete_by_bus(&mut self, base: &mut Base, id: RequestId) {
        self.bus().release();
        self.complete(base, id);
        self.serve_bus(base);
    }

    /// Begins a command that the firmware has received completely.
    fn begin(&mut self, base: &mut Base, id: RequestId) {
        let request = &self.requests[id];
        let ready = base.time.now + self.requests.overhead(request.command.kind);
        base.time.agenda.schedule(ready, Event::Dispatch(id), request.number);
    }

    fn bus(&mut self) -> &mut Bus {
        self.link.bus.as_mut().expect("the link is a bus")
    }

    /// Gives the bus to the next request while it is free. A request without data releases it at
    /// once.
    fn serve_bus(&mut self, base: &mut Base) {
        while let Some((crossing, id, since)) = self.bus().grant() {
            let now = base.time.now;
            let command = self.requests[id].command;
            let has_data = match crossing {
                Crossing::Begin => command.kind == Kind::Write,
                Crossing::End => command.kind == Kind::Read,
            };
            if now > since || has_data {
                // Reads that have not waited need no blame yet.
                let blame = self.requests.blame_mut(id, base.flash.blames());
                blame.charge(State::LinkBusy, now - since);
            }
            if has_data {
                let span = self.link.time_of(command.bytes);
                let blame = self.requests.blame_mut(id, base.flash.blames());
                blame.charge(State::Link, span);
                let event = match crossing {
                    Crossing::Begin => Event::Crossed(id),
                    Crossing::End => Event::Complete(id),
                };
                base.time.agenda.schedule(now + span, event, self.requests[id].number);
                return;
            }
            self.bus().release();
            match crossing {
                Crossing::Begin => self.begin(base, id),
                Crossing::End => self.complete(base, id),
            }
        }
    }
}
