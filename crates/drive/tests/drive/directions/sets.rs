//! NVM sets: the flash of each, and the one that a workload uses. On the drive here 4 channels have 2
//! dies each, and bins take turns.

use crate::common::{Override, mean_ns, set, summary_of};
use crate::directions::case::{Case, Scene, case};
use crate::directions::requests::PAGE;
use crate::errors::{errors, ladder};
use ftl::{Lpn, SetId, Source};
use host::Kind;
use serde_json::Value;
use std::collections::BTreeSet;

/// Senses and transfers a page, in nanoseconds.
const READ: f64 = 125_000.0;

fn dies() -> Vec<Override> {
    vec![
        set("geometry.channels", 4),
        set("geometry.dies_per_package", 2),
        set("ftl.over_provisioning.exported", "16 MiB"),
    ]
}

/// Channels and dies that hold the first 16 pages.
fn spread(scene: &Scene) -> [u64; 2] {
    let mut bench = scene.bench();
    bench.alone(Kind::Write, 0, 16 * PAGE);
    let ftl = bench.device.ftl();
    let plane = |lpn| {
        let block = ftl.layout.block(ftl.lookup(Lpn(lpn)).expect("it is written"));
        ftl.layout.first_plane(ftl.layout.bin(block), 0).0
    };
    let dies: BTreeSet<u32> = (0..16).map(plane).collect();
    let channels: BTreeSet<u32> = dies.iter().map(|die| die / 2).collect();
    [channels.len() as u64, dies.len() as u64]
}

/// Planes that hold the first 16 pages.
fn planes(scene: &Scene) -> u64 {
    let mut bench = scene.bench();
    bench.alone(Kind::Write, 0, 16 * PAGE);
    let ftl = bench.device.ftl();
    let bin = |lpn| ftl.layout.bin(ftl.layout.block(ftl.lookup(Lpn(lpn)).expect("it is written")));
    (0..16).map(bin).collect::<BTreeSet<_>>().len() as u64
}

/// Units that hosts have written to each set.
fn written(scene: &Scene) -> [u64; 2] {
    let run = scene.run();
    let ftl = run.device().ftl();
    [0, 1].map(|set| ftl.tally_of(SetId(set)).units[Source::Host as usize])
}

/// The endurance groups in the results.
fn groups(scene: &Scene) -> Vec<Value> {
    summary_of(&scene.experiment())["endurance_groups"].as_array().expect("a list").clone()
}

pub fn cases() -> Vec<Case> {
    // One request at a time: reads do not wait for each other.
    let load = "[[workload]]\nname = \"load\"\nreads = \"0 %\"\nsize = \"4 KiB\"\nnvm_set = 1\n\
                [run]\nrequests = 100\n";
    let of = |cut: &str| [&dies()[..], &[set("ftl.sets", cut)]].concat();
    vec![
        case("drive.ftl.sets.channels")
            .given(&of("{ dies = 2 }"))
            .text(load)
            .see("channels and dies of 16 pages", spread)
            .left_out([4, 4])
            .under([("2", [2, 2]), ("4", [1, 1])]),
        case("drive.ftl.sets.dies")
            .given(&of("{ channels = 2 }"))
            .text(load)
            .see("channels and dies of 16 pages", spread)
            .left_out([2, 4])
            .under([("2", [2, 2])]),
        case("drive.ftl.sets.parts.channels")
            .at("drive.ftl.sets.parts")
            .given(&of("{ parts = [{ channels = [0] }, { channels = [1, 2, 3] }] }"))
            .text(load)
            .see("channels and dies of 16 pages", spread)
            .under([
                ("[{ channels = [0] }, { channels = [1, 2, 3] }]", [1, 2]),
                ("[{ channels = [0, 1, 3] }, { channels = [2] }]", [3, 6]),
            ]),
        case("drive.ftl.sets.parts.dies")
            .at("drive.ftl.sets.parts")
            .given(&of("{ parts = [{ dies = [0] }, { dies = [1, 2, 3] }] }"))
            .given(&[set("geometry.dies_per_package", 4)])
            .text(load)
            .see("planes of 16 pages", planes)
            .under([
                ("[{ dies = [0] }, { dies = [1, 2, 3] }]", 4),
                ("[{ dies = [0, 1, 3] }, { dies = [2] }]", 12),
            ]),
        case("drive.ftl.sets.parts.planes")
            .at("drive.ftl.sets.parts")
            .given(&of("{ parts = [{ planes = [0] }, { planes = [1, 2, 3] }] }"))
            .given(&[set("geometry.planes_per_die", 4)])
            .text(load)
            .see("planes of 16 pages", planes)
            .under([
                ("[{ planes = [0] }, { planes = [1, 2, 3] }]", 8),
                ("[{ planes = [0, 2, 3] }, { planes = [1] }]", 16),
            ]),
        case("drive.ftl.sets.endurance_groups")
            .given(&of("{ channels = 4 }"))
            .text(load)
            .see("endurance groups", |scene| [groups(scene).len() as u64])
            .left_out([1])
            .under([("2", [2]), ("4", [4])]),
        case("drive.ftl.sets.read_recovery_levels")
            .given(&of("{ channels = 2 }"))
            .given(&errors(700.5, 0.0))
            .given(&[
                set("nand.decode", "0 us"),
                ladder(3),
                set("ftl.read_recovery_levels", "{ 9 = 'ladder', 15 = 'none' }"),
                set("precondition.fill", "sequential"),
            ])
            .text(load.replace("reads = \"0 %\"", "reads = \"100 %\""))
            .see("a read of the first set, ns", |scene| mean_ns(&scene.run(), 0, Kind::Read))
            .left_out(4.0 * READ)
            .under([("[15, 9]", READ), ("[9, 15]", 5.0 * READ), ("[4, 15]", 4.0 * READ)]),
        case("workload.nvm_set")
            .given(&of("{ channels = 2 }"))
            .text(load)
            .see("units written to the sets", written)
            .under([("1", [100, 0]), ("2", [0, 100])]),
    ]
}
