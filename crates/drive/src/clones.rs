//! Clones: drives that begin as one prepared drive, and then differ by chance.
//!
//! The drive is filled and aged as the experiment says, with the streams of its seed. Each clone
//! takes up that state, bad blocks included, and has a seed of its own from then on: for its
//! firmware, its bit errors, its workloads and its power cuts. A further amount of ageing, drawn
//! for each clone, takes their collections out of step.

use crate::device::Device;
use crate::error::RunError;
use crate::experiment::{AgeConfig, CloneConfig, Experiment};
use crate::precondition::{Preconditioned, overwrite};
use crate::snapshot::Snapshot;
use engine::Streams;
use host::config::AddressConfig;

/// Makes the clone that an experiment names from the prepared drive. `ongoing` gets the share of
/// the ageing that is done and ends it by returning false, in which case `None` is returned.
///
/// # Errors
/// If the drive has no space.
pub(crate) fn begin(
    experiment: &Experiment,
    clone: CloneConfig,
    kept: &Snapshot,
    ongoing: &mut dyn FnMut(f64) -> bool,
) -> Result<Option<(Device, Preconditioned)>, RunError> {
    let streams = Streams::new(experiment.run_seed());
    let mut device = kept.device_before(&experiment.drive, experiment.run_seed())?;
    device.ftl_mut().begin_streams(streams);
    let mut preconditioned = kept.origin.preconditioned.clone();
    // A very small share of a very small drive is no unit.
    let filled = preconditioned.of_sets(device.ftl().layout.set_count());
    if let Some(bounds) = clone.overwrites
        && filled.iter().any(|units| *units > 0)
    {
        let share = streams.stream("clone.overwrites").unit();
        let age = AgeConfig {
            addresses: addresses(experiment),
            overwrites: bounds.from + (bounds.to - bounds.from) * share,
            until_steady: false,
        };
        let choice = experiment.drive.ftl.allocation.choice;
        let done = overwrite(device.ftl_mut(), (&age, &filled), choice, streams, ongoing)?;
        let Some(done) = done else { return Ok(None) };
        preconditioned.aged += done.aged;
        preconditioned.tally = preconditioned.tally.plus(&done.tally);
    }
    device.firmware_changed();
    Ok(Some((device, preconditioned)))
}

/// The pattern of ageing, which that of the clones continues.
fn addresses(experiment: &Experiment) -> AddressConfig {
    let age = experiment.precondition.age.as_ref();
    age.map_or(AddressConfig::Uniform {}, |age| age.addresses.clone())
}

/// The fault of a snapshot whose drive was never filled, if a clone of it is to be aged.
pub(crate) fn unfilled(
    experiment: &Experiment,
    given: &Snapshot,
) -> Option<(&'static str, String)> {
    let ages = experiment.cloned.is_some_and(|clone| clone.overwrites.is_some());
    let fault = "the drive of the snapshot was not filled; leave overwrites out, or take a snapshot of a drive that was";
    (ages && given.origin.preconditioned.filled == 0).then(|| ("clone.overwrites", fault.into()))
}
