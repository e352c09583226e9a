//! Named random streams. A stream is derived from (seed, name), so a policy that draws more
//! numbers changes no other stream: techniques are compared under the same arrivals. Logarithms
//! come from `libm`, which gives the same result on every platform.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use serde::{Deserialize, Serialize};

/// The seed of a run, from which its streams are derived.
#[derive(Clone, Copy, Debug)]
pub struct Streams {
    seed: u64,
}

/// One stream of random numbers (xoshiro256++). Its state can be saved and restored.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Stream {
    generator: Xoshiro256PlusPlus,
}

impl Streams {
    /// The streams of `seed`.
    pub const fn new(seed: u64) -> Self {
        Self { seed }
    }

    /// The stream called `name`, for example `"gc.victim"`.
    pub fn stream(self, name: &str) -> Stream {
        // FNV-1a over the name, then mixed with the seed by SplitMix64, which
        // `seed_from_u64` applies again to fill the state.
        let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
        for byte in name.bytes() {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
        let mixed = split_mix(self.seed).wrapping_add(split_mix(hash));
        Stream { generator: Xoshiro256PlusPlus::seed_from_u64(mixed) }
    }

    /// Streams of a part called `name`, apart from those of other parts.
    pub fn of_part(self, name: &str) -> Self {
        Self { seed: self.stream(name).bits() }
    }

    /// A source of one number for each index, called `name`.
    pub fn hash(self, name: &str) -> Hash {
        Hash { key: self.stream(name).bits() }
    }
}

/// Random numbers by index: each follows from the seed, the name and its index alone, so none is
/// kept in memory.
#[derive(Clone, Copy, Debug)]
pub struct Hash {
    key: u64,
}

impl Hash {
    /// 64 random bits of an index.
    #[inline]
    pub fn bits(self, index: u64) -> u64 {
        split_mix(self.key ^ split_mix(index))
    }
    /// Uniform over `[0, 1)`, a multiple of 2^-53.
    #[inline]
    pub fn unit(self, index: u64) -> f64 {
        to_unit(self.bits(index))
    }
    /// Normally distributed with mean 0 and deviation 1.
    pub fn normal(self, index: u64) -> f64 {
        // Box and Muller: 1 - u lies in (0, 1], so the logarithm is finite.
        let bits = self.bits(index);
        let radius = libm::sqrt(-2.0 * libm::log(1.0 - to_unit(bits)));
        radius * libm::cos(2.0 * std::f64::consts::PI * to_unit(split_mix(bits)))
    }
}

/// A number in `[0, 1)` of 53 random bits.
fn to_unit(bits: u64) -> f64 {
    (bits >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
}

fn split_mix(state: u64) -> u64 {
    let mut z = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

impl Stream {
    /// 64 random bits.
    #[inline]
    pub fn bits(&mut self) -> u64 {
        self.generator.next_u64()
    }
    /// Uniform over `0..bound`, for `bound > 0`, with a bias below 2^-32 for
    /// bounds up to 2^32 (multiply-shift; a bias-free loop would make the number
    /// of draws depend on the values drawn).
    #[inline]
    pub fn below(&mut self, bound: u64) -> u64 {
        debug_assert!(bound > 0, "a choice needs something to choose from");
        ((u128::from(self.bits()) * u128::from(bound)) >> 64) as u64
    }
    /// Uniform over `[0, 1)`, a multiple of 2^-53.
    #[inline]
    pub fn unit(&mut self) -> f64 {
        to_unit(self.bits())
    }
    /// True with probability `p`.
    #[inline]
    pub fn chance(&mut self, p: f64) -> bool {
        self.unit() < p
    }
    /// Exponentially distributed with the given mean.
    #[inline]
    pub fn exponential(&mut self, mean: f64) -> f64 {
        // 1 - u lies in (0, 1], so the logarithm is finite.
        -mean * libm::log(1.0 - self.unit())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_is_a_function_of_seed_and_name() {
        let draw = |seed, name: &str| Streams::new(seed).stream(name).bits();
        assert_eq!(draw(1, "arrivals"), draw(1, "arrivals"));
        assert_ne!(draw(1, "arrivals"), draw(2, "arrivals"));
        assert_ne!(draw(1, "arrivals"), draw(1, "victims"));
    }

    #[test]
    fn moments_are_those_of_the_distributions() {
        let mut stream = Streams::new(floor::seed(7)).stream("moments");
        let count = 200_000;
        let mean = |draw: &mut dyn FnMut() -> f64| {
            (0..count).map(|_| draw()).sum::<f64>() / f64::from(count)
        };
        // Three standard errors: sigma / sqrt(n), sigma = sqrt(1/12) and 5.
        assert!((mean(&mut || stream.unit()) - 0.5).abs() < 3.0 * 0.2887 / 447.2);
        assert!((mean(&mut || stream.exponential(5.0)) - 5.0).abs() < 3.0 * 5.0 / 447.2);
    }

    #[test]
    fn numbers_by_index_have_the_moments_of_their_distributions() {
        let hash = Streams::new(7).hash("moments");
        let count = 200_000u64;
        let mean = |of: &dyn Fn(u64) -> f64| (0..count).map(of).sum::<f64>() / count as f64;
        // Four standard errors.
        assert!((mean(&|index| hash.unit(index)) - 0.5).abs() < 4.0 * 0.2887 / 447.2);
        assert!(mean(&|index| hash.normal(index)).abs() < 4.0 / 447.2);
        let squares = mean(&|index| hash.normal(index).powi(2));
        assert!((squares - 1.0).abs() < 4.0 * 2f64.sqrt() / 447.2, "{squares}");
        let neighbours = mean(&|index| hash.normal(index) * hash.normal(index + 1));
        assert!(neighbours.abs() < 4.0 / 447.2, "{neighbours}");
        assert_eq!(hash.bits(5), Streams::new(7).hash("moments").bits(5));
        assert_ne!(hash.bits(5), Streams::new(7).hash("others").bits(5));
    }

    #[test]
    fn below_reaches_every_value_and_no_other() {
        let mut stream = Streams::new(floor::seed(3)).stream("below");
        let mut seen = [false; 7];
        (0..1_000).for_each(|_| seen[stream.below(7) as usize] = true);
        assert_eq!(seen, [true; 7]);
    }
}
