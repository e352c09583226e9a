//! Contradictions of scrubbing.

use super::beside::{Refused, refuse};
use crate::config::DriveConfig;
use ftl::{GcConfig, ScrubConfig, ScrubStream, ScrubTask};
use settings::Problems;

const PATH: &str = "drive.ftl.scrub";

/// Checks scrubbing by itself, and beside other settings.
pub fn check(drive: &DriveConfig, problems: &mut Problems) {
    let Some(scrub) = &drive.ftl.scrub else { return };
    if scrub.interval.span().is_zero() {
        // Polls would repeat without end at one moment, as a poll takes no time.
        problems.push(
            format!("{PATH}.interval"),
            "must be more than 0; leave scrub out for no scrubbing",
        );
    }
    if scrub.choice.needs().errors && drive.nand.errors.is_none() {
        problems.push(
            format!("{PATH}.choice"),
            "flash without bit errors (drive.nand.errors is not given) never needs this; give errors, or choose \"oldest\" or \"most-read\"",
        );
    }
    match scrub.task {
        ScrubTask::Turns => check_turns(scrub, problems),
        ScrubTask::Own => check_own(drive, scrub, problems),
    }
}

/// Refuses what only a task of its own has.
fn check_turns(scrub: &ScrubConfig, problems: &mut Problems) {
    if scrub.choice.needs().patrol.is_some() {
        problems.push(
            format!("{PATH}.choice"),
            "only a task of its own reads a page before it takes a block (ftl.scrub.task is \"turns\"); choose task = \"own\", or another policy",
        );
    }
    for (key, is_given) in [("window", scrub.window.is_some()), ("rate", scrub.rate.is_some())] {
        if is_given {
            problems.push(
                format!("{PATH}.{key}"),
                "scrubbing takes turns with collection (ftl.scrub.task is \"turns\") and moves blocks as collection does; choose task = \"own\", or leave this out",
            );
        }
    }
}

/// Refuses what a task of its own cannot be combined with.
fn check_own(drive: &DriveConfig, scrub: &ScrubConfig, problems: &mut Problems) {
    let refused = refused_of_rest(drive, scrub).into_iter().chain(refused_of_gc(&drive.ftl.gc));
    refuse(&format!("{PATH}.task"), refused, "choose task = \"turns\"", problems);
}

fn refused_of_gc(gc: &GcConfig) -> [Refused; 5] {
    [
        (
            !gc.preemptible,
            "scrubbing beside collection reserves no flash, and waits for collection that does (ftl.gc.preemptible is false)",
            "choose preemptible = true",
        ),
        (
            gc.copy_back,
            "a task of its own moves data through the controller alone (ftl.gc.copy_back is true)",
            "choose copy_back = false",
        ),
        (
            gc.streaming,
            "a task of its own moves data through the controller alone (ftl.gc.streaming is true)",
            "choose streaming = false",
        ),
        (
            gc.idle_gap.is_some(),
            "a task of its own works in idle time, too, so that a flash unit is seldom idle for a gap (ftl.gc.idle_gap)",
            "leave idle_gap out",
        ),
        (
            gc.at_once.is_some(),
            "a task of its own asks for no permit, and goes beside a collection that waits for one (ftl.gc.at_once)",
            "leave at_once out",
        ),
    ]
}

fn refused_of_rest(drive: &DriveConfig, scrub: &ScrubConfig) -> [Refused; 4] {
    [
        (
            scrub.stream != ScrubStream::Own,
            "a task of its own needs open blocks of its own (ftl.scrub.stream)",
            "choose stream = \"own\"",
        ),
        (
            drive.ftl.wear.is_some(),
            "wear leveling (ftl.wear) does not know blocks that a task of its own moves",
            "leave wear out",
        ),
        (
            drive.scheduler.rotation.takes_turns(),
            "a task of its own takes no turn in a group of stripes (scheduler.rotation)",
            "leave rotation out",
        ),
        (
            drive.recovery.is_some(),
            "recovery from power cuts (drive.recovery) does not know what a task of its own moves",
            "leave recovery out",
        ),
    ]
}
