//! Windows of predictable latency: their lengths, and the requests of the host.

use crate::common::{Bench, Override, set};
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

/// No warning came.
const NEVER: u64 = 9_999;

/// A read each 2 ms after a host has chosen the deterministic window; returns the first moment in ms at
/// which a warning is pending.
fn warned(scene: &Scene) -> u64 {
    let mut bench = scene.bench();
    bench.device.set_window(Instant::START, SET, Window::Dtwin);
    for ms in 0..50 {
        bench.until(ms * MS);
        if ms % 2 == 0 {
            bench.submit(ms * MS, Kind::Read, 0, PAGE);
            bench.until(ms * MS);
        }
        if has_warning(&bench) {
            return ms;
        }
    }
    NEVER
}

/// Writes of a page one after the other in a deterministic window until a warning comes.
fn written(scene: &Scene) -> u64 {
    let mut bench = scene.bench();
    bench.device.set_window(Instant::START, SET, Window::Dtwin);
    bench.step();
    for write in 0..230 {
        let now = bench.device.now().as_ns();
        bench.submit(now, Kind::Write, write * PAGE, PAGE);
        bench.until(now + MS / 5);
        if has_warning(&bench) {
            return write + 1;
        }
    }
    NEVER
}

fn has_warning(bench: &Bench) -> bool {
    let events = bench.device.window_pending(bench.device.now(), SET).expect("it has windows");
    events.names().any(|name| name.ends_with("warning"))
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
        case("drive.ftl.windows.time_threshold")
            .given(&windows(&[]))
            .filled()
            .see("first warning in ms", warned)
            .left_out(NEVER)
            .under([("10 ms", 40), ("49 ms", 1)]),
        // A read each 2 ms from 0 on: with the fifth of nine four are left.
        case("drive.ftl.windows.reads_threshold")
            .given(&windows(&[set("ftl.windows.reads", "9")]))
            .filled()
            .see("first warning in ms", warned)
            .left_out(NEVER)
            .under([("4", 8), ("1", 14)]),
        case("drive.ftl.windows.writes_threshold")
            .given(&windows(&[set("ftl.windows.dtwin", "1 s")]))
            .filled()
            .see("writes before the warning", written)
            .left_out(NEVER)
            // 14 blocks of 16 pages can be opened before foreground GC is due.
            .under([("24", 200), ("100", 124)]),
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
