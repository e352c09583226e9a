//! One request of a trace, and what a format says of itself.

use super::columns::{Fault, Separator, What};
use crate::command::{Command, Kind};

/// The unit of addresses in MQSim's and DiskSim's formats.
pub(crate) const SECTOR_BYTES: u64 = 512;

/// One row, in the units that the simulator uses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Row {
    /// The stamp in nanoseconds, from wherever the trace counts.
    pub stamp_ns: u64,
    /// The device's number; 0 where the format has none.
    pub device: u32,
    /// The request, its offset counted from the start of the device.
    pub command: Command,
}

/// What a format says of itself.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Description {
    /// How configurations write it.
    pub name: &'static str,
    /// How messages call it.
    pub title: &'static str,
    /// The first line, where the format has one.
    pub header: Option<&'static str>,
    /// True where several writers log into one file, so that stamps that run back
    /// a little are no sign of damage.
    pub sorts_by_default: bool,
    /// What stands between two columns.
    pub separator: Separator,
    /// What each column holds, with its unit.
    pub columns: &'static [&'static str],
}

/// A command with a range; a fault is charged to `column`, which holds the length.
#[inline]
pub(crate) fn ranged(kind: Kind, offset: u64, bytes: u64, column: usize) -> Result<Command, Fault> {
    if bytes == 0 {
        return Err(Fault { column, what: What::Empty });
    }
    if offset.checked_add(bytes).is_none() {
        return Err(Fault { column, what: What::PastTheEnd });
    }
    Ok(Command { kind, offset, bytes })
}
