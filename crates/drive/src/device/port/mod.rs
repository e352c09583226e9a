//! The host's side: commands, the link, and their completions.

mod again;
mod answer;
pub mod bus;
mod cross;
mod detour;
mod dispatch;
pub mod link;
pub mod read;
mod rebuild;
mod rebuilds;
mod take_in;
#[cfg(test)]
mod tests;
pub mod why;

use crate::config::DriveConfig;
use crate::device::dispatched::Dispatch;
use crate::device::pieces::Piece;
use crate::device::request::{Completion, Requests};
use engine::Span;
use link::Link;
use metrics::Digest;
use rebuilds::Detours;

/// Commands under way.
#[derive(Clone)]
pub struct Port {
    // ---- constant ----
    /// Time to compute data from the rest of its stripe.
    xor: Span,
    // ---- state ----
    pub(in crate::device) requests: Requests,
    link: Link,
    /// Parts of the read that is being split, kept for its memory.
    pieces: Vec<Piece>,
    /// Reads that go round collection or failed flash, if there are any or reads that meet collection
    /// are recorded.
    detours: Option<Box<Detours>>,
    // ---- results ----
    done: Vec<Completion>,
    digest: Digest,
    /// Digest of each NVM set; empty without sets.
    digests_of_sets: Vec<Digest>,
}

impl Port {
    /// Commands of a drive of so many NVM sets.
    pub fn new(config: &DriveConfig, sets: u32) -> Self {
        let detours = Detours::new(config);
        let mut requests = Requests::new(config.overheads());
        if detours.is_some() {
            requests.dispatch = Dispatch::Routes;
        }
        Self {
            xor: config.ftl.xor(),
            requests,
            link: Link::new(&config.host_link()),
            pieces: Vec::new(),
            detours,
            done: Vec::new(),
            digest: Digest::default(),
            digests_of_sets: vec![Digest::default(); if sets > 1 { sets as usize } else { 0 }],
        }
    }

    /// True if reads that meet collection are recorded.
    pub(in crate::device) fn records_holds(&self) -> bool {
        self.detours.as_ref().is_some_and(|detours| detours.records)
    }
    /// Begins to compute units that are lost.
    pub(in crate::device) fn computes_lost(&mut self) {
        self.detours.get_or_insert_with(|| {
            let mut detours = Detours::record(self.xor);
            detours.records = false;
            detours
        });
    }
    /// Begins to record the reads that meet collection, and those that wait for it.
    pub(in crate::device) fn record_collection(&mut self) {
        self.detours.get_or_insert_with(|| Detours::record(self.xor));
        if self.requests.dispatch == Dispatch::Nothing {
            self.requests.dispatch = Dispatch::Records;
        }
    }
}
