//! Counts of values of any size in a fixed amount of memory.

use serde::Serialize;

/// Buckets of an octave. A bucket is at most 1/128 of its values wide.
const STEPS: u64 = 128;

/// Histogram of values: exact below 256, in buckets of at most 0.8 % above.
#[derive(Clone)]
pub(crate) struct Counts {
    buckets: Vec<u64>,
    total: u64,
    min: u64,
    max: u64,
    sum: f64,
    squares: f64,
}

/// A distribution in a few figures.
///
/// A percentile is the least value that this share of the values does not exceed (nearest rank),
/// as the upper edge of a bucket at most 0.8 % wide.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Spread {
    /// Number of values.
    pub count: u64,
    /// Their mean.
    pub mean: f64,
    /// Standard deviation over mean (coefficient of variation); 0 for a mean of 0.
    pub cov: f64,
    /// The least.
    pub min: u64,
    /// Percentiles.
    pub p10: u64,
    /// The lower quartile.
    pub p25: u64,
    /// The median.
    pub p50: u64,
    /// The upper quartile.
    pub p75: u64,
    /// 90 % are no larger.
    pub p90: u64,
    /// 99 % are no larger.
    pub p99: u64,
    /// 99.9 % are no larger.
    pub p99_9: u64,
    /// The largest.
    pub max: u64,
}

impl Counts {
    pub fn new() -> Self {
        let buckets = vec![0; bucket(u64::MAX) + 1];
        Self { buckets, total: 0, min: u64::MAX, max: 0, sum: 0.0, squares: 0.0 }
    }

    #[inline]
    pub fn add(&mut self, value: u64) {
        self.add_many(value, 1);
    }

    #[inline]
    pub fn add_many(&mut self, value: u64, times: u64) {
        self.buckets[bucket(value)] += times;
        self.total += times;
        self.min = self.min.min(value);
        self.max = self.max.max(value);
        let (value, times) = (value as f64, times as f64);
        self.sum += value * times;
        self.squares += value * value * times;
    }

    /// The upper edge of each bucket that is not empty, and its count.
    pub fn filled(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        let counted = self.buckets.iter().enumerate().filter(|(_, count)| **count > 0);
        counted.map(|(bucket, count)| (upper_edge(bucket).min(self.max), *count))
    }

    /// The figures; nothing if nothing was counted.
    pub fn spread(&self) -> Option<Spread> {
        if self.total == 0 {
            return None;
        }
        let total = self.total as f64;
        let mean = self.sum / total;
        let variance = (self.squares / total - mean * mean).max(0.0);
        let cov = if mean > 0.0 { libm::sqrt(variance) / mean } else { 0.0 };
        let [p10, p25, p50, p75, p90, p99, p99_9] =
            self.percentiles([100, 250, 500, 750, 900, 990, 999]);
        let (count, min, max) = (self.total, self.min, self.max);
        Some(Spread { count, mean, cov, min, p10, p25, p50, p75, p90, p99, p99_9, max })
    }

    /// Percentiles, given in thousandths and ascending.
    fn percentiles<const N: usize>(&self, thousandths: [u64; N]) -> [u64; N] {
        let mut filled = self.filled();
        let (mut value, mut below) = (self.min, 0);
        thousandths.map(|share| {
            let rank = (u128::from(self.total) * u128::from(share)).div_ceil(1_000) as u64;
            while below < rank.max(1) {
                let Some((edge, count)) = filled.next() else { break };
                (value, below) = (edge, below + count);
            }
            value
        })
    }
}

#[inline]
fn bucket(value: u64) -> usize {
    let shift = (u64::BITS - 8).saturating_sub(value.leading_zeros());
    (u64::from(shift) * STEPS + (value >> shift)) as usize
}

fn upper_edge(bucket: usize) -> u64 {
    let bucket = bucket as u64;
    let shift = (bucket / STEPS).saturating_sub(1);
    let first = u128::from(bucket - shift * STEPS) << shift;
    (first + (1 << shift) - 1) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine::Streams;

    #[test]
    fn a_bucket_holds_its_value_and_is_narrow() {
        let mut stream = Streams::new(floor::seed(11)).stream("buckets");
        let random = (0..20_000).map(|_| stream.bits() >> (stream.bits() % 64));
        for value in random.chain(0..2_000).chain([u64::MAX, u64::MAX - 1, 1 << 63]) {
            let edge = upper_edge(bucket(value));
            assert!(edge >= value, "{value}: {edge}");
            assert!(edge - value <= value / 128, "{value}: {edge}");
            if value > 0 {
                assert!(bucket(value) >= bucket(value - 1), "{value}");
            }
        }
    }

    #[test]
    fn small_values_have_exact_percentiles() {
        let mut counts = Counts::new();
        (1..=200).for_each(|value| counts.add(value));
        let spread = counts.spread().unwrap();
        assert_eq!((spread.min, spread.p10, spread.p50, spread.p99), (1, 20, 100, 198));
        assert_eq!((spread.p99_9, spread.max, spread.mean), (200, 200, 100.5));
        // The variance of 1..=n is (n² - 1) / 12.
        let cov = libm::sqrt((200.0 * 200.0 - 1.0) / 12.0) / 100.5;
        assert!((spread.cov - cov).abs() < 1e-12);
        assert_eq!(Counts::new().spread(), None);
    }
}
