//! Contradictions of faults of flash.

use super::levels::{is_unlimited, policies};
use crate::config::DriveConfig;
use crate::experiment::Experiment;
use engine::Span;
use nand::Geometry;
use nand::errors::{DieFault, FaultsConfig};
use settings::{Problems, counted};
use std::collections::BTreeMap;

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
    refuse_twice("pages", faults.pages.iter().map(|of| (of.plane, of.block, of.page)), problems);
    let word_lines = faults.word_lines.iter().map(|of| (of.plane, of.block, of.word_line));
    refuse_twice("word_lines", word_lines, problems);
    refuse_twice("dies", faults.dies.iter().map(|of| of.die), problems);
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

/// Refuses a part that a list names again: only the fault that begins first would have an effect.
fn refuse_twice<Part: Ord>(list: &str, parts: impl Iterator<Item = Part>, problems: &mut Problems) {
    let mut first = BTreeMap::new();
    for (index, part) in parts.enumerate() {
        let before = *first.entry(part).or_insert(index);
        if before != index {
            problems.push(
                format!("{PATH}.{list}[{index}]"),
                format!("names the same part as {list}[{before}]; leave one of the two out"),
            );
        }
    }
}

/// A note on dies that fail when a run of known length issues nothing any more.
pub fn note(experiment: &Experiment) -> Option<String> {
    let end = experiment.run.time?;
    let (index, DieFault { die, at }, others) = first_of(dies_from(experiment, end.span()))?;
    Some(format!(
        "die {die} fails at {at} ({PATH}.dies[{index}].at){others}, but the run issues nothing from {end} on (run.time): give an earlier moment, or a longer run"
    ))
}

/// A note on dies that had not failed when a run ended, without those of [`note`].
pub fn note_to_come(experiment: &Experiment, ended: Span) -> Option<String> {
    let end = experiment.run.time.map(|end| end.span());
    let is_early = |at: Span| end.is_none_or(|end| at < end);
    let late = dies_from(experiment, ended).filter(|(_, of)| is_early(of.at.span()));
    let (index, DieFault { die, at }, others) = first_of(late)?;
    Some(format!(
        "the run ended before die {die} failed at {at} ({PATH}.dies[{index}].at){others}: give an earlier moment, or a longer run"
    ))
}

/// The first of some dies, and the number of the others in words.
fn first_of<'a>(
    mut dies: impl Iterator<Item = (usize, &'a DieFault)>,
) -> Option<(usize, &'a DieFault, String)> {
    let (index, first) = dies.next()?;
    let others = match dies.count() as u64 {
        0 => String::new(),
        count => format!(" and {} of the list later", counted(count, "other")),
    };
    Some((index, first, others))
}

/// Listed dies that fail from a moment of the run on, with their place in the list.
fn dies_from(experiment: &Experiment, moment: Span) -> impl Iterator<Item = (usize, &DieFault)> {
    let faults = experiment.drive.nand.faults.iter();
    let dies = faults.flat_map(|faults| faults.dies.iter().enumerate());
    dies.filter(move |(_, of)| of.at.span() >= moment)
}
