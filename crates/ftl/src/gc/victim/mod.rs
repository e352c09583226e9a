//! Victim selection of garbage collection, and the one list of its policies. A new policy is a
//! file here and a line of the list: its tag in the configuration, the list in error messages,
//! the schema, the documentation and the contract tests follow from the line.

mod candidates;

pub use candidates::{Candidates, Choose};
pub use python::{ChooseOutside, Python};

use engine::Stream;

settings::family! {
    /// Policy that chooses the victim block of garbage collection.
    VictimPolicy asks choose(candidates: Candidates<'_>, numbers: &mut Stream) -> Option<usize>;
    /// The block with the least valid data.
    "greedy" => greedy::Greedy,
    /// The block with the best ratio of gained space times age to cost (LFS).
    "cost-benefit" => cost_benefit::CostBenefit,
    /// The block with the least valid data among a few blocks drawn at random.
    "d-choices" => d_choices::DChoices,
    /// A block drawn at random.
    "random" => random::Random,
    /// The block that was closed first.
    "fifo" => fifo::Fifo,
    /// The block with the least valid data among those that were closed first.
    "windowed-greedy" => windowed_greedy::WindowedGreedy,
    /// A block that a function of the user chooses.
    "python" => python::Python,
}

settings::asks_outside!(VictimPolicy);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::blocks::BARRED;
    use engine::Streams;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(floor::cases!())]

        /// The contract of every policy: if a block may be chosen and gains space, the policy
        /// returns such a block, and always the same one.
        #[test]
        fn every_policy_keeps_the_contract(
            valid in proptest::collection::vec(prop_oneof![0u32..=8, Just(BARRED), Just(BARRED | 3)], 1..40),
            seed: u64,
        ) {
            let closed_at: Vec<u64> = (0..valid.len() as u64).map(|index| index * 7 % 50).collect();
            let candidates = Candidates { valid: &valid, closed_at: &closed_at, now: 60, units_per_block: 8, most_valid: 7 };
            for policy in VictimPolicy::all() {
                let chosen = policy.choose(candidates, &mut Streams::new(seed).stream("victim"));
                let again = policy.choose(candidates, &mut Streams::new(seed).stream("victim"));
                prop_assert_eq!(chosen, again);
                match chosen {
                    Some(index) => prop_assert!(valid[index] < 8, "{:?} chose {}", policy, valid[index]),
                    None => prop_assert!(valid.iter().all(|valid| *valid >= 8), "{:?} declined", policy),
                }
            }
        }
    }

    #[test]
    fn every_name_is_a_tag_of_the_configuration() {
        let tags = VictimPolicy::all().into_iter().map(|policy| {
            let written = serde_json::to_value(policy).unwrap();
            written["policy"].as_str().unwrap().to_owned()
        });
        assert_eq!(tags.collect::<Vec<_>>(), VictimPolicy::NAMES);
    }
}
