//! Contradictions of faults of flash.

use super::levels::{is_unlimited, policies};
use crate::config::DriveConfig;
use nand::Geometry;
use nand::errors::FaultsConfig;
use settings::Problems;

const PATH: &str = "drive.nand.faults";

/// Checks the faults of flash by themselves, and beside read recovery.
pub fn check(
    drive: &DriveConfig,
    faults: &FaultsConfig,
    geometry: &Geometry,
    problems: &mut Problems,
) {
    let FaultsConfig { page_per_program, word_line_per_program, die_per_hour, .. } = faults;
    let names_none = page_per_program.is_none()
        && word_line_per_program.is_none()
        && die_per_hour.is_none()
        && faults.pages.is_empty()
        && faults.word_lines.is_empty()
        && faults.dies.is_empty();
    if names_none {
        problems
            .push(PATH, "names no fault; give a probability, a rate or a list, or leave this out");
    }
    for (key, share) in
        [("page_per_program", page_per_program), ("word_line_per_program", word_line_per_program)]
    {
        if share.is_some_and(|share| share.fraction() > 1.0) {
            problems.push(format!("{PATH}.{key}"), "is a probability, at most 100 %");
        }
    }
    check_lists(drive, faults, geometry, problems);
    for (key, policy) in policies(drive) {
        if is_unlimited(&policy) {
            problems.push(key, "reads again without a limit, but no re-read mends a fault of flash (drive.nand.faults); give a limit of re-reads for all data");
        }
    }
}

/// Refuses faults of parts that do not exist.
fn check_lists(
    drive: &DriveConfig,
    faults: &FaultsConfig,
    geometry: &Geometry,
    problems: &mut Problems,
) {
    let mut refuse = |path: String, key: &str, number: u32, count: u32| {
        if number >= count {
            let what = key.replace('_', " ");
            let last = count.saturating_sub(1);
            problems.push(
                format!("{PATH}.{path}.{key}"),
                format!("there is no {what} {number}; the last one is {last}"),
            );
        }
    };
    let (planes, blocks) = (geometry.planes(), geometry.blocks_per_plane);
    let pages = geometry.pages_per_block;
    for (index, of) in faults.pages.iter().enumerate() {
        let path = format!("pages[{index}]");
        refuse(path.clone(), "plane", of.plane, planes);
        refuse(path.clone(), "block", of.block, blocks);
        refuse(path, "page", of.page, pages);
    }
    for (index, of) in faults.word_lines.iter().enumerate() {
        let path = format!("word_lines[{index}]");
        refuse(path.clone(), "plane", of.plane, planes);
        refuse(path.clone(), "block", of.block, blocks);
        refuse(path, "word_line", of.word_line, pages.div_ceil(drive.nand.cell.bits()));
    }
    for (index, of) in faults.dies.iter().enumerate() {
        refuse(format!("dies[{index}]"), "die", of.die, geometry.dies());
    }
}
