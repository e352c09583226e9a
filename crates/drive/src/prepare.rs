//! The drive at the beginning of an experiment: new, preconditioned, or started from a snapshot.

use crate::check::shortage;
use crate::clones;
use crate::device::Device;
use crate::error::RunError;
use crate::experiment::{Experiment, Fill};
use crate::history::History;
use crate::precondition::{Preconditioned, precondition};
use crate::snapshot::{Snapshot, unfit};
use engine::Streams;
use ftl::Pacing;
use serde_json::{Value, json};

/// A drive that is ready, and its history.
pub struct Prepared {
    /// The drive, at the beginning of time.
    pub device: Device,
    /// Its history.
    pub history: History,
}

impl Prepared {
    /// Makes the drive of an experiment: from `snapshot` if there is one, instead of the
    /// experiment's preconditioning; else as the experiment says. `ongoing` gets the progress and
    /// stops the work by returning false, in which case `None` is returned.
    ///
    /// # Errors
    /// If the drive has no space, or the snapshot cannot be used: its drive has another
    /// layout, or too few good blocks for the thresholds of the experiment.
    pub fn new(
        experiment: &Experiment,
        snapshot: Option<&Snapshot>,
        ongoing: &mut dyn FnMut(f64) -> bool,
    ) -> Result<Option<Self>, RunError> {
        Self::with_map(Map::OfOne, experiment, snapshot, ongoing)
    }

    /// As [`Prepared::new`], a drive that is likely to be cloned.
    ///
    /// # Errors
    /// As there.
    pub fn for_clones(
        experiment: &Experiment,
        snapshot: Option<&Snapshot>,
        ongoing: &mut dyn FnMut(f64) -> bool,
    ) -> Result<Option<Self>, RunError> {
        Self::with_map(Map::OfClones, experiment, snapshot, ongoing)
    }

    fn with_map(
        map: Map,
        experiment: &Experiment,
        snapshot: Option<&Snapshot>,
        ongoing: &mut dyn FnMut(f64) -> bool,
    ) -> Result<Option<Self>, RunError> {
        let prepared = Self::unaudited(map, experiment, snapshot, ongoing)?;
        Ok(prepared.map(|prepared| prepared.audited(experiment.run.audit)))
    }

    fn unaudited(
        map: Map,
        experiment: &Experiment,
        snapshot: Option<&Snapshot>,
        ongoing: &mut dyn FnMut(f64) -> bool,
    ) -> Result<Option<Self>, RunError> {
        let named = &experiment.precondition.snapshot;
        let prepared = match (snapshot, named) {
            (Some(snapshot), _) => Self::from_given(snapshot, experiment, ongoing)?,
            (None, Some(file)) => match Snapshot::read(file, ongoing)? {
                Some(snapshot) => Self::from_given(&snapshot, experiment, ongoing)?,
                None => None,
            },
            (None, None) if experiment.cloned.is_some() => {
                match Snapshot::take(experiment, ongoing)? {
                    Some(kept) => Self::from_preparation(&kept, experiment, ongoing)?,
                    None => None,
                }
            }
            (None, None) => match preconditioned(map, experiment, ongoing)? {
                Some((mut device, preconditioned)) => {
                    device.firmware_changed();
                    Some(Self { device, history: History { preconditioned, snapshot: None } })
                }
                None => None,
            },
        };
        let Some(prepared) = prepared else { return Ok(None) };
        match prepared.device.policy_fault() {
            Some(fault) => Err(RunError::Policy(fault)),
            None => Ok(Some(prepared)),
        }
    }

    /// Makes the drive of an experiment from `kept`: an experiment whose [`preparation`] is the
    /// same has filled and aged that drive. The drive and its history equal, to the last bit, those
    /// that [`Prepared::new`] makes by filling and ageing.
    ///
    /// # Errors
    /// If the snapshot cannot be used.
    pub fn done_before(experiment: &Experiment, kept: &Snapshot) -> Result<Self, RunError> {
        let prepared = Self::from_preparation(kept, experiment, &mut |_| true)?;
        Ok(prepared.expect("nobody ends it").audited(experiment.run.audit))
    }

    /// Starts the drive from a snapshot that the user gives, which may have too few good blocks, or no
    /// data.
    fn from_given(
        snapshot: &Snapshot,
        experiment: &Experiment,
        ongoing: &mut dyn FnMut(f64) -> bool,
    ) -> Result<Option<Self>, RunError> {
        if let Some(fault) = clones::unfilled(experiment, snapshot) {
            return Err(RunError::Unfit(vec![fault]));
        }
        let prepared = Self::from_snapshot(snapshot, experiment, ongoing)?;
        if let Some(prepared) = &prepared
            && let Some(shortage) = shortage(experiment, prepared.device.ftl())
        {
            return Err(RunError::Unfit(vec![shortage]));
        }
        Ok(prepared)
    }

    /// Starts the drive from its own preparation.
    fn from_preparation(
        kept: &Snapshot,
        experiment: &Experiment,
        ongoing: &mut dyn FnMut(f64) -> bool,
    ) -> Result<Option<Self>, RunError> {
        let prepared = Self::from_snapshot(kept, experiment, ongoing)?;
        let own = |Self { device, history }| Self {
            device,
            history: History { snapshot: None, ..history },
        };
        Ok(prepared.map(own))
    }

    fn from_snapshot(
        snapshot: &Snapshot,
        experiment: &Experiment,
        ongoing: &mut dyn FnMut(f64) -> bool,
    ) -> Result<Option<Self>, RunError> {
        let origin = &snapshot.origin;
        let faults = unfit(origin, &experiment.drive);
        if !faults.is_empty() {
            return Err(RunError::Unfit(faults));
        }
        let (device, preconditioned) = match experiment.cloned {
            None => {
                let device = snapshot.device(&experiment.drive, experiment.seed)?;
                (device, origin.preconditioned.clone())
            }
            Some(clone) => match clones::begin(experiment, clone, snapshot, ongoing)? {
                Some(begun) => begun,
                None => return Ok(None),
            },
        };
        let history = History { preconditioned, snapshot: Some(origin.clone()) };
        Ok(Some(Self { device, history }))
    }

    fn audited(mut self, audit: bool) -> Self {
        if audit {
            self.device.audit();
        }
        self
    }
}

impl Snapshot {
    /// Makes the drive of an experiment as [`Prepared::new`] does, and keeps a snapshot of it. Of a
    /// clone that is the drive before it is cloned: a run from the snapshot clones it.
    ///
    /// # Errors
    /// As there.
    pub fn take(
        experiment: &Experiment,
        ongoing: &mut dyn FnMut(f64) -> bool,
    ) -> Result<Option<Self>, RunError> {
        let before = Experiment { cloned: None, ..experiment.clone() };
        let prepared = Prepared::unaudited(Map::OfClones, &before, None, ongoing)?;
        let Some(Prepared { device, history }) = prepared else { return Ok(None) };
        let Experiment { drive, title, seed, .. } = before;
        let taken = Self::of(device, &drive, title.as_deref(), seed, &history);
        taken.map(Some).map_err(RunError::Restless)
    }
}

/// The use that the memory of a drive's map is optimised for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Map {
    /// Fast lookups; a clone is a copy.
    OfOne,
    /// Clones that take no time and share the unchanged parts of the map.
    OfClones,
}

/// A drive whose firmware was filled and aged; the device itself has not reacted to that yet.
fn preconditioned(
    map: Map,
    experiment: &Experiment,
    ongoing: &mut dyn FnMut(f64) -> bool,
) -> Result<Option<(Device, Preconditioned)>, RunError> {
    let streams = Streams::new(experiment.seed);
    let mut device = Device::new(&experiment.drive, experiment.seed);
    let choice = experiment.drive.ftl.allocation.choice;
    if map == Map::OfClones {
        device.ftl_mut().make_map_to_share();
    }
    let done = precondition(device.ftl_mut(), &experiment.precondition, choice, streams, ongoing)?;
    if map == Map::OfClones {
        device.ftl_mut().share_map();
    }
    Ok(done.map(|done| (device, done)))
}

/// Parts of a drive that do not act while it is filled and aged, which takes no time.
const ASLEEP: [&str; 6] = ["preset", "concurrency", "scheduler", "buffer", "link", "firmware"];
/// Keys of collection that do not act in that time: they decide when it works, and not which
/// victims it chooses or how many.
const ASLEEP_OF_GC: [&str; 9] = [
    "idle_gap",
    "preemptible",
    "reserve_until",
    "background_begins",
    "blocking",
    "at_once",
    "copy_back",
    "streaming",
    "window",
];

/// All settings that filling and ageing depend on: experiments with equal values fill and age their
/// drives alike, to the last bit. `None` if an experiment does neither.
pub fn preparation(experiment: &Experiment) -> Option<Value> {
    let Experiment { seed, drive, precondition, .. } = experiment;
    // Each drive of an array is prepared by itself.
    let is_apart = experiment.array.is_some();
    if is_apart || precondition.snapshot.is_some() || precondition.fill == Fill::Empty {
        return None;
    }
    // A key that is not known to have no effect is taken to matter.
    let mut awake = json!(drive);
    ASLEEP.iter().for_each(|part| forget(&mut awake, part));
    forget(&mut awake["ftl"], "read_recovery");
    forget(&mut awake["ftl"], "read_recovery_levels");
    forget(&mut awake["ftl"], "tasks");
    forget(&mut awake["ftl"], "pressure");
    if let Some(sets) = &drive.ftl.sets {
        awake["ftl"]["sets"] = json!((sets.channels, sets.dies, &sets.parts));
    }
    ASLEEP_OF_GC.iter().for_each(|key| forget(&mut awake["ftl"]["gc"], key));
    if drive.ftl.gc.pacing != Pacing::HostRate {
        forget(&mut awake["ftl"]["gc"], "pacing");
    }
    awake["nand"] = json!({ "endurance": drive.nand.endurance });
    Some(json!({ "seed": seed, "drive": awake, "precondition": precondition }))
}

fn forget(table: &mut Value, key: &str) {
    table.as_object_mut().expect("a table").remove(key);
}
