//! Suspension: an erase has come to the end of a step, and reads have asked it to make
//! way. It does, or goes on.

mod at_steps;
mod never;
mod python;
mod registry;

pub use python::YieldOutside;
pub use registry::{Suspension, YieldAt};

use engine::{Instant, Span};

/// An erase between two of its steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SafePoint {
    /// Now.
    pub now: Instant,
    /// Steps that are done, and that are left; one each at least.
    pub steps_done: u32,
    /// See `steps_done`.
    pub steps_left: u32,
    /// How long a step takes.
    pub step: Span,
    /// Reads that wait for the unit and have asked; one at least.
    pub asking: u32,
    /// How long the first of them has waited.
    pub waited: Span,
    /// How often this erase has made way before.
    pub suspensions: u32,
    /// Time since this erase began.
    pub since_begun: Span,
    /// True where the erase is needed for the next host writes.
    pub urgent: bool,
}
