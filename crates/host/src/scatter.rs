//! Permutations of `0..n` that spread neighbours.
//!
//! The fixed one places the hot addresses of a skewed workload. It depends on `n` alone, neither on
//! the seed nor on the workload's name, so two initiators on one region have the same hot places.
//! Drawn ones give the order of a pass over all places.

use engine::Stream;

/// A pseudo-random permutation of `0..n`.
#[derive(Clone, Copy, Debug)]
pub struct Scatter {
    n: u64,
    /// `2^bits - 1`, for the least power of two that is not below `n`.
    mask: u64,
    /// Half of the bits, rounded up: the shift by which a round folds them down.
    shift: u32,
    /// Added before each round: zero in the fixed permutation.
    keys: [u64; 4],
}

/// Odd multipliers, one per round: the 64-bit constants of the finalisers of SplitMix64 and
/// MurmurHash3. Their low bits suffice if `n` is small.
const ROUNDS: [u64; 4] =
    [0x9e37_79b9_7f4a_7c15, 0xbf58_476d_1ce4_e5b9, 0x94d0_49bb_1331_11eb, 0xff51_afd7_ed55_8ccd];

impl Scatter {
    /// The fixed permutation of `0..n`.
    ///
    /// # Panics
    /// If `n` is 0 or above 2^63.
    pub fn new(n: u64) -> Self {
        Self::with_keys(n, [0; 4])
    }

    /// A permutation of `0..n` that is drawn from `stream`.
    ///
    /// # Panics
    /// If `n` is 0 or above 2^63.
    pub fn drawn(n: u64, stream: &mut Stream) -> Self {
        Self::with_keys(n, ROUNDS.map(|_| stream.bits()))
    }

    fn with_keys(n: u64, keys: [u64; 4]) -> Self {
        assert!(n > 0 && n <= 1 << 63, "a permutation of {n} places");
        let mask = n.next_power_of_two() - 1;
        Self { n, mask, shift: mask.count_ones().div_ceil(2).max(1), keys }
    }

    /// Image of `place`.
    #[inline]
    pub fn of(&self, place: u64) -> u64 {
        debug_assert!(place < self.n, "place {place} of {}", self.n);
        // Walking the cycle of a permutation of the power of two until it comes
        // back below n is a permutation of 0..n; two steps at most in the mean.
        let mut place = place;
        loop {
            place = self.stir(place);
            if place < self.n {
                return place;
            }
        }
    }

    /// A permutation of `0..=mask`: each step has an inverse.
    fn stir(&self, place: u64) -> u64 {
        ROUNDS.iter().zip(self.keys).fold(place, |x, (odd, key)| {
            let x = x.wrapping_add(odd >> 32).wrapping_add(key).wrapping_mul(*odd) & self.mask;
            x ^ (x >> self.shift)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_a_permutation() {
        for n in (1..70).chain([1_000, 4_096, 4_097, 65_535]) {
            let scatter = Scatter::new(n);
            let mut seen = vec![false; n as usize];
            (0..n).for_each(|place| seen[scatter.of(place) as usize] = true);
            assert!(seen.iter().all(|seen| *seen), "n = {n}");
        }
    }

    #[test]
    fn the_first_places_spread_evenly() {
        for n in [100_000u64, 1 << 24, 1 << 40, (1 << 40) - 12_345] {
            let scatter = Scatter::new(n);
            let mut counts = [0u32; 16];
            for place in 0..1_600 {
                counts[(u128::from(scatter.of(place)) * 16 / u128::from(n)) as usize] += 1;
            }
            let chi: f64 = counts.iter().map(|c| (f64::from(*c) - 100.0).powi(2) / 100.0).sum();
            // 15 degrees of freedom: 44 is exceeded once in 10^4.
            assert!(chi < 44.0, "n = {n}: chi-square {chi}, {counts:?}");
        }
    }
}
