//! Arrays: plans that fit their members, and what does not know of arrays.

use crate::array::Chunks;
use crate::array::config::{ArrayConfig, CacheConfig, PlanConfig, member_bytes};
use crate::config::Durability;
use crate::experiment::Experiment;
use ftl::Layout;
use serde_json::{Value, json};
use settings::{Problems, Size, Time, counted};

/// Most chunks of a plan that levels wear: it looks through those of two members to choose two of them.
const CHUNKS_MOST: u64 = 1 << 20;

/// Refuses plans that do not fit the members of an array, and what does not know of arrays yet.
pub fn check(experiment: &Experiment, layout: &Layout, problems: &mut Problems) {
    let Some(array) = &experiment.array else { return };
    check_members(array, layout, problems);
    check_chunk(array, layout, problems);
    check_leveling(array, layout, problems);
    check_flushes(experiment, array, problems);
    if let PlanConfig::Rails { period, cache, settle, .. }
    | PlanConfig::PingPong { period, cache, settle, .. }
    | PlanConfig::Rotation { period, cache, settle, .. } = &array.plan
    {
        check_periods(*period, *settle, problems);
        check_cache(cache, problems);
    }
    for (index, workload) in experiment.workload.iter().enumerate() {
        if workload.nvm_set.is_some() {
            problems.push(format!("workload[{index}].nvm_set"), "the members of an array have one namespace, in which the plan chooses a member; leave it out, or leave array out");
        }
    }
    check_windows(experiment, array, layout, problems);
    check_beside(experiment, problems);
}

/// The members of an array and what follows from its plan; `None` for one drive.
pub fn derived(experiment: &Experiment, layout: &Layout) -> Option<Value> {
    let array = experiment.array.as_ref()?;
    Some(json!({
        "drives": array.drives,
        "members": array.drives * layout.set_count(),
        "policy": array.plan.name(),
        "exported_bytes": array.bytes(layout),
        "leveling": array.chunks(layout).and_then(|chunks| leveling(&array.plan, chunks)),
    }))
}

/// Figures of a plan that levels wear.
fn leveling(plan: &PlanConfig, chunks: Chunks) -> Option<Value> {
    let PlanConfig::Leveling { gap, copies, piece, depth, .. } = plan else { return None };
    Some(json!({
        "chunks": chunks.count(),
        "chunks_of_member": chunks.places,
        "gap_in_overwrites": gap.bytes() as f64 / chunks.member_bytes() as f64,
        "copied_bytes_of_exchange": 2 * chunks.bytes,
        "host_bytes_between_exchanges": 2.0 * chunks.bytes as f64 / copies.fraction(),
        "host_memory_bytes": chunks.host_bytes() + 2 * u64::from(*depth) * piece.bytes(),
    }))
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
    if matches!(array.plan, PlanConfig::Leveling { .. }) {
        problems.push("drive.ftl.windows", "each member alone holds its part of the data, so all are read and written at any time, and the plan chooses no windows; leave windows out, or choose another array.plan");
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
    if windows.ndwin_low.span() >= period.span() {
        problems.push("drive.ftl.windows.ndwin_low", format!("{} is not shorter than a period of the plan ({period}), for which a member has its turn, so a turn that begins late would delay all others; choose a shorter time", windows.ndwin_low));
    }
}

/// Says that a member may be read for longer than its window lasts.
pub fn note(experiment: &Experiment, layout: &Layout) -> Option<String> {
    let (array, windows) = (experiment.array.as_ref()?, experiment.drive.ftl.windows.as_ref()?);
    let (PlanConfig::Rails { period, .. }
    | PlanConfig::PingPong { period, .. }
    | PlanConfig::Rotation { period, .. }) = &array.plan
    else {
        return None;
    };
    let members = array.drives.saturating_mul(layout.set_count());
    let with_slack = u128::from(period.span().as_ns()) * u128::from(members);
    (u128::from(windows.dtwin.span().as_ns()) < with_slack).then(|| {
        format!("a member stays in its deterministic window until the one before has finished its maintenance, which may be longer than the {} for which it is read: choose drive.ftl.windows.dtwin of at least {} (array.plan.period) to keep windows whole", counted(members.saturating_sub(1), "period"), counted(members, "period"))
    })
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
        PlanConfig::Leveling { .. } if members < 2 => (
            "array.plan",
            "chunks change places between two members; give array.drives = 2, or leave array out",
        ),
        _ => return,
    };
    problems.push(path, format!("{}, but {needs}", have(members)));
}

/// Refuses chunks that are no whole mapping units, or larger than a member.
fn check_chunk(array: &ArrayConfig, layout: &Layout, problems: &mut Problems) {
    let (PlanConfig::Rotation { chunk, .. } | PlanConfig::Leveling { chunk, .. }) = array.plan
    else {
        return;
    };
    let unit = layout.unit_bytes;
    if chunk.bytes() == 0 || !chunk.bytes().is_multiple_of(unit) {
        problems.push("array.plan.chunk", no_units(chunk, unit));
    } else if chunk.bytes() > member_bytes(layout) {
        problems.push(
            "array.plan.chunk",
            format!("{chunk} is more than a member of the array has; choose smaller chunks"),
        );
    }
}

fn no_units(size: Size, unit: u64) -> String {
    format!(
        "{size} is no multiple of the mapping unit (drive.ftl.unit, {unit} B); choose so many bytes or a multiple"
    )
}

/// Refuses pieces that do not fit their chunk, and limits with which no chunk would ever change places, or
/// each choice would find a difference.
fn check_leveling(array: &ArrayConfig, layout: &Layout, problems: &mut Problems) {
    let PlanConfig::Leveling { chunk, gap, copies, piece, .. } = array.plan else { return };
    let unit = layout.unit_bytes;
    if piece.bytes() == 0 || !piece.bytes().is_multiple_of(unit) {
        problems.push("array.plan.piece", no_units(piece, unit));
    } else if !chunk.bytes().is_multiple_of(piece.bytes()) {
        let told = format!(
            "{chunk} is no multiple of a piece (array.plan.piece, {piece}), in which it is copied; choose another one, or smaller pieces"
        );
        problems.push("array.plan.chunk", told);
    }
    if gap < chunk {
        let told = format!(
            "{gap} is less than a chunk ({chunk}), after which the plan chooses again; choose a larger difference, or smaller chunks"
        );
        problems.push("array.plan.gap", told);
    }
    if copies.fraction() == 0.0 {
        let told = "nothing may be copied, so no chunk ever changes places; choose a larger share, or leave array out";
        problems.push("array.plan.copies", told);
    }
    if let Some(chunks) = array.chunks(layout).filter(|chunks| chunks.count() > CHUNKS_MOST) {
        let told = format!(
            "the array has {} chunks of {chunk}, and at most {CHUNKS_MOST} are possible; choose larger ones",
            chunks.count()
        );
        problems.push("array.plan.chunk", told);
    }
}

/// Refuses buffers that lose data: what was flushed would be in one again once its chunk has changed places.
fn check_flushes(experiment: &Experiment, array: &ArrayConfig, problems: &mut Problems) {
    let loses = experiment.drive.buffer.durability == Durability::Volatile;
    if loses && matches!(array.plan, PlanConfig::Leveling { .. }) {
        problems.push("drive.buffer.durability", "the plan \"leveling\" flushes no copies, so data that was flushed would be volatile again after an exchange; choose \"capacitor\" or \"none\", or another array.plan");
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
