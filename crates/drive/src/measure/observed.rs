//! The course of what was counted: readings of the counters of requests and of the flash, from the
//! end of the warm-up on. They tell if figures are steady, and how far means can be trusted.

use super::requests::{InitiatorStats, KindStats};
use engine::{Instant, Span};
use ftl::{Source, Tally};
use host::Kind;
use metrics::{INTERVALS_MIN, Readings, Sums};

/// Time between two readings at first.
const WIDTH: Span = Span::from_ns(1 << 13);

/// Least time with as many intervals as a verdict needs.
pub const LEAST_TIME: Span = Span::from_ns(INTERVALS_MIN as u64 * WIDTH.as_ns());

/// Most readings: enough for a hundred cycles of ten readings.
const READINGS: usize = 1_024;

/// Most counters of all readings, 32 MiB. A run of very many initiators has fewer readings.
const COUNTERS: usize = 1 << 22;

/// Counters of the flash. Two counters follow for each initiator and kind of request: requests, and
/// the sum of their latencies.
const FLASH: usize = 4;
const HOST: usize = 0;
const MOVED: usize = 1;
const PROGRAMMED: usize = 2;
const ERASES: usize = 3;

/// Readings of what was counted.
#[derive(Clone, Debug)]
pub struct Observed {
    readings: Readings,
    /// The counters at the last reading.
    counters: Vec<u64>,
}

impl Observed {
    /// The first reading, at the moment at which counting begins.
    pub fn new(begin: Instant, tally: &Tally, initiators: &[InitiatorStats]) -> Self {
        let mut counters = Vec::new();
        read(&mut counters, tally, initiators);
        let most = (COUNTERS / counters.len()).clamp(64, READINGS);
        // A power of two, since readings are dropped by half.
        let most = 1 << most.ilog2();
        Self { readings: Readings::new(begin, WIDTH, most, &counters), counters }
    }

    /// The moment of the next reading.
    pub fn next_due(&self) -> Instant {
        self.readings.next_due()
    }

    /// Takes the readings that are due by `now`.
    pub fn take(&mut self, now: Instant, tally: &Tally, initiators: &[InitiatorStats]) {
        read(&mut self.counters, tally, initiators);
        self.readings.take(now, &self.counters);
    }

    /// Takes the last reading.
    pub fn finish(&mut self, now: Instant, tally: &Tally, initiators: &[InitiatorStats]) {
        read(&mut self.counters, tally, initiators);
        self.readings.finish(now, &self.counters);
    }

    /// Number of intervals between readings.
    pub fn intervals(&self) -> usize {
        self.readings.len()
    }
    /// The beginning of an interval, or the end of the last.
    pub fn moment(&self, interval: usize) -> Instant {
        self.readings.moment(interval)
    }

    /// Requests of an initiator and a kind, and their latencies in nanoseconds.
    pub fn requests(&self, initiator: usize, kind: Kind) -> Vec<Sums> {
        let counter = counter_of(initiator, kind);
        self.sums(&[counter + 1], &[counter])
    }

    /// Requests of all initiators, of these kinds.
    pub fn requests_of_all(&self, initiators: usize, kinds: &[Kind]) -> Vec<Sums> {
        let counts: Vec<usize> = (0..initiators)
            .flat_map(|initiator| kinds.iter().map(move |kind| counter_of(initiator, *kind)))
            .collect();
        let totals: Vec<usize> = counts.iter().map(|counter| counter + 1).collect();
        self.sums(&totals, &counts)
    }

    /// Reads and writes of all initiators.
    pub fn reads_and_writes(&self, initiators: usize) -> Vec<Sums> {
        self.requests_of_all(initiators, &[Kind::Read, Kind::Write])
    }

    /// Units programmed, by units of hosts.
    pub fn amplification(&self) -> Vec<Sums> {
        self.sums(&[PROGRAMMED], &[HOST])
    }

    /// Units programmed, but for those that collection moved.
    pub fn used(&self) -> Vec<f64> {
        let moved = self.readings.growth(MOVED);
        self.readings
            .growth(PROGRAMMED)
            .zip(moved)
            .map(|(all, moved)| (all - moved) as f64)
            .collect()
    }

    /// Growth of the free space in units; a block has `block` of them.
    pub fn growth(&self, block: u32) -> Vec<f64> {
        let programmed = self.readings.growth(PROGRAMMED);
        let erased = self.readings.growth(ERASES).map(|erases| (erases * u64::from(block)) as f64);
        erased.zip(programmed).map(|(erased, programmed)| erased - programmed as f64).collect()
    }

    /// Blocks erased in each interval.
    pub fn erases(&self) -> impl Iterator<Item = u64> + '_ {
        self.readings.growth(ERASES)
    }

    /// Blocks erased until a moment, and in all.
    pub fn erases_until(&self, moment: Instant) -> [u64; 2] {
        let until =
            (0..self.intervals()).take_while(|interval| self.moment(interval + 1) <= moment);
        let erases: Vec<u64> = self.erases().collect();
        [until.map(|interval| erases[interval]).sum(), erases.iter().sum()]
    }

    fn sums(&self, totals: &[usize], counts: &[usize]) -> Vec<Sums> {
        let mut sums = vec![Sums::default(); self.intervals()];
        for counter in totals {
            sums.iter_mut()
                .zip(self.readings.growth(*counter))
                .for_each(|(of, n)| of.total += n as f64);
        }
        for counter in counts {
            sums.iter_mut()
                .zip(self.readings.growth(*counter))
                .for_each(|(of, n)| of.count += n as f64);
        }
        sums
    }
}

fn counter_of(initiator: usize, kind: Kind) -> usize {
    FLASH + 2 * (initiator * Kind::ALL.len() + kind.index())
}

/// Reads the counters.
fn read(counters: &mut Vec<u64>, tally: &Tally, initiators: &[InitiatorStats]) {
    counters.clear();
    counters.resize(FLASH, 0);
    counters[HOST] = tally.units[Source::Host as usize];
    counters[MOVED] = tally.units[Source::Gc as usize];
    counters[PROGRAMMED] = tally.units.iter().sum();
    counters[ERASES] = tally.erases;
    for kind in initiators.iter().flat_map(|stats| &stats.kinds) {
        // Sums of 2^64 ns take 584 years of waiting.
        let of = |of: &KindStats| [of.latency.count(), of.latency.sum_ns() as u64];
        counters.extend_from_slice(&kind.as_deref().map_or([0, 0], of));
    }
}
