//! Limits on times: each configured time, and the duration of each operation.

use super::memory::largest_request;
use crate::array::config::{ArrayConfig, PlanConfig};
use crate::config::{DriveConfig, SchedulerConfig};
use crate::experiment::Experiment;
use crate::horizon::LONGEST;
use crate::policies::routing::ReadRouting;
use crate::policies::suspension::Suspension;
use crate::recovery::{MapRecovery, PowerCuts};
use ftl::{Layout, ScrubChoice};
use host::WorkloadConfig;
use host::config::ThinkConfig;
use nand::Geometry;
use settings::{Problems, Rate, Time};

const REMEDY: &str = "at most 365 d (a year of simulated time) are possible";

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
        // No channel is slow enough for pages without spare bytes to take this long.
        let path = if spare > 2 { "drive.geometry.page_spare" } else { "drive.nand.channel" };
        problems.push(path, problem);
        return;
    }
    let block = u64::from(layout.units_per_block()).saturating_mul(layout.unit_bytes);
    if let Some(rate) = drive.ftl.scrub.as_ref().and_then(|scrub| scrub.rate)
        && takes(rate, block) > limit()
    {
        let problem = format!("a block of {block} bytes takes longer than a year; {REMEDY}");
        problems.push("drive.ftl.scrub.rate", problem);
    }
    for (key, figures) in [("read", &drive.nand.read), ("program", &drive.nand.program)] {
        let longest = figures.iter().map(|time| time.span().as_ns()).max().unwrap_or(0);
        if u128::from(longest) * u128::from(rows) > limit() {
            let problem = format!("the {rows} rows of a unit take longer than a year; {REMEDY}");
            problems.push(format!("drive.nand.{key}"), problem);
        }
    }
    let Some(rate) = drive.host_link().rate else { return };
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

/// Nanoseconds of a transfer, without a limit.
fn takes(rate: Rate, bytes: u64) -> u128 {
    u128::from(bytes) * 1_000_000_000 / u128::from(rate.bytes_per_second()).max(1)
}

/// Times by their paths, in the order in which they are checked.
#[derive(Default)]
struct Times(Vec<(String, Time)>);

impl Times {
    fn add(&mut self, path: &str, time: impl Into<Option<Time>>) {
        self.0.extend(time.into().map(|time| (path.to_owned(), time)));
    }
}

/// Every time of an experiment, with its path.
fn times(experiment: &Experiment) -> Vec<(String, Time)> {
    let mut times = Times::default();
    add_flash(&experiment.drive, &mut times);
    add_scheduler(&experiment.drive.scheduler, &mut times);
    add_controller(&experiment.drive, &mut times);
    for (index, workload) in experiment.workload.iter().enumerate() {
        add_workload(workload, &format!("workload[{index}]"), &mut times);
    }
    add_run(experiment, &mut times);
    add_array(experiment.array.as_ref(), &mut times);
    add_windows(experiment, &mut times);
    times.0
}

/// Times of windows of predictable latency.
fn add_windows(experiment: &Experiment, times: &mut Times) {
    let of_drive = experiment.drive.ftl.windows.as_ref();
    times.add("drive.ftl.windows.dtwin", of_drive.map(|of| of.dtwin));
    times.add("drive.ftl.windows.ndwin_low", of_drive.map(|of| of.ndwin_low));
    times.add("drive.ftl.windows.ndwin_high", of_drive.map(|of| of.ndwin_high));
    times.add("drive.ftl.windows.time_threshold", of_drive.and_then(|of| of.time_threshold));
    let host = experiment.run.windows.as_ref();
    times.add("run.windows.dtwin", host.and_then(|of| of.dtwin));
    times.add("run.windows.ndwin", host.and_then(|of| of.ndwin));
}

/// Times of flash commands, and of the firmware.
fn add_flash(drive: &DriveConfig, times: &mut Times) {
    for (key, figures) in [("read", &drive.nand.read), ("program", &drive.nand.program)] {
        for time in figures {
            times.add(&format!("drive.nand.{key}"), *time);
        }
    }
    let erase = &drive.nand.erase;
    times.add("drive.nand.erase.ramp", erase.ramp);
    times.add("drive.nand.erase.execute", erase.execute);
    times.add("drive.nand.erase.recover", erase.recover);
    times.add("drive.nand.erase.verify", erase.verify);
    times.add("drive.nand.decode", drive.nand.decode);
    let decoding = drive.nand.errors.as_ref().and_then(|errors| errors.soft_decoding.as_ref());
    times.add("drive.nand.errors.soft_decoding.decode", decoding.map(|of| of.decode));
    times.add("drive.ftl.parity.xor", drive.ftl.parity.and_then(|parity| parity.xor));
    times.add("drive.ftl.superblock.xor", drive.ftl.superblock.and_then(|of| of.xor));
    for (index, of) in drive.nand.faults.iter().flat_map(|of| of.dies.iter().enumerate()) {
        times.add(&format!("drive.nand.faults.dies[{index}].at"), of.at);
    }
    if let Some(cycles) = &drive.nand.command_cycles {
        times.add("drive.nand.command_cycles.read", cycles.read);
        times.add("drive.nand.command_cycles.program", cycles.program);
        times.add("drive.nand.command_cycles.erase", cycles.erase);
    }
    times.add("drive.ftl.gc.idle_gap", drive.ftl.gc.idle_gap);
    times.add("drive.ftl.tasks.think", drive.ftl.tasks.and_then(|tasks| tasks.think));
    times.add("drive.ftl.scrub.interval", drive.ftl.scrub.as_ref().map(|scrub| scrub.interval));
    if let Some(ScrubChoice::Refresh(refresh)) = drive.ftl.scrub.as_ref().map(|of| &of.choice) {
        times.add("drive.ftl.scrub.choice.age", refresh.age);
    }
}

/// Times of the scheduler's policies.
fn add_scheduler(scheduler: &SchedulerConfig, times: &mut Times) {
    let within = match &scheduler.read_routing {
        ReadRouting::Deadline(deadline) => Some(deadline.within),
        _ => None,
    };
    times.add("drive.scheduler.read_routing.within", within);
    for (key, policy, bounds) in [
        ("suspension", &scheduler.suspension, &scheduler.suspension_bounds),
        ("program_suspension", &scheduler.program_suspension, &scheduler.program_suspension_bounds),
    ] {
        let after = match policy {
            Suspension::TEs(t_es) => Some(t_es.after),
            _ => None,
        };
        times.add(&format!("drive.scheduler.{key}.after"), after);
        let gap = bounds.and_then(|bounds| bounds.gap);
        times.add(&format!("drive.scheduler.{key}_bounds.gap"), gap);
    }
    let quiet = scheduler.erase_batching.map(|batching| batching.quiet);
    times.add("drive.scheduler.erase_batching.quiet", quiet);
}

/// Times of steps of programs, of the buffer and of commands in the firmware.
fn add_controller(drive: &DriveConfig, times: &mut Times) {
    if let Some(steps) = &drive.nand.program_steps {
        times.add("drive.nand.program_steps.ramp", steps.ramp);
        times.add("drive.nand.program_steps.recover", steps.recover);
        times.add("drive.nand.program_steps.verify", steps.verify);
    }
    times.add("drive.buffer.latency", drive.buffer.latency);
    times.add("drive.buffer.partial_after", drive.buffer.partial_after);
    let overheads = drive.overheads();
    times.add("drive.firmware.read", overheads.read);
    times.add("drive.firmware.write", overheads.write);
    times.add("drive.firmware.trim", overheads.trim);
    times.add("drive.firmware.flush", overheads.flush);
}

fn add_workload(workload: &WorkloadConfig, path: &str, times: &mut Times) {
    times.add(&format!("{path}.start"), workload.start);
    match &workload.think_time {
        Some(ThinkConfig::Fixed(time)) => times.add(&format!("{path}.think_time"), *time),
        Some(ThinkConfig::Exponential(time)) => {
            times.add(&format!("{path}.think_time.mean"), time.mean);
        }
        None => {}
    }
    if let Some(bursts) = &workload.bursts {
        times.add(&format!("{path}.bursts.on"), bursts.on);
        times.add(&format!("{path}.bursts.off"), bursts.off);
    }
    let stop = workload.stop.as_ref().and_then(|stop| stop.time);
    times.add(&format!("{path}.stop.time"), stop);
}

/// Times of the host's plan for several drives.
fn add_array(array: Option<&ArrayConfig>, times: &mut Times) {
    match array.map(|array| &array.plan) {
        Some(PlanConfig::Mirror { hedge, .. }) => {
            times.add("array.plan.hedge.after", hedge.map(|hedge| hedge.after));
        }
        Some(
            PlanConfig::Rails { period, cache, settle, .. }
            | PlanConfig::PingPong { period, cache, settle, .. }
            | PlanConfig::Rotation { period, cache, settle, .. },
        ) => {
            times.add("array.plan.period", *period);
            times.add("array.plan.settle", *settle);
            times.add("array.plan.cache.latency", cache.latency);
        }
        Some(PlanConfig::Leveling { latency, .. }) => times.add("array.plan.latency", *latency),
        // A plan in Python tells its times itself.
        Some(PlanConfig::Python(_)) | None => {}
    }
}

/// Times of recovery, of the run and of what it records.
fn add_run(experiment: &Experiment, times: &mut Times) {
    let recovery = experiment.drive.recovery.map(|recovery| recovery.map);
    if let Some(MapRecovery::Checkpoint { every, .. }) = recovery {
        times.add("drive.recovery.map.every", every);
    }
    for (path, cut) in experiment.run.power_cut.iter().flat_map(PowerCuts::all) {
        times.add(&format!("run.{path}.at"), cut.at);
        times.add(&format!("run.{path}.within"), cut.within);
    }
    for (index, failure) in experiment.run.failures.iter().enumerate() {
        times.add(&format!("run.failures[{index}].at"), failure.at);
    }
    times.add("run.time", experiment.run.time);
    let warm_up = experiment.run.warm_up.as_ref().and_then(|warm_up| warm_up.time);
    times.add("run.warm_up.time", warm_up);
    let starvation = experiment.run.starvation;
    times.add("run.starvation.limit", starvation.map(|starvation| starvation.limit));
    times.add("record.interval", experiment.record.interval);
}
