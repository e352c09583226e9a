//! The drive as an experiment finds it at its beginning: new, preconditioned, or taken
//! from a snapshot.

use crate::device::Device;
use crate::experiment::Experiment;
use crate::precondition::{Preconditioned, precondition};
use crate::run::RunError;
use crate::snapshot::{Origin, Snapshot, unfit};
use engine::Streams;

/// A drive that is ready, and how it became what it is.
pub struct Prepared {
    /// The drive, at the beginning of time.
    pub device: Device,
    /// Its history.
    pub history: History,
}

/// What was done to a drive before.
#[derive(Clone, Debug, Default)]
pub struct History {
    /// What preconditioned it.
    pub preconditioned: Preconditioned,
    /// The snapshot that it was started from, if it was.
    pub snapshot: Option<Origin>,
}

impl Prepared {
    /// Makes the drive of an experiment: from `snapshot`, in the place of what the
    /// experiment says of preconditioning; else as it says. `ongoing` is told about
    /// progress and ends it by returning false, in which case `None` is returned.
    ///
    /// # Errors
    /// Where the drive has no space, or the snapshot cannot be used.
    pub fn new(
        experiment: &Experiment,
        snapshot: Option<&Snapshot>,
        ongoing: &mut dyn FnMut(f64) -> bool,
    ) -> Result<Option<Self>, RunError> {
        let prepared = match (snapshot, &experiment.precondition.snapshot) {
            (Some(snapshot), _) => Self::from_snapshot(snapshot, experiment)?,
            (None, Some(file)) => match Snapshot::read(file, ongoing)? {
                Some(snapshot) => Self::from_snapshot(&snapshot, experiment)?,
                None => return Ok(None),
            },
            (None, None) => match preconditioned(experiment, ongoing)? {
                Some((mut device, preconditioned)) => {
                    device.firmware_changed();
                    Self { device, history: History { preconditioned, snapshot: None } }
                }
                None => return Ok(None),
            },
        };
        if let Some(fault) = prepared.device.ftl().policy_fault() {
            return Err(RunError::Policy(fault));
        }
        Ok(Some(prepared.audited(experiment.run.audit)))
    }

    fn from_snapshot(snapshot: &Snapshot, experiment: &Experiment) -> Result<Self, RunError> {
        let faults = unfit(&snapshot.origin, &experiment.drive);
        if !faults.is_empty() {
            return Err(RunError::Unfit(faults));
        }
        let origin = snapshot.origin.clone();
        let history = History { preconditioned: origin.preconditioned, snapshot: Some(origin) };
        Ok(Self { device: snapshot.device(&experiment.drive)?, history })
    }

    fn audited(mut self, audit: bool) -> Self {
        if audit {
            self.device.audit();
        }
        self
    }
}

impl Snapshot {
    /// Fills and ages the drive of an experiment and keeps it. `ongoing` as in
    /// [`Prepared::new`].
    ///
    /// # Errors
    /// Where the drive has no space.
    pub fn take(
        experiment: &Experiment,
        ongoing: &mut dyn FnMut(f64) -> bool,
    ) -> Result<Option<Self>, RunError> {
        let Experiment { drive, title, seed, .. } = experiment;
        let Some((device, done)) = preconditioned(experiment, ongoing)? else { return Ok(None) };
        if let Some(fault) = device.ftl().policy_fault() {
            return Err(RunError::Policy(fault));
        }
        let taken = Self::of(device, drive, title.as_deref(), *seed, done);
        taken.map(Some).map_err(RunError::Restless)
    }
}

/// A drive that was filled and aged, and does not yet act on it.
fn preconditioned(
    experiment: &Experiment,
    ongoing: &mut dyn FnMut(f64) -> bool,
) -> Result<Option<(Device, Preconditioned)>, RunError> {
    let streams = Streams::new(experiment.seed);
    let mut device = Device::new(&experiment.drive, experiment.seed);
    let choice = experiment.drive.ftl.allocation.choice;
    let done = precondition(device.ftl_mut(), &experiment.precondition, choice, streams, ongoing)?;
    Ok(done.map(|done| (device, done)))
}
