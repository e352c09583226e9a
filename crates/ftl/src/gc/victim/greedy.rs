//! Greedy: least valid data first.

use super::{Candidates, Choose};
use engine::Stream;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Takes the block with the least valid data.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Greedy {
    /// Choice among several blocks with equally little valid data. Default: `first` by position.
    #[serde(default)]
    pub ties: Ties,
}

/// Choice among several equally good blocks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Ties {
    /// The first by position.
    #[default]
    First,
    /// The last by position.
    Last,
    /// The one that was closed first.
    Oldest,
    /// Any of them, with equal probability.
    Random,
}

impl Choose for Greedy {
    fn choose(&self, candidates: Candidates<'_>, numbers: &mut Stream) -> Option<usize> {
        let valid = candidates.valid;
        // Two passes: the compiler vectorises the search of the minimum (but not `min`), and the
        // search of its position then stops early.
        let least = valid.iter().fold(u32::MAX, |least, units| least.min(*units));
        if least > candidates.most_valid {
            return None;
        }
        let is_least = |units: &u32| *units == least;
        let mut equals = (0..valid.len()).filter(|index| is_least(&valid[*index]));
        match self.ties {
            Ties::First => valid.iter().position(is_least),
            Ties::Last => equals.next_back(),
            Ties::Oldest => equals.min_by_key(|index| candidates.closed_at[*index]),
            Ties::Random => {
                let count = equals.clone().count() as u64;
                equals.nth(numbers.below(count) as usize)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine::Streams;

    const VALID: [u32; 6] = [5, 2, 8, 2, 2, 4];
    const CLOSED_AT: [u64; 6] = [20, 40, 50, 10, 60, 30];

    fn chosen(ties: Ties, seed: u64) -> usize {
        let candidates = Candidates {
            valid: &VALID,
            closed_at: &CLOSED_AT,
            now: 100,
            units_per_block: 8,
            most_valid: 7,
        };
        let found = Greedy { ties }.choose(candidates, &mut Streams::new(seed).stream("victim"));
        found.expect("five blocks gain")
    }

    #[test]
    fn of_equals_the_one_that_the_rule_says_is_taken() {
        assert_eq!([Ties::First, Ties::Last, Ties::Oldest].map(|ties| chosen(ties, 1)), [1, 4, 3]);
        let mut counts = [0; 6];
        floor::seeds(0, 300).for_each(|seed| counts[chosen(Ties::Random, seed)] += 1);
        assert_eq!([counts[0], counts[2], counts[5]], [0; 3]);
        // A third of 300 each, within four standard deviations of sqrt(300 * 1/3 * 2/3) = 8.2.
        for index in [1, 3, 4] {
            assert!((67..=133).contains(&counts[index]), "{counts:?}");
        }
    }
}
