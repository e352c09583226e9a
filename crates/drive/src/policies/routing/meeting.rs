//! Question to a policy for read routing, and its answers.

use engine::{Instant, Span};

/// A read and the operation that it waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Meeting {
    /// Now.
    pub now: Instant,
    /// The moment at which the unit is free if nothing interrupts the operation that occupies it.
    pub free_at: Instant,
    /// The moment of the operation's next safe point.
    pub safe_at: Instant,
    /// Number of earlier suspensions of the operation.
    pub suspensions: u32,
    /// Time since the operation began.
    pub since_begun: Span,
    /// True for a program, false for an erase.
    pub is_program: bool,
    /// Reads that already wait for the unit and have asked for a suspension.
    pub asking: u32,
}

/// The hold of collection on a unit or a channel: it uses it or has reserved it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Hold {
    /// Time for which it lasts, as far as the firmware can tell.
    pub rest: Span,
    /// True if collection still copies, and does not only erase.
    pub copies: bool,
}

/// A stripe of which a read needs data that collection holds. The read may go round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Detour {
    /// The hold on the data that the read asks for: the longest, if there are several.
    pub held: Hold,
    /// The longest rest of a hold on what would be read besides.
    pub beside: Span,
    /// Number of mapping units that would be read besides.
    pub extra: u32,
    /// Time to read a mapping unit that nothing holds.
    pub read: Span,
    /// True if collections take turns in each group of stripes.
    pub rotates: bool,
}

/// Action of a read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Route {
    /// It waits until the unit is free.
    Wait,
    /// It waits, and asks the operation to suspend.
    Suspend,
}

/// Decides on the action of a read that waits for an erase or a program.
pub trait RouteTo {
    /// Routes a read. The same meeting always gets the same route.
    fn route(&self, meeting: &Meeting) -> Route;
}
