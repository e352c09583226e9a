//! The limit of outstanding programs. A page is programmed in 300 us, on four dies of which each has a
//! channel of its own.

use crate::common::set;
use crate::directions::case::{Case, Scene, case};
use crate::directions::requests::{PAGE, US};
use host::Kind;

/// Time until eight pages that were written at once are on flash.
fn took(scene: &Scene) -> u64 {
    scene.bench().alone(Kind::Write, 0, 8 * PAGE).latency()
}

pub fn cases() -> Vec<Case> {
    vec![
        case("drive.ftl.pressure.programs")
            .given(&[set("geometry.channels", 4)])
            .see("time to write eight pages, ns", took)
            .left_out(600 * US)
            .under([("1", 2_400 * US), ("2", 1_200 * US), ("4", 600 * US), ("100", 600 * US)]),
    ]
}
