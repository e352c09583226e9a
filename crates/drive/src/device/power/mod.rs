//! Power: what a drive keeps to recover by, power cuts, and its shutdown.

pub mod outage;
pub mod persistence;
mod shutdown;
