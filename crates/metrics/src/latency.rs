//! Latencies of one kind of request: exact count, sum, least and greatest, and a histogram for
//! percentiles, whose buckets are at most 0.1 % wide.
//!
//! A percentile `q` is the smallest recorded value such that at least `ceil(q * n)` of the `n`
//! samples are no greater. The reported value is the upper edge of its bucket: never less than
//! the exact value, at most 0.1 % above it, and never outside `min..=max`.

use engine::Span;
use hdrhistogram::Histogram;
use serde_json::{Map, Value, json};

/// The percentiles that every summary shows, by the name of their key.
pub const PERCENTILES: [(&str, f64); 8] = [
    ("p50", 0.5),
    ("p90", 0.9),
    ("p95", 0.95),
    ("p99", 0.99),
    ("p99_9", 0.999),
    ("p99_99", 0.999_9),
    ("p99_999", 0.999_99),
    ("p99_9999", 0.999_999),
];

/// 1024 buckets to each power of two: 1/1024 wide.
const SIGNIFICANT_DIGITS: u8 = 3;

/// The longest latency with a bucket of its own, 4.9 hours. A power of two less one, so that the
/// bucket for all longer ones is the last.
const LONGEST_NS: u64 = (1 << 44) - 1;

/// The latencies of one kind of request.
#[derive(Clone, Debug)]
pub struct Latency {
    histogram: Histogram<u64>,
    sum_ns: u128,
    min_ns: u64,
    max_ns: u64,
}

/// Some samples between two edges, both included.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Bucket {
    /// The least value in the bucket.
    pub low_ns: u64,
    /// The greatest value in the bucket. The last bucket, for all latencies above 4.9 hours, ends
    /// at `u64::MAX`.
    pub high_ns: u64,
    /// Number of samples in the bucket; never 0.
    pub count: u64,
}

impl Default for Latency {
    fn default() -> Self {
        Self::new()
    }
}

impl Latency {
    /// A histogram without samples. It takes 280 KiB, of which a run touches only the used parts.
    pub fn new() -> Self {
        let histogram = Histogram::new_with_bounds(1, LONGEST_NS, SIGNIFICANT_DIGITS)
            .expect("the bounds are constants that the histogram accepts");
        Self { histogram, sum_ns: 0, min_ns: u64::MAX, max_ns: 0 }
    }

    /// Counts one request that took `latency`.
    #[inline]
    pub fn record(&mut self, latency: Span) {
        let ns = latency.as_ns();
        self.histogram.saturating_record(ns);
        self.sum_ns += u128::from(ns);
        self.min_ns = self.min_ns.min(ns);
        self.max_ns = self.max_ns.max(ns);
    }

    /// Adds the samples of `other`, as if they had been recorded here.
    pub fn merge(&mut self, other: &Self) {
        self.histogram.add(&other.histogram).expect("all latencies have the same bounds");
        self.sum_ns += other.sum_ns;
        self.min_ns = self.min_ns.min(other.min_ns);
        self.max_ns = self.max_ns.max(other.max_ns);
    }

    /// Number of requests counted.
    pub fn count(&self) -> u64 {
        self.histogram.len()
    }

    /// True if none was counted.
    pub fn is_empty(&self) -> bool {
        self.histogram.is_empty()
    }

    /// The exact sum in nanoseconds.
    pub fn sum_ns(&self) -> u128 {
        self.sum_ns
    }

    /// The shortest latency.
    pub fn min(&self) -> Option<Span> {
        (!self.is_empty()).then_some(Span::from_ns(self.min_ns))
    }

    /// The longest latency.
    pub fn max(&self) -> Option<Span> {
        (!self.is_empty()).then_some(Span::from_ns(self.max_ns))
    }

    /// The mean in nanoseconds.
    pub fn mean(&self) -> Option<f64> {
        (!self.is_empty()).then(|| self.sum_ns as f64 / self.count() as f64)
    }

    /// The percentile `quantile`, for example 0.999, rounded to nine decimals.
    ///
    /// # Panics
    /// If the quantile is outside `0.0..=1.0`.
    pub fn percentile(&self, quantile: f64) -> Option<Span> {
        let rank = rank(quantile, self.count());
        let mut passed = 0;
        let bucket = self.buckets().find(|bucket| {
            passed += bucket.count;
            passed >= rank
        })?;
        Some(Span::from_ns(bucket.high_ns.clamp(self.min_ns, self.max_ns)))
    }

    /// Number of samples at or beyond the percentile: its own sample and those of a higher rank.
    /// They are counted by rank and not by value, so that equal samples do not make a far
    /// percentile look well founded.
    ///
    /// # Panics
    /// If the quantile is outside `0.0..=1.0`.
    pub fn samples_beyond(&self, quantile: f64) -> u64 {
        if self.is_empty() {
            return 0;
        }
        self.count() - rank(quantile, self.count()) + 1
    }

    /// The buckets with samples, by ascending latency.
    pub fn buckets(&self) -> impl Iterator<Item = Bucket> + '_ {
        self.histogram.iter_recorded().map(|step| {
            let high_ns = step.value_iterated_to();
            Bucket {
                low_ns: self.histogram.lowest_equivalent(high_ns),
                high_ns: if high_ns >= LONGEST_NS { u64::MAX } else { high_ns },
                count: step.count_at_value(),
            }
        })
    }

    /// `{samples, mean, min, max, p50, …, p99_9999, samples_beyond: {p50, …}}` in
    /// nanoseconds; without samples every figure but the counts is `null`.
    pub fn to_json(&self) -> Value {
        let ns = |span: Option<Span>| json!(span.map(Span::as_ns));
        let mut object = Map::new();
        object.insert("samples".into(), json!(self.count()));
        object.insert("mean".into(), json!(self.mean()));
        object.insert("min".into(), ns(self.min()));
        object.insert("max".into(), ns(self.max()));
        for (name, quantile) in PERCENTILES {
            object.insert(name.into(), ns(self.percentile(quantile)));
        }
        let beyond = PERCENTILES
            .map(|(name, quantile)| (name.to_owned(), json!(self.samples_beyond(quantile))));
        object.insert("samples_beyond".into(), Value::Object(Map::from_iter(beyond)));
        Value::Object(object)
    }
}

/// `ceil(quantile * samples)`, at least 1: the rank of the percentile among the samples in
/// ascending order.
fn rank(quantile: f64, samples: u64) -> u64 {
    assert!((0.0..=1.0).contains(&quantile), "a quantile lies between 0 and 1, not {quantile}");
    // In whole billionths: as a float, 0.99999 * 100000 may come out above 99999
    // and its ceiling one rank too high.
    const BILLION: u128 = 1_000_000_000;
    let billionths = (quantile * BILLION as f64).round() as u128;
    // No more than `samples`, so it fits.
    ((billionths * u128::from(samples)).div_ceil(BILLION) as u64).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine::Streams;
    use proptest::prelude::*;

    fn recorded(samples: &[u64]) -> Latency {
        let mut latency = Latency::new();
        samples.iter().for_each(|ns| latency.record(Span::from_ns(*ns)));
        latency
    }

    /// The definition, word for word, from the samples themselves.
    fn exact_percentile(samples: &[u64], per_million: u64) -> u64 {
        let needed = (per_million * samples.len() as u64).div_ceil(1_000_000).max(1);
        let enough = |value: u64| samples.iter().filter(|s| **s <= value).count() as u64 >= needed;
        samples.iter().copied().filter(|value| enough(*value)).min().unwrap()
    }

    fn assert_close(reported: u64, exact: u64) {
        assert!(
            reported >= exact && reported - exact <= exact / 1_000,
            "{reported} is not within a bucket of {exact}"
        );
    }

    #[test]
    fn percentiles_of_a_hundred_thousand_samples_match_a_sort() {
        let mut stream = Streams::new(floor::seed(11)).stream("latencies");
        // Eight decades, so that many bucket widths take part.
        let mut samples: Vec<u64> =
            (0..100_000).map(|_| libm::exp(18.0 * stream.unit()) as u64).collect();
        let latency = recorded(&samples);
        samples.sort_unstable();
        for (name, quantile) in PERCENTILES {
            let rank = (quantile * 1e6).round() as usize * samples.len();
            let exact = samples[rank.div_ceil(1_000_000) - 1];
            let reported = latency.percentile(quantile).unwrap().as_ns();
            println!("{name}: exact {exact}, reported {reported}");
            assert_close(reported, exact);
        }
        assert_eq!(latency.sum_ns(), samples.iter().map(|s| u128::from(*s)).sum());
        assert_eq!(latency.min().unwrap().as_ns(), samples[0]);
        assert_eq!(latency.max().unwrap().as_ns(), *samples.last().unwrap());
    }

    proptest! {
        #![proptest_config(floor::cases!())]

        #[test]
        fn any_percentile_of_any_samples_is_in_its_bucket(
            // Shifted by up to 24 bits, so that short and long both occur.
            drawn in prop::collection::vec((0u64..1 << 43, 0u32..43), 1..200),
            per_million in 0u64..=1_000_000,
        ) {
            let samples: Vec<u64> = drawn.iter().map(|(ns, shift)| ns >> shift).collect();
            let latency = recorded(&samples);
            let reported = latency.percentile(per_million as f64 / 1e6).unwrap().as_ns();
            assert_close(reported, exact_percentile(&samples, per_million));
            prop_assert!(reported <= *samples.iter().max().unwrap());
        }

        #[test]
        fn merging_is_recording_both(
            left in prop::collection::vec(any::<u64>(), 0..50),
            right in prop::collection::vec(any::<u64>(), 0..50),
        ) {
            let mut merged = recorded(&left);
            merged.merge(&recorded(&right));
            let together = recorded(&[left, right].concat());
            prop_assert_eq!(merged.to_json(), together.to_json());
            prop_assert!(merged.buckets().eq(together.buckets()));
        }
    }

    #[test]
    fn short_latencies_are_exact() {
        // Up to 2047 ns a bucket is one nanosecond wide.
        let latency = recorded(&(1..=1_000).collect::<Vec<_>>());
        for (quantile, expected) in [(0.0, 1), (0.5, 500), (0.9, 900), (0.999, 999), (1.0, 1_000)] {
            assert_eq!(latency.percentile(quantile).unwrap().as_ns(), expected, "p{quantile}");
        }
        assert_eq!(latency.mean(), Some(500.5));
    }

    #[test]
    fn without_samples_there_is_nothing_to_report() {
        let latency = Latency::new();
        assert_eq!((latency.min(), latency.max(), latency.mean()), (None, None, None));
        assert_eq!(latency.percentile(0.5), None);
        assert_eq!(latency.buckets().count(), 0);
        let json = latency.to_json();
        assert_eq!(json["samples"], 0);
        assert_eq!(json["p99"], Value::Null);
        assert_eq!(json["samples_beyond"]["p99"], 0);
    }

    #[test]
    fn of_one_sample_every_percentile_is_that_sample() {
        // Not on a bucket's edge: the clamp to `max` is what makes it exact.
        let latency = recorded(&[1_234_567]);
        for (name, quantile) in PERCENTILES {
            assert_eq!(latency.percentile(quantile).unwrap().as_ns(), 1_234_567, "{name}");
            assert_eq!(latency.samples_beyond(quantile), 1, "{name}");
        }
    }

    #[test]
    fn the_extremes_of_the_type_are_kept_in_order() {
        let samples = [0, 0, LONGEST_NS - 1, LONGEST_NS + 1, u64::MAX];
        let latency = recorded(&samples);
        assert_eq!(latency.sum_ns(), samples.iter().map(|s| u128::from(*s)).sum());
        assert_eq!(latency.percentile(0.0), Some(Span::ZERO));
        assert_eq!(latency.percentile(1.0), Some(Span::from_ns(u64::MAX)));
        let buckets: Vec<_> = latency.buckets().collect();
        assert_eq!(buckets.first(), Some(&Bucket { low_ns: 0, high_ns: 0, count: 2 }));
        assert_eq!(buckets.last().unwrap().high_ns, u64::MAX);
        assert_eq!(buckets.iter().map(|bucket| bucket.count).sum::<u64>(), 5);
    }

    #[test]
    fn a_bucket_holds_the_values_between_its_edges() {
        let samples = [7, 7, 3_000, 3_001, 3_002, 5_000_000];
        for bucket in recorded(&samples).buckets() {
            let between = |ns: &&u64| (bucket.low_ns..=bucket.high_ns).contains(*ns);
            assert_eq!(samples.iter().filter(between).count() as u64, bucket.count, "{bucket:?}");
            assert!(bucket.high_ns - bucket.low_ns <= bucket.low_ns / 1_000, "{bucket:?}");
        }
    }

    #[test]
    fn the_summary_says_what_a_percentile_stands_on() {
        // 300,000 equal samples: the 3 that lie beyond p99.999 are counted by rank.
        let mut latency = recorded(&vec![25_000; 299_999]);
        latency.record(Span::from_ns(25_000));
        let json = latency.to_json();
        // ceil(0.99999 * 300,000) = 299,997, and 299,997..=300,000 are 4 samples.
        assert_eq!(json["samples_beyond"]["p99_999"], 4);
        assert_eq!(json["samples_beyond"]["p99_9999"], 1);
        assert_eq!(json["samples_beyond"]["p50"], 150_001);
        assert_eq!(json["p50"], 25_000);
        assert_eq!(json["mean"], 25_000.0);
        let keys: Vec<_> = json.as_object().unwrap().keys().map(String::as_str).collect();
        assert_eq!(
            keys.join(" "),
            "samples mean min max p50 p90 p95 p99 p99_9 p99_99 p99_999 p99_9999 samples_beyond"
        );
    }

    #[test]
    fn ranks_are_not_off_by_a_rounding() {
        for (quantile, samples, expected) in
            [(0.99999, 100_000, 99_999), (0.9999, 10_000, 9_999), (0.95, 20, 19), (0.95, 21, 20)]
        {
            assert_eq!(rank(quantile, samples), expected, "{quantile} of {samples}");
        }
        assert_eq!(rank(1.0, u64::MAX), u64::MAX);
    }
}
