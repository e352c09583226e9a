//! The limit of the firmware's tasks.
//!
//! A block of 64 pages, on superblocks of four dies, is scrubbed from 10 ms on. A page is read in 125 us
//! and programmed in 300; the erase takes 1500 us on each die.

use crate::common::{Override, set};
use crate::directions::case::{Case, Scene, case};
use crate::directions::requests::US;

fn scrubbed() -> Vec<Override> {
    vec![
        set("geometry.channels", 4),
        set("ftl.allocation.streams", "separate"),
        set("ftl.superblock", "{ dies = 4, width = {} }"),
        set("ftl.scrub", "{ interval = \"10 ms\", choice = \"oldest\", stream = \"own\" }"),
        set("ftl.scrub.task", "own"),
        set("ftl.scrub.window", 4),
    ]
}

/// Time until the block is erased.
fn took(scene: &Scene) -> u64 {
    let mut bench = scene.bench();
    while bench.device.ftl().tally.erases == 0 {
        bench.step();
    }
    bench.device.now().as_ns() - 10_000 * US
}

pub fn cases() -> Vec<Case> {
    let row = 16 * 425 + 1_500;
    vec![
        case("drive.ftl.tasks.most")
            .given(&scrubbed())
            .filled()
            .see("time to scrub a block, ns", took)
            .left_out(row * US)
            .under([("1", 4 * row * US), ("2", 2 * row * US), ("4", row * US)]),
        // After each of 64 reads, 64 programs and three of four erases.
        case("drive.ftl.tasks.think")
            .given(&scrubbed())
            .given(&[set("ftl.tasks.most", 1)])
            .filled()
            .see("time to scrub a block, ns", took)
            .left_out(4 * row * US)
            .under([
                ("0 us", 4 * row * US),
                ("10 us", 4 * row * US + 131 * 10 * US),
                ("100 us", 4 * row * US + 131 * 100 * US),
            ]),
    ]
}
