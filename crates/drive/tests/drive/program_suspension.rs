//! Programs that are suspended for reads, by arithmetic. A write crosses its channel until 100 us
//! and is programmed until 300, in four steps of 5 us of ramp, 30 of execution, 10 of recovery and
//! 5 of verify. A read takes 25 us to sense and 100 on the channel.

use crate::common::{Bench, Override, set};
use drive::policies::suspension::Suspension;
use host::Kind;
use metrics::State;

const US: u64 = 1_000;
const PAGE: u64 = 4_096;
const STEPS: &str = "{ steps = 4, ramp = \"5 us\", recover = \"10 us\", verify = \"5 us\" }";

/// Answers to a read at `at` and to the write under a scheme, in us.
fn under(scheme: &str, more: &[Override], at: u64) -> ([u64; 2], Bench, [u32; 2]) {
    let mut all = more.to_vec();
    if scheme != "baseline" {
        all.push(set("nand.program_steps", STEPS));
        all.push(set("scheduler.program_suspension", scheme));
    }
    let mut bench = Bench::filled(&all);
    let start = 0;
    let write = bench.submit(start, Kind::Write, 20 * PAGE, PAGE);
    let read = bench.submit(start + at * US, Kind::Read, PAGE, PAGE);
    bench.settle();
    let finished = [read, write].map(|tag| (bench.done(tag).finished - start) / US);
    (finished, bench, [read, write])
}

#[test]
fn each_scheme_suspends_inside_a_pulse_in_its_own_way() {
    for (scheme, at, read, write, worn) in [
        ("baseline", 220, 300 + 125, 300, [0, 0, 0]),
        // At 220 the third step has executed 15 us.
        ("d-es", 220, 250 + 125, 375 + 50, [1, 0, 0]),
        ("es", 220, 230 + 125, 355 + 5 + 15 + 10 + 5 + 50, [1, 1, 0]),
        ("i-es", 220, 230 + 125, 355 + 5 + 50 + 50, [1, 1, 1]),
        ("t-es", 220, 230 + 125, 355 + 5 + 50 + 50, [1, 1, 1]),
        ("ideal-es", 220, 220 + 125, 345 + 80, [1, 0, 0]),
        // At the end of a step.
        ("es", 200, 200 + 125, 325 + 100, [1, 0, 0]),
        ("i-es", 200, 200 + 125, 325 + 100, [1, 0, 0]),
        ("d-es", 200, 200 + 125, 325 + 100, [1, 0, 0]),
        // In the ramp, in the recovery and in the verify.
        ("i-es", 202, 212 + 125, 337 + 5 + 100, [1, 1, 0]),
        ("es", 237, 245 + 125, 370 + 5 + 50, [1, 0, 0]),
        ("es", 247, 247 + 125, 372 + 5 + 50, [1, 0, 0]),
    ] {
        let (finished, bench, _) = under(scheme, &[], at);
        assert_eq!(finished, [read, write], "{scheme}, a read at {at} us");
        let counters = bench.device.counters();
        let seen = [counters.program_suspensions, counters.extra_ramps, counters.extra_pulses];
        assert_eq!(seen, worn, "{scheme}, a read at {at} us");
    }
}

#[test]
fn what_a_read_waits_for_and_what_its_program_waits_for_are_told() {
    let (_, bench, [read, write]) = under("i-es", &[], 220);
    let of = |tag, state| bench.done(tag).of(state) / US;
    assert_eq!(of(read, State::Suspended), 10);
    assert_eq!(of(read, State::UnitHostProgram), 0);
    assert_eq!(
        [State::Transfer, State::Program, State::Suspended].map(|s| of(write, s)),
        [100, 200, 160]
    );
    let (_, bench, [read, _]) = under("d-es", &[], 220);
    assert_eq!(bench.done(read).of(State::UnitHostProgram) / US, 30);
}

#[test]
fn while_it_crosses_the_channel_there_is_nothing_to_interrupt() {
    // The read waits for the transfer, which occupies the unit, and then requests a suspension.
    let (finished, bench, _) = under("i-es", &[], 50);
    assert_eq!(finished, [100 + 125, 225 + 200]);
    // The program had not begun: it was put off, not interrupted.
    assert_eq!(bench.device.counters().program_suspensions, 0);
}

#[test]
fn each_row_of_a_batch_may_be_suspended() {
    // Units of two pages in one plane: two rows, each transferred and programmed on its own. The
    // second is transferred until 400 and programmed until 600.
    let rows = [set("ftl.unit", "8 KiB")];
    for (at, read, write) in [(220, 355, 460 + 300), (520, 655, 760)] {
        let mut all = rows.to_vec();
        all.push(set("nand.program_steps", STEPS));
        all.push(set("scheduler.program_suspension", "i-es"));
        let mut bench = Bench::filled(&all);
        let start = 0;
        let of_write = bench.submit(start, Kind::Write, 20 * PAGE, 2 * PAGE);
        let of_read = bench.submit(start + at * US, Kind::Read, 0, PAGE);
        bench.settle();
        let finished = [of_read, of_write].map(|tag| (bench.done(tag).finished - start) / US);
        assert_eq!(finished, [read, write], "a read at {at} us");
    }
}

#[test]
fn without_reads_every_scheme_programs_in_the_same_time() {
    for scheme in Suspension::NAMES.iter().filter(|scheme| **scheme != "python") {
        let ([_, write], ..) = under(scheme, &[], 2_000);
        assert_eq!(write, 300, "{scheme}");
    }
}
