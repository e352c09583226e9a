//! Random numbers that cost a nanosecond, so that drawing them hides no floor.

/// SplitMix64 (Steele, Lea and Flood, Fast splittable pseudorandom number
/// generators, OOPSLA 2014).
#[derive(Clone, Debug)]
pub struct Random {
    state: u64,
}

impl Random {
    /// The sequence of `seed`.
    pub const fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// 64 random bits.
    #[inline]
    pub const fn bits(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Uniform over `0..bound`, but for a bias of `bound / 2^32`.
    #[inline]
    pub const fn below(&mut self, bound: u32) -> u32 {
        (((self.bits() >> 32) * bound as u64) >> 32) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_the_published_sequence() {
        // The first outputs for seed 0, as in the reference implementation.
        let mut random = Random::new(0);
        assert_eq!(random.bits(), 0xe220_a839_7b1d_cdaf);
        assert_eq!(random.bits(), 0x6e78_9e6a_a1b9_65f4);
    }

    #[test]
    fn below_is_even_over_its_range() {
        let mut random = Random::new(1);
        let mut drawn = [0u32; 7];
        (0..70_000).for_each(|_| drawn[random.below(7) as usize] += 1);
        // Standard deviation sqrt(70,000 * 1/7 * 6/7) = 92.6; four of them.
        assert!(drawn.iter().all(|count| count.abs_diff(10_000) < 371), "{drawn:?}");
    }
}
