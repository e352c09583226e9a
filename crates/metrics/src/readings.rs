//! Readings of counters at equal distances of time, from the beginning of counting to the end of a
//! run whose length is not known in advance.
//!
//! Counters only grow, so a reading is a row of their present values, and the work of an interval
//! is the difference of two readings. Memory is bounded: when all places are taken, every second
//! reading is dropped, and from then on the distance is twice as long. So a run of any length has
//! between half of the places and all of them, and the time between readings is its own measure,
//! not one that a user has to choose.

use engine::{Instant, Span};

/// Readings of a fixed number of counters.
#[derive(Clone, Debug)]
pub struct Readings {
    begin: Instant,
    width: Span,
    /// The moment of the last reading, if it was not taken at a multiple of the distance.
    end: Option<Instant>,
    counters: usize,
    intervals_max: usize,
    /// All readings, one after the other; the first is that of the beginning.
    values: Vec<u64>,
}

impl Readings {
    /// The first reading, of `counters` at `begin`. The next is due `width` later, and there are
    /// at most `intervals_max` intervals.
    ///
    /// # Panics
    /// If `intervals_max` is odd or zero, since intervals are joined in pairs; if `width` is zero;
    /// without counters.
    pub fn new(begin: Instant, width: Span, intervals_max: usize, counters: &[u64]) -> Self {
        assert!(intervals_max > 0 && intervals_max.is_multiple_of(2), "intervals join in pairs");
        assert!(width > Span::ZERO && !counters.is_empty(), "readings take time and counters");
        let mut values = Vec::with_capacity((intervals_max + 1) * counters.len());
        values.extend_from_slice(counters);
        Self { begin, width, end: None, counters: counters.len(), intervals_max, values }
    }

    /// The moment at which the next reading is due.
    pub fn next_due(&self) -> Instant {
        self.begin + self.width * (self.len() as u64 + 1)
    }

    /// Takes all readings that are due until `now`. The counters have not changed since the first
    /// of them was due.
    pub fn take(&mut self, now: Instant, counters: &[u64]) {
        debug_assert_eq!(counters.len(), self.counters, "each reading has all counters");
        while self.next_due() <= now {
            if self.len() == self.intervals_max {
                self.join_pairs();
                continue;
            }
            self.values.extend_from_slice(counters);
        }
    }

    /// Takes the last reading, at the end of the run.
    pub fn finish(&mut self, now: Instant, counters: &[u64]) {
        self.take(now, counters);
        let last = self.begin + self.width * self.len() as u64;
        if now > last {
            self.values.extend_from_slice(counters);
            self.end = Some(now);
        } else {
            // What happened at the very end belongs to the last interval.
            let at = self.values.len() - self.counters;
            self.values[at..].copy_from_slice(counters);
        }
    }

    fn join_pairs(&mut self) {
        let kept = self.len() / 2 + 1;
        for at in 1..kept {
            let from = 2 * at * self.counters;
            self.values.copy_within(from..from + self.counters, at * self.counters);
        }
        self.values.truncate(kept * self.counters);
        self.width = self.width * 2;
    }

    /// Number of intervals.
    pub fn len(&self) -> usize {
        self.values.len() / self.counters - 1
    }

    /// True if there is no interval yet.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The beginning of an interval, or the end of the last one if there are so many.
    pub fn moment(&self, interval: usize) -> Instant {
        match self.end {
            Some(end) if interval >= self.len() => end,
            _ => self.begin + self.width * interval as u64,
        }
    }

    /// The growth of a counter in each interval.
    pub fn growth(&self, counter: usize) -> impl Iterator<Item = u64> + '_ {
        let of = move |at: usize| self.values[at * self.counters + counter];
        (0..self.len()).map(move |interval| of(interval + 1) - of(interval))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const BEGIN: Instant = Instant::from_ns(1_000);

    fn taken(readings: &Readings) -> Vec<(u64, u64)> {
        let moments = (1..=readings.len()).map(|interval| readings.moment(interval).as_ns());
        moments.zip(readings.growth(0)).collect()
    }

    proptest! {
        #![proptest_config(floor::cases!())]

        /// Events at some moments, each of which counts one; readings are those that a list of all
        /// events gives.
        #[test]
        fn each_interval_has_what_happened_in_it(
            half in 1usize..6,
            gaps in prop::collection::vec(0u64..400, 1..60),
        ) {
            let (mut readings, mut now, mut count) =
                (Readings::new(BEGIN, Span::from_ns(7), 2 * half, &[0]), BEGIN, 0);
            let mut moments = Vec::new();
            for gap in gaps {
                now += Span::from_ns(gap);
                readings.take(now, &[count]);
                count += 1;
                moments.push(now.as_ns());
            }
            readings.finish(now, &[count]);
            prop_assert!(readings.len() <= 2 * half + 1);
            let mut begin = BEGIN.as_ns();
            for (at, (end, growth)) in taken(&readings).into_iter().enumerate() {
                // An event at the end of an interval belongs to the next one, if there is one.
                let is_last = at + 1 == readings.len();
                let within = |m: &&u64| **m >= begin && (**m < end || is_last && **m == end);
                prop_assert_eq!(growth, moments.iter().filter(within).count() as u64);
                begin = end;
            }
            prop_assert_eq!(readings.growth(0).sum::<u64>(), count);
        }
    }

    #[test]
    fn a_long_run_has_half_of_the_places_or_more() {
        let mut readings = Readings::new(BEGIN, Span::from_ns(1), 1_024, &[0, 0]);
        // Years, of which nothing was read in between.
        readings.take(Instant::from_ns(1 << 57), &[3, 5]);
        assert!((512..=1_024).contains(&readings.len()), "{}", readings.len());
        let total = |counter| readings.growth(counter).sum::<u64>();
        assert_eq!((total(0), total(1)), (3, 5));
        // A reading of the present is that of the first moment that it was due.
        assert_eq!(readings.growth(1).next(), Some(5));
    }

    #[test]
    fn an_end_between_two_readings_is_a_shorter_interval() {
        let mut readings = Readings::new(BEGIN, Span::from_ns(10), 4, &[2]);
        readings.take(Instant::from_ns(1_010), &[5]);
        readings.finish(Instant::from_ns(1_013), &[6]);
        assert_eq!(taken(&readings), [(1_010, 3), (1_013, 1)]);
    }
}
