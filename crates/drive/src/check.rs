//! Contradictions between settings, all reported at once, each with the figure that would resolve
//! it; and the figures that follow from settings without contradictions.

mod array;
mod beside;
mod buffer;
mod clones;
mod collection;
mod derived;
mod detours;
mod durations;
mod errors;
mod failures;
mod faults;
mod flash;
mod levels;
mod memory;
mod notes;
mod parity;
mod partial;
mod pressure;
mod recovery;
mod rounds;
mod scaled;
mod scrub;
mod sets;
mod space;
mod streaming;
mod superblocks;
mod suspension;
mod tasks;
pub mod untimed;
mod wear;
mod windows;
mod workloads;

pub(crate) use faults::note_to_come as note_on_faults;
pub use memory::{Memory, PLACES_MOST, WAITING_BYTES, available, first_draws, memory};
pub use space::{Found, Start, exact_footprint, shortage};
pub(crate) use windows::nobody_asks;
pub use windows::notes_on_traces;
pub use workloads::is_bounded;

use crate::config::DriveConfig;
use crate::experiment::{Experiment, Fill, PreconditionConfig, Shares};
use ftl::{Layout, PoolLevel};
use host::{Kind, Priority, WorkloadConfig};
use nand::{Geometry, Timing};
use settings::{Problems, counted};
use workloads::host_kinds;

/// Figures that follow from a configuration without contradictions.
#[derive(Clone, Debug)]
pub struct Checked {
    /// The shape of the drive.
    pub layout: Layout,
    /// Its flash.
    pub geometry: Geometry,
    /// Durations of flash commands.
    pub timing: Timing,
    /// Free blocks, as each bin's thresholds count them: foreground, background, stop.
    pub thresholds: [u32; 3],
    /// Spare that collection can use, as a share of the data.
    pub spare_for_collection: f64,
    /// Bytes of memory that a run takes.
    pub memory: Memory,
    /// Notes on settings that are allowed but often not intended.
    pub notes: Vec<String>,
}

/// Checks an experiment whose values are each in range.
///
/// # Errors
/// Every contradiction, with its path.
pub fn check(experiment: &Experiment) -> Result<Checked, Problems> {
    let names_snapshot = experiment.precondition.snapshot.is_some();
    check_from(experiment, if names_snapshot { Start::Unknown } else { Start::New })
}

/// As [`check`], for a drive that begins as `start` says instead of as the experiment says.
///
/// # Errors
/// Every contradiction, with its path.
pub fn check_from(experiment: &Experiment, start: Start<'_>) -> Result<Checked, Problems> {
    check_all(experiment, start, true)
}

/// As [`check`], without the check of memory: the experiment's drive may be larger than the one
/// that is intended.
///
/// # Errors
/// Every other contradiction, with its path.
pub(crate) fn check_but_memory(experiment: &Experiment) -> Result<Checked, Problems> {
    check_all(experiment, Start::Unknown, false)
}

fn check_all(
    experiment: &Experiment,
    start: Start<'_>,
    asks_for_memory: bool,
) -> Result<Checked, Problems> {
    let mut problems = Problems::new("");
    let drive = &experiment.drive;
    let geometry = Geometry::from(&drive.geometry);
    let layout = flash::check(drive, &geometry, &mut problems);
    buffer::check(drive, layout.as_ref(), &mut problems);
    check_without_effect(experiment, &mut problems);
    parity::check(experiment, &mut problems);
    errors::check(experiment, &geometry, &mut problems);
    check_record(experiment, &mut problems);
    recovery::check(experiment, &mut problems);
    let times_are_sound = durations::check(experiment, &mut problems);
    let Some(layout) = layout else { return Err(problems) };
    failures::check(experiment, &geometry, &layout, &mut problems);
    superblocks::check_with(experiment, &layout, &mut problems);
    collection::check_gain(&drive.ftl.gc, &layout, &mut problems);
    collection::check_turns(drive, &layout, &mut problems);
    collection::check_copies(drive, &layout, &mut problems);
    detours::check(drive, &geometry, &layout, &mut problems);
    array::check(experiment, &layout, &mut problems);
    sets::check(experiment, &geometry, &layout, &mut problems);
    suspension::check_backlog(drive, &layout, &mut problems);
    if let Some(parts) = &experiment.precondition.parts {
        parts.check(&layout, &mut problems);
    }
    workloads::check(experiment, &layout, &mut problems);
    levels::check(experiment, &mut problems);
    windows::check(experiment, &layout, &mut problems);
    if times_are_sound {
        durations::check_rates(experiment, &layout, &geometry, &mut problems);
        recovery::check_sums(&experiment.drive, &layout, &mut problems);
    }
    let memory = memory(experiment, &layout, &geometry);
    if asks_for_memory {
        check_memory(&memory, drive, &layout, &mut problems);
    }
    let space = space::check(experiment, &layout, start, &mut problems);
    if !problems.is_empty() {
        return Err(problems);
    }
    let timing = Timing::new(&drive.nand, &geometry);
    windows::check_collection(experiment, &layout, (&geometry, &timing), &mut problems);
    if !problems.is_empty() {
        return Err(problems);
    }
    let checked = Checked {
        notes: notes::notes(experiment, &layout, (&geometry, &timing), start),
        timing,
        layout,
        geometry,
        thresholds: space.thresholds,
        spare_for_collection: space.spare_for_collection,
        memory,
    };
    Ok(checked)
}

/// Refuses a drive that needs more memory than there is. A buffer that is too large for the drive is
/// refused elsewhere.
fn check_memory(memory: &Memory, drive: &DriveConfig, layout: &Layout, problems: &mut Problems) {
    if let Some((path, fault)) = memory.fault()
        && !(path == "drive.buffer.size" && buffer::is_too_large(drive, layout))
    {
        problems.push(path, fault);
    }
}

/// Refuses settings that have no effect beside another.
fn check_without_effect(experiment: &Experiment, problems: &mut Problems) {
    let drive = &experiment.drive;
    let allocation = &drive.ftl.allocation;
    if allocation.pool == PoolLevel::Drive && allocation.stripe.is_some() {
        problems.push(
            "drive.ftl.allocation.stripe",
            "one pool for the whole drive (pool \"drive\") has nothing to stripe over; leave it out, or choose smaller pools",
        );
    }
    let link = drive.host_link();
    if link.rate.is_none() && link.duplex.is_some() {
        problems.push(
            "drive.link.duplex",
            "a link without a rate takes no time in either direction; give drive.link.rate, or leave duplex out",
        );
    }
    if !drive.scheduler.channel.order().bounded && drive.nand.command_cycles.is_none() {
        problems.push(
            "drive.scheduler.channel.strict",
            "reads begin without their channel, so that their data could keep programs from it for ever; give drive.nand.command_cycles, or leave strict out",
        );
    }
    suspension::check(drive, problems);
    untimed::check(experiment, problems);
    scrub::check(drive, problems);
    tasks::check(experiment, problems);
    pressure::check(experiment, problems);
    if drive.scheduler.bypass.keeps_order() || drive.scheduler.rounds.is_some() {
        // Writes keep their rank at a full buffer.
        let writes = |workload: &WorkloadConfig| {
            let kinds = host_kinds(workload);
            kinds[Kind::Write.index()] || kinds[Kind::WriteZeroes.index()]
        };
        let ranked = |workload: &WorkloadConfig| workload.priority != Priority::Normal;
        if let Some(index) = experiment.workload.iter().position(ranked)
            && !experiment.workload.iter().any(writes)
        {
            problems.push(
                format!("workload[{index}].priority"),
                "reads are served in the order in which they come (scheduler.bypass \"none\"), whatever their priority, and nothing is written; leave it out, or choose bypass \"batch\" or \"drain\"",
            );
        }
    }
}

fn check_record(experiment: &Experiment, problems: &mut Problems) {
    if experiment.record.interval.span().is_zero() {
        problems.push("record.interval", "an interval takes time");
    }
    if let (Some(warm_up), Some(time)) =
        (experiment.run.warm_up.as_ref().and_then(|warm_up| warm_up.time), experiment.run.time)
        && warm_up >= time
    {
        problems.push(
            "run.warm_up.time",
            format!("the warm-up ({warm_up}) is not shorter than the run ({time})"),
        );
    }
    let run = &experiment.run;
    let nothing = "must be more than 0; leave it out for no limit";
    let limit = run.starvation.map(|starvation| starvation.limit);
    for (is_nothing, path) in [
        (limit.is_some_and(|limit| limit.span().is_zero()), "run.starvation.limit"),
        (run.time.is_some_and(|time| time.span().is_zero()), "run.time"),
        (run.requests == Some(0), "run.requests"),
        (run.bytes.is_some_and(|size| size.bytes() == 0), "run.bytes"),
    ] {
        if is_nothing {
            problems.push(path, nothing);
        }
    }
    if let (Some(warm_up), Some(requests)) =
        (run.warm_up.as_ref().and_then(|warm_up| warm_up.requests), run.requests)
        && requests > 0
        && warm_up >= requests
    {
        problems.push(
            "run.warm_up.requests",
            format!("the warm-up ({}) is not shorter than the run ({requests}): nothing would be counted", counted(warm_up, "request")),
        );
    }
    let sets = experiment.drive.ftl.sets.as_ref().map_or(1, |sets| sets.count());
    check_precondition(&experiment.precondition, sets, problems);
    clones::check(experiment, problems);
}

fn check_precondition(preconditioning: &PreconditionConfig, sets: u32, problems: &mut Problems) {
    let fills = preconditioning.fill != Fill::Empty;
    let depend_on_fill = [
        ("age", preconditioning.age.is_some()),
        ("share", preconditioning.share.is_some()),
        ("parts", preconditioning.parts.is_some()),
        ("stale", preconditioning.stale.is_some()),
        ("in_step", preconditioning.in_step),
    ];
    let mut given = depend_on_fill.into_iter().filter(|(_, is_given)| *is_given);
    if preconditioning.snapshot.is_some() {
        if fills || given.next().is_some() {
            problems.push("precondition.snapshot", "the drive of a snapshot is filled and aged already; leave fill, share, parts, stale, age and in_step out, or the snapshot");
        }
        return;
    }
    let shares = preconditioning.share.as_ref().map_or(Vec::new(), Shares::all);
    if fills && !shares.is_empty() && shares.iter().all(|(_, share)| share.fraction() == 0.0) {
        problems
            .push("precondition.share", "fills nothing; leave fill and age out for an empty drive");
    }
    if let Some(Shares::Each(shares)) = &preconditioning.share
        && shares.len() != sets as usize
    {
        let [shares, sets] =
            [(shares.len() as u32, "share"), (sets, "NVM set")].map(|(n, of)| counted(n, of));
        problems.push(
            "precondition.share",
            format!("{shares} for {sets} (drive.ftl.sets); give one for each, or one for all"),
        );
    }
    if !fills {
        for (key, _) in given {
            problems.push(format!("precondition.{key}"), "an empty drive has no data for this; set precondition.fill = \"sequential\" or \"random\"");
        }
    }
    for (path, share) in shares {
        if share.fraction() > 1.0 {
            problems.push(format!("precondition.{path}"), "more than the whole drive");
        }
    }
    if let Some(stale) = preconditioning.stale {
        for (key, share) in [("share", stale.share), ("of_block", stale.of_block)] {
            if !(share.fraction() > 0.0 && share.fraction() < 1.0) {
                problems.push(
                    format!("precondition.stale.{key}"),
                    "must be above 0 % and below 100 %: some pages are stale, and some have data",
                );
            }
        }
    }
}
