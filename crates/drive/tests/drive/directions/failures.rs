//! Flash that fails, and the rebuild of what was there.
//!
//! On the drive here 16 planes make two groups of 8; a page is read in 25 + 100 us, computed in 3, and
//! programmed in 100 + 200.

use crate::common::{Override, set};
use crate::detours::first_of;
use crate::directions::case::{Case, case};
use crate::directions::requests::US;
use crate::failing::two_groups;
use crate::poised::PAGE;
use host::Kind;

const PATH: &str = "drive.ftl.parity.rebuild";

/// A drive of which the first plane fails at once.
fn failing(rebuild: &str) -> Vec<Override> {
    two_groups(16, &[set("ftl.parity.rebuild", rebuild), fails("{ at = '0 s', plane = 0 }")])
}

fn fails(what: &str) -> Override {
    set("run.failures", format!("[{what}]"))
}

/// The time until 4 pages are rebuilt, in us.
fn four_pages(parameter: &'static str, rebuild: &str) -> Case {
    case(parameter).given(&failing(rebuild)).filled().see(
        "until 4 pages are rebuilt, us",
        |scene| {
            let mut bench = scene.bench();
            while bench.device.rebuild().units < 4 {
                assert!(bench.step(), "it goes on");
            }
            bench.device.now().as_ns() / US
        },
    )
}

pub fn cases() -> Vec<Case> {
    let none = two_groups(16, &[set("ftl.parity.rebuild", "none")]);
    // The first page lies on plane 0.
    let of = |parameter: &'static str| {
        case(parameter).at("run.failures").given(&none).filled().see(
            "a read of the first page after 1 ms, us",
            |scene| {
                let mut bench = scene.bench();
                let read = bench.submit(1_000 * US, Kind::Read, first_of(0), PAGE);
                while !bench.is_done(read) {
                    bench.step();
                }
                bench.done(read).latency() / US
            },
        )
    };
    let one = 125 + 3 + 300;
    vec![
        case("drive.ftl.parity.rebuild.policy")
            .at(PATH)
            .given(&two_groups(16, &[fails("{ at = '0 s', plane = 0 }")]))
            .filled()
            .see("pages that are rebuilt", |scene| {
                let mut bench = scene.bench();
                bench.settle();
                bench.device.rebuild().units
            })
            .under([("none", 0), ("background", 32)]),
        // The fourth page is begun after three times that the rate allows.
        four_pages("drive.ftl.parity.rebuild(background).rate", "background")
            .left_out(4 * one)
            .under([("4096000 B/s", 3 * 1_000 + one), ("2048000 B/s", 3 * 2_000 + one)]),
        case("drive.ftl.parity.rebuild(background).at_once")
            .given(&failing("background"))
            .filled()
            .see("if 32 pages take less than half as long as one after the other", move |scene| {
                let mut bench = scene.bench();
                bench.settle();
                let rebuild = bench.device.rebuild();
                let took = rebuild.ended.unwrap() - rebuild.began.unwrap();
                u64::from(2 * took.as_ns() < 32 * one * US)
            })
            .left_out(0)
            .under([("1", 0), ("8", 1)]),
        // Plane 0 is the die 0, and a plane of channel 0 beside plane 1.
        of("run.failures.plane")
            .under([("[{ at = '0 s', plane = 0 }]", 128), ("[{ at = '0 s', plane = 1 }]", 125)]),
        of("run.failures.die")
            .under([("[{ at = '0 s', die = 0 }]", 128), ("[{ at = '0 s', die = 1 }]", 125)]),
        of("run.failures.channel").under([
            ("[{ at = '0 s', channel = 0 }]", 128),
            ("[{ at = '0 s', channel = 1 }]", 125),
        ]),
        of("run.failures.at").under([
            ("[{ at = '999 us', plane = 0 }]", 128),
            ("[{ at = '9 ms', plane = 0 }]", 125),
        ]),
    ]
}
