//! Contradictions of superblocks, and the figures that follow from them.

use super::beside::{Refused, refuse};
use crate::config::DriveConfig;
use crate::experiment::Experiment;
use ftl::{
    BackgroundBegins, BinChoice, GcConfig, Layout, PartialWrites, ScrubTask, Stream, StreamSharing,
    Superblocks,
};
use nand::Geometry;
use serde_json::{Value, json};
use settings::Problems;

const PATH: &str = "drive.ftl.superblock";

/// Refuses what superblocks cannot be combined with. Returns false if there would be no layout.
pub fn check(drive: &DriveConfig, problems: &mut Problems) -> bool {
    let Some(superblock) = drive.ftl.superblock else { return true };
    let refused = refused_of_collection(&drive.ftl.gc).into_iter().chain(refused_of_rest(drive));
    refuse(PATH, refused, "leave superblock out", problems);
    if superblock.width.scrub.is_some() && drive.ftl.scrub_stream() != Stream::Scrub {
        problems.push(format!("{PATH}.width.scrub"), "scrubbing writes to the blocks of collection (ftl.scrub.stream); choose stream = \"own\", or leave this out");
    }
    drive.ftl.parity.is_none()
}

fn refused_of_collection(gc: &GcConfig) -> [Refused; 6] {
    [
        (
            gc.copy_back,
            "data moves between the dies of superblocks, and a copy-back (ftl.gc.copy_back) stays in its planes",
            "choose copy_back = false",
        ),
        (
            gc.streaming,
            "pages do not stream (ftl.gc.streaming) into superblocks",
            "choose streaming = false",
        ),
        (
            !gc.preemptible,
            "garbage collection of superblocks reserves no flash (ftl.gc.preemptible is false)",
            "choose preemptible = true",
        ),
        (
            gc.at_once.is_some(),
            "collections of superblocks use all channels, and are not limited (ftl.gc.at_once)",
            "leave at_once out",
        ),
        (
            gc.idle_gap.is_some(),
            "garbage collection of superblocks does not wait until one of its flash units is idle (ftl.gc.idle_gap)",
            "leave idle_gap out",
        ),
        (
            gc.background_begins != BackgroundBegins::AnyTime,
            "garbage collection of superblocks uses all channels and waits for none (ftl.gc.background_begins)",
            "choose background_begins = \"any-time\"",
        ),
    ]
}

fn refused_of_rest(drive: &DriveConfig) -> [Refused; 10] {
    let ftl = &drive.ftl;
    [
        (
            ftl.parity.is_some(),
            "superblocks have stripes of their own (superblock.width), and logical stripes (ftl.parity) need pools of their own",
            "leave ftl.parity out",
        ),
        (
            drive.scheduler.rounds.is_some(),
            "programs of superblocks know their dies before a round (scheduler.rounds) begins",
            "leave rounds out",
        ),
        (
            drive.scheduler.erase_batching.is_some(),
            "all dies of a superblock are erased at once, and none waits for a burst of reads to end (scheduler.erase_batching)",
            "leave erase_batching out",
        ),
        (
            ftl.wear.is_some(),
            "wear leveling (ftl.wear) does not know superblocks",
            "leave wear out",
        ),
        (
            drive.recovery.is_some(),
            "recovery from power cuts (drive.recovery) does not know superblocks",
            "leave recovery out",
        ),
        (
            ftl.partial_writes == PartialWrites::Plane,
            "partial writes that stay in their planes (ftl.partial_writes) choose their dies",
            "choose partial_writes = \"controller\"",
        ),
        (
            ftl.summary_page,
            "superblocks have no summary (ftl.summary_page)",
            "leave summary_page out",
        ),
        (
            ftl.allocation.choice == BinChoice::LeastBusy,
            "the operations of all dies of a superblock are not counted (ftl.allocation.choice is least-busy)",
            "choose choice = \"least-queued\"",
        ),
        (
            ftl.allocation.streams == StreamSharing::Shared,
            "host and collection may have different stripes, so they share no block (ftl.allocation.streams)",
            "choose streams = \"separate\"",
        ),
        (
            drive.geometry.gang.is_some(),
            "the dies of a gang (geometry.gang) share lines",
            "leave gang out",
        ),
    ]
}

/// Refuses superblocks of scrubbed data that may not fit into the one that is left for it, and what
/// preconditioning cannot do with superblocks.
pub fn check_with(experiment: &Experiment, layout: &Layout, problems: &mut Problems) {
    let Some(superblocks) = &layout.superblocks else { return };
    if experiment.precondition.stale.is_some() {
        problems.push("precondition.stale", "superblocks begin without stale pages (drive.ftl.superblock); leave stale out, or superblock");
    }
    let Some(scrub) = &experiment.drive.ftl.scrub else { return };
    // Collection takes no block that holds more than it can move, but scrubbing takes any. In turns, it
    // has the block that is kept for collection. A task of its own has it, too, but only when nothing
    // else gains space; then what it has begun must fit.
    let (stream, key, other) = match scrub.task {
        ScrubTask::Turns => (Stream::Gc, "collection", ", or task = \"own\" in ftl.scrub"),
        ScrubTask::Own => (Stream::Scrub, "scrub", ""),
    };
    if superblocks.data_batches(stream) < superblocks.most_data_batches() {
        problems.push(format!("{PATH}.width.{key}"), format!("a block that is scrubbed (ftl.scrub) may hold more data than the one that is kept for it; give {key} stripes that are as wide as those of other data or wider, or none{other}, or leave scrub out"));
    }
}

/// The figures of superblocks.
pub fn derived(layout: &Layout, geometry: &Geometry) -> Option<Value> {
    let superblocks = layout.superblocks.as_ref()?;
    let width = |stream| match superblocks.width(stream) {
        0 => Value::Null,
        width => width.into(),
    };
    Some(json!({
        "dies": superblocks.lanes(),
        "bytes": u64::from(layout.units_per_block()) * layout.unit_bytes,
        "erase_blocks": superblocks.lanes() * layout.block_planes,
        "groups_of_dies": geometry.dies() / superblocks.lanes(),
        "width": {
            "host": width(Stream::Host),
            "collection": width(Stream::Gc),
            "scrub": width(Stream::Scrub),
        },
        "spare_if_protected": spare_if_protected(layout, superblocks),
    }))
}

/// Spare over exported capacity, if all data has the parity of moved data.
fn spare_if_protected(layout: &Layout, superblocks: &Superblocks) -> f64 {
    let share =
        f64::from(superblocks.data_batches(Stream::Gc)) / f64::from(layout.batches_per_block);
    f64::from(layout.physical_units()) * share / f64::from(layout.host_units) - 1.0
}
