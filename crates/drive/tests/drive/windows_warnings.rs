//! Warnings of windows of predictable latency: the moments at which estimates fall to thresholds.

use crate::common::{BY_HAND, stats};
use crate::common::{Bench, Override, experiment, run_fast, set, try_experiment};
use crate::windows::LOAD;
use drive::device::{End, WarningCounts, Window};
use engine::{Instant, Span};
use ftl::SetId;
use host::Kind;

const PAGE: u64 = 4_096;
const MS: u64 = 1_000_000;
const SET: SetId = SetId(0);

fn with_windows(windows: &str, more: &[Override]) -> Vec<Override> {
    let all = format!("{{ {windows}, ndwin_low = \"2 ms\", ndwin_high = \"50 ms\" }}");
    let own = [
        set("ftl.windows", all),
        set("ftl.gc.foreground", "2 blocks"),
        set("ftl.gc.background", "4 blocks"),
        set("ftl.gc.stop", "8 blocks"),
    ];
    [&own[..], more].concat()
}

/// A full drive with 48 of 64 blocks of 16 pages in its deterministic window, which begins at 0.
fn in_dtwin(windows: &str, more: &[Override]) -> Bench {
    let mut bench = Bench::filled(&with_windows(windows, more));
    choose(&mut bench, 0, Window::Dtwin);
    bench.step();
    assert_eq!(bench.device.window(SET), Window::Dtwin);
    bench
}

fn choose(bench: &mut Bench, ns: u64, window: Window) {
    bench.until(ns);
    bench.device.set_window(Instant::START + Span::from_ns(ns), SET, window);
}

/// Lets one command end; a read takes 125 us, and a program 300 us.
fn one(bench: &mut Bench, kind: Kind, page: u64) {
    let now = bench.device.now().as_ns();
    bench.submit(now, kind, page * PAGE, PAGE);
    while bench.device.outstanding() > 0 {
        bench.step();
    }
}

fn pending(bench: &Bench) -> Vec<&'static str> {
    let events = bench.device.window_pending(bench.device.now(), SET);
    events.expect("it has windows").names().collect()
}

/// Number of warnings of reads, writes and time, and the shortest time before an end.
fn warnings(bench: &Bench) -> [(u64, Option<u64>); 3] {
    let (counts, _) = bench.device.window_records(SET).expect("it has windows");
    counts.warnings.map(|WarningCounts { count, shortest }| (count, shortest.map(Span::as_ns)))
}

#[test]
fn a_warning_of_reads_comes_with_the_read_that_leaves_as_many() {
    let mut bench = in_dtwin("dtwin = \"1 s\", reads = 10, reads_threshold = 3", &[]);
    (0..6).for_each(|_| one(&mut bench, Kind::Read, 0));
    assert_eq!(pending(&bench), [""; 0], "four are left");
    (0..4).for_each(|_| one(&mut bench, Kind::Read, 0));
    assert_eq!(pending(&bench), ["reads_warning"]);
    assert_eq!(warnings(&bench), [(1, None), (0, None), (0, None)], "once in a window");
    one(&mut bench, Kind::Read, 0);
    assert_eq!(pending(&bench), ["reads_warning", "typical_or_maximum_exceeded"]);
    // Four reads later.
    assert_eq!(warnings(&bench)[0], (1, Some(4 * 125_000)));
    // Events stay until the host clears them.
    let now = bench.device.now();
    assert_eq!(bench.device.take_window_pending(now, SET).expect("some").names().count(), 2);
    assert_eq!(pending(&bench), [""; 0]);
    // The next window has a warning of its own: a read of 32 KiB is eight.
    choose(&mut bench, 20 * MS, Window::Dtwin);
    bench.until(40 * MS);
    assert_eq!(bench.device.window(SET), Window::Dtwin);
    bench.submit(40 * MS, Kind::Read, 0, 8 * PAGE);
    bench.until(60 * MS);
    assert_eq!(pending(&bench), ["reads_warning"]);
    assert_eq!(warnings(&bench)[0].0, 2);
}

#[test]
fn a_warning_of_writes_comes_when_the_estimate_has_fallen_to_it() {
    // 208 pages can be written before foreground GC is due.
    let mut bench = in_dtwin("dtwin = \"1 s\", writes_threshold = 50", &[]);
    for page in 0..208 {
        one(&mut bench, Kind::Write, page);
        assert_eq!(pending(&bench).is_empty(), page + 1 < 158, "{page}");
    }
    let before = bench.device.now();
    one(&mut bench, Kind::Write, 0);
    assert_eq!(pending(&bench), ["writes_warning", "typical_or_maximum_exceeded"]);
    // The 158th write came 157 times 300 us after the first, and the 209th, which ends the window, when
    // the 208th had ended.
    assert_eq!(before.as_ns(), 208 * 300_000);
    assert_eq!(warnings(&bench)[1], (1, Some((208 - 157) * 300_000)));
    // A warning with nothing left comes with the last write that is guaranteed.
    let mut bench = in_dtwin("dtwin = \"1 s\", writes_threshold = 0", &[]);
    (0..207).for_each(|page| one(&mut bench, Kind::Write, page));
    assert_eq!(pending(&bench), [""; 0]);
    one(&mut bench, Kind::Write, 207);
    assert_eq!(pending(&bench), ["writes_warning"]);
    // A request for more than is left ends the window at once.
    let mut bench = in_dtwin("dtwin = \"1 s\", writes_threshold = 3", &[]);
    (0..200).for_each(|page| one(&mut bench, Kind::Write, page));
    bench.submit(bench.device.now().as_ns(), Kind::Write, 0, 9 * PAGE);
    bench.step();
    assert_eq!(pending(&bench), ["writes_warning", "typical_or_maximum_exceeded"]);
    assert_eq!(warnings(&bench)[1], (1, Some(0)));
}

/// The warning must come with the first event after which a drive that was never asked before would
/// tell an estimate at the threshold: the test asks copies of the drive.
#[test]
fn a_warning_of_writes_counts_on_the_space_that_is_left() {
    for (threshold, seed) in [0, 5, 60, 150].into_iter().zip(floor::seeds(3, 4)) {
        let windows = format!("dtwin = \"1 s\", writes_threshold = {threshold}");
        // Writes of a quarter of a page take a whole one, and longer ones fill theirs.
        let more = [set("geometry.page_size", "16 KiB"), set("ftl.unit", "4 KiB")];
        let mut bench = in_dtwin(&windows, &more);
        let mut random = engine::Streams::new(seed).stream("writes");
        let is_warned = |bench: &Bench| pending(bench).contains(&"writes_warning");
        let mut first = None;
        for _ in 0..400 {
            let (page, pages) = (random.below(3_000), 1 + random.below(6));
            let now = bench.device.now().as_ns();
            bench.submit(now, Kind::Write, page * PAGE, pages * PAGE);
            while bench.device.outstanding() > 0 {
                bench.step();
                let left = bench.device.clone().window_estimates(SET).map(|of| of.writes);
                if left.is_none_or(|left| left <= threshold) {
                    first = first.or(Some(bench.device.now()));
                }
                let now = bench.device.now();
                assert_eq!(is_warned(&bench), first.is_some(), "seed {seed}, at {now:?}: {left:?}");
            }
        }
        let (counts, events) = bench.device.window_records(SET).expect("it has windows");
        let end = events.first().expect("it has ended");
        assert!(matches!(end.why, End::Writes | End::Excursion), "seed {seed}: {end:?}");
        let before = end.at - first.expect("a warning");
        assert_eq!(counts.warnings[1], WarningCounts { count: 1, shortest: Some(before) });
    }
}

#[test]
fn a_warning_of_time_has_its_moment_although_nothing_happens() {
    let windows = "dtwin = \"3 ms\", time_threshold = \"1 ms\"";
    let mut bench = in_dtwin(windows, &[]);
    bench.until(2 * MS - 1);
    assert_eq!(pending(&bench), [""; 0]);
    bench.until(2 * MS);
    assert_eq!(pending(&bench), ["time_warning"]);
    assert_eq!(warnings(&bench)[2], (1, None));
    bench.until(3 * MS + 1);
    assert_eq!(pending(&bench), ["time_warning", "typical_or_maximum_exceeded"]);
    assert_eq!(warnings(&bench)[2], (1, Some(MS + 1)));
    // Clearing it does not bring it back, and asking does not count it.
    let mut bench = in_dtwin(windows, &[]);
    bench.until(2 * MS + 9);
    for expected in [1, 0] {
        let now = bench.device.now();
        let taken = bench.device.take_window_pending(now, SET).expect("it has windows");
        assert_eq!(taken.names().count(), expected);
    }
    bench.until(4 * MS);
    assert_eq!(pending(&bench), ["typical_or_maximum_exceeded"]);
    assert_eq!(warnings(&bench)[2], (1, Some(MS + 1)));
    // A host may end the window just before, or at that moment.
    for (end, count) in [(2 * MS - 1, 0), (2 * MS, 1)] {
        let mut bench = in_dtwin(windows, &[]);
        choose(&mut bench, end, Window::Ndwin);
        bench.until(10 * MS);
        assert_eq!(warnings(&bench)[2], (count, None), "{end}");
    }
}

#[test]
fn an_excursion_is_an_event() {
    // Each write of a quarter of a page takes a whole one: 208 of them, and 832 units of writes.
    let more = [set("geometry.page_size", "16 KiB")];
    let mut bench = in_dtwin("dtwin = \"1 s\", writes_threshold = 10", &more);
    for page in 0..208 {
        one(&mut bench, Kind::Write, page);
        // 208 pages are as many writes of a page.
        assert_eq!(pending(&bench).is_empty(), page + 1 < 198, "{page}");
    }
    one(&mut bench, Kind::Write, 0);
    bench.settle();
    assert_eq!(pending(&bench), ["writes_warning", "excursion"]);
    let (count, shortest) = warnings(&bench)[1];
    assert!(count == 1 && shortest.is_some_and(|shortest| shortest > 0), "{shortest:?}");
}

#[test]
fn warnings_change_nothing() {
    let run = |more: &str| {
        let windows = format!("dtwin = \"300 ms\", reads = 100{more}");
        run_fast(&experiment(LOAD, &with_windows(&windows, &[set("run.windows", "{}")])))
    };
    let more = ", reads_threshold = 90, writes_threshold = 100, time_threshold = \"200 ms\"";
    let (without, with) = (run(""), run(more));
    let of = |run: &drive::Run| {
        let (counts, events) = run.device().window_records(SET).expect("it has windows");
        let latency = stats(run, 0, Kind::Read).latency.to_json();
        (run.device().digest(), run.device().events(), latency, counts.ends, events.to_vec())
    };
    assert_eq!(of(&without), of(&with));
    let counts = |run: &drive::Run| run.device().window_records(SET).expect("some").0;
    assert_eq!(counts(&without).warnings, [WarningCounts::default(); 3]);
    let given = counts(&with).warnings.map(|of| of.count);
    assert!(given[0] > 20 && given[1] > 0 && given[2] > 0, "{given:?}");
}

#[test]
fn thresholds_that_are_reached_at_once_or_never_are_refused_or_told() {
    let told = |windows: &str, host: &str| {
        let more = [set("run.windows", host)];
        let experiment = try_experiment(BY_HAND, &with_windows(windows, &more))?;
        Ok(drive::check::check(&experiment).map_err(|all| all.to_string())?.notes.join("\n"))
    };
    let refused = |windows: &str| -> String {
        told(windows, "{}").map_err(|problems: String| problems).expect_err("it is refused")
    };
    let all = refused("dtwin = \"1 s\", reads_threshold = 3");
    assert!(
        all.contains("drive.ftl.windows.reads_threshold: the drive allows any number"),
        "{all}"
    );
    let all = refused("dtwin = \"1 s\", reads = 3, reads_threshold = 3");
    assert!(all.contains("3 is not less than reads (3)"), "{all}");
    let all = refused("dtwin = \"1 s\", time_threshold = \"1 s\"");
    assert!(
        all.contains("drive.ftl.windows.time_threshold: 1 s is not less than dtwin (1 s)"),
        "{all}"
    );
    // Two blocks of 16 pages lie between the thresholds.
    for (threshold, is_told) in [(31, false), (32, true)] {
        let notes = told(&format!("dtwin = \"1 s\", writes_threshold = {threshold}"), "{}");
        assert_eq!(notes.expect("it is sound").contains("comes at the beginning"), is_told);
    }
    for (dtwin, is_told) in [("400 ms", false), ("399 ms", true)] {
        let host = format!("{{ dtwin = \"{dtwin}\" }}");
        let notes = told("dtwin = \"1 s\", time_threshold = \"600 ms\"", &host);
        assert_eq!(notes.expect("it is sound").contains("this warning never comes"), is_told);
    }
}
