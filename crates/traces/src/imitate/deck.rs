//! Draws without replacement: after enough draws each value comes out exactly as often as it was
//! put in.

use engine::Stream;

/// Counts from which values are drawn in proportion to the rest of each (a Fenwick tree over the
/// counts).
#[derive(Clone, Debug)]
pub(super) struct Deck {
    values: Vec<u64>,
    tree: Vec<u64>,
    left: u64,
    /// The counts at first, to begin again when all are drawn.
    all: Vec<u64>,
}

impl Deck {
    /// `draws` cards with the proportions of `(value, count)`.
    pub fn new(list: &[(u64, u64)], draws: u64) -> Self {
        let values = list.iter().map(|(value, _)| *value).collect();
        let counts: Vec<u64> = list.iter().map(|(_, count)| *count).collect();
        let all = scaled(&counts, draws);
        let mut deck = Self { values, tree: Vec::new(), left: 0, all };
        deck.refill();
        deck
    }

    pub fn is_empty(&self) -> bool {
        self.values.is_empty() || self.all.iter().all(|count| *count == 0)
    }

    /// Draws a value; begins again when all are drawn.
    pub fn draw(&mut self, stream: &mut Stream) -> u64 {
        let place = self.take(stream);
        self.values[place]
    }

    /// Cards that are left.
    pub fn left(&self) -> u64 {
        self.left
    }

    /// The value at a place.
    pub fn value(&self, place: usize) -> u64 {
        self.values[place]
    }

    /// Puts a card back that could not be used.
    pub fn put_back(&mut self, place: usize) {
        self.left += 1;
        let mut node = place + 1;
        while node <= self.tree.len() {
            self.tree[node - 1] += 1;
            node += node & node.wrapping_neg();
        }
    }

    /// Draws a card; returns its place.
    pub fn take(&mut self, stream: &mut Stream) -> usize {
        if self.left == 0 {
            self.refill();
        }
        let mut rank = stream.below(self.left);
        let (mut place, mut step) = (0, self.tree.len().next_power_of_two());
        while step > 0 {
            if let Some(count) = self.tree.get(place + step - 1).filter(|count| **count <= rank) {
                rank -= count;
                place += step;
            }
            step /= 2;
        }
        self.left -= 1;
        let mut node = place + 1;
        while node <= self.tree.len() {
            self.tree[node - 1] -= 1;
            node += node & node.wrapping_neg();
        }
        place
    }

    fn refill(&mut self) {
        self.left = self.all.iter().sum();
        self.tree = self.all.clone();
        for node in 1..=self.tree.len() {
            let parent = node + (node & node.wrapping_neg());
            if parent <= self.tree.len() {
                self.tree[parent - 1] += self.tree[node - 1];
            }
        }
    }
}

/// Counts with the same proportions that add up to `total`.
pub(super) fn scaled(counts: &[u64], total: u64) -> Vec<u64> {
    let sum: u128 = counts.iter().map(|count| u128::from(*count)).sum();
    let (mut seen, mut given) = (0u128, 0u128);
    let share = |count: &u64| {
        seen += u128::from(*count);
        let until = (seen * u128::from(total)).checked_div(sum).unwrap_or(0);
        let part = until - given;
        given = until;
        part as u64
    };
    counts.iter().map(share).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine::Streams;
    use std::collections::BTreeMap;

    #[test]
    fn every_card_is_drawn_once_and_in_no_order() {
        let list: Vec<(u64, u64)> = (0..50).map(|n| (n * 10, n % 7)).collect();
        let total: u64 = list.iter().map(|(_, count)| count).sum();
        let mut deck = Deck::new(&list, total);
        let mut stream = Streams::new(floor::seed(1)).stream("deck");
        for _ in 0..2 {
            let drawn: Vec<u64> = (0..total).map(|_| deck.draw(&mut stream)).collect();
            assert!(!drawn.is_sorted());
            let mut counts: BTreeMap<u64, u64> = BTreeMap::new();
            drawn.iter().for_each(|value| *counts.entry(*value).or_default() += 1);
            assert!(list.iter().all(|(v, c)| counts.get(v).copied().unwrap_or(0) == *c));
        }
    }

    #[test]
    fn proportions_are_kept_and_the_sum_is_exact() {
        assert_eq!(scaled(&[1, 2, 1], 8), [2, 4, 2]);
        assert_eq!(scaled(&[1, 1, 1], 2).iter().sum::<u64>(), 2);
        assert_eq!(scaled(&[5, 0, 5], 1_001).iter().sum::<u64>(), 1_001);
        assert_eq!(scaled(&[0, 0], 5), [0, 0]);
    }
}
