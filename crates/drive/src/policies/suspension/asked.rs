//! Question to a policy for suspension, and its answers.

use engine::{Instant, Span};

/// An erase or a program that was asked to suspend.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Asked {
    /// Now.
    pub now: Instant,
    /// Steps that are done.
    pub steps_done: u32,
    /// Steps that are left; one at least.
    pub steps_left: u32,
    /// How long an undisturbed step takes (the last one of a program may take longer).
    pub step: Span,
    /// For how long the present step has gone on, since it began or was gone on with.
    pub into_step: Span,
    /// When the operation comes to its next safe point if nothing interrupts it.
    pub safe_at: Instant,
    /// True at the end of a step, where it can be suspended at no cost.
    pub at_safe_point: bool,
    /// Reads that wait for the unit and have asked; one at least.
    pub asking: u32,
    /// How long ago the first of them asked.
    pub waited: Span,
    /// How often this operation was suspended before.
    pub suspensions: u32,
    /// Time since it began.
    pub since_begun: Span,
    /// Time since it began or last went on.
    pub since_resumed: Span,
    /// True for foreground GC, which goes before host writes because
    /// its bin is at the foreground threshold, or in debt.
    pub foreground: bool,
}

/// What an operation does that was asked to suspend.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interruption {
    /// It goes on; at the next safe point, and when another read asks, it is asked again.
    GoOn,
    /// It is suspended at the end of its present step, where it is asked once more. At a safe
    /// point every answer but [`Interruption::GoOn`] means that it is suspended there.
    AtStepEnd,
    /// It is interrupted now, and its present pulse is asserted again as a whole later.
    Cancel,
    /// It is interrupted now, and what was executed of the present pulse counts.
    Suspend,
    /// It stands still now and goes on later, at no cost. No chip can do that.
    Freeze,
}

impl Interruption {
    /// True if the operation is suspended at once.
    pub const fn is_immediate(self) -> bool {
        matches!(self, Self::Cancel | Self::Suspend | Self::Freeze)
    }
}

/// Decides how an operation is suspended.
pub trait Interrupts {
    /// What it does. Given the same it returns the same.
    fn interrupts(&self, asked: &Asked) -> Interruption;
}
