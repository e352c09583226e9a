//! Arrays: plans that fit their members, and what does not know of arrays.

use crate::array::config::{ArrayConfig, CacheConfig, PlanConfig};
use crate::experiment::Experiment;
use ftl::Layout;
use settings::{Problems, Time, counted};

/// Refuses plans that do not fit the members of an array, and what does not know of arrays yet.
pub fn check(experiment: &Experiment, layout: &Layout, problems: &mut Problems) {
    let Some(array) = &experiment.array else { return };
    check_members(array, layout, problems);
    check_chunk(array, layout, problems);
    if let PlanConfig::Rails { period, cache, settle, .. }
    | PlanConfig::PingPong { period, cache, settle, .. }
    | PlanConfig::Rotation { period, cache, settle, .. } = &array.plan
    {
        check_periods(*period, *settle, problems);
        check_cache(cache, problems);
    }
    for (index, workload) in experiment.workload.iter().enumerate() {
        if workload.nvm_set.is_some() {
            problems.push(format!("workload[{index}].nvm_set"), "the members of an array hold the same data, in one namespace; leave it out, or leave array out");
        }
    }
    check_windows(experiment, array, layout, problems);
    check_beside(experiment, problems);
}

/// Refuses windows of predictable latency that the plan cannot choose, or that would end while the plan
/// still reads the member.
fn check_windows(
    experiment: &Experiment,
    array: &ArrayConfig,
    layout: &Layout,
    problems: &mut Problems,
) {
    let Some(windows) = &experiment.drive.ftl.windows else { return };
    if matches!(array.plan, PlanConfig::Python(_)) {
        // It has no periods that could be known here.
        return;
    }
    let (PlanConfig::Rails { period, .. }
    | PlanConfig::PingPong { period, .. }
    | PlanConfig::Rotation { period, .. }) = &array.plan
    else {
        problems.push("drive.ftl.windows", "all members of a mirror are read at any time, so its plan chooses no windows; leave windows out, or choose another array.plan");
        return;
    };
    let others = array.drives.saturating_mul(layout.set_count()).saturating_sub(1);
    let read_for = u128::from(period.span().as_ns()) * u128::from(others);
    if u128::from(windows.dtwin.span().as_ns()) < read_for {
        problems.push("drive.ftl.windows.dtwin", format!("{} is less than the {} ({period} each) for which the plan reads a member; choose a longer time, or a shorter array.plan.period", windows.dtwin, counted(others, "period")));
    }
    if windows.ndwin_low.span() > period.span() {
        problems.push("drive.ftl.windows.ndwin_low", format!("{} is longer than a period of the plan ({period}), for which a member has its turn; choose a shorter time", windows.ndwin_low));
    }
}

fn check_members(array: &ArrayConfig, layout: &Layout, problems: &mut Problems) {
    let members = array.drives.saturating_mul(layout.set_count());
    let have = |members: u32| match layout.set_count() {
        1 => format!("the array has {}", counted(members, "drive")),
        sets => format!(
            "the array has {} ({} with {sets} NVM sets each)",
            counted(members, "member"),
            counted(array.drives, "drive")
        ),
    };
    let (path, needs) = match &array.plan {
        PlanConfig::Mirror { hedge: Some(_), .. } if members < 2 => (
            "array.plan.hedge",
            "a hedge goes to another member; give array.drives = 2, or leave hedge out",
        ),
        PlanConfig::Rails { .. } if members < 2 => (
            "array.plan",
            "one member writes while others read; give array.drives = 2, or the policy \"mirror\"",
        ),
        PlanConfig::PingPong { .. } if members != 2 => (
            "array.plan",
            "two members take turns; give two drives without NVM sets or one with two, or the policy \"rails\"",
        ),
        PlanConfig::Rotation { .. } if members < 3 => (
            "array.plan",
            "parity takes two members and a third; give array.drives = 3, or the policy \"rails\"",
        ),
        _ => return,
    };
    problems.push(path, format!("{}, but {needs}", have(members)));
}

/// Refuses chunks that are no whole mapping units, or larger than a member.
fn check_chunk(array: &ArrayConfig, layout: &Layout, problems: &mut Problems) {
    let PlanConfig::Rotation { chunk, .. } = array.plan else { return };
    let unit = layout.unit_bytes;
    if chunk.bytes() == 0 || !chunk.bytes().is_multiple_of(unit) {
        problems.push(
            "array.plan.chunk",
            format!("{chunk} is no multiple of the mapping unit (drive.ftl.unit, {unit} B)"),
        );
    } else if chunk.bytes() > layout.exported_bytes() / u64::from(layout.set_count()) {
        problems.push(
            "array.plan.chunk",
            format!("{chunk} is more than a member of the array has; choose smaller chunks"),
        );
    }
}

fn check_periods(period: Time, settle: Option<Time>, problems: &mut Problems) {
    if period.span().is_zero() {
        problems.push("array.plan.period", "a period takes time");
    } else if let Some(settle) = settle
        && settle >= period
    {
        problems.push(
            "array.plan.settle",
            format!(
                "{settle} is not shorter than the period ({period}), so nothing would be written"
            ),
        );
    }
    if settle.is_some_and(|settle| settle.span().is_zero()) {
        problems.push("array.plan.settle", "must be more than 0; leave it out for none");
    }
}

fn check_cache(cache: &CacheConfig, problems: &mut Problems) {
    if cache.size.bytes() == 0 {
        problems.push("array.plan.cache.size", "holds nothing, but writes are kept until all members have them; give it the bytes that are written in two periods");
    }
}

/// Refuses what does not know of arrays yet.
fn check_beside(experiment: &Experiment, problems: &mut Problems) {
    let (drive, run) = (&experiment.drive, &experiment.run);
    for (is_given, key) in [
        (drive.recovery.is_some(), "drive.recovery"),
        (drive.nand.errors.is_some(), "drive.nand.errors"),
        (drive.nand.faults.is_some(), "drive.nand.faults"),
        (drive.ftl.scrub.is_some(), "drive.ftl.scrub"),
        (drive.ftl.tasks.is_some(), "drive.ftl.tasks"),
        (experiment.precondition.snapshot.is_some(), "precondition.snapshot"),
        (experiment.cloned.is_some(), "clone"),
        // The plan of the array chooses the windows.
        (run.windows.is_some(), "run.windows"),
        (!run.failures.is_empty(), "run.failures"),
        (run.power_cut.is_some(), "run.power_cut"),
        (run.starvation.is_some(), "run.starvation"),
        (run.untimed, "run.untimed"),
    ] {
        if is_given {
            problems.push(key, "does not know of arrays yet; leave it out, or leave array out");
        }
    }
}
