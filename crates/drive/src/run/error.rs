//! Why a run ends early, and how that is worded.

use super::Run;
use super::initiator::Initiator;
use crate::device::rounded;
use crate::horizon::LATEST;
use crate::precondition::NoSpace;
use crate::snapshot::Damaged;
use crate::starvation::{REMEDY, Starved};
use engine::Instant;
use host::HostError;
use settings::counted;

fn requests(count: &u32) -> String {
    counted(*count, "request")
}

/// Why a run ended early.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The drive cannot hold what it is preconditioned with.
    #[error(transparent)]
    NoSpace(#[from] NoSpace),
    /// The snapshot to start from cannot be read.
    #[error(transparent)]
    Snapshot(#[from] Damaged),
    /// The snapshot to start from is of another layout: each key that says so.
    #[error("the snapshot does not fit the drive")]
    Unfit(Vec<(&'static str, String)>),
    /// A drive cannot be shut down.
    #[error("no snapshot can be taken: {0}")]
    Restless(String),
    /// A workload is at fault.
    #[error(transparent)]
    Host(#[from] HostError),
    /// Requests wait for ever.
    #[error("the drive is stuck at {} with {} under way: {why}", rounded(*.at - Instant::START), requests(.outstanding))]
    Stuck {
        /// When.
        at: Instant,
        /// Requests under way.
        outstanding: u32,
        /// What is missing.
        why: String,
    },
    /// A request has waited for longer than it may; what was measured until then stands.
    #[error("starvation: {0}; {REMEDY}")]
    Starved(Box<Starved>),
    /// A workload asks for more than can be simulated.
    #[error("workload \"{workload}\": {problem}")]
    Workload {
        /// Its name.
        workload: String,
        /// What it asks for, and what to do about it.
        problem: String,
    },
    /// The host has written more than recovery can tell apart.
    #[error(
        "the host has written 2^32 - 2 mapping units, and versions (drive.recovery) tell no more apart; choose a larger mapping unit, or a shorter run"
    )]
    Versions,
    /// A policy of the user failed.
    #[error("policy {0}")]
    Policy(String),
    /// The auditor found a fault of the simulator.
    #[error("audit: {0}")]
    Audit(String),
}

impl Run {
    pub(super) fn fault(&self, index: usize, problem: String) -> RunError {
        RunError::Workload { workload: self.initiators[index].source.name().into(), problem }
    }

    /// A request of an initiator, or else something that the drive does, would come
    /// after all time.
    #[cold]
    pub(super) fn too_late(&self, index: Option<usize>) -> RunError {
        let busy = |initiator: &Initiator| initiator.outstanding > 0;
        let index = index.or_else(|| self.initiators.iter().position(busy)).unwrap_or(0);
        let now = self.device.now();
        let problem = format!(
            "it goes on after {now:?}, beyond the {LATEST:?} (4.5 years) that can be simulated; limit \
             it with stop or the run with run.time, or shorten its start, pauses, time scale or \
             repetitions"
        );
        self.fault(index, problem)
    }

    #[cold]
    pub(super) fn overloaded(&self, index: usize) -> RunError {
        let arrived = self.initiators[index].backlog.arrived;
        let under_way = u64::from(self.device.outstanding()) + self.waiting;
        let problem = format!(
            "overload: at {:?} {under_way} requests are waiting or under way, more than memory is \
             for ({arrived} of this workload have arrived); the drive serves less than is asked of \
             it, so lower the rate of arrivals (or raise trace.time_scale), or end the run earlier",
            self.device.now()
        );
        self.fault(index, problem)
    }

    #[cold]
    pub(super) fn stands_still(&self, index: usize) -> RunError {
        let (at, completions) = self.initiators[index].standing;
        let problem = format!(
            "{completions} of its requests have completed at {at:?} and take no time, so no limit in \
             time is ever reached; give it a number of requests (stop.requests), a think_time, or its \
             commands a duration (drive.firmware)"
        );
        self.fault(index, problem)
    }
}
