//! The host's side of windows of predictable latency: its next requests, and the latencies of its reads.

use crate::device::Window;
use engine::{Instant, Span};
use ftl::SetId;
use metrics::Latency;

/// The host's side of windows.
pub struct HostSide {
    /// Length of a deterministic and of a non-deterministic window; none if the host asks for none.
    pub(super) asks: Option<[Span; 2]>,
    /// The next request of each set.
    pub(super) next: Vec<(Instant, Window)>,
    /// Changes of windows in a row while nothing else happened; units and erases until then, and requests
    /// under way.
    pub(super) vain: u32,
    pub(super) done: (u64, u32),
    /// Latencies of the reads of each set: those that were in a deterministic window from their arrival
    /// to their end, and the others.
    pub(super) reads: Vec<[Latency; 2]>,
}

impl HostSide {
    /// Latencies of the reads of a set: inside deterministic windows, and others.
    pub fn reads(&self, set: SetId) -> &[Latency; 2] {
        &self.reads[set.0 as usize]
    }

    /// The set whose turn it is next.
    pub(super) fn first(&self) -> Option<usize> {
        self.asks?;
        (0..self.next.len()).min_by_key(|set| self.next[*set].0)
    }
}
