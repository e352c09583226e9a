//! Static wear-leveling.

use crate::common::{Override, set};
use crate::directions::case::{Case, Scene, case};
use crate::directions::requests::PAGE;
use host::Kind;

/// A die of 16 blocks of four pages that endure 100 erases, of 36 pages of data.
fn drive() -> Vec<Override> {
    let keep =
        ["ftl.gc.background", "ftl.gc.foreground", "ftl.gc.stop"].map(|key| set(key, "5 blocks"));
    let mut all = vec![
        set("geometry.blocks_per_plane", 16),
        set("geometry.pages_per_block", 4),
        set("ftl.over_provisioning.exported", format!("{} B", 36 * PAGE)),
        set("nand.endurance", 100),
    ];
    all.extend(keep);
    all
}

/// Erases of the most worn block after the first page was written 1600 times.
fn most_worn(scene: &Scene) -> u64 {
    let mut bench = scene.bench();
    (0..1_600).for_each(|number| drop(bench.alone(Kind::Write, number % 4 * PAGE, PAGE)));
    u64::from(*bench.device.ftl().erase_counts().iter().max().unwrap())
}

/// The course of a run in which hot and warm pages wear blocks unevenly.
fn course(scene: &Scene) -> u64 {
    let mut bench = scene.bench();
    for number in 0..1_500u64 {
        let page = if number % 8 == 0 { 4 + number / 8 % 32 } else { number % 4 };
        bench.alone(Kind::Write, page * PAGE, PAGE);
    }
    bench.device.digest()
}

pub fn cases() -> Vec<Case> {
    vec![
        // Half of the blocks hold cold data. Without migration the others share 400 erases; with
        // migration all blocks do, and none is far from the mean.
        case("drive.ftl.wear.retirement_age")
            .filled()
            .given(&drive())
            .see("erases of the most worn block", most_worn)
            .falls(1.1, ["80 %", "97 %"]),
        // Other blocks are taken if a victim's chance is smaller.
        case("drive.ftl.wear.age_variance")
            .filled()
            .given(&drive())
            .see("the course", course)
            .differs(["3 %", "6 %", "90 %"]),
        case("drive.ftl.wear.rate_window")
            .filled()
            .given(&drive())
            .given(&[set("ftl.wear.age_variance", "3 %")])
            .see("the course", course)
            .differs(["0 %", "5 %", "20 %"]),
    ]
}
