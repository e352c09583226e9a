//! Requests of a workload: a command and when it is issued.

use engine::Span;
use traces::Command;

/// When a request is issued.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Issue {
    /// Open loop: at this time since the start of the run, however busy the drive is.
    At(Span),
    /// Closed loop: this long after a place in the initiator's queue became
    /// free (think time).
    After(Span),
}

/// A command and when it is issued.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Request {
    /// What is asked.
    pub command: Command,
    /// When it is asked.
    pub issue: Issue,
}
