//! Quantiles of Student's t distribution, for two-sided 95 % intervals.

/// The 0.975 quantile for 1 to 30 degrees of freedom.
///
/// Solved from the closed forms of the distribution for whole degrees of freedom
/// (Abramowitz and Stegun, Handbook of Mathematical Functions, 26.7.3 and
/// 26.7.4), which the tests evaluate again.
#[rustfmt::skip]
const TABLE: [f64; 30] = [
    12.706_205, 4.302_653, 3.182_446, 2.776_445, 2.570_582,
     2.446_912, 2.364_624, 2.306_004, 2.262_157, 2.228_139,
     2.200_985, 2.178_813, 2.160_369, 2.144_787, 2.131_450,
     2.119_905, 2.109_816, 2.100_922, 2.093_024, 2.085_963,
     2.079_614, 2.073_873, 2.068_658, 2.063_899, 2.059_539,
     2.055_529, 2.051_831, 2.048_407, 2.045_230, 2.042_272,
];

/// The 0.975 quantile of the normal distribution.
const NORMAL: f64 = 1.959_963_984_540_054;

/// The 0.975 quantile of Student's t distribution: an estimate lies within this
/// many standard errors of the truth in 95 of 100 cases.
///
/// Beyond the table it is the Cornish-Fisher expansion around the normal
/// quantile (Abramowitz and Stegun, 26.7.5), there good to 2 in 10^6.
///
/// # Panics
/// For 0 degrees of freedom: one value has no spread.
pub fn t_975(degrees_of_freedom: usize) -> f64 {
    assert!(degrees_of_freedom > 0, "a spread takes at least two values");
    if let Some(quantile) = TABLE.get(degrees_of_freedom - 1) {
        return *quantile;
    }
    let n = degrees_of_freedom as f64;
    let z = NORMAL;
    let z2 = z * z;
    let first = z * (z2 + 1.0) / 4.0;
    let second = z * ((5.0 * z2 + 16.0) * z2 + 3.0) / 96.0;
    let third = z * (((3.0 * z2 + 19.0) * z2 + 17.0) * z2 - 15.0) / 384.0;
    z + (first + (second + third / n) / n) / n
}

#[cfg(test)]
mod tests {
    use super::*;

    /// P(|T| <= t) for `n` degrees of freedom (Abramowitz and Stegun, 26.7.3-4):
    /// with theta = atan(t / sqrt(n)), a finite sum of powers of its cosine.
    fn two_sided(t: f64, n: usize) -> f64 {
        let theta = libm::atan(t / (n as f64).sqrt());
        let (sine, cosine) = (libm::sin(theta), libm::cos(theta));
        let odd = n % 2 == 1;
        // Odd: 1 + 2/3 cos^2 + …; even: 1 + 1/2 cos^2 + …; up to cos^(n-2 or n-3).
        let mut term = if odd { cosine } else { 1.0 };
        let mut sum = if n == 1 { 0.0 } else { term };
        for k in (if odd { 3 } else { 2 }..=n.saturating_sub(2)).step_by(2) {
            term *= cosine * cosine * (k - 1) as f64 / k as f64;
            sum += term;
        }
        if odd { (theta + sine * sum) * std::f64::consts::FRAC_2_PI } else { sine * sum }
    }

    #[test]
    fn the_quantile_inverts_the_distribution() {
        for n in 1..=300 {
            let inside = two_sided(t_975(n), n);
            assert!((inside - 0.95).abs() < 1e-6, "{n} degrees of freedom: {inside}");
        }
    }

    #[test]
    fn it_gives_the_values_of_printed_tables() {
        let printed = [
            (1, 12.706),
            (2, 4.303),
            (5, 2.571),
            (10, 2.228),
            (30, 2.042),
            (40, 2.021),
            (60, 2.000),
            (120, 1.980),
            (1_000_000_000, 1.960),
        ];
        for (n, quantile) in printed {
            assert!((t_975(n) - quantile).abs() <= 0.000_5, "{n}: {}", t_975(n));
        }
    }

    #[test]
    fn it_falls_without_a_step_where_the_table_ends() {
        assert!((1..100).all(|n| t_975(n) > t_975(n + 1)));
        // Steps shrink about as 1/n^2; the one across the end is no exception.
        let step = |n| t_975(n) - t_975(n + 1);
        assert!(step(29) > step(30) && step(30) > step(31));
    }
}
