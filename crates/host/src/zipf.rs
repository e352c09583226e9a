//! Ranks with Zipf's distribution, drawn exactly in constant time and space.
//!
//! Rejection-inversion (Hörmann and Derflinger 1996, "Rejection-inversion to
//! generate variates from monotone discrete distributions"): the histogram of
//! `k^-theta` lies almost entirely under the curve `x^-theta`, whose integral has
//! an inverse. A point under the curve is drawn by inversion and accepted unless
//! it falls into the sliver between the curve and the histogram, which is small
//! for every theta and n.

use engine::Stream;

/// Draws ranks from 1 to `n`, rank k with probability proportional to `k^-theta`.
#[derive(Clone, Debug)]
pub struct Zipf {
    /// The number of ranks.
    n: u64,
    /// The exponent.
    theta: f64,
    /// The area to the left of which every point belongs to rank 1.
    area_begin: f64,
    /// The area under the curve up to `n + 1/2`.
    area_end: f64,
    /// A point this near below its rank is accepted without computing the curve.
    sure: f64,
}

impl Zipf {
    /// The distribution over `1..=n` with exponent `theta`, which may be 1.
    ///
    /// # Panics
    /// If there is no rank, or for an exponent that is negative or not finite.
    pub fn new(n: u64, theta: f64) -> Self {
        assert!(n > 0, "a distribution needs something to choose from");
        assert!(theta >= 0.0 && theta.is_finite(), "the exponent {theta} is not usable");
        let mut zipf = Self { n, theta, area_begin: 0.0, area_end: 0.0, sure: 0.0 };
        // Rank 1 gets a column of its true height: the curve left of 3/2 is
        // unbounded for some theta.
        zipf.area_begin = zipf.area(1.5) - 1.0;
        zipf.area_end = zipf.area(n as f64 + 0.5);
        zipf.sure = 2.0 - zipf.inverse(zipf.area(2.5) - zipf.weight(2.0));
        zipf
    }

    /// Draws a rank.
    #[inline]
    pub fn draw(&self, stream: &mut Stream) -> u64 {
        loop {
            let area = self.area_end + stream.unit() * (self.area_begin - self.area_end);
            let x = self.inverse(area);
            let rank = ((x + 0.5) as u64).clamp(1, self.n);
            let k = rank as f64;
            if k - x <= self.sure || area >= self.area(k + 0.5) - self.weight(k) {
                return rank;
            }
        }
    }

    /// The curve: `x^-theta`.
    fn weight(&self, x: f64) -> f64 {
        libm::exp(-self.theta * libm::log(x))
    }

    /// The integral of the curve from 1 to `x`: `(x^(1-theta) - 1) / (1-theta)`,
    /// and `ln x` for theta 1, written so that nothing cancels near 1.
    fn area(&self, x: f64) -> f64 {
        let log = libm::log(x);
        log * expm1_over((1.0 - self.theta) * log)
    }

    /// The `x` up to which the integral is `area`.
    fn inverse(&self, area: f64) -> f64 {
        // Below -1 only by rounding, if the integral is near its limit.
        let t = (area * (1.0 - self.theta)).max(-1.0);
        libm::exp(area * log1p_over(t))
    }
}

/// `(e^y - 1) / y`, which is 1 at 0.
fn expm1_over(y: f64) -> f64 {
    if y.abs() > 1e-8 { libm::expm1(y) / y } else { 1.0 + y / 2.0 }
}

/// `ln(1 + y) / y`, which is 1 at 0.
fn log1p_over(y: f64) -> f64 {
    if y.abs() > 1e-8 { libm::log1p(y) / y } else { 1.0 - y / 2.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine::Streams;

    /// Chi-square of `draws` draws against the exact probabilities of the first
    /// ranks, the rest lumped together.
    fn chi_square(n: u64, theta: f64, seed: u64) -> (f64, f64) {
        let (draws, shown) = (200_000u32, n.min(50) as usize);
        let weights: Vec<f64> = (1..=n).map(|k| libm::pow(k as f64, -theta)).collect();
        let sum: f64 = weights.iter().sum();
        let zipf = Zipf::new(n, theta);
        let mut stream = Streams::new(seed).stream("zipf");
        let mut counts = vec![0u32; shown + 1];
        for _ in 0..draws {
            let rank = zipf.draw(&mut stream);
            assert!((1..=n).contains(&rank));
            counts[(rank as usize - 1).min(shown)] += 1;
        }
        let mut expected: Vec<f64> = weights[..shown].iter().map(|w| w / sum).collect();
        expected.push(weights[shown..].iter().sum::<f64>() / sum);
        let terms = counts.iter().zip(&expected).filter(|(_, p)| **p * f64::from(draws) > 5.0);
        let chi: Vec<f64> = terms
            .map(|(c, p)| {
                let mean = p * f64::from(draws);
                (f64::from(*c) - mean) * (f64::from(*c) - mean) / mean
            })
            .collect();
        (chi.iter().sum(), chi.len() as f64 - 1.0)
    }

    #[test]
    fn frequencies_are_the_exact_probabilities() {
        let seed = floor::seed(20_260_101);
        for n in [1, 2, 3, 10, 1_000, 100_000] {
            for theta in [0.0, 0.2, 0.5, 0.99, 1.0, 1.000_000_001, 1.2, 2.0, 3.0] {
                let (chi, freedom) = chi_square(n, theta, seed);
                // Mean k and variance 2k for k degrees of freedom; four sigmas
                // and a little for the skew at small k.
                let bound = freedom + 4.0 * libm::sqrt(2.0 * freedom) + 8.0;
                assert!(chi < bound, "n {n} theta {theta} seed {seed}: {chi} over {bound}");
            }
        }
    }

    #[test]
    fn the_largest_ranges_are_drawn_within_bounds() {
        let n = 1u64 << 40;
        let mut stream = Streams::new(floor::seed(5)).stream("large");
        for theta in [0.0, 0.5, 1.0, 1.5, 3.0] {
            let zipf = Zipf::new(n, theta);
            let draws: Vec<u64> = (0..20_000).map(|_| zipf.draw(&mut stream)).collect();
            assert!(draws.iter().all(|rank| (1..=n).contains(rank)), "theta {theta}");
            if theta == 0.0 {
                let upper = draws.iter().filter(|rank| **rank > n / 2).count() as f64;
                // Binomial: sigma is sqrt(20000) / 2, about 71.
                assert!((upper - 10_000.0).abs() < 4.0 * 71.0, "{upper}");
            }
            if theta == 1.0 {
                // P(1) = 1 / (ln n + 0.5772) = 0.03531; sigma of the count 26.
                let first = draws.iter().filter(|rank| **rank == 1).count() as f64;
                assert!((first - 706.0).abs() < 4.0 * 26.1, "{first}");
            }
        }
    }
}
