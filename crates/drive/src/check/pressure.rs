//! Contradictions of the limit of outstanding programs.

use super::beside::{Refused, refuse};
use crate::experiment::Experiment;
use ftl::{BackgroundBegins, BinChoice, Blocking, Layout, PartialWrites};
use nand::Geometry;
use serde_json::{Value, json};
use settings::Problems;

const PATH: &str = "drive.ftl.pressure";

/// Refuses what a limit of outstanding programs cannot be combined with.
pub fn check(experiment: &Experiment, problems: &mut Problems) {
    if experiment.drive.ftl.pressure.is_none() {
        return;
    }
    let otherwise = "leave pressure out (pressure = \"none\" if a preset has it)";
    refuse(PATH, of_collection(experiment), otherwise, problems);
    refuse(PATH, of_others(experiment), otherwise, problems);
}

/// Notes on effects of the limit that a user may not have intended.
pub fn notes(experiment: &Experiment, layout: &Layout) -> Vec<String> {
    if experiment.drive.ftl.pressure.is_none() {
        return Vec::new();
    }
    note_on_reads(experiment).into_iter().chain(note_on_choice(experiment, layout)).collect()
}

/// Says that reads do not always go before programs.
fn note_on_reads(experiment: &Experiment) -> Option<String> {
    experiment.drive.scheduler.bypass.is_bounded().then(|| {
        format!("some programs go before reads although their number is limited ({PATH}): choose drive.scheduler.bypass = \"drain\" if all reads are to go first")
    })
}

/// Says that programs may wait, with their credits, for dies that are read.
fn note_on_choice(experiment: &Experiment, layout: &Layout) -> Option<String> {
    let drive = &experiment.drive;
    let waits = !drive.scheduler.bypass.is_bounded();
    let has_choice = layout.bins > layout.pool_count();
    let is_blind = drive.ftl.allocation.choice != BinChoice::LeastBusy;
    (waits && has_choice && is_blind).then(|| {
        format!("a program keeps its credit ({PATH}) while reads go before it on its die: choose drive.ftl.allocation.choice = \"least-busy\" if some dies are read without a pause")
    })
}

/// The programs of an NVM set that may be outstanding beside its flash units, and the writes that these
/// allow, if a program takes so many nanoseconds; `None` without a limit.
pub fn derived(
    experiment: &Experiment,
    layout: &Layout,
    geometry: &Geometry,
    program_ns: f64,
) -> Option<Value> {
    let limit = experiment.drive.ftl.pressure?;
    let level = experiment.drive.concurrency.program;
    let command = (layout.row_bytes() / geometry.page_bytes) as u32;
    let planes = geometry.planes_in(level).unwrap_or(1).max(command);
    let of_set = |set| (f64::from(geometry.planes()) * layout.share_of_set(set)).round() as u32;
    let least = layout.set_ids().map(of_set).min().expect("a drive is a set");
    let units = least / planes;
    let most = limit.programs.min(units);
    let bytes = f64::from(most) * layout.row_bytes() as f64;
    Some(json!({
        "programs": limit.programs,
        "flash_units": units,
        "programming_at_most": most,
        "programmed_bytes_per_second": bytes * 1e9 / program_ns,
    }))
}

/// Collections that would keep flash, a permit or a turn while they wait for the end of a program.
fn of_collection(experiment: &Experiment) -> [Refused; 7] {
    let (drive, gc) = (&experiment.drive, &experiment.drive.ftl.gc);
    let rounds = drive.scheduler.rounds.is_some();
    [
        (
            rounds,
            "in rounds (scheduler.rounds) a collection goes on until a block is erased",
            "leave rounds out (rounds = \"none\")",
        ),
        (
            !rounds && !gc.preemptible,
            "a collection whose program waits would keep the flash that it has reserved (ftl.gc.preemptible is false)",
            "choose preemptible = true",
        ),
        (
            gc.streaming,
            "the read and the program of a page that streams (ftl.gc.streaming) are one",
            "choose streaming = false",
        ),
        (
            gc.idle_gap.is_some(),
            "a collection in an idle gap (ftl.gc.idle_gap) does not know of a limit of programs yet",
            "leave idle_gap out",
        ),
        (
            gc.at_once.is_some() || gc.blocking != Blocking::Plane,
            "a collection whose program waits would keep its permit (ftl.gc.at_once, ftl.gc.blocking)",
            "leave at_once out, and choose blocking = \"plane\"",
        ),
        (
            gc.background_begins == BackgroundBegins::QuietChannel,
            "a collection that waits for a quiet channel (ftl.gc.background_begins) does not know of a limit of programs yet",
            "leave background_begins out",
        ),
        (
            drive.scheduler.rotation.takes_turns(),
            "a collection whose program waits would keep its turn (scheduler.rotation)",
            "choose rotation = \"none\"",
        ),
    ]
}

/// Programs that would have to wait for others, and do not know of the limit.
fn of_others(experiment: &Experiment) -> [Refused; 6] {
    let (drive, ftl) = (&experiment.drive, &experiment.drive.ftl);
    [
        (
            ftl.superblock.is_some(),
            "programs of a superblock (ftl.superblock) keep their order on each die",
            "leave superblock out (superblock = \"none\")",
        ),
        (
            ftl.parity.is_some(),
            "programs of parity (ftl.parity) do not know of a limit of programs yet",
            "leave parity out (parity = \"none\")",
        ),
        (
            ftl.partial_writes == PartialWrites::Plane,
            "partial writes in their planes (ftl.partial_writes) do not know of a limit of programs yet",
            "choose partial_writes = \"controller\"",
        ),
        (
            drive.recovery.is_some(),
            "programs of checkpoints (recovery) do not know of a limit of programs yet",
            "leave recovery out (recovery = \"none\")",
        ),
        (
            !experiment.run.failures.is_empty(),
            "the rebuild of data on flash that fails (run.failures) does not know of a limit of programs yet",
            "leave failures out",
        ),
        (
            experiment.run.untimed,
            "an untimed run (run.untimed) has no outstanding programs",
            "leave untimed out",
        ),
    ]
}
