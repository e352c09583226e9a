//! Time that the firmware takes for each command.

use crate::directions::case::{Case, case};
use crate::directions::requests::{PAGE, READ, US, WRITE};
use host::Kind;

/// Duration of one command of each kind on an idle drive: read, write, trim, flush and
/// write-zeroes, of which the last counts as a trim.
fn of_each_kind(parameter: &'static str) -> Case {
    case(parameter).filled().see("one command of each kind, ns", |scene| {
        let mut bench = scene.bench();
        [Kind::Read, Kind::Write, Kind::Trim, Kind::Flush, Kind::WriteZeroes].map(|kind| {
            let (page, bytes) =
                if kind == Kind::Flush { (0, 0) } else { (kind.index() as u64, PAGE) };
            bench.alone(kind, page * PAGE, bytes).latency()
        })
    })
}

pub fn cases() -> Vec<Case> {
    const US_3: u64 = 3 * US;
    let none = [READ, WRITE, 0, 0, 0];
    vec![
        of_each_kind("drive.firmware.read")
            .under([("0 us", none), ("3 us", [READ + US_3, WRITE, 0, 0, 0])]),
        of_each_kind("drive.firmware.write")
            .under([("0 us", none), ("3 us", [READ, WRITE + US_3, 0, 0, 0])]),
        of_each_kind("drive.firmware.trim")
            .under([("0 us", none), ("3 us", [READ, WRITE, US_3, 0, US_3])]),
        of_each_kind("drive.firmware.flush")
            .under([("0 us", none), ("3 us", [READ, WRITE, 0, US_3, 0])]),
    ]
}
