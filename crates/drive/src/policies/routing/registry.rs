//! The one list of ways to route a read. A new one is a new file and a line here.

use super::Meeting;
use super::deadline::Deadline;
use super::python::Python;
use super::suspend::Suspend;
use super::wait::Wait;

/// What a read does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Route {
    /// It waits until the unit is free.
    Wait,
    /// It waits, and asks the erase to make way.
    Suspend,
}

/// Decides what a read does that meets an erase.
pub trait RouteTo {
    /// Given the same meeting it returns the same route.
    fn route(&self, meeting: &Meeting) -> Route;
}

settings::family! {
    /// What a read does that meets a unit which is being erased.
    ReadRouting asks route(meeting: &Meeting) -> Route;
    /// Reads wait until the erase is over.
    "wait" => Wait,
    /// Every read asks the erase to make way.
    "suspend" => Suspend,
    /// A read asks the erase to make way if it would wait for longer than a bound.
    "deadline" => Deadline,
    /// A function of the user decides.
    "python" => Python,
}

impl Default for ReadRouting {
    fn default() -> Self {
        Self::Wait(Wait {})
    }
}

impl ReadRouting {
    /// True where no read ever asks.
    pub fn never_asks(&self) -> bool {
        matches!(self, Self::Wait(_))
    }
    /// What went wrong with a policy of the user.
    pub fn fault(&self) -> Option<String> {
        match self {
            Self::Python(policy) => policy.fault(),
            _ => None,
        }
    }
}
