//! Measurements of a run, and how far their numbers can be trusted.
//!
//! Collectors are fed during the run and cost nanoseconds; statistics are computed from them
//! once, afterwards. Nothing here knows what a drive is, owns a clock or prints.

mod bands;
mod blame;
mod confidence;
mod cycles;
mod digest;
mod latency;
mod ledger;
mod readings;
mod series;
mod slowest;
mod steady;
pub mod student;
mod sums;

pub use bands::{Band, Bands};
pub use blame::{Blame, HOLDERS, Holder, LEDGER_STATES, STATES, State};
pub use confidence::{Estimate, estimate};
pub use cycles::{Cycles, Space};
pub use digest::Digest;
pub use latency::{Bucket, Latency, PERCENTILES};
pub use ledger::{Ledger, Snapshot, SnapshotId, Snapshots};
pub use readings::Readings;
pub use series::{Field, Merge, Number, Series, Values};
pub use slowest::Slowest;
pub use steady::{
    COUNT_MIN, CYCLES_AFTER_CUT, CYCLES_MIN, Course, INTERVALS_MIN, Reason, Verdict, steady_state,
};
pub use sums::Sums;
