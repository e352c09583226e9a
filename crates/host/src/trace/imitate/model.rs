//! What a stand-in is made from.
use crate::command::Kind;
use crate::trace::statistics::sequence::AGES;
use crate::trace::statistics::{Layout, Shape};
use serde::{Deserialize, Serialize};

/// What a stand-in is made from.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Model {
    /// Requests.
    pub requests: u64,
    /// How often each kind follows each, by `Kind::index`.
    pub follows: [[u64; Kind::ALL.len()]; Kind::ALL.len()],
    /// Requests of each kind that occurs.
    pub kinds: Vec<KindModel>,
    /// When requests come.
    pub arrivals: Shape,
    /// Where reads and writes go.
    pub layout: Layout,
}

/// Requests of one kind.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KindModel {
    /// The kind's name.
    pub kind: String,
    /// Requests.
    pub requests: u64,
    /// Sizes in bytes of requests that begin a run, with their number.
    pub starting: Vec<(u64, u64)>,
    /// Sizes of those that continue one.
    pub continuing: Vec<(u64, u64)>,
    /// How many requests back the continued one lies: 1, 2, 3 to 4, … 17 to 32.
    pub ages: [u64; AGES],
    /// Requests of a run, with the number of runs.
    pub runs: Vec<(u64, u64)>,
    /// In which sector of a unit of 4 KiB a run begins.
    pub phases: [u64; 8],
}
