//! The time that all parts are told.

use crate::device::event::Event;
use engine::{Agenda, Instant};

/// How far time has come, and what is due.
#[derive(Clone)]
pub struct Time {
    pub now: Instant,
    pub agenda: Agenda<Event>,
}
