//! Power cuts and the recovery from them: what cannot be.

use crate::experiment::Experiment;
use crate::recovery::{MapRecovery, PowerCut, PowerCuts, TrimDurability};
use settings::Problems;

/// Refuses power cuts that do not come, and means of recovery that mean nothing.
pub fn check(experiment: &Experiment, problems: &mut Problems) {
    if let Some(recovery) = &experiment.drive.recovery {
        let is_in_memory = recovery.map == MapRecovery::Persistent {};
        if is_in_memory && recovery.trims == TrimDurability::Volatile {
            let fault = "a map in memory that keeps it (map \"persistent\") keeps trims, too; leave trims out";
            problems.push("drive.recovery.trims", fault);
        }
        check_checkpoints(recovery.map, problems);
    }
    let Some(cuts) = &experiment.run.power_cut else { return };
    if experiment.drive.recovery.is_none() {
        let fault = "the drive keeps nothing to recover by; write [drive.recovery], for example map = \"scan\"";
        problems.push("run.power_cut", fault);
    }
    check_cuts(experiment, cuts, problems);
}

fn check_checkpoints(map: MapRecovery, problems: &mut Problems) {
    let MapRecovery::Checkpoint { every, units } = map else { return };
    let path = "drive.recovery.map";
    if every.is_some() == units.is_some() {
        problems.push(path, "give exactly one of every and units: when checkpoints are written");
    }
    if every.is_some_and(|every| every.span().is_zero()) {
        problems.push("drive.recovery.map.every", "must be more than 0");
    }
}

fn check_cuts(experiment: &Experiment, cuts: &PowerCuts, problems: &mut Problems) {
    let all = cuts.all();
    if all.is_empty() {
        problems.push("run.power_cut", "an empty list; leave it out for no power cut");
    }
    for (path, cut) in all {
        let PowerCut { at, after_events, within } = cut;
        let given = [at.is_some(), after_events.is_some(), within.is_some()];
        if given.into_iter().filter(|given| *given).count() != 1 {
            problems.push(format!("run.{path}"), "give exactly one of at, after_events and within");
        }
        if within.is_some_and(|within| within.span().is_zero()) {
            problems.push(format!("run.{path}.within"), "must be more than 0");
        }
        let Some(end) = experiment.run.time else { continue };
        if let Some(at) = at.filter(|at| at.span() >= end.span()) {
            let fault = format!("the run ends before ({end}): the power would not be cut at {at}");
            problems.push(format!("run.{path}.at"), fault);
        }
        if let Some(within) = within.filter(|within| within.span() > end.span()) {
            let fault =
                format!("the run may end before ({end}); write no more than that, not {within}");
            problems.push(format!("run.{path}.within"), fault);
        }
    }
}
