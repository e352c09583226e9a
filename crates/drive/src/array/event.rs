//! Events of the host: of those due together, swaps come first and requests last.

use super::plan::act::{HostId, Timer, WakeId};
use super::requests::ServingId;

/// An event of the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// A moment that the plan wants to be told of.
    Timer(Timer),
    /// The host's cache has served a part of a request.
    Served(ServingId),
    /// A request comes, by its index.
    Arrival(u32),
}

impl engine::Event for Event {
    const KINDS: [u32; engine::LANES] = [3, 4, 5, 0, 0, 0, 0];
    fn parts(self) -> (u32, u32) {
        match self {
            Self::Timer(Timer::Settle) => (0, 0),
            Self::Timer(Timer::Swap) => (1, 0),
            Self::Timer(Timer::Own(wake)) => (2, wake.0),
            Self::Served(id) => (3, id.0),
            Self::Timer(Timer::Hedge(id)) => (4, id.0),
            Self::Arrival(index) => (5, index),
        }
    }
    fn of_parts(kind: u32, index: u32) -> Self {
        match kind {
            0 => Self::Timer(Timer::Settle),
            1 => Self::Timer(Timer::Swap),
            2 => Self::Timer(Timer::Own(WakeId(index))),
            3 => Self::Served(ServingId(index)),
            4 => Self::Timer(Timer::Hedge(HostId(index))),
            _ => Self::Arrival(index),
        }
    }
    fn lane(self) -> Option<usize> {
        // Those of a kind are mostly due in the order in which they are scheduled.
        match self {
            Self::Timer(Timer::Settle | Timer::Swap | Timer::Own(_)) => None,
            Self::Served(_) => Some(0),
            Self::Timer(Timer::Hedge(_)) => Some(1),
            Self::Arrival(_) => Some(2),
        }
    }
}
