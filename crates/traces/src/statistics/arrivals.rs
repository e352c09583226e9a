//! Arrivals of requests: gaps, rates in windows, burstiness over scales of time.

use super::cascade::Cascade;
use super::counts::{Counts, Spread};
use super::fit;
use crate::units::greatest_divisor;
use serde::Serialize;

/// The shortest window, in nanoseconds.
const BASE_NS: u64 = 10_000;

/// Windows of 10 µs, 100 µs, … 100 s.
const DECADES: usize = 8;

/// Windows of 10 µs, 20 µs, 40 µs, … 168 s.
const DOUBLINGS: usize = 25;

/// Fewest windows of which a variance is taken.
const WINDOWS_MIN: u64 = 20;

/// Fewest scales through which a line is fitted.
const POINTS_MIN: usize = 4;

/// Arrivals of requests.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Arrivals {
    /// Requests over the time from the first stamp to the last; nothing if that is 0.
    pub requests_per_s: Option<f64>,
    /// Bytes over the same time.
    pub bytes_per_s: Option<f64>,
    /// The largest unit of time of which all stamps, counted from the first, are multiples.
    pub resolution_ns: u64,
    /// Share of requests that come with the stamp of the one before.
    pub simultaneous_share: f64,
    /// Gaps between requests; nothing for one request.
    pub gap_ns: Option<Spread>,
    /// Requests and bytes in windows that begin with the first stamp.
    pub windows: Vec<Window>,
    /// Self-similarity, if there are enough scales of time to estimate it.
    pub hurst: Option<Hurst>,
}

/// Requests and bytes in windows of one length.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Window {
    /// The length of a window.
    pub window_ns: u64,
    /// Windows that the trace covers in whole.
    pub windows: u64,
    /// Most requests in one, the last and partial window included.
    pub peak_requests: u64,
    /// Most bytes in one.
    pub peak_bytes: u64,
    /// Share of whole windows without a request; this and what follows for 20 windows or more.
    pub empty_share: Option<f64>,
    /// Standard deviation over mean of the requests in a whole window.
    pub cov: Option<f64>,
    /// Index of dispersion of counts: variance over mean. 1 for Poisson arrivals,
    /// 0 for even ones, more for bursts.
    pub dispersion: Option<f64>,
}

/// Hurst's exponent by the variance-time plot (Leland et al. 1994): half the slope
/// of the logarithm of the variance of counts over that of the window. 0.5 without
/// memory, towards 1 with bursts at every scale.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Hurst {
    /// The exponent.
    pub exponent: f64,
    /// R² of the line: how much of the plot is a line.
    pub r_squared: f64,
    /// The shortest window that was used.
    pub from_ns: u64,
    /// The longest.
    pub to_ns: u64,
}

/// Takes stamps in, counted from the first and in order.
pub(super) struct Watch {
    last_ns: u64,
    requests: u64,
    bytes: u64,
    simultaneous: u64,
    divisor: u64,
    gaps: Counts,
    base: Open,
    decades: Ladder,
    doublings: Ladder,
    pub cascade: Cascade,
}

/// A window that is still open.
#[derive(Clone, Copy, Default)]
struct Open {
    index: u64,
    requests: u64,
    bytes: u64,
}

/// Windows of several lengths, each so many times the one before.
struct Ladder {
    factor: u64,
    rungs: Vec<Rung>,
}

/// Statistics of windows of one length.
#[derive(Clone, Copy, Default)]
struct Rung {
    width_ns: u64,
    open: Open,
    /// Closed windows with requests, their requests and the squares of those.
    filled: u64,
    sum: u64,
    squares: u128,
    peak_requests: u64,
    peak_bytes: u64,
}

impl Watch {
    /// Watches stamps that are assumed to be multiples of `resolution_ns`.
    pub fn new(resolution_ns: u64) -> Self {
        Self {
            last_ns: 0,
            requests: 0,
            bytes: 0,
            simultaneous: 0,
            divisor: 0,
            gaps: Counts::new(),
            base: Open::default(),
            decades: Ladder::new(10, DECADES),
            doublings: Ladder::new(2, DOUBLINGS),
            cascade: Cascade::new(resolution_ns),
        }
    }

    /// Adds a request at this time after the first, not before the one added last.
    #[inline]
    pub fn add(&mut self, since_first_ns: u64, bytes: u64) {
        debug_assert!(since_first_ns >= self.last_ns, "stamps are put in order before");
        if self.requests > 0 {
            let gap = since_first_ns - self.last_ns;
            self.gaps.add(gap);
            self.simultaneous += u64::from(gap == 0);
        }
        if self.divisor != 1 && (self.divisor == 0 || !since_first_ns.is_multiple_of(self.divisor))
        {
            self.divisor = greatest_divisor(self.divisor, since_first_ns);
        }
        self.last_ns = since_first_ns;
        self.requests += 1;
        self.bytes += bytes;
        self.cascade.add(since_first_ns);
        let index = since_first_ns / BASE_NS;
        if index != self.base.index {
            self.decades.take(self.base);
            self.doublings.take(self.base);
            self.base = Open { index, requests: 0, bytes: 0 };
        }
        self.base.requests += 1;
        self.base.bytes += bytes;
    }

    /// The unit of time that all stamps so far are multiples of; 0 if all are alike.
    pub fn divisor_ns(&self) -> u64 {
        self.divisor
    }

    /// From the first stamp to the last.
    pub fn span_ns(&self) -> u64 {
        self.last_ns
    }

    pub fn finish(&mut self) -> Arrivals {
        self.decades.finish(self.base);
        self.doublings.finish(self.base);
        let seconds = self.last_ns as f64 / 1e9;
        let per_s = |count: u64| (seconds > 0.0).then(|| count as f64 / seconds);
        Arrivals {
            requests_per_s: per_s(self.requests),
            bytes_per_s: per_s(self.bytes),
            resolution_ns: self.divisor,
            simultaneous_share: self.simultaneous as f64 / self.requests.max(1) as f64,
            gap_ns: self.gaps.spread(),
            windows: self.windows(),
            hurst: self.hurst(),
        }
    }

    fn windows(&self) -> Vec<Window> {
        let tells = |rung: &&Rung| rung.width_ns >= self.divisor && rung.width_ns <= self.last_ns;
        self.decades.rungs.iter().filter(tells).map(|rung| rung.window(self.last_ns)).collect()
    }

    /// The line through the scales at which a window has at least one request on average.
    fn hurst(&self) -> Option<Hurst> {
        let gap = self.last_ns / self.requests.max(1);
        let least = gap.max(self.divisor.saturating_mul(2));
        let tells =
            |rung: &&Rung| rung.width_ns >= least && self.last_ns / rung.width_ns >= WINDOWS_MIN;
        let rungs: Vec<&Rung> = self.doublings.rungs.iter().filter(tells).collect();
        let points: Vec<(f64, f64)> = rungs
            .iter()
            .filter_map(|rung| {
                let (_, variance) = rung.moments(self.last_ns);
                (variance > 0.0).then(|| (libm::log(rung.width_ns as f64), libm::log(variance)))
            })
            .collect();
        if points.len() < POINTS_MIN || points.len() < rungs.len() {
            return None;
        }
        let line = fit::line(&points)?;
        let (exponent, r_squared) = (line.slope / 2.0, line.r_squared);
        let (from_ns, to_ns) = (rungs[0].width_ns, rungs[rungs.len() - 1].width_ns);
        Some(Hurst { exponent, r_squared, from_ns, to_ns })
    }
}

impl Ladder {
    fn new(factor: u64, length: usize) -> Self {
        let width = |step: usize| BASE_NS * factor.pow(step as u32);
        let rung = |step| Rung { width_ns: width(step), ..Rung::default() };
        Self { factor, rungs: (0..length).map(rung).collect() }
    }

    /// Adds an ended window of the shortest length, and ends longer ones with it.
    #[inline]
    fn take(&mut self, mut ended: Open) {
        self.rungs[0].close(ended);
        for rung in &mut self.rungs[1..] {
            let Some(closed) = rung.join(ended, self.factor) else { return };
            rung.close(closed);
            ended = closed;
        }
    }

    /// Ends the windows in which the trace ends: they count for peaks only.
    fn finish(&mut self, last: Open) {
        self.rungs[0].add_peak(last);
        let mut ended = vec![last];
        for rung in &mut self.rungs[1..] {
            let mut closed = Vec::new();
            for window in ended {
                closed.extend(rung.join(window, self.factor));
            }
            closed.iter().for_each(|window| rung.close(*window));
            rung.add_peak(rung.open);
            closed.push(rung.open);
            ended = closed;
        }
    }
}

impl Rung {
    /// Adds a shorter window; returns the window that this ends, if it does.
    #[inline]
    fn join(&mut self, shorter: Open, factor: u64) -> Option<Open> {
        let index = shorter.index / factor;
        if self.open.index == index {
            self.open.requests += shorter.requests;
            self.open.bytes += shorter.bytes;
            return None;
        }
        Some(std::mem::replace(&mut self.open, Open { index, ..shorter }))
    }

    #[inline]
    fn close(&mut self, window: Open) {
        self.filled += 1;
        self.sum += window.requests;
        self.squares += u128::from(window.requests) * u128::from(window.requests);
        self.add_peak(window);
    }

    #[inline]
    fn add_peak(&mut self, window: Open) {
        self.peak_requests = self.peak_requests.max(window.requests);
        self.peak_bytes = self.peak_bytes.max(window.bytes);
    }

    /// Mean and variance of the requests in a whole window of a trace of `span_ns`.
    fn moments(&self, span_ns: u64) -> (f64, f64) {
        let windows = (span_ns / self.width_ns) as f64;
        let mean = self.sum as f64 / windows;
        let spread = self.squares as f64 - mean * self.sum as f64;
        (mean, (spread / (windows - 1.0)).max(0.0))
    }

    fn window(&self, span_ns: u64) -> Window {
        let windows = span_ns / self.width_ns;
        let told = windows >= WINDOWS_MIN && self.sum > 0;
        let (mean, variance) = self.moments(span_ns);
        Window {
            window_ns: self.width_ns,
            windows,
            peak_requests: self.peak_requests,
            peak_bytes: self.peak_bytes,
            empty_share: told.then(|| 1.0 - self.filled as f64 / windows as f64),
            cov: told.then(|| libm::sqrt(variance) / mean),
            dispersion: told.then(|| variance / mean),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine::Streams;

    /// Requests in each whole window, counted one by one.
    fn counts(stamps: &[u64], width: u64) -> Vec<u64> {
        let mut counts = vec![0; (stamps[stamps.len() - 1] / width) as usize];
        for stamp in stamps {
            if let Some(count) = counts.get_mut((stamp / width) as usize) {
                *count += 1;
            }
        }
        counts
    }

    #[test]
    fn windows_are_those_of_a_plain_count() {
        for seed in floor::seeds(0, 30) {
            let mut stream = Streams::new(seed).stream("windows");
            let mut stamps = vec![0];
            for _ in 0..2_000 {
                let pause = if stream.chance(0.02) { 3e7 } else { 40_000.0 };
                stamps.push(stamps[stamps.len() - 1] + stream.exponential(pause) as u64);
            }
            let mut watch = Watch::new(1);
            stamps.iter().for_each(|stamp| watch.add(*stamp, 512));
            let found = watch.finish();
            assert!(found.windows.len() > 4, "seed {seed}");
            for window in &found.windows {
                let counts = counts(&stamps, window.window_ns);
                assert_eq!(window.windows, counts.len() as u64, "seed {seed}");
                let last = stamps[stamps.len() - 1] / window.window_ns;
                let in_last = stamps.iter().filter(|s| **s / window.window_ns == last).count();
                let peak = counts.iter().copied().max().unwrap_or(0).max(in_last as u64);
                assert_eq!(window.peak_requests, peak, "seed {seed}");
                assert_eq!(window.peak_bytes, peak * 512, "seed {seed}");
                let Some(dispersion) = window.dispersion else {
                    assert!(counts.len() < 20);
                    continue;
                };
                let n = counts.len() as f64;
                let mean = counts.iter().sum::<u64>() as f64 / n;
                let squares = counts.iter().map(|c| (*c as f64 - mean) * (*c as f64 - mean));
                let variance = squares.sum::<f64>() / (n - 1.0);
                let near = |a: f64, b: f64| (a - b).abs() <= 1e-9 * b.max(1.0);
                assert!(near(dispersion, variance / mean), "seed {seed}");
                assert!(near(window.cov.unwrap(), libm::sqrt(variance) / mean), "seed {seed}");
                let empty = counts.iter().filter(|count| **count == 0).count() as f64 / n;
                assert!(near(window.empty_share.unwrap(), empty), "seed {seed}");
            }
        }
    }

    #[test]
    fn poisson_arrivals_have_no_memory() {
        let mut stream = Streams::new(floor::seed(1)).stream("poisson");
        let mut watch = Watch::new(1);
        let mut now = 0;
        for _ in 0..200_000 {
            watch.add(now, 0);
            now += stream.exponential(50_000.0) as u64;
        }
        let found = watch.finish();
        assert!((found.gap_ns.unwrap().cov - 1.0).abs() < 0.02);
        for window in found.windows.iter().filter(|window| window.windows > 1_000) {
            // The variance of a variance: 2/n; four sigmas at 1000 windows.
            assert!((window.dispersion.unwrap() - 1.0).abs() < 0.18, "{window:?}");
        }
        // Scales with few windows spread the line by some hundredths.
        assert!((found.hurst.unwrap().exponent - 0.5).abs() < 0.06);
    }

    #[test]
    fn the_unit_of_time_is_the_greatest_common_divisor() {
        let mut watch = Watch::new(1);
        [0, 12_000, 30_000, 30_000].iter().for_each(|stamp| watch.add(*stamp, 1));
        let found = watch.finish();
        assert_eq!((found.resolution_ns, found.simultaneous_share), (6_000, 0.25));
        assert_eq!(found.requests_per_s, Some(4.0 / 30e-6));
    }
}
