//! The way to the host.

use crate::case::{Case, case};
use crate::common::set;
use crate::requests::{KIB, PAGE, READ};
use host::Kind;

pub fn cases() -> Vec<Case> {
    vec![
        case("drive.link.rate")
            .filled()
            .see("a read, ns", |scene| scene.bench().alone(Kind::Read, 0, PAGE).latency())
            .left_out(READ)
            .under([("1 GB/s", READ + 4_096), ("2 GB/s", READ + 2_048)]),
        // Reads of what was never written are answered at once: the answer crosses the
        // link beside the write's data, or before it.
        case("drive.link.duplex")
            .given(&[set("buffer.durability", "capacitor"), set("link.rate", "1 GB/s")])
            .see("a read of 64 KiB and a write of 8 KiB at once, ns", |scene| {
                let mut bench = scene.bench();
                let read = bench.submit(0, Kind::Read, 0, 64 * KIB);
                let write = bench.submit(0, Kind::Write, 0, 8 * KIB);
                bench.settle();
                [bench.done(read).latency(), bench.done(write).latency()]
            })
            .under([("full", [65_536, 8_192]), ("half", [65_536, 65_536 + 8_192])])
            .left_out([65_536, 8_192]),
    ]
}
