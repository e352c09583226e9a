//! Reads that go round collection: [`crate::detours`] describes the drive. An erase of 1500 us has just
//! begun on the plane that is read.

use crate::detours::{ERASE, collect, drive, first_of};
use crate::directions::case::{Case, Scene, case};
use crate::directions::requests::US;
use crate::poised::PAGE;
use host::Kind;

/// Latency of a read of a page `before` us before the end of the erase, us.
fn read(scene: &Scene, before: u64) -> u64 {
    let mut bench = collect(scene.bench());
    let at = bench.device.now().as_ns() + ERASE - before * US;
    let tag = bench.submit(at, Kind::Read, first_of(5), PAGE);
    bench.settle();
    bench.done(tag).latency() / US
}

pub fn cases() -> Vec<Case> {
    vec![
        case("drive.scheduler.read_routing.policy")
            .given(&drive(8, &[]))
            .filled()
            .see("a read at the beginning of an erase, us", |scene| read(scene, 1_500))
            .under([("suspend", 1_625), ("wait", 1_625), ("reconstruct", 128)]),
        // The seven reads of a detour take 875 us.
        case("drive.scheduler.read_routing(reconstruct).convert")
            .given(&drive(8, &[]))
            .filled()
            .see("a read 800 us before the end of an erase, us", |scene| read(scene, 800))
            .left_out(925)
            .under([("profitable", 925), ("always", 128)]),
    ]
}
