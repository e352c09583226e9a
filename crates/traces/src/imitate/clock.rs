//! Stamps of a synthetic trace: requests are distributed over shorter and shorter windows like
//! those of the original trace (`statistics/cascade.rs`).

use super::deck::scaled;
use crate::statistics::cascade::{SHARES, class_of};
use crate::statistics::{Shape, Split};
use engine::Stream;

const CLASSES: usize = 64;

/// Stamps in order, in nanoseconds.
pub(super) struct Clock {
    tick_ns: u64,
    /// The last tick that may be used.
    last: u64,
    level: u32,
    /// Requests of the windows of the profile that are still to come, the next one last.
    windows: Vec<u64>,
    begun: u64,
    /// Windows that are being shared out, the next one last.
    open: Vec<Window>,
    /// By level and class.
    splits: Vec<Option<Split>>,
    stream: Stream,
}

#[derive(Clone, Copy)]
struct Window {
    begin: u64,
    level: u32,
    requests: u64,
}

impl Clock {
    /// `requests` stamps at the rates of the original trace. Fewer requests than the original had
    /// are taken from moments all over it; for more, its profile is repeated.
    pub fn new(shape: &Shape, requests: u64, stream: Stream) -> Self {
        let had: u64 = shape.profile.iter().sum();
        let length = shape.profile.len() as u64;
        let wanted = u128::from(length) * u128::from(requests) / u128::from(had.max(1));
        let wanted = (wanted as u64).max(1);
        let source = |window: u64| {
            if wanted < length { window * length / wanted } else { window % length }
        };
        let profile: Vec<u64> =
            (0..wanted).map(|window| shape.profile[source(window) as usize]).collect();
        let mut windows = scaled(&profile, requests);
        windows.reverse();
        let mut splits = vec![None; 64 * CLASSES];
        for split in &shape.splits {
            splits[split.level as usize * CLASSES + split.class as usize] = Some(split.clone());
        }
        // The last window of the profile is covered in part; so is that of the synthetic trace.
        let covered = shape.ticks - ((length - 1) << shape.profile_level);
        Self {
            tick_ns: shape.tick_ns,
            last: ((wanted - 1) << shape.profile_level) + covered,
            level: shape.profile_level,
            windows,
            begun: 0,
            open: Vec::new(),
            splits,
            stream,
        }
    }

    /// The next stamp; `None` after the last. A synthetic trace that repeats a trace of many
    /// years reaches the end of time (584 years) and stays there.
    pub fn next(&mut self) -> Option<u64> {
        loop {
            let Some(window) = self.open.last_mut() else {
                let requests = self.windows.pop()?;
                let begin = self.begun << self.level;
                self.begun += 1;
                self.open.push(Window { begin, level: self.level, requests });
                continue;
            };
            if window.requests == 0 {
                self.open.pop();
            } else if window.level == 0 {
                window.requests -= 1;
                return Some(window.begin.saturating_mul(self.tick_ns));
            } else if window.requests == 1 {
                let Window { begin, level, .. } = *window;
                self.open.pop();
                let ticks = (1 << level).min(self.last - begin + 1);
                return Some((begin + self.stream.below(ticks)).saturating_mul(self.tick_ns));
            } else {
                self.share_out();
            }
        }
    }

    fn share_out(&mut self) {
        let Window { begin, level, requests } = self.open.pop().expect("a window is open");
        let level = level - 1;
        let half = 1 << level;
        let first = if begin + half > self.last { requests } else { self.first(level, requests) };
        self.open.push(Window { begin: begin + half, level, requests: requests - first });
        self.open.push(Window { begin, level, requests: first });
    }

    /// Number of requests that come in the first half.
    fn first(&mut self, level: u32, requests: u64) -> u64 {
        let place = level as usize * CLASSES + class_of(requests);
        // No window like this was seen: an even split leads back to windows that were.
        let fewer = self.drawn(place, requests);
        if self.stream.chance(0.5) { fewer } else { requests - fewer }
    }

    fn drawn(&mut self, place: usize, requests: u64) -> u64 {
        let Some(split) = &self.splits[place] else { return requests / 2 };
        let all = split.one_sided + split.shares.iter().sum::<u64>();
        let Some(mut rank) = self.stream.below(all.max(1)).checked_sub(split.one_sided) else {
            return 0;
        };
        let mut share = 0;
        while share < SHARES - 1 && rank >= split.shares[share] {
            rank -= split.shares[share];
            share += 1;
        }
        let edge = |share: u64| (u128::from(requests) * u128::from(share)).div_ceil(16) as u64;
        let low = edge(share as u64).max(1);
        let high = if share == SHARES - 1 { requests / 2 } else { edge(share as u64 + 1) - 1 };
        let high = high.max(low).min((requests / 2).max(1));
        let low = low.min(high);
        low + self.stream.below(high - low + 1)
    }
}
