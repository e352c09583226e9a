//! The limit of the firmware's tasks, by arithmetic. A page is moved in 25 + 100 (read) and 100 + 200 us
//! (program), a block of 16 erased in 1500.

use crate::common::{BY_HAND, Bench, Done, Override, experiment, run, run_fast, set, summary_of};
use crate::errors::errors;
use drive::{OpKind, RequestId};
use ftl::Source;
use host::Kind;
use metrics::{Holder, State};
use serde_json::json;

const US: u64 = 1_000;
const MS: u64 = 1_000 * US;
const PAGE: u64 = 4_096;
const READ: u64 = 125 * US;
const DECODE: u64 = 10 * US;

fn limit(most: u32, think_us: u64) -> Override {
    set("ftl.tasks", format!("{{ most = {most}, think = \"{think_us} us\" }}"))
}

/// Scrubbing of block after block, from 10 ms on: in the place of collection, or beside it.
pub fn scrubbed(task: &str, more: &[Override]) -> Vec<Override> {
    let own = [
        set("ftl.scrub.interval", "10 ms"),
        set("ftl.scrub.choice", "oldest"),
        set("ftl.scrub.stream", "own"),
        set("ftl.scrub.task", task),
    ];
    [&own[..], more].concat()
}

/// As [`scrubbed`], on superblocks of four dies, on a channel each, of which four pages are moved
/// at a time.
fn on_four_dies(task: &str, more: &[Override]) -> Vec<Override> {
    let own = [
        if task == "own" { set("ftl.scrub.window", 4) } else { set("ftl.gc.window", 4) },
        set("geometry.channels", 4),
        set("ftl.allocation.streams", "separate"),
        set("ftl.superblock", "{ dies = 4, width = {} }"),
    ];
    [&scrubbed(task, &own)[..], more].concat()
}

/// The moment at which the first block is erased, after the beginning of its scrub.
fn scrub_ends(bench: &mut Bench) -> u64 {
    while bench.device.ftl().tally.erases == 0 {
        assert!(bench.step());
    }
    bench.device.now().as_ns() - 10 * MS
}

#[test]
fn one_task_reads_thinks_programs_and_thinks_again() {
    for task in ["turns", "own"] {
        for think in [0, 10, 70] {
            let mut bench = Bench::filled(&scrubbed(task, &[limit(1, think)]));
            let page = READ + 300 * US + 2 * think * US;
            assert_eq!(scrub_ends(&mut bench), 16 * page + 1_500 * US, "{task} {think}");
        }
    }
}

#[test]
fn tasks_work_beside_each_other() {
    // 64 pages, and four dies to erase.
    for task in ["turns", "own"] {
        for most in [1, 2, 4, 8] {
            let mut bench = Bench::filled(&on_four_dies(task, &[limit(most, 0)]));
            let one = 64 * (READ + 300 * US) + 4 * 1_500 * US;
            let at_once = u64::from(most.min(4));
            assert_eq!(scrub_ends(&mut bench), one / at_once, "{task} {most}");
            let counts = bench.device.task_counts().expect("tasks are limited")[0];
            assert_eq!(u64::from(counts.greatest), at_once, "{task} {most}");
        }
    }
}

#[test]
fn a_task_that_thinks_keeps_others_from_beginning() {
    // Two tasks: two pages are read, the tasks think, the pages are programmed, and so on.
    let mut bench = Bench::filled(&on_four_dies("own", &[limit(2, 30)]));
    let two = READ + 300 * US + 60 * US;
    // The second pair of dies is erased when the first has been thought about.
    assert_eq!(scrub_ends(&mut bench), 32 * two + 2 * 1_500 * US + 30 * US);
}

/// Blocks of which `bins` have 48 full ones of 56 each, that collect with 4 free ones.
fn of_few_blocks(bins: u32, more: &[Override]) -> Vec<Override> {
    let own = [
        set("geometry.channels", bins),
        set("geometry.blocks_per_plane", 56),
        set("ftl.over_provisioning", format!("{{ exported = \"{} KiB\" }}", bins * 48 * 64)),
        set("ftl.gc.background", "4 blocks"),
        set("ftl.gc.stop", "4 blocks"),
    ];
    [&own[..], more].concat()
}

/// The moments at which blocks are erased, after `since`, and the blocks.
fn erases(bench: &mut Bench, since: u64, count: usize) -> Vec<(u64, usize)> {
    let mut found: Vec<(u64, usize)> = Vec::new();
    while found.len() < count {
        assert!(bench.step());
        let erased = bench.device.ftl().erase_counts().iter().enumerate();
        let erased = erased.filter(|(_, count)| **count > 0).map(|(block, _)| block);
        let new: Vec<_> = erased.filter(|of| found.iter().all(|(_, old)| old != of)).collect();
        let now = bench.device.now().as_ns();
        found.extend(new.into_iter().map(|block| (now - since, block)));
    }
    found
}

/// Scrubbing opens a block at 20 ms, so that collection begins, of blocks that are half invalid.
#[test]
fn one_task_goes_to_collection_and_to_scrubbing_in_turns() {
    let at = 20 * MS;
    for think in [0, 10, 70] {
        let page = READ + 300 * US + 2 * think * US;
        let erase = 1_500 * US;
        let of = |foreground: &str| {
            let more = [
                set("ftl.scrub.interval", "20 ms"),
                set("ftl.gc.foreground", foreground),
                limit(1, think),
            ];
            let mut bench = Bench::filled(&of_few_blocks(1, &scrubbed("own", &more)));
            let pages = (5..10).flat_map(|block| 16 * block..16 * block + 8);
            for (turn, page) in pages.enumerate() {
                bench.submit(turn as u64 * 300 * US, Kind::Write, page * PAGE, PAGE);
            }
            erases(&mut bench, at, 2)
        };
        // A page of block 0, then one of block 5 and one of block 0 in turns: of eight and sixteen.
        let first = (1 + 8 + 7) * page + erase;
        let second = first + think * US + 8 * page + erase;
        assert_eq!(of("1 block"), [(first, 5), (second, 0)], "{think}");
        // In the foreground collection has each turn until its end. Then scrubbing goes on.
        let first = (1 + 8) * page + erase;
        let second = first + think * US + 15 * page + erase;
        assert_eq!(of("4 blocks"), [(first, 5), (second, 0)], "{think}");
    }
}

/// Writes without a pause keep a bin at its foreground threshold, where scrubbing has no space.
#[test]
fn scrubbing_that_never_had_its_turn_goes_on_when_hosts_pause() {
    for think in [0, 50] {
        let more = [set("ftl.gc.stop", "3 blocks"), limit(1, think)];
        let mut bench = Bench::filled(&scrubbed("own", &more));
        let writes: Vec<u32> = (0..3_000)
            .map(|turn: u64| bench.submit(0, Kind::Write, turn * 331 % 768 * PAGE, PAGE))
            .collect();
        let scrubbed = |bench: &Bench| bench.device.ftl().tally.units[Source::Scrub as usize];
        let is_done = |bench: &Bench, tag| bench.completed().iter().any(|done| done.tag == tag);
        while !is_done(&bench, writes[2_999]) {
            assert!(bench.step());
        }
        // A block is due every 10 ms and takes 8.3 ms, but not even the first one is moved whole.
        assert!(bench.device.now().as_ns() >= 3_000 * 300 * US);
        assert!(scrubbed(&bench) < 16, "{think}: {}", scrubbed(&bench));
        // Collection ends when four blocks are free: at most four victims, each of fewer than 16 pages.
        let page = READ + 300 * US + 2 * think * US;
        let block = 16 * page + 1_500 * US + think * US;
        let now = bench.device.now().as_ns();
        bench.until(now + 5 * block);
        assert!(scrubbed(&bench) >= 16, "{think}: {}", scrubbed(&bench));
        bench.device.audit();
    }
}

/// Both bins open their fifth block at the same moment.
#[test]
fn a_collection_that_thinks_keeps_its_permit() {
    let at = 60 * MS;
    for think in [0, 10, 70] {
        let more = [set("ftl.gc.at_once", "{ drive = 1 }"), limit(1, think)];
        let mut bench = Bench::filled(&of_few_blocks(2, &more));
        // Even pages are in bin 0, odd ones in bin 1. Eight pages of each block become invalid.
        let pages = (0..7).flat_map(|block| 32 * block..32 * block + 16);
        for (turn, page) in pages.take(98).enumerate() {
            let time = if turn < 96 { turn as u64 * 300 * US } else { at };
            bench.submit(time, Kind::Write, page * PAGE, PAGE);
        }
        let page = READ + 300 * US + 2 * think * US;
        // The last writes end. Then one bin moves its eight pages, and the other one waits.
        let first = 300 * US + 8 * page + 1_500 * US;
        let second = first + think * US + 8 * page + 1_500 * US;
        assert_eq!(erases(&mut bench, at, 2), [(first, 0), (second, 56)], "{think}");
    }
}

#[test]
fn commands_of_hosts_are_not_limited() {
    for task in ["turns", "own"] {
        let mut bench = Bench::filled(&scrubbed(task, &[limit(1, 400)]));
        // A page is read until 10.125 ms, and programmed from 10.525 ms on.
        let read = bench.submit(10 * MS + 50 * US, Kind::Read, 400 * PAGE, PAGE);
        let write = bench.submit(10 * MS + 300 * US, Kind::Write, 400 * PAGE, PAGE);
        bench.until(12 * MS);
        assert_eq!(bench.done(read).latency(), 75 * US + READ);
        assert_eq!(bench.done(read).of(State::UnitScrub), 75 * US);
        assert_eq!(bench.done(write).latency(), 300 * US);
    }
}

/// Superblocks of eight dies with parity in each row, and pages that cannot be read once their erase
/// block has been read before. Page 0 and page 112 lie on the same die, in two blocks.
fn rebuilding(limit: Override) -> Bench {
    let own = [
        set("geometry.channels", 8),
        set("ftl.allocation.streams", "separate"),
        set("ftl.superblock", "{ dies = 8, width = { host = 8, collection = 8 }, xor = \"3 us\" }"),
        set("ftl.over_provisioning.reserved", "40 %"),
        set("ftl.read_recovery", "{ policy = \"ladder\", re_reads = 0 }"),
        limit,
    ];
    let mut bench = Bench::new(&[&errors(0.0, 80.5)[..], &own].concat());
    bench.alone(Kind::Write, 0, 119 * PAGE);
    for page in [0, 112] {
        assert_eq!(bench.alone(Kind::Read, page * PAGE, PAGE).latency(), READ + DECODE);
    }
    bench
}

/// A read of a page that is rebuilt by one task that thinks for 20 us.
pub fn rebuilt_by_one_task() -> Done {
    rebuilding(limit(1, 20)).alone(Kind::Read, 0, PAGE)
}

#[test]
fn the_reads_of_a_rebuild_are_tasks() {
    for (most, rounds) in [(7, 0), (4, 1), (2, 3), (1, 6)] {
        let mut bench = rebuilding(limit(most, 20));
        let read = bench.alone(Kind::Read, 0, PAGE);
        // The last of seven members waits until those before it are read, and thought about.
        let waits = rounds * (READ + 20 * US);
        assert_eq!(read.of(State::TaskLimit), waits, "{most}");
        assert_eq!(read.latency(), 2 * (READ + DECODE) + 3 * US + waits);
        assert_eq!(bench.device.counters().commands(OpKind::Read, Holder::Rebuild), 7);
    }
}

#[test]
fn two_rebuilds_share_the_tasks() {
    let mut bench = rebuilding(limit(1, 0));
    let start = bench.device.now().as_ns();
    let [first, second] = [0, 112].map(|page| bench.submit(start, Kind::Read, page * PAGE, PAGE));
    bench.settle();
    // Their die reads one after the other. Members of the first are read from 135 us on; those of the
    // second come at 260 us, when six of the first still wait.
    let latency = |tag| bench.done(tag).latency();
    assert_eq!(latency(first), 135 * US + 7 * READ + DECODE + 3 * US);
    assert_eq!(latency(second), 135 * US + 14 * READ + DECODE + 3 * US);
    assert_eq!(bench.done(first).of(State::TaskLimit), 6 * READ);
    assert_eq!(bench.done(second).of(State::TaskLimit), (7 - 1) * READ + 6 * READ);
}

#[test]
fn collection_that_is_rebuilt_leaves_its_task_to_the_members() {
    let text = "[[workload]]\nname = \"mixed\"\nreads = \"50 %\"\nsize = \"4 KiB\"\nqueue_depth = 4\n[run]\nrequests = 3000\n";
    let own = [
        set("geometry.channels", 4),
        set("geometry.blocks_per_plane", 24),
        set("ftl.allocation.streams", "separate"),
        set("ftl.superblock", "{ dies = 4, width = { host = 4, collection = 4 } }"),
        set("ftl.over_provisioning.reserved", "60 %"),
        set("ftl.read_recovery", "{ policy = \"ladder\", re_reads = 0 }"),
        set("precondition.fill", "sequential"),
        set("ftl.gc.window", 4),
        limit(1, 5),
    ];
    let run = run(&experiment(text, &[&errors(0.0, 7.5)[..], &own].concat()));
    let errors = run.measured().errors().expect("flash has errors");
    let [gc, host] = [Holder::GcRead, Holder::HostRead].map(|of| errors.rebuilds[of as usize]);
    assert!(gc > 10 && host > 10, "{:?}", errors.rebuilds);
    assert!(run.measured().tally().collected > 20);
    let counts = run.measured().tasks().expect("tasks are limited")[0];
    // The program of data is one, and its parity may be one more.
    assert_eq!(counts.greatest, 2);
}

/// Mostly small writes to a full drive.
const WRITES: &str = "[[workload]]\nname = \"mixed\"\nreads = \"30 %\"\nsize = \"4 KiB\"\nqueue_depth = 8\n[run]\nrequests = 8000\n";

/// Drives of which each has something that moves data.
fn drives() -> Vec<Vec<Override>> {
    let busy = |more: &[Override]| {
        let own = [
            set("precondition.fill", "random"),
            set("ftl.gc.background", "3 blocks"),
            set("ftl.gc.stop", "3 blocks"),
        ];
        [&own[..], more].concat()
    };
    vec![
        busy(&[set("ftl.gc.window", 4), set("geometry.channels", 2)]),
        busy(&[set("ftl.gc.copy_back", true)]),
        busy(&scrubbed("own", &[set("ftl.scrub.window", 3)])),
        busy(&scrubbed("turns", &[])),
        busy(&[set("ftl.wear.retirement_age", "85 %"), set("nand.endurance", 1_000)]),
        busy(&on_four_dies("own", &[])),
        busy(&[
            set("geometry.channels", 4),
            set("ftl.allocation.pool", "die"),
            set("ftl.parity.width", 4),
            set("ftl.over_provisioning.reserved", "50 %"),
        ]),
    ]
}

#[test]
fn a_limit_that_is_never_reached_changes_nothing() {
    for drive in drives() {
        let without = run_fast(&experiment(WRITES, &drive));
        let with = run_fast(&experiment(WRITES, &[&drive[..], &[limit(1_000_000, 0)]].concat()));
        assert_eq!(with.device().digest(), without.device().digest(), "{drive:?}");
        assert_eq!(with.measured().counters(), without.measured().counters(), "{drive:?}");
        assert_eq!(without.measured().tasks(), None);
        assert!(with.measured().tasks().expect("tasks are limited")[0].begun > 1_000);
    }
}

#[test]
fn whole_drives_work_with_one_task() {
    for drive in drives() {
        for think in [0, 50] {
            let limited = [&drive[..], &[limit(1, think), set("run.requests", 2_000)]].concat();
            let run = run(&experiment(WRITES, &limited));
            let units = run.measured().tally().units;
            let moved = units[Source::Gc as usize] + units[Source::Scrub as usize];
            assert!(moved > 100, "{drive:?}: {units:?}");
            let counts = run.measured().tasks().expect("tasks are limited")[0];
            assert_eq!(counts.greatest, 1, "{drive:?}");
            // One task at a time is never under way for longer than the run.
            let all = counts.busy_ns + counts.thinking_ns;
            assert_eq!(all, u128::from(counts.full.as_ns()));
            assert!(all <= u128::from(run.measured().span().as_ns()));
        }
    }
}

/// `summary.json` of a run of 490.125 ms in which one page is read, at the end.
fn summary(more: &[Override]) -> serde_json::Value {
    let text = "[[workload]]\nname = \"one\"\nreads = \"100 %\"\nsize = \"4 KiB\"\nqueue_depth = 1\nstart = \"490 ms\"\n[run]\nrequests = 1\n";
    summary_of(&experiment(text, more))
}

#[test]
fn results_tell_how_tasks_were_used() {
    let more =
        [set("precondition.fill", "sequential"), set("ftl.scrub.interval", "40 ms"), limit(2, 10)];
    let settings = [&scrubbed("own", &[])[..], &more].concat();
    let summary = summary(&settings);
    // Twelve blocks, each of 16 reads, 16 programs and an erase, one after the other. Of two tasks one
    // thinks about a read while the program is under way already.
    let (blocks, span) = (12, 490_125.0);
    let busy = f64::from(blocks * (16 * 425 + 1_500)) / span;
    let thinking = f64::from(blocks * 33 * 10) / span;
    // Nothing follows the erase.
    let full = f64::from(blocks * 32 * 10) / span;
    let tasks = &summary["tasks"];
    assert_eq!((&tasks["most"], &tasks["begun"]), (&json!(2), &json!(blocks * 33)));
    for (key, expected) in [("mean_busy", busy), ("mean_thinking", thinking), ("full", full)] {
        let found = tasks[key].as_f64().expect("a number");
        assert!((found - expected).abs() < 1e-12, "{key}: {found}, {expected} expected");
    }
    assert_eq!(tasks["greatest"], 2);
}

#[test]
fn results_without_a_limit_have_no_tasks() {
    let fill = [set("precondition.fill", "sequential")];
    assert_eq!(summary(&fill)["tasks"], json!(null));
}

#[test]
fn a_drive_is_shut_down_when_its_tasks_have_ended() {
    let settings = scrubbed("own", &[set("precondition.fill", "sequential"), limit(1, 900)]);
    let experiment = experiment(BY_HAND, &settings);
    let mut bench = Bench::of(&experiment);
    bench.until(12 * MS);
    assert_eq!(bench.device.ftl().tally.erases, 0);
    let copy = bench.device.clone();
    let kept = drive::Snapshot::of(copy, &experiment.drive, None, 1, &Default::default());
    let device = kept.unwrap().device(&experiment.drive, 1).unwrap();
    assert_eq!(device.ftl().erase_counts()[..2], [1, 0]);
    assert_eq!(device.ftl().mapped_units(), 768);
}

#[test]
fn a_request_is_told_that_it_waits_for_tasks() {
    let mut bench = rebuilding(limit(1, 20));
    let start = bench.device.now().as_ns();
    bench.submit(start, Kind::Read, 0, PAGE);
    bench.until(start + 300 * US);
    let told = bench.device.standings(RequestId(0));
    let words = told.first().map(|of| of.words.as_str()).unwrap_or_default();
    assert!(words.contains("being decoded or rebuilt"), "{told:?}");
    assert!(words.contains("the firmware has 1 task at a time"), "{told:?}");
}
