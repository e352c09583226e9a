//! Read routing: a read meets a unit that is being erased. It waits, or asks the erase to
//! make way.

mod deadline;
mod python;
mod registry;
mod suspend;
mod wait;

pub use python::RouteOutside;
pub use registry::{ReadRouting, Route, RouteTo};

use engine::{Instant, Span};

/// What a read meets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Meeting {
    /// Now.
    pub now: Instant,
    /// When the unit will be free if nothing interrupts the erase.
    pub free_at: Instant,
    /// When the erase comes to its next safe point, where it may make way.
    pub safe_at: Instant,
    /// How often this erase has made way before.
    pub suspensions: u32,
    /// Time since this erase began.
    pub since_begun: Span,
    /// Reads that already wait for the unit and have asked.
    pub asking: u32,
}
