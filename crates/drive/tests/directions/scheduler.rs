//! Which operation of a unit goes first.

use crate::case::{Case, case};
use crate::requests::{PAGE, US};
use host::Kind;

/// Reads come to a die at 0, 30 and 130 us, and a write at 20. The first read ends at
/// 125. In order, the write is next. In batches, the read that was there with the
/// write goes before it. Drained, all reads do.
pub fn cases() -> Vec<Case> {
    let bypass = case("drive.scheduler.bypass")
        .filled()
        .see("a write beside reads, us", |scene| {
            let mut bench = scene.bench();
            bench.submit(0, Kind::Read, 0, PAGE);
            let write = bench.submit(20 * US, Kind::Write, 20 * PAGE, PAGE);
            bench.submit(30 * US, Kind::Read, PAGE, PAGE);
            bench.submit(130 * US, Kind::Read, 2 * PAGE, PAGE);
            bench.settle();
            bench.done(write).finished / US
        })
        .under([
            ("none", 125 + 300),
            ("batch", 2 * 125 + 300),
            ("drain", 3 * 125 + 300),
        ]);
    vec![bypass]
}
