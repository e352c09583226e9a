//! Contradictions among the settings of flash, its units and the firmware's layout.

use super::{collection, partial, rounds, streaming, superblocks, wear};
use crate::config::{DriveConfig, RoundsLevel};
use ftl::{Layout, PoolLevel};
use nand::{Geometry, Timing, Units};
use settings::{Problems, Size, grouped};

/// Checks flash and firmware; returns `None` if their shape is contradictory.
pub fn check(drive: &DriveConfig, geometry: &Geometry, problems: &mut Problems) -> Option<Layout> {
    check_figures(drive, problems);
    if !check_size(drive, geometry, problems) {
        return None;
    }
    check_gang(drive, problems);
    if !superblocks::check(drive, problems) {
        return None;
    }
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
    check_codeword(drive, geometry, &layout, problems);
    check_units(drive, geometry, problems);
    check_bins(drive, geometry, &layout, problems);
    // Superblocks refuse what these check.
    if drive.ftl.superblock.is_none() {
        rounds::check(drive, geometry, problems);
        streaming::check(drive, geometry, &layout, problems);
        partial::check(drive, &layout, problems);
    }
    wear::check(drive, problems);
    collection::check(drive, problems);
    Some(layout)
}

/// Durations of flash commands.
fn check_figures(drive: &DriveConfig, problems: &mut Problems) {
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
}

/// Refuses pages without bytes and flash that is too large; returns true if there is neither.
fn check_size(drive: &DriveConfig, geometry: &Geometry, problems: &mut Problems) -> bool {
    if drive.geometry.page_size.bytes() == 0 {
        problems.push("drive.geometry.page_size", "a page holds at least a byte");
        return false;
    }
    let g = &drive.geometry;
    let planes = [g.channels, g.packages_per_channel, g.dies_per_package, g.planes_per_die]
        .iter()
        .fold(1u128, |product, count| product * u128::from(*count));
    let blocks = planes * u128::from(g.blocks_per_plane);
    if planes > 1 << 20 || blocks > u128::from(u32::MAX) {
        let [planes, blocks] = [planes, blocks].map(grouped);
        problems.push("drive.geometry", format!("{planes} planes with {blocks} blocks; at most 2^20 planes and 2^32 blocks are supported"));
        return false;
    }
    let physical = geometry.physical_bytes();
    if physical > u128::from(u64::MAX) {
        problems.push(
            "drive.geometry",
            format!("{} bytes of flash; less than 2^64 (16 EiB) are supported", grouped(physical)),
        );
        return false;
    }
    true
}

/// Refuses codewords that would span more than one separately read piece.
fn check_codeword(
    drive: &DriveConfig,
    geometry: &Geometry,
    layout: &Layout,
    problems: &mut Problems,
) {
    let Some(codeword) = drive.nand.codeword else { return };
    let path = "drive.nand.codeword";
    let (chunk, what) = match layout.unit_bytes <= layout.page_bytes {
        true => (layout.unit_bytes, "a mapping unit (drive.ftl.unit)"),
        false => (layout.page_bytes, "a page (drive.geometry.page_size)"),
    };
    if codeword.bytes() == 0 || !chunk.is_multiple_of(codeword.bytes()) {
        let chunk = Size::from_bytes(chunk);
        problems.push(path, format!("{codeword} does not divide {what} of {chunk}"));
    } else if geometry.lanes > 1 {
        problems.push(path, "the channels of a synchronous gang carry their parts of a page together; leave this out, or choose another drive.geometry.gang");
    }
}

/// Refuses units of concurrency that are smaller than the operations that occupy them.
fn check_units(drive: &DriveConfig, geometry: &Geometry, problems: &mut Problems) {
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
}

/// True for rounds, and for pools, if they are those of gangs.
pub fn of_gangs(drive: &DriveConfig) -> [bool; 2] {
    let rounds = drive.scheduler.rounds;
    [
        rounds.is_some_and(|rounds| rounds.unit == RoundsLevel::Gang),
        drive.ftl.allocation.pool == PoolLevel::Gang,
    ]
}

/// Checks gangs, which share control lines, and the settings that refer to them.
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

/// Refuses large bins that gain nothing: the blocks of a bin are opened one after the other, so its
/// planes do not work in parallel.
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

/// Mean time for which a program command occupies its flash unit, in nanoseconds.
pub fn program_ns(timing: &Timing, layout: &Layout) -> f64 {
    let programs = (0..timing.page_types()).map(|page| timing.program(page).as_ns());
    let mean = programs.sum::<u64>() as f64 / f64::from(timing.page_types());
    mean + timing.transfer(layout.row_bytes()).as_ns() as f64
}
