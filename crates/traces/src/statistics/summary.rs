//! All statistics of a trace together.

use super::arrivals::Arrivals;
use super::counts::Spread;
use super::hotness::{Footprint, Hotness};
use super::places::Reuse;
use super::sequence::Sequence;
use crate::imitate::Model;
use serde::Serialize;

/// All statistics of a trace, without the path of its file.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Statistics {
    /// Requests.
    pub requests: u64,
    /// Bytes that they ask for together.
    pub bytes: u64,
    /// Time from the first stamp to the last.
    pub span_ns: u64,
    /// Stamps that run backwards.
    pub backwards: Option<Disorder>,
    /// Requests of each kind that occurs.
    pub kinds: Vec<KindStatistics>,
    /// Devices that occur, those with most requests first.
    pub devices: Vec<DeviceStatistics>,
    /// Arrivals of requests.
    pub arrivals: Arrivals,
    /// Units of 4 KiB that reads and writes touch. Trims, write-zeroes and requests of more than
    /// 1 GiB are left out, here and in the fields that follow.
    pub footprint: Footprint,
    /// Skew of the accesses of units.
    pub hotness: Option<Hotness>,
    /// Skew of the reads.
    pub read_hotness: Option<Hotness>,
    /// Skew of the writes.
    pub write_hotness: Option<Hotness>,
    /// Reuse: distances between accesses of the same unit.
    pub reuse: Reuse,
    /// Cautions for reading the figures.
    pub notes: Vec<String>,
    /// Model for a synthetic trace.
    #[serde(skip)]
    pub model: Model,
}

/// Stamps that run backwards, and their treatment.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Disorder {
    /// Requests with a stamp before one that came earlier in the file.
    pub requests: u64,
    /// The largest distance by which a stamp lies behind an earlier one.
    pub largest_step_ns: u64,
    /// True if requests were sorted by stamp. False if they lie too far apart for that: then a
    /// stamp that runs back counts as the latest before it.
    pub sorted: bool,
}

/// Requests of one kind.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct KindStatistics {
    /// `read`, `write`, `trim`, `flush` or `write_zeroes`.
    pub kind: &'static str,
    /// Requests.
    pub requests: u64,
    /// Share of all requests.
    pub share: f64,
    /// Bytes.
    pub bytes: u64,
    /// Sizes; nothing for flushes.
    pub size_bytes: Option<Spread>,
    /// The most common sizes, with requests, the most common first.
    pub common_sizes: Vec<(u64, u64)>,
    /// Alignment of addresses.
    pub alignment: Option<Alignment>,
    /// Sequentiality of requests.
    pub sequence: Option<Sequence>,
}

/// Alignment of addresses.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Alignment {
    /// Share of requests that begin and end at multiples of 4 KiB.
    pub aligned_4_kib_share: f64,
    /// Share of requests that begin at one.
    pub begins_4_kib_share: f64,
    /// The largest power of two that divides all beginnings and ends.
    pub least_bytes: u64,
}

/// Requests to one device.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct DeviceStatistics {
    /// Its number in the trace.
    pub device: u32,
    /// Requests to it.
    pub requests: u64,
    /// Bytes that they ask for.
    pub bytes: u64,
    /// The first byte that a request touches.
    pub begin_bytes: u64,
    /// The first byte after all requests.
    pub end_bytes: u64,
}
