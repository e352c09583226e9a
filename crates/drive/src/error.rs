//! Reasons why a run ends early, and their wording.

use crate::device::rounded;
use crate::precondition::NoSpace;
use crate::snapshot::Damaged;
use crate::starvation::{REMEDY, Starved};
use engine::Instant;
use host::HostError;
use settings::counted;

fn requests(count: &u32) -> String {
    counted(*count, "request")
}

/// The reason why a run ended early.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The drive cannot hold the data that it is preconditioned with.
    #[error(transparent)]
    NoSpace(#[from] NoSpace),
    /// The snapshot to start from cannot be read.
    #[error(transparent)]
    Snapshot(#[from] Damaged),
    /// The snapshot to start from has another layout: each key that differs.
    #[error("the snapshot does not fit the drive")]
    Unfit(Vec<(&'static str, String)>),
    /// A drive cannot be shut down.
    #[error("no snapshot can be taken: {0}")]
    Restless(String),
    /// A workload is faulty.
    #[error(transparent)]
    Host(#[from] HostError),
    /// Requests wait for ever.
    #[error("the drive is stuck at {} with {} under way: {why}", rounded(*.at - Instant::START), requests(.outstanding))]
    Stuck {
        /// The moment.
        at: Instant,
        /// Requests under way.
        outstanding: u32,
        /// The missing condition.
        why: String,
    },
    /// A request has waited for longer than it may; the measurements until then are kept.
    #[error("starvation: {0}; {REMEDY}")]
    Starved(Box<Starved>),
    /// A workload asks for more than can be simulated.
    #[error("workload \"{workload}\": {problem}")]
    Workload {
        /// Its name.
        workload: String,
        /// The excessive demand, and the remedy.
        problem: String,
    },
    /// The host has written more than recovery can tell apart.
    #[error(
        "the host has written 2^32 - 2 mapping units, the most that versions (drive.recovery) can distinguish; choose a larger mapping unit, or a shorter run"
    )]
    Versions,
    /// A policy of the user failed.
    #[error("policy {0}")]
    Policy(String),
    /// Flash failed whose data parity cannot replace.
    #[error(
        "data is lost: {0}, and parity can replace one; let less fail (run.failures), or later, or rebuild faster (drive.ftl.parity.rebuild), or leave more space for what is rebuilt"
    )]
    Lost(String),
    /// The auditor found a fault of the simulator.
    #[error("audit: {0}")]
    Audit(String),
}
