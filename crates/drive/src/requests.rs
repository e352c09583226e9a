//! A log of requests, each with its blame, for the writer of a request file. It is emptied as the
//! run goes on, so that memory does not grow with the run.

use crate::device::{Completion, RequestId};
use engine::Instant;
use engine::ids::Id;
use host::Command;
use metrics::{Blame, STATES, State};

/// A counted request that has completed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Logged {
    /// Index of its initiator.
    pub initiator: u32,
    /// Its number among the requests that its initiator has drawn, from 0: the same request has the
    /// same number in every run of the same workload.
    pub number: u64,
    /// The command.
    pub command: Command,
    /// The moment of its arrival.
    pub arrived: Instant,
    /// The moment at which its answer reached the host.
    pub finished: Instant,
    /// Mapping units read that had no data.
    pub unmapped: u32,
    /// Mapping units whose data it did not get.
    pub failed: u32,
}

/// Requests in the order of their completion, since the log was last emptied.
#[derive(Debug)]
pub struct RequestLog {
    /// Numbers of the requests under way, by id.
    numbers: Vec<u64>,
    rows: Vec<Logged>,
    /// By state: the rows that spent time in it, and nanoseconds. Most states have few rows.
    spent: [Vec<(u32, u64)>; STATES],
}

impl Default for RequestLog {
    fn default() -> Self {
        Self { numbers: Vec::new(), rows: Vec::new(), spent: std::array::from_fn(|_| Vec::new()) }
    }
}

impl RequestLog {
    /// Notes that the `number`th request of its initiator went to the drive as `id`.
    pub fn submitted(&mut self, id: RequestId, number: u64) {
        let index = id.index();
        if index >= self.numbers.len() {
            self.numbers.resize(index + 1, 0);
        }
        self.numbers[index] = number;
    }

    /// Logs a counted request that has completed; its id must not have been reused yet.
    pub fn record(&mut self, completion: &Completion, blame: &Blame) {
        let row = self.rows.len() as u32;
        self.rows.push(Logged {
            initiator: completion.tag,
            number: self.numbers[completion.id.index()],
            command: completion.command,
            arrived: completion.arrived,
            finished: completion.finished,
            unmapped: completion.unmapped,
            failed: completion.failed,
        });
        for (state, span) in blame.iter() {
            self.spent[state as usize].push((row, span.as_ns()));
        }
    }

    /// The requests that are in the log.
    pub fn rows(&self) -> &[Logged] {
        &self.rows
    }

    /// Nanoseconds that each logged request spent in a state; over all states they sum to its
    /// latency.
    pub fn spent_ns(&self, state: State) -> Vec<u64> {
        let mut column = vec![0; self.rows.len()];
        for (row, ns) in &self.spent[state as usize] {
            column[*row as usize] = *ns;
        }
        column
    }

    /// Empties the log; requests under way stay known.
    pub fn clear(&mut self) {
        self.rows.clear();
        self.spent.iter_mut().for_each(Vec::clear);
    }
}
