//! Erases that make way for reads, by arithmetic: refused a nanosecond before the safe
//! point, granted on time, and gone on with afterwards.

mod common;
mod poised;

use common::{Bench, Override, set};
use host::Kind;
use metrics::State;

const US: u64 = 1_000;
const PAGE: u64 = 4_096;

/// An erase of three steps of 500 us that begins at 725 us: a write that opens a block is
/// programmed by 300, the one live page of the victim is read by 425 and programmed by 725.
/// Alone it is over at 2225. A read takes 25 us to sense and 100 us on the channel.
fn erasing(overrides: &[Override]) -> (Bench, u64) {
    let steps = "{ steps = 3, ramp = \"0 us\", execute = \"500 us\", recover = \"0 us\", verify = \"0 us\" }";
    let all = [&[set("nand.erase", steps)], overrides].concat();
    let (mut bench, start) = poised::poised(&all);
    bench.submit(start, Kind::Write, poised::page(0, 5), PAGE);
    (bench, start)
}

fn routed(routing: &str, suspension: &str) -> Vec<Override> {
    vec![
        set("scheduler.read_routing", format!("{{ {routing} }}")),
        set("scheduler.suspension", format!("{{ {suspension} }}")),
    ]
}

fn by_steps() -> Vec<Override> {
    routed("policy = \"suspend\"", "policy = \"at-steps\"")
}

/// When reads submitted at `at` (us after the beginning) are answered, in us.
fn answered(overrides: &[Override], at: &[u64]) -> (Vec<u64>, Bench) {
    let (mut bench, start) = erasing(overrides);
    let reads: Vec<u32> = at
        .iter()
        .zip(1..)
        .map(|(at, page)| bench.submit(start + at * US, Kind::Read, poised::page(0, page), PAGE))
        .collect();
    bench.settle();
    let finished = reads.iter().map(|tag| (bench.done(*tag).finished - start) / US).collect();
    (finished, bench)
}

#[test]
fn without_suspension_a_read_waits_for_the_whole_erase() {
    let (finished, bench) = answered(&[], &[1_000]);
    assert_eq!(finished, [2_225 + 125]);
    assert_eq!(bench.device.counters().suspensions, 0);
}

#[test]
fn an_erase_makes_way_at_the_end_of_its_step() {
    // Steps end at 1225, 1725 and 2225.
    for (at, safe_point) in [(726, 1_225), (1_000, 1_225), (1_224, 1_225), (1_226, 1_725)] {
        let (finished, bench) = answered(&by_steps(), &[at]);
        assert_eq!(finished, [safe_point + 125], "a read at {at} us");
        assert_eq!(bench.device.counters().suspensions, 1);
    }
    // In its last step it is not interrupted any more.
    assert_eq!(answered(&by_steps(), &[1_726]).0, [2_225 + 125]);
}

#[test]
fn to_the_nanosecond() {
    for (at, safe_point) in [(1_225 * US - 1, 1_225), (1_225 * US + 1, 1_725)] {
        let (mut bench, start) = erasing(&by_steps());
        let read = bench.submit(start + at, Kind::Read, poised::page(0, 1), PAGE);
        bench.settle();
        assert_eq!(bench.done(read).finished - start, (safe_point + 125) * US);
        let waited = bench.done(read).of(State::UnitErase);
        assert_eq!(waited, safe_point * US - at, "all of its wait is charged to the erase");
    }
}

#[test]
fn reads_that_wait_at_the_safe_point_go_first_and_later_ones_wait_for_the_next() {
    // Two wait at 1225 and are read by 1475; then the second step goes on until 1975. The
    // third, at 1300, waits for that: the erase makes way once more.
    let (finished, bench) = answered(&by_steps(), &[1_000, 1_100, 1_300]);
    assert_eq!(finished, [1_350, 1_475, 1_975 + 125]);
    assert_eq!(bench.device.counters().suspensions, 2);
    // Until none waits: the third is read as well, before the second step.
    let drain = [&by_steps()[..], &[set("scheduler.bypass", "drain")]].concat();
    assert_eq!(answered(&drain, &[1_000, 1_100, 1_300]).0, [1_350, 1_475, 1_600]);
}

#[test]
fn a_read_that_waits_when_the_erase_begins_meets_it() {
    // The first is read from 725 to 850, then it is the erase's turn. The second, which has
    // waited since 800, goes at the end of its first step.
    assert_eq!(answered(&by_steps(), &[700, 800]).0, [850, 1_350 + 125]);
    assert_eq!(answered(&[], &[700, 800]).0, [850, 2_350 + 125]);
}

#[test]
fn an_erase_makes_way_no_more_often_than_allowed() {
    let once = routed("policy = \"suspend\"", "policy = \"at-steps\", most = 1");
    // Two steps are left at 1350.
    assert_eq!(answered(&once, &[1_000, 1_400]).0, [1_350, 1_350 + 1_000 + 125]);
    assert_eq!(answered(&by_steps(), &[1_000, 1_400]).0, [1_350, 1_350 + 500 + 125]);
}

#[test]
fn a_read_that_would_not_wait_for_long_does_not_ask() {
    // At 1000 the erase has 1225 us to go, at 1300 it has 925.
    let within = |us: u64| {
        routed(&format!("policy = \"deadline\", within = \"{us} us\""), "policy = \"at-steps\"")
    };
    assert_eq!(answered(&within(1_224), &[1_000]).0, [1_350]);
    assert_eq!(answered(&within(1_225), &[1_000]).0, [2_350]);
    // Whoever has not asked goes along where another one has.
    assert_eq!(answered(&within(1_100), &[1_000, 1_200]).0, [1_350, 1_475]);
    // One that came while the erase made way meets it at 1350, with 1000 us to go.
    assert_eq!(answered(&within(999), &[1_000, 1_226]).0, [1_350, 1_850 + 125]);
    assert_eq!(answered(&within(1_000), &[1_000, 1_226]).0, [1_350, 2_350 + 125]);
}

#[test]
fn the_erase_is_counted_once_and_only_delayed() {
    let (_, bench) = answered(&by_steps(), &[1_000, 1_300]);
    let erases = |bench: &Bench| {
        let counters = bench.device.counters();
        counters.commands(drive::OpKind::Erase, metrics::Holder::Erase)
    };
    assert_eq!(erases(&bench), 1);
    assert_eq!(erases(&answered(&[], &[1_000, 1_300]).1), 1);
}

#[test]
fn a_write_does_not_take_the_unit_while_an_erase_makes_way() {
    let (mut bench, start) = erasing(&by_steps());
    let read = bench.submit(start + 1_000 * US, Kind::Read, poised::page(0, 1), PAGE);
    let write = bench.submit(start + 1_100 * US, Kind::Write, poised::page(0, 9), PAGE);
    bench.settle();
    assert_eq!(bench.done(read).finished, start + 1_350 * US);
    // The erase is over at 2350; then 100 us on the channel and 200 us to program.
    assert_eq!(bench.done(write).finished, start + (2_350 + 300) * US);
}
