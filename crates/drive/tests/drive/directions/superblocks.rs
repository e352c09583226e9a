//! Superblocks: their dies, and the stripes of each stream.
//!
//! On the drive here 8 dies are on channels of their own.

use crate::common::{Override, set};
use crate::directions::case::{Case, case};
use crate::directions::requests::{PAGE, US};
use ftl::{Lpn, Source, Stream, Tally};
use host::Kind;
use std::collections::BTreeSet;

fn dies() -> Vec<Override> {
    vec![
        set("geometry.channels", 8),
        set("geometry.blocks_per_plane", 24),
        set("ftl.over_provisioning.reserved", "60 %"),
        set("ftl.allocation.streams", "separate"),
    ]
}

fn superblocks() -> Vec<Override> {
    [&dies()[..], &[set("ftl.superblock.dies", 8)]].concat()
}

/// Pages of a source for each of their parity; 0 without parity.
fn pages_of_parity(tally: Tally, source: Source, stream: Stream) -> u64 {
    let pages = tally.units[source as usize];
    pages.checked_div(tally.parity_of[stream as usize]).unwrap_or(0)
}

pub fn cases() -> Vec<Case> {
    let random = "[[workload]]\nname = \"random\"\nreads = \"0 %\"\nsize = \"4 KiB\"\n\
                  [run]\nrequests = 6000\n";
    let scrubs = [
        set("ftl.scrub", "{ interval = \"1 ms\", choice = \"oldest\", stream = \"own\" }"),
        set("precondition.fill", "sequential"),
    ];
    vec![
        // Bins take turns; eight pages go to as many blocks, or to the lanes of fewer.
        case("drive.ftl.superblock.dies")
            .given(&dies())
            .see("bins, and blocks of eight pages", |scene| {
                let mut bench = scene.bench();
                bench.alone(Kind::Write, 0, 8 * PAGE);
                let ftl = bench.device.ftl();
                let block = |lpn| ftl.layout.block(ftl.lookup(Lpn(lpn)).expect("written")).0;
                let blocks: BTreeSet<u32> = (0..8).map(block).collect();
                [u64::from(ftl.layout.bins), blocks.len() as u64]
            })
            .left_out([8, 8])
            .under([("2", [4, 4]), ("4", [2, 2]), ("8", [1, 1])]),
        // 56 pages: the last stripe of four members is not complete.
        case("drive.ftl.superblock.width.host")
            .given(&superblocks())
            .see("programs of parity for 56 pages", |scene| {
                let mut bench = scene.bench();
                bench.alone(Kind::Write, 0, 56 * PAGE);
                bench.device.ftl().tally.units[Source::Parity as usize]
            })
            .left_out(0)
            .under([("2", 56), ("4", 18), ("8", 8)]),
        case("drive.ftl.superblock.width.collection")
            .given(&superblocks())
            .filled()
            .text(random)
            .see("pages that collection moves for each of their parity", |scene| {
                let run = scene.run();
                pages_of_parity(run.device().ftl().tally, Source::Gc, Stream::Gc)
            })
            .left_out(0)
            .under([("2", 1), ("4", 3), ("8", 7)]),
        case("drive.ftl.superblock.width.scrub")
            .given(&[&superblocks()[..], &scrubs].concat())
            .see("scrubbed pages for each of their parity", |scene| {
                let mut bench = scene.bench();
                bench.until(200_000 * US);
                pages_of_parity(bench.device.ftl().tally, Source::Scrub, Stream::Scrub)
            })
            .left_out(0)
            .under([("2", 1), ("4", 3), ("8", 7)]),
    ]
}
