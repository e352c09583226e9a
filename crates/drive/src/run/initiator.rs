//! Initiators: the host programs that use the drive, and their requests that are still to come.

use crate::check;
use crate::experiment::Experiment;
use engine::{Instant, typed_id};
use host::{Command, Source, WorkloadConfig};
use std::collections::VecDeque;

typed_id! {
    /// A request that waits for its moment: an arrival, or the end of a think time.
    pub(super) struct Coming;
}

impl engine::Event for Coming {
    const KINDS: [u32; engine::LANES] = [0; engine::LANES];
    fn parts(self) -> (u32, u32) {
        (0, self.0)
    }
    fn of_parts(_: u32, index: u32) -> Self {
        Self(index)
    }
    fn lane(self) -> Option<usize> {
        // Arrivals come in order, and so do think times that are all equal.
        Some(0)
    }
}

/// A request that was drawn.
#[derive(Clone, Copy)]
pub(super) struct Drawn {
    pub(super) command: Command,
    /// Its number among all requests that its initiator has drawn.
    pub(super) number: u64,
}

/// A host program that uses the drive.
pub(super) struct Initiator {
    pub(super) source: Source,
    /// Number of requests that were drawn.
    pub(super) drawn: u64,
    pub(super) outstanding: u32,
    pub(super) depth: u32,
    /// Requests that have arrived and wait in the host: for a place in the queue (open loop), or
    /// for the drive's power.
    pub(super) waiting: VecDeque<(Instant, Drawn)>,
    /// No more requests come.
    pub(super) stopped: bool,
    /// Closed loop: queue places that are still to be filled at the beginning.
    pub(super) places: u64,
    /// True if a trace, or a number of requests or bytes, ends it independently of time.
    pub(super) is_bounded: bool,
    /// The moment of its last completion, and the number of completions at that moment.
    pub(super) standing: (Instant, u64),
    pub(super) backlog: Backlog,
}

impl Initiator {
    pub(super) fn new(source: Source, workload: &WorkloadConfig, experiment: &Experiment) -> Self {
        let depth = source.queue_depth().unwrap_or(u32::MAX);
        let places = match source.is_open_loop() {
            true => 1,
            false => check::first_draws(workload, depth, experiment.run.requests),
        };
        Self {
            depth,
            places,
            is_bounded: check::is_bounded(workload, &experiment.run),
            source,
            drawn: 0,
            outstanding: 0,
            waiting: VecDeque::new(),
            stopped: false,
            standing: (Instant::START, 0),
            backlog: Backlog::default(),
        }
    }
}

/// Number of requests of an open loop that were waiting or under way when others arrived.
#[derive(Clone, Copy, Debug, Default)]
pub struct Backlog {
    /// Requests that have arrived.
    pub arrived: u64,
    /// Number of requests that had not completed when the last one arrived.
    pub at_last: u64,
    /// The same when between a quarter and a half of the requests had arrived.
    pub at_half: u64,
    at_power_of_two: u64,
}

impl Backlog {
    #[inline]
    pub(super) fn arrive(&mut self, under_way: u64) {
        self.arrived += 1;
        self.at_last = under_way;
        if self.arrived.is_power_of_two() {
            self.at_half = self.at_power_of_two;
            self.at_power_of_two = under_way;
        }
    }
}
