//! How a trace is to be understood where its format leaves that open.

use super::Format;
use crate::error::TraceError;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::Path;

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

impl Options {
    /// The keys that are given and mean nothing for `format`.
    pub fn foreign_to(&self, format: Format) -> Vec<&'static str> {
        let given = [
            ("event", self.event.is_some()),
            ("time_unit", self.time_unit.is_some()),
            ("waits", self.waits.is_some()),
            ("block_size", self.block_bytes.is_some()),
        ];
        let known = format.description().settings;
        let is_foreign = |(key, is_given): &(&str, bool)| *is_given && !known.contains(key);
        given.iter().filter(|key| is_foreign(key)).map(|(key, _)| *key).collect()
    }

    /// Refuses what is given and means nothing for `format`, all at once.
    pub(crate) fn check(&self, path: &Path, format: Format) -> Result<(), TraceError> {
        let fault = |key: &&str| format!("{key} {}", Self::no_meaning(key, format));
        let mut faults: Vec<String> = self.foreign_to(format).iter().map(fault).collect();
        if self.block_bytes == Some(0) {
            faults.push("block_size must be more than 0 B".to_owned());
        }
        if faults.is_empty() {
            return Ok(());
        }
        Err(TraceError { file: path.to_owned(), line: None, problem: faults.join("\n  ") })
    }

    /// Why `key` is refused for `format`.
    pub fn no_meaning(key: &str, format: Format) -> String {
        let (title, others) = (format.title(), Self::formats_with(key));
        format!("has no meaning for {title}, only for the formats {others}; remove it")
    }

    /// The formats for which `key` means something, as a message lists them.
    fn formats_with(key: &str) -> String {
        let knows = |format: &&Format| format.description().settings.contains(&key);
        let names: Vec<&str> = Format::ALL.iter().filter(knows).map(|f| f.name()).collect();
        names.join(", ")
    }
}
