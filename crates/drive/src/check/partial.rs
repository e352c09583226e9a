//! Conditions for partial writes that stay inside their planes.

use crate::config::{DriveConfig, Durability};
use crate::recovery::TrimDurability;
use ftl::{Layout, PartialWrites};
use settings::Problems;

pub fn check(drive: &DriveConfig, layout: &Layout, problems: &mut Problems) {
    if drive.ftl.partial_writes != PartialWrites::Plane {
        return;
    }
    let path = "drive.ftl.partial_writes";
    if drive.buffer.durability != Durability::None {
        problems.push(path, "the write buffer would have to hold parts of units (buffer.durability); choose durability \"none\", or \"controller\" here");
    }
    if layout.units_per_batch > 1 {
        problems.push(path, format!("a program writes {} units (ftl.unit), and the other units would have to stay in place; choose a unit of at least {} bytes, or \"controller\" here", layout.units_per_batch, layout.row_bytes()));
    }
    if layout.planes_per_bin() > layout.block_planes {
        problems.push(path, "the open block of a bin may lie in other planes (ftl.allocation.bin); choose the bin \"plane\", or \"controller\" here");
    }
    if drive.recovery.is_some_and(|recovery| recovery.trims == TrimDurability::Volatile) {
        problems.push(path, "if a unit is trimmed while a part of it is written, its rest is lost, so the trim must survive a power cut (recovery.trims = \"volatile\"); choose \"logged\" there, or \"controller\" here");
    }
    if drive.ftl.gc.streaming {
        problems.push(path, "pages that stream (ftl.gc.streaming) leave their planes; choose \"controller\" here, or leave streaming out");
    }
}
