//! States of a request outside flash and buffer.

use crate::device::Time;
use crate::device::event::Event;
use crate::device::ids::RequestId;
use crate::device::port::Port;
use crate::device::port::bus::Crossing;
use engine::Instant;

impl Port {
    /// The event that is due for a request itself, and its time.
    pub(in crate::device) fn due(&self, time: &Time, id: RequestId) -> Option<(Event, Instant)> {
        let of = |event| match event {
            Event::Dispatch(of) | Event::Crossed(of) => Some(of),
            Event::Answer(of) | Event::Complete(of) => Some(of),
            _ => None,
        };
        time.agenda.pending().find_map(|(at, event)| (of(event) == Some(id)).then_some((event, at)))
    }
    /// The use of the host bus that a request waits for, if it does, and the beginning of the wait.
    pub(in crate::device) fn waits_for_bus(&self, id: RequestId) -> Option<(Crossing, Instant)> {
        self.link.bus.as_ref()?.waits(id)
    }
    /// The moment at which the present stage of a request began.
    pub(in crate::device) fn since(&self, id: RequestId) -> Instant {
        self.requests[id].since
    }
}
