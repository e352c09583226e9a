//! The one list of victim policies. A new policy is a new file and a line here:
//! its tag in the configuration, the list in error messages, the schema and the
//! contract tests follow from the line.

use super::cost_benefit::CostBenefit;
use super::d_choices::DChoices;
use super::fifo::Fifo;
use super::greedy::Greedy;
use super::python::Python;
use super::random::Random;
use crate::blocks::BARRED;
use engine::Stream;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a policy sees: the blocks of one bin, by their place in it.
#[derive(Clone, Copy)]
pub struct Candidates<'a> {
    /// Live units of each block; blocks that may not be chosen stand above
    /// `units_per_block`.
    pub live: &'a [u32],
    /// When each block was closed, in units written to the drive before.
    pub closed_at: &'a [u64],
    /// Units written to the drive so far: the present, on the clock of `closed_at`.
    pub now: u64,
    /// Units in a block.
    pub units_per_block: u32,
    /// Live units with which collecting a block still gains a batch: what is
    /// moved fills whole batches, so less than a batch is no gain.
    pub most_live: u32,
}

impl Candidates<'_> {
    /// True where collecting block `index` gains space.
    #[inline]
    pub fn gains(&self, index: usize) -> bool {
        self.live[index] <= self.most_live
    }
    /// The blocks that may be chosen and gain space.
    pub fn gaining(&self) -> impl Iterator<Item = usize> {
        (0..self.live.len()).filter(|index| self.gains(*index))
    }
    /// Blocks in the bin.
    pub fn len(&self) -> usize {
        self.live.len()
    }
    /// True for a bin without blocks.
    pub fn is_empty(&self) -> bool {
        self.live.is_empty()
    }
}

/// Picks the block to be collected next.
pub trait Choose {
    /// The place of a block that gains space, or `None` where none does. Given
    /// the same candidates and numbers it returns the same block.
    fn choose(&self, candidates: Candidates<'_>, numbers: &mut Stream) -> Option<usize>;
}

macro_rules! registry {
    ($($(#[$doc:meta])* $tag:literal => $policy:ident,)+) => {
        /// Which block garbage collection takes.
        #[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
        #[serde(tag = "policy")]
        pub enum VictimPolicy {
            $($(#[$doc])* #[serde(rename = $tag)] $policy($policy),)+
        }

        impl VictimPolicy {
            /// The names of all policies.
            pub const NAMES: &[&str] = &[$($tag),+];

            /// The place of the block to be collected next; see [`Choose::choose`].
            #[inline]
            pub fn choose(&self, candidates: Candidates<'_>, numbers: &mut Stream) -> Option<usize> {
                debug_assert!(
                    candidates.live.iter().all(|live| *live <= candidates.units_per_block || *live & BARRED != 0),
                    "a block holds no more live units than it has places"
                );
                match self { $(Self::$policy(policy) => policy.choose(candidates, numbers),)+ }
            }

            /// Every policy with its default settings, for the contract tests.
            pub fn all() -> Vec<Self> {
                vec![$(Self::$policy($policy::default())),+]
            }
        }
    };
}

registry! {
    /// The block with the least live data; the lowest number breaks ties.
    "greedy" => Greedy,
    /// The best ratio of space gained times age over cost (LFS).
    "cost-benefit" => CostBenefit,
    /// The best of a few blocks drawn at random.
    "d-choices" => DChoices,
    /// A block drawn at random.
    "random" => Random,
    /// The block that was closed first.
    "fifo" => Fifo,
    /// A block that a function of the user chooses.
    "python" => Python,
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine::Streams;
    use proptest::prelude::*;

    proptest! {
        /// The contract of every policy: it returns a block that may be chosen
        /// and gains space, whenever there is one, and always the same one.
        #[test]
        fn every_policy_keeps_the_contract(
            live in proptest::collection::vec(prop_oneof![0u32..=8, Just(BARRED), Just(BARRED | 3)], 1..40),
            seed: u64,
        ) {
            let closed_at: Vec<u64> = (0..live.len() as u64).map(|index| index * 7 % 50).collect();
            let candidates = Candidates { live: &live, closed_at: &closed_at, now: 60, units_per_block: 8, most_live: 7 };
            for policy in VictimPolicy::all() {
                let chosen = policy.choose(candidates, &mut Streams::new(seed).stream("victim"));
                let again = policy.choose(candidates, &mut Streams::new(seed).stream("victim"));
                prop_assert_eq!(chosen, again);
                match chosen {
                    Some(index) => prop_assert!(live[index] < 8, "{:?} chose {}", policy, live[index]),
                    None => prop_assert!(live.iter().all(|live| *live >= 8), "{:?} declined", policy),
                }
            }
        }
    }

    #[test]
    fn every_name_is_a_tag_of_the_configuration() {
        assert_eq!(VictimPolicy::NAMES.len(), VictimPolicy::all().len());
    }
}
