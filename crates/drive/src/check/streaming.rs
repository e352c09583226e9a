//! Conditions for pages that stream from package to package while a block is collected.

use crate::config::DriveConfig;
use ftl::{Layout, PoolId};
use nand::{Geometry, UnitLevel};
use settings::Problems;

pub fn check(drive: &DriveConfig, geometry: &Geometry, layout: &Layout, problems: &mut Problems) {
    if !drive.ftl.gc.streaming {
        return;
    }
    let path = "drive.ftl.gc.streaming";
    let package = geometry.planes_per_die * geometry.dies_per_package;
    let of = |bin| layout.first_plane(bin, 0).0 / package;
    let bins = layout.bins_of(PoolId(0));
    if bins.iter().all(|bin| of(*bin) == of(bins[0])) {
        problems.push(path, "a pool (ftl.allocation.pool) holds no second package that could take a page; choose a larger pool, or leave this out");
    }
    if layout.rows_per_batch > 1 {
        problems.push(path, format!("a mapping unit (ftl.unit) takes {} rows, which are moved one by one; choose one that a program writes at once, or leave this out", layout.rows_per_batch));
    }
    if drive.scheduler.rounds.is_some() {
        problems.push(path, "streaming cannot be combined with rounds (scheduler.rounds), in which a package takes no page before its round has ended; leave this out, or leave rounds out (rounds = \"none\")");
    }
    if drive.nand.command_cycles.is_some() {
        problems.push(path, "streaming commands two packages at once, so the cycles of their commands (nand.command_cycles) would count twice; leave streaming out, or set nand.command_cycles = \"none\"");
    }
    let units = &drive.concurrency;
    if [units.read, units.program, units.erase].contains(&UnitLevel::Channel) {
        problems.push(path, "only one package of a channel works at a time (drive.concurrency); choose smaller units, or leave this out");
    }
    if drive.ftl.gc.copy_back && layout.planes_per_bin() == layout.block_planes {
        problems.push(path, "all pages that could stream are copied back inside their planes (copy_back); choose one of both");
    }
}
