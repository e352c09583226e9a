//! Whether simulated time is long enough for what is asked: each time by itself,
//! and what one operation takes.

use super::memory::largest_request;
use crate::experiment::Experiment;
use crate::horizon::LONGEST;
use crate::policies::routing::ReadRouting;
use crate::policies::suspension::Suspension;
use crate::recovery::{MapRecovery, PowerCuts};
use ftl::Layout;
use host::config::ThinkConfig;
use nand::Geometry;
use settings::{Problems, Rate, Time};

const REMEDY: &str = "at most 8760 h (a year of simulated time) are possible";

/// Refuses times beyond [`LONGEST`]; returns whether there are none.
pub fn check(experiment: &Experiment, problems: &mut Problems) -> bool {
    let before = problems.len();
    for (path, time) in times(experiment) {
        if time.span() > LONGEST {
            problems.push(path, format!("{time}: {REMEDY}"));
        }
    }
    if problems.len() == before && experiment.drive.nand.erase.whole_ns() > limit() {
        problems.push("drive.nand.erase", format!("an erase is longer than a year; {REMEDY}"));
    }
    problems.len() == before
}

/// Refuses rates at which an operation takes longer than [`LONGEST`].
pub fn check_rates(
    experiment: &Experiment,
    layout: &Layout,
    geometry: &Geometry,
    problems: &mut Problems,
) {
    let drive = &experiment.drive;
    let page = geometry.page_bytes;
    let with_spare = page.saturating_add(drive.geometry.page_spare.bytes());
    let spare = with_spare.div_ceil(page);
    let rows = u64::from(layout.rows_per_batch);
    let moved = layout.row_bytes().saturating_mul(rows).saturating_mul(spare);
    if takes(drive.nand.channel, moved) > limit() {
        let problem = format!("a transfer of {moved} bytes takes longer than a year; {REMEDY}");
        // No channel is so slow that pages without spare bytes take as long.
        let path = if spare > 2 { "drive.geometry.page_spare" } else { "drive.nand.channel" };
        problems.push(path, problem);
        return;
    }
    for (key, figures) in [("read", &drive.nand.read), ("program", &drive.nand.program)] {
        let longest = figures.iter().map(|time| time.span().as_ns()).max().unwrap_or(0);
        if u128::from(longest) * u128::from(rows) > limit() {
            let problem = format!("the {rows} rows of a unit take longer than a year; {REMEDY}");
            problems.push(format!("drive.nand.{key}"), problem);
        }
    }
    let Some(rate) = drive.link.rate else { return };
    let largest = experiment.workload.iter().map(|workload| largest_request(workload, layout));
    let largest = largest.max().unwrap_or(0);
    if takes(rate, largest) > limit() {
        problems.push(
            "drive.link.rate",
            format!("a request of {largest} bytes takes longer than a year; {REMEDY}"),
        );
    }
}

fn limit() -> u128 {
    u128::from(LONGEST.as_ns())
}

/// Nanoseconds that a transfer takes, whatever they are.
fn takes(rate: Rate, bytes: u64) -> u128 {
    u128::from(bytes) * 1_000_000_000 / u128::from(rate.bytes_per_second()).max(1)
}

/// Every time of an experiment, with its path.
fn times(experiment: &Experiment) -> Vec<(String, Time)> {
    let drive = &experiment.drive;
    let mut times: Vec<(String, Time)> = Vec::new();
    let mut add = |path: &str, time: Option<Time>| {
        times.extend(time.map(|time| (path.to_owned(), time)));
    };
    for (key, figures) in [("read", &drive.nand.read), ("program", &drive.nand.program)] {
        for time in figures {
            add(&format!("drive.nand.{key}"), Some(*time));
        }
    }
    let erase = &drive.nand.erase;
    add("drive.nand.erase.ramp", Some(erase.ramp));
    add("drive.nand.erase.execute", Some(erase.execute));
    add("drive.nand.erase.recover", Some(erase.recover));
    add("drive.nand.erase.verify", Some(erase.verify));
    add("drive.nand.decode", Some(drive.nand.decode));
    add("drive.ftl.gc.idle_gap", drive.ftl.gc.idle_gap);
    add("drive.ftl.scrub.interval", drive.ftl.scrub.as_ref().map(|scrub| scrub.interval));
    let within = match &drive.scheduler.read_routing {
        ReadRouting::Deadline(deadline) => Some(deadline.within),
        _ => None,
    };
    add("drive.scheduler.read_routing.within", within);
    let scheduler = &drive.scheduler;
    for (key, policy, bounds) in [
        ("suspension", &scheduler.suspension, &scheduler.suspension_bounds),
        ("program_suspension", &scheduler.program_suspension, &scheduler.program_suspension_bounds),
    ] {
        let after = match policy {
            Suspension::TEs(t_es) => Some(t_es.after),
            _ => None,
        };
        add(&format!("drive.scheduler.{key}.after"), after);
        let gap = bounds.and_then(|bounds| bounds.gap);
        add(&format!("drive.scheduler.{key}_bounds.gap"), gap);
    }
    let quiet = scheduler.erase_batching.map(|batching| batching.quiet);
    add("drive.scheduler.erase_batching.quiet", quiet);
    if let Some(steps) = &drive.nand.program_steps {
        add("drive.nand.program_steps.ramp", Some(steps.ramp));
        add("drive.nand.program_steps.recover", Some(steps.recover));
        add("drive.nand.program_steps.verify", Some(steps.verify));
    }
    add("drive.buffer.latency", Some(drive.buffer.latency));
    add("drive.buffer.partial_after", drive.buffer.partial_after);
    add("drive.firmware.read", Some(drive.firmware.read));
    add("drive.firmware.write", Some(drive.firmware.write));
    add("drive.firmware.trim", Some(drive.firmware.trim));
    add("drive.firmware.flush", Some(drive.firmware.flush));
    for (index, workload) in experiment.workload.iter().enumerate() {
        let path = |key: &str| format!("workload[{index}].{key}");
        add(&path("start"), workload.start);
        match &workload.think_time {
            Some(ThinkConfig::Fixed(time)) => add(&path("think_time"), Some(*time)),
            Some(ThinkConfig::Exponential(time)) => add(&path("think_time.mean"), Some(time.mean)),
            None => {}
        }
        if let Some(bursts) = &workload.bursts {
            add(&path("bursts.on"), Some(bursts.on));
            add(&path("bursts.off"), Some(bursts.off));
        }
        add(&path("stop.time"), workload.stop.as_ref().and_then(|stop| stop.time));
    }
    let recovery = drive.recovery.map(|recovery| recovery.map);
    if let Some(MapRecovery::Checkpoint { every, .. }) = recovery {
        add("drive.recovery.map.every", every);
    }
    for (path, cut) in experiment.run.power_cut.iter().flat_map(PowerCuts::all) {
        add(&format!("run.{path}.at"), cut.at);
        add(&format!("run.{path}.within"), cut.within);
    }
    add("run.time", experiment.run.time);
    add("run.warm_up.time", experiment.run.warm_up.as_ref().and_then(|warm_up| warm_up.time));
    let starvation = experiment.run.starvation;
    add("run.starvation.limit", starvation.map(|starvation| starvation.limit));
    add("record.interval", Some(experiment.record.interval));
    times
}
