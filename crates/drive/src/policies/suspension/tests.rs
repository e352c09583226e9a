use super::*;
use engine::{Instant, Span};
use proptest::prelude::*;

fn asked(since_begun: Span) -> Asked {
    Asked {
        now: Instant::from_ns(1_000_000_000),
        steps_done: 1,
        steps_left: 4,
        step: Span::from_ms(1),
        into_step: Span::from_us(300),
        safe_at: Instant::from_ns(1_000_700_000),
        at_safe_point: false,
        asking: 1,
        waited: Span::ZERO,
        suspensions: 0,
        since_begun,
        since_resumed: Span::from_us(300),
        foreground: false,
    }
}

fn named(written: serde_json::Value) -> Suspension {
    serde_json::from_value(written).expect("a policy")
}

proptest! {
    #![proptest_config(floor::cases!())]

    /// The contract of every policy: the same answer to the same question.
    #[test]
    fn every_policy_answers_alike_twice(
        steps_done in 0u32..9, steps_left in 1u32..9, asking in 1u32..9, suspensions in 0u32..9,
        begun in 0u64..200_000_000, at_safe_point: bool, foreground: bool,
    ) {
        let asked = Asked {
            steps_done, steps_left, asking, suspensions, at_safe_point, foreground,
            ..asked(Span::from_ns(begun))
        };
        for policy in Suspension::all() {
            let answer = policy.interrupts(&asked);
            prop_assert_eq!(policy.interrupts(&asked), answer);
            prop_assert!(!policy.is_baseline() || answer == Interruption::GoOn);
            prop_assert!(!policy.needs_safe_points() || answer == Interruption::AtStepEnd);
        }
    }
}

#[test]
fn a_timeout_turns_at_its_nanosecond() {
    let policy = named(serde_json::json!({ "policy": "t-es", "after": "64 ms" }));
    let after = |ns| policy.interrupts(&asked(Span::from_ns(ns)));
    assert_eq!(after(0), Interruption::Cancel);
    assert_eq!(after(63_999_999), Interruption::Cancel);
    assert_eq!(after(64_000_000), Interruption::AtStepEnd);
    let without = named(serde_json::json!({ "policy": "t-es", "after": "0 ms" }));
    assert_eq!(without.interrupts(&asked(Span::ZERO)), Interruption::AtStepEnd);
}

#[test]
fn the_timeout_of_the_paper_is_the_default() {
    let [left_out, given] = [
        serde_json::json!({ "policy": "t-es" }),
        serde_json::json!({ "policy": "t-es", "after": "64 ms" }),
    ]
    .map(|written| serde_json::to_value(named(written)).unwrap());
    assert_eq!(left_out, given);
}

#[test]
fn every_name_is_a_tag_of_the_configuration() {
    let tags = Suspension::all().into_iter().map(|policy| {
        let written = serde_json::to_value(policy).unwrap();
        written["policy"].as_str().unwrap().to_owned()
    });
    assert_eq!(tags.collect::<Vec<_>>(), Suspension::NAMES);
}
