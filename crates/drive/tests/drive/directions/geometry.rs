//! Arrangement of the flash: its parallel parts, its capacity, and the data that a command moves.

use crate::common::set;
use crate::directions::case::{Case, Scene, case};
use crate::directions::requests::{KIB, PAGE, READ, US, logical_units};
use host::Kind;

/// The longer of two reads that come together, of the first pages that were written
/// in turn.
fn second_of_two_reads(scene: &Scene) -> u64 {
    let mut bench = scene.bench();
    let tags = [0, 1].map(|page| bench.submit(0, Kind::Read, page * PAGE, PAGE));
    bench.settle();
    assert_eq!(bench.done(tags[0]).latency(), READ);
    bench.done(tags[1]).latency()
}

/// Two reads of one unit go one after the other; two units on a channel sense at once and take
/// turns on the channel; two channels share nothing.
const ONE_UNIT: u64 = 2 * READ;
const ONE_CHANNEL: u64 = READ + 100 * US;

fn of_two_reads(parameter: &'static str) -> Case {
    case(parameter).filled().see("the second of two reads at once, ns", second_of_two_reads)
}

pub fn cases() -> Vec<Case> {
    vec![
        of_two_reads("drive.geometry.channels").under([("1", ONE_UNIT), ("2", READ)]),
        of_two_reads("drive.geometry.packages_per_channel")
            .under([("1", ONE_UNIT), ("2", ONE_CHANNEL)]),
        of_two_reads("drive.geometry.dies_per_package")
            .under([("1", ONE_UNIT), ("2", ONE_CHANNEL)]),
        of_two_reads("drive.geometry.planes_per_die")
            .given(&[set("concurrency.read", "plane")])
            .under([("1", ONE_UNIT), ("2", ONE_CHANNEL)]),
        // Three quarters are exported.
        case("drive.geometry.blocks_per_plane")
            .see("units exported", |scene| u64::from(logical_units(&scene.experiment())))
            .under([("64", 64 * 16 * 3 / 4), ("128", 128 * 16 * 3 / 4)]),
        case("drive.geometry.pages_per_block")
            .see("blocks that 32 pages fill", |scene| {
                let mut bench = scene.bench();
                bench.alone(Kind::Write, 0, 32 * PAGE);
                u64::from(64 - bench.device.ftl().free_blocks_in_all())
            })
            .under([("8", 4), ("16", 2), ("32", 1)]),
        // Four pages of a die are sensed one by one, one page at once.
        case("drive.geometry.page_size")
            .filled()
            .see("a read of 16 KiB, ns", |scene| {
                scene.bench().alone(Kind::Read, 0, 16 * KIB).latency()
            })
            .under([("4 KiB", 4 * READ), ("8 KiB", 2 * 225 * US), ("16 KiB", 425 * US)]),
        // An eighth of the page's data travels with it.
        case("drive.geometry.page_spare")
            .filled()
            .see("a read, ns", |scene| scene.bench().alone(Kind::Read, 0, PAGE).latency())
            .under([("0 B", READ), ("512 B", READ + 12_500), ("1 KiB", READ + 25_000)]),
    ]
}
