//! Turns of collections in a group of stripes, on the drive of [`crate::detours`]: 8 planes that are one
//! group.

use crate::common::{Bench, Override, set};
use crate::detours::{drive, first_of};
use engine::{Stream, Streams};
use ftl::{BinId, BlockId, BlockState};
use host::Kind;
use std::collections::BTreeSet;

const US: u64 = 1_000;
const PAGE: u64 = 4_096;
const PAGES: u64 = 7 * 32;

/// Planes that have a victim which is not erased.
fn collecting(bench: &Bench) -> usize {
    let ftl = bench.device.ftl();
    let blocks = ftl.block_states().chunks(ftl.layout.blocks_per_bin() as usize);
    blocks.filter(|plane| plane.contains(&BlockState::Collecting)).count()
}

/// Writes single pages at random, one `every` us, or 8 at a time; returns the most planes that
/// collected together.
fn write_at_random(bench: &mut Bench, pages: &mut Stream, writes: u64, every: u64) -> u64 {
    let (mut under_way, mut most) = (Vec::new(), 0);
    for _ in 0..writes {
        let now = bench.device.now().as_ns();
        under_way.push(bench.submit(now, Kind::Write, pages.below(PAGES) * PAGE, PAGE));
        let mut goes_on = true;
        while goes_on {
            let due = bench.device.next_due().map_or(u64::MAX, |due| due.as_ns());
            goes_on = under_way.len() >= 8 || due <= now + every * US;
            if goes_on {
                assert!(bench.step(), "writes wait");
                under_way.retain(|tag| !bench.is_done(*tag));
                most = most.max(collecting(bench) as u64);
            }
        }
        if every > 0 {
            bench.until((now + every * US).max(bench.device.now().as_ns()));
        }
    }
    most
}

/// The most planes that collect together under 1000 random writes a second, of which few wait for
/// space; then all of them have ended.
pub fn most_together(mut bench: Bench) -> u64 {
    let mut pages = Streams::new(floor::seed(3)).stream("pages");
    let most = write_at_random(&mut bench, &mut pages, 4_000, 1_000);
    assert_eq!(bench.device.counters().out_of_turn, 0, "no write waits for space");
    assert!(bench.device.ftl().tally.erases > 200);
    bench.settle();
    assert_eq!(collecting(&bench), 0, "nobody waits for ever");
    most
}

#[test]
fn collections_of_a_group_take_turns() {
    let ways = [
        ("'none'", 8),
        ("{ policy = 'rotating' }", 1),
        ("{ policy = 'rotating', at_once = 3 }", 3),
    ];
    for (rotation, at_once) in ways {
        let most = most_together(Bench::filled(&drive(8, &[set("scheduler.rotation", rotation)])));
        println!("{rotation}: {most} at a time");
        assert!(most <= at_once && (most == at_once || at_once == 8), "{rotation}: {most}");
    }
}

/// Reads one page after the other at random while planes collect because nothing is written; returns
/// how many met collection, and how many of them waited for it.
fn read_beside_collection(more: &[Override]) -> [u64; 2] {
    let idle = [
        set("ftl.gc.idle_gap", "50 us"),
        set("geometry.blocks_per_plane", 16),
        set("ftl.gc.stop", "7 blocks"),
        set("scheduler.read_routing", "{ policy = 'reconstruct', convert = 'always' }"),
    ];
    let mut bench = Bench::filled(&drive(8, &[&idle[..], more].concat()));
    let mut pages = Streams::new(floor::seed(5)).stream("pages");
    let mut found = [0; 2];
    for _ in 0..10 {
        write_at_random(&mut bench, &mut pages, 300, 0);
        // Until all of that is on flash. Planes still collect then.
        while bench.device.outstanding() > 0 {
            assert!(bench.step());
        }
        let before = *bench.device.counters();
        for _ in 0..200 {
            let now = bench.device.now().as_ns();
            let read = bench.submit(now + 60 * US, Kind::Read, pages.below(PAGES) * PAGE, PAGE);
            while !bench.is_done(read) {
                assert!(bench.step());
            }
            let done = bench.done(read);
            found[0] += u64::from(done.met);
            found[1] += u64::from(done.blocked);
        }
        assert_eq!(bench.device.counters().since(&before).out_of_turn, 0);
    }
    bench.finish();
    found
}

#[test]
fn no_read_waits_for_collections_that_take_turns() {
    let [met, blocked] = read_beside_collection(&[set("scheduler.rotation", "rotating")]);
    assert!(met > 100, "{met} reads met it");
    assert_eq!(blocked, 0, "of {met}");
    let [met, blocked] = read_beside_collection(&[]);
    assert!(blocked > 0, "without turns {blocked} of {met} wait");
}

/// A plane whose space writes wait for does not wait for its turn.
#[test]
fn a_collection_that_writes_wait_for_goes_out_of_turn() {
    let overrides = [
        set("scheduler.rotation", "rotating"),
        // One erase lasts for as long as 33 programs.
        set(
            "nand.erase",
            "{ steps = 1, ramp = '0 us', execute = '10 ms', recover = '0 us', verify = '0 us' }",
        ),
    ];
    let mut bench = Bench::filled(&drive(8, &overrides));
    let mut pages = Streams::new(floor::seed(3)).stream("pages");
    let most = write_at_random(&mut bench, &mut pages, 3_000, 0);
    let out_of_turn = bench.device.counters().out_of_turn;
    assert!(out_of_turn > 0 && most > 1, "{out_of_turn} out of turn, {most} at a time");
    bench.finish();
}

// ---- after every event -------------------------------------------------------------------------

/// Handles one event; returns true if there was one. At most `at_once` bins collect after it.
fn step_watched(bench: &mut Bench, at_once: usize) -> bool {
    let stepped = bench.step();
    let bins = bench.device.bins_at_collection();
    assert!(bins.len() <= at_once, "{bins:?} collect at {:?}", bench.device.now());
    stepped
}

/// Handles all events up to a moment, as [`step_watched`].
fn until_watched(bench: &mut Bench, us: u64, at_once: usize) {
    while bench.device.next_due().is_some_and(|due| due.as_ns() <= us * US) {
        step_watched(bench, at_once);
    }
    bench.until(us * US);
}

/// Bins with victims that are not erased.
fn with_victims(bench: &Bench) -> Vec<usize> {
    let ftl = bench.device.ftl();
    let blocks = ftl.block_states().chunks(ftl.layout.blocks_per_bin() as usize);
    let collects = |(_, states): &(usize, &[BlockState])| states.contains(&BlockState::Collecting);
    blocks.enumerate().filter(collects).map(|(bin, _)| bin).collect()
}

/// The drive of [`drive`] whose collection is preemptible and whose erases wait for reads to end.
fn batching(quiet: &str, more: &[Override]) -> Vec<Override> {
    let settings = [
        set("scheduler.rotation", "rotating"),
        set("ftl.gc.preemptible", "true"),
        set("geometry.blocks_per_plane", 16),
        set("ftl.gc.background", "4 blocks"),
        set("ftl.gc.stop", "5 blocks"),
        set("scheduler.erase_batching", format!("{{ quiet = '{quiet}' }}")),
    ];
    drive(8, &[&settings[..], more].concat())
}

/// Every plane is read all the time, so that no burst ever ends. Erases of one plane wait; meanwhile
/// nothing of its collection is under way, so another plane may collect.
#[test]
fn erases_that_wait_for_the_end_of_a_burst_leave_the_turn_to_others() {
    let mut bench = Bench::filled(&batching("4 ms", &[]));
    let mut pages = Streams::new(floor::seed(3)).stream("pages");
    let mut beside_waiting = 0;
    for ms in 0..3_000 {
        bench.submit(ms * 1_000 * US, Kind::Write, pages.below(PAGES) * PAGE, PAGE);
        for quarter in 0..4 {
            let us = ms * 1_000 + quarter * 250;
            // A stripe has data on all planes but one.
            bench.submit(us * US, Kind::Read, pages.below(32) * 7 * PAGE, 7 * PAGE);
            until_watched(&mut bench, us + 249, 1);
            let working = bench.device.bins_at_collection();
            let is_other = |bin: &usize| working.iter().all(|of| of.0 as usize != *bin);
            beside_waiting +=
                u32::from(!working.is_empty() && with_victims(&bench).iter().any(is_other));
        }
    }
    println!("{beside_waiting} moments at which a plane collects beside waiting erases");
    assert!(beside_waiting > 100, "{beside_waiting}");
    while step_watched(&mut bench, 1) {}
    assert_eq!(with_victims(&bench), [0; 0], "nobody waits for ever");
    bench.finish();
}

/// Nobody reads, so erases wait for 20 ms each. No plane takes a second victim while another one has
/// waited for its turn since before the first.
#[test]
fn a_plane_whose_erases_wait_does_not_take_the_turn_of_others() {
    let idle = [
        set("ftl.gc.idle_gap", "50 us"),
        set("geometry.blocks_per_plane", 12),
        set("buffer.size", "16 KiB"),
        set("ftl.gc.background", "2 blocks"),
        set("ftl.gc.stop", "4 blocks"),
    ];
    let mut bench = Bench::filled(&batching("20 ms", &idle));
    let mut pages = Streams::new(floor::seed(5)).stream("pages");
    let coming = |bench: &Bench, plane: u32| {
        let ftl = bench.device.ftl();
        let count = ftl.layout.blocks_per_bin() as usize;
        let states = &ftl.block_states()[plane as usize * count..][..count];
        states.iter().filter(|state| **state == BlockState::Collecting).count() as u32
    };
    let mut again = 0;
    for _ in 0..60 {
        write_at_random(&mut bench, &mut pages, 30, 0);
        while bench.device.outstanding() > 0 {
            step_watched(&mut bench, 8);
        }
        // All planes have been idle for long enough by then.
        let begun = bench.device.now().as_ns() + 500 * US;
        bench.until(begun);
        let wants = |bench: &Bench, plane: &u32| {
            bench.device.ftl().free_blocks(BinId(*plane)) + coming(bench, *plane) <= 4
        };
        let all = |bench: &Bench| -> Vec<u32> { (0..8).map(|of| coming(bench, of)).collect() };
        let (mut before, mut last) = (all(&bench), None);
        while step_watched(&mut bench, 8) {
            let after = all(&bench);
            for plane in (0..8).filter(|plane| after[*plane as usize] > before[*plane as usize]) {
                if last == Some(plane) {
                    again += 1;
                    let others = (0..8).filter(|of| *of != plane && wants(&bench, of)).count();
                    assert_eq!(others, 0, "plane {plane} goes on, others wait");
                }
                last = Some(plane);
            }
            before = after;
        }
    }
    println!("{again} victims after another one of the same plane");
    bench.finish();
}

/// A plane whose idle collection yields to reads has nothing under way. So the others collect, until
/// each has more than 4 blocks free; and the plane goes on when the reads have ended.
#[test]
fn an_idle_collection_that_yields_leaves_the_turn_to_others() {
    let idle = [
        set("ftl.gc.idle_gap", "50 us"),
        set("ftl.gc.stop", "4 blocks"),
        set("buffer.size", "16 KiB"),
        set("ftl.gc.preemptible", "true"),
        set("scheduler.read_routing", "suspend"),
        set("scheduler.rotation", "rotating"),
    ];
    let mut bench = Bench::filled(&drive(8, &idle));
    let free = |bench: &Bench, plane| bench.device.ftl().free_blocks(BinId(plane));
    let mut pages = Streams::new(floor::seed(5)).stream("pages");
    // Pages of plane 0 that its collection has yet to move.
    let left = |bench: &Bench| {
        let ftl = bench.device.ftl();
        let blocks = (0..ftl.layout.blocks_per_bin()).map(BlockId);
        let victims =
            blocks.filter(|block| ftl.block_states()[block.0 as usize] == BlockState::Collecting);
        victims.map(|block| ftl.valid_units(block)).sum::<u32>()
    };
    loop {
        while bench.device.outstanding() > 0 || bench.device.bins_at_collection().is_empty() {
            if !step_watched(&mut bench, 8) {
                write_at_random(&mut bench, &mut pages, 20, 0);
            }
        }
        let short = (1..8).filter(|plane| free(&bench, *plane) <= 4).count();
        let working = bench.device.bins_at_collection();
        if left(&bench) > 2 && short > 2 && working == BTreeSet::from([BinId(0)]) {
            break;
        }
        step_watched(&mut bench, 8);
    }
    let (mut reads, begun) = (Vec::new(), bench.device.now().as_ns());
    let mut yielded = false;
    while bench.device.now().as_ns() < begun + 200_000 * US {
        while reads.len() < 4 {
            let now = bench.device.now().as_ns();
            reads.push(bench.submit(now, Kind::Read, first_of(pages.below(7)), PAGE));
        }
        assert!(step_watched(&mut bench, 1));
        reads.retain(|tag| !bench.is_done(*tag));
        yielded |= with_victims(&bench).contains(&0)
            && !bench.device.bins_at_collection().contains(&BinId(0));
    }
    assert!(yielded && free(&bench, 0) <= 4, "the plane yields");
    assert_eq!((1..8).filter(|plane| free(&bench, *plane) <= 4).count(), 0, "others go on");
    while step_watched(&mut bench, 1) {}
    assert!(free(&bench, 0) > 4 && with_victims(&bench).is_empty(), "it goes on later");
    assert_eq!(bench.device.counters().out_of_turn, 0);
    bench.finish();
}

/// The drive of [`drive`] with two planes a die, which are the two bins of a pool.
fn two_bins(blocks: u32) -> [Override; 7] {
    [
        set("geometry.planes_per_die", 2),
        set("ftl.allocation.pool", "die"),
        set("concurrency.read", "plane"),
        set("concurrency.program", "plane"),
        set("concurrency.erase", "plane"),
        set("geometry.blocks_per_plane", blocks),
        set("scheduler.rotation", "rotating"),
    ]
}

/// Random writes and reads, one of each every ms; then the drive comes to rest. At most `at_once`
/// bins collect after each event.
fn mix_watched(overrides: &[Override], at_once: usize) -> usize {
    let mut bench = Bench::filled(overrides);
    let mut pages = Streams::new(floor::seed(9)).stream("pages");
    let mut most = 0;
    for ms in 0..2_000 {
        for (at, kind) in [(0, Kind::Write), (500, Kind::Read)] {
            let us = ms * 1_000 + at;
            bench.submit(us * US, kind, pages.below(PAGES) * PAGE, PAGE);
            while bench.device.next_due().is_some_and(|due| due.as_ns() < (us + 500) * US) {
                step_watched(&mut bench, at_once);
                most = most.max(bench.device.bins_at_collection().len());
            }
        }
    }
    assert_eq!(bench.device.counters().out_of_turn, 0, "no write waits for space");
    assert!(bench.device.ftl().tally.erases > 100);
    while step_watched(&mut bench, at_once) {}
    assert_eq!(with_victims(&bench), [0; 0], "nobody waits for ever");
    bench.finish();
    most
}

#[test]
fn no_more_than_permitted_collect_after_any_event() {
    let three = [set("scheduler.rotation", "{ policy = 'rotating', at_once = 3 }")];
    let limits = |of: &str| [set("ftl.gc.at_once", of)];
    let idle = [set("ftl.gc.idle_gap", "80 us")];
    let of_two = two_bins(10);
    let batching_two = two_bins(16);
    let turns = || [set("scheduler.rotation", "rotating")];
    let cases = [
        (drive(8, &[&turns()[..], &limits("{ drive = 1 }")].concat()), 1),
        (drive(8, &[&three[..], &limits("{ drive = 2 }")].concat()), 3),
        (drive(2, &[&three[..], &limits("{ channel = 1 }")].concat()), 3),
        (drive(8, &of_two), 1),
        (drive(8, &[&of_two[..], &three].concat()), 3),
        (batching("1 ms", &[]), 1),
        (batching("1 ms", &limits("{ drive = 1 }")), 1),
        (batching("1 ms", &[&three[..], &limits("{ drive = 2 }"), &idle].concat()), 3),
        (batching("1 ms", &batching_two), 1),
        (batching("1 ms", &[&batching_two[..], &idle, &limits("{ channel = 1 }")].concat()), 1),
    ];
    for (at, (overrides, at_once)) in cases.iter().enumerate() {
        let most = mix_watched(overrides, *at_once);
        println!("case {at}: {most} of {at_once} at a time");
        assert_eq!(most, *at_once, "case {at}");
    }
}

/// A pool whose writes wait for space needs one of its bins to be collected out of turn.
#[test]
fn a_pool_that_writes_wait_for_collects_one_bin_out_of_turn() {
    let slow = set(
        "nand.erase",
        "{ steps = 1, ramp = '0 us', execute = '10 ms', recover = '0 us', verify = '0 us' }",
    );
    for more in [&[][..], &[set("ftl.gc.preemptible", "true")]] {
        let overrides = [&two_bins(10)[..], std::slice::from_ref(&slow), more].concat();
        let mut bench = Bench::filled(&drive(8, &overrides));
        let mut pages = Streams::new(floor::seed(3)).stream("pages");
        let (mut under_way, mut most) = (Vec::new(), 0);
        for _ in 0..2_000 {
            let now = bench.device.now().as_ns();
            under_way.push(bench.submit(now, Kind::Write, pages.below(PAGES) * PAGE, PAGE));
            while under_way.len() >= 16 {
                assert!(bench.step(), "writes wait");
                under_way.retain(|tag| !bench.is_done(*tag));
                let bins = bench.device.bins_at_collection();
                let pools: BTreeSet<u32> = bins.iter().map(|bin| bin.0 / 2).collect();
                assert_eq!(pools.len(), bins.len(), "one bin a pool: {bins:?}");
                most = most.max(bins.len());
            }
        }
        let out_of_turn = bench.device.counters().out_of_turn;
        assert!(out_of_turn > 0 && most > 1, "{out_of_turn} out of turn, {most} at a time");
        bench.finish();
    }
}

/// An erase that is suspended belongs to a collection under way: no other plane collects until it has
/// ended, although reads are served in between. The reservation ends before the erase.
#[test]
fn a_suspended_erase_keeps_the_turn() {
    let reserved = [set("ftl.gc.preemptible", "false"), set("ftl.gc.reserve_until", "copied")];
    for more in [&reserved[..], &[set("ftl.gc.preemptible", "true")]] {
        let turns = set("scheduler.rotation", "rotating");
        let suspends = set("scheduler.suspension", "i-es");
        let mut bench = Bench::filled(&drive(8, &[&[turns, suspends], more].concat()));
        let mut pages = Streams::new(floor::seed(9)).stream("pages");
        for us in (0..3_000_000).step_by(250) {
            let kind = if us % 1_000 == 0 { Kind::Write } else { Kind::Read };
            bench.submit(us * US, kind, pages.below(PAGES) * PAGE, PAGE);
            until_watched(&mut bench, us + 249, 1);
        }
        let counters = *bench.device.counters();
        assert_eq!(counters.out_of_turn, 0, "no write waits for space");
        println!("{} suspensions, {} rebuilt", counters.suspensions, counters.rebuilt);
        assert!(counters.suspensions > 100 && counters.rebuilt > 100);
        while step_watched(&mut bench, 1) {}
        assert_eq!(with_victims(&bench), [0; 0], "nobody waits for ever");
        bench.finish();
    }
}
