//! d-choices: the best of a few, nearly greedy at a constant price.

use super::{Candidates, Choose};
use engine::Stream;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Draws `choices` blocks at random, with repetition, among those that gain
/// space, and takes the one with the least live data (Van Houdt, SIGMETRICS
/// 2013; Li, Lee, Lui 2013).
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DChoices {
    /// Blocks drawn; 1 is random, and many come near to greedy.
    #[schemars(range(min = 1, max = 1_000_000))]
    #[serde(default = "default_choices")]
    pub choices: u32,
}

fn default_choices() -> u32 {
    10
}

impl Default for DChoices {
    fn default() -> Self {
        Self { choices: default_choices() }
    }
}

impl Choose for DChoices {
    fn choose(&self, candidates: Candidates<'_>, numbers: &mut Stream) -> Option<usize> {
        (0..self.choices)
            .map_while(|_| draw(candidates, numbers))
            .min_by_key(|index| candidates.live[*index])
    }
}

/// A block drawn uniformly among those that gain space.
///
/// Most blocks of a busy drive do, so drawing until one does is quick; after as
/// many misses as there are blocks, they are few and are listed instead.
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
