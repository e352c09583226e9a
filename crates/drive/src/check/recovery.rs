//! Contradictions in power cuts and the recovery from them.

use crate::config::DriveConfig;
use crate::experiment::Experiment;
use crate::horizon::LATEST;
use crate::recovery::{MapRecovery, PowerCut, PowerCuts, TrimDurability};
use ftl::Layout;
use settings::{Problems, Time};

/// Refuses power cuts that never happen, and means of recovery that have no effect.
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
        let fault = match without_recovery(experiment) {
            Some((key, what)) => format!("{what} ({key}) does not know of recovery from power cuts yet; leave run.power_cut out, or leave {key} out"),
            None => "the drive keeps nothing to recover by; write [drive.recovery], for example map = \"scan\"".into(),
        };
        problems.push("run.power_cut", fault);
    }
    check_cuts(experiment, cuts, problems);
}

/// The setting beside which a drive cannot have recovery at all, and its name.
fn without_recovery(experiment: &Experiment) -> Option<(&'static str, &'static str)> {
    let (drive, ftl) = (&experiment.drive, &experiment.drive.ftl);
    [
        (experiment.array.is_some(), "array", "an array"),
        (ftl.sets.is_some(), "drive.ftl.sets", "a drive of NVM sets"),
        (ftl.windows.is_some(), "drive.ftl.windows", "a drive with windows"),
        (ftl.superblock.is_some(), "drive.ftl.superblock", "a drive of superblocks"),
        (ftl.parity.is_some(), "drive.ftl.parity", "a drive with parity"),
        (ftl.pressure.is_some(), "drive.ftl.pressure", "a limit of programs"),
        (ftl.has_scrubber(), "drive.ftl.scrub.task", "scrubbing as a task of its own"),
        (drive.nand.errors.is_some(), "drive.nand.errors", "flash with bit errors"),
    ]
    .into_iter()
    .find_map(|(is_given, key, what)| is_given.then_some((key, what)))
}

/// Refuses recoveries and checkpoints whose sums exceed the numbers of the results. Each time by
/// itself is in range.
pub fn check_sums(drive: &DriveConfig, layout: &Layout, problems: &mut Problems) {
    let Some(recovery) = &drive.recovery else { return };
    // Upper bound, as if one unit did all the work: each row is read, with its metadata and as a
    // row of a checkpoint or of saved data, each summary is read, and each block is erased.
    let most = |times: &[Time]| times.iter().map(|time| time.span().as_ns()).max().unwrap_or(0);
    let spare = drive.geometry.page_spare.bytes().max(16);
    let metadata = u128::from(spare) * u128::from(layout.block_planes) + 512;
    let bytes = metadata + u128::from(layout.row_bytes());
    let carried = bytes * 1_000_000_000 / u128::from(drive.nand.channel.bytes_per_second()).max(1);
    let row = 3 * u128::from(most(&drive.nand.read)) + 2 * carried;
    let rows = u128::from(layout.rows_per_block) + 2;
    let block = row * rows + drive.nand.erase.whole_ns();
    if block * u128::from(layout.blocks()) > u128::from(u64::MAX / 4) {
        let fault = "reading and erasing all blocks could take longer than 146 years; make nand.read, nand.erase or the drive smaller";
        problems.push("drive.recovery", fault);
    }
    let MapRecovery::Checkpoint { every, units } = recovery.map else { return };
    let writes = u128::from(u32::MAX);
    let by_time = every.map(|every| u128::from(LATEST.as_ns() / every.span().as_ns().max(1)));
    let count = by_time.or(units.map(|units| writes / u128::from(units.max(1)))).unwrap_or(0);
    let programs = (4 * u128::from(layout.map_units)).div_ceil(layout.row_bytes().into());
    let all = count.min(writes) * programs * u128::from(layout.row_bytes());
    if all > u128::from(u64::MAX) {
        let fault = "so many checkpoints of this map are more than 2^64 bytes in a run of 4.5 years; write fewer";
        problems.push("drive.recovery.map", fault);
    }
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
        problems.push("run.power_cut", "an empty list; leave it out for no power cut, or write \"none\" over one that is given elsewhere");
    }
    for (path, cut) in all {
        let PowerCut { at, after_events, within } = cut;
        let given = [at.is_some(), after_events.is_some(), within.is_some()];
        if given.into_iter().filter(|given| *given).count() != 1 {
            problems.push(format!("run.{path}"), "give exactly one of at, after_events and within; for no power cut write run.power_cut = \"none\"");
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
