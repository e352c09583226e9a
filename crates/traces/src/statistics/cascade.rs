//! Distribution of requests over time, from the whole trace down to a tick.
//!
//! Time is halved again and again. Of the requests in a window, some come in its first half and
//! the rest in its second. Only the imbalance of the halves is kept, by the length of the window
//! and the number of requests (a multiplicative cascade; Riedi et al. 1999 model traffic so). Few
//! requests in short windows give the gaps, many in long ones the bursts.
//!
//! The windows form a binary tree over the stamps, which is never built. The highest bit in which
//! two successive stamps differ tells which windows end between them. Windows with all requests
//! in one half are counted by the beginnings and ends of their series. So a request costs the
//! same however long the trace is.

use serde::{Deserialize, Serialize};

/// Bits of a tick: lengths of windows.
const LEVELS: usize = 64;

/// Classes of numbers of requests: 2, 3, 4 to 7, 8 to 15, …
const CLASSES: usize = 64;

/// Shares of the emptier half: up to 1/16, 2/16, … 8/16 of the requests.
pub(crate) const SHARES: usize = 8;

/// Windows of the profile at most.
const PROFILE: usize = 64;

/// Requests that a window of the profile has in the mean, at least: fewer would
/// tell when single ones came.
const PROFILE_REQUESTS: u64 = 16;

/// Requests over time, for a synthetic trace.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Shape {
    /// A tick: all stamps are multiples of it.
    pub tick_ns: u64,
    /// Ticks from the first request to the last.
    pub ticks: u64,
    /// The logarithm to base 2 of the ticks of a window of `profile`.
    pub profile_level: u32,
    /// Requests in each window of that length, from the first request on.
    pub profile: Vec<u64>,
    /// Imbalance of the halves of windows of 2^(level + 1) ticks.
    pub splits: Vec<Split>,
}

/// Windows of one length and a class of numbers of requests.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Split {
    /// A half is 2^level ticks long.
    pub level: u32,
    /// The class: 0 for 2 requests, 1 for 3, then n for 2^n to 2^(n+1) - 1.
    pub class: u32,
    /// Windows with all requests in one half.
    pub one_sided: u64,
    /// The others, by the share of the half with fewer: up to 1/16, … 8/16.
    pub shares: [u64; SHARES],
}

/// The class of a number of requests from 2 on.
#[inline]
pub(crate) fn class_of(requests: u64) -> usize {
    if requests < 4 { requests as usize - 2 } else { requests.ilog2() as usize }
}

/// Takes stamps in and counts how windows are shared out.
pub(crate) struct Cascade {
    tick_ns: u64,
    /// The tick of the request added last, and the number of requests in it.
    tick: u64,
    here: u64,
    /// First halves that wait for the second: the bit of the window and its requests, the longest
    /// window first.
    waiting: Vec<(u32, u64)>,
    shares: Vec<[u64; SHARES]>,
    /// Beginnings (added) and ends (subtracted) of series of one-sided windows, by class.
    one_sided: Vec<i64>,
    profile: Vec<u64>,
    profile_level: u32,
}

impl Cascade {
    pub fn new(tick_ns: u64) -> Self {
        Self {
            tick_ns: tick_ns.max(1),
            tick: 0,
            here: 0,
            waiting: Vec::new(),
            shares: vec![[0; SHARES]; LEVELS * CLASSES],
            one_sided: vec![0; (LEVELS + 1) * CLASSES],
            profile: vec![0; PROFILE],
            profile_level: 0,
        }
    }

    /// Adds a request at this time after the first, not before the one added last.
    #[inline]
    pub fn add(&mut self, since_first_ns: u64) {
        let tick = since_first_ns / self.tick_ns;
        self.add_to_profile(tick);
        if self.here == 0 {
            // The first that counts, which need not be the trace's first.
            (self.tick, self.here) = (tick, 1);
            return;
        }
        if tick == self.tick {
            self.here += 1;
            return;
        }
        let bit = (tick ^ self.tick).ilog2();
        let (level, requests) = self.close_below(bit);
        self.one_sided_between(level, bit, requests);
        self.waiting.push((bit, requests));
        (self.tick, self.here) = (tick, 1);
    }

    /// Ends all windows shorter than 2^(bit + 1); returns the number of requests left and the
    /// level of their window of 2^level.
    #[inline]
    fn close_below(&mut self, bit: u32) -> (u32, u64) {
        let (mut level, mut requests) = (0, self.here);
        while let Some((window, first)) = self.waiting.pop_if(|(window, _)| *window < bit) {
            self.one_sided_between(level, window, requests);
            self.shared_out(window, first, requests);
            (level, requests) = (window + 1, first + requests);
        }
        (level, requests)
    }

    /// Counts windows of bits `from..to` with all requests in one half.
    #[inline]
    fn one_sided_between(&mut self, from: u32, to: u32, requests: u64) {
        if requests >= 2 && from < to {
            let class = class_of(requests);
            self.one_sided[from as usize * CLASSES + class] += 1;
            self.one_sided[to as usize * CLASSES + class] -= 1;
        }
    }

    #[inline]
    fn shared_out(&mut self, level: u32, first: u64, second: u64) {
        let requests = first + second;
        let share = (u128::from(first.min(second)) * 16 / u128::from(requests)) as usize;
        self.shares[level as usize * CLASSES + class_of(requests)][share.min(SHARES - 1)] += 1;
    }

    #[inline]
    fn add_to_profile(&mut self, tick: u64) {
        while tick >> self.profile_level >= PROFILE as u64 {
            self.halve_profile();
        }
        self.profile[(tick >> self.profile_level) as usize] += 1;
    }

    #[cold]
    fn halve_profile(&mut self) {
        let joined: Vec<u64> = self.profile.chunks(2).map(|pair| pair.iter().sum()).collect();
        self.profile.fill(0);
        self.profile[..joined.len()].copy_from_slice(&joined);
        self.profile_level += 1;
    }

    /// The counts, without the windows that are longer than those of the profile or that the end
    /// of the trace has cut off.
    pub fn finish(&mut self) -> Shape {
        let total: u64 = self.profile.iter().sum();
        let last = self.tick;
        let windows = |level: u32| (last >> level) + 1;
        while self.profile_level < 63
            && windows(self.profile_level) > 1
            && total / windows(self.profile_level) < PROFILE_REQUESTS
        {
            self.halve_profile();
        }
        self.profile.truncate(windows(self.profile_level) as usize);
        Shape {
            tick_ns: self.tick_ns,
            ticks: self.tick,
            profile_level: self.profile_level,
            profile: std::mem::take(&mut self.profile),
            splits: self.splits(),
        }
    }

    fn splits(&self) -> Vec<Split> {
        let mut splits = Vec::new();
        let mut one_sided = [0i64; CLASSES];
        for level in 0..self.profile_level {
            for class in 0..CLASSES {
                let place = level as usize * CLASSES + class;
                one_sided[class] += self.one_sided[place];
                let (one_sided, shares) = (one_sided[class] as u64, self.shares[place]);
                if one_sided > 0 || shares != [0; SHARES] {
                    splits.push(Split { level, class: class as u32, one_sided, shares });
                }
            }
        }
        splits
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine::Streams;
    use std::collections::BTreeMap;

    type Table = BTreeMap<(u32, u32), (u64, [u64; SHARES])>;

    /// Counts of each window of each length, one by one.
    fn naive(ticks: &[u64], levels: u32) -> Table {
        let mut table = Table::new();
        for level in 0..levels {
            let mut windows: BTreeMap<u64, [u64; 2]> = BTreeMap::new();
            let last = ticks.last().unwrap() >> (level + 1);
            for tick in ticks.iter().filter(|tick| *tick >> (level + 1) != last) {
                windows.entry(tick >> (level + 1)).or_default()[(tick >> level & 1) as usize] += 1;
            }
            for [first, second] in windows.into_values().filter(|[a, b]| a + b >= 2) {
                let sum = first + second;
                let class = match sum {
                    2 => 0,
                    3 => 1,
                    _ => (0..64).rfind(|n| 1 << n <= sum).unwrap(),
                };
                let entry = table.entry((level, class)).or_default();
                match first.min(second) {
                    0 => entry.0 += 1,
                    fewer => entry.1[((fewer * 16 / sum) as usize).min(7)] += 1,
                }
            }
        }
        table
    }

    #[test]
    fn splits_are_those_of_every_window() {
        for seed in floor::seeds(0, 60) {
            let mut stream = Streams::new(seed).stream("cascade");
            let (spread, count) = (1 + stream.below(10), 1 + stream.below(400));
            // In every other trace the first that counts comes later.
            let mut tick = seed % 2 * stream.below(100);
            let ticks: Vec<u64> = std::iter::once(tick)
                .chain((0..count).map(|_| {
                    let bits = stream.below(spread);
                    tick += stream.below(1 << bits);
                    tick
                }))
                .collect();
            let mut cascade = Cascade::new(1_000);
            ticks.iter().for_each(|tick| cascade.add(tick * 1_000));
            let shape = cascade.finish();
            let table = shape.splits.iter();
            let table: Table =
                table.map(|s| ((s.level, s.class), (s.one_sided, s.shares))).collect();
            assert_eq!(table, naive(&ticks, shape.profile_level), "seed {seed}");
            assert_eq!(shape.profile.iter().sum::<u64>(), ticks.len() as u64, "seed {seed}");
            assert_eq!(shape.ticks, tick, "seed {seed}");
            assert!(shape.profile.len() <= PROFILE);
            let few = ticks.len() / shape.profile.len() < 16;
            assert!(!few || shape.profile.len() == 1, "seed {seed}");
        }
    }
}
