//! Clones of the prepared drive, here of 768 filled units.

use crate::common::set;
use crate::directions::case::{Case, Scene, case};

/// Number of units that were written to age the clone.
fn aged(scene: &Scene) -> f64 {
    scene.run().history().preconditioned.aged as f64
}

pub fn cases() -> Vec<Case> {
    let short = [set("run.requests", 100)];
    vec![
        // Random choices are drawn anew.
        case("clone.number")
            .filled()
            .given(&short)
            .given(&[set("workload[0].arrivals", "{ process = 'poisson', rate = '1 kIOPS' }")])
            .see("the digest of all requests", |scene| {
                format!("{:016x}", scene.run().device().digest())
            })
            .differs(["1", "2", "4294967295"]),
        // With the draw u the drive is overwritten from + (to - from) u times.
        case("clone.overwrites.from")
            .filled()
            .given(&[set("clone", "{ number = 3, overwrites = { from = 0.0, to = 4.0 } }")])
            .see("units written by ageing", aged)
            .rises(1.01, ["0.0", "2.0", "4.0"]),
        case("clone.overwrites.to")
            .filled()
            .given(&[set("clone", "{ number = 3, overwrites = { from = 0.0, to = 4.0 } }")])
            .see("units written by ageing", aged)
            .rises(1.9, ["1.0", "2.0", "4.0"]),
    ]
}
