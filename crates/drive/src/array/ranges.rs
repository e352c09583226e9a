//! Ranges of bytes, each with the number of the write that is the newest there.

use std::collections::BTreeMap;
use std::ops::Range;

/// Disjoint ranges by their first byte: the byte behind each, and the number of its write.
#[derive(Clone, Debug, Default)]
pub struct Ranges {
    by_start: BTreeMap<u64, (u64, u64)>,
}

impl Ranges {
    /// Sets the bytes of a range to a write's number, except where a newer write is.
    pub fn write(&mut self, range: Range<u64>, number: u64) {
        self.cut(range.start);
        self.cut(range.end);
        let mut free = range.start;
        let inside: Vec<_> =
            self.by_start.range(range.clone()).map(|(&from, &(to, by))| (from, to, by)).collect();
        for (from, to, by) in inside {
            if free < from {
                self.by_start.insert(free, (from, number));
            }
            if by < number {
                self.by_start.insert(from, (to, number));
            }
            free = to;
        }
        if free < range.end {
            self.by_start.insert(free, (range.end, number));
        }
    }

    /// Forgets the bytes of a range that are a write's.
    pub fn forget(&mut self, range: Range<u64>, number: u64) {
        let own: Vec<u64> = (self.by_start.range(range))
            .filter(|(_, (_, by))| *by == number)
            .map(|(from, _)| *from)
            .collect();
        for from in own {
            self.by_start.remove(&from);
        }
    }

    /// The ranges within `range`, in their order, each with the number of its write, or without one
    /// where there is none.
    pub fn within(&self, range: Range<u64>) -> Vec<(Range<u64>, Option<u64>)> {
        let mut parts = Vec::new();
        let mut free = range.start;
        let before = self.by_start.range(..range.start).next_back();
        let before = before.filter(|(_, (to, _))| *to > range.start);
        for (&from, &(to, by)) in before.into_iter().chain(self.by_start.range(range.clone())) {
            let from = from.max(range.start);
            if free < from {
                parts.push((free..from, None));
            }
            free = to.min(range.end);
            parts.push((from..free, Some(by)));
        }
        if free < range.end {
            parts.push((free..range.end, None));
        }
        parts
    }

    /// Cuts the range that holds the bytes before and at `at` in two.
    fn cut(&mut self, at: u64) {
        if let Some((&from, &(to, by))) = self.by_start.range(..at).next_back()
            && to > at
        {
            self.by_start.insert(from, (at, by));
            self.by_start.insert(at, (to, by));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const BYTES: u64 = 24;

    proptest! {
        #![proptest_config(floor::cases!())]

        /// Ranges compared with an array that has a number for each byte.
        #[test]
        fn ranges_are_an_array_of_bytes(
            steps in proptest::collection::vec((0..BYTES, 1..9u64, 0..6u64, any::<bool>()), 0..40),
            asked in (0..BYTES, 1..9u64),
        ) {
            let (mut ranges, mut bytes) = (Ranges::default(), [None; BYTES as usize + 9]);
            for (from, length, number, writes) in steps {
                let range = from..from + length;
                if writes {
                    for byte in range.clone() {
                        let byte = &mut bytes[byte as usize];
                        *byte = Some(number).max(*byte);
                    }
                    ranges.write(range, number);
                } else {
                    // A write is forgotten as a whole.
                    ranges.forget(0..BYTES + 9, number);
                    bytes.iter_mut().filter(|byte| **byte == Some(number)).for_each(|byte| *byte = None);
                }
            }
            let asked = asked.0..asked.0 + asked.1;
            let mut next = asked.start;
            for (range, number) in ranges.within(asked.clone()) {
                prop_assert_eq!(range.start, next);
                prop_assert!(range.start < range.end);
                for byte in range.clone() {
                    prop_assert_eq!(bytes[byte as usize], number);
                }
                next = range.end;
            }
            prop_assert_eq!(next, asked.end);
        }
    }
}
