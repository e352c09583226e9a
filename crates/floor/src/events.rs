//! The floor of an event loop: the standard library's heap of packed keys. The earliest key is
//! taken and a later one inserted.

use crate::random::Random;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Takes `events` events off a queue of always `pending` events, and inserts another for each, up
/// to 2^16 time units later. Returns the sum of the times at which they were taken, so that no
/// compiler can remove the work.
///
/// # Panics
/// If nothing is pending.
pub fn event_loop(pending: u32, events: u64, seed: u64) -> u128 {
    assert!(pending > 0, "an event loop has something pending");
    let mut random = Random::new(seed);
    let mut ticket = 0u64;
    // Time above, ticket below: those due together leave as they came.
    let mut key = |now: u64, delay: u32| {
        ticket += 1;
        Reverse(u128::from(now + 1 + u64::from(delay)) << 64 | u128::from(ticket))
    };
    let mut heap: BinaryHeap<_> = (0..pending).map(|_| key(0, random.below(1 << 16))).collect();
    let mut sum = 0;
    for _ in 0..events {
        let Reverse(earliest) = heap.pop().expect("as many are put in as are taken");
        let now = (earliest >> 64) as u64;
        sum += u128::from(now);
        heap.push(key(now, random.below(1 << 16)));
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_pending_event_follows_itself() {
        // Each time is the one before plus the delay: a sum of running sums.
        let seed = crate::seed(9);
        let mut random = Random::new(seed);
        let (mut now, mut expected) = (0, 0);
        for _ in 0..1_000 {
            now += 1 + u128::from(random.below(1 << 16));
            expected += now;
        }
        assert_eq!(event_loop(1, 1_000, seed), expected);
    }

    #[test]
    fn the_earliest_of_many_is_taken() {
        // The same, looking through all that is pending for the earliest.
        let seed = crate::seed(9);
        let mut random = Random::new(seed);
        let mut delay = || 1 + u128::from(random.below(1 << 16));
        let mut pending: Vec<u128> = (0..50).map(|_| delay()).collect();
        let mut expected = 0;
        for _ in 0..1_000 {
            let earliest = (0..50).min_by_key(|place| pending[*place]).unwrap();
            expected += pending[earliest];
            pending[earliest] += delay();
        }
        assert_eq!(event_loop(50, 1_000, seed), expected);
    }
}
