//! Recovery from power cuts: the source of the map, and the durability of trims.

use crate::common::{self, Bench};
use crate::directions::case::{Case, Scene, case};
use crate::directions::requests::{PAGE, US};
use drive::recovery::Outage;
use host::Kind;

fn cut(bench: &mut Bench) -> Outage {
    let now = bench.device.now().as_ns();
    bench.cut_power(now).unwrap_or_else(|error| panic!("{error}"))
}

/// Writes of 300 us, one after the other.
fn writes(bench: &mut Bench, count: u64) {
    (0..count).for_each(|turn| _ = bench.submit(turn * 300 * US, Kind::Write, turn * PAGE, PAGE));
    bench.until(count * 300 * US);
}

fn checkpoints(scene: &Scene) -> u64 {
    let mut bench = scene.bench();
    writes(&mut bench, 100);
    bench.device.checkpoints().expect("there are checkpoints").0
}

pub fn cases() -> Vec<Case> {
    vec![
        // 48 blocks of 16 pages are full, 16 are free; the map takes 3 KiB.
        case("drive.recovery.map.policy")
            .at("drive.recovery.map")
            .filled()
            .see("pages read of metadata, and of the map", |scene| {
                let outage = cut(&mut scene.bench());
                [outage.pages_scanned, outage.checkpoint_pages]
            })
            .under([
                ("scan", [48 * 16 + 16, 0]),
                ("{ policy = 'checkpoint', units = 1000 }", [0, 1]),
                ("persistent", [0, 0]),
            ]),
        // A hundred writes take 30 ms.
        case("drive.recovery.map(checkpoint).every")
            .given(&[common::set("recovery.map.policy", "checkpoint")])
            .see("checkpoints", checkpoints)
            .under([("1 ms", 30), ("7 ms", 4), ("31 ms", 0)]),
        case("drive.recovery.map(checkpoint).units")
            .given(&[common::set("recovery.map.policy", "checkpoint")])
            .see("checkpoints", checkpoints)
            .under([("1", 100), ("30", 3), ("101", 0)]),
        case("drive.recovery.trims")
            .see("units that are found of three, of which one was trimmed", |scene| {
                let mut bench = scene.bench();
                writes(&mut bench, 3);
                bench.submit(900 * US, Kind::Trim, PAGE, PAGE);
                bench.until(901 * US);
                u64::from(cut(&mut bench).units)
            })
            .under([("logged", 2), ("volatile", 3)]),
    ]
}
