//! Confidence intervals of means. Latencies of neighbouring requests are correlated, so the
//! textbook error of a mean, which takes them for independent, is far too small. Means of long
//! batches are nearly independent, and their spread gives an honest interval (Law and Kelton,
//! Simulation Modeling and Analysis, the method of batch means).
//!
//! A batch holds whole cycles. With any other length, some batches have one wave of collection more
//! than others, and their spread says where they begin, not how much cycles differ. Batches
//! overlap: all stretches of the run that are as long as a batch are taken (Meketon and Schmeiser,
//! Overlapping batch means: something for nothing?, Winter Simulation Conference 1984). So a batch
//! may begin anywhere in a cycle, and their mean is one over whole cycles, whatever part of a
//! cycle the run ends with. The interval lies around the mean of all requests, and reaches from
//! there to where the mean over whole cycles may be.

use crate::student;
use crate::sums::{Sums, running};

/// Number of batches without regular cycles. Between 10 and 30 batches, more of them hardly narrow an
/// interval (Schmeiser, Batch size effects in the analysis of simulation output, Operations Research
/// 30, 1982).
const BATCHES: f64 = 20.0;

/// Least number of batches of several cycles, and of other batches whose memory is looked for. Long batches show more of the memory of cycles: that they
/// resemble each other, or that a long one is followed by a short one.
const BATCHES_OF_SEVERAL: f64 = 10.0;

/// Fewest batches of an interval, if they are cycles and if they are not.
const CYCLES_MIN: f64 = 3.0;
const BATCHES_MIN: f64 = 5.0;

/// Greatest resemblance of neighbouring batches that widens an interval, and greatest opposition that
/// narrows it. A sum of stretches of which each ends where the next begins has neighbours with a
/// correlation of -1/2, and none can have less in all of a long row.
const RESEMBLANCE_MOST: f64 = 0.8;
const OPPOSITION_MOST: f64 = 0.5;

/// Least mean number of samples in a batch.
const SAMPLES_MIN: f64 = 5.0;

/// A mean that lies within `half_width` of the truth in 95 of 100 runs, if the run is steady.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Estimate {
    /// The mean of all samples.
    pub mean: f64,
    /// Half the length of the 95 % confidence interval around it.
    pub half_width: f64,
    /// Degrees of freedom of its error: batches that do not overlap, less one.
    pub freedom: u32,
}

/// The mean of all samples, `all`, and its interval from the `sums` of the intervals of time in which
/// the run was steady. `cycle` is the number of intervals in a cycle, if cycles are regular. `None`
/// with fewer than three cycles or five batches.
pub fn estimate(all: Sums, sums: &[Sums], cycle: Option<f64>) -> Option<Estimate> {
    let running = running(sums);
    let samples = running[sums.len()].count;
    let mean = all.mean();
    let least = SAMPLES_MIN * sums.len() as f64 / samples;
    let (length, several, centre, fewest) = match cycle {
        Some(cycle) => {
            let cycles = sums.len() as f64 / cycle;
            let several =
                (cycles / BATCHES_OF_SEVERAL).floor().max(1.0).max((least / cycle).ceil());
            let length = (several * cycle).round() as usize;
            (length, several, Batches::of(&running, length)?.centre(), CYCLES_MIN)
        }
        None => {
            let length = (sums.len() as f64 / BATCHES).max(least).ceil() as usize;
            (length, 1.0, running[sums.len()].mean(), BATCHES_MIN)
        }
    };
    let batches = Batches::of(&running, length)?;
    let count = batches.number();
    if !mean.is_finite() || !centre.is_finite() || count < fewest {
        return None;
    }
    let mut variance = batches.variance_of_mean(centre);
    if cycle.is_some() || count >= BATCHES_OF_SEVERAL {
        // Few cycles seem to oppose each other by chance.
        let opposition = if several > 1.0 { OPPOSITION_MOST } else { 0.0 };
        variance *= batches.widening(centre, opposition);
    }
    // If batches depend on their neighbours, those twice as long show more of it.
    if count >= 2.0 * CYCLES_MIN
        && let Some(longer) = Batches::of(&running, 2 * length)
    {
        variance = variance.max(longer.variance_of_mean(centre));
    }
    if cycle.is_some() {
        variance *= Batches::loss(count);
    }
    let freedom = (count.floor() as u32 - 1).max(1);
    // Requests in the unfinished cycle, or before the run was steady, move the mean.
    let half_width = student::reach(mean - centre, variance.sqrt(), freedom);
    Some(Estimate { mean, half_width, freedom })
}

/// All stretches of a length.
struct Batches<'a> {
    running: &'a [Sums],
    length: usize,
}

impl<'a> Batches<'a> {
    /// `None` if there are fewer than two of them that do not overlap.
    fn of(running: &'a [Sums], length: usize) -> Option<Self> {
        let longest = running.len().saturating_sub(1) / 2;
        (1..=longest).contains(&length).then_some(Self { running, length })
    }

    fn sums(&self) -> impl Iterator<Item = Sums> + '_ {
        let ends = self.running.iter().skip(self.length);
        ends.zip(self.running).map(|(end, begin)| *end - *begin)
    }

    /// Batches that do not overlap; the last may be a part of one.
    fn number(&self) -> f64 {
        (self.running.len() - 1) as f64 / self.length as f64
    }

    /// The mean over all batches: the ends of the run count less than the middle.
    fn centre(&self) -> f64 {
        self.sums().sum::<Sums>().mean()
    }

    /// The variance of the mean of all samples, if the true mean is near `centre`. The mean is a
    /// quotient of two sums that both vary (the ratio estimator; Cochran, Sampling Techniques).
    fn variance_of_mean(&self, centre: f64) -> f64 {
        let excess = |batch: Sums| (batch.total - centre * batch.count).powi(2);
        let all = self.sums().count() as f64;
        let squares = self.sums().map(excess).sum::<f64>() / all;
        let count = self.number();
        let samples = self.running[self.running.len() - 1].count / count;
        squares / (samples * samples) / (count - 1.0)
    }

    /// Factor by which the variance grows since neighbours may depend on each other: that of a process
    /// in which each batch is `r` times the one before, plus noise.
    ///
    /// Few batches hide such a memory: their own mean takes a part of it, so that independent ones
    /// seem to be opposed by about one over their number. Twice that is added to what is found. An
    /// opposition counts up to `opposition`.
    fn widening(&self, centre: f64, opposition: f64) -> f64 {
        let excess: Vec<f64> =
            self.sums().map(|batch| batch.total - centre * batch.count).collect();
        let squares: f64 = excess.iter().map(|of| of * of).sum();
        if squares <= 0.0 || excess.len() <= self.length {
            return 1.0;
        }
        let later = &excess[self.length..];
        let products: f64 = excess.iter().zip(later).map(|(one, other)| one * other).sum();
        let found = (products / later.len() as f64) / (squares / excess.len() as f64);
        let resemblance = (found + 2.0 / self.number()).clamp(-opposition, RESEMBLANCE_MOST);
        (1.0 + resemblance) / (1.0 - resemblance)
    }

    /// Factor by which the variance of [`Self::centre`] exceeds that of the mean of `count`
    /// independent batches, since weights rise over the first batch and fall over the last: the
    /// sum of the squared weights over the square of their sum.
    fn loss(count: f64) -> f64 {
        count * (count - 4.0 / 3.0) / (count - 1.0).powi(2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine::{Stream, Streams};

    fn each(values: impl IntoIterator<Item = f64>) -> Vec<Sums> {
        values.into_iter().map(|value| Sums { total: value, count: 1.0 }).collect()
    }

    fn interval(values: Vec<f64>, cycle: Option<f64>) -> Option<Estimate> {
        let sums = each(values);
        estimate(sums.iter().copied().sum(), &sums, cycle)
    }

    /// Number of 400 runs that have the true mean inside their interval, and the mean half-width.
    fn covered(seed: u64, truth: f64, run: impl Fn(Stream) -> Option<Estimate>) -> (u32, f64) {
        let streams = Streams::new(floor::seed(seed));
        let (mut covered, mut width) = (0, 0.0);
        for repetition in 0..400 {
            let found = run(streams.stream(&format!("repetition {repetition}")));
            let found = found.expect("there are enough samples");
            covered += u32::from((found.mean - truth).abs() <= found.half_width);
            width += found.half_width / 400.0;
        }
        (covered, width)
    }

    /// At least 0.95 * 400 = 380, less four standard deviations sqrt(400 * 0.95 * 0.05) = 4.36.
    const LEAST: u32 = 363;

    /// A normal variate (Box and Muller; one of the two).
    fn normal(stream: &mut Stream) -> f64 {
        let radius = stream.exponential(2.0).sqrt();
        radius * libm::cos(std::f64::consts::TAU * stream.unit())
    }

    /// Each sample is `memory` of the one before plus noise; begun in equilibrium,
    /// whose variance is `1 / (1 - memory^2)`.
    fn autoregressive(memory: f64, mut stream: Stream) -> impl Iterator<Item = f64> {
        let mut value = normal(&mut stream) / (1.0 - memory * memory).sqrt();
        std::iter::repeat_with(move || {
            value = memory * value + normal(&mut stream);
            value
        })
    }

    #[test]
    fn independent_samples_are_covered_95_times_in_100() {
        let (covered, width) = covered(41, 3.0, |mut stream| {
            interval((0..1_000).map(|_| stream.exponential(3.0)).collect(), None)
        });
        println!("independent: {covered} of 400, ± {width:.4}");
        assert!((LEAST..=397).contains(&covered), "{covered} of 400");
        // 1.96 standard errors of 3 / sqrt(1000), and less than a quarter more.
        let ideal = 1.96 * 3.0 / 1_000_f64.sqrt();
        assert!((ideal..1.25 * ideal).contains(&width), "{width}, ideal {ideal}");
    }

    #[test]
    fn samples_that_resemble_their_neighbours_are_covered_too() {
        // Correlated over about 5 samples, and over about 20: a batch has 50.
        for (memory, seed) in [(0.8, 42), (0.95, 43)] {
            let (covered, width) = covered(seed, 0.0, |stream| {
                interval(autoregressive(memory, stream).take(1_000).collect(), None)
            });
            // The standard error of the mean of a long series is 1 / (1 - memory) / sqrt(n).
            let ideal = 1.96 / (1.0 - memory) / 1_000_f64.sqrt();
            println!("AR({memory}): {covered} of 400, ± {width:.3}, ideal {ideal:.3}");
            assert!(covered >= LEAST, "memory {memory}: {covered} of 400");
            assert!((ideal..1.4 * ideal).contains(&width), "{width}, ideal {ideal}");
        }
    }

    /// Waves of 15 places in a cycle of 40, each with a height of its own, that begin anywhere. The
    /// run ends in the middle of a cycle.
    fn waves(mut stream: Stream, places: usize, phase: f64) -> Vec<f64> {
        let heights: Vec<f64> = (0..places / 40 + 2).map(|_| 8.0 + 4.0 * stream.unit()).collect();
        let of = |place: usize| {
            let at = place as f64 + phase;
            if at % 40.0 < 15.0 { heights[(at / 40.0) as usize] } else { 1.0 }
        };
        (0..places).map(of).collect()
    }

    #[test]
    fn waves_are_covered_in_whole_cycles_wherever_a_run_begins_and_ends() {
        // In 40 places 15 of 10 in the mean and 25 of 1.
        let truth = (15.0 * 10.0 + 25.0) / 40.0;
        for (places, phase) in [(420, 0.0), (420, 15.0), (437, 30.0), (150, 5.0)] {
            let (covered, width) =
                covered(44, truth, |stream| interval(waves(stream, places, phase), Some(40.0)));
            println!("waves, {places} places from {phase}: {covered} of 400, ± {width:.3}");
            assert!(covered >= LEAST, "{places} from {phase}: {covered} of 400");
        }
    }

    /// Ten cycles whose heights resemble their neighbours', by 0.5: the error of the mean of `n` values
    /// that are `r` times the one before plus noise is known, and these are covered nearly as often.
    #[test]
    fn cycles_that_resemble_their_neighbours_are_covered() {
        let truth = (15.0 * 10.0 + 25.0) / 40.0;
        let (covered, width) = covered(45, truth, |mut stream| {
            let begin = stream.unit() * 40.0;
            let heights: Vec<f64> = autoregressive(0.5, stream).take(12).collect();
            let of = |place: usize| {
                let at = place as f64 + begin;
                if at % 40.0 < 15.0 { 10.0 + 0.5 * heights[(at / 40.0) as usize] } else { 1.0 }
            };
            interval((0..410).map(of).collect(), Some(40.0))
        });
        println!("cycles with memory: {covered} of 400, ± {width:.3}");
        // 85 in 100: ten of them do not show all of their memory.
        assert!(covered >= 340, "{covered} of 400");
    }

    /// Batches that are no whole cycles, to show that the test above can fail: 20 batches of 21
    /// places in cycles of 40 have a wave or none, and their spread is that of waves.
    #[test]
    fn other_batches_would_tell_a_spread_that_is_none() {
        let wide = |cycle| covered(44, 4.4, |stream| interval(waves(stream, 420, 5.0), cycle)).1;
        let (whole, other) = (wide(Some(40.0)), wide(None));
        assert!(other > 2.0 * whole, "± {other} without whole cycles, ± {whole} with them");
    }

    #[test]
    fn equal_cycles_leave_the_unfinished_one_as_the_only_error() {
        // 10 cycles of 10 places, and the high half of one more.
        let values: Vec<f64> = (0..105).map(|at| if at % 10 < 5 { 3.0 } else { 1.0 }).collect();
        let found = interval(values, Some(10.0)).unwrap();
        assert!((found.mean - (10.0 * 20.0 + 15.0) / 105.0).abs() < 1e-12);
        assert!((found.half_width - (found.mean - 2.0)).abs() < 1e-9, "{found:?}");
    }

    #[test]
    fn the_interval_is_that_of_the_textbook() {
        // Five batches of one place, and two that overlap none: all stretches of a place.
        let sums: Vec<_> = [1.0, 2.0, 3.0, 4.0, 5.0]
            .map(|mean| Sums { total: 100.0 * mean, count: 100.0 })
            .to_vec();
        let found = estimate(sums.iter().copied().sum(), &sums, None).unwrap();
        // Mean 3, variance 10/4, t(4) = 2.776.
        assert_eq!((found.mean, found.freedom), (3.0, 4));
        let expected = 2.776_445 * (10.0 / 4.0 / 5.0_f64).sqrt();
        assert!((found.half_width - expected).abs() < 1e-5, "{}", found.half_width);
    }

    #[test]
    fn too_few_samples_have_no_interval() {
        assert_eq!(interval(vec![1.0; 24], None), None);
        assert!(interval(vec![1.0; 26], None).is_some());
        assert_eq!(interval(Vec::new(), None), None);
        let nothing = vec![Sums::default(); 100];
        assert_eq!(estimate(Sums::default(), &nothing, None), None);
        assert_eq!(estimate(Sums::default(), &nothing, Some(10.0)), None);
        // Two cycles and a half.
        let waves: Vec<f64> = (0..100).map(|at| if at % 40 < 15 { 9.0 } else { 1.0 }).collect();
        assert_eq!(interval(waves, Some(40.0)), None);
    }

    #[test]
    fn what_never_varies_is_known_exactly() {
        let found = interval(vec![7.0; 1_000], None).unwrap();
        assert_eq!((found.mean, found.half_width), (7.0, 0.0));
    }
}
