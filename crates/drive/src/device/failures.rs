//! Failures of flash: those that came, and those that will come.

use engine::Instant;
use ftl::PoolId;

/// A failure of flash.
#[derive(Clone)]
pub struct Failure {
    /// The part that fails, in words.
    pub what: String,
    /// The pools that fail.
    pub pools: Vec<PoolId>,
    /// The moment.
    pub at: Instant,
    /// Units that are lost by it.
    pub lost: u64,
}
