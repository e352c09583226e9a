//! Options for reading a trace, for questions that its format leaves open.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Keys of `workload.trace` that concern the reading of the file. A key that has no meaning for a
/// format is refused before a replay ([`Options::foreign_to`]).
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Options {
    /// blkparse: the event that counts as the request. Default: queue.
    pub event: Option<Event>,
    /// The unit of stamps, and of fio's waits. Default: that of the format.
    pub time_unit: Option<TimeUnit>,
    /// fio version 2: the meaning of a wait. Default: gaps.
    pub waits: Option<Waits>,
    /// Bytes of the unit of addresses; also of lengths, except of SPC. Default: that of the format.
    pub block_bytes: Option<u64>,
    /// Bytes of the unit of lengths. Default: that of addresses, or that of the format.
    pub length_bytes: Option<u64>,
    /// Any format: treatment of rows with equal stamps. Default: none.
    pub spread: Option<Spread>,
    /// Any format: treatment of a file whose end was cut. Default: refuse.
    pub truncated: Option<Truncated>,
}

/// Event of a request that sets the time of its replay.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Event {
    /// The request was passed to the block layer (Q).
    Queue,
    /// The request was sent to the driver, merged and scheduled (D).
    Dispatch,
    /// The request was completed (C).
    Complete,
}

/// A unit of time.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TimeUnit {
    /// Nanoseconds.
    Ns,
    /// Microseconds.
    Us,
    /// Milliseconds.
    Ms,
    /// Seconds.
    S,
}

/// Treatment of a file whose end was cut.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Truncated {
    /// An error that names the line.
    Refuse,
    /// The trace ends with the last whole line.
    End,
}

/// Meaning of the waits of a log.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Waits {
    /// Durations: each wait lasts as long as it says, as fio documents.
    Gaps,
    /// Points in time: each wait lasts until that time after the beginning, as fio's replay does.
    Moments,
}

/// Treatment of rows with equal stamps.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Spread {
    /// All are issued at the same moment.
    None,
    /// They are spread evenly over the unit of the trace's stamps: the first at its stamp, the
    /// others after it at equal distances.
    Uniform,
}

impl TimeUnit {
    /// Every unit, from the smallest.
    pub(crate) const ALL: [Self; 4] = [Self::Ns, Self::Us, Self::Ms, Self::S];

    /// The unit in nanoseconds.
    pub(crate) const fn ns(self) -> u64 {
        match self {
            Self::Ns => 1,
            Self::Us => 1_000,
            Self::Ms => 1_000_000,
            Self::S => 1_000_000_000,
        }
    }

    /// The unit's sign.
    pub(crate) const fn sign(self) -> &'static str {
        match self {
            Self::Ns => "ns",
            Self::Us => "us",
            Self::Ms => "ms",
            Self::S => "s",
        }
    }
}
