//! The requests of a run as the drive received them, and figures of them.

use crate::common::{Override, set};
use drive::measure::SlowRequest;
use drive::{Experiment, Run};
use host::Kind;

pub const US: u64 = 1_000;
pub const KIB: u64 = 1_024;
pub const PAGE: u64 = 4 * KIB;

/// Durations of a read and of a write of a page on the drive of the tests.
pub const READ: u64 = 125 * US;
pub const WRITE: u64 = 300 * US;

/// A run in which every request is recorded, for [`requests`].
pub fn recorded() -> Override {
    set("record.slowest", 10_000)
}

/// All requests of a run in the order of their arrivals.
pub fn requests(run: &Run) -> Vec<SlowRequest> {
    let mut all: Vec<_> =
        run.measured().slowest().into_iter().map(|(_, request)| request).collect();
    assert_eq!(all.len() as u64, run.issued(), "every request was recorded");
    all.sort_by_key(|request| request.arrived);
    all
}

/// Arrival of each request, in microseconds.
pub fn arrivals_us(run: &Run) -> Vec<f64> {
    requests(run).iter().map(|request| request.arrived.as_ns() as f64 / 1e3).collect()
}

/// Offset of each request, in bytes.
pub fn offsets(run: &Run) -> Vec<u64> {
    requests(run).iter().map(|request| request.command.offset).collect()
}

/// Size of each request, in bytes.
pub fn bytes(run: &Run) -> Vec<u64> {
    requests(run).iter().map(|request| request.command.bytes).collect()
}

/// Number of requests of a kind that were counted.
pub fn count(run: &Run, kind: Kind) -> u64 {
    let of_kind = run.measured().initiators().iter().filter_map(|i| i.kinds[kind.index()].as_ref());
    of_kind.map(|stats| stats.latency.count()).sum()
}

/// Latency of a request, in nanoseconds.
pub fn latency(request: &SlowRequest) -> u64 {
    request.blame.iter().map(|(_, span)| span.as_ns()).sum()
}

/// Number of units that a drive exports.
pub fn logical_units(experiment: &Experiment) -> u32 {
    drive::Device::new(&experiment.drive, experiment.seed).ftl().layout.host_units
}

/// Four standard deviations of a count of `draws` with probability `share` each.
pub fn four_sigma(draws: f64, share: f64) -> f64 {
    4.0 * libm::sqrt((draws * share * (1.0 - share)).max(0.0))
}
