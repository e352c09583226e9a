//! Windows of predictable latency: their lengths, and the requests of the host.

use crate::common::{Override, set};
use crate::directions::case::{Case, Scene, case};
use crate::directions::requests::PAGE;
use drive::device::Window;
use engine::{Instant, Span};
use ftl::SetId;
use host::Kind;

const MS: u64 = 1_000_000;
const SET: SetId = SetId(0);

fn windows(more: &[Override]) -> Vec<Override> {
    let own = [
        set("ftl.windows.dtwin", "50 ms"),
        set("ftl.windows.ndwin_low", "5 ms"),
        set("ftl.windows.ndwin_high", "20 ms"),
    ];
    [&own[..], more].concat()
}

/// A read each 2 ms (the first at once) after a host has chosen the deterministic window; returns the end of it in ms, and the
/// beginning of the next one, which the host chooses at once.
fn by_hand(scene: &Scene) -> [u64; 3] {
    let mut bench = scene.bench();
    bench.device.set_window(Instant::START, SET, Window::Dtwin);
    let mut at = [0, 0];
    for read in 0..60 {
        bench.until(read * 2 * MS);
        let (counts, events) = bench.device.window_records(SET).expect("it has windows");
        let (now, begun) = (bench.device.now(), counts.begun);
        if let [first, ..] = events
            && at[0] == 0
        {
            at[0] = first.at.as_ns() / MS;
            bench.device.set_window(now, SET, Window::Dtwin);
        }
        if begun == 2 && at[1] == 0 {
            at[1] = read * 2;
        }
        bench.submit(read * 2 * MS, Kind::Read, 0, PAGE);
    }
    let (_, events) = bench.device.window_records(SET).expect("it has windows");
    [at[0], at[1], events[0].reads]
}

/// The first two moments in ms at which the host of a run has ended the window of a set.
fn ends(scene: &Scene, of: u32) -> [u64; 2] {
    let run = scene.run();
    let (_, events) = run.device().window_records(SetId(of)).expect("it has windows");
    [0, 1].map(|index| (events[index].at - Instant::START + Span::ZERO).as_ns() / MS)
}

const READS: &str = "[[workload]]\nname = \"reads\"\nreads = \"100 %\"\n\
    arrivals = { process = \"constant\", rate = \"1000 IOPS\" }\nstop.requests = 400\n";

pub fn cases() -> Vec<Case> {
    let host = |more: &[Override]| windows(&[&[set("run.windows", "{}")][..], more].concat());
    let sets = [
        set("geometry.channels", 2),
        set("ftl.sets", "{ channels = 2 }"),
        set("run.windows.dtwin", "50 ms"),
        set("run.windows.ndwin", "50 ms"),
    ];
    vec![
        case("drive.ftl.windows.dtwin")
            .given(&windows(&[]))
            .filled()
            .see("end of a window, begin of the next, reads", by_hand)
            .under([("20 ms", [20, 26, 11]), ("40 ms", [40, 46, 21])]),
        // The read that is one too many ends it.
        case("drive.ftl.windows.reads")
            .given(&windows(&[]))
            .filled()
            .see("end of a window, begin of the next, reads", by_hand)
            .left_out([50, 56, 26])
            .under([("5", [10, 16, 6]), ("9", [18, 24, 10])]),
        case("drive.ftl.windows.ndwin_low")
            .given(&windows(&[]))
            .filled()
            .see("end of a window, begin of the next, reads", by_hand)
            .under([("2 ms", [50, 54, 26]), ("9 ms", [50, 60, 26])]),
        case("drive.ftl.windows.ndwin_high")
            .given(&host(&[]))
            .text(READS)
            .see("ends of windows by the host", |scene: &Scene| ends(scene, 0))
            .under([("20 ms", [50, 120]), ("30 ms", [50, 130])]),
        case("run.windows.dtwin")
            .given(&host(&[]))
            .text(READS)
            .see("ends of windows by the host", |scene: &Scene| ends(scene, 0))
            .left_out([50, 120])
            .under([("10 ms", [10, 40]), ("40 ms", [40, 100])]),
        case("run.windows.ndwin")
            .given(&host(&[]))
            .text(READS)
            .see("ends of windows by the host", |scene: &Scene| ends(scene, 0))
            .left_out([50, 120])
            .under([("10 ms", [50, 110]), ("40 ms", [50, 140])]),
        case("run.windows.order")
            .given(&host(&sets))
            .text(READS.replace("reads = \"100 %\"", "reads = \"100 %\"\nnvm_set = 1"))
            .see("ends of windows of the second set", |scene: &Scene| ends(scene, 1))
            .left_out([50, 150])
            .under([("together", [50, 150]), ("in-turn", [100, 200])]),
    ]
}
