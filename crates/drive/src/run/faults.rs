//! Faults of workloads that show during a run, and their wording.

use super::Run;
use super::initiator::Initiator;
use crate::error::RunError;
use crate::horizon::LATEST;
use engine::Instant;
use settings::grouped;

/// The workload that something which comes after the end of simulated time is blamed on, if it is not
/// known: the first one with requests under way.
pub fn busy(initiators: &[Initiator]) -> usize {
    initiators.iter().position(|initiator| initiator.outstanding > 0).unwrap_or(0)
}

/// A fault of an initiator.
pub fn fault(initiator: &Initiator, problem: String) -> RunError {
    RunError::Workload { workload: initiator.source.name().into(), problem }
}

/// The error for requests that would keep the link busy beyond the end of time.
#[cold]
pub fn link_busy(initiator: &Initiator) -> RunError {
    let problem = "its requests would keep the link busy for years; raise drive.link.rate, or lower \
                   queue_depth or the rate of arrivals";
    fault(initiator, problem.into())
}

/// The error for a request of an initiator, or else an operation of the drive, that would come after
/// the end of simulated time.
#[cold]
pub fn too_late(initiator: &Initiator, now: Instant) -> RunError {
    let problem = format!(
        "it goes on after {now:?}, beyond the {LATEST:?} (4.5 years) that can be simulated; limit it \
         with stop or the run with run.time, or shorten its start, pauses, time scale or repetitions"
    );
    fault(initiator, problem)
}

/// The error for more requests under way or waiting than memory is for.
#[cold]
pub fn overloaded(initiator: &Initiator, now: Instant, under_way: u64) -> RunError {
    let arrived = initiator.backlog.arrived;
    let problem = format!(
        "overload: at {now:?} {} requests are waiting or under way, more than memory is for \
         ({} of this workload have arrived); the drive serves less than is asked of it, so \
         lower the rate of arrivals (or raise trace.time_scale), or end the run earlier",
        grouped(under_way),
        grouped(arrived)
    );
    fault(initiator, problem)
}

/// The error for a closed loop that repeats at one moment without end.
#[cold]
pub fn stands_still(initiator: &Initiator) -> RunError {
    let (at, completions) = initiator.standing;
    let problem = format!(
        "{} of its requests have completed at {at:?} and take no time, so no limit in time \
         is ever reached; give it a number of requests (stop.requests), a think_time, or its commands \
         a duration (drive.firmware)",
        grouped(completions)
    );
    fault(initiator, problem)
}

impl Run {
    /// The error for a request or an operation after the end of simulated time ([`too_late`]).
    #[cold]
    pub(super) fn too_late(&self, index: Option<usize>) -> RunError {
        let index = index.unwrap_or_else(|| busy(&self.initiators));
        too_late(&self.initiators[index], self.device.now())
    }
    /// The error for more requests than memory is for ([`overloaded`]).
    #[cold]
    pub(super) fn overloaded(&self, index: usize) -> RunError {
        let under_way = u64::from(self.device.outstanding()) + self.waiting;
        overloaded(&self.initiators[index], self.device.now(), under_way)
    }
}
