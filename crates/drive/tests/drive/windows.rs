//! Windows of predictable latency: no maintenance in deterministic ones, and their guarantees.

use crate::common::experiment;
use crate::common::{BY_HAND, Bench, Override, run_fast, set, stats, try_experiment, try_run};
use drive::device::{End, Window};
use engine::{Instant, Span};
use ftl::SetId;
use host::Kind;
use std::collections::BTreeSet;

const PAGE: u64 = 4_096;
const US: u64 = 1_000;
const MS: u64 = 1_000 * US;
const SET: SetId = SetId(0);

/// Windows of at most 1 s, with at least 2 ms between them.
const WINDOWS: &str = "{ dtwin = \"1 s\", ndwin_low = \"2 ms\", ndwin_high = \"50 ms\" }";

fn with_windows(windows: &str, more: &[Override]) -> Vec<Override> {
    let own = [
        set("ftl.windows", windows),
        set("ftl.gc.foreground", "2 blocks"),
        set("ftl.gc.background", "4 blocks"),
        set("ftl.gc.stop", "8 blocks"),
    ];
    [&own[..], more].concat()
}

fn choose(bench: &mut Bench, ns: u64, window: Window) {
    bench.until(ns);
    bench.device.set_window(Instant::START + Span::from_ns(ns), SET, window);
}

fn ends(bench: &Bench) -> [u64; 5] {
    bench.device.window_records(SET).expect("it has windows").0.ends
}

fn ended_by(end: End) -> [u64; 5] {
    let mut ends = [0; 5];
    ends[end as usize] = 1;
    ends
}

/// Lets one command end; unlike [`Bench::alone`] this does not wait for the end of a window.
fn one(bench: &mut Bench, kind: Kind, page: u64) {
    let now = bench.device.now().as_ns();
    bench.submit(now, kind, page * PAGE, PAGE);
    while bench.device.outstanding() > 0 {
        bench.step();
    }
}

/// A full drive with 48 of 64 blocks of 16 pages in its deterministic window.
fn in_dtwin(windows: &str, more: &[Override]) -> Bench {
    let mut bench = Bench::filled(&with_windows(windows, more));
    choose(&mut bench, 0, Window::Dtwin);
    bench.step();
    assert_eq!(bench.device.window(SET), Window::Dtwin);
    bench
}

#[test]
fn as_many_writes_as_guaranteed_need_no_collection() {
    let mut bench = in_dtwin(WINDOWS, &[]);
    // Opening the 14th of 16 free blocks leaves 2, and foreground GC is due: 13 blocks of 16 pages.
    for left in (0..208).rev() {
        one(&mut bench, Kind::Write, left * 7 % 768);
        let estimates = bench.device.window_estimates(SET).expect("it lasts");
        assert_eq!((estimates.writes, estimates.reads), (left, None));
    }
    assert_eq!((bench.device.ftl().tally.erases, ends(&bench)), (0, [0; 5]));
    one(&mut bench, Kind::Write, 0);
    assert_eq!(ends(&bench), ended_by(End::Writes));
    assert_eq!(bench.device.window(SET), Window::Ndwin);
    bench.settle();
    // It collects up to the stop threshold.
    assert_eq!(bench.device.ftl().free_blocks_in_all(), 9);
}

#[test]
fn foreground_gc_is_an_excursion() {
    // Each write of a quarter of a page takes a whole one.
    let mut bench = in_dtwin(WINDOWS, &[set("geometry.page_size", "16 KiB")]);
    let units = 13 * 16 * 4;
    let before = bench.device.window_estimates(SET).expect("it lasts");
    assert_eq!(before.writes, units / 4);
    let mut last = before.writes;
    for write in 0..13 * 16 {
        one(&mut bench, Kind::Write, write);
        let now = bench.device.window_estimates(SET).expect("it lasts").writes;
        assert!(now <= last, "{now} after {last}");
        last = now;
    }
    assert_eq!(last, 0);
    assert_eq!(ends(&bench), [0; 5]);
    one(&mut bench, Kind::Write, 0);
    bench.settle();
    assert_eq!(ends(&bench), ended_by(End::Excursion));
    assert!(bench.device.ftl().tally.erases > 0);
}

#[test]
fn a_window_after_padded_programs_guarantees_what_these_leave() {
    let mut bench = in_dtwin(WINDOWS, &[set("geometry.page_size", "16 KiB")]);
    // Five pages with a unit of four each. 203 pages are left, for as many units: 50 writes of four.
    (0..5).for_each(|page| one(&mut bench, Kind::Write, page));
    let now = bench.device.now().as_ns();
    choose(&mut bench, now, Window::Ndwin);
    choose(&mut bench, now + 3 * MS, Window::Dtwin);
    bench.until(now + 4 * MS);
    let guaranteed = bench.device.window_estimates(SET).expect("it has begun").writes;
    assert_eq!(guaranteed, 50);
    (0..200).for_each(|page| one(&mut bench, Kind::Write, page));
    assert_eq!(ends(&bench), ended_by(End::Host));
    one(&mut bench, Kind::Write, 0);
    assert_eq!(ends(&bench)[End::Writes as usize], 1);
    assert_eq!(bench.device.ftl().tally.erases, 0, "no foreground GC was due");
    let (counts, events) = bench.device.window_records(SET).expect("it has windows");
    assert_eq!(counts.writes, Some((50, 13 * 16)));
    assert_eq!(events.iter().map(|event| event.writes).collect::<Vec<_>>(), [13 * 16, 50]);
}

#[test]
fn a_note_tells_that_windows_ended_by_themselves() {
    let note = |windows: &str, host: &str| {
        let text = format!(
            "[[workload]]\nname = \"reads\"\nreads = \"100 %\"\nsize = \"8 KiB\"\n[run]\nrequests = 100\n{host}"
        );
        let more = [set("precondition.fill", "sequential")];
        let experiment = experiment(&text, &with_windows(windows, &more));
        let checked = drive::check::check(&experiment).expect("a sound experiment");
        let mut run = crate::common::run(&experiment);
        let outcome = drive::results::Outcome { host_cpu_seconds: 1.0, complete: true };
        let summary = drive::results::summary(&mut run, &experiment, &checked, &[None], outcome);
        let all = summary["notes"].as_array().expect("a list").clone();
        all.into_iter().filter_map(|note| Some(note.as_str()?.to_owned())).collect::<Vec<_>>()
    };
    let has = |notes: &[String], words: &str| notes.iter().any(|note| note.contains(words));
    let few = WINDOWS.replace("dtwin", "reads = 19, dtwin");
    // Ten reads of 8 KiB are 20 of 4 KiB.
    let broken = note(&few, "windows = {}");
    let words = "1 of 1 deterministic window that ended did so by itself, not by the host (1 by reads); \
                 the host lacked them for";
    assert!(has(&broken, words), "{broken:?}");
    let whole = note(WINDOWS, "windows = {}");
    assert!(!has(&whole, "deterministic window"), "{whole:?}");
    let none = note(WINDOWS, "");
    assert!(has(&none, "nobody asks for deterministic windows"), "{none:?}");
}

#[test]
fn a_window_ends_by_time_by_reads_and_by_the_host() {
    let short = WINDOWS.replace("1 s", "3 ms");
    let mut bench = in_dtwin(&short, &[]);
    bench.until(3 * MS - 1);
    assert_eq!(bench.device.window_estimates(SET).map(|of| of.time), Some(Span::from_ns(1)));
    // A host may end it at its maximum.
    bench.until(3 * MS);
    assert_eq!(ends(&bench), [0; 5]);
    bench.until(3 * MS + 1);
    assert_eq!(ends(&bench), ended_by(End::Time));

    let few = WINDOWS.replace("dtwin", "reads = 2, dtwin");
    let mut bench = in_dtwin(&few, &[]);
    for left in [1, 0] {
        one(&mut bench, Kind::Read, 0);
        assert_eq!(bench.device.window_estimates(SET).and_then(|of| of.reads), Some(left));
    }
    one(&mut bench, Kind::Read, 0);
    assert_eq!(ends(&bench), ended_by(End::Reads));

    let mut bench = in_dtwin(WINDOWS, &[]);
    choose(&mut bench, 5 * MS, Window::Ndwin);
    assert_eq!(ends(&bench), ended_by(End::Host));
    // The next one begins 2 ms later at the earliest, after what collection has begun.
    let is_dtwin = |bench: &Bench| bench.device.window(SET) == Window::Dtwin;
    choose(&mut bench, 6 * MS, Window::Dtwin);
    bench.until(7 * MS - 1);
    assert!(!is_dtwin(&bench));
    bench.until(7 * MS);
    assert!(is_dtwin(&bench));
}

#[test]
fn a_window_begins_when_maintenance_is_over() {
    // Random overwrites until a block is being collected.
    let mut bench = Bench::filled(&with_windows(WINDOWS, &[]));
    let mut write = 0;
    while bench.device.ftl().tally.moved == 0 {
        one(&mut bench, Kind::Write, write * 389 % 768);
        write += 1;
    }
    let now = bench.device.now();
    bench.device.set_window(now, SET, Window::Dtwin);
    let erases = bench.device.ftl().tally.erases;
    while bench.device.window(SET) == Window::Ndwin {
        assert!(bench.step(), "it begins");
    }
    // The victim that was begun is erased, and nothing more.
    assert_eq!(bench.device.ftl().tally.erases, erases + 1);
    let tally = bench.device.ftl().tally;
    bench.until((bench.device.now() - Instant::START).as_ns() + 900 * MS);
    assert_eq!(bench.device.ftl().tally, tally);
    assert!(!bench.device.ftl().has_enough(ftl::BinId(0)), "it wants more");
    // It gets more after the window.
    bench.settle();
    assert!(bench.device.ftl().has_enough(ftl::BinId(0)));
}

/// Reads and writes for 12 s on an aged drive.
pub const LOAD: &str = "
    [precondition]
    fill = \"random\"
    age.overwrites = 2.0
    [[workload]]
    name = \"mix\"
    reads = \"80 %\"
    arrivals = { process = \"poisson\", rate = \"500 IOPS\" }
    queue_depth = 64
    stop.requests = 6000
";

#[test]
fn reads_in_a_window_wait_for_host_programs_alone() {
    let windows = "{ dtwin = \"300 ms\", ndwin_low = \"2 ms\", ndwin_high = \"100 ms\" }";
    let host = set("run.windows", "{}");
    let run = run_fast(&experiment(LOAD, &with_windows(windows, &[host])));
    let host = run.windows().expect("it has windows");
    let [inside, others] = host.reads(SET);
    assert_eq!(inside.count() + others.count(), stats(&run, 0, Kind::Read).latency.count());
    let (counts, events) = run.device().window_records(SET).expect("it has windows");
    // The run ends within the last one.
    assert_eq!(counts.ends[End::Host as usize], counts.begun - 1, "{counts:?}");
    assert!(events.len() > 20 && inside.count() > 2_000, "{counts:?}");
    // Reads that came before: three in four windows of 400 ms.
    let share = counts.dtwin.as_secs_f64() / (counts.dtwin + counts.ndwin).as_secs_f64();
    assert!((0.70..0.76).contains(&share), "{share}");
    // 100 erases of 1.5 ms: outside some reads meet one, inside none does.
    let [longest, outside] = [inside, others].map(|reads| reads.max().expect("some").as_ns());
    assert!(outside > 1_500 * US, "{outside}");
    let mean = inside.mean().expect("some") / others.mean().expect("some");
    assert!(longest < 1_500 * US && mean < 0.8, "{longest} {mean}");
}

#[test]
fn sets_take_their_windows_in_turn() {
    let own = [
        set("geometry.channels", 4),
        set("ftl.over_provisioning.exported", "8 MiB"),
        set("ftl.sets", "{ channels = 4 }"),
        set("run.windows", "{ dtwin = \"300 ms\", ndwin = \"100 ms\", order = \"in-turn\" }"),
    ];
    let texts: String = (1..=4)
        .map(|of| {
            format!(
                "[[workload]]\nname = \"w{of}\"\nnvm_set = {of}\nreads = \"50 %\"\nqueue_depth = 1\n\
                 think_time = \"2 ms\"\nstop.requests = 2000\n"
            )
        })
        .collect();
    let fill = "[precondition]\nfill = \"random\"\nage.overwrites = 1.0\n";
    let run = run_fast(&experiment(&format!("{fill}{texts}"), &with_windows(WINDOWS, &own)));
    let ends = |of: u32| {
        let (_, events) = run.device().window_records(SetId(of)).expect("it has windows");
        events.iter().filter(|event| event.why == End::Host).map(|event| event.at.as_ns() / MS)
    };
    // The first windows begin at 0, 100, 200 and 300 ms, and the host ends each after 300 ms.
    let phases = [0, 1, 2, 3].map(|of| ends(of).map(|ms| ms % 400).collect::<BTreeSet<_>>());
    assert_eq!(phases, [300, 0, 100, 200].map(|ms| BTreeSet::from([ms])));
}

#[test]
fn what_windows_cannot_be_combined_with_is_refused() {
    let refused = |more: &[Override]| {
        try_experiment(BY_HAND, &with_windows(WINDOWS, more)).err().unwrap_or_default()
    };
    assert_eq!(refused(&[]), "");
    for (path, value, expected) in [
        ("ftl.windows.dtwin", "400 d", "drive.ftl.windows.dtwin: 34560000 s: at most"),
        ("run.windows", "{ ndwin = \"400 d\" }", "run.windows.ndwin: 34560000 s: at most"),
        ("ftl.gc.idle_gap", "1 ms", "a collection in an idle gap"),
        ("ftl.gc.at_once", "{ channel = 1 }", "a collection that waits for a permit"),
        ("ftl.gc.blocking", "channel", "a collection that waits for a permit"),
        (
            "ftl.wear",
            "{ retirement_age = \"5 %\", age_variance = \"5 %\" }",
            "static wear-leveling",
        ),
        ("recovery", "{ map = \"scan\", trims = \"logged\" }", "checkpoints (recovery)"),
        ("run.untimed", "true", "an untimed run has no time"),
        ("ftl.windows.dtwin", "0 s", "drive.ftl.windows.dtwin: no time at all"),
        ("ftl.windows.ndwin_high", "1 ms", "ndwin_high: 1 ms is less than ndwin_low (2 ms)"),
        ("run.windows", "{ dtwin = \"2 s\" }", "2 s is more than DTWIN Time Maximum (1 s)"),
        ("run.windows", "{ ndwin = \"1 ms\" }", "1 ms is less than NDWIN Time Minimum Low (2 ms)"),
        ("run.windows", "{ ndwin = \"0 s\" }", "run.windows.ndwin: no time at all"),
    ] {
        let problems = refused(&[set(path, value)]);
        assert!(problems.contains(expected), "{path} = {value}: {problems}");
    }
    let stripes = [
        set("geometry.channels", 4),
        set("ftl.allocation.pool", "channel"),
        set("ftl.parity", "{ width = 4 }"),
    ];
    let problems = refused(&stripes);
    assert!(problems.contains("updates of stripes after trims"), "{problems}");
    let none = try_experiment(BY_HAND, &[set("run.windows", "{}")]).err().unwrap_or_default();
    assert!(none.contains("the drive has no windows of predictable latency"), "{none}");
}

#[test]
fn windows_that_the_known_writes_would_fill_are_refused() {
    // 2 blocks of 64 KiB between the thresholds are 131 kB: at 500 IOPS and a fifth of writes
    // (410 kB/s) 320 ms.
    let refused = |load: &str, dtwin: &str| {
        let host = set("run.windows", format!("{{ dtwin = \"{dtwin}\" }}"));
        let problems = try_experiment(load, &with_windows(WINDOWS, &[host])).err();
        problems.is_some_and(|problems| {
            assert!(problems.contains("hosts write"), "{problems}");
            true
        })
    };
    assert_eq!(["319 ms", "321 ms"].map(|dtwin| refused(LOAD, dtwin)), [false, true]);
    // A write of 512 bytes takes a unit, too.
    let small = LOAD.replace("reads =", "size = \"512 B\"\nreads =");
    assert_eq!(["319 ms", "321 ms"].map(|dtwin| refused(&small, dtwin)), [false, true]);
    // In bursts of 100 ms each second 328 ms have one of 100 ms: three times the rate is as much.
    let bursts = LOAD
        .replace("500 IOPS", "1500 IOPS")
        .replace("queue_depth", "bursts = { on = \"100 ms\", off = \"900 ms\" }\nqueue_depth");
    assert_eq!(["106 ms", "900 ms"].map(|dtwin| refused(&bursts, dtwin)), [false, false]);
    let bursts = bursts.replace("1500 IOPS", "4000 IOPS");
    assert_eq!(["39 ms", "41 ms"].map(|dtwin| refused(&bursts, dtwin)), [false, true]);
}

#[test]
fn a_drive_that_is_worn_out_is_told_so_although_windows_go_on() {
    let text = "[precondition]\nfill = \"sequential\"\n[[workload]]\nname = \"host\"\n\
                reads = \"0 %\"\nqueue_depth = 4\n[run]\nrequests = 100000\n";
    for windows in ["{}", "{ dtwin = \"30 ms\", ndwin = \"30 ms\" }"] {
        let more = [
            set("run.windows", windows),
            set("nand.endurance", 3),
            set("geometry.blocks_per_plane", 40),
            set("ftl.over_provisioning.reserved", "60 %"),
        ];
        let experiment = experiment(text, &with_windows(WINDOWS, &more));
        let error = try_run(&experiment).err().expect("it wears out");
        println!("{windows}: {error}");
        assert!(error.contains("the drive is stuck"), "{error}");
    }
}
