//! Content of the drive at first. On the drive here 768 units are exported of 1024.

use crate::common::{BY_HAND, Override, experiment, set};
use crate::directions::case::{Case, Predicted, Scene, case};
use crate::directions::scratch::written;
use crate::poised::shape;
use drive::Snapshot;
use ftl::{BinId, BlockId, BlockState, Lpn, Ppn, Source, Stream};
use std::collections::BTreeSet;

/// Units that hold data, units at the place where a fill by address puts them, and occupied places
/// among the first 768.
fn mapped(scene: &Scene) -> [u64; 3] {
    let bench = scene.bench();
    let ftl = bench.device.ftl();
    let places = (0..768).filter_map(|lpn| Some((lpn, ftl.lookup(Lpn(lpn))?)));
    let places: Vec<(u32, Ppn)> = places.collect();
    let in_order = places.iter().filter(|(lpn, ppn)| *lpn == ppn.0).count() as u64;
    let taken: BTreeSet<u32> = places.iter().map(|(_, ppn)| ppn.0).collect();
    [places.len() as u64, in_order, taken.range(..768).count() as u64]
}

/// Number of units that were written to age the drive.
fn aged(scene: &Scene) -> u64 {
    let done = scene.run().history().preconditioned.clone();
    assert_eq!(done.filled + done.aged, done.tally.units[Source::Host as usize]);
    done.aged
}

/// Units on flash without valid data, and blocks with some.
fn stale(scene: &Scene) -> [u64; 2] {
    let bench = scene.bench();
    let ftl = bench.device.ftl();
    let closed = |block: &BlockId| ftl.block_states()[block.0 as usize] == BlockState::Closed;
    let blocks = (0..ftl.layout.blocks()).map(BlockId).filter(closed);
    let of_blocks = blocks.map(|block| ftl.layout.units_per_block() - ftl.valid_units(block));
    let some: Vec<u32> = of_blocks.filter(|units| *units > 0).collect();
    [some.iter().sum::<u32>().into(), some.len() as u64]
}

/// Subunits of the first unit that hold data, of four of 1 KiB.
fn parts(scene: &Scene) -> u64 {
    scene.bench().device.ftl().written(Lpn(0))
}

/// A full drive that knows subunits, filled by requests.
fn in_parts(parts: &str) -> Vec<Override> {
    let filled = set("precondition.fill", "sequential");
    vec![filled, set("ftl.subunit", "1 KiB"), set("precondition.parts", parts)]
}

const UNITS: &str = "units that hold data, those that lie in order, and places they take";

/// The snapshot of a drive of which a share is full, in a file.
fn snapshot(share: &str) -> &'static str {
    let filled = [set("precondition.fill", "sequential"), set("precondition.share", share)];
    let taken = Snapshot::take(&experiment(BY_HAND, &filled), &mut |_| true);
    let taken = taken.expect("the drive has space").expect("nobody interrupts it");
    written(&format!("{share}.snapshot"), |file| taken.write(file))
}

/// Two bins, of which one at most has a new open block.
fn by_chance() -> Predicted {
    Predicted::Figures(vec![2.0..=2.0, 0.0..=1.0, 0.0..=2.0])
}

pub fn cases() -> Vec<Case> {
    let filled_and_aged =
        [set("precondition.fill", "sequential"), set("precondition.age.overwrites", "50.0")];
    let filled_and_stale = [
        set("precondition.fill", "sequential"),
        set("precondition.share", "50 %"),
        set("precondition.stale", "{ share = '12.5 %', of_block = '50 %' }"),
    ];
    vec![
        // Of a random permutation one stays in the mean, more than ten 1 in 10^8 times.
        case("precondition.fill")
            .see(UNITS, mapped)
            .under([
                ("empty", [0, 0, 0].into()),
                ("sequential", [768; 3].into()),
                ("random", Predicted::Figures(vec![768.0..=768.0, 0.0..=10.0, 768.0..=768.0])),
            ])
            .left_out([0, 0, 0]),
        // From the beginning of the space, so all of it lies in order.
        case("precondition.share")
            .filled()
            .see(UNITS, mapped)
            .under([("12.5 %", [96; 3]), ("50 %", [384; 3]), ("100 %", [768; 3])])
            .left_out([768; 3]),
        case("precondition.parts.size")
            .given(&in_parts("{ size = '1 KiB', align = '4 KiB' }"))
            .see("subunits that hold data, of four", parts)
            .under([("1 KiB", 0b0001), ("2 KiB", 0b0011), ("4 KiB", 0b1111)]),
        case("precondition.parts.align")
            .given(&in_parts("{ size = '1 KiB' }"))
            .see("subunits that hold data, of four", parts)
            .left_out(0b1111)
            .under([("2 KiB", 0b0101), ("3 KiB", 0b1001), ("4 KiB", 0b0001)]),
        case("precondition.parts.share")
            .given(&in_parts("{ size = '1 KiB', align = '4 KiB' }"))
            .see("subunits that hold data, of four", parts)
            .left_out(0b0001)
            .under([("100 %", 0b0001), ("0 %", 0b0000)]),
        case("precondition.age.overwrites")
            .given(&filled_and_aged)
            .see("units written by ageing", aged)
            .under([("0.0", 0), ("0.5", 384), ("2.5", 1_920)]),
        // Of 64 blocks of 16 pages an eighth of the pages, 128, half of a block each: in 16 blocks.
        case("precondition.stale.share")
            .given(&filled_and_stale)
            .see("stale units, and blocks with some", stale)
            .under([("12.5 %", [128, 16]), ("25 %", [256, 32])]),
        case("precondition.stale.of_block")
            .given(&filled_and_stale)
            .see("stale units, and blocks with some", stale)
            .under([("25 %", [128, 32]), ("50 %", [128, 16])]),
        // Ageing leaves open blocks that are partly written in at least one of the two bins, for this
        // seed. In step both are new, and one block more than `stop` is free beside them.
        case("precondition.in_step")
            .given(&filled_and_aged)
            .given(&shape(&[set("geometry.blocks_per_plane", 16)]))
            .see("bins, those whose open block is new, and those with just enough", |scene| {
                let bench = scene.bench();
                let ftl = bench.device.ftl();
                let stop = ftl.thresholds_in_blocks()[2];
                let bins = (0..ftl.layout.bins).map(BinId);
                let is_new = |bin: &BinId| {
                    ftl.next_block(*bin, Stream::Host).is_some_and(|block| {
                        ftl.block_states()[block.0 as usize] == BlockState::Open
                            && ftl.bound_units(block) == 0
                    })
                };
                let new = bins.clone().filter(is_new).count();
                let enough = bins.clone().filter(|bin| ftl.free_blocks(*bin) == stop + 1).count();
                [bins.count() as u64, new as u64, enough as u64]
            })
            .left_out(by_chance())
            .under([("true", [2, 2, 2].into()), ("false", by_chance())]),
        // A threshold in pages counts open blocks, too: 18.75 % of 16 blocks are 3, and the new open
        // blocks are 2 of the 4 that have more pages.
        case("precondition.in_step")
            .given(&filled_and_aged)
            .given(&shape(&[set("geometry.blocks_per_plane", 16)]))
            .given(&[
                set("ftl.gc.background", "18.75 % of pages"),
                set("ftl.gc.foreground", "18.75 % of pages"),
                set("ftl.gc.stop", "18.75 % of pages"),
            ])
            .see("free units of bins, if they are equal", |scene| {
                let bench = scene.bench();
                let ftl = bench.device.ftl();
                let free: BTreeSet<u32> =
                    (0..ftl.layout.bins).map(|bin| ftl.free_units(BinId(bin))).collect();
                if free.len() == 1 { u64::from(*free.first().expect("one")) } else { 0 }
            })
            .under([("true", 4 * 4), ("false", 0)]),
        // The drive of the snapshot, whatever the other keys are.
        case("precondition.snapshot")
            .text("[[workload]]\nname = \"host\"\nreads = \"100 %\"\n[run]\nrequests = 1\n")
            .see("units that hold data", |scene| {
                u64::from(scene.run().device().ftl().mapped_units())
            })
            .left_out(0)
            .under([(snapshot("50 %"), 384), (snapshot("100 %"), 768)]),
        // Sequential overwrites move nothing: every window is alike from the first on, and three
        // windows of 500 erases are the least. That is 24 000 units written over, and up to the
        // free quarter of the drive before the first erase; a window ends with a quarter of the 768
        // units.
        case("precondition.age.until_steady")
            .given(&filled_and_aged)
            .given(&[set("precondition.age.addresses", "sequential")])
            .see("units written by ageing, and beyond whole quarters", |scene| {
                let aged = aged(scene);
                [aged, aged % 192]
            })
            .under([
                ("false", [50 * 768, 0].into()),
                (
                    "true",
                    Predicted::Figures(vec![24_000.0..=24_000.0 + 256.0 + 3.0 * 192.0, 0.0..=0.0]),
                ),
            ]),
    ]
}
