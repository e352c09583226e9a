//! All statistics of a trace together.

use super::arrivals::Arrivals;
use super::counts::Spread;
use super::hotness::{Footprint, Hotness};
use super::places::Reuse;
use super::sequence::Sequence;
use crate::imitate::Model;
use serde::Serialize;

/// Everything that is known of a trace but for where its file lies.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Statistics {
    /// Requests.
    pub requests: u64,
    /// Bytes that they ask for together.
    pub bytes: u64,
    /// From the first stamp to the last.
    pub span_ns: u64,
    /// Stamps that run backwards.
    pub backwards: Option<Disorder>,
    /// Requests of each kind that occurs.
    pub kinds: Vec<KindStatistics>,
    /// Devices that occur, those with most requests first.
    pub devices: Vec<DeviceStatistics>,
    /// When requests come.
    pub arrivals: Arrivals,
    /// Which 4 KiB units reads and writes touch; trims, write-zeroes and requests of
    /// more than 1 GiB are left out, here and in what follows.
    pub footprint: Footprint,
    /// How unevenly units are accessed.
    pub hotness: Option<Hotness>,
    /// How unevenly they are read.
    pub read_hotness: Option<Hotness>,
    /// How unevenly they are written.
    pub write_hotness: Option<Hotness>,
    /// How accesses of the same unit follow each other.
    pub reuse: Reuse,
    /// What to know when reading the figures.
    pub notes: Vec<String>,
    /// What a synthetic trace is made from.
    #[serde(skip)]
    pub model: Model,
}

/// Stamps that run backwards, and what was done about it.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Disorder {
    /// Requests with a stamp before one that came earlier in the file.
    pub requests: u64,
    /// How far the farthest lies behind.
    pub largest_step_ns: u64,
    /// True where requests were sorted by stamp; where false, because they lie too far
    /// apart, a stamp that runs back counts as the latest before it.
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
    /// How addresses are aligned.
    pub alignment: Option<Alignment>,
    /// How requests go on where earlier ones ended.
    pub sequence: Option<Sequence>,
}

/// How addresses are aligned.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Alignment {
    /// Share of requests that begin and end at multiples of 4 KiB.
    pub aligned_4_kib_share: f64,
    /// Share that begins at one.
    pub begins_4_kib_share: f64,
    /// The largest power of two at whose multiples all begin and end.
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
    /// The first byte that one names.
    pub begin_bytes: u64,
    /// The first byte behind all.
    pub end_bytes: u64,
}
