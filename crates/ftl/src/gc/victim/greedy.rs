//! Greedy: least live data first.

use super::{Candidates, Choose};
use engine::Stream;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Takes the block with the least live data; the lowest number breaks ties.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Greedy {}

impl Choose for Greedy {
    fn choose(&self, candidates: Candidates<'_>, _: &mut Stream) -> Option<usize> {
        // Two passes: the minimum is vectorised (which `min` is not), and the position then stops
        // early.
        let least = candidates.live.iter().fold(u32::MAX, |least, live| least.min(*live));
        if least > candidates.most_live {
            return None;
        }
        candidates.live.iter().position(|live| *live == least)
    }
}
