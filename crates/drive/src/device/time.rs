//! The time that all parts get.

use crate::device::event::Event;
use engine::{Agenda, Instant};

/// The present moment, and the events that are due.
#[derive(Clone)]
pub struct Time {
    pub now: Instant,
    pub agenda: Agenda<Event>,
}
