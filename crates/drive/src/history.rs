//! Origin of a drive: preconditioning, a snapshot, or both.

use crate::config::DriveConfig;
use crate::precondition::Preconditioned;
use serde::{Deserialize, Serialize};

/// Preconditioning and origin of a drive.
#[derive(Clone, Debug, Default)]
pub struct History {
    /// The preconditioning of the drive.
    pub preconditioned: Preconditioned,
    /// The snapshot that the drive was started from, if any.
    pub snapshot: Option<Origin>,
}

impl History {
    /// Simulated time that the drive ran before, in nanoseconds.
    pub fn ran_ns(&self) -> u64 {
        self.snapshot.as_ref().map_or(0, |origin| origin.ran_ns)
    }
}

/// Origin and content of a snapshot.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Origin {
    /// The version of flashscape that took it.
    pub flashscape: String,
    /// The title of the experiment whose drive it holds.
    pub title: Option<String>,
    /// The seed of that experiment.
    pub seed: u64,
    /// The drive.
    pub drive: DriveConfig,
    /// The preconditioning of the drive.
    pub preconditioned: Preconditioned,
    /// Simulated time that the drive ran after that, in all its runs, in nanoseconds.
    pub ran_ns: u64,
    /// Blocks erased since it was new.
    pub erases: u64,
    /// Mapping units that hold data.
    pub mapped_units: u32,
}
