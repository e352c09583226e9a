//! Power: the means of recovery of a drive, power cuts, and its shutdown.

mod checkpoints;
mod outage;
pub mod persistence;
mod recovery;
mod shutdown;

use crate::recovery::Outage;
use host::Command;

/// Effects of a power cut.
#[derive(Clone, Debug)]
pub struct Cut {
    /// The cut and the recovery.
    pub outage: Outage,
    /// Commands that never complete: the submitter's tags, and the commands.
    pub lost: Vec<(u32, Command)>,
}
