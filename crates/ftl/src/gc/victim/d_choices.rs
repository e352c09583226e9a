//! d-choices: the best of a few random blocks, nearly greedy at constant cost.

use super::{Candidates, Choose};
use engine::Stream;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Draws `choices` blocks at random and takes the one with the least valid data (Van Houdt,
/// SIGMETRICS 2013; Li, Lee, Lui 2013).
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DChoices {
    /// Blocks drawn; 1 is random, and many approach greedy.
    #[schemars(range(min = 1, max = 1_000_000))]
    #[serde(default = "default_choices")]
    pub choices: u32,
    /// Blocks from which the policy draws. Default: `gaining`.
    #[serde(default)]
    pub among: Among,
}

/// Blocks from which the policy draws.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Among {
    /// The blocks that gain space; a block may be drawn more than once.
    #[default]
    Gaining,
    /// All closed and free blocks, each at most once; an open or retired block without valid data
    /// counts as free. A block that gains nothing is drawn in vain; if all drawn blocks are, one of the blocks that gain space is drawn instead.
    All,
}

fn default_choices() -> u32 {
    10
}

impl Default for DChoices {
    fn default() -> Self {
        Self { choices: default_choices(), among: Among::default() }
    }
}

impl Choose for DChoices {
    fn choose(&self, candidates: Candidates<'_>, numbers: &mut Stream) -> Option<usize> {
        match self.among {
            Among::Gaining => (0..self.choices)
                .map_while(|_| draw(candidates, numbers))
                .min_by_key(|index| candidates.valid[*index]),
            Among::All => draw_apart(candidates, self.choices as usize, numbers)
                .into_iter()
                .filter(|index| candidates.gains(*index))
                .min_by_key(|index| candidates.valid[*index])
                .or_else(|| draw(candidates, numbers)),
        }
    }
}

/// Different blocks, drawn uniformly among the closed and free ones.
fn draw_apart(candidates: Candidates<'_>, choices: usize, numbers: &mut Stream) -> Vec<usize> {
    let mut places: Vec<usize> =
        (0..candidates.len()).filter(|index| candidates.is_closed_or_free(*index)).collect();
    let drawn = choices.min(places.len());
    for at in 0..drawn {
        let other = at + numbers.below((places.len() - at) as u64) as usize;
        places.swap(at, other);
    }
    places.truncate(drawn);
    places
}

/// A block drawn uniformly among those that gain space.
///
/// Most blocks of a busy drive gain space, so repeated draws soon find one. After as many misses
/// as there are blocks, few blocks gain, and the function lists them instead.
pub(super) fn draw(candidates: Candidates<'_>, numbers: &mut Stream) -> Option<usize> {
    let count = candidates.len() as u64;
    for _ in 0..count {
        let index = numbers.below(count) as usize;
        if candidates.gains(index) {
            return Some(index);
        }
    }
    let gaining = candidates.gaining().count() as u64;
    (gaining > 0).then(|| {
        let skip = numbers.below(gaining) as usize;
        candidates.gaining().nth(skip).expect("one of those just counted")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::blocks::BARRED;
    use engine::Streams;

    /// Eight blocks: two are closed and gain, three are free, one is closed and full, and two are
    /// open or being collected.
    const STANDING: [u32; 8] = [3, BARRED, 5, BARRED, 8, BARRED, BARRED | 2, BARRED | 7];

    /// Number of times that each block is chosen in a number of draws.
    fn chosen(policy: &DChoices, draws: u32) -> [u32; 8] {
        let candidates = Candidates {
            valid: &STANDING,
            closed_at: &[0; 8],
            now: 60,
            units_per_block: 8,
            most_valid: 7,
        };
        let mut numbers = Streams::new(floor::seed(7)).stream("victim");
        let mut counts = [0; 8];
        for _ in 0..draws {
            counts[policy.choose(candidates, &mut numbers).unwrap()] += 1;
        }
        counts
    }

    /// Two of six closed or free blocks are drawn. The better of the two blocks that gain is
    /// chosen if it is drawn (1/3) and in half of the cases in which neither is (6/15, drawn
    /// again).
    #[test]
    fn among_all_a_draw_may_be_in_vain() {
        let draws = 60_000;
        let counts = chosen(&DChoices { choices: 2, among: Among::All }, draws);
        assert_eq!(counts[0] + counts[2], draws);
        let share = 1.0 / 3.0 + 6.0 / 15.0 / 2.0;
        let spread = 5.0 * (share * (1.0 - share) / f64::from(draws)).sqrt();
        let found = f64::from(counts[0]) / f64::from(draws);
        assert!((found - share).abs() < spread, "{found} of {share}");
    }

    #[test]
    fn among_all_no_block_is_drawn_twice() {
        let counts = chosen(&DChoices { choices: 6, among: Among::All }, 1_000);
        assert_eq!(counts[0], 1_000, "all six are drawn, the best among them");
    }
}
