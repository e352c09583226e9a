//! Totals and counts of intervals of time, whose means are compared.

use std::iter::Sum;
use std::ops::{Add, Sub};

/// A total and the count behind it, such as a sum of latencies and a number of requests. The mean
/// of several intervals is the quotient of the two sums, not the mean of their means.
#[derive(Clone, Copy, PartialEq, Default, Debug)]
pub struct Sums {
    /// A total, such as the sum of latencies.
    pub total: f64,
    /// A count, such as the number of requests.
    pub count: f64,
}

impl Sums {
    /// The quotient; not a number without a count.
    pub fn mean(self) -> f64 {
        self.total / self.count
    }
}

impl Add for Sums {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self { total: self.total + other.total, count: self.count + other.count }
    }
}

impl Sub for Sums {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self { total: self.total - other.total, count: self.count - other.count }
    }
}

impl Sum for Sums {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        all.fold(Self::default(), Add::add)
    }
}

/// The sums of the first `n` intervals, for each `n` from 0 on.
pub fn running(intervals: &[Sums]) -> Vec<Sums> {
    let mut sum = Sums::default();
    let rest = intervals.iter().map(|interval| {
        sum = sum + *interval;
        sum
    });
    std::iter::once(Sums::default()).chain(rest).collect()
}
