//! Power: what a drive keeps to recover by, power cuts, and its shutdown.

mod checkpoints;
mod outage;
pub mod persistence;
mod recovery;
mod shutdown;

use crate::recovery::Outage;
use host::Command;

/// What a power cut did.
#[derive(Clone, Debug)]
pub struct Cut {
    /// The cut and the recovery.
    pub outage: Outage,
    /// Commands that never complete: what the submitter called them, and what they were.
    pub lost: Vec<(u32, Command)>,
}
