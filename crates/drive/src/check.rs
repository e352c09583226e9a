//! What cannot be: contradictions between settings, each with the figure that is
//! missing, all at once; and what follows from settings that can.

mod derived;
mod memory;
mod space;

pub use memory::{Memory, memory};

use crate::config::{BufferConfig, BufferOrder, DriveConfig, Durability, FlushPolicy};
use crate::experiment::Experiment;
use crate::precondition::filled_units;
use ftl::Layout;
use nand::{Geometry, Timing, Units};
use settings::Problems;
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
    let mut problems = Problems::new("");
    let drive = &experiment.drive;
    let geometry = Geometry::from(&drive.geometry);
    let layout = check_flash(drive, &geometry, &mut problems);
    check_buffer(drive, layout.as_ref(), &mut problems);
    check_record(experiment, &mut problems);
    let Some(layout) = layout else { return Err(problems) };
    check_workloads(experiment, &layout, &mut problems);
    let thresholds = space::check(experiment, &layout, &mut problems);
    let memory = memory(&layout, &geometry, drive.buffer.units(&layout), experiment.run.audit);
    if let Some(fault) = memory.fault() {
        problems.push("drive.geometry", fault);
    }
    let checked = Checked {
        timing: match problems.is_empty() {
            true => Timing::new(&drive.nand, &geometry),
            false => return Err(problems),
        },
        notes: notes(experiment, &layout),
        layout,
        geometry,
        thresholds,
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
    if let Err(fault) = Units::new(geometry, &drive.concurrency) {
        problems.push("drive.concurrency", fault);
    }
    let Some(exported) = drive.ftl.over_provisioning.exported_bytes(geometry.physical_bytes())
    else {
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
    Some(layout)
}

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
            format!("{} hold {units} units, and one program command writes {}; at least {} bytes are needed", drive.buffer.size, layout.units_per_batch, u64::from(layout.units_per_batch) * layout.unit_bytes),
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
    if buffer.order == BufferOrder::Lru {
        problems.push(
            "drive.buffer.order",
            "nothing is overwritten in the buffer of a drive without early acknowledgement (durability \"none\"); use \"fifo\"",
        );
    }
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
    let preconditioning = &experiment.precondition;
    if preconditioning.fill == crate::experiment::Fill::Empty
        && (preconditioning.age.is_some() || preconditioning.share.is_some())
    {
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
        if !ends && !stops {
            problems.push(
                path,
                "never ends; give it a stop, or the run a time or a number of requests",
            );
        }
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

fn notes(experiment: &Experiment, layout: &Layout) -> Vec<String> {
    let mut notes = Vec::new();
    if filled_units(&experiment.precondition, layout.logical_units) == 0 {
        notes.push("the drive is empty at first: reads of what was never written cost no flash time (they are counted as unmapped)".into());
    }
    notes
}
