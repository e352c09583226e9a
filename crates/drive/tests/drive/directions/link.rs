//! The link to the host.

use crate::common::set;
use crate::directions::case::{Case, case};
use crate::directions::requests::{KIB, PAGE, READ};
use host::Kind;

pub fn cases() -> Vec<Case> {
    vec![
        case("drive.link.rate")
            .filled()
            .see("a read, ns", |scene| scene.bench().alone(Kind::Read, 0, PAGE).latency())
            .left_out(READ)
            .under([("1 GB/s", READ + 4_096), ("2 GB/s", READ + 2_048)]),
        // Reads of unwritten data are answered at once: the answer crosses the link together with
        // the writes' data, or after it. A bus carries the second write's data when the first one
        // is done, and the read's when the second one is.
        case("drive.link.duplex")
            .given(&[set("buffer.durability", "capacitor"), set("link.rate", "1 GB/s")])
            .see("a write of 8 KiB, a read of 64 KiB and a write again at once, ns", |scene| {
                let mut bench = scene.bench();
                let write = bench.submit(0, Kind::Write, 0, 8 * KIB);
                let read = bench.submit(0, Kind::Read, 64 * KIB, 64 * KIB);
                let again = bench.submit(0, Kind::Write, 8 * KIB, 8 * KIB);
                bench.settle();
                [write, read, again].map(|id| bench.done(id).latency())
            })
            .under([
                ("full", [8_192, 65_536, 16_384]),
                ("half", [8_192, 8_192 + 65_536, 16_384 + 65_536]),
                ("bus", [16_384, 16_384 + 65_536, 16_384 + 65_536]),
            ])
            .left_out([8_192, 65_536, 16_384]),
    ]
}
