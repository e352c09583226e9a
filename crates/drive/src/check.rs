//! What cannot be: contradictions between settings, each with the figure that is
//! missing, all at once; and what follows from settings that can.

mod derived;
mod durations;
mod memory;
mod partial;
mod recovery;
mod rounds;
mod space;
mod streaming;
mod suspension;

pub use memory::{Memory, PLACES_MOST, WAITING_BYTES, available, first_draws, memory};
pub use space::{Found, Start, shortage};

use crate::config::{
    BufferConfig, BufferOrder, Bypass, DriveConfig, Durability, FlushPolicy, RoundsLevel,
};
use crate::experiment::{Experiment, Fill, PreconditionConfig, RunConfig};
use crate::precondition::filled_units;
use ftl::{Layout, PartialWrites, PoolLevel};
use host::config::ThinkConfig;
use host::{Kind, Priority, WorkloadConfig};
use nand::{GangControl, Geometry, Timing, Units};
use settings::{Problems, Share, counted};
use std::collections::BTreeSet;

/// What follows from a configuration that can be.
#[derive(Clone, Debug)]
pub struct Checked {
    /// The shape of the drive.
    pub layout: Layout,
    /// Its flash.
    pub geometry: Geometry,
    /// Durations of flash commands.
    pub timing: Timing,
    /// Free blocks, as each bin's thresholds count them: urgent, soft, stop.
    pub thresholds: [u32; 3],
    /// Spare that collection can use, as a share of the data.
    pub spare_for_collection: f64,
    /// Bytes of memory that a run takes.
    pub memory: Memory,
    /// What is allowed but often not meant.
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

/// As [`check`], of a drive that begins as `start` says, whatever the experiment says of that.
///
/// # Errors
/// Every contradiction, with its path.
pub fn check_from(experiment: &Experiment, start: Start<'_>) -> Result<Checked, Problems> {
    let mut problems = Problems::new("");
    let drive = &experiment.drive;
    let geometry = Geometry::from(&drive.geometry);
    let layout = check_flash(drive, &geometry, &mut problems);
    check_buffer(drive, layout.as_ref(), &mut problems);
    check_without_effect(experiment, &mut problems);
    check_record(experiment, &mut problems);
    recovery::check(experiment, &mut problems);
    let times_are_sound = durations::check(experiment, &mut problems);
    let Some(layout) = layout else { return Err(problems) };
    suspension::check_backlog(drive, &layout, &mut problems);
    check_workloads(experiment, &layout, &mut problems);
    if times_are_sound {
        durations::check_rates(experiment, &layout, &geometry, &mut problems);
        recovery::check_sums(&experiment.drive, &layout, &mut problems);
    }
    let memory = memory(experiment, &layout, &geometry);
    if let Some((path, fault)) = memory.fault() {
        problems.push(path, fault);
    }
    let space = space::check(experiment, &layout, start, &mut problems);
    let checked = Checked {
        timing: match problems.is_empty() {
            true => Timing::new(&drive.nand, &geometry),
            false => return Err(problems),
        },
        notes: notes(experiment, &layout, start),
        layout,
        geometry,
        thresholds: space.thresholds,
        spare_for_collection: space.spare_for_collection,
        memory,
    };
    Ok(checked)
}

/// Flash and firmware; `None` where their shape makes no sense.
fn check_flash(
    drive: &DriveConfig,
    geometry: &Geometry,
    problems: &mut Problems,
) -> Option<Layout> {
    for (key, fault) in drive.nand.faults() {
        problems.push(format!("drive.nand.{key}"), fault);
    }
    let bits = drive.nand.cell.bits() as usize;
    for (key, figures) in [("read", &drive.nand.read), ("program", &drive.nand.program)] {
        if figures.len() != 1 && figures.len() != bits {
            let path = format!("drive.nand.{key}");
            problems.push(
                path,
                format!(
                    "{} figures; give one for all pages, or {bits}, one for each page type",
                    figures.len()
                ),
            );
        }
    }
    if drive.geometry.page_size.bytes() == 0 {
        problems.push("drive.geometry.page_size", "a page holds at least a byte");
        return None;
    }
    let g = &drive.geometry;
    let planes = [g.channels, g.packages_per_channel, g.dies_per_package, g.planes_per_die]
        .iter()
        .fold(1u128, |product, count| product * u128::from(*count));
    let blocks = planes * u128::from(g.blocks_per_plane);
    if planes > 1 << 20 || blocks > u128::from(u32::MAX) {
        problems.push("drive.geometry", format!("{planes} planes with {blocks} blocks; at most 2^20 planes and 2^32 blocks are supported"));
        return None;
    }
    let physical = geometry.physical_bytes();
    if physical > u128::from(u64::MAX) {
        problems.push(
            "drive.geometry",
            format!("{physical} bytes of flash; less than 2^64 (16 EiB) are supported"),
        );
        return None;
    }
    check_gang(drive, problems);
    if let Err(fault) = Units::new(geometry, &drive.concurrency, drive.scheduler.group(geometry)) {
        problems.push("drive.concurrency", fault);
    }
    let Some(exported) = drive.ftl.exported_bytes(geometry) else {
        problems.push("drive.ftl.over_provisioning", "give exactly one of spare, reserved and exported (spare divides by the exported capacity, reserved by the physical)");
        return None;
    };
    let layout = match Layout::new(geometry, &drive.ftl, exported) {
        Ok(layout) => layout,
        Err(faults) => {
            faults
                .into_iter()
                .for_each(|(key, fault)| problems.push(format!("drive.ftl.{key}"), fault));
            return None;
        }
    };
    if let (Some(program), Some(block)) =
        (geometry.planes_in(drive.concurrency.program), Some(drive.ftl.block_planes))
        && program < block
    {
        problems.push(
            "drive.concurrency.program",
            format!("a program of {block} planes (ftl.block_planes) occupies a unit of only {program}; choose a larger unit"),
        );
    }
    if let Some(erase) = geometry.planes_in(drive.concurrency.erase)
        && erase < drive.ftl.block_planes
    {
        problems.push("drive.concurrency.erase", format!("an erase of {} planes (ftl.block_planes) occupies a unit of only {erase}; choose a larger unit", drive.ftl.block_planes));
    }
    check_bins(drive, geometry, &layout, problems);
    rounds::check(drive, geometry, problems);
    streaming::check(drive, geometry, &layout, problems);
    partial::check(drive, &layout, problems);
    check_wear(drive, problems);
    let copies = drive.ftl.gc.copy_back
        || drive.ftl.gc.streaming
        || drive.ftl.partial_writes == PartialWrites::Plane;
    if drive.ftl.gc.copy_back_most.is_some() && !copies {
        problems.push("drive.ftl.gc.copy_back_most", "nothing is copied back (copy_back is false, partial_writes is \"controller\") and nothing streams (streaming is false); choose one of them, or leave this out");
    }
    Some(layout)
}

/// Whether rounds, and pools, are those of gangs.
fn of_gangs(drive: &DriveConfig) -> [bool; 2] {
    let rounds = drive.scheduler.rounds;
    [
        rounds.is_some_and(|rounds| rounds.unit == RoundsLevel::Gang),
        drive.ftl.allocation.pool == PoolLevel::Gang,
    ]
}

/// What shares control lines, and what refers to that.
fn check_gang(drive: &DriveConfig, problems: &mut Problems) {
    let paths = ["drive.scheduler.rounds.unit", "drive.ftl.allocation.pool"];
    let refers = of_gangs(drive).into_iter().zip(paths);
    let Some(gang) = &drive.geometry.gang else {
        for (_, path) in refers.filter(|(refers, _)| *refers) {
            problems
                .push(path, "there is no gang; give drive.geometry.gang, or choose another level");
        }
        return;
    };
    let path = "drive.geometry.gang";
    if gang.channels == 0 || !drive.geometry.channels.is_multiple_of(gang.channels) {
        let the_channels = match drive.geometry.channels {
            1 => "the one channel".into(),
            channels => format!("the {channels} channels"),
        };
        problems.push(
            format!("{path}.channels"),
            format!("{} does not divide {}", gang.channels, the_channels),
        );
    }
}

/// Wear-leveling compares lives, which end.
fn check_wear(drive: &DriveConfig, problems: &mut Problems) {
    let Some(wear) = &drive.ftl.wear else { return };
    let path = "drive.ftl.wear";
    if drive.nand.endurance == 0 {
        problems.push(path, "blocks never wear out (drive.nand.endurance is 0); give an endurance, or leave this out");
    }
    if wear.retirement_age.is_none() && wear.age_variance.is_none() {
        problems.push(path, "says neither retirement_age (migration) nor age_variance (rate-limiting); give one or both, or leave this out");
    }
    let of = |share: Option<Share>| share.map(|share| share.fraction());
    for (key, share) in
        [("retirement_age", wear.retirement_age), ("age_variance", wear.age_variance)]
    {
        if of(share).is_some_and(|share| share <= 0.0 || share >= 1.0) {
            problems.push(
                format!("{path}.{key}"),
                "is a share above 0 % and below 100 % of the mean life",
            );
        }
    }
    let left = wear.age_variance.map(|variance| 1.0 - variance.fraction());
    match (of(wear.rate_window), left) {
        (Some(_), None) => problems.push(
            format!("{path}.rate_window"),
            "nothing is rate-limited without age_variance; give that, or leave this out",
        ),
        (Some(window), Some(left)) if window <= 0.0 || window > left + 1e-12 => {
            let problem = format!(
                "is above 0 % and at most {:.4} %, what age_variance leaves of the mean life",
                100.0 * left
            );
            problems.push(format!("{path}.rate_window"), problem);
        }
        _ => {}
    }
}

/// Blocks of a bin are opened one after the other, so that nothing goes on in several planes
/// of it at a time.
fn check_bins(drive: &DriveConfig, geometry: &Geometry, layout: &Layout, problems: &mut Problems) {
    if layout.planes_per_bin() == layout.block_planes {
        return;
    }
    let units = &drive.concurrency;
    for (key, level) in [("read", units.read), ("program", units.program), ("erase", units.erase)] {
        if let Some(planes) = geometry.planes_in(level)
            && planes < layout.planes_per_bin()
        {
            let bin = layout.planes_per_bin();
            problems.push(format!("drive.concurrency.{key}"), format!("a bin (ftl.allocation.bin) has {bin} planes, which are used one at a time, and this unit only {planes}; choose a larger unit, or smaller bins"));
        }
    }
}

/// Entries of a buffer that an event can tell apart.
const BUFFER_UNITS_MOST: u32 = 1 << 27;

fn check_buffer(drive: &DriveConfig, layout: Option<&Layout>, problems: &mut Problems) {
    if let FlushPolicy::Watermark { high, low } = drive.buffer.flush {
        let path = "drive.buffer.flush";
        if low.fraction() >= high.fraction() {
            problems.push(path, format!("low ({low}) must be less than high ({high})"));
        }
        if high.fraction() > 1.0 {
            problems.push(path, format!("high ({high}) is more than the whole buffer"));
        }
    }
    let Some(layout) = layout else { return };
    let units = drive.buffer.units(layout);
    if units < layout.units_per_batch {
        problems.push(
            "drive.buffer.size",
            format!(
                "{} hold {}, and one program command writes {}; at least {} bytes are needed",
                drive.buffer.size,
                counted(units, "unit"),
                layout.units_per_batch,
                u64::from(layout.units_per_batch) * layout.unit_bytes
            ),
        );
    }
    if units > BUFFER_UNITS_MOST {
        problems.push(
            "drive.buffer.size",
            format!(
                "{} hold {units} mapping units; at most {BUFFER_UNITS_MOST} are supported",
                drive.buffer.size
            ),
        );
    }
    if drive.buffer.durability == Durability::None {
        check_written_through(&drive.buffer, problems);
    }
}

/// Settings that mean something only where writes are acknowledged early.
fn check_written_through(buffer: &BufferConfig, problems: &mut Problems) {
    if matches!(buffer.flush, FlushPolicy::Watermark { .. }) {
        problems.push(
            "drive.buffer.flush",
            "a drive without early acknowledgement (durability \"none\") writes at once; use \"eager\"",
        );
    }
    if buffer.programs_per_bin.is_some() {
        problems.push(
            "drive.buffer.programs_per_bin",
            "a drive without early acknowledgement (durability \"none\") asks for every program at once; leave it out",
        );
    }
    if buffer.order == BufferOrder::Lru {
        problems.push(
            "drive.buffer.order",
            "nothing is overwritten in the buffer of a drive without early acknowledgement (durability \"none\"); use \"fifo\"",
        );
    }
}

/// A look of scrubbing takes no time: they must not come without end at one moment.
fn check_scrub(drive: &DriveConfig, problems: &mut Problems) {
    if let Some(scrub) = &drive.ftl.scrub
        && scrub.interval.span().is_zero()
    {
        problems.push(
            "drive.ftl.scrub.interval",
            "must be more than 0; leave scrub out for no scrubbing",
        );
    }
}

/// True where a run without time ends at last as its drive is worn out.
fn wears_out(experiment: &Experiment) -> bool {
    let writes = |workload: &WorkloadConfig| host_kinds(workload)[Kind::Write.index()];
    experiment.run.untimed
        && experiment.drive.nand.endurance > 0
        && experiment.workload.iter().any(writes)
}

/// What a run without time has no moment for.
fn check_untimed(experiment: &Experiment, problems: &mut Problems) {
    let run = &experiment.run;
    if !run.untimed {
        return;
    }
    let given = [
        (run.audit, "run.audit"),
        (run.starvation.is_some(), "run.starvation"),
        (run.warm_up.is_some(), "run.warm_up"),
        (run.power_cut.is_some(), "run.power_cut"),
        (experiment.drive.ftl.scrub.is_some(), "drive.ftl.scrub"),
        (experiment.drive.ftl.gc.idle_gap.is_some(), "drive.ftl.gc.idle_gap"),
    ];
    for (_, key) in given.into_iter().filter(|(is_given, _)| *is_given) {
        problems.push(
            key,
            "a run without time (run.untimed) has none of this; leave it out, or leave untimed out",
        );
    }
}

/// Settings that mean nothing beside another.
fn check_without_effect(experiment: &Experiment, problems: &mut Problems) {
    let drive = &experiment.drive;
    let allocation = &drive.ftl.allocation;
    if allocation.pool == PoolLevel::Drive && allocation.stripe.is_some() {
        problems.push(
            "drive.ftl.allocation.stripe",
            "one pool for the whole drive (pool \"drive\") has nothing to stripe over; leave it out, or choose smaller pools",
        );
    }
    if drive.link.rate.is_none() && drive.link.duplex.is_some() {
        problems.push(
            "drive.link.duplex",
            "a link without a rate takes no time in either direction; give drive.link.rate, or leave duplex out",
        );
    }
    suspension::check(drive, problems);
    check_untimed(experiment, problems);
    check_scrub(drive, problems);
    if drive.scheduler.bypass == Bypass::None || drive.scheduler.rounds.is_some() {
        // Writes keep their rank, at a full buffer.
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

/// Which kinds of request a workload may have, by [`Kind::index`].
fn host_kinds(workload: &WorkloadConfig) -> [bool; Kind::ALL.len()] {
    let is_given = |share: Option<Share>| share.is_some_and(|share| share.fraction() > 0.0);
    let of_kind = |kind| match (&workload.mix, workload.reads, kind) {
        _ if workload.trace.is_some() => true,
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

/// Whether a number of requests or bytes ends a workload, whatever time it is.
pub fn is_bounded(workload: &WorkloadConfig, run: &RunConfig) -> bool {
    let stop = workload.stop.clone().unwrap_or_default();
    // Flushes ask for no bytes.
    let asks = Kind::ALL.iter().any(|kind| kind.has_range() && host_kinds(workload)[kind.index()]);
    workload.trace.is_some()
        || run.requests.or(stop.requests).is_some()
        || asks && run.bytes.or(stop.bytes).is_some()
}

/// Whether time stands still for a closed loop: its commands cost none.
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
    let costs = |kind: &Kind| !is_free(kind) || !drive.firmware.overhead(*kind).is_zero();
    let kinds = host_kinds(workload);
    let any_costs = Kind::ALL.iter().any(|kind| kinds[kind.index()] && costs(kind));
    let is_open = workload.arrivals.is_some() || workload.trace.is_some();
    !is_open && !thinks && !any_costs && kinds.contains(&true)
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
    check_precondition(&experiment.precondition, problems);
}

fn check_precondition(preconditioning: &PreconditionConfig, problems: &mut Problems) {
    let fills = preconditioning.fill != Fill::Empty;
    let depends_on_fill = preconditioning.age.is_some() || preconditioning.share.is_some();
    if preconditioning.snapshot.is_some() {
        if fills || depends_on_fill {
            problems.push("precondition.snapshot", "the drive of a snapshot is filled and aged already; leave fill, share and age out, or the snapshot");
        }
        return;
    }
    if fills && preconditioning.share.is_some_and(|share| share.fraction() == 0.0) {
        problems
            .push("precondition.share", "fills nothing; leave fill and age out for an empty drive");
    }
    if !fills && depends_on_fill {
        problems.push("precondition.fill", "an empty drive has nothing to age and no share that is filled; choose \"sequential\" or \"random\"");
    }
    if preconditioning.share.is_some_and(|share| share.fraction() > 1.0) {
        problems.push("precondition.share", "more than the whole drive");
    }
}

fn check_workloads(experiment: &Experiment, layout: &Layout, problems: &mut Problems) {
    let mut names = BTreeSet::new();
    let ends = experiment.run.time.is_some()
        || experiment.run.requests.is_some()
        || experiment.run.bytes.is_some();
    for (index, workload) in experiment.workload.iter().enumerate() {
        let path = format!("workload[{index}]");
        for fault in workload.faults(layout.exported_bytes()) {
            problems.push(format!("{path}.{}", fault.key), fault.problem);
        }
        if !names.insert(&workload.name) {
            problems.push(
                format!("{path}.name"),
                format!("there is another workload \"{}\"", workload.name),
            );
        }
        let stops = workload.trace.is_some()
            || workload.stop.as_ref().is_some_and(|stop| {
                stop.time.is_some() || stop.requests.is_some() || stop.bytes.is_some()
            });
        if wears_out(experiment) {
            continue;
        }
        let is_endless = workload.arrivals.is_none() && workload.think_time.is_none();
        if experiment.run.untimed && is_endless && !is_bounded(workload, &experiment.run) {
            problems.push(path, "never ends: without time (run.untimed) no limit in time is reached; give it a number of requests or bytes, a think_time, or the drive an endurance");
            continue;
        }
        if !ends && !stops {
            problems.push(
                path,
                "never ends; give it a stop, or the run a time or a number of requests",
            );
        } else if !is_bounded(workload, &experiment.run) {
            let is_timed = experiment.run.time.is_some()
                || workload.stop.as_ref().is_some_and(|stop| stop.time.is_some());
            if !is_timed {
                problems.push(path, "never ends: flushes ask for no bytes, so no limit in bytes is reached; give it stop.requests or stop.time");
            } else if takes_no_time(workload, &experiment.drive) {
                problems.push(path, "never ends: its commands take no simulated time here (drive.firmware), so no limit in time is reached; give it stop.requests or a think_time");
            }
        }
    }
    let places = |workload: &WorkloadConfig| memory::places(workload, experiment.run.requests);
    let all: u64 = experiment.workload.iter().map(places).sum();
    let deepest = (0..experiment.workload.len()).rev();
    if all > PLACES_MOST
        && let Some(index) = deepest.max_by_key(|index| places(&experiment.workload[*index]))
    {
        problems.push(
            format!("workload[{index}].queue_depth"),
            format!("{all} requests under way in all; at most {PLACES_MOST} are supported"),
        );
    }
    if let Some(age) = &experiment.precondition.age {
        // What fills nothing is refused where it is said.
        let units = filled_units(&experiment.precondition, layout.logical_units).max(1);
        let probe = host::WorkloadConfig {
            name: "age".into(),
            reads: Some(settings::Share::from_percent(0)),
            size: Some(host::config::SizeConfig::Fixed(settings::Size::from_bytes(
                layout.unit_bytes,
            ))),
            addresses: Some(age.addresses.clone()),
            ..host::WorkloadConfig::default()
        };
        for fault in probe.faults(u64::from(units) * layout.unit_bytes) {
            problems.push(format!("precondition.age.{}", fault.key), fault.problem);
        }
    }
}

fn notes(experiment: &Experiment, layout: &Layout, start: Start<'_>) -> Vec<String> {
    let mut notes = Vec::new();
    let is_empty = match start {
        Start::New => filled_units(&experiment.precondition, layout.logical_units) == 0,
        Start::Unknown => false,
        Start::Found(found) => found.mapped_units == 0,
    };
    if is_empty {
        notes.push("the drive is empty at first: reads of what was never written cost no flash time (they are counted as unmapped)".into());
    }
    let drive = &experiment.drive;
    let is_asynchronous = |gang: nand::GangConfig| gang.control == GangControl::Asynchronous;
    if drive.geometry.gang.is_some_and(is_asynchronous) && !of_gangs(drive).contains(&true) {
        notes.push("the packages of an asynchronous gang go on by themselves, and the lines that they share take no time: here a gang only saves pins".into());
    }
    if let Some(wear) = &drive.ftl.wear
        && let (Some(retirement), Some(variance)) = (wear.retirement_age, wear.age_variance)
        && retirement.fraction() >= 1.0 - variance.fraction()
    {
        notes.push(format!("a block that rate-limiting would pass over (less than {:.4} % of the mean life left, ftl.wear.age_variance) is one for migration already (retirement_age {retirement}): rate-limiting acts only where migration finds no data to move", 100.0 * (1.0 - variance.fraction())).replace(".0000 %", " %"));
    }
    notes
}
