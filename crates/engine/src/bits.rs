//! Sets of small numbers as the bits of a word.

/// The numbers of the bits that are set, from the lowest.
#[inline]
pub fn bits(mask: impl Into<u64>) -> impl Iterator<Item = usize> {
    let mut left = mask.into();
    std::iter::from_fn(move || {
        let bit = left.trailing_zeros() as usize;
        (left != 0).then(|| {
            left &= left - 1;
            bit
        })
    })
}

/// Number of set bits of a mask. If only one is set, this takes a few instructions: the baseline
/// processor that programs are compiled for has no instruction that counts bits.
#[inline]
pub fn count_bits(mask: u64) -> u32 {
    if mask.is_power_of_two() { 1 } else { count_many(mask) }
}
// Not inlined, or else the compiler counts in both cases.
#[inline(never)]
fn count_many(mask: u64) -> u32 {
    mask.count_ones()
}

/// A word whose lowest `count` (1 to 64) bits are set.
#[inline]
pub const fn low_bits(count: u32) -> u64 {
    u64::MAX >> (64 - count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bits_of_a_word_are_counted_from_its_lowest() {
        assert_eq!(bits(0u32).count(), 0);
        assert_eq!(bits(1u64 << 63 | 0b1010).collect::<Vec<_>>(), [1, 3, 63]);
        assert_eq!(bits(u64::MAX).count(), 64);
    }

    #[test]
    fn the_lowest_bits_are_as_many_as_asked_for() {
        for count in 1..=64 {
            assert!(bits(low_bits(count)).eq(0..count as usize), "{count}");
        }
    }
}
