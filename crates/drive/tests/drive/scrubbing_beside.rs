//! Scrubbing as a task of its own, by arithmetic: what it does beside collection, and what it leaves
//! to it. A page is moved in 25 + 100 (read) and 100 + 200 us (program), a block of 16 erased in 1500.

use crate::common::{BY_HAND, Bench, Override, experiment, run_fast, set, summary_of};
use crate::errors::errors;
use drive::OpKind;
use ftl::{Lpn, Source};
use host::Kind;
use metrics::{Holder, State};

const US: u64 = 1_000;
const MS: u64 = 1_000 * US;
const PAGE: u64 = 4_096;

fn own(choice: &str, more: &[Override]) -> Vec<Override> {
    let own = [
        set("ftl.scrub.interval", "10 ms"),
        set("ftl.scrub.choice", format!("{{ {choice} }}")),
        set("ftl.scrub.stream", "own"),
        set("ftl.scrub.task", "own"),
    ];
    [&own[..], more].concat()
}

fn erased(bench: &Bench) -> Vec<usize> {
    let counts = bench.device.ftl().erase_counts().iter().enumerate();
    counts.filter(|(_, count)| **count > 0).map(|(block, _)| block).collect()
}

/// 48 full blocks of 56, of which blocks 5 to 9 are half invalid. Collection begins with 4 free blocks:
/// when scrubbing opens a block for its first page, after 20 ms.
fn beside_collection(more: &[Override]) -> Bench {
    let few = [
        set("ftl.scrub.interval", "20 ms"),
        set("geometry.blocks_per_plane", 56),
        set("ftl.over_provisioning", format!("{{ exported = \"{} KiB\" }}", 48 * 64)),
        set("ftl.gc.background", "4 blocks"),
        set("ftl.gc.stop", "4 blocks"),
    ];
    let mut bench = Bench::filled(&own("policy = \"oldest\"", &[&few, more].concat()));
    let pages = (5..10).flat_map(|block| 16 * block..16 * block + 8);
    for (turn, page) in pages.enumerate() {
        bench.submit(turn as u64 * 300 * US, Kind::Write, page * PAGE, PAGE);
    }
    bench
}

#[test]
fn alone_it_takes_as_long_as_in_turns() {
    let mut bench = Bench::filled(&own("policy = \"oldest\"", &[]));
    bench.until(18_300 * US - 1);
    assert_eq!(erased(&bench), [0usize; 0]);
    bench.until(38_300 * US);
    assert_eq!(erased(&bench), [0, 1, 2]);
    let (tally, counters) = (bench.device.ftl().tally, *bench.device.counters());
    assert_eq!(tally.units[Source::Scrub as usize], 3 * 16);
    assert_eq!(counters.commands(OpKind::Program, Holder::Scrub), 3 * 16);
    assert_eq!(counters.commands(OpKind::Read, Holder::Scrub), 3 * 16);
    assert_eq!(bench.device.ftl().mapped_units(), 768, "no data is lost");
}

#[test]
fn it_goes_on_beside_collection() {
    let mut bench = beside_collection(&[]);
    // The first page of block 0 is programmed at 20.425 ms. Then both have an operation each in turn:
    // eight pages of block 5, the last of which is programmed at 26.925, after that a page of block
    // 0, and the erase.
    bench.until(28_725 * US - 1);
    assert_eq!(erased(&bench), [0usize; 0]);
    bench.until(28_725 * US);
    assert_eq!(erased(&bench), [5]);
    // Nine pages of block 0 are moved by then.
    bench.until(33_200 * US - 1);
    assert_eq!(erased(&bench), [5]);
    bench.until(33_200 * US);
    assert_eq!(erased(&bench), [0, 5]);
    let tally = bench.device.ftl().tally;
    assert_eq!((tally.units[Source::Gc as usize], tally.units[Source::Scrub as usize]), (8, 16));
    // Hosts and collection share a block here, and scrubbing has its own.
    let ftl = bench.device.ftl();
    let block = |lpn| ftl.layout.block(ftl.lookup(Lpn(lpn)).expect("it has data"));
    assert_eq!(block(9 * 16), block(5 * 16 + 15));
    assert_ne!(block(0), block(9 * 16));
}

#[test]
fn it_has_the_lowest_class_while_collection_is_in_the_foreground() {
    // The same, but collection begins in the foreground: no more is scrubbed until it has ended.
    let mut bench = beside_collection(&[set("ftl.gc.foreground", "4 blocks")]);
    // From 20.425 ms on, eight pages in 425 us each, and the erase.
    let end = 20_425 * US + 8 * 425 * US + 1_500 * US;
    bench.until(end - 1);
    assert_eq!(erased(&bench), [0usize; 0]);
    assert_eq!(bench.device.ftl().tally.units[Source::Scrub as usize], 1);
    bench.until(end);
    assert_eq!(erased(&bench), [5]);
    bench.until(end + 15 * 425 * US + 1_500 * US);
    assert_eq!(erased(&bench), [0, 5]);
}

#[test]
fn host_writes_go_first() {
    let mut bench = Bench::filled(&own("policy = \"oldest\"", &[]));
    let write = bench.submit(10 * MS + 50 * US, Kind::Write, 400 * PAGE, PAGE);
    bench.until(11 * MS);
    // The page that is being read by then occupies its unit until 10.125 ms.
    assert_eq!(bench.done(write).latency(), 75 * US + 300 * US);
    assert_eq!(bench.done(write).of(State::UnitScrub), 75 * US);
}

#[test]
fn a_rate_puts_the_next_block_off() {
    // 64 KiB in 20 ms: blocks begin at 10, 30 and 50 ms.
    let mut bench =
        Bench::filled(&own("policy = \"oldest\"", &[set("ftl.scrub.rate", "3276800 B/s")]));
    for block in 0..3 {
        let end = (18_300 + 20_000 * block as u64) * US;
        bench.until(end - 1);
        assert_eq!(erased(&bench).len(), block);
        bench.until(end);
        assert_eq!(erased(&bench).len(), block + 1);
    }
}

#[test]
fn a_window_moves_several_batches_at_a_time() {
    // A page of each of four dies on four channels at a time.
    let more = [
        set("ftl.scrub.window", 4),
        set("geometry.channels", 4),
        set("ftl.allocation.streams", "separate"),
        set("ftl.superblock", "{ dies = 4, width = {} }"),
    ];
    let mut bench = Bench::filled(&own("policy = \"oldest\"", &more));
    bench.until(18_300 * US - 1);
    assert_eq!(erased(&bench), [0usize; 0]);
    bench.until(18_300 * US);
    assert_eq!(erased(&bench), [0]);
    assert_eq!(bench.device.ftl().tally.units[Source::Scrub as usize], 64);
}

fn commands(bench: &Bench, holder: Holder) -> u64 {
    bench.device.counters().commands(OpKind::Read, holder)
}

#[test]
fn a_patrol_reads_one_page_at_each_poll_and_takes_what_is_hard_to_read() {
    // 150 errors need one re-read: 125 us, 10 to decode in vain, and 125.
    let read = 260 * US;
    let mut bench = Bench::filled(&own("policy = \"patrol\"", &errors(150.5, 0.0)));
    bench.until(10 * MS + read - 1);
    assert_eq!((commands(&bench, Holder::Scrub), commands(&bench, Holder::ReRead)), (1, 1));
    // Each page that is moved needs as much.
    let end = 10 * MS + read + 16 * (read + 300 * US) + 1_500 * US;
    bench.until(end - 1);
    assert_eq!(erased(&bench), [0usize; 0]);
    assert_eq!(commands(&bench, Holder::Scrub), 1 + 16);
    bench.until(end);
    assert_eq!(erased(&bench), [0]);
    assert_eq!(bench.device.scrub_counts().expect("it scrubs").taken, 1);
}

#[test]
fn a_patrol_leaves_what_is_easy_to_read_and_goes_on_in_turn() {
    // Two re-reads are not needed.
    let mut bench = Bench::filled(&own("policy = \"patrol\", re_reads = 2", &errors(150.5, 0.0)));
    bench.until(500 * MS - 1);
    assert_eq!((commands(&bench, Holder::Scrub), commands(&bench, Holder::ReRead)), (49, 49));
    let re_reads = |block| bench.device.ftl().re_reads(ftl::BlockId(block));
    assert_eq!((0..48).map(re_reads).collect::<Vec<_>>(), [&[2][..], &[1; 47]].concat());
    let counts = bench.device.scrub_counts().expect("it scrubs");
    assert_eq!((counts.polls, counts.taken, counts.blocks), (49, 0, 0));
    assert_eq!(erased(&bench), [0usize; 0]);
}

#[test]
fn a_patrol_that_fails_loses_no_data() {
    let more = [set("ftl.read_recovery", "{ policy = \"ladder\", re_reads = 0 }")];
    let mut bench =
        Bench::filled(&own("policy = \"patrol\"", &[&errors(150.5, 0.0)[..], &more].concat()));
    bench.until(10 * MS + 125 * US);
    assert_eq!(bench.device.scrub_counts().expect("it scrubs").taken, 1, "it is moved");
    let unrecovered = |bench: &Bench| {
        let of = bench.device.errors().expect("flash has errors");
        of.unrecovered[Holder::Scrub as usize]
    };
    assert_eq!((unrecovered(&bench), bench.device.ftl().poisoned_units()), (0, 0));
    // The move of the first page loses it.
    bench.until(10 * MS + 250 * US);
    assert_eq!((unrecovered(&bench), bench.device.ftl().poisoned_units()), (1, 1));
}

/// `summary.json` of a run of 500 ms in which nothing is read or written but one page, at the end.
fn summary(more: &[Override]) -> serde_json::Value {
    let text = "[[workload]]\nname = \"one\"\nreads = \"100 %\"\nsize = \"4 KiB\"\nqueue_depth = 1\nstart = \"500 ms\"\n[run]\nrequests = 1\n";
    let fill = [set("precondition.fill", "sequential")];
    summary_of(&experiment(text, &[&fill[..], more].concat()))
}

fn notes(summary: &serde_json::Value) -> String {
    summary["notes"].to_string()
}

#[test]
fn results_tell_what_was_scrubbed_and_what_stays_above_the_limit() {
    // Fresh data has 60.5 expected errors: a block of 8.3 ms is begun every 10 ms, from 10 to 500 ms.
    let oracle = "policy = \"expected-errors\", above = 50.0";
    let above = summary(&own(oracle, &errors(60.5, 0.0)));
    let scrub = &above["scrub"];
    assert_eq!((&scrub["policy"], &scrub["polls"]), (&"expected-errors".into(), &50.into()));
    assert_eq!((&scrub["taken"], &scrub["blocks"]), (&50.into(), &49.into()));
    assert_eq!(scrub["units"], 49 * 16);
    let errors_of = &scrub["expected_errors"];
    assert_eq!((&errors_of["above"], &errors_of["highest"]), (&50.0.into(), &60.5.into()));
    assert_eq!(errors_of["blocks_above"], 47);
    assert!(notes(&above).contains("47 blocks stayed above, the worst block with 60.5"));
    let below = summary(&own(oracle, &errors(40.5, 0.0)));
    assert_eq!(below["scrub"]["taken"], 0);
    assert_eq!(below["scrub"]["expected_errors"]["blocks_above"], 0);
    assert!(!notes(&below).contains("scrubbing did not"));
    let others = summary(&own("policy = \"refresh\"", &errors(40.5, 0.0)));
    assert_eq!(others["scrub"]["expected_errors"], serde_json::Value::Null);
    assert_eq!(summary(&[])["scrub"], serde_json::Value::Null);
}

#[test]
fn a_block_that_was_begun_is_moved_before_the_drive_is_shut_down() {
    let settings = own("policy = \"oldest\"", &[set("precondition.fill", "sequential")]);
    let experiment = experiment(BY_HAND, &settings);
    let mut bench = Bench::of(&experiment);
    bench.until(12 * MS);
    assert_eq!(erased(&bench), [0usize; 0]);
    let copy = bench.device.clone();
    let kept = drive::Snapshot::of(copy, &experiment.drive, None, 1, &Default::default());
    let device = kept.unwrap().device(&experiment.drive, 1).unwrap();
    assert_eq!(device.ftl().erase_counts()[..2], [1, 0]);
    assert_eq!(device.ftl().mapped_units(), 768);
}

#[test]
fn a_task_that_never_acts_changes_nothing() {
    let text = "[[workload]]\nname = \"mixed\"\nreads = \"50 %\"\nsize = \"4 KiB\"\nqueue_depth = 4\n[run]\nrequests = 20000\n";
    let fill = [set("precondition.fill", "sequential"), set("run.audit", false)];
    let without = run_fast(&experiment(text, &fill));
    let never = own("policy = \"most-read\", reads = 4000000000", &fill);
    let with = run_fast(&experiment(text, &never));
    assert_eq!(with.device().digest(), without.device().digest());
    let counts = with.measured().scrub().expect("it scrubs")[0];
    assert!(counts.polls > 100 && counts.taken == 0, "{counts:?}");
}

#[test]
fn a_drive_that_is_stuck_is_told_so_although_polls_go_on() {
    // Every erased block is lost: the spare ones are soon used up.
    let more = [set("nand.endurance", 1)];
    for choice in ["policy = \"most-read\", reads = 1000", "policy = \"oldest\""] {
        let mut bench = Bench::filled(&own(choice, &more));
        let mut page = 1;
        while !bench.device.is_stuck() {
            if bench.device.outstanding() == 0 {
                page = page * 263 % 769;
                let now = bench.device.now().as_ns();
                assert!(now < 10_000 * MS, "it wears out");
                bench.submit(now, Kind::Write, (page - 1) * PAGE, PAGE);
            }
            bench.step();
        }
        assert_eq!(bench.device.outstanding(), 1, "the last write waits for ever");
        assert!(bench.device.why_stuck().contains("no free space"));
    }
}
