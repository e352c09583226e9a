//! Sizes of requests.

use super::counts::{Counts, Spread};
use crate::units::SECTOR_BYTES;
use std::collections::BTreeMap;

/// Sizes of whole sectors have a place of their own up to so many.
const SECTORS: u64 = 2_048;

/// Other sizes that are kept exactly; further ones are rounded up to eight significant bits.
const OTHERS: usize = 4_096;

/// Number of requests by size.
#[derive(Clone)]
pub(crate) struct Sizes {
    sectors: Vec<u64>,
    others: BTreeMap<u64, u64>,
}

impl Sizes {
    pub fn new() -> Self {
        Self { sectors: vec![0; SECTORS as usize + 1], others: BTreeMap::new() }
    }

    #[inline]
    pub fn add(&mut self, bytes: u64) {
        if bytes.is_multiple_of(SECTOR_BYTES) && bytes <= SECTORS * SECTOR_BYTES {
            self.sectors[(bytes / SECTOR_BYTES) as usize] += 1;
            return;
        }
        let is_known = self.others.len() < OTHERS || self.others.contains_key(&bytes);
        *self.others.entry(if is_known { bytes } else { rounded(bytes) }).or_default() += 1;
    }

    /// Sizes and their requests, by size.
    pub fn list(&self) -> Vec<(u64, u64)> {
        let sectors = (0..).zip(&self.sectors).filter(|(_, count)| **count > 0);
        let mut list: Vec<_> =
            sectors.map(|(sectors, count)| (sectors * SECTOR_BYTES, *count)).collect();
        list.extend(self.others.iter().map(|(bytes, count)| (*bytes, *count)));
        list.sort_unstable();
        list
    }
}

/// The distribution of listed sizes; it is as exact as the list.
pub(crate) fn spread(list: &[(u64, u64)]) -> Option<Spread> {
    let mut counts = Counts::new();
    list.iter().for_each(|(bytes, count)| counts.add_many(*bytes, *count));
    let rough = counts.spread()?;
    let exact = |thousandths: u64| {
        let rank = (u128::from(rough.count) * u128::from(thousandths)).div_ceil(1_000).max(1);
        let mut below = 0;
        let reaches = |(_, count): &&(u64, u64)| {
            below += u128::from(*count);
            below >= rank
        };
        list.iter().find(reaches).map_or(rough.max, |(bytes, _)| *bytes)
    };
    let [p10, p25, p50, p75, p90, p99, p99_9] = [100, 250, 500, 750, 900, 990, 999].map(exact);
    Some(Spread { p10, p25, p50, p75, p90, p99, p99_9, ..rough })
}

/// Merges two lists.
pub(crate) fn joined(one: &[(u64, u64)], other: &[(u64, u64)]) -> Vec<(u64, u64)> {
    let mut sum: BTreeMap<u64, u64> = BTreeMap::new();
    one.iter().chain(other).for_each(|(bytes, count)| *sum.entry(*bytes).or_default() += count);
    sum.into_iter().collect()
}

fn rounded(bytes: u64) -> u64 {
    let step = 1 << (u64::BITS - bytes.leading_zeros()).saturating_sub(8);
    bytes.checked_next_multiple_of(step).unwrap_or(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_exact_until_there_are_too_many() {
        let mut sizes = Sizes::new();
        [512, 4_096, 512, 700, 2 << 20, 700].iter().for_each(|bytes| sizes.add(*bytes));
        assert_eq!(sizes.list(), [(512, 2), (700, 2), (4_096, 1), (2 << 20, 1)]);
        (0..100_000).for_each(|n| sizes.add(3_000_001 + 2 * n));
        assert!(sizes.list().len() < 2 * OTHERS);
        assert_eq!(sizes.list().iter().map(|(_, count)| count).sum::<u64>(), 100_006);
        assert_eq!((rounded(257), rounded(256), rounded(255)), (258, 256, 255));
    }
}
