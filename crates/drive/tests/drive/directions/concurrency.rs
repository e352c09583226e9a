//! Units that each command keeps busy: on a channel of two packages of two dies of four planes, 16
//! planes or 8 pairs, 4 dies, 2 packages or one gang.

use crate::common::{Override, set};
use crate::directions::case::{Case, Scene, case};
use crate::directions::requests::{PAGE, READ, US};
use host::Kind;

/// A plane is a pool, and page i lies on plane i mod 16.
fn gang() -> Vec<Override> {
    vec![
        set("geometry.packages_per_channel", 2),
        set("geometry.dies_per_package", 2),
        set("geometry.planes_per_die", 4),
        set("geometry.blocks_per_plane", 8),
        set("geometry.pages_per_block", 4),
        set("ftl.over_provisioning.exported", format!("{} B", 256 * PAGE)),
        set("ftl.allocation.pool", "plane"),
        set("ftl.allocation.order", "PDWC"),
        set("ftl.gc.background", "2 blocks"),
        set("ftl.gc.foreground", "2 blocks"),
        set("ftl.gc.stop", "2 blocks"),
    ]
}

/// Sixteen commands at once, one for each plane, spread over packages and dies first so that none
/// waits for its unit without need. Returns the end of the last one, in us.
fn sixteen(scene: &Scene, kind: Kind) -> u64 {
    let mut bench = scene.bench();
    for plane in [0, 8, 4, 12, 2, 10, 6, 14, 1, 9, 5, 13, 3, 11, 7, 15] {
        bench.submit(0, kind, plane * PAGE, PAGE);
    }
    bench.settle() / US
}

/// End of the last command. A command works for 1000 us in the array and 100 us on the channel,
/// which all share. So `units` units, each with as many of the 16 commands, begin 100 us apart, and
/// each is occupied all the time.
fn last_of(units: u64) -> u64 {
    16 / units * 1_100 + (units - 1) * 100
}

fn of_sixteen(parameter: &'static str, kind: Kind) -> Case {
    case(parameter)
        .given(&gang())
        .given(&[set("nand.read", "['1000 us']"), set("nand.program", "['1000 us']")])
        .see("when the last of 16 commands ends, us", move |scene| sixteen(scene, kind))
        .under([
            ("plane", last_of(16)),
            ("plane-pair", last_of(8)),
            ("die", last_of(4)),
            ("package", last_of(2)),
            ("channel", last_of(1)),
        ])
}

/// Number of reads that must wait while plane 0 is erased: reads of another plane of its pair, of
/// its die, of its package and of its channel.
fn shut_out_by_an_erase(scene: &Scene) -> u64 {
    let mut bench = scene.bench();
    // Block 0 is left with one valid page of four when the next write opens a block.
    for number in [0, 1, 2, 4] {
        bench.alone(Kind::Write, 16 * number * PAGE, PAGE);
    }
    let start = bench.settle();
    bench.submit(start, Kind::Write, 16 * 5 * PAGE, PAGE);
    // Programmed by 300 us, the valid page moved by 725: the erase lasts from then on.
    let reads = [1, 2, 4, 8].map(|plane| {
        bench.submit(start + (1_000 + 200 * plane) * US, Kind::Read, plane * PAGE, PAGE)
    });
    bench.settle();
    reads.iter().filter(|tag| bench.done(**tag).latency() > READ).count() as u64
}

pub fn cases() -> Vec<Case> {
    vec![
        of_sixteen("drive.concurrency.read", Kind::Read).filled(),
        of_sixteen("drive.concurrency.program", Kind::Write),
        case("drive.concurrency.erase")
            .given(&gang())
            .filled()
            .given(&[set("concurrency.read", "plane"), set("nand.erase.execute", "10 ms")])
            .see("how many of four reads beside an erase wait", shut_out_by_an_erase)
            .under([("plane", 0), ("plane-pair", 1), ("die", 2), ("package", 3), ("channel", 4)]),
    ]
}
