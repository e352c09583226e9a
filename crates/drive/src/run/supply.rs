//! The power of a run's drive: the moments at which it is cut and at which the drive is ready
//! again.

use crate::experiment::Experiment;
use crate::recovery::{Outage, Schedule};
use engine::{Instant, Streams};

/// The power of a run's drive.
pub struct Power {
    pub(super) schedule: Schedule,
    /// The moment at which the drive is ready again, while it is off.
    pub(super) up_at: Option<Instant>,
    /// Events that the drive has handled; counted if cuts are given by number of events.
    pub(super) events: u64,
    /// Initiators whose requests were lost, once for each lost request, while the drive is off.
    pub(super) lost: Vec<u32>,
    pub(super) outages: Vec<Outage>,
}

impl Power {
    /// The power of an experiment; `None` if it is never cut.
    pub fn new(experiment: &Experiment, streams: Streams) -> Option<Box<Self>> {
        let schedule = Schedule::new(Some(experiment.run.power_cut.as_ref()?), streams);
        let outages = Vec::new();
        Some(Box::new(Self { schedule, up_at: None, events: 0, lost: Vec::new(), outages }))
    }
    /// Cuts so far.
    pub fn outages(&self) -> &[Outage] {
        &self.outages
    }
    /// The last moment until which the power stays on, as far as it is cut by time.
    pub fn stays_until(&self) -> Instant {
        self.schedule.next_time().unwrap_or(Instant::NEVER)
    }
    /// True while cuts by number of events are to come.
    pub fn counts_events(&self) -> bool {
        self.schedule.next_events().is_some()
    }
    /// Counts an event that the drive has handled.
    pub fn count_event(&mut self) {
        self.events += 1;
    }
    /// The moment at which the drive is ready again, while it is off.
    pub fn up_at(&self) -> Option<Instant> {
        self.up_at
    }
}
