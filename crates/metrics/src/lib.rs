//! Measurements of a run, and how far their numbers can be trusted.
//!
//! Collectors are fed during the run and cost nanoseconds; statistics are computed from them
//! once, afterwards. Nothing here knows what a drive is, owns a clock or prints.

mod bands;
mod batch_means;
mod blame;
mod digest;
mod latency;
mod ledger;
mod series;
mod slowest;
mod steady;
pub mod student;

pub use bands::{Band, Bands};
pub use batch_means::{BatchMeans, Estimate};
pub use blame::{Blame, HOLDERS, Holder, LEDGER_STATES, STATES, State};
pub use digest::Digest;
pub use latency::{Bucket, Latency, PERCENTILES};
pub use ledger::{Ledger, Snapshot, SnapshotId, Snapshots};
pub use series::{Field, Merge, Number, Series, Values};
pub use slowest::Slowest;
pub use steady::{Reason, Verdict, Window, mser5, steady_state};
