//! The limit of outstanding programs beside scrubbing, by arithmetic. A page is moved in 25 + 100 (read)
//! and 100 + 200 us (program), a block of 16 erased in 1500, on dies of which each has a channel and a
//! pool of its own: page *n* lies on die *n* modulo the number of dies.

use crate::common::{Bench, Override, experiment, run_fast, set};
use crate::tasks::scrubbed;
use ftl::Source;
use host::Kind;

const US: u64 = 1_000;
const MS: u64 = 1_000 * US;
const PAGE: u64 = 4_096;
const READ: u64 = 125 * US;
const PROGRAM: u64 = 300 * US;
const ERASE: u64 = 1_500 * US;

/// Scrubbing in turns with GC, or as a task of its own.
const TASKS: [&str; 2] = ["turns", "own"];

/// Two dies, and a limit of outstanding programs.
fn two_dies(task: &str, programs: u32, more: &[Override]) -> Vec<Override> {
    let own = [
        set("geometry.channels", 2),
        set("ftl.allocation.pool", "die"),
        set("ftl.pressure.programs", programs),
    ];
    scrubbed(task, &[&own[..], more].concat())
}

/// Scrubbing of the blocks that were read.
fn read_ones() -> Override {
    set("ftl.scrub.choice", "{ policy = \"most-read\", reads = 1 }")
}

/// The blocks that were erased, by die.
fn erased(bench: &Bench) -> [Vec<usize>; 2] {
    let blocks = bench.device.ftl().layout.blocks_per_bin() as usize;
    let counts = bench.device.ftl().erase_counts();
    [0, 1].map(|die| {
        let own = counts[die * blocks..(die + 1) * blocks].iter().enumerate();
        own.filter(|(_, count)| **count > 0).map(|(block, _)| block).collect()
    })
}

/// The moments at which each die has erased its first block.
fn first_erases(bench: &mut Bench) -> [u64; 2] {
    let mut found = [0; 2];
    while found.contains(&0) {
        assert!(bench.step());
        let now = bench.device.now().as_ns();
        for (at, blocks) in found.iter_mut().zip(erased(bench)) {
            if *at == 0 && !blocks.is_empty() {
                *at = now;
            }
        }
    }
    found
}

fn pages_scrubbed(bench: &Bench) -> u64 {
    bench.device.ftl().tally.units[Source::Scrub as usize]
}

#[test]
fn two_blocks_share_one_credit() {
    for task in TASKS {
        let of = |programs| {
            let more = [set("ftl.scrub.interval", "100 us")];
            first_erases(&mut Bench::filled(&two_dies(task, programs, &more)))
        };
        // Each die reads while the other one programs.
        let last = 100 * US + READ + PROGRAM + 15 * 2 * PROGRAM;
        assert_eq!(of(1), [last + ERASE, last + PROGRAM + ERASE], "{task}");
        let alone = 16 * (READ + PROGRAM) + ERASE;
        assert_eq!(of(2), [100 * US + alone, 200 * US + alone], "{task}");
    }
}

/// Hosts write to die 0 without a pause, and die 1 is scrubbed: 16 of 17 programs that are due are theirs.
#[test]
fn scrubbing_has_a_turn_after_sixteen_programs_of_hosts() {
    for task in TASKS {
        let more = [read_ones(), set("geometry.blocks_per_plane", 400)];
        let mut bench = Bench::filled(&two_dies(task, 1, &more));
        bench.submit(0, Kind::Read, PAGE, PAGE);
        (0..1_000u64).for_each(|page| {
            bench.submit(0, Kind::Write, 2 * page * PAGE, PAGE);
        });
        // The poll of die 1 comes at 20 ms, and its first page waits from 20.125 on. Programs of hosts
        // begin every 300 us, 16 of them from 20.4 ms on. While the next page is read one more begins.
        let first = 20_400 * US + 16 * PROGRAM;
        let last = first + 15 * 18 * PROGRAM;
        for (number, begin) in (0..16).map(|page| (page, first + page * 18 * PROGRAM)) {
            bench.until(begin + PROGRAM - 1);
            assert_eq!(pages_scrubbed(&bench), number, "{task}");
            bench.until(begin + PROGRAM);
            assert_eq!(pages_scrubbed(&bench), number + 1, "{task}");
        }
        bench.until(last + PROGRAM + ERASE - 1);
        assert_eq!(erased(&bench)[1], [0usize; 0], "{task}");
        bench.until(last + PROGRAM + ERASE);
        assert_eq!(erased(&bench)[1], [0], "{task}");
    }
}

/// Scrubbing where a program needs a task, too: the only task reads, thinks, programs and thinks
/// again. A program waits for its credit without a task, and for the task without a credit.
#[test]
fn a_task_and_a_credit_go_to_the_same_program() {
    for task in TASKS {
        for think in [0, 70, 400, 6_000] {
            let more = [
                read_ones(),
                set("geometry.blocks_per_plane", 400),
                set("ftl.tasks", format!("{{ most = 1, think = \"{think} us\" }}")),
            ];
            let mut bench = Bench::filled(&two_dies(task, 1, &more));
            bench.submit(0, Kind::Read, PAGE, PAGE);
            (0..1_000u64).for_each(|page| {
                bench.submit(0, Kind::Write, 2 * page * PAGE, PAGE);
            });
            // Programs of hosts begin every 300 us, at 20.1 ms for example. The first page waits for a
            // credit from 20.125 ms on, whether its task thinks or not, and sixteen of them follow. If the
            // task still thinks then, the credit goes to hosts, and the next one to the page.
            let think = think * US;
            let turn = |waits: u64| {
                u64::max(waits.div_ceil(PROGRAM) + 16, (waits + think).div_ceil(PROGRAM))
            };
            let first = 20_100 * US + turn(25 * US) * PROGRAM;
            // After a program the task thinks, and reads the next page.
            let between = 1 + turn(think + READ);
            for (number, begin) in (0..16).map(|page| (page, first + page * between * PROGRAM)) {
                bench.until(begin + PROGRAM - 1);
                assert_eq!(pages_scrubbed(&bench), number, "{task} {think}");
                bench.until(begin + PROGRAM);
                assert_eq!(pages_scrubbed(&bench), number + 1, "{task} {think}");
            }
            let end = first + 15 * between * PROGRAM + PROGRAM + think + ERASE;
            bench.until(end - 1);
            assert_eq!(erased(&bench)[1], [0usize; 0], "{task} {think}");
            bench.until(end);
            assert_eq!(erased(&bench)[1], [0], "{task} {think}");
        }
    }
}

/// Die 0 collects a block of eight valid pages in the foreground from 19.9 ms on, and die 1 is scrubbed
/// from 20 ms on, or not.
#[test]
fn foreground_gc_is_not_delayed_by_scrubbing() {
    for task in TASKS {
        for scrubs in [false, true] {
            let more = [
                read_ones(),
                set("geometry.blocks_per_plane", 56),
                set("ftl.over_provisioning", "{ exported = \"6 MiB\" }"),
                set("ftl.gc.background", "4 blocks"),
                set("ftl.gc.foreground", "4 blocks"),
                set("ftl.gc.stop", "4 blocks"),
            ];
            let mut bench = Bench::filled(&two_dies(task, 1, &more));
            // A page of die 1, or none. Half of six blocks of die 0 are written again, and one page more.
            if scrubs {
                bench.submit(0, Kind::Read, PAGE, PAGE);
            }
            let pages = (5..12).flat_map(|block| 16 * block..16 * block + 8);
            for (turn, page) in pages.take(49).enumerate() {
                let at = if turn < 48 { turn as u64 * PROGRAM } else { 19_900 * US };
                bench.submit(at, Kind::Write, 2 * page * PAGE, PAGE);
            }
            let moved = 19_900 * US + PROGRAM + 8 * (READ + PROGRAM);
            // A credit is kept while GC reads. It needs none while it erases.
            bench.until(moved + PROGRAM - 1);
            assert_eq!(pages_scrubbed(&bench), 0, "{task}");
            bench.until(moved + ERASE - 1);
            assert_eq!(erased(&bench)[0], [0usize; 0], "{task}");
            bench.until(moved + ERASE);
            assert_eq!(erased(&bench)[0], [5], "{task}");
            // 300 + 2 * 425 us are less than 1500, and 300 + 3 * 425 us are more.
            assert_eq!(pages_scrubbed(&bench), if scrubs { 3 } else { 0 }, "{task}");
        }
    }
}

/// Die 1 is scrubbed from 20 ms on, and then read without a pause: a program of scrubbing waits for these
/// reads, and has the only credit.
#[test]
fn a_write_does_not_wait_as_long_as_hosts_read_what_is_scrubbed() {
    for task in TASKS {
        let mut bench = Bench::filled(&two_dies(task, 1, &[read_ones()]));
        bench.submit(0, Kind::Read, PAGE, PAGE);
        // The next read comes before the last one ends, for 48 ms.
        let mut write = 0;
        for turn in 0..400u64 {
            let at = 20 * MS + 100 * US + turn * 120 * US;
            if turn == 8 {
                write = bench.submit(at, Kind::Write, 0, PAGE);
            }
            bench.submit(at, Kind::Read, (201 + 2 * turn % 400) * PAGE, PAGE);
        }
        bench.until(80 * MS);
        // It lets the program go before reads that come later: the one that is under way, and two more.
        let latency = bench.done(write).latency();
        assert!(latency >= PROGRAM, "{task}: {latency} ns");
        assert!(latency <= 3 * READ + 2 * PROGRAM, "{task}: {latency} ns");
    }
}

/// Small writes all over a full drive without a pause, with one program at a time.
#[test]
fn scrubbing_goes_on_beside_writes_without_a_pause() {
    let text = "[[workload]]\nname = \"writes\"\nreads = \"0 %\"\nsize = \"4 KiB\"\nqueue_depth = 16\n\
                [run]\ntime = \"3 s\"\n";
    let more = [set("precondition.fill", "random"), set("ftl.scrub.interval", "1 ms")];
    let run = run_fast(&experiment(text, &two_dies("turns", 1, &more)));
    let tally = run.measured().tally();
    let scrubs = run.measured().scrub().expect("it scrubs")[0];
    println!("{scrubs:?}, {tally:?}");
    // A block of 16 pages moves within 16 times 17 programs of hosts and its own, and a read each. Then its
    // bin collects one victim at most, of as many pages.
    let block = 16 * (18 * PROGRAM + READ) + ERASE;
    let victim = 16 * (2 * PROGRAM + READ) + ERASE;
    assert!(scrubs.blocks >= 3_000 * MS / (block + victim), "{scrubs:?}");
    assert!(tally.units[Source::Host as usize] > 0, "{tally:?}");
}
