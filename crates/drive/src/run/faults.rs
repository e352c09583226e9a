//! Faults of workloads that show during a run, and their wording.

use super::Run;
use super::initiator::Initiator;
use crate::error::RunError;
use crate::horizon::LATEST;

impl Run {
    pub(super) fn fault(&self, index: usize, problem: String) -> RunError {
        RunError::Workload { workload: self.initiators[index].source.name().into(), problem }
    }

    /// The error for a request of an initiator, or else an operation of the drive, that would come
    /// after the end of simulated time.
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
