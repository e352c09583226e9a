//! Units on their way to flash, with parity.

use crate::device::flash::op::PARITY;
use crate::device::ids::{EntryId, ParityId};

/// A unit that may be programmed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unit {
    /// Data; it is a member's, unless it was trimmed before it was due.
    Data(EntryId),
    /// Parity.
    Parity(ParityId),
}

impl Unit {
    /// The unit in a slot of a payload.
    pub fn of_slot(slot: u32) -> Self {
        match slot & PARITY {
            0 => Self::Data(EntryId(slot)),
            _ => Self::Parity(ParityId(slot & !PARITY)),
        }
    }
    /// Its place in a slot.
    pub fn slot(self) -> u32 {
        match self {
            Self::Data(entry) => entry.0,
            Self::Parity(id) => PARITY | id.0,
        }
    }
}
