//! Checks suspension, which needs a read that asks for it, an operation to suspend, and a moment.

use crate::config::{DriveConfig, SuspensionBounds};
use crate::policies::routing::ReadRouting;
use crate::policies::suspension::Suspension;
use ftl::{GcConfig, Layout, ReserveUntil, Thresholds};
use nand::Pulses;
use settings::{Problems, counted};

pub fn check(drive: &DriveConfig, problems: &mut Problems) {
    let scheduler = &drive.scheduler;
    check_program_steps(drive, problems);
    check_batching(drive, problems);
    check_kind(drive, &Kind::erases(drive), problems);
    check_kind(drive, &Kind::programs(drive), problems);
    let kinds = [&scheduler.suspension, &scheduler.program_suspension];
    let never_suspends = kinds.iter().all(|kind| kind.is_baseline());
    if never_suspends && drive.nand.error_rate_per_1000_suspensions.is_some() {
        problems.push("drive.nand.error_rate_per_1000_suspensions", "nothing is interrupted (scheduler.suspension and program_suspension are \"baseline\"); choose another suspension, or leave this out");
    }
    check_routing(drive, never_suspends, problems);
}

/// Settings of one kind of operation.
struct Kind<'a> {
    /// The key of its policy, and of its bounds.
    policy: &'static str,
    bounds: &'static str,
    name: &'static str,
    suspension: &'a Suspension,
    limits: Option<SuspensionBounds>,
    /// Its longest undisturbed duration, in nanoseconds.
    longest_ns: u128,
    /// The key of its steps, and their number if known.
    steps_key: &'static str,
    steps: Option<u32>,
}

impl<'a> Kind<'a> {
    fn erases(drive: &'a DriveConfig) -> Self {
        Self {
            policy: "drive.scheduler.suspension",
            bounds: "drive.scheduler.suspension_bounds",
            name: "erase",
            suspension: &drive.scheduler.suspension,
            limits: drive.scheduler.suspension_bounds,
            longest_ns: drive.nand.erase.whole_ns(),
            steps_key: "nand.erase.steps",
            steps: Some(drive.nand.erase.steps),
        }
    }
    fn programs(drive: &'a DriveConfig) -> Self {
        Self {
            policy: "drive.scheduler.program_suspension",
            bounds: "drive.scheduler.program_suspension_bounds",
            name: "program",
            suspension: &drive.scheduler.program_suspension,
            limits: drive.scheduler.program_suspension_bounds,
            longest_ns: longest_program_ns(drive),
            steps_key: "nand.program_steps.steps",
            steps: drive.nand.program_steps.map(|steps| steps.steps),
        }
    }
}

fn longest_program_ns(drive: &DriveConfig) -> u128 {
    let programs = drive.nand.program.iter().map(|time| u128::from(time.span().as_ns()));
    programs.max().unwrap_or(0)
}

fn check_kind(drive: &DriveConfig, kind: &Kind<'_>, problems: &mut Problems) {
    let Kind { policy, bounds, name, steps_key, .. } = *kind;
    if kind.suspension.is_baseline() {
        if kind.limits.is_some() {
            problems.push(bounds, format!("no {name} is ever suspended ({policy} is \"baseline\"); choose another, or leave this out"));
        }
        return;
    }
    let Some(steps) = kind.steps else {
        problems.push(
            policy,
            "the pulses of a program are unknown; give drive.nand.program_steps, or leave this out",
        );
        return;
    };
    if drive.scheduler.read_routing.never_asks() {
        problems.push(policy, format!("no read asks a {name} to suspend (scheduler.read_routing is \"wait\"); choose another read_routing, or leave this out").replace("a erase", "an erase"));
    }
    if kind.suspension.needs_safe_points() && steps < 2 {
        problems.push(policy, format!("one step ({steps_key}) has no safe point inside; give more steps, or choose a suspension that does not wait for one"));
    }
    if keeps_erases(&drive.ftl.gc) {
        problems.push(policy, "collection keeps its unit until its erase is over (ftl.gc.preemptible is false), so that no read can go in between; choose reserve_until = \"copied\" or preemptible = true, or leave this out");
    }
    let longest = kind.longest_ns;
    if let Some(gap) = kind.limits.and_then(|limits| limits.gap)
        && u128::from(gap.span().as_ns()) >= longest
    {
        let problem = format!(
            "{gap} is no shorter than a whole {name}, so that none is ever suspended; give less, or leave {policy} out"
        );
        problems.push(format!("{bounds}.gap"), problem);
    }
    if kind.suspension.needs_safe_points() {
        let most = kind.limits.and_then(|limits| limits.most);
        if let Some(most) = most.filter(|most| steps >= 2 && *most >= steps) {
            let points = steps - 1;
            let safe_points = counted(points, "safe point");
            let problem = format!(
                "{most} is no bound: {steps} steps have {safe_points}; give {points} at most, or leave most out"
            );
            problems.push(format!("{bounds}.most"), problem);
        }
    }
}

fn check_batching(drive: &DriveConfig, problems: &mut Problems) {
    let Some(batching) = &drive.scheduler.erase_batching else { return };
    let path = "drive.scheduler.erase_batching";
    if batching.quiet.span().is_zero() {
        problems.push(
            format!("{path}.quiet"),
            "must be more than 0; leave erase_batching out where erases are not to wait",
        );
    }
    if !drive.ftl.gc.preemptible {
        problems.push(path, "collection keeps its unit until its erase is over (ftl.gc.preemptible is false), so that no erase waits; choose preemptible = true, or leave this out");
    }
}

/// True if collection keeps its unit until its erase is over.
fn keeps_erases(gc: &GcConfig) -> bool {
    !gc.preemptible && gc.reserve_until != Some(ReserveUntil::Copied)
}

/// Checks that collection can have as many erases ready as may wait for each other. This is not
/// known with scrubbing, whose erases wait too, and if thresholds count pages.
pub fn check_backlog(drive: &DriveConfig, layout: &Layout, problems: &mut Problems) {
    let Some(batching) = &drive.scheduler.erase_batching else { return };
    let path = "drive.scheduler.erase_batching";
    let gc = &drive.ftl.gc;
    let thresholds = Thresholds::new(gc, layout);
    let [foreground, _, stop] = thresholds.in_blocks();
    if !gc.preemptible || drive.ftl.scrub.is_some() || stop < foreground {
        return;
    }
    let Some(most) = thresholds.most_coming() else { return };
    if most == 0 {
        let problem = format!(
            "collection ends at the foreground threshold (ftl.gc.stop = \"{}\"), and no erase waits for foreground GC; give a higher stop, or leave this out",
            gc.stop
        );
        problems.push(path, problem);
    } else if let Some(bound) = batching.most.filter(|bound| *bound > most) {
        let problem = format!(
            "{bound} erases of a bin never wait at a time: between the foreground and the stop threshold (ftl.gc) collection takes {most} at most; give no more than that, or leave most out"
        );
        problems.push(format!("{path}.most"), problem);
    }
}

fn check_routing(drive: &DriveConfig, never_suspends: bool, problems: &mut Problems) {
    let routing = &drive.scheduler.read_routing;
    if routing.detours().is_some() {
        if drive.ftl.parity.is_none() {
            problems.push("drive.scheduler.read_routing", "there is no parity from which data could be computed (drive.ftl.parity); give it, or choose another read_routing");
        }
        return;
    }
    // Reads ask by default; this has no effect if nothing is ever suspended.
    if never_suspends && !matches!(routing, ReadRouting::Suspend(_) | ReadRouting::Wait(_)) {
        problems.push("drive.scheduler.read_routing", "nothing is ever suspended (scheduler.suspension and program_suspension are \"baseline\"); choose another suspension, or leave this out");
    }
    if let (ReadRouting::Deadline(deadline), false) = (routing, never_suspends) {
        let within = u128::from(deadline.within.span().as_ns());
        let scheduler = &drive.scheduler;
        let erase = (!scheduler.suspension.is_baseline()).then(|| drive.nand.erase.whole_ns());
        let program =
            (!scheduler.program_suspension.is_baseline()).then(|| longest_program_ns(drive));
        if erase.max(program).is_some_and(|longest| within >= longest) {
            let problem = format!(
                "{} is no shorter than the longest operation that may be suspended, so that no read ever asks; give less, or leave read_routing and suspension out",
                deadline.within
            );
            problems.push("drive.scheduler.read_routing.within", problem);
        }
    }
}

fn check_program_steps(drive: &DriveConfig, problems: &mut Problems) {
    let Some(steps) = &drive.nand.program_steps else { return };
    let path = "drive.nand.program_steps";
    if steps.steps == 0 {
        return;
    }
    for time in &drive.nand.program {
        if let Err(step) = Pulses::of_program(steps, time.span()) {
            let overhead = steps.overhead();
            problems.push(path, format!("a step of a program of {time} lasts {step}, and its ramp, recovery and verify {overhead}; give fewer steps, or shorter ones"));
            return;
        }
    }
}
