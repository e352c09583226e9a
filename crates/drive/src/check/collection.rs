//! Contradictions among the settings of collection.

use crate::config::DriveConfig;
use crate::policies::rotation::Rotation;
use ftl::{
    AtOnce, BackgroundBegins, Blocking, GcConfig, Layout, Pacing, PartialWrites, PoolId,
    ReserveUntil, Thresholds,
};
use nand::CopyBackPages;
use settings::Problems;

/// Checks `ftl.gc`, except for its amounts of pages and blocks.
pub fn check(drive: &DriveConfig, problems: &mut Problems) {
    let gc = &drive.ftl.gc;
    let copies = gc.copy_back || gc.streaming || drive.ftl.partial_writes == PartialWrites::Plane;
    if gc.copy_back_most.is_some() && !copies {
        problems.push("drive.ftl.gc.copy_back_most", "nothing is copied back (copy_back is false, partial_writes is \"controller\") and nothing streams (streaming is false); choose one of them, or leave this out");
    }
    if gc.preemptible && gc.reserve_until.is_some() {
        problems.push("drive.ftl.gc.reserve_until", "preemptible garbage collection reserves no flash unit (preemptible is true); choose preemptible = false, or leave this out");
    }
    // A scrubbed block may need space of another bin on the flash unit that stays reserved.
    if gc.reserve_until == Some(ReserveUntil::Stop) && drive.ftl.scrub.is_some() {
        problems.push("drive.ftl.gc.reserve_until", "scrubbing (ftl.scrub) goes between two victims; choose reserve_until = \"erase\", or leave scrub out");
    }
    check_begins(drive, gc, problems);
    check_blocking(drive, gc, problems);
    check_rotation(drive, problems);
    if let Some(at_once) = gc.at_once {
        check_limits(drive, gc, at_once, problems);
    }
}

/// Checks the gain of victims.
pub fn check_gain(gc: &GcConfig, layout: &Layout, problems: &mut Problems) {
    let path = "drive.ftl.gc.least_gain";
    let Some(gain) = gc.least_gain else { return };
    let units = layout.gained(gain);
    if units > layout.units_per_block() {
        let pages = layout.rows_per_block * layout.block_planes;
        let problem = format!("\"{gain}\" is more than the {pages} pages of a block; give less");
        problems.push(path, problem);
    } else if gain.is_none() {
        problems.push(path, "every victim gains more than nothing; give at least 1 page");
    }
    if Thresholds::new(gc, layout).most_coming() == Some(0) && gc.idle_gap.is_none() {
        problems.push(path, "collection ends at the foreground threshold (ftl.gc.stop), where any gain counts; give a higher stop, or leave this out");
    }
}

fn check_begins(drive: &DriveConfig, gc: &GcConfig, problems: &mut Problems) {
    if gc.background_begins == BackgroundBegins::AnyTime {
        return;
    }
    let path = "drive.ftl.gc.background_begins";
    if drive.scheduler.rounds.is_some() {
        problems.push(path, "in rounds (scheduler.rounds) a batch calls for collections; choose background_begins = \"any-time\", or leave rounds out (rounds = \"none\")");
    }
    if gc.blocking == Blocking::Controller {
        problems.push(path, "a collection that reserves all channels (ftl.gc.blocking is \"controller\") would wait for each of them to be quiet; choose background_begins = \"any-time\", or blocking = \"channel\"");
    }
    if gc.reserve_until == Some(ReserveUntil::Stop) {
        problems.push(path, "a collection that goes on until it stops (ftl.gc.reserve_until is \"stop\") does not wait between two victims; choose background_begins = \"any-time\", or reserve_until = \"erase\"");
    }
    if gc.pacing == Pacing::HostRate {
        problems.push(path, "collection at the rate of host writes (ftl.gc.pacing is \"host-rate\") works only while it owes moves, and then it does not wait; choose background_begins = \"any-time\", or another pacing");
    }
    if gc.background == gc.foreground && gc.idle_gap.is_none() {
        problems.push(path, "all collection is in the foreground (ftl.gc.background equals foreground), and that never waits; give a higher background, or choose background_begins = \"any-time\"");
    }
}

/// Checks where pages that are copied back must fit.
pub fn check_copies(drive: &DriveConfig, layout: &Layout, problems: &mut Problems) {
    if drive.nand.copy_back_pages == CopyBackPages::Any {
        return;
    }
    let path = "drive.nand.copy_back_pages";
    let ftl = &drive.ftl;
    let mut refuse = |fault: &str, remedy: &str| {
        problems.push(path, format!("{fault}; {remedy}, or choose copy_back_pages = \"any\""));
    };
    if !ftl.gc.copy_back {
        refuse("nothing is copied back (ftl.gc.copy_back is false)", "choose copy_back = true");
    }
    if ftl.gc.preemptible {
        refuse(
            "copies of two victims at a time could need more pages than are free (ftl.gc.preemptible is true)",
            "choose preemptible = false",
        );
    }
    if layout.planes_per_bin() > 1 || layout.rows_per_batch > 1 {
        refuse(
            "only copies of single pages inside one plane are told apart",
            "choose ftl.allocation.bin = \"plane\", ftl.block_planes = 1 and a ftl.unit of a page at most",
        );
    }
    if layout.batches_per_block % 2 == 1 {
        refuse(
            "a block has an odd number of pages for data",
            "give a geometry.pages_per_block that is even without ftl.summary_page",
        );
    }
    for (is_on, of) in [
        (ftl.scrub.is_some(), "scrubbed data (ftl.scrub)"),
        (ftl.wear.is_some(), "data of worn blocks (ftl.wear)"),
        (ftl.partial_writes == PartialWrites::Plane, "parts of units (ftl.partial_writes)"),
    ] {
        if is_on {
            refuse(&format!("{of} would be copied to any page"), "leave that out");
        }
    }
}

fn check_blocking(drive: &DriveConfig, gc: &GcConfig, problems: &mut Problems) {
    if gc.blocking == Blocking::Plane {
        return;
    }
    let path = "drive.ftl.gc.blocking";
    let mut refuse = |fault: &str, remedy: &str| {
        problems.push(path, format!("{fault}; {remedy}, or choose blocking = \"plane\""));
    };
    if gc.preemptible {
        refuse(
            "preemptible garbage collection reserves nothing (preemptible is true)",
            "choose preemptible = false",
        );
    }
    if drive.scheduler.rounds.is_some() {
        refuse(
            "in rounds (scheduler.rounds) other operations of the channel go on beside a collection",
            "leave rounds out (rounds = \"none\")",
        );
    }
    if gc.streaming {
        refuse(
            "streamed pages use the channels of other packages (streaming is true)",
            "choose streaming = false",
        );
    }
}

fn check_rotation(drive: &DriveConfig, problems: &mut Problems) {
    let path = "drive.scheduler.rotation";
    let rotation = &drive.scheduler.rotation;
    if !rotation.takes_turns() {
        return;
    }
    if drive.scheduler.rounds.is_some() {
        problems.push(path, "in rounds (scheduler.rounds) a batch calls for collections; leave this out, or leave rounds out (rounds = \"none\")");
    }
    if drive.ftl.parity.is_none() {
        problems.push(
            path,
            "there are no groups of stripes (drive.ftl.parity); give parity, or leave this out",
        );
    }
    if let Rotation::Dynamic(dynamic) = rotation
        && dynamic.short.fraction() >= 1.0
    {
        let problem = format!(
            "more than {} of all bins are never short of space; give less, or choose rotation = \"rotating\"",
            dynamic.short
        );
        problems.push(format!("{path}.short"), problem);
    }
}

/// Checks the limit of a rotation, which is for the bins of a group.
pub fn check_turns(drive: &DriveConfig, layout: &Layout, problems: &mut Problems) {
    let (Some(parity), Some(at_once)) = (drive.ftl.parity, drive.scheduler.rotation.at_once())
    else {
        return;
    };
    let bins = parity.width * layout.bins_of(PoolId(0)).len() as u32;
    if at_once >= bins {
        let problem = format!(
            "{at_once} collections are no limit for the {bins} bins of a group of stripes; give less, or leave rotation out"
        );
        problems.push("drive.scheduler.rotation.at_once", problem);
    }
}

fn check_limits(drive: &DriveConfig, gc: &GcConfig, at_once: AtOnce, problems: &mut Problems) {
    let path = "drive.ftl.gc.at_once";
    if at_once == AtOnce::default() {
        problems.push(path, "nothing is limited; give channel or drive, or leave this out");
    }
    if drive.scheduler.rounds.is_some() {
        problems.push(path, "in rounds (scheduler.rounds) a batch calls for collections; leave this out, or leave rounds out (rounds = \"none\")");
    }
    for (key, given, alone) in [
        ("channel", at_once.channel.is_some(), gc.blocking != Blocking::Plane),
        ("drive", at_once.drive.is_some(), gc.blocking == Blocking::Controller),
    ] {
        if given && alone {
            let path = format!("{path}.{key}");
            problems.push(path, "a collection reserves this for itself while it copies (blocking), so only one copies at a time; leave this out, or choose blocking = \"plane\"");
        }
    }
}
