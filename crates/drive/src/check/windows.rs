//! Contradictions of windows of predictable latency.

mod collection;
mod notes;
mod rates;
mod traces;

pub use collection::check as check_collection;
pub use notes::{nobody_asks, notes};
pub use traces::notes as notes_on_traces;

use super::beside::refuse;
use crate::experiment::Experiment;
use ftl::{Blocking, Layout, ScrubTask, WindowsConfig};
use rates::least_bytes_between;
use serde_json::{Value, json};
use settings::{Problems, Time};

const PATH: &str = "drive.ftl.windows";

/// Refuses what windows cannot be combined with, and windows that the host cannot have.
pub fn check(experiment: &Experiment, layout: &Layout, problems: &mut Problems) {
    let Some(windows) = &experiment.drive.ftl.windows else {
        if experiment.run.windows.is_some() {
            problems.push(
                "run.windows",
                "the drive has no windows of predictable latency; give drive.ftl.windows, or leave this out",
            );
        }
        return;
    };
    check_beside(experiment, problems);
    for (key, time) in [("dtwin", windows.dtwin), ("ndwin_high", windows.ndwin_high)] {
        if time.span().is_zero() {
            problems
                .push(format!("{PATH}.{key}"), "no time at all; give a time, such as \"100 ms\"");
        }
    }
    if windows.ndwin_high.span() < windows.ndwin_low.span() {
        problems.push(
            format!("{PATH}.ndwin_high"),
            format!("{} is less than ndwin_low ({})", windows.ndwin_high, windows.ndwin_low),
        );
    }
    check_thresholds(windows, problems);
    let Some(host) = &experiment.run.windows else { return };
    for (key, time) in [("dtwin", host.dtwin), ("ndwin", host.ndwin)] {
        if time.is_some_and(|time| time.span().is_zero()) {
            problems.push(
                format!("run.windows.{key}"),
                "no time at all; give a time, such as \"100 ms\"",
            );
        }
    }
    if let Some(dtwin) = host.dtwin
        && dtwin.span() > windows.dtwin.span()
    {
        let fault =
            format!("{dtwin} is more than DTWIN Time Maximum ({}) of {PATH}.dtwin", windows.dtwin);
        problems.push("run.windows.dtwin", fault);
    }
    if let Some(ndwin) = host.ndwin
        && ndwin.span() < windows.ndwin_low.span()
    {
        let fault = format!(
            "{ndwin} is less than NDWIN Time Minimum Low ({}) of {PATH}.ndwin_low",
            windows.ndwin_low
        );
        problems.push("run.windows.ndwin", fault);
    }
    rates::check(experiment, layout, problems);
}

/// Refuses thresholds of warnings that are reached before a window has begun, or never.
fn check_thresholds(windows: &WindowsConfig, problems: &mut Problems) {
    let always = "the warning would come at the beginning of each window; choose less";
    match (windows.reads_threshold, windows.reads) {
        (Some(_), None) => problems.push(
            format!("{PATH}.reads_threshold"),
            format!("the drive allows any number of reads, so none is the last; give {PATH}.reads, or leave this out"),
        ),
        (Some(threshold), Some(reads)) if threshold >= reads => problems.push(
            format!("{PATH}.reads_threshold"),
            format!("{threshold} is not less than reads ({reads}): {always}"),
        ),
        _ => {}
    }
    if let Some(threshold) = windows.time_threshold
        && threshold.span() >= windows.dtwin.span()
    {
        let dtwin = windows.dtwin;
        problems.push(
            format!("{PATH}.time_threshold"),
            format!("{threshold} is not less than dtwin ({dtwin}): {always}"),
        );
    }
}

fn check_beside(experiment: &Experiment, problems: &mut Problems) {
    let (drive, gc) = (&experiment.drive, &experiment.drive.ftl.gc);
    let own_scrubber = |scrub: &ftl::scrub::ScrubConfig| scrub.task == ScrubTask::Own;
    let refused = [
        (
            drive.scheduler.rounds.is_some(),
            "in rounds (scheduler.rounds) the flash decides when a collection begins",
            "leave rounds out (rounds = \"none\")",
        ),
        (
            gc.idle_gap.is_some(),
            "a collection in an idle gap (ftl.gc.idle_gap) may pause for as long as it likes, and a window waits for its end",
            "leave idle_gap out",
        ),
        (
            gc.at_once.is_some() || gc.blocking != Blocking::Plane,
            "a collection that waits for a permit (ftl.gc.at_once, ftl.gc.blocking) may hold others up",
            "leave at_once out, and choose blocking = \"plane\"",
        ),
        (
            drive.scheduler.rotation.takes_turns(),
            "a collection that waits for its turn (scheduler.rotation) may hold others up",
            "choose rotation = \"none\"",
        ),
        (
            drive.ftl.parity.is_some(),
            "updates of stripes after trims (ftl.parity) go on at any time, and take space that a window has guaranteed",
            "leave parity out (parity = \"none\")",
        ),
        (
            drive.ftl.wear.is_some(),
            "a migration of static wear-leveling (ftl.wear) goes on after its victim",
            "leave wear out (wear = \"none\")",
        ),
        (
            drive.ftl.scrub.as_ref().is_some_and(own_scrubber),
            "scrubbing as a task of its own (ftl.scrub.task) does not know of windows yet",
            "choose task = \"turns\"",
        ),
        (
            drive.recovery.is_some(),
            "checkpoints (recovery) would be written in a deterministic window",
            "leave recovery out (recovery = \"none\")",
        ),
        (
            !experiment.run.failures.is_empty(),
            "the rebuild of data on flash that fails (run.failures) does not know of windows yet",
            "leave failures out",
        ),
        (
            experiment.run.untimed,
            "an untimed run has no time, and so no windows",
            "leave run.untimed out",
        ),
    ];
    let otherwise = "leave windows out (windows = \"none\" if a preset has it)";
    refuse(PATH, refused, otherwise, problems);
}

/// The windows, and the space that they can count on; `None` without them.
pub fn derived(experiment: &Experiment, layout: &Layout) -> Option<Value> {
    let windows = experiment.drive.ftl.windows?;
    let ns = |time: Time| time.span().as_ns();
    let host = experiment.run.windows.as_ref().map(|host| {
        json!({
            "dtwin_ns": ns(host.dtwin.unwrap_or(windows.dtwin)),
            "ndwin_ns": ns(host.ndwin.unwrap_or(windows.ndwin_high)),
            "order": host.order,
        })
    });
    let write = u64::from(layout.units_per_batch) * layout.unit_bytes;
    let bytes = least_bytes_between(experiment, layout);
    Some(json!({
        "dtwin_time_maximum_ns": ns(windows.dtwin),
        "dtwin_reads_typical": windows.reads,
        "dtwin_reads_threshold": windows.reads_threshold,
        "dtwin_writes_threshold": windows.writes_threshold,
        "dtwin_time_threshold_ns": windows.time_threshold.map(ns),
        "ndwin_time_minimum_low_ns": ns(windows.ndwin_low),
        "ndwin_time_minimum_high_ns": ns(windows.ndwin_high),
        "optimal_write_size": write,
        "bytes_between_thresholds": bytes,
        "dtwin_writes_typical": bytes / write,
        "host": host,
    }))
}
