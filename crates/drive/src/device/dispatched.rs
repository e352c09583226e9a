//! Reads that have waited until their data was on flash, when the firmware dispatches them.

use crate::device::ids::RequestId;
use ftl::{Lpn, Ppn};
use metrics::Blame;

/// Consequences of a read's dispatch, apart from the read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Dispatch {
    #[default]
    Nothing,
    /// It is recorded if it meets collection.
    Records,
    /// It is recorded, and it may go round collection.
    Routes,
}

/// A part of a read, one unit, that is dispatched when the present event is over.
#[derive(Clone)]
pub struct Dispatched {
    pub request: RequestId,
    pub part: u32,
    pub lpn: Lpn,
    pub ppn: Ppn,
    /// Blame of its wait.
    pub before: Blame,
}
