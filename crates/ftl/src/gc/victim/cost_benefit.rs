//! Cost-benefit: an old block may be chosen with more valid data than a young one.

use super::{Candidates, Choose};
use engine::Stream;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Takes the block with the greatest `(1 - u) * age / 2u`, where `u` is the valid
/// share and age the units written since the block was closed (Rosenblum and
/// Ousterhout, LFS, 1992; reading and writing back costs `2u`, as in Kawaguchi
/// et al., 1995). A block without valid data comes first; the lowest number
/// breaks ties.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CostBenefit {}

impl Choose for CostBenefit {
    fn choose(&self, candidates: Candidates<'_>, _: &mut Stream) -> Option<usize> {
        let mut best: Option<(f64, usize)> = None;
        for index in candidates.gaining() {
            let valid = f64::from(candidates.valid[index]);
            let gained = f64::from(candidates.units_per_block) - valid;
            let age = candidates.now.saturating_sub(candidates.closed_at[index]) + 1;
            // Infinite for a block without valid data, as intended.
            let score = gained * age as f64 / (2.0 * valid);
            if best.is_none_or(|(highest, _)| score > highest) {
                best = Some((score, index));
            }
        }
        best.map(|(_, index)| index)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine::Streams;

    #[test]
    fn an_old_block_goes_before_a_young_one_with_a_little_less_valid_data() {
        let candidates = Candidates {
            valid: &[4, 5],
            closed_at: &[90, 0],
            now: 99,
            units_per_block: 8,
            most_valid: 7,
        };
        // (8 - 4) * 10 / 8 = 5 against (8 - 5) * 100 / 10 = 30.
        let chosen = CostBenefit {}.choose(candidates, &mut Streams::new(1).stream("victim"));
        assert_eq!(chosen, Some(1));
    }
}
