//! Faults of flash: pages, word lines and dies whose data cannot be decoded, whatever the code
//! corrects and however often they are read again.

use crate::config::DriveConfig;
use engine::{Instant, Streams};
use ftl::{Batch, Ftl};
use nand::errors::{Fault, FaultsConfig, Programmed, RandomFaults};
use nand::{Geometry, PlaneId};
use std::collections::BTreeMap;

/// Faults of a drive's flash.
#[derive(Clone)]
pub struct Faults {
    random: RandomFaults,
    pages: Listed,
    word_lines: Listed,
    /// The moment at which each die fails; empty if none ever does.
    ends_of_dies: Vec<Instant>,
    planes_per_die: u32,
    pages_per_word_line: u32,
}

/// Listed faults: the erases from which on each is there, by erase block and place in it.
type Listed = BTreeMap<(usize, u32), u32>;

impl Faults {
    /// Faults as `config` describes them, if flash has any.
    pub fn new(config: &DriveConfig, ftl: &Ftl, streams: Streams) -> Option<Box<Self>> {
        let faults = config.nand.faults.as_ref()?;
        let geometry = Geometry::from(&config.geometry);
        let of_word_line = config.nand.cell.bits();
        Some(Box::new(Self {
            random: RandomFaults::new(faults, streams, geometry.pages_per_block, of_word_line),
            pages: listed(ftl, pages(faults)),
            word_lines: listed(ftl, word_lines(faults)),
            ends_of_dies: faults.ends_of_dies(streams, geometry.dies()),
            planes_per_die: geometry.planes_per_die,
            pages_per_word_line: of_word_line,
        }))
    }

    /// The fault of a page, if it has one: the largest part that failed. The page is a row of an erase
    /// block, in a plane of the block of a batch, and is programmed.
    pub fn of(&self, ftl: &Ftl, now: Instant, at: Batch, plane: u32, row: u32) -> Option<Fault> {
        if !self.ends_of_dies.is_empty() {
            let die = ftl.plane_of(at, plane).0 / self.planes_per_die;
            if now >= self.ends_of_dies[die as usize] {
                return Some(Fault::Die);
            }
        }
        let (block, erases) = (ftl.erase_block(at, plane), ftl.erases_of(at.block));
        // The data of a row is read only when its program has ended.
        let pages = ftl.rows_programmed(at).max(row + 1);
        let of = Programmed { block: block as u64, erases, pages };
        let is_listed = |listed: &Listed, place: u32| {
            listed.get(&(block, place)).is_some_and(|from_erases| erases >= *from_erases)
        };
        if is_listed(&self.word_lines, row / self.pages_per_word_line)
            || self.random.is_in_failed_word_line(of, row)
        {
            return Some(Fault::WordLine);
        }
        (is_listed(&self.pages, row) || self.random.is_faulty_page(of, row)).then_some(Fault::Page)
    }
}

/// Listed faults: a plane, a block and a place in it, and the erases from which on it is there.
type Place = (u32, u32, u32, u32);

fn pages(faults: &FaultsConfig) -> impl Iterator<Item = Place> {
    let pages = faults.pages.iter();
    pages.map(|of| (of.plane, of.block, of.page, of.from_erases.unwrap_or(0)))
}

fn word_lines(faults: &FaultsConfig) -> impl Iterator<Item = Place> {
    let word_lines = faults.word_lines.iter();
    word_lines.map(|of| (of.plane, of.block, of.word_line, of.from_erases.unwrap_or(0)))
}

fn listed(ftl: &Ftl, places: impl Iterator<Item = Place>) -> Listed {
    let at = |(plane, block, place, from_erases)| {
        ((ftl.erase_block_in(PlaneId(plane), block), place), from_erases)
    };
    places.map(at).collect()
}
