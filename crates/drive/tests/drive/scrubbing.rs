//! Scrubbing by arithmetic: the times of its polls, the blocks that it rewrites, their duration,
//! and the operations that wait for it.

use crate::common::{Bench, Override, set};
use crate::poised;
use drive::OpKind;
use ftl::Source;
use host::Kind;
use metrics::{Holder, State};

const US: u64 = 1_000;
const MS: u64 = 1_000 * US;
const PAGE: u64 = 4_096;

/// A drive of 48 full blocks of 16 pages in one plane. A page is moved in 25 + 100 (read)
/// and 100 + 200 us (program), a block erased in 1500 us: 8.3 ms a block.
fn scrubbed(interval: &str, choice: &str, more: &[Override]) -> Bench {
    let scrub =
        [set("ftl.scrub.interval", interval), set("ftl.scrub.choice", format!("{{ {choice} }}"))];
    Bench::filled(&[&scrub, more].concat())
}

fn erased(bench: &Bench) -> Vec<usize> {
    let counts = bench.device.ftl().erase_counts().iter().enumerate();
    counts.filter(|(_, count)| **count > 0).map(|(block, _)| block).collect()
}

#[test]
fn the_oldest_block_of_the_bin_is_moved_and_erased_at_each_interval() {
    let mut bench = scrubbed("10 ms", "policy = \"oldest\"", &[]);
    bench.until(18_300 * US - 1);
    assert_eq!(erased(&bench), [0usize; 0]);
    bench.until(18_300 * US);
    assert_eq!(erased(&bench), [0]);
    bench.until(38_300 * US);
    assert_eq!(erased(&bench), [0, 1, 2]);
    let (tally, counters) = (bench.device.ftl().tally, *bench.device.counters());
    assert_eq!(tally.units[Source::Scrub as usize], 3 * 16);
    assert_eq!(tally.units[Source::Gc as usize], 0);
    assert_eq!(counters.commands(OpKind::Program, Holder::Scrub), 3 * 16);
    assert_eq!(counters.commands(OpKind::Read, Holder::Scrub), 3 * 16);
    assert_eq!(bench.device.ftl().mapped_units(), 768, "no data is lost");
}

/// Two channels of such a drive. Without sets their bins take turns.
#[test]
fn each_set_has_a_scrub_turn_of_its_own() {
    let erased_by = |ms: u64, more: &[Override]| {
        let own = [
            set("geometry.channels", 2),
            set("ftl.over_provisioning", "{ exported = \"6 MiB\" }"),
            set("ftl.scrub.stream", "own"),
        ];
        let mut bench = scrubbed("10 ms", "policy = \"oldest\"", &[&own[..], more].concat());
        bench.until(ms * MS + 8_300 * US);
        let blocks = bench.device.ftl().layout.blocks_per_bin() as usize;
        let of = |place: usize| erased(&bench).iter().filter(|of| **of / blocks == place).count();
        ([0, 1].map(of), bench.device.scrub_counts_of_sets().expect("it scrubs"))
    };
    for task in ["turns", "own"] {
        let task = set("ftl.scrub.task", task);
        let sets = [task.clone(), set("ftl.sets.channels", 2), set("workload[0].nvm_set", 1)];
        for (ms, without, with) in
            [(10, [1, 0], [1, 1]), (20, [1, 1], [2, 2]), (30, [2, 1], [3, 3])]
        {
            assert_eq!(erased_by(ms, std::slice::from_ref(&task)).0, without, "{task:?} {ms}");
            let (blocks, counts) = erased_by(ms, &sets);
            assert_eq!(blocks, with, "{task:?} {ms}");
            let polls: Vec<u64> = counts.iter().map(|of| of.polls).collect();
            assert_eq!(polls, with.map(|of| of as u64), "{task:?} {ms}");
        }
    }
}

#[test]
fn a_look_at_a_bin_that_is_busy_comes_when_it_is_not() {
    // The second poll, at 10 ms, waits until block 0 is done at 13.3; the third and the fourth, at
    // 15 and 20 ms, wait until block 1 is done at 21.6 and count as one.
    let mut bench = scrubbed("5 ms", "policy = \"oldest\"", &[]);
    bench.until(21_600 * US - 1);
    assert_eq!(erased(&bench), [0]);
    bench.until(21_600 * US);
    assert_eq!(erased(&bench), [0, 1]);
    bench.until(29_900 * US);
    assert_eq!(erased(&bench), [0, 1, 2]);
}

/// Writes pages of the drive's second half one after the other for `ms` ms; returns the numbers of
/// pages that were scrubbed and of blocks that were erased.
fn under_steady_writes(pacing: &str, stream: &str, ms: u64) -> (u64, u64) {
    let more = [set("ftl.gc.pacing", pacing), set("ftl.scrub.stream", stream)];
    let mut bench = scrubbed("50 ms", "policy = \"oldest\"", &more);
    let (mut at, mut number) = (0, 1);
    while at < ms * MS {
        // 263 generates the numbers below 769: victims hold valid data.
        number = number * 263 % 769;
        let tag = bench.submit(at, Kind::Write, (384 + number % 384) * PAGE, PAGE);
        while !bench.is_done(tag) {
            assert!(bench.step(), "{}", bench.device.why_stuck());
        }
        at = bench.device.now().as_ns();
    }
    let tally = bench.device.ftl().tally;
    (tally.units[Source::Scrub as usize], tally.erases)
}

#[test]
fn an_interval_is_kept_under_steady_writes() {
    for (pacing, stream) in [
        ("none", "collection"),
        ("proportional", "collection"),
        ("none", "own"),
        ("proportional", "own"),
    ] {
        // 20 polls, of which the last may be under way: each moves a block of the first half of the
        // drive, which is full.
        let (scrubbed, erases) = under_steady_writes(pacing, stream, 1_000);
        let what = format!("{pacing}, {stream}");
        assert!((19 * 16..=20 * 16).contains(&scrubbed), "{what}: {scrubbed} of 320 pages");
        assert!(erases > 3 * 20, "{what}: {erases} erases, most of collection");
    }
}

#[test]
fn bins_take_turns() {
    // Each plane holds 24 blocks; block 64 is the first of the second.
    let planes =
        [set("geometry.planes_per_die", 2), set("ftl.over_provisioning.reserved", "62.5 %")];
    let mut bench = scrubbed("10 ms", "policy = \"oldest\"", &planes);
    bench.until(40 * MS - 1);
    assert_eq!(erased(&bench), [0, 1, 64]);
}

#[test]
fn the_most_read_block_is_taken_once_it_was_read_often_enough() {
    let mut bench = scrubbed("10 ms", "policy = \"most-read\", reads = 4", &[]);
    // Four rows of block 5, three of block 7.
    for (turn, page) in [80, 81, 82, 83, 112, 113, 114].into_iter().enumerate() {
        bench.submit(turn as u64 * 125 * US, Kind::Read, page * PAGE, PAGE);
    }
    bench.until(40 * MS);
    assert_eq!(erased(&bench), [5], "block 7 was read too seldom, and block 5 begins anew");
}

#[test]
fn a_read_waits_for_a_scrubbed_page_and_is_charged_for_it() {
    let mut bench = scrubbed("10 ms", "policy = \"oldest\"", &[]);
    let read = bench.submit(10 * MS + 50 * US, Kind::Read, 400 * PAGE, PAGE);
    bench.until(11 * MS);
    // The page that is being read by then occupies its unit until 10.125 ms.
    assert_eq!(bench.done(read).latency(), 75 * US + 125 * US);
    assert_eq!(bench.done(read).of(State::UnitScrub), 75 * US);
}

#[test]
fn nothing_is_scrubbed_where_no_block_needs_it_or_the_key_is_absent() {
    for mut bench in
        [Bench::filled(&[]), scrubbed("10 ms", "policy = \"most-read\", reads = 1", &[])]
    {
        bench.until(100 * MS);
        assert_eq!(erased(&bench), [0usize; 0]);
    }
}

/// Four dies on two channels, of which a collection of die 0 reserves both. Die 0 is scrubbed at 5
/// ms, and channel 1's first die from 15 ms on; pages 4n lie on die 0, pages 4n + 3 on channel 1's
/// second die.
fn beside_a_collection_that_reserves_channels(foreground: &str) -> Bench {
    let exported = format!("{} B", 64 * PAGE);
    let mut bench = Bench::filled(&poised::shape(&[
        set("geometry.channels", 2),
        set("ftl.over_provisioning.exported", exported),
        set("ftl.gc.foreground", foreground),
        set("ftl.gc.preemptible", false),
        set("ftl.gc.blocking", "controller"),
        set("ftl.scrub.interval", "5 ms"),
        set("ftl.scrub.choice", "oldest"),
    ]));
    // Block 0 is moved to block 4, of which one page then stays valid.
    for (turn, number) in [0, 1, 2, 4].into_iter().enumerate() {
        let at = 8_300 * US + turn as u64 * 300 * US;
        bench.submit(at, Kind::Write, 4 * number * PAGE, PAGE);
    }
    bench.until(15 * MS - 10 * US);
    // Its data crosses channel 1 from 15 to 115 us after the poll.
    bench.submit(15 * MS - 10 * US, Kind::Read, (4 * 12 + 3) * PAGE, PAGE);
    // It opens a block, so die 0 claims both channels. The first scrubbed page waits for channel 1
    // from 25 us on.
    bench.submit(15 * MS + 20 * US, Kind::Write, 4 * 5 * PAGE, PAGE);
    bench
}

#[test]
fn scrubbing_goes_after_collections_that_wait_for_channels() {
    // In the foreground, and in the background.
    for foreground in ["2 blocks", "1 block"] {
        let mut bench = beside_a_collection_that_reserves_channels(foreground);
        // Die 0 is written until 320 us, and a page is moved until 745: the channels are reserved
        // until then. The scrubbed page, sensed at 25 us, then goes on, 720 us late.
        let end = 15 * MS + 4 * 425 * US + 1_500 * US + 720 * US;
        bench.until(end - 1);
        assert_eq!(erased(&bench), [0, 4, 8], "foreground = {foreground}");
        bench.until(end);
        assert_eq!(erased(&bench), [0, 4, 8, 16], "foreground = {foreground}");
    }
}

#[test]
fn looks_go_on_while_nothing_is_asked() {
    let mut bench = scrubbed("10 ms", "policy = \"oldest\"", &[]);
    bench.submit(0, Kind::Read, 0, PAGE);
    bench.until(MS);
    assert_eq!(bench.device.outstanding(), 0);
    assert_eq!(bench.device.next_due().map(|due| due.as_ns()), Some(10 * MS));
}

#[test]
fn a_drive_that_is_stuck_is_told_so_although_looks_go_on() {
    // Every erased block is lost: 16 spare ones are soon used up.
    let lost = [set("nand.endurance", 1)];
    let mut bench = scrubbed("10 ms", "policy = \"most-read\", reads = 1000", &lost);
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
    assert!(bench.step(), "a poll is due all the same");
}
