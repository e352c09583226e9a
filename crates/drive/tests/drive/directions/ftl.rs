//! Mapping unit, blocks over planes, over-provisioning and bad blocks.

use crate::common::{self, Override, set};
use crate::directions::case::{Case, Scene, about, case};
use crate::directions::requests::{KIB, PAGE, US, four_sigma, logical_units};
use ftl::{BinId, Source};
use host::Kind;

fn of_units(parameter: &'static str) -> Case {
    case(parameter)
        .see("units exported of 1024", |scene| u64::from(logical_units(&scene.experiment())))
}

/// Under uniform overwrites greedy collection tends to [DESNOYERS]'s closed form: 2.69 at 25 % of
/// spare over data (20 % reserved) and 1.48 at 67 % (40 %), a factor of 1.8. The fill and the
/// writes before the first erase, which move nothing, dilute it.
fn of_write_amplification(parameter: &'static str) -> Case {
    case(parameter)
        .given(&[set("precondition.fill", "random"), set("precondition.age.overwrites", "4.0")])
        .see("units programmed for one that was written", |scene| {
            scene.run().history().preconditioned.tally.write_amplification()
        })
}

/// A die of 128 small blocks, of which 16 hold data.
fn spacious() -> Vec<Override> {
    vec![
        set("geometry.blocks_per_plane", 128),
        set("geometry.pages_per_block", 4),
        set("ftl.over_provisioning.exported", format!("{} B", 64 * PAGE)),
    ]
}

const ERASES: u64 = 200;

/// Blocks that went bad with the first erases.
fn gone_bad(scene: &Scene) -> u64 {
    let mut bench = scene.bench();
    while bench.device.ftl().tally.erases < ERASES {
        bench.alone(Kind::Write, 0, PAGE);
    }
    assert_eq!(bench.device.ftl().tally.erases, ERASES);
    bench.device.ftl().tally.retired
}

pub fn cases() -> Vec<Case> {
    let bad = |blocks: f64, share: f64| about(blocks * share, four_sigma(blocks, share));
    vec![
        // The whole unit crosses the channel.
        case("drive.ftl.unit")
            .filled()
            .given(&[set("geometry.page_size", "16 KiB")])
            .see("a read of 512 B, ns", |scene| {
                scene.bench().alone(Kind::Read, 0, KIB / 2).latency()
            })
            .under([
                ("4 KiB", (25 + 100) * US),
                ("8 KiB", (25 + 200) * US),
                ("16 KiB", (25 + 400) * US),
            ]),
        // Four transfers, and a program for each row of a block, one after the other.
        case("drive.ftl.block_planes")
            .given(&[set("geometry.planes_per_die", 4)])
            .see("a write of four pages to one die, ns", |scene| {
                scene.bench().alone(Kind::Write, 0, 4 * PAGE).latency()
            })
            .under([
                ("1", (400 + 4 * 200) * US),
                ("2", (400 + 2 * 200) * US),
                ("4", (400 + 200) * US),
            ]),
        // A summary of 512 B crosses the channel and is programmed, too.
        case("drive.ftl.summary_page")
            .see("the write of a block's 15th page of 16, ns", |scene| {
                let mut bench = scene.bench();
                let writes = (0..15).map(|page| bench.alone(Kind::Write, page * PAGE, PAGE));
                writes.last().expect("there are some").latency()
            })
            .left_out(300 * US)
            .under([("false", 300 * US), ("true", 300 * US + 12_500 + 200 * US)]),
        // The rest crosses the channel twice, or not at all.
        case("drive.ftl.partial_writes")
            .filled()
            .see("a write of 1 KiB of 4 KiB, ns", |scene| {
                scene.bench().alone(Kind::Write, 0, KIB).latency()
            })
            .left_out((25 + 100 + 100 + 200) * US)
            .under([("controller", (25 + 100 + 100 + 200) * US), ("plane", (25 + 25 + 200) * US)]),
        // Bits of sectors let the second write of the same quarter go without a read.
        case("drive.ftl.subunit")
            .see("a write of 1 KiB of 4 KiB that was written before, ns", |scene| {
                let mut bench = scene.bench();
                bench.alone(Kind::Write, 0, KIB);
                bench.alone(Kind::Write, 0, KIB).latency()
            })
            .left_out((25 + 100 + 100 + 200) * US)
            .under([
                ("512 B", (100 + 200) * US),
                ("1 KiB", (100 + 200) * US),
                ("2 KiB", (25 + 100 + 100 + 200) * US),
            ]),
        // 1024 / (1 + share), 1024 x (1 - share), and the capacity itself.
        of_units("drive.ftl.over_provisioning.spare").under([("28 %", 800), ("60 %", 640)]),
        of_units("drive.ftl.over_provisioning.reserved").under([("28 %", 737), ("50 %", 512)]),
        of_units("drive.ftl.over_provisioning.exported").under([("3 MiB", 768), ("2 MiB", 512)]),
        of_write_amplification("drive.ftl.over_provisioning.spare").falls(1.4, ["25 %", "67 %"]),
        of_write_amplification("drive.ftl.over_provisioning.reserved").falls(1.4, ["20 %", "40 %"]),
        of_write_amplification("drive.ftl.over_provisioning.exported")
            .falls(1.4, ["3277 KiB", "2457 KiB"]),
        case("drive.ftl.bad_blocks.factory")
            .given(&[
                set("geometry.blocks_per_plane", 1_000),
                set("ftl.over_provisioning.reserved", "60 %"),
            ])
            .see("bad blocks of 1000", |scene| {
                1_000 - u64::from(scene.bench().device.ftl().good_blocks(BinId(0)))
            })
            .under([("0 %", 0.0.into()), ("10 %", bad(1e3, 0.1)), ("30 %", bad(1e3, 0.3))]),
        case("drive.ftl.bad_blocks.grown_per_erase")
            .given(&spacious())
            .see("blocks that went bad with 200 erases", gone_bad)
            .under([
                ("0 %", 0.0.into()),
                ("3 %", bad(ERASES as f64, 0.03)),
                ("30 %", bad(ERASES as f64, 0.3)),
            ]),
    ]
}

/// Units that were moved, for the files that count them.
pub fn moved(bench: &common::Bench) -> u64 {
    bench.device.ftl().tally.units[Source::Gc as usize]
}
