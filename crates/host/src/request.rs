//! Requests of a workload: a command and its issue time.

use engine::Span;
use traces::Command;

/// Issue time of a request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Issue {
    /// Open loop: at this time since the start of the run, however busy the drive is.
    At(Span),
    /// Closed loop: this long after a place in the initiator's queue became
    /// free (think time).
    After(Span),
}

/// A command and its issue time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Request {
    /// The command.
    pub command: Command,
    /// The issue time.
    pub issue: Issue,
}
