//! Where a request stands outside flash and buffer.

use crate::device::Time;
use crate::device::event::Event;
use crate::device::ids::RequestId;
use crate::device::port::Port;
use engine::Instant;

impl Port {
    /// The event that is due for a request itself, and when.
    pub(in crate::device) fn due(&self, time: &Time, id: RequestId) -> Option<(Event, Instant)> {
        let of = |event| match event {
            Event::Dispatch(of) | Event::Answer(of) | Event::Complete(of) => Some(of),
            _ => None,
        };
        time.agenda.pending().find_map(|(at, event)| (of(event) == Some(id)).then_some((event, at)))
    }
    /// When the present stage of a request began.
    pub(in crate::device) fn since(&self, id: RequestId) -> Instant {
        self.requests[id].since
    }
}
