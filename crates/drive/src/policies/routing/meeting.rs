//! Question to a policy for read routing, and its answers.

use engine::{Instant, Span};

/// What a read meets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Meeting {
    /// Now.
    pub now: Instant,
    /// When the unit will be free if nothing interrupts the operation that holds it.
    pub free_at: Instant,
    /// When that comes to its next safe point.
    pub safe_at: Instant,
    /// How often it was suspended before.
    pub suspensions: u32,
    /// Time since it began.
    pub since_begun: Span,
    /// True for a program, false for an erase.
    pub is_program: bool,
    /// Reads that already wait for the unit and have asked.
    pub asking: u32,
}

/// What a read does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Route {
    /// It waits until the unit is free.
    Wait,
    /// It waits, and asks the operation to suspend.
    Suspend,
}

/// Decides what a read does that meets an erase or a program.
pub trait RouteTo {
    /// Given the same meeting it returns the same route.
    fn route(&self, meeting: &Meeting) -> Route;
}
