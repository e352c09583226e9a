//! The power of a run's drive: when it is cut, and when the drive is there again.

use crate::experiment::Experiment;
use crate::recovery::{Outage, Schedule};
use engine::{Instant, Streams};

/// The power of a run's drive.
pub struct Power {
    pub(super) schedule: Schedule,
    /// When the drive is there again, while it is off.
    pub(super) up_at: Option<Instant>,
    /// Events that the drive has handled, where cuts are numbered by them.
    pub(super) events: u64,
    /// Initiators whose requests were lost, once for each, while the drive is off.
    pub(super) lost: Vec<u32>,
    pub(super) outages: Vec<Outage>,
}

impl Power {
    /// Of an experiment in which the power is cut.
    pub fn new(experiment: &Experiment, streams: Streams) -> Option<Box<Self>> {
        let schedule = Schedule::new(Some(experiment.run.power_cut.as_ref()?), streams);
        let outages = Vec::new();
        Some(Box::new(Self { schedule, up_at: None, events: 0, lost: Vec::new(), outages }))
    }
    /// Cuts so far.
    pub fn outages(&self) -> &[Outage] {
        &self.outages
    }
    /// The last moment before which the power stays on, as far as it is cut by time.
    pub fn stays_until(&self) -> Instant {
        self.schedule.next_time().unwrap_or(Instant::NEVER)
    }
    /// True while cuts by number of events are to come.
    pub fn counts_events(&self) -> bool {
        self.schedule.next_events().is_some()
    }
    /// The drive has handled an event.
    pub fn count_event(&mut self) {
        self.events += 1;
    }
    /// When the drive is there again, while it is off.
    pub fn up_at(&self) -> Option<Instant> {
        self.up_at
    }
}
