//! Contradictions of failures of flash.

use crate::experiment::Experiment;
use crate::failures::FailureConfig;
use ftl::{Layout, RebuildConfig, Stripes};
use nand::Geometry;
use settings::Problems;
use std::collections::BTreeMap;

/// Refuses failures that cannot happen, or that parity cannot make up for.
pub fn check(
    experiment: &Experiment,
    geometry: &Geometry,
    layout: &Layout,
    problems: &mut Problems,
) {
    let (drive, run) = (&experiment.drive, &experiment.run);
    let failures = &run.failures;
    let rebuild = drive.ftl.parity.and_then(|parity| parity.rebuild);
    if failures.is_empty() {
        return;
    }
    let Some(stripes) = &layout.stripes else {
        problems.push(
            "run.failures",
            "data on flash that fails cannot be computed without parity; give drive.ftl.parity",
        );
        return;
    };
    if rebuild.is_none() {
        problems.push("drive.ftl.parity.rebuild", "missing: say what becomes of data on flash that has failed (run.failures); write \"none\", or { policy = \"background\", rate = \"100 MiB/s\" }");
    }
    if let Some(RebuildConfig::Background { at_once: 0, .. }) = rebuild {
        problems.push(
            "drive.ftl.parity.rebuild.at_once",
            "must be at least 1; for no rebuild write \"none\"",
        );
    }
    let beside = [
        (run.untimed, "an untimed run has no time at which flash could fail"),
        (
            drive.ftl.scrub.is_some(),
            "scrubbing (drive.ftl.scrub) cannot be combined with failures of flash yet",
        ),
        (
            drive.ftl.wear.is_some(),
            "wear leveling (drive.ftl.wear) cannot be combined with failures of flash yet",
        ),
        (
            drive.ftl.gc.streaming,
            "streaming (drive.ftl.gc.streaming) cannot be combined with failures of flash yet",
        ),
    ];
    for (_, fault) in beside.iter().filter(|(is_so, _)| *is_so) {
        problems.push("run.failures", *fault);
    }
    check_each(failures, geometry, (layout, stripes), problems);
}

/// Refuses failures of parts that do not exist, or of which parity cannot replace one member.
fn check_each(
    failures: &[FailureConfig],
    geometry: &Geometry,
    (layout, stripes): (&Layout, &Stripes),
    problems: &mut Problems,
) {
    for (index, failure) in failures.iter().enumerate() {
        let path = format!("run.failures[{index}]");
        let pools = match failure.pools(geometry, layout) {
            Ok(pools) => pools,
            Err(fault) => {
                problems.push(path, fault);
                continue;
            }
        };
        let mut of_group = BTreeMap::<u32, u32>::new();
        let groups = pools.iter().map(|pool| stripes.group_of(*pool));
        groups.for_each(|group| *of_group.entry(group).or_default() += 1);
        if let Some((group, members)) = of_group.iter().find(|(_, members)| **members > 1) {
            problems.push(path, format!("{} holds {members} members of each stripe of group {group}, of which parity can replace one; choose an order (drive.ftl.allocation.order) that puts neighbouring pools elsewhere, or let less fail", failure.what()));
        }
    }
}
