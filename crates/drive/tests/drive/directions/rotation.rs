//! Turns of collections in a group of stripes.

use crate::common::set;
use crate::detours::drive;
use crate::directions::case::{Case, case};
use crate::rotation::most_together;

/// Random writes that make more than three of eight planes collect at a time if nothing limits that.
fn on_drive(parameter: &'static str, rotation: &str) -> Case {
    case(parameter).given(&drive(8, &[set("scheduler.rotation", rotation)])).filled().see(
        "if more than one, and more than three planes collect at a time",
        |scene| {
            let most = most_together(scene.bench());
            [u64::from(most > 1), u64::from(most > 3)]
        },
    )
}

pub fn cases() -> Vec<Case> {
    let never = "{ policy = 'dynamic', short = '99 %' }";
    vec![
        // A plane that is to collect is short of space itself.
        on_drive("drive.scheduler.rotation.policy", "none").at("drive.scheduler.rotation").under([
            ("'none'", [1, 1]),
            ("'rotating'", [0, 0]),
            ("{ policy = 'dynamic', short = '0 %' }", [1, 1]),
        ]),
        on_drive("drive.scheduler.rotation(rotating).at_once", "rotating")
            .left_out([0, 0])
            .under([("1", [0, 0]), ("3", [1, 0]), ("7", [1, 1])]),
        on_drive("drive.scheduler.rotation(dynamic).at_once", never).left_out([0, 0]).under([
            ("1", [0, 0]),
            ("3", [1, 0]),
            ("7", [1, 1]),
        ]),
        on_drive("drive.scheduler.rotation(dynamic).short", "dynamic")
            .under([("99 %", [0, 0]), ("0 %", [1, 1])]),
    ]
}
