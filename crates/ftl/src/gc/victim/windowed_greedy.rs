//! Windowed greedy: greedy among the oldest blocks; lies between FIFO and greedy.

use super::{Candidates, Choose};
use engine::Stream;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Takes the block with the least valid data in a window: the `window` blocks that were closed
/// first among those that gain space (Hu et al., SYSTOR 2009). It leaves young blocks alone,
/// because much of their data will still become invalid. The block closed first breaks ties, then
/// the lowest number.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WindowedGreedy {
    /// Blocks in the window. 1 is `fifo`; as many as a bin has is greedy.
    #[schemars(range(min = 1))]
    #[serde(default = "default_window")]
    pub window: u32,
}

fn default_window() -> u32 {
    32
}

impl Default for WindowedGreedy {
    fn default() -> Self {
        Self { window: default_window() }
    }
}

impl Choose for WindowedGreedy {
    fn choose(&self, candidates: Candidates<'_>, _: &mut Stream) -> Option<usize> {
        let aged = |index| (candidates.closed_at[index], index);
        let mut blocks: Vec<_> = candidates.gaining().map(aged).collect();
        let window = self.window as usize;
        if window < blocks.len() {
            blocks.select_nth_unstable(window);
            blocks.truncate(window);
        }
        let rank =
            |(closed_at, index): &(u64, usize)| (candidates.valid[*index], *closed_at, *index);
        blocks.into_iter().min_by_key(rank).map(|(_, index)| index)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{fifo::Fifo, greedy::Greedy};
    use super::*;
    use engine::Streams;

    const VALID: [u32; 6] = [5, 2, 8, 3, 2, 4];
    /// From the oldest on: 3, 0, 5, 1, 2, 4.
    const CLOSED_AT: [u64; 6] = [20, 40, 50, 10, 60, 30];

    fn chosen(policy: &impl Choose) -> Option<usize> {
        let candidates = Candidates {
            valid: &VALID,
            closed_at: &CLOSED_AT,
            now: 100,
            units_per_block: 8,
            most_valid: 7,
        };
        policy.choose(candidates, &mut Streams::new(1).stream("victim"))
    }

    fn within(window: u32) -> Option<usize> {
        chosen(&WindowedGreedy { window })
    }

    #[test]
    fn the_emptiest_block_of_the_window_goes_and_the_oldest_breaks_ties() {
        assert_eq!((1..=4).map(within).collect::<Vec<_>>(), [Some(3), Some(3), Some(3), Some(1)]);
        // Blocks 1 and 4 have equally little; 1 is older. Block 2 is full and in no window.
        assert_eq!((5..=9).map(within).collect::<Vec<_>>(), [Some(1); 5]);
    }

    #[test]
    fn the_least_window_is_fifo_and_the_greatest_is_greedy() {
        assert_eq!(within(1), chosen(&Fifo {}));
        assert_eq!(within(u32::MAX), chosen(&Greedy::default()));
    }
}
