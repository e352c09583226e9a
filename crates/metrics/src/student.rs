//! Student's t distribution for whole degrees of freedom.
//!
//! All intervals and tests use it: those of runs, of sweeps and of comparisons.

use std::f64::consts::FRAC_2_PI;

/// The probability of a value of at most `t`.
///
/// The finite sums of Abramowitz and Stegun, Handbook of Mathematical Functions,
/// 26.7.3 and 26.7.4.
///
/// # Panics
/// For 0 degrees of freedom: one value has no spread.
pub fn cdf(t: f64, degrees_of_freedom: u32) -> f64 {
    assert!(degrees_of_freedom > 0, "a spread takes at least two values");
    let theta = libm::atan(t / f64::from(degrees_of_freedom).sqrt());
    let (sine, cosine) = (libm::sin(theta), libm::cos(theta));
    let odd = degrees_of_freedom % 2 == 1;
    // Odd: cos + 2/3 cos^3 + …; even: 1 + 1/2 cos^2 + …; up to the power n - 2.
    let mut term = if odd { cosine } else { 1.0 };
    let mut sum = if degrees_of_freedom == 1 { 0.0 } else { term };
    for k in (if odd { 3 } else { 2 }..degrees_of_freedom.saturating_sub(1)).step_by(2) {
        term *= cosine * cosine * f64::from(k - 1) / f64::from(k);
        sum += term;
    }
    let two_sided = if odd { (theta + sine * sum) * FRAC_2_PI } else { sine * sum };
    0.5 + two_sided / 2.0
}

/// The value that Student's t does not exceed with this probability, which is at least 0.5: the
/// inverse of [`cdf`], by bisection.
///
/// An estimate lies within `quantile(0.975, n)` standard errors of the truth in 95 of 100 cases.
///
/// # Panics
/// If there are 0 degrees of freedom, or the probability is below 0.5 or above 1.
pub fn quantile(probability: f64, degrees_of_freedom: u32) -> f64 {
    assert!((0.5..=1.0).contains(&probability), "{probability} is not from 0.5 to 1");
    if probability == 0.5 {
        return 0.0;
    }
    let (mut low, mut high) = (0.0, 1.0);
    while cdf(high, degrees_of_freedom) < probability {
        high *= 2.0;
    }
    loop {
        let middle = f64::midpoint(low, high);
        // Until no number lies between the two.
        if middle <= low || middle >= high {
            return high;
        }
        if cdf(middle, degrees_of_freedom) < probability {
            low = middle;
        } else {
            high = middle;
        }
    }
}

/// The distance from an estimate within which the truth lies with a probability of 95 %, if the
/// estimate is known to be off by `bias`, and the rest of its error is Student's t with this
/// standard `error`. Without a bias it is `quantile(0.975, n)` errors; if the bias is much larger
/// than the error, it is the bias and `quantile(0.95, n)` errors.
pub fn reach(bias: f64, error: f64, degrees_of_freedom: u32) -> f64 {
    let bias = bias.abs();
    if error <= 0.0 || !(bias / error).is_finite() {
        return bias;
    }
    let bias = bias / error;
    let inside =
        |reach: f64| cdf(reach - bias, degrees_of_freedom) - cdf(-reach - bias, degrees_of_freedom);
    let (mut low, mut high) = (0.0, bias + quantile(0.975, degrees_of_freedom));
    loop {
        let middle = f64::midpoint(low, high);
        if middle <= low || middle >= high {
            return high * error;
        }
        if inside(middle) < 0.95 { low = middle } else { high = middle }
    }
}

/// The probability of a value at least as far from 0 as `t`, on either side.
pub fn two_sided(t: f64, degrees_of_freedom: u32) -> f64 {
    if t.is_infinite() { 0.0 } else { 2.0 * (1.0 - cdf(t.abs(), degrees_of_freedom)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn t_975(n: u32) -> f64 {
        quantile(0.975, n)
    }

    /// Other closed forms: Cauchy's distribution, that of two degrees, and the normal one.
    #[test]
    fn the_distribution_is_that_of_known_forms() {
        for t in [-3.0, -0.4, 0.0, 0.7, 1.0, 2.5, 40.0] {
            let one = 0.5 + libm::atan(t) / std::f64::consts::PI;
            assert!((cdf(t, 1) - one).abs() < 1e-14, "{t}: {}", cdf(t, 1));
            let two = 0.5 + t / (2.0 * (2.0 + t * t).sqrt());
            assert!((cdf(t, 2) - two).abs() < 1e-14, "{t}: {}", cdf(t, 2));
            let normal = libm::erfc(-t * std::f64::consts::FRAC_1_SQRT_2) / 2.0;
            assert!((cdf(t, 1_000_000) - normal).abs() < 1e-6, "{t}: {}", cdf(t, 1_000_000));
        }
    }

    #[test]
    fn the_quantile_inverts_the_distribution() {
        for n in (1..=300).chain([10_001]) {
            for probability in [0.5, 0.9, 0.975, 0.999_95] {
                let inside = cdf(quantile(probability, n), n);
                assert!((inside - probability).abs() < 1e-14, "{n}, {probability}: {inside}");
            }
        }
        assert_eq!(quantile(0.5, 7), 0.0);
    }

    #[test]
    fn it_gives_the_values_of_printed_tables() {
        let printed = [
            (1, 12.706_205),
            (2, 4.302_653),
            (5, 2.570_582),
            (10, 2.228_139),
            (30, 2.042_272),
            (40, 2.021_075),
            (60, 2.000_298),
            (120, 1.979_930),
            (1_000_000, 1.959_966),
        ];
        for (n, quantile) in printed {
            assert!((t_975(n) - quantile).abs() < 1e-6, "{n}: {}", t_975(n));
        }
    }

    #[test]
    fn a_bias_is_reached_and_the_error_beyond_it_on_one_side() {
        for n in [1, 2, 9, 30] {
            assert!((reach(0.0, 3.0, n) / (3.0 * t_975(n)) - 1.0).abs() < 1e-12, "{n}");
        }
        // Far from 0 only one side of the truth is left: t(0.95; 9) = 1.833.
        assert!((reach(-1_000.0, 2.0, 9) - 1_000.0 - 2.0 * 1.833_113).abs() < 1e-4);
        assert!(reach(1.0, 1.0, 9) > t_975(9) && reach(1.0, 1.0, 9) < 1.0 + t_975(9));
        assert_eq!((reach(-4.0, 0.0, 9), reach(0.0, 0.0, 9)), (4.0, 0.0));
    }

    #[test]
    fn it_falls_as_freedom_grows() {
        assert!((1..100).all(|n| t_975(n) > t_975(n + 1)));
    }
}
