//! Faults of workloads, and of the writes that age a drive; and the check that each ends.

use super::memory::{self, PLACES_MOST};
use crate::config::{DriveConfig, Durability};
use crate::experiment::{Experiment, RunConfig};
use crate::precondition::filled_units;
use ftl::Layout;
use host::config::ThinkConfig;
use host::{Kind, WorkloadConfig};
use settings::{Problems, Share, grouped};
use std::collections::BTreeSet;

pub fn check(experiment: &Experiment, layout: &Layout, problems: &mut Problems) {
    let mut names = BTreeSet::new();
    for (index, workload) in experiment.workload.iter().enumerate() {
        let path = format!("workload[{index}]");
        for fault in workload.faults(experiment.namespace(layout, workload)) {
            problems.push(format!("{path}.{}", fault.key), fault.problem);
        }
        if !names.insert(&workload.name) {
            problems.push(
                format!("{path}.name"),
                format!("there is another workload \"{}\"", workload.name),
            );
        }
        if let Some(why) = never_ends(workload, experiment) {
            problems.push(path, format!("never ends{why}"));
        }
    }
    check_depths(experiment, problems);
    check_age(experiment, layout, problems);
}

/// The reason why a workload never ends, and the remedy; `None` if it ends.
fn never_ends(workload: &WorkloadConfig, experiment: &Experiment) -> Option<&'static str> {
    if wears_out(experiment) || is_bounded(workload, &experiment.run) {
        return None;
    }
    let (run, stop) = (&experiment.run, workload.stop.as_ref());
    let is_endless = workload.arrivals.is_none() && workload.think_time.is_none();
    let is_timed = run.time.is_some() || stop.is_some_and(|stop| stop.time.is_some());
    let has_bytes = run.bytes.is_some() || stop.is_some_and(|stop| stop.bytes.is_some());
    if run.untimed && is_endless {
        Some(
            ": in an untimed run (run.untimed) no limit in time is reached; give it a number of requests or bytes, a think_time, or the drive an endurance",
        )
    } else if !is_timed && !has_bytes {
        Some("; give it a stop, or the run a time or a number of requests")
    } else if !is_timed {
        Some(
            ": flushes ask for no bytes, so no limit in bytes is reached; give it stop.requests or stop.time",
        )
    } else if takes_no_time(workload, &experiment.drive) {
        Some(
            ": its commands take no simulated time here (drive.firmware), so no limit in time is reached; give it stop.requests or a think_time",
        )
    } else {
        None
    }
}

/// Refuses closed loops that are too deep together.
fn check_depths(experiment: &Experiment, problems: &mut Problems) {
    let places = |workload: &WorkloadConfig| memory::places(workload, experiment.run.requests);
    let all: u64 = experiment.workload.iter().map(places).sum();
    let deepest = (0..experiment.workload.len()).rev();
    if all > PLACES_MOST
        && let Some(index) = deepest.max_by_key(|index| places(&experiment.workload[*index]))
    {
        problems.push(
            format!("workload[{index}].queue_depth"),
            format!(
                "{} requests under way in all; at most {} are supported",
                grouped(all),
                grouped(PLACES_MOST)
            ),
        );
    }
}

/// Faults of the writes that age a drive.
fn check_age(experiment: &Experiment, layout: &Layout, problems: &mut Problems) {
    let Some(age) = &experiment.precondition.age else { return };
    // A fill of nothing is refused elsewhere.
    let of_set = |set| filled_units(&experiment.precondition, layout, set);
    let units = layout.set_ids().map(of_set).filter(|units| *units > 0).min().unwrap_or(1);
    let probe = host::WorkloadConfig {
        name: "age".into(),
        reads: Some(settings::Share::from_percent(0)),
        size: Some(host::config::SizeConfig::fixed(settings::Size::from_bytes(layout.unit_bytes))),
        addresses: Some(age.addresses.clone()),
        ..host::WorkloadConfig::default()
    };
    for fault in probe.faults(u64::from(units) * layout.unit_bytes) {
        problems.push(format!("precondition.age.{}", fault.key), fault.problem);
    }
}

/// True if an untimed run ends at last because its drive is worn out.
fn wears_out(experiment: &Experiment) -> bool {
    let writes = |workload: &WorkloadConfig| host_kinds(workload)[Kind::Write.index()];
    experiment.run.untimed
        && experiment.drive.nand.endurance > 0
        && experiment.workload.iter().any(writes)
}

/// The kinds of request that a workload may have, by [`Kind::index`].
pub fn host_kinds(workload: &WorkloadConfig) -> [bool; Kind::ALL.len()] {
    let is_given = |share: Option<Share>| share.is_some_and(|share| share.fraction() > 0.0);
    let of_kind = |kind| match (&workload.mix, workload.reads, kind) {
        _ if workload.trace.is_some() => true,
        (.., Kind::Flush) if workload.flush_every.is_some() => true,
        (Some(mix), _, Kind::Read) => is_given(mix.read),
        (Some(mix), _, Kind::Write) => is_given(mix.write),
        (Some(mix), _, Kind::Trim) => is_given(mix.trim),
        (Some(mix), _, Kind::Flush) => is_given(mix.flush),
        (Some(mix), _, Kind::WriteZeroes) => is_given(mix.write_zeroes),
        (None, reads, Kind::Read) => is_given(reads),
        (None, reads, Kind::Write) => reads.is_some_and(|reads| reads.fraction() < 1.0),
        (None, ..) => false,
    };
    let mut kinds = [false; Kind::ALL.len()];
    Kind::ALL.into_iter().for_each(|kind| kinds[kind.index()] = of_kind(kind));
    kinds
}

/// True if a number of requests or bytes ends a workload, independently of time.
pub fn is_bounded(workload: &WorkloadConfig, run: &RunConfig) -> bool {
    let stop = workload.stop.clone().unwrap_or_default();
    // Flushes ask for no bytes.
    let asks = Kind::ALL.iter().any(|kind| kind.has_range() && host_kinds(workload)[kind.index()]);
    workload.trace.is_some()
        || run.requests.or(stop.requests).is_some()
        || asks && run.bytes.or(stop.bytes).is_some()
}

/// True if the commands of a closed loop take no time, so that simulated time stands still for it.
fn takes_no_time(workload: &WorkloadConfig, drive: &DriveConfig) -> bool {
    let thinks = match &workload.think_time {
        None => false,
        Some(ThinkConfig::Fixed(time)) => !time.span().is_zero(),
        Some(ThinkConfig::Exponential(time)) => !time.mean.span().is_zero(),
    };
    let is_free = |kind: &Kind| match kind {
        Kind::Trim => true,
        Kind::Flush => drive.buffer.durability != Durability::Volatile,
        Kind::Read | Kind::Write | Kind::WriteZeroes => false,
    };
    let costs = |kind: &Kind| !is_free(kind) || !drive.overheads().overhead(*kind).is_zero();
    let kinds = host_kinds(workload);
    let any_costs = Kind::ALL.iter().any(|kind| kinds[kind.index()] && costs(kind));
    let is_open = workload.arrivals.is_some() || workload.trace.is_some();
    !is_open && !thinks && !any_costs && kinds.contains(&true)
}
