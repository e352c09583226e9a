//! Requests of a run: their latencies, blame and the slowest of them, by initiator and kind.

use crate::closed_loop::ClosedLoop;
use engine::{Instant, Span};
use host::{Command, Kind};
use metrics::{Bands, Latency, Slowest, State};

/// Requests of one kind by one initiator.
pub struct KindStats {
    /// Latencies.
    pub latency: Latency,
    /// Bytes asked for.
    pub bytes: u64,
    /// Requests that were carried out untimed, and have no latency.
    pub untimed: u64,
    /// Mapping units read that had no data.
    pub unmapped: u64,
    /// Requests that did not get all of their data.
    pub failed: u64,
    /// Mapping units that these requests did not get.
    pub failed_units: u64,
    /// Reads that met collection.
    pub met: u64,
    /// Reads that waited for collection.
    pub blocked: u64,
    /// Blame by latency.
    pub bands: Bands,
    /// The slowest of them.
    pub(super) slowest: Slowest<SlowRequest>,
}

impl Default for KindStats {
    fn default() -> Self {
        Self::new(0)
    }
}

impl KindStats {
    /// No requests yet; the `slowest` slowest will be kept.
    pub fn new(slowest: usize) -> Self {
        Self {
            latency: Latency::new(),
            bytes: 0,
            untimed: 0,
            unmapped: 0,
            failed: 0,
            failed_units: 0,
            met: 0,
            blocked: 0,
            bands: Bands::default(),
            slowest: Slowest::new(slowest),
        }
    }
}

impl KindStats {
    /// Counts a request that did not get so many of its units.
    #[cold]
    #[inline(never)]
    pub(super) fn count_failed(&mut self, units: u32) {
        self.failed += 1;
        self.failed_units += u64::from(units);
    }
}

/// One initiator's requests by kind; kinds that did not occur have none.
pub struct InitiatorStats {
    /// Its name.
    pub name: String,
    /// By [`Kind::index`].
    pub kinds: [Option<Box<KindStats>>; Kind::ALL.len()],
    /// Its standstills, if it asks in a closed loop.
    pub closed_loop: Option<Box<ClosedLoop>>,
}

/// One of the slowest requests of its initiator and kind.
#[derive(Clone, Debug)]
pub struct SlowRequest {
    /// Index of its initiator.
    pub initiator: u32,
    /// The command.
    pub command: Command,
    /// The moment of its arrival.
    pub arrived: Instant,
    /// The time that it spent in each state.
    pub blame: Vec<(State, Span)>,
}
