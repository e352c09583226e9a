//! Static wear-leveling, by what is left of a block's life: its endurance less its erases.
//! Data that hardly ever changes keeps its blocks from being erased, so that the others wear
//! out first. A worn block is collected less often (rate-limiting), or is given data that
//! changes seldom, and the block that stored it takes part instead (migration).
//!
//! Source: [ATC08], section 3.6: retirement age and age variance.

use engine::Stream;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use settings::Share;

/// Static wear-leveling; at least one of its two ways. Lives are compared with the mean of the
/// blocks of a bin.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WearConfig {
    /// Migration: a victim with less life left than this share of the mean takes the data of
    /// the block that was filled longest ago (among those with more life left than that), and
    /// that block is free instead. [ATC08] has 85 %.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retirement_age: Option<Share>,
    /// Rate-limiting: a victim whose life lies further below the mean than this share of it is
    /// passed over by chance. [ATC08] has 20 %.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub age_variance: Option<Share>,
    /// The share of the mean over which the chance to be taken falls to nothing. Default: all
    /// that is left. With 0 % it falls at once: only blocks above the limit are collected, unless
    /// there is none. Only with `age_variance`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate_window: Option<Share>,
}

/// Wear-leveling at work.
#[derive(Clone)]
pub struct Wear {
    config: WearConfig,
    /// Blocks that were passed over, kept for its memory.
    pub passed: Vec<usize>,
}

impl Wear {
    /// As configured.
    pub fn new(config: WearConfig) -> Self {
        Self { config, passed: Vec::new() }
    }

    /// True where a block of this share of the mean life is to take seldom written data.
    pub fn retires(&self, share: f64) -> bool {
        self.config.retirement_age.is_some_and(|age| share < age.fraction())
    }

    /// True where a block of this share of the mean life is not collected this time.
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

    /// In how many of 10,000 cases a block of this share of the mean life is passed over.
    fn passed_over(variance: u64, window: Option<u64>, share: f64) -> f64 {
        let percent = Share::from_percent;
        let wear = Wear::new(WearConfig {
            retirement_age: None,
            age_variance: Some(percent(variance)),
            rate_window: window.map(percent),
        });
        let mut numbers = Streams::new(7).stream("wear");
        (0..10_000).filter(|_| wear.passes_over(share, &mut numbers)).count() as f64
    }

    #[test]
    fn the_chance_to_be_taken_falls_linearly() {
        // r / x: [ATC08]'s from 80 % of the mean down to nothing.
        for (share, chance) in
            [(1.0, 1.0), (0.8, 1.0), (0.6, 0.75), (0.4, 0.5), (0.08, 0.1), (0.0, 0.0)]
        {
            let passed = passed_over(20, None, share);
            let sigma = f64::sqrt(10_000.0 * chance * (1.0 - chance));
            let expected = 10_000.0 * (1.0 - chance);
            assert!((passed - expected).abs() <= 4.0 * sigma, "{share}: {passed} and {expected}");
        }
        // Within a tenth of the mean.
        for (share, expected) in [(0.8, 0.0), (0.75, 5_000.0), (0.7, 10_000.0), (0.3, 10_000.0)] {
            let passed = passed_over(20, Some(10), share);
            assert!((passed - expected).abs() <= 200.0, "{share}: {passed} and {expected}");
        }
        // At once.
        for (share, expected) in [(0.8, 0.0), (0.799, 10_000.0), (0.0, 10_000.0)] {
            assert_eq!(passed_over(20, Some(0), share), expected, "{share}");
        }
    }
}
