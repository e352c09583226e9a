//! Static wear-leveling, by the rest of a block's life: its endurance less its erases. Data that
//! hardly ever changes keeps its blocks from being erased, so that the other blocks wear out
//! first. Two methods counter this: a worn block is collected less often (rate-limiting), or it
//! is given data that seldom changes, and the block that stored this data takes part instead
//! (migration).
//!
//! Source: [ATC08], section 3.6: retirement age and age variance.

use engine::Stream;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use settings::Share;

/// Static wear-leveling: migration, rate-limiting or both. The rest of a block's life is compared
/// with the mean of its bin.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WearConfig {
    /// Migration: a victim with less life left than this share of the mean takes the data of the
    /// block that was filled longest ago (among the blocks with more life left than that share),
    /// and that block becomes free. [ATC08] uses 85 %.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retirement_age: Option<Share>,
    /// Rate-limiting: a victim whose rest of life lies below the mean by more than this share of
    /// the mean is passed over with some probability. [ATC08] uses 20 %.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub age_variance: Option<Share>,
    /// Width of the range, as a share of the mean, over which the probability of being collected
    /// falls to zero. Default: the whole range down to zero life. With 0 % it falls at once: only
    /// blocks above the limit are collected, unless there is none. Only with `age_variance`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate_window: Option<Share>,
}

/// Static wear-leveling in operation.
#[derive(Clone)]
pub struct Wear {
    config: WearConfig,
    /// Blocks that were passed over; kept to reuse the allocation.
    pub passed: Vec<usize>,
}

impl Wear {
    /// Wear-leveling of this configuration.
    pub fn new(config: WearConfig) -> Self {
        Self { config, passed: Vec::new() }
    }

    /// True if a block with this share of the mean life is to take seldom written data.
    pub fn retires(&self, share: f64) -> bool {
        self.config.retirement_age.is_some_and(|age| share < age.fraction())
    }

    /// True if a block with this share of the mean life is passed over in this choice.
    pub fn passes_over(&self, share: f64, numbers: &mut Stream) -> bool {
        let Some(variance) = self.config.age_variance else { return false };
        let from = 1.0 - variance.fraction();
        if share >= from {
            return false;
        }
        let window = self.config.rate_window.map_or(from, Share::fraction);
        if window == 0.0 {
            return true;
        }
        !numbers.chance(((share - (from - window)) / window).max(0.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine::Streams;

    /// Number of cases out of 10,000 in which a block with this share of the mean life is passed
    /// over.
    fn passed_over(variance: u64, window: Option<u64>, share: f64) -> f64 {
        let percent = Share::from_percent;
        let wear = Wear::new(WearConfig {
            retirement_age: None,
            age_variance: Some(percent(variance)),
            rate_window: window.map(percent),
        });
        let mut numbers = Streams::new(floor::seed(7)).stream("wear");
        (0..10_000).filter(|_| wear.passes_over(share, &mut numbers)).count() as f64
    }

    #[test]
    fn the_chance_to_be_taken_falls_linearly() {
        // r / x: the default of [ATC08], from 80 % of the mean down to zero.
        for (share, chance) in
            [(1.0, 1.0), (0.8, 1.0), (0.6, 0.75), (0.4, 0.5), (0.08, 0.1), (0.0, 0.0)]
        {
            let passed = passed_over(20, None, share);
            let sigma = f64::sqrt(10_000.0 * chance * (1.0 - chance));
            let expected = 10_000.0 * (1.0 - chance);
            assert!((passed - expected).abs() <= 4.0 * sigma, "{share}: {passed} and {expected}");
        }
        // A window of a tenth of the mean.
        for (share, expected) in [(0.8, 0.0), (0.75, 5_000.0), (0.7, 10_000.0), (0.3, 10_000.0)] {
            let passed = passed_over(20, Some(10), share);
            assert!((passed - expected).abs() <= 200.0, "{share}: {passed} and {expected}");
        }
        // A window of zero.
        for (share, expected) in [(0.8, 0.0), (0.799, 10_000.0), (0.0, 10_000.0)] {
            assert_eq!(passed_over(20, Some(0), share), expected, "{share}");
        }
    }
}
