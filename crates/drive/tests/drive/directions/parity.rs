//! Parity over stripes.
//!
//! On the drive here 8 planes are on channels of their own; a page is read in 25 + 100 us and
//! programmed in 100 + 200 us.

use crate::common::set;
use crate::detours::drive;
use crate::directions::case::{Case, case};
use crate::directions::requests::US;
use crate::poised::PAGE;
use crate::tolerance::held_up;
use drive::OpKind;
use host::Kind;
use metrics::Holder;

pub fn cases() -> Vec<Case> {
    let planes = [
        set("geometry.channels", 8),
        set("ftl.allocation.pool", "plane"),
        set("buffer.size", "64 KiB"),
    ];
    let with_parity = [&planes[..], &[set("ftl.parity.width", 8)]].concat();
    vec![
        // Of 8192 pages 6144 are for data and its parity. A page of two is written with its copy, and
        // one of more with the old page and parity, which are read.
        case("drive.ftl.parity.width")
            .beside(&["drive.ftl.parity.flush"])
            .given(&planes)
            .filled()
            .see("pages of the host, and reads and programs for parity of a write", |scene| {
                let mut bench = scene.bench();
                bench.alone(Kind::Write, 0, PAGE);
                let counters = bench.device.counters();
                let of = |kind| counters.commands(kind, Holder::Parity);
                let units = u64::from(bench.device.ftl().layout.host_units);
                [units, of(OpKind::Read), of(OpKind::Program)]
            })
            .left_out([6144, 0, 0])
            .under([("2", [3072, 0, 1]), ("4", [4608, 2, 1]), ("8", [5376, 2, 1])]),
        case("drive.ftl.parity.xor")
            .given(&with_parity)
            .filled()
            .see("a write of a page, us", |scene| {
                scene.bench().alone(Kind::Write, 0, PAGE).latency() / US
            })
            .left_out(125 + 300)
            .under([("7 us", 125 + 7 + 300), ("100 us", 125 + 100 + 300)]),
        case("drive.ftl.parity.flush")
            .given(&drive(8, &[set("buffer.durability", "capacitor")]))
            .filled()
            .see(
                "programs of parity in 1.4 ms, after two writes to a stripe that is held",
                |scene| held_up(scene.bench()),
            )
            .left_out(1)
            .under([("wait", 1), ("gc-tolerant", 2)]),
    ]
}
