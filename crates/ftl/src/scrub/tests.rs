//! The contract of all policies, and the rule of each.

use super::*;
use crate::blocks::BARRED;
use proptest::prelude::*;

/// True if a policy may decide that no block needs scrubbing.
fn may_decline(policy: &ScrubChoice, written: Written<'_>) -> bool {
    let mut fitting = written.fitting();
    match policy {
        ScrubChoice::Oldest(_) | ScrubChoice::Patrol(_) => fitting.next().is_none(),
        ScrubChoice::MostRead(most) => fitting.all(|index| written.sensed[index] < most.reads),
        ScrubChoice::ExpectedErrors(of) => {
            fitting.all(|index| written.expected_errors[index] <= of.above)
        }
        ScrubChoice::Refresh(of) => {
            fitting.all(|index| written.data_age[index] < of.age.span().as_ns())
        }
        ScrubChoice::CostBenefit(of) => fitting.all(|index| {
            f64::from(written.re_reads[index]) <= of.above * written.valid_pages(index)
        }),
        // No function is connected in this test.
        ScrubChoice::Python(_) => true,
    }
}

/// Columns of some blocks.
struct Blocks {
    valid: Vec<u32>,
    closed_at: Vec<u64>,
    sensed: Vec<u32>,
    erase_count: Vec<u32>,
    expected_errors: Vec<f64>,
    re_reads: Vec<u32>,
    data_age: Vec<u64>,
}

impl Blocks {
    /// Blocks that differ in all columns; at most 37 of them have different numbers.
    fn of(valid: Vec<u32>) -> Self {
        let numbers = |factor: u32| (0..valid.len() as u32).map(move |index| index * factor % 37);
        Self {
            closed_at: (0..valid.len() as u64).map(|index| index * 7 % 50).collect(),
            sensed: numbers(5).map(|number| number * 1_000).collect(),
            erase_count: vec![1; valid.len()],
            expected_errors: numbers(11).map(|number| f64::from(number) * 2.5).collect(),
            re_reads: numbers(17).map(|number| number / 4).collect(),
            data_age: numbers(23).map(|days| u64::from(days) * 86_400_000_000_000).collect(),
            valid,
        }
    }
    fn seen(&self, most_valid: u32) -> Written<'_> {
        Written {
            valid: &self.valid,
            closed_at: &self.closed_at,
            sensed: &self.sensed,
            erase_count: &self.erase_count,
            expected_errors: &self.expected_errors,
            re_reads: &self.re_reads,
            data_age: &self.data_age,
            turn: 5,
            now: 60,
            units_per_block: 8,
            units_per_page: 2.0,
            most_valid,
        }
    }
}

proptest! {
    #![proptest_config(floor::cases!())]

    /// The contract of every policy: it returns a block that fits, always the same one, or
    /// none if no block needs scrubbing.
    #[test]
    fn every_policy_keeps_the_contract(
        valid in proptest::collection::vec(prop_oneof![0u32..=8, Just(BARRED), Just(BARRED | 3)], 1..40),
        most_valid in 0u32..=8,
    ) {
        let blocks = Blocks::of(valid);
        let written = blocks.seen(most_valid);
        for policy in ScrubChoice::all() {
            let picked = policy.pick(written);
            prop_assert_eq!(picked, policy.pick(written));
            match picked {
                Some(index) => prop_assert!(written.fits(index), "{:?}", policy),
                None => prop_assert!(may_decline(&policy, written), "{:?}", policy),
            }
        }
    }
}

fn policy(text: &str) -> ScrubChoice {
    serde_json::from_str(text).expect("a policy")
}

#[test]
fn the_oracle_takes_the_most_expected_errors_above_its_limit() {
    let mut blocks = Blocks::of(vec![8, 8, 8, BARRED | 8, 8]);
    blocks.expected_errors = vec![50.0, 50.1, 70.0, 99.0, 70.0];
    let oracle = |above| policy(&format!(r#"{{ "policy": "expected-errors", "above": {above} }}"#));
    assert_eq!(oracle("50").pick(blocks.seen(8)), Some(2), "the lowest number of two");
    assert_eq!(oracle("69.9").pick(blocks.seen(8)), Some(2));
    assert_eq!(oracle("70").pick(blocks.seen(8)), None);
    assert_eq!(policy(r#"{ "policy": "expected-errors" }"#).needs().above, Some(50.0));
}

#[test]
fn the_oldest_data_is_refreshed_once_it_is_old_enough() {
    let mut blocks = Blocks::of(vec![8, 0, 8, 8]);
    blocks.data_age = vec![3_600_000_000_000 - 1, u64::MAX, 3_600_000_000_000, 7];
    let hour = policy(r#"{ "policy": "refresh", "age": "1 h" }"#);
    assert_eq!(hour.pick(blocks.seen(8)), Some(2));
    blocks.data_age[2] -= 1;
    assert_eq!(hour.pick(blocks.seen(8)), None);
}

#[test]
fn a_patrol_takes_the_blocks_in_turn_and_begins_again() {
    let blocks = Blocks::of(vec![8, 0, 8, BARRED | 8, 8]);
    let next = |turn| policy(r#"{ "policy": "patrol" }"#).pick(Written { turn, ..blocks.seen(8) });
    assert_eq!([0, 1, 2, 3, 4, 5].map(next), [0, 2, 2, 4, 4, 0].map(Some));
}

#[test]
fn re_reads_count_for_each_valid_page() {
    // Two units a page: 4, 1 and 2 valid pages.
    let mut blocks = Blocks::of(vec![8, 2, 4]);
    blocks.re_reads = vec![8, 3, 4];
    let above = |above| policy(&format!(r#"{{ "policy": "cost-benefit", "above": {above} }}"#));
    assert_eq!(above("1").pick(blocks.seen(8)), Some(1), "three for its page");
    assert_eq!(above("3").pick(blocks.seen(8)), None);
    blocks.re_reads[1] = 1;
    assert_eq!(above("1").pick(blocks.seen(8)), Some(0), "two for each page, as the last one");
}
