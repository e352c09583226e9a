//! The code that corrects the errors of a codeword, as far as it can.

use crate::errors::Binomial;
use crate::errors::binomial::Above;
use engine::Stream;

/// A codeword with more errors than its code corrects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wrong {
    /// Its place among the codewords of the read.
    pub word: u32,
    /// Its errors; [`Wrong::FAULTY`] if a fault of flash keeps it from being decoded at all.
    pub errors: u32,
}

impl Wrong {
    /// More errors than a codeword has bits: no re-read lowers them, and no code corrects them.
    pub const FAULTY: u32 = u32::MAX;

    /// True if a fault of flash keeps it from being decoded.
    pub fn is_faulty(&self) -> bool {
        self.errors == Self::FAULTY
    }
}

/// Binary digits of a rate's mantissa that tell apart the cells of [`Code::cell`].
const DIGITS: u32 = 8;
/// Binary logarithm of the rate below which cells are not told apart.
const LEAST_EXPONENT: i32 = -48;
/// Bits of a rate below those that tell its cell, and those of the least rate above them.
const SHIFT: u32 = f64::MANTISSA_DIGITS - 1 - DIGITS;
const FIRST: u64 = ((1023 + LEAST_EXPONENT) as u64) << DIGITS;
/// Cells between that rate and 1.
const CELLS: usize = (-LEAST_EXPONENT as usize) << DIGITS;
/// Below this probability that any codeword of a read fails, one random number decides about all.
const RARE: f64 = 1.0 / 16.0;

/// A code that corrects a number of errors in each codeword.
///
/// The probability that a codeword fails rises with the raw bit error rate. It is kept for rates at
/// the bounds of cells, 256 for each power of two, so that most reads need no more than a compare
/// with the bounds of the cell of their rate. Where that does not decide, the probability is computed.
#[derive(Clone, Debug)]
pub struct Code {
    errors: Binomial,
    corrects: u32,
    /// Value of [`Binomial::ln_choices`] for the least number of errors that is not corrected.
    ln_choices: f64,
    /// Probability that a codeword fails, at the lower bound of each cell and at rate 1; not a number
    /// until it is asked for.
    bounds: Vec<f64>,
}

impl Code {
    /// A code of `bits` data bits that corrects `corrects` errors.
    pub fn new(bits: u32, corrects: u32) -> Self {
        let errors = Binomial::new(bits);
        let ln_choices = errors.ln_choices((corrects + 1).min(bits));
        Self { errors, corrects, ln_choices, bounds: vec![f64::NAN; CELLS + 1] }
    }
    /// The distribution of errors in a codeword.
    pub fn errors(&self) -> Binomial {
        self.errors
    }
    /// Errors that it corrects.
    pub fn corrects(&self) -> u32 {
        self.corrects
    }
    /// Probability that a codeword fails: that it has more errors than the code corrects.
    pub fn fails(&self, rate: f64) -> f64 {
        self.errors.more_than(self.corrects, rate)
    }

    /// The cell of a rate, and the place of the rate in it, from 0 to 1.
    #[inline]
    pub fn cell(rate: f64) -> (usize, f64) {
        let bits = rate.to_bits();
        let Some(cell) = (bits >> SHIFT).checked_sub(FIRST) else { return (0, 0.0) };
        let rest = (bits & ((1 << SHIFT) - 1)) as f64;
        ((cell as usize).min(CELLS - 1), rest / (1u64 << SHIFT) as f64)
    }
    /// Number of cells.
    pub const CELLS: usize = CELLS;
    /// The least rate of a cell; that of the cell behind the last is 1.
    pub fn rate_of(cell: usize) -> f64 {
        f64::from_bits((FIRST + cell as u64) << SHIFT)
    }

    #[inline]
    fn bound(&mut self, at: usize) -> f64 {
        let bound = self.bounds[at];
        if bound.is_nan() { self.compute_bound(at) } else { bound }
    }
    #[cold]
    fn compute_bound(&mut self, at: usize) -> f64 {
        let bound = self.fails(Self::rate_of(at));
        self.bounds[at] = bound;
        bound
    }

    /// Probability that a codeword fails, to about a thousandth: for sums over many reads.
    #[inline]
    pub fn about(&mut self, rate: f64) -> f64 {
        let (cell, within) = Self::cell(rate);
        let [low, high] = [cell, cell + 1].map(|at| self.bound(at));
        if high < 0.5 && low > 0.0 {
            // It rises with a high power of the rate.
            return low * libm::exp(within * libm::log(high / low));
        }
        low + within * (high - low)
    }

    /// Decodes `words` codewords that were read at `rate`; adds those that fail to `wrong`, in order.
    #[inline]
    pub fn decode(&mut self, rate: f64, words: u32, numbers: &mut Stream, wrong: &mut Vec<Wrong>) {
        let (cell, _) = Self::cell(rate);
        let high = self.bound(cell + 1);
        let any = f64::from(words) * high;
        if any > RARE {
            return self.decode_each(rate, words, numbers, wrong);
        }
        let number = fine(numbers);
        if number < any {
            self.decode_rare(rate, words, number, numbers, wrong);
        }
    }

    /// Numbers of errors that are not corrected.
    fn above(&self, rate: f64) -> Above {
        self.errors.above(self.corrects, self.ln_choices, rate)
    }

    /// Decodes codewords that often fail.
    #[inline(never)]
    fn decode_each(&mut self, rate: f64, words: u32, numbers: &mut Stream, wrong: &mut Vec<Wrong>) {
        let (cell, _) = Self::cell(rate);
        let [low, high] = [cell, cell + 1].map(|at| self.bound(at));
        let mut above = None;
        for word in 0..words {
            let number = numbers.unit();
            if number >= high || number >= low && number >= self.fails(rate) {
                continue;
            }
            let above = above.get_or_insert_with(|| self.above(rate));
            wrong.push(Wrong { word, errors: above.draw(number) });
        }
    }

    /// Decodes codewords that seldom fail. `number` is uniform between 0 and 1, and is below a bound
    /// of the probability that any fails.
    #[cold]
    fn decode_rare(
        &mut self,
        rate: f64,
        words: u32,
        number: f64,
        numbers: &mut Stream,
        wrong: &mut Vec<Wrong>,
    ) {
        let fails = self.fails(rate);
        let mut left = number;
        // The first word that fails is `word`: all before it do not.
        let mut passes = 1.0;
        for word in 0..words {
            let first_here = passes * fails;
            if left >= first_here {
                left -= first_here;
                passes *= 1.0 - fails;
                continue;
            }
            let above = self.above(rate);
            let draw = |numbers: &mut Stream| above.draw(numbers.unit() * fails);
            wrong.push(Wrong { word, errors: draw(numbers) });
            for word in word + 1..words {
                if numbers.chance(fails) {
                    wrong.push(Wrong { word, errors: draw(numbers) });
                }
            }
            return;
        }
    }
}

/// Uniform between 0 and 1, and fine enough for the least probabilities.
#[inline]
fn fine(numbers: &mut Stream) -> f64 {
    const STEP: f64 = 1.0 / (1u64 << 40) as f64;
    let number = numbers.unit();
    if number < STEP { STEP * numbers.unit() } else { number }
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine::Streams;

    #[test]
    fn cells_order_rates() {
        for (rate, beside) in [(1e-3, 1e-3), (0.5, 0.25), (1.0, 1.0), (1e-14, 1e-13), (0.0, 0.0)] {
            let (cell, within) = Code::cell(rate);
            assert!((0.0..=1.0).contains(&within));
            if rate > 1e-13 && rate < 1.0 {
                assert!(Code::rate_of(cell) <= rate && rate <= Code::rate_of(cell + 1), "{rate}");
            }
            assert!(Code::cell(beside).0 <= cell || beside > rate);
        }
        assert_eq!(Code::rate_of(Code::CELLS), 1.0);
    }

    /// Shares of reads with failed codewords, and their mean errors, against exact probabilities.
    fn compare(corrects: u32, rate: f64, words: u32, count: u32) {
        let mut code = Code::new(4096, corrects);
        let mut numbers = Streams::new(floor::seed(corrects.into())).stream("decode");
        let (mut reads, mut failed, mut by_word) = (0, 0, vec![0; words as usize]);
        let mut wrong = Vec::new();
        for _ in 0..count {
            wrong.clear();
            code.decode(rate, words, &mut numbers, &mut wrong);
            reads += u32::from(!wrong.is_empty());
            failed += wrong.len() as u32;
            assert!(wrong.is_sorted_by_key(|wrong| wrong.word));
            for Wrong { word, errors } in wrong.iter().copied() {
                assert!(errors > corrects);
                by_word[word as usize] += 1;
            }
        }
        let fails = code.fails(rate);
        let any = 1.0 - (1.0 - fails).powi(words as i32);
        let close = |got: u32, p: f64, n: f64| {
            let deviation = (n * p * (1.0 - p)).sqrt().max(1.0);
            assert!((f64::from(got) - n * p).abs() < 4.5 * deviation, "{got} of {n}, {p}");
        };
        close(reads, any, count.into());
        close(failed, fails, f64::from(count) * f64::from(words));
        by_word.iter().for_each(|word| close(*word, fails, count.into()));
    }

    #[test]
    fn reads_fail_with_the_probability_of_their_codewords() {
        compare(75, 67.2 / 4096.0, 8, 100_000);
        compare(75, 67.2 / 4096.0, 1, 100_000);
        compare(25, 67.2 / 4096.0, 8, 2_000);
        // A read of these fails once in 30 and once in 2,000.
        compare(75, 48.0 / 4096.0, 32, 300_000);
        compare(75, 45.0 / 4096.0, 8, 1_000_000);
    }

    /// Uncorrectable after M re-reads: 1 - (1 - P[Bin(4096, rate / 2^M) > n])^8.
    #[test]
    fn re_reads_thin_the_errors_of_the_first_decode() {
        let (rate, count) = (200.0 / 4096.0, 40_000);
        let mut code = Code::new(4096, 75);
        let mut numbers = Streams::new(floor::seed(8)).stream("re-reads");
        let mut left = [0u32; 3];
        for _ in 0..count {
            let mut wrong = Vec::new();
            code.decode(rate, 8, &mut numbers, &mut wrong);
            for of_left in &mut left {
                *of_left += u32::from(!wrong.is_empty());
                wrong.retain_mut(|wrong| {
                    wrong.errors = crate::errors::thin(wrong.errors, 2.0, &mut numbers);
                    wrong.errors > 75
                });
            }
        }
        for (re_reads, left) in left.into_iter().enumerate() {
            let fails = code.fails(rate / f64::powi(2.0, re_reads as i32));
            let p = 1.0 - (1.0 - fails).powi(8);
            let n = f64::from(count);
            let deviation = (n * p * (1.0 - p)).sqrt().max(1.0);
            assert!((f64::from(left) - n * p).abs() < 4.0 * deviation, "{re_reads}: {left} {p}");
        }
    }

    #[test]
    fn sums_are_close_to_exact_probabilities() {
        let mut code = Code::new(4096, 75);
        for errors in 1..200 {
            let rate = f64::from(errors) / 4096.0 * 1.003;
            let (about, exact) = (code.about(rate), code.fails(rate));
            assert!((about / exact - 1.0).abs() < 5e-3, "{errors}: {about} {exact}");
        }
    }
}
