//! Turns of collections in a group of stripes, on the drive of [`crate::detours`]: 8 planes that are one
//! group.

use crate::common::{Bench, Override, set};
use crate::detours::drive;
use engine::{Stream, Streams};
use ftl::BlockState;
use host::Kind;

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
    let mut pages = Streams::new(3).stream("pages");
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
    let mut pages = Streams::new(5).stream("pages");
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
    let mut pages = Streams::new(3).stream("pages");
    let most = write_at_random(&mut bench, &mut pages, 3_000, 0);
    let out_of_turn = bench.device.counters().out_of_turn;
    assert!(out_of_turn > 0 && most > 1, "{out_of_turn} out of turn, {most} at a time");
    bench.finish();
}
