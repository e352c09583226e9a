//! The binomial distribution of the errors of a codeword.

use engine::Stream;

/// Deviations from the mean beyond which a number of errors does not occur: the probability is
/// below 2^-53 of any that a draw can tell.
const DEVIATIONS: f64 = 10.0;

/// Number of wrong bits among `bits`, each wrong with the same probability.
#[derive(Clone, Copy, Debug)]
pub struct Binomial {
    bits: u32,
}

impl Binomial {
    /// The distribution of the errors of so many bits.
    pub const fn new(bits: u32) -> Self {
        Self { bits }
    }
    /// Number of bits.
    pub const fn bits(self) -> u32 {
        self.bits
    }

    /// Probability of exactly `errors` errors, if bits are wrong with probability `rate`.
    pub fn exactly(self, errors: u32, rate: f64) -> f64 {
        self.exactly_of(self.ln_choices(errors), errors, rate)
    }
    /// Natural logarithm of the number of ways to have so many errors.
    pub fn ln_choices(self, errors: u32) -> f64 {
        let [all, some] = [self.bits, errors].map(f64::from);
        ln_factorial(all) - ln_factorial(some) - ln_factorial(all - some)
    }
    fn exactly_of(self, ln_choices: f64, errors: u32, rate: f64) -> f64 {
        if rate <= 0.0 || rate >= 1.0 {
            let certain = if rate <= 0.0 { 0 } else { self.bits };
            return f64::from(errors == certain);
        }
        let [all, some] = [self.bits, errors].map(f64::from);
        libm::exp(ln_choices + some * libm::log(rate) + (all - some) * libm::log1p(-rate))
    }

    /// Adds `words` codewords to their expected numbers by their errors.
    pub fn add_to(self, expected: &mut [f64], rate: f64, words: f64) {
        let mean = f64::from(self.bits) * rate;
        let middle = (mean as u32).min(self.bits);
        let at_middle = self.exactly(middle, rate);
        let mut term = at_middle;
        for errors in middle..=self.bits {
            expected[errors as usize] += words * term;
            if term < 1e-20 || errors == self.bits {
                break;
            }
            term *= self.ratio(errors, rate);
        }
        term = at_middle;
        for errors in (0..middle).rev() {
            term /= self.ratio(errors, rate);
            expected[errors as usize] += words * term;
            if term < 1e-20 {
                break;
            }
        }
    }

    /// Probability of more than `errors` errors.
    pub fn more_than(self, errors: u32, rate: f64) -> f64 {
        if errors >= self.bits {
            return 0.0;
        }
        let mean = f64::from(self.bits) * rate;
        if f64::from(errors) < mean {
            return 1.0 - self.at_most(errors, rate);
        }
        // Terms fall from the first on.
        let (mut term, mut sum) = (self.exactly(errors + 1, rate), 0.0);
        let mut at = errors + 1;
        while term > sum * 1e-17 && at <= self.bits {
            sum += term;
            term *= self.ratio(at, rate);
            at += 1;
        }
        sum
    }

    /// Probability of at most `errors` errors, fewer than the mean.
    fn at_most(self, errors: u32, rate: f64) -> f64 {
        // Terms fall from the last on, downwards.
        let (mut term, mut sum) = (self.exactly(errors, rate), 0.0);
        for at in (0..=errors).rev() {
            if term <= sum * 1e-17 {
                break;
            }
            sum += term;
            if at > 0 {
                term /= self.ratio(at - 1, rate);
            }
        }
        sum.min(1.0)
    }

    /// Probability of one more than `errors` errors over that of `errors`.
    #[inline]
    fn ratio(self, errors: u32, rate: f64) -> f64 {
        f64::from(self.bits - errors) / f64::from(errors + 1) * (rate / (1.0 - rate))
    }

    /// The numbers of errors above `errors`, to draw from; `ln_choices` is that of `errors + 1`.
    pub fn above(self, errors: u32, ln_choices: f64, rate: f64) -> Above {
        let mean = f64::from(self.bits) * rate;
        let deviation = libm::sqrt(mean * (1.0 - rate).max(0.0));
        let least = (mean - DEVIATIONS * deviation).max(0.0) as u32;
        let most = (mean + DEVIATIONS * deviation).max(f64::from(errors)) as u32 + 64;
        let first = least.max(errors + 1).min(self.bits);
        Above {
            of: self,
            odds: if rate < 1.0 { rate / (1.0 - rate) } else { 0.0 },
            first,
            most: most.min(self.bits),
            term: match first == errors + 1 {
                true => self.exactly_of(ln_choices, first, rate),
                false => self.exactly(first, rate),
            },
        }
    }
}

/// The upper part of a distribution.
#[derive(Clone, Copy, Debug)]
pub struct Above {
    of: Binomial,
    odds: f64,
    first: u32,
    most: u32,
    /// Probability of `first`.
    term: f64,
}

impl Above {
    /// A number of errors, drawn by `number`, which is uniform between 0 and the probability of the
    /// upper part.
    pub fn draw(&self, number: f64) -> u32 {
        let (mut at, mut term, mut sum) = (self.first, self.term, 0.0);
        while at < self.most {
            sum += term;
            if number < sum {
                break;
            }
            term *= f64::from(self.of.bits - at) / f64::from(at + 1) * self.odds;
            at += 1;
        }
        at
    }
}

/// Natural logarithm of a factorial.
fn ln_factorial(of: f64) -> f64 {
    libm::lgamma(of + 1.0)
}

/// Keeps each of `errors` errors with probability `1 / scale`; returns the number that is left.
pub fn thin(errors: u32, scale: f64, numbers: &mut Stream) -> u32 {
    if scale == 2.0 {
        // One random bit each.
        let words = (0..errors).step_by(64);
        return words
            .map(|at| (numbers.bits() & engine::low_bits((errors - at).min(64))).count_ones())
            .sum();
    }
    (0..errors).filter(|_| numbers.chance(1.0 / scale)).count() as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine::Streams;

    /// Tails of the paper's codeword, from exact sums in rational arithmetic to the digits given in
    /// the fact sheet.
    #[test]
    fn tails_are_those_of_the_fact_sheet() {
        let code = Binomial::new(4096);
        let rate = 67.2 / 4096.0;
        assert!((1.0 - code.more_than(75, rate) - 0.846).abs() < 0.001);
        assert!((1.0 - code.more_than(74, rate) - 0.816).abs() < 0.001);
    }

    /// Small distributions by adding up all outcomes.
    #[test]
    fn probabilities_are_those_of_all_outcomes() {
        for bits in [1u32, 2, 7, 12] {
            for rate in [0.0, 0.01, 0.3, 0.5, 0.97, 1.0] {
                let mut expected = vec![0.0; bits as usize + 1];
                for outcome in 0u32..1 << bits {
                    let wrong = outcome.count_ones();
                    let right = bits - wrong;
                    expected[wrong as usize] +=
                        f64::powi(rate, wrong as i32) * f64::powi(1.0 - rate, right as i32);
                }
                let code = Binomial::new(bits);
                for errors in 0..=bits {
                    let exactly = expected[errors as usize];
                    assert!((code.exactly(errors, rate) - exactly).abs() < 1e-12, "{bits} {rate}");
                    let more: f64 = expected[errors as usize + 1..].iter().sum();
                    let got = code.more_than(errors, rate);
                    assert!((got - more).abs() < 1e-12, "{bits} {rate} {errors}: {got} {more}");
                }
            }
        }
    }

    #[test]
    fn far_tails_keep_their_relative_precision() {
        // P[X > n] lies between its first term and that term over 1 - ratio.
        let code = Binomial::new(4096);
        for (errors, rate) in [(75, 1e-3), (75, 1e-5), (20, 1e-7), (300, 0.01)] {
            let first = code.exactly(errors + 1, rate);
            let ratio = f64::from(4096 - errors - 1) / f64::from(errors + 2) * rate / (1.0 - rate);
            let got = code.more_than(errors, rate);
            assert!(first > 0.0 && got >= first && got <= first / (1.0 - ratio), "{errors} {rate}");
        }
    }

    /// The mean and the variance of a distribution above a limit, from its terms.
    #[test]
    fn draws_above_a_limit_have_its_moments() {
        let mut numbers = Streams::new(floor::seed(11)).stream("draws");
        for (bits, errors, rate) in [(4096, 75, 0.0164), (4096, 25, 0.0164), (512, 3, 0.001)] {
            let code = Binomial::new(bits);
            let all = code.more_than(errors, rate);
            let moment = |power: i32| -> f64 {
                let term = |k: u32| code.exactly(k, rate) * f64::from(k).powi(power);
                (errors + 1..=bits).map(term).sum::<f64>() / all
            };
            let (mean, variance) = (moment(1), moment(2) - moment(1).powi(2));
            let count = 100_000;
            let above = code.above(errors, code.ln_choices(errors + 1), rate);
            let draws = (0..count).map(|_| above.draw(numbers.unit() * all));
            let (mut sum, mut least) = (0.0, bits);
            for drawn in draws {
                sum += f64::from(drawn);
                least = least.min(drawn);
            }
            let error = (variance / f64::from(count)).sqrt();
            assert!((sum / f64::from(count) - mean).abs() < 4.0 * error, "{bits} {errors} {rate}");
            assert!(least > errors);
        }
    }

    #[test]
    fn a_draw_far_above_the_limit_ends() {
        // The first terms above the limit are 0 in floating point.
        let above = |bits: u32, rate: f64| {
            let code = Binomial::new(bits);
            code.above(5, code.ln_choices(6), rate)
        };
        let drawn = above(32_768, 0.4).draw(0.5);
        assert!((f64::from(drawn) - 13_107.0).abs() < 1000.0, "{drawn}");
        assert_eq!(above(64, 1.0).draw(0.5), 64);
    }

    #[test]
    fn thinning_keeps_each_error_with_the_same_probability() {
        let mut numbers = Streams::new(floor::seed(5)).stream("thin");
        for (errors, scale) in [(100, 2.0), (100, 3.0), (65, 2.0)] {
            let count = 20_000;
            let kept: Vec<f64> =
                (0..count).map(|_| f64::from(thin(errors, scale, &mut numbers))).collect();
            let (p, n) = (1.0 / scale, f64::from(errors));
            let mean = kept.iter().sum::<f64>() / f64::from(count);
            let variance = n * p * (1.0 - p);
            assert!((mean - n * p).abs() < 4.0 * (variance / f64::from(count)).sqrt());
            assert!(kept.iter().all(|kept| *kept <= n));
        }
        assert_eq!(thin(50, 1.0, &mut numbers), 50);
    }
}
