//! A run of one drive or of several, for callers that treat both alike.

use crate::array::{ArrayRun, Drives};
use crate::check::Checked;
use crate::error::RunError;
use crate::experiment::Experiment;
use crate::measure::Measured;
use crate::prepare::Prepared;
use crate::requests::RequestLog;
use crate::results::{self, Outcome, Table};
use crate::run::{Progress, Run};
use crate::snapshot::Snapshot;
use engine::Span;
use serde_json::Value;
use traces::Survey;

/// A run in progress.
pub enum AnyRun {
    /// Of one drive.
    One(Box<Run>),
    /// Of several drives, with a plan of the host.
    Array(Box<ArrayRun>),
}

/// The drive, or the drives, with which a run begins.
pub enum Ready {
    /// One drive.
    One(Box<Prepared>),
    /// Several.
    Array(Drives),
}

impl Ready {
    /// Makes the drive or the drives of an experiment; see [`Prepared::new`].
    ///
    /// # Errors
    /// As there.
    ///
    /// # Panics
    /// If an array is to begin with a snapshot.
    pub fn new(
        experiment: &Experiment,
        snapshot: Option<&Snapshot>,
        ongoing: &mut dyn FnMut(f64) -> bool,
    ) -> Result<Option<Self>, RunError> {
        match &experiment.array {
            None => {
                let prepared = Prepared::new(experiment, snapshot, ongoing)?;
                Ok(prepared.map(|prepared| Self::One(Box::new(prepared))))
            }
            Some(array) => {
                assert!(snapshot.is_none(), "the drives of an array do not begin with a snapshot");
                Ok(Drives::prepare(experiment, array, ongoing)?.map(Self::Array))
            }
        }
    }
}

impl AnyRun {
    /// Readies the initiators of an experiment.
    ///
    /// # Errors
    /// If a trace is at fault.
    pub fn start(
        experiment: &Experiment,
        surveys: &[Option<Survey>],
        ready: Ready,
    ) -> Result<Self, RunError> {
        Ok(match ready {
            Ready::One(drive) => Self::One(Box::new(Run::start(experiment, surveys, *drive)?)),
            Ready::Array(drives) => {
                Self::Array(Box::new(ArrayRun::start(experiment, surveys, drives)?))
            }
        })
    }
    /// Advances by about this many events; returns true if there is more to do.
    ///
    /// # Errors
    /// See [`Run::advance`].
    pub fn advance(&mut self, events: u64) -> Result<bool, RunError> {
        match self {
            Self::One(run) => run.advance(events),
            Self::Array(run) => run.advance(events),
        }
    }
    /// The state of the run.
    pub fn progress(&self) -> Progress {
        match self {
            Self::One(run) => run.progress(),
            Self::Array(run) => run.progress(),
        }
    }
    /// Simulated time since the beginning.
    pub fn elapsed(&self) -> Span {
        match self {
            Self::One(run) => run.elapsed(),
            Self::Array(run) => run.elapsed(),
        }
    }
    /// Requests issued so far.
    pub fn issued(&self) -> u64 {
        match self {
            Self::One(run) => run.issued(),
            Self::Array(run) => run.issued(),
        }
    }
    /// The measurements so far.
    pub fn measured(&self) -> &Measured {
        match self {
            Self::One(run) => run.measured(),
            Self::Array(run) => run.measured(),
        }
    }
    /// Logs counted requests from now on; must be called before the run advances for the first time.
    pub fn log_requests(&mut self) {
        match self {
            Self::One(run) => run.log_requests(),
            Self::Array(run) => run.log_requests(),
        }
    }
    /// The log of the requests that were counted since it was last emptied, if the run keeps one.
    pub fn request_log(&mut self) -> Option<&mut RequestLog> {
        match self {
            Self::One(run) => run.request_log(),
            Self::Array(run) => run.request_log(),
        }
    }
    /// The contents of `summary.json`. Ends measuring.
    pub fn summary(
        &mut self,
        experiment: &Experiment,
        checked: &Checked,
        surveys: &[Option<Survey>],
        outcome: Outcome,
    ) -> Value {
        match self {
            Self::One(run) => results::summary(run, experiment, checked, surveys, outcome),
            Self::Array(run) => results::array::summary(run, experiment, checked, surveys, outcome),
        }
    }
    /// The tables of a run whose measuring has ended.
    pub fn tables(&self) -> Vec<Table> {
        match self {
            Self::One(run) => results::tables(run),
            Self::Array(run) => results::array::tables_of(run),
        }
    }
    /// Shuts the drive down and keeps a snapshot of it.
    ///
    /// # Errors
    /// If requests are under way, or the drive cannot come to rest, or there are several drives.
    pub fn into_snapshot(self, experiment: &Experiment) -> Result<Snapshot, RunError> {
        match self {
            Self::One(run) => run.into_snapshot(experiment),
            Self::Array(_) => Err(RunError::Restless(
                "a snapshot holds one drive, and the run has an array; leave --save-drive \
                 (save_drive) out, or array"
                    .into(),
            )),
        }
    }
}
