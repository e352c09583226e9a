//! How a trace is to be understood where its format leaves that open.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What of `workload.trace` concerns the reading of the file. A key that means
/// nothing for a format is refused before a replay ([`Options::foreign_to`]).
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Options {
    /// blkparse: the event that is taken as the request. Default: queue.
    pub event: Option<Event>,
    /// fio: the unit of stamps and waits. Default: us.
    pub time_unit: Option<TimeUnit>,
    /// fio version 2: what a wait counts from. Default: gaps.
    pub waits: Option<Waits>,
    /// SPC: bytes of the blocks that addresses count. Default: 512.
    pub block_bytes: Option<u64>,
    /// Any format: what becomes of rows with equal stamps. Default: none.
    pub spread: Option<Spread>,
}

/// The event of a request that a replay goes by.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Event {
    /// It was handed to the block layer (Q).
    Queue,
    /// It was sent to the driver, merged and scheduled (D).
    Dispatch,
    /// It was completed (C).
    Complete,
}

/// A unit of time.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TimeUnit {
    /// Microseconds.
    Us,
    /// Milliseconds.
    Ms,
}

/// What the waits of a log count from.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Waits {
    /// Each lasts so long: fio's documentation.
    Gaps,
    /// Each lasts until so long after the beginning: what fio's replay does.
    Moments,
}

/// What becomes of rows with equal stamps.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Spread {
    /// They come at the same moment.
    None,
    /// They are spread evenly over the unit that the trace's stamps count in: the
    /// first where its stamp says, the others at equal distances behind it.
    Uniform,
}

impl TimeUnit {
    /// The unit in nanoseconds.
    pub(crate) const fn ns(self) -> u64 {
        match self {
            Self::Us => 1_000,
            Self::Ms => 1_000_000,
        }
    }

    /// The unit's sign.
    pub(crate) const fn sign(self) -> &'static str {
        match self {
            Self::Us => "us",
            Self::Ms => "ms",
        }
    }
}
