//! NVM sets: workloads that name theirs, and what does not know of sets.

use crate::experiment::Experiment;
use ftl::{BackgroundBegins, Blocking, Layout, PartialWrites, SetId};
use nand::Geometry;
use serde_json::{Value, json};
use settings::{Problems, counted};
use std::collections::BTreeSet;

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
    if divides_gangs(&sets.of_planes(geometry), geometry) {
        let gang = counted(geometry.gang_channels, "channel");
        problems.push("drive.ftl.sets", format!("a gang of {gang} (drive.geometry.gang) would lie in several sets; choose fewer parts of the channels"));
    }
    check_beside(experiment, problems);
}

/// True if the channels of a gang differ in their sets.
fn divides_gangs(of_planes: &[SetId], geometry: &Geometry) -> bool {
    let channel = geometry.planes_per_channel() as usize;
    let gangs = of_planes.chunks(channel * geometry.gang_channels as usize);
    gangs.into_iter().any(|gang| gang.chunks(channel).any(|of| of != &gang[..channel]))
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

/// Shares of each NVM set; `None` without sets.
pub fn derived(experiment: &Experiment, layout: &Layout, geometry: &Geometry) -> Option<Value> {
    let (drive, cut) = (&experiment.drive, experiment.drive.ftl.sets.as_ref()?);
    let of_planes = cut.of_planes(geometry);
    let of_set = |set: SetId| {
        let own = (0..geometry.planes()).filter(|plane| of_planes[*plane as usize] == set);
        let in_each =
            |planes: u32| own.clone().map(|plane| plane / planes).collect::<BTreeSet<_>>();
        let exported = u64::from(layout.host_units_of_set(set)) * layout.unit_bytes;
        let physical = u64::from(layout.bin_count_of_set(set))
            * u64::from(layout.blocks_per_bin())
            * u64::from(layout.units_per_block())
            * layout.unit_bytes;
        json!({
            "exported_bytes": exported,
            "physical_bytes": physical,
            "spare_bytes": physical - exported,
            "channels": in_each(geometry.planes_per_channel()).len(),
            "dies": in_each(geometry.planes_per_die).len(),
            "planes": own.clone().count(),
            "pools": layout.pools_of(set).count(),
            "bins": layout.bin_count_of_set(set),
        })
    };
    Some(json!({
        "count": layout.set_count(),
        "each": layout.set_ids().map(of_set).collect::<Vec<_>>(),
        "buffer_bytes": u64::from(drive.buffer.units(layout)) * layout.unit_bytes,
        "endurance_groups": cut.endurance_groups,
        "read_recovery_levels": cut.read_recovery_levels,
    }))
}
