//! A fingerprint of everything that happened in a run, in order: two runs with
//! equal digests took, for all practical purposes, the same path.

use std::fmt;

/// An order-dependent 64-bit running hash. It is no defence against an adversary.
///
/// The state is one word, `s' = rotate(odd * (s xor value), 29)`. Each step is invertible, both
/// in the state and in the value. So runs that differ in exactly one value *always* differ in
/// their digests, and two that differ in more collide with the probability 2^-64 of chance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Digest {
    state: u64,
}

/// 2^64 divided by the golden ratio, made odd: multiplication by an odd factor is invertible.
const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;

impl Default for Digest {
    fn default() -> Self {
        Self::new()
    }
}

impl Digest {
    /// The digest of nothing.
    pub const fn new() -> Self {
        // Not 0, which leading zeroes would leave unchanged.
        Self { state: FACTOR }
    }

    /// Mixes in one value.
    #[inline]
    pub const fn mix(&mut self, value: u64) {
        // A product carries bits upward only; the rotation brings them down again.
        self.state = (self.state ^ value).wrapping_mul(FACTOR).rotate_left(29);
    }

    /// The digest of the values so far. The run may continue.
    pub const fn finish(&self) -> u64 {
        // The last value has met one product; the finalizer of MurmurHash3
        // (Appleby, public domain) lets each of its bits reach all of the digest.
        let mut z = self.state;
        z = (z ^ (z >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
        z = (z ^ (z >> 33)).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
        z ^ (z >> 33)
    }
}

/// Sixteen hexadecimal digits.
impl fmt::Display for Digest {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{:016x}", self.finish())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine::Streams;

    fn digest(values: &[u64]) -> u64 {
        let mut digest = Digest::new();
        values.iter().for_each(|value| digest.mix(*value));
        digest.finish()
    }

    #[test]
    fn order_and_number_matter() {
        assert_ne!(digest(&[1, 2]), digest(&[2, 1]));
        assert_ne!(digest(&[]), digest(&[0]));
        assert_ne!(digest(&[0]), digest(&[0, 0]));
        assert_eq!(digest(&[1, 2]), digest(&[1, 2]));
    }

    #[test]
    fn one_bit_flips_half_of_the_digest() {
        let mut stream = Streams::new(floor::seed(5)).stream("avalanche");
        let rounds = 200;
        for position in [0, 7] {
            for bit in 0..64 {
                let flipped: u32 = (0..rounds)
                    .map(|_| {
                        let values: [u64; 8] = std::array::from_fn(|_| stream.bits());
                        let mut other = values;
                        other[position] ^= 1 << bit;
                        (digest(&values) ^ digest(&other)).count_ones()
                    })
                    .sum();
                // 64 fair coins have mean 32, variance 16. There are 128 such
                // means; one strays by 4.5 standard errors in 7 of 10^6.
                let mean = f64::from(flipped) / f64::from(rounds);
                let error = 4.0 / f64::from(rounds).sqrt();
                assert!((mean - 32.0).abs() < 4.5 * error, "value {position} bit {bit}: {mean}");
            }
        }
    }

    #[test]
    fn small_numbers_do_not_collide() {
        // What a simulator feeds it: short sequences of small integers.
        let mut seen: Vec<u64> =
            (0..100u64.pow(3)).map(|n| digest(&[n % 100, n / 100 % 100, n / 10_000])).collect();
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen.len(), 1_000_000);
    }

    #[test]
    fn it_is_shown_as_sixteen_digits() {
        let digest = Digest { state: 0 };
        assert_eq!(digest.to_string(), "0000000000000000");
        assert_eq!(Digest::new().to_string().len(), 16);
    }
}
