//! Length of a run, the counted part of it, its checks, and its records. Reads of 125 us, one after
//! the other.

use crate::common::set;
use crate::directions::case::{Case, Scene, case};
use crate::directions::requests::{PAGE, US};
use drive::Run;
use drive::check::check;
use host::Kind;

/// Reads and writes that make the drive collect.
const COLLECTS: &str =
    "[[workload]]\nname = \"host\"\nreads = \"50 %\"\nqueue_depth = 4\n[run]\nrequests = 4000\n";

fn reads(parameter: &'static str, run: &str) -> Case {
    case(parameter)
        .filled()
        .text(format!("[[workload]]\nname = \"host\"\nreads = \"100 %\"\n[run]\n{run}\n"))
}

/// Requests, those that were counted, and the beginning of counting, in us.
fn counted(scene: &Scene) -> [u64; 3] {
    let run = scene.run();
    let counted = crate::directions::requests::count(&run, Kind::Read);
    [run.issued(), counted, run.measured().begun_at().as_ns() / US]
}

/// The moment of a power cut, in us, and the number of lost requests.
fn outage(scene: &Scene) -> [u64; 2] {
    let run = scene.run();
    run.outages()
        .first()
        .map_or([0, 0], |outage| [outage.at.as_ns() / US, u64::from(outage.lost_requests)])
}

fn cut_off(parameter: &'static str) -> Case {
    reads(parameter, "requests = 100").given(&[set("recovery.map", "scan")])
}

pub fn cases() -> Vec<Case> {
    let what = "reads, those that count, and when counting begins in us";
    let units = 1_024 * 8 + 768 * 16;
    vec![
        // The nth comes at 125 (n - 1) us.
        reads("run.time", "requests = 100").see(what, counted).left_out([100, 100, 0]).under([
            ("500 us", [4, 4, 0]),
            ("501 us", [5, 5, 0]),
            ("1 ms", [8, 8, 0]),
        ]),
        reads("run.requests", "time = \"1 ms\"").see(what, counted).left_out([8, 8, 0]).under([
            ("3", [3, 3, 0]),
            ("5", [5, 5, 0]),
            ("100", [8, 8, 0]),
        ]),
        reads("run.bytes", "requests = 100").see(what, counted).left_out([100, 100, 0]).under([
            ("8 KiB", [2, 2, 0]),
            ("9 KiB", [3, 3, 0]),
            ("40 KiB", [10, 10, 0]),
        ]),
        // Later requests count; those that are under way then do not.
        reads("run.warm_up.time", "requests = 8")
            .see(what, counted)
            .left_out([8, 8, 0])
            .under([("500 us", [8, 4, 500]), ("700 us", [8, 2, 700])]),
        reads("run.warm_up.requests", "requests = 8")
            .see(what, counted)
            .left_out([8, 8, 0])
            .under([("3", [8, 5, 375]), ("5", [8, 3, 625])]),
        // A read that is answered after 125 us has not starved by then.
        reads("run.starvation.limit", "requests = 8\nstarvation = { then = \"report\" }")
            .see("reads that starve, and the age of the oldest in us", |scene| {
                let run = scene.run();
                let watch = run.starvation().expect("it is asked for");
                let starved: u64 = watch.starved().map(|one| one.requests).sum();
                [starved, watch.longest(run.now()).as_ns() / US]
            })
            .under([("125 us", [0, 125]), ("124999 ns", [8, 125]), ("1 ns", [8, 125])]),
        reads("run.starvation.then", "requests = 8\nstarvation = { limit = \"100 us\" }")
            .see("how the run ends", |scene| match scene.try_run() {
                Ok(run) => format!("after {} us", run.elapsed().as_ns() / US),
                Err(why) => why.split(':').next().unwrap_or_default().to_owned(),
            })
            .left_out("starvation")
            .under([("stop", "starvation"), ("report", "after 1000 us")]),
        reads("run.untimed", "requests = 8")
            .given(&[set("run.audit", "false")])
            .see("requests, and when the last ended, in us", |scene| {
                let run = Run::new(&scene.experiment(), &[None], &mut |_| true);
                let mut run = run.expect("it is sound").expect("nobody interrupts it");
                while run.advance(1).expect("it goes on") {}
                [run.issued(), run.elapsed().as_ns() / US]
            })
            .left_out([8, 1_000])
            .under([("false", [8, 1_000]), ("true", [8, 0])]),
        // Events that are due at that moment come first: at 125 us a read ends, and the next
        // begins.
        cut_off("run.power_cut.at")
            .see("when the power is cut in us, and requests lost", outage)
            .left_out([0, 0])
            .under([("124 us", [124, 1]), ("1 ms", [1_000, 1]), ("2 ms", [2_000, 1])]),
        // A read is taken in, is sensed after 25 us, and has crossed the channel after 100.
        cut_off("run.power_cut.after_events")
            .see("when the power is cut in us, and requests lost", outage)
            .left_out([0, 0])
            .under([("2", [25, 1]), ("3", [125, 1]), ("5", [150, 1]), ("30", [1_250, 1])]),
        // The same draw of a longer time.
        cut_off("run.power_cut.within")
            .see("when the power is cut, ns", |scene| scene.run().outages()[0].at.as_ns())
            .rises(1.99, ["1 ms", "2 ms", "4 ms"]),
        // A second account: its memory (docs/model/determinism.md), and its existence.
        reads("run.audit", "requests = 1")
            .see("bytes of the account, and accounts that are kept", move |scene| {
                let experiment = scene.experiment();
                let memory = check(&experiment).expect("it is sound").memory;
                let run = scene.run();
                [memory.audit_bytes, u64::from(run.device().is_audited())]
            })
            .under([("false", [0, 0]), ("true", [units, 1])]),
        // 150 reads take 18.75 ms.
        reads("record.interval", "requests = 150")
            .see("rows of the time series, and reads in the first", |scene| {
                let run = scene.run();
                let series = run.measured().series();
                let Some(metrics::Values::U64(reads)) = series.column("reads") else {
                    panic!("reads are whole numbers")
                };
                [series.len() as u64, reads[0]]
            })
            .left_out([2, 79])
            .under([("10 ms", [2, 79]), ("5 ms", [4, 39]), ("1 ms", [19, 7])]),
        // Each write erases, which reads meet half of the time or more.
        reads("record.collection", "requests = 400")
            .text(COLLECTS)
            .see("reads that met collection: counted and some; and its time", |scene| {
                let run = scene.run();
                let stats = crate::common::stats(&run, 0, Kind::Read);
                [u64::from(run.measured().unit_held().is_some()), u64::from(stats.met > 0)]
            })
            .left_out([0, 0])
            .under([("false", [0, 0]), ("true", [1, 1])]),
        reads("record.slowest", "requests = 150")
            .see("the slowest requests that are kept", |scene| {
                let run = scene.run();
                assert!(run.measured().slowest().iter().all(|(_, one)| one.command.bytes == PAGE));
                run.measured().slowest().len() as u64
            })
            .left_out(100)
            .under([("0", 0), ("7", 7), ("1000", 150)]),
    ]
}
