//! Faults of pages, word lines and dies. On the drive here page 0 is the first of block 0 of plane 0, and
//! page 1 that of plane 1, which is another die; a word line has two pages.

use crate::common::{Override, set};
use crate::directions::case::{Case, Scene, case};
use crate::directions::requests::PAGE;
use host::Kind;

/// Flash without bit errors, on two dies.
fn given() -> Vec<Override> {
    let mut all = crate::errors::errors(0.0, 0.0);
    all.extend([set("nand.cell", "mlc"), set("geometry.channels", 2), crate::errors::ladder(0)]);
    all
}

fn failed(scene: &Scene) -> u64 {
    u64::from(scene.bench().alone(Kind::Read, 0, PAGE).failed)
}

/// The first page is read.
fn of_first(parameter: &'static str) -> Case {
    case(parameter).given(&given()).filled().see("failed units", failed)
}

/// As [`of_first`], with a list.
fn of_list(parameter: &'static str, list: &'static str) -> Case {
    of_first(parameter).at(list)
}

const PAGES: &str = "drive.nand.faults.pages";
const LINES: &str = "drive.nand.faults.word_lines";
const DIES: &str = "drive.nand.faults.dies";

pub fn cases() -> Vec<Case> {
    vec![
        of_first("drive.nand.faults.page_per_program").under([("0 %", 0), ("100 %", 1)]),
        of_first("drive.nand.faults.word_line_per_program").under([("0 %", 0), ("100 %", 1)]),
        // At a rate of 1e15 every die fails within a nanosecond or so.
        of_first("drive.nand.faults.die_per_hour").under([("0.0", 0), ("1e15", 1)]),
        of_list("drive.nand.faults.pages.plane", PAGES).under([
            ("[{ plane = 0, block = 0, page = 0 }]", 1),
            ("[{ plane = 1, block = 0, page = 0 }]", 0),
        ]),
        of_list("drive.nand.faults.pages.block", PAGES).under([
            ("[{ plane = 0, block = 0, page = 0 }]", 1),
            ("[{ plane = 0, block = 1, page = 0 }]", 0),
        ]),
        of_list("drive.nand.faults.pages.page", PAGES).under([
            ("[{ plane = 0, block = 0, page = 0 }]", 1),
            ("[{ plane = 0, block = 0, page = 1 }]", 0),
        ]),
        of_list("drive.nand.faults.pages.from_erases", PAGES).under([
            ("[{ plane = 0, block = 0, page = 0, from_erases = 0 }]", 1),
            ("[{ plane = 0, block = 0, page = 0, from_erases = 1 }]", 0),
        ]),
        of_list("drive.nand.faults.word_lines.plane", LINES).under([
            ("[{ plane = 0, block = 0, word_line = 0 }]", 1),
            ("[{ plane = 1, block = 0, word_line = 0 }]", 0),
        ]),
        of_list("drive.nand.faults.word_lines.block", LINES).under([
            ("[{ plane = 0, block = 0, word_line = 0 }]", 1),
            ("[{ plane = 0, block = 1, word_line = 0 }]", 0),
        ]),
        of_list("drive.nand.faults.word_lines.word_line", LINES).under([
            ("[{ plane = 0, block = 0, word_line = 0 }]", 1),
            ("[{ plane = 0, block = 0, word_line = 1 }]", 0),
        ]),
        of_list("drive.nand.faults.word_lines.from_erases", LINES).under([
            ("[{ plane = 0, block = 0, word_line = 0, from_erases = 0 }]", 1),
            ("[{ plane = 0, block = 0, word_line = 0, from_erases = 1 }]", 0),
        ]),
        of_list("drive.nand.faults.dies.die", DIES)
            .under([("[{ die = 0, at = '0 s' }]", 1), ("[{ die = 1, at = '0 s' }]", 0)]),
        of_list("drive.nand.faults.dies.at", DIES)
            .under([("[{ die = 0, at = '100 us' }]", 1), ("[{ die = 0, at = '1 ms' }]", 0)]),
    ]
}
