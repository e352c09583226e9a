//! The state machine of the array, tested against the datasheet. A step takes 100 us of ramp, 700
//! of execution, 100 of recovery and 100 of verify; an erase has five steps.

use super::*;
use proptest::prelude::*;

const ERASE: Pulses = Pulses {
    steps: 5,
    ramp: Span::from_us(100),
    execute: Span::from_us(700),
    recover: Span::from_us(100),
    verify: Span::from_us(100),
    longer: Span::ZERO,
};
const US: u64 = 1_000;

fn us(us: u64) -> Span {
    Span::from_us(us)
}
fn ns(ns: u64) -> Span {
    Span::from_ns(ns)
}

/// Interrupts an erase that has run for `elapsed` ns. Returns the time for which the unit is
/// still busy, the wear, and the rest of the step.
fn stopped(how: Stop, elapsed: u64) -> (u64, Strain, u64) {
    let mut progress = Progress::new(&ERASE);
    let elapsed = progress.pass(&ERASE, ns(elapsed));
    let stopped = progress.stop(&ERASE, how, elapsed);
    (stopped.after.as_ns(), stopped.strain, progress.to_safe_point(&ERASE).as_ns())
}

const NONE: Strain = Strain { ramps: 0, pulses: 0 };
const RAMP: Strain = Strain { ramps: 1, pulses: 0 };
const PULSE: Strain = Strain { ramps: 1, pulses: 1 };

#[test]
fn an_erase_lasts_its_steps() {
    assert_eq!((ERASE.step(), ERASE.total()), (us(1_000), us(5_000)));
    let progress = Progress::new(&ERASE);
    assert_eq!(progress.to_safe_point(&ERASE), us(1_000));
    assert_eq!(progress.to_end(&ERASE), us(5_000));
}

#[test]
fn a_step_counts_when_it_has_ended_and_not_a_nanosecond_before() {
    for (elapsed, left, into) in [
        (0, 5, 0),
        (1_000 * US - 1, 5, 1_000 * US - 1),
        (1_000 * US, 4, 0),
        (4_999 * US, 1, 999 * US),
        (5_000 * US, 0, 0),
    ] {
        let mut progress = Progress::new(&ERASE);
        assert_eq!(progress.pass(&ERASE, ns(elapsed)), ns(into), "after {elapsed} ns");
        assert_eq!(progress.steps_left(), left, "after {elapsed} ns");
    }
}

#[test]
fn a_step_that_has_not_begun_stops_at_no_cost() {
    for how in [Stop::Cancel, Stop::Suspend, Stop::Freeze] {
        assert_eq!(stopped(how, 0), (0, NONE, 1_000 * US));
        assert_eq!(stopped(how, 2_000 * US), (0, NONE, 1_000 * US), "at a safe point");
    }
}

#[test]
fn what_is_cancelled_recovers_and_is_verified_and_asserted_whole_again() {
    // Ramp: until its last nanosecond no pulse is wasted.
    assert_eq!(stopped(Stop::Cancel, 1), (100 * US, RAMP, 1_100 * US));
    assert_eq!(stopped(Stop::Cancel, 100 * US - 1), (100 * US, RAMP, 1_100 * US));
    // Execution, at any point.
    assert_eq!(stopped(Stop::Cancel, 100 * US), (100 * US, PULSE, 1_100 * US));
    assert_eq!(stopped(Stop::Cancel, 800 * US - 1), (100 * US, PULSE, 1_100 * US));
    // The pulse is over: the rest of its recovery follows, and the verify comes later.
    assert_eq!(stopped(Stop::Cancel, 800 * US), (100 * US, NONE, 100 * US));
    assert_eq!(stopped(Stop::Cancel, 900 * US - 1), (1, NONE, 100 * US));
    // A verify is aborted at once and repeated.
    assert_eq!(stopped(Stop::Cancel, 900 * US), (0, NONE, 100 * US));
    assert_eq!(stopped(Stop::Cancel, 1_000 * US - 1), (0, NONE, 100 * US));
}

#[test]
fn what_is_suspended_keeps_what_was_executed() {
    assert_eq!(stopped(Stop::Suspend, 1), (100 * US, RAMP, 1_000 * US));
    assert_eq!(stopped(Stop::Suspend, 100 * US), (100 * US, RAMP, 1_000 * US));
    assert_eq!(stopped(Stop::Suspend, 300 * US), (100 * US, RAMP, 800 * US));
    assert_eq!(stopped(Stop::Suspend, 800 * US - 1), (100 * US, RAMP, 300 * US + 1));
    assert_eq!(stopped(Stop::Suspend, 850 * US), (50 * US, NONE, 100 * US));
    assert_eq!(stopped(Stop::Suspend, 950 * US), (0, NONE, 100 * US));
}

#[test]
fn what_is_suspended_twice_keeps_both_parts() {
    let mut progress = Progress::new(&ERASE);
    progress.stop(&ERASE, Stop::Suspend, us(300));
    assert_eq!(progress.to_safe_point(&ERASE), us(800), "ramp, 500, recovery, verify");
    // Interrupted in the second ramp: nothing is gained and nothing lost.
    assert_eq!(progress.stop(&ERASE, Stop::Suspend, us(99)).after, us(100));
    assert_eq!(progress.to_safe_point(&ERASE), us(800));
    progress.stop(&ERASE, Stop::Suspend, us(250));
    assert_eq!(progress.to_safe_point(&ERASE), us(650), "ramp, 350, recovery, verify");
    // 100 of ramp, 350 of execution: its recovery has 60 left.
    assert_eq!(progress.stop(&ERASE, Stop::Suspend, us(490)).after, us(60));
    assert_eq!(progress.to_safe_point(&ERASE), us(100), "its verify");
    assert_eq!(progress.to_end(&ERASE), us(100 + 4_000));
}

#[test]
fn the_verify_before_a_whole_pulse_is_given_up_at_once() {
    let mut progress = Progress::new(&ERASE);
    progress.stop(&ERASE, Stop::Cancel, us(500));
    let before_ramp = progress.stop(&ERASE, Stop::Cancel, us(100) - ns(1));
    assert_eq!((before_ramp.after, before_ramp.strain), (Span::ZERO, NONE));
    assert_eq!(progress.to_safe_point(&ERASE), us(1_100));
    let in_ramp = progress.stop(&ERASE, Stop::Cancel, us(100));
    assert_eq!((in_ramp.after, in_ramp.strain), (us(100), RAMP));
    let executing = progress.stop(&ERASE, Stop::Cancel, us(200));
    assert_eq!((executing.after, executing.strain), (us(100), PULSE));
    assert_eq!(progress.steps_left(), 5, "all was in vain");
    assert_eq!(progress.pass(&ERASE, us(1_100)), Span::ZERO);
    assert_eq!(progress.steps_left(), 4);
    assert_eq!(progress.to_safe_point(&ERASE), us(1_000), "the next step begins plainly");
}

#[test]
fn a_verify_without_length_is_done_at_once() {
    let pulses = Pulses { verify: Span::ZERO, steps: 1, ..ERASE };
    let mut progress = Progress::new(&pulses);
    assert_eq!(progress.stop(&pulses, Stop::Cancel, us(850)).after, us(50));
    assert_eq!(progress.pass(&pulses, Span::ZERO), Span::ZERO);
    assert_eq!((progress.steps_left(), progress.to_end(&pulses)), (0, Span::ZERO));
}

#[test]
fn a_check_that_is_interrupted_begins_again_even_if_it_stood_still_before() {
    let mut progress = Progress::new(&ERASE);
    progress.stop(&ERASE, Stop::Cancel, us(200));
    let whole = us(100) + ERASE.step();
    assert_eq!(progress.to_safe_point(&ERASE), whole);
    progress.stop(&ERASE, Stop::Freeze, us(40));
    assert_eq!(progress.to_safe_point(&ERASE), whole - us(40), "frozen, it keeps its place");
    let stopped = progress.stop(&ERASE, Stop::Suspend, us(30));
    assert_eq!((stopped.after, stopped.strain), (Span::ZERO, NONE));
    assert_eq!(progress.to_safe_point(&ERASE), whole);
}

#[test]
fn a_program_divides_its_time_among_its_steps() {
    let config: ProgramStepsConfig = serde_json::from_value(serde_json::json!({
        "steps": 3, "ramp": "5 us", "recover": "10 us", "verify": "15 us",
    }))
    .unwrap();
    // 100 us and 1 ns: 33333 ns a step, and 2 more in the last.
    let program = Pulses::of_program(&config, ns(100_001)).unwrap();
    assert_eq!((program.step(), program.longer), (ns(33_333), ns(2)));
    assert_eq!(program.total(), ns(100_001));
    let mut progress = Progress::new(&program);
    assert_eq!(progress.to_end(&program), ns(100_001));
    assert_eq!(progress.pass(&program, ns(100_000)), ns(33_334));
    assert_eq!(progress.steps_left(), 1, "the last step takes the rest");
    assert_eq!(progress.pass(&program, ns(33_335)), Span::ZERO);
    // No step takes less than 30 us.
    assert_eq!(Pulses::of_program(&config, us(90)).map(|program| program.execute), Ok(Span::ZERO));
    assert_eq!(Pulses::of_program(&config, us(87)).map(|_| ()), Err(us(29)));
}

fn any_pulses() -> impl Strategy<Value = Pulses> {
    (1u32..7, 0u64..50, 1u64..500, 0u64..50, 0u64..50, 0u64..9).prop_map(
        |(steps, ramp, execute, recover, verify, longer)| Pulses {
            steps,
            ramp: ns(ramp),
            execute: ns(execute),
            recover: ns(recover),
            verify: ns(verify),
            longer: ns(longer),
        },
    )
}

proptest! {
    #![proptest_config(floor::cases!())]

    /// Freezing costs nothing, at any moment and any number of times.
    #[test]
    fn what_is_frozen_takes_as_long_as_what_is_not(
        pulses in any_pulses(), attempts in proptest::collection::vec(0u64..900, 0..20),
    ) {
        let mut progress = Progress::new(&pulses);
        let mut worked = Span::ZERO;
        for attempt in attempts {
            let attempt = ns(attempt).min(progress.to_end(&pulses));
            if progress.steps_left() == 0 { break }
            let elapsed = progress.pass(&pulses, attempt);
            progress.stop(&pulses, Stop::Freeze, elapsed);
            worked += attempt;
        }
        if progress.steps_left() > 0 {
            prop_assert_eq!(worked + progress.to_end(&pulses), pulses.total());
        }
    }

    /// After any history, an operation that is frozen for a while and then interrupted is in the
    /// same state as one that was only interrupted.
    #[test]
    fn what_stood_still_is_interrupted_as_if_it_had_not(
        pulses in any_pulses(),
        before in proptest::collection::vec((0u64..900, 0usize..2), 0..4),
        (first, second, how) in (1u64..900, 1u64..900, 0usize..2),
    ) {
        let stops = [Stop::Cancel, Stop::Suspend];
        let mut progress = Progress::new(&pulses);
        for (attempt, how) in before {
            let elapsed = progress.pass(&pulses, ns(attempt));
            progress.stop(&pulses, stops[how], elapsed);
        }
        let mut frozen = progress;
        let elapsed = frozen.pass(&pulses, ns(first));
        prop_assume!(frozen.steps_left() > 0);
        frozen.stop(&pulses, Stop::Freeze, elapsed);
        let elapsed = frozen.pass(&pulses, ns(second));
        // At a safe point there is nothing to interrupt.
        prop_assume!(frozen.steps_left() > 0 && !elapsed.is_zero());
        let with = frozen.stop(&pulses, stops[how], elapsed);
        let elapsed = progress.pass(&pulses, ns(first + second));
        let without = progress.stop(&pulses, stops[how], elapsed);
        prop_assert_eq!((with, frozen), (without, progress));
    }

    /// A suspended pulse executes as long as an undisturbed one. In addition come a ramp and a
    /// recovery for each counted pair, and the verifies that were aborted.
    #[test]
    fn what_is_suspended_executes_no_longer(
        pulses in any_pulses(), attempts in proptest::collection::vec(0u64..900, 0..20),
    ) {
        let mut progress = Progress::new(&pulses);
        let (mut busy, mut ramps, mut verifies) = (Span::ZERO, 0u64, 0u64);
        for attempt in attempts {
            let attempt = ns(attempt).min(progress.to_end(&pulses));
            let elapsed = progress.pass(&pulses, attempt);
            if progress.steps_left() == 0 { busy += attempt; break }
            let stopped = progress.stop(&pulses, Stop::Suspend, elapsed);
            busy += attempt + stopped.after;
            ramps += u64::from(stopped.strain.ramps);
            verifies += 1;
        }
        if progress.steps_left() > 0 { busy += progress.to_end(&pulses) }
        let least = pulses.total() + pulses.recover * ramps;
        prop_assert!(busy >= least, "{busy:?} of {least:?}");
        prop_assert!(busy <= least + pulses.ramp * ramps + pulses.verify * verifies);
    }

    /// However it is interrupted, an operation has at most its steps and a verify left.
    #[test]
    fn what_is_left_never_grows_beyond_the_steps(
        pulses in any_pulses(), attempts in proptest::collection::vec((0u64..900, 0usize..3), 0..20),
    ) {
        let mut progress = Progress::new(&pulses);
        let mut steps_left = pulses.steps;
        for (attempt, how) in attempts {
            let how = [Stop::Cancel, Stop::Suspend, Stop::Freeze][how];
            let elapsed = progress.pass(&pulses, ns(attempt));
            prop_assert!(progress.steps_left() <= steps_left);
            steps_left = progress.steps_left();
            if steps_left == 0 { break }
            let stopped = progress.stop(&pulses, how, elapsed);
            prop_assert!(stopped.after <= pulses.recover);
            prop_assert!(progress.to_safe_point(&pulses) <= pulses.verify + pulses.step() + pulses.longer);
        }
    }
}
