//! The few slowest of very many items, without keeping the others: once `N` are kept, a faster
//! one is rejected by one comparison.

use engine::Span;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The `N` slowest items; of equally slow ones the earlier are kept.
#[derive(Clone, Debug)]
pub struct Slowest<T> {
    capacity: usize,
    /// The next item to be dropped is at the top.
    kept: BinaryHeap<Kept<T>>,
    kept_so_far: u64,
    /// Latency that an item must exceed to be kept once all places are taken.
    threshold: Span,
}

#[derive(Clone, Debug)]
struct Kept<T> {
    latency: Span,
    arrival: u64,
    item: T,
}

impl<T> Kept<T> {
    /// Greatest for the item to be dropped first: the fastest, then the latest.
    fn order(&self) -> (Reverse<Span>, u64) {
        (Reverse(self.latency), self.arrival)
    }
}

impl<T> PartialEq for Kept<T> {
    fn eq(&self, other: &Self) -> bool {
        self.order() == other.order()
    }
}
impl<T> Eq for Kept<T> {}
impl<T> PartialOrd for Kept<T> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl<T> Ord for Kept<T> {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.order().cmp(&other.order())
    }
}

impl<T> Slowest<T> {
    /// Room for `capacity` items; with 0 nothing is kept.
    pub fn new(capacity: usize) -> Self {
        Self {
            capacity,
            kept: BinaryHeap::with_capacity(capacity),
            kept_so_far: 0,
            // Without places nothing exceeds the threshold.
            threshold: Span::from_ns(u64::MAX),
        }
    }

    /// True if an item of this latency would be kept now.
    #[inline]
    pub fn wants(&self, latency: Span) -> bool {
        latency > self.threshold || self.kept.len() < self.capacity
    }

    /// Keeps the result of `item` if it is among the slowest so far; otherwise `item` is not
    /// called.
    #[inline]
    pub fn offer(&mut self, latency: Span, item: impl FnOnce() -> T) {
        if self.wants(latency) {
            self.keep(latency, item());
        }
    }

    #[cold]
    fn keep(&mut self, latency: Span, item: T) {
        if self.kept.len() == self.capacity {
            self.kept.pop();
        }
        self.kept.push(Kept { latency, arrival: self.kept_so_far, item });
        self.kept_so_far += 1;
        if let Some(fastest) = self.kept.peek()
            && self.kept.len() == self.capacity
        {
            self.threshold = fastest.latency;
        }
    }

    /// Number of kept items.
    pub fn len(&self) -> usize {
        self.kept.len()
    }

    /// True if none is kept.
    pub fn is_empty(&self) -> bool {
        self.kept.is_empty()
    }

    /// The kept items, slowest first, equally slow ones in order of arrival.
    pub fn into_sorted(self) -> Vec<(Span, T)> {
        self.kept.into_sorted_vec().into_iter().map(|kept| (kept.latency, kept.item)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn slowest(capacity: usize, latencies: &[u64]) -> Vec<(u64, usize)> {
        let mut slowest = Slowest::new(capacity);
        for (index, ns) in latencies.iter().enumerate() {
            slowest.offer(Span::from_ns(*ns), || index);
        }
        slowest.into_sorted().into_iter().map(|(span, index)| (span.as_ns(), index)).collect()
    }

    proptest! {
        #![proptest_config(floor::cases!())]

        #[test]
        fn they_are_the_head_of_a_stable_sort(
            // Few distinct values, so that ties are the rule.
            latencies in prop::collection::vec(0u64..20, 0..200),
            capacity in 0usize..12,
        ) {
            let mut sorted: Vec<_> =
                latencies.iter().copied().enumerate().map(|(index, ns)| (ns, index)).collect();
            sorted.sort_by_key(|(ns, _)| Reverse(*ns));
            sorted.truncate(capacity);
            prop_assert_eq!(slowest(capacity, &latencies), sorted);
        }
    }

    #[test]
    fn of_equally_slow_ones_the_earlier_stay() {
        assert_eq!(slowest(2, &[5, 9, 5, 5, 9, 9]), [(9, 1), (9, 4)]);
        assert_eq!(slowest(2, &[u64::MAX; 4]), [(u64::MAX, 0), (u64::MAX, 1)]);
    }

    #[test]
    fn an_item_that_is_not_wanted_is_not_made() {
        let mut slowest = Slowest::new(1);
        slowest.offer(Span::from_ns(2), || "kept");
        slowest.offer(Span::from_ns(2), || unreachable!("it is no slower"));
        assert!(!slowest.wants(Span::from_ns(2)) && slowest.wants(Span::from_ns(3)));
        assert_eq!(slowest.into_sorted(), [(Span::from_ns(2), "kept")]);
    }
}
