//! Division by a number fixed at run time, as one multiplication.

/// A divisor known once per run. Exact for every 32-bit dividend: with
/// `m = ceil(2^64 / d)`, `floor(n * m / 2^64) = floor(n / d)` for `n, d < 2^32`
/// (Lemire, Kaser, Kurz: Faster remainder by direct computation, 2019).
#[derive(Clone, Copy, Debug)]
pub struct Divisor {
    divisor: u32,
    inverse: u64,
}

impl Divisor {
    /// # Panics
    /// If the divisor is 0.
    pub fn new(divisor: u32) -> Self {
        assert!(divisor > 0, "nothing is divisible by 0");
        Self { divisor, inverse: (u64::MAX / u64::from(divisor)).wrapping_add(1) }
    }

    /// The divisor itself.
    #[inline]
    pub const fn get(self) -> u32 {
        self.divisor
    }

    /// `n / d`.
    #[inline]
    pub const fn quotient(self, n: u32) -> u32 {
        // For d = 1 the inverse would be 2^64, which wraps to 0.
        if self.inverse == 0 {
            return n;
        }
        ((self.inverse as u128 * n as u128) >> 64) as u32
    }

    /// `(n / d, n % d)`.
    #[inline]
    pub const fn split(self, n: u32) -> (u32, u32) {
        let quotient = self.quotient(n);
        (quotient, n - quotient * self.divisor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(floor::cases!())]

        #[test]
        fn it_divides_as_the_processor_does(n: u32, d in 1u32..) {
            prop_assert_eq!(Divisor::new(d).split(n), (n / d, n % d));
        }
    }

    #[test]
    fn the_extremes_divide() {
        for d in [1, 2, 3, u32::MAX - 1, u32::MAX] {
            for n in [0, 1, 2, u32::MAX - 1, u32::MAX] {
                assert_eq!(Divisor::new(d).split(n), (n / d, n % d), "{n} / {d}");
            }
        }
    }
}
