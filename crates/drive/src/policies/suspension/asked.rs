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
    /// Duration of an undisturbed step (the last step of a program may take longer).
    pub step: Span,
    /// Time since the present step began or was resumed.
    pub into_step: Span,
    /// The moment of the operation's next safe point if nothing interrupts it.
    pub safe_at: Instant,
    /// True at the end of a step, where it can be suspended at no cost.
    pub at_safe_point: bool,
    /// Reads that wait for the unit and have asked for a suspension; at least one.
    pub asking: u32,
    /// Time since the first of them asked.
    pub waited: Span,
    /// Number of earlier suspensions of this operation.
    pub suspensions: u32,
    /// Time since the operation began.
    pub since_begun: Span,
    /// Time since the operation began or was last resumed.
    pub since_resumed: Span,
    /// True for foreground GC, which goes before host writes because its bin is at the foreground
    /// threshold, or owes work.
    pub foreground: bool,
}

/// Action of an operation that was asked to suspend.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interruption {
    /// It goes on; it is asked again at the next safe point, and when another read asks.
    GoOn,
    /// It goes on to the end of its present step, where it is asked once more. At a safe point
    /// every answer other than [`Interruption::GoOn`] suspends it there.
    AtStepEnd,
    /// It is interrupted now, and its present pulse is repeated as a whole later.
    Cancel,
    /// It is interrupted now, and the executed part of its present pulse counts.
    Suspend,
    /// It is frozen now and resumed later at no cost. No chip can do that.
    Freeze,
}

impl Interruption {
    /// True if the operation is suspended at once.
    pub const fn is_immediate(self) -> bool {
        matches!(self, Self::Cancel | Self::Suspend | Self::Freeze)
    }
}

/// Decides on the suspension of an operation.
pub trait Interrupts {
    /// Decides on the operation's action. The same question always gets the same answer.
    fn interrupts(&self, asked: &Asked) -> Interruption;
}
