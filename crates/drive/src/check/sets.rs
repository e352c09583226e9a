//! NVM sets: workloads that name theirs, and what does not know of sets.

use crate::experiment::Experiment;
use ftl::{BackgroundBegins, Blocking, Layout, PartialWrites};
use nand::Geometry;
use serde_json::{Value, json};
use settings::{Problems, counted};

/// Refuses workloads that name no set of the drive, and what would join the sets.
pub fn check(
    experiment: &Experiment,
    geometry: &Geometry,
    layout: &Layout,
    problems: &mut Problems,
) {
    let Some(sets) = &experiment.drive.ftl.sets else {
        for (index, workload) in experiment.workload.iter().enumerate() {
            if workload.nvm_set.is_some() {
                problems.push(
                    format!("workload[{index}].nvm_set"),
                    "the drive has no NVM sets; give drive.ftl.sets, or leave this out",
                );
            }
        }
        return;
    };
    let count = layout.set_count();
    for (index, workload) in experiment.workload.iter().enumerate() {
        let path = format!("workload[{index}].nvm_set");
        match workload.nvm_set {
            // The host's plan chooses among sets.
            _ if experiment.array.is_some() => {}
            None => problems.push(
                path,
                format!("the drive has {count} NVM sets (drive.ftl.sets), each with a namespace of its own; choose one from 1 to {count}"),
            ),
            Some(set) if set == 0 || set > count => {
                problems.push(path, format!("{set} is none of the sets 1 to {count}"));
            }
            Some(_) => {}
        }
    }
    if sets.channels > 1
        && !(geometry.channels / sets.channels).is_multiple_of(geometry.gang_channels)
    {
        let gang = counted(geometry.gang_channels, "channel");
        problems.push("drive.ftl.sets.channels", format!("a gang of {gang} (drive.geometry.gang) would lie in several sets; choose fewer parts"));
    }
    check_beside(experiment, problems);
}

/// Refuses what does not know of sets yet.
fn check_beside(experiment: &Experiment, problems: &mut Problems) {
    let drive = &experiment.drive;
    let (ftl, gc) = (&drive.ftl, &drive.ftl.gc);
    for (is_given, key) in [
        (drive.recovery.is_some(), "drive.recovery"),
        (gc.idle_gap.is_some(), "drive.ftl.gc.idle_gap"),
        (gc.at_once.is_some(), "drive.ftl.gc.at_once"),
        (gc.background_begins == BackgroundBegins::QuietChannel, "drive.ftl.gc.background_begins"),
        // A collection that keeps a whole channel, or all, waits in a list of all sets.
        (gc.blocking != Blocking::Plane, "drive.ftl.gc.blocking"),
        (ftl.partial_writes == PartialWrites::Plane, "drive.ftl.partial_writes"),
        (drive.scheduler.rounds.is_some(), "drive.scheduler.rounds"),
        (experiment.run.untimed, "run.untimed"),
    ] {
        if is_given {
            problems.push(
                key,
                "does not know of NVM sets yet; leave it out, or leave drive.ftl.sets out",
            );
        }
    }
}

/// Shares of each NVM set, which are the same for all; `None` without sets.
pub fn derived(experiment: &Experiment, layout: &Layout, geometry: &Geometry) -> Option<Value> {
    let (drive, sets) = (&experiment.drive, layout.sets.as_ref()?);
    let cut = drive.ftl.sets.as_ref()?;
    let exported = u64::from(sets.units()) * layout.unit_bytes;
    let physical = u64::from(layout.physical_units()) / u64::from(sets.count()) * layout.unit_bytes;
    let dies = geometry.dies_per_package * geometry.packages_per_channel;
    Some(json!({
        "count": sets.count(),
        "exported_bytes": exported,
        "physical_bytes": physical,
        "spare_bytes": physical - exported,
        "channels": geometry.channels / cut.channels,
        "dies_per_channel": dies / cut.dies,
        "pools": layout.pool_count() / sets.count(),
        "bins": layout.bins / sets.count(),
        "buffer_bytes": u64::from(drive.buffer.units(layout)) * layout.unit_bytes,
        "endurance_groups": cut.endurance_groups,
        "read_recovery_levels": cut.read_recovery_levels,
    }))
}
