//! Confidence intervals of means. Latencies of neighbouring requests are correlated, so the
//! textbook error of a mean, which takes them for independent, is far too small. Means of long
//! batches are nearly independent, and their spread gives an honest interval (Law and Kelton,
//! Simulation Modeling and Analysis, the method of batch means).
//!
//! The run's length is not known in advance, so batches grow: when all are full,
//! neighbours are joined in pairs and the batch length doubles. There are always
//! 32 to 64 of them once there were 32 samples.

use crate::student;

const BATCHES_MAX: usize = 64;

/// Fewest batches of an interval; with fewer it depends mostly on chance.
const BATCHES_MIN: usize = 10;

/// The mean of a series of samples, with its uncertainty, from a fixed amount of
/// memory.
#[derive(Clone, Debug)]
pub struct BatchMeans {
    /// Sums of the complete batches.
    complete: Vec<f64>,
    samples_per_batch: u64,
    /// The batch that is being filled.
    sum: f64,
    samples: u64,
}

/// A mean that lies within `half_width` of the truth in 95 of 100 runs, if a batch is much longer
/// than the time over which samples are correlated.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Estimate {
    /// The mean of all samples.
    pub mean: f64,
    /// Half the length of the 95 % confidence interval around it.
    pub half_width: f64,
    /// Number of complete batches.
    pub batches: usize,
    /// Number of samples in each batch.
    pub samples_per_batch: u64,
}

impl Default for BatchMeans {
    fn default() -> Self {
        Self::new()
    }
}

impl BatchMeans {
    /// No samples yet.
    pub fn new() -> Self {
        Self {
            complete: Vec::with_capacity(BATCHES_MAX),
            samples_per_batch: 1,
            sum: 0.0,
            samples: 0,
        }
    }

    /// Adds a sample.
    #[inline]
    pub fn record(&mut self, value: f64) {
        self.sum += value;
        self.samples += 1;
        if self.samples == self.samples_per_batch {
            self.complete_batch();
        }
    }

    #[cold]
    fn complete_batch(&mut self) {
        self.complete.push(std::mem::take(&mut self.sum));
        self.samples = 0;
        if self.complete.len() == BATCHES_MAX {
            for pair in 0..BATCHES_MAX / 2 {
                self.complete[pair] = self.complete[2 * pair] + self.complete[2 * pair + 1];
            }
            self.complete.truncate(BATCHES_MAX / 2);
            self.samples_per_batch *= 2;
        }
    }

    /// The mean and its 95 % confidence interval; `None` with fewer than ten batches. The batch
    /// that is being filled counts with the weight of its samples (the ratio estimator; Cochran,
    /// Sampling Techniques), because it may contain the most important ones.
    pub fn estimate(&self) -> Option<Estimate> {
        let batches = self.complete.len();
        if batches < BATCHES_MIN {
            return None;
        }
        let length = self.samples_per_batch as f64;
        let samples = batches as f64 * length + self.samples as f64;
        let mean = (self.complete.iter().sum::<f64>() + self.sum) / samples;
        let all = self.complete.iter().map(|sum| (*sum, length));
        let squares: f64 = all
            .chain([(self.sum, self.samples as f64)])
            .map(|(sum, count)| (sum - count * mean) * (sum - count * mean))
            .sum();
        // As many batches as the samples would fill.
        let filled = samples / length;
        let variance = squares / (samples * samples) * filled / (filled - 1.0);
        let half_width = student::quantile(0.975, batches as u32 - 1) * variance.sqrt();
        Some(Estimate { mean, half_width, batches, samples_per_batch: self.samples_per_batch })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine::{Stream, Streams};

    fn estimate(samples: impl Iterator<Item = f64>) -> Option<Estimate> {
        let mut means = BatchMeans::new();
        samples.for_each(|sample| means.record(sample));
        means.estimate()
    }

    /// Number of 400 runs that have the true mean inside their interval.
    fn covered(seed: u64, run: impl Fn(Stream) -> (f64, Estimate)) -> u32 {
        let streams = Streams::new(floor::seed(seed));
        (0..400)
            .filter(|repetition| {
                let (truth, estimate) = run(streams.stream(&format!("repetition {repetition}")));
                (estimate.mean - truth).abs() <= estimate.half_width
            })
            .count() as u32
    }

    /// 0.95 * 400 = 380; a standard deviation is sqrt(400 * 0.95 * 0.05) = 4.36,
    /// and four of them are 17.4.
    const EXPECTED: std::ops::RangeInclusive<u32> = 363..=397;

    /// A normal variate (Box and Muller; one of the two).
    fn normal(stream: &mut Stream) -> f64 {
        let radius = stream.exponential(2.0).sqrt();
        radius * libm::cos(std::f64::consts::TAU * stream.unit())
    }

    /// Each sample is `MEMORY` of the one before plus noise; begun in equilibrium,
    /// whose variance is `1 / (1 - MEMORY^2)`.
    const MEMORY: f64 = 0.8;
    fn autoregressive(mut stream: Stream) -> impl Iterator<Item = f64> {
        let mut value = normal(&mut stream) / (1.0 - MEMORY * MEMORY).sqrt();
        std::iter::repeat_with(move || {
            value = MEMORY * value + normal(&mut stream);
            value
        })
    }

    #[test]
    fn independent_samples_are_covered_95_times_in_100() {
        let covered = covered(41, |mut stream| {
            let samples = (0..10_000).map(|_| stream.exponential(3.0));
            (3.0, estimate(samples).unwrap())
        });
        println!("independent: {covered} of 400");
        assert!(EXPECTED.contains(&covered), "{covered} of 400");
    }

    #[test]
    fn samples_that_resemble_their_neighbours_are_covered_too() {
        let covered =
            covered(42, |stream| (0.0, estimate(autoregressive(stream).take(20_000)).unwrap()));
        println!("AR(1): {covered} of 400");
        assert!(EXPECTED.contains(&covered), "{covered} of 400");
    }

    /// The textbook interval on the same samples, to show that the test above can
    /// fail. Its error is too small by sqrt((1 + 0.8) / (1 - 0.8)) = 3, so it
    /// covers P(|Z| < 1.96 / 3) = 0.486 of the runs: 195 of 400, give or take
    /// four times sqrt(400 * 0.486 * 0.514) = 10.
    #[test]
    fn taking_them_for_independent_would_cover_half() {
        let covered = covered(42, |stream| {
            let samples: Vec<f64> = autoregressive(stream).take(20_000).collect();
            let n = samples.len() as f64;
            let mean = samples.iter().sum::<f64>() / n;
            let variance = samples.iter().map(|s| (s - mean) * (s - mean)).sum::<f64>() / n;
            let half_width = 1.96 * (variance / n).sqrt();
            (0.0, Estimate { mean, half_width, batches: samples.len(), samples_per_batch: 1 })
        });
        println!("AR(1), taken for independent: {covered} of 400");
        assert!((155..=235).contains(&covered), "{covered} of 400");
    }

    #[test]
    fn the_interval_is_that_of_the_textbook() {
        // 1, 2, …, 10: mean 5.5, variance 110/12, t(9) = 2.262.
        let found = estimate((1..=10).map(f64::from)).unwrap();
        assert_eq!((found.mean, found.batches, found.samples_per_batch), (5.5, 10, 1));
        let expected = 2.262_157 * (110.0 / 12.0 / 10.0_f64).sqrt();
        assert!((found.half_width - expected).abs() < 1e-6);
    }

    #[test]
    fn nine_batches_are_too_few() {
        assert_eq!(estimate((1..=9).map(f64::from)), None);
        assert_eq!(BatchMeans::new().estimate(), None);
    }

    #[test]
    fn batches_double_and_leave_no_sample_out() {
        for (samples, batches, samples_per_batch) in
            [(63, 63, 1), (64, 32, 2), (65, 32, 2), (66, 33, 2), (127, 63, 2), (128, 32, 4)]
        {
            let found = estimate((0..samples).map(f64::from)).unwrap();
            assert_eq!(
                (found.batches, found.samples_per_batch),
                (batches, samples_per_batch),
                "{samples} samples"
            );
            assert_eq!(found.mean, f64::from(samples - 1) / 2.0, "{samples} samples");
        }
    }

    /// 64 samples of 0 are 32 batches of two. A last one of 65 makes the mean 1, so
    /// that complete batches miss it by 2 and the unfinished one, half as long, by
    /// 64: 32 * 4 + 64^2 = 4224 over 65^2, for the 32.5 batches that it would be.
    #[test]
    fn a_batch_that_is_being_filled_counts() {
        let found = estimate((0..65).map(|sample| if sample == 64 { 65.0 } else { 0.0 })).unwrap();
        let expected = 2.039_513 * (4224.0 / 65.0_f64.powi(2) * 32.5 / 31.5).sqrt();
        assert_eq!(found.mean, 1.0);
        assert!((found.half_width - expected).abs() < 1e-5, "{}", found.half_width);
    }

    #[test]
    fn what_never_varies_is_known_exactly() {
        let found = estimate(std::iter::repeat_n(7.0, 1_000)).unwrap();
        assert_eq!((found.mean, found.half_width), (7.0, 0.0));
    }
}
