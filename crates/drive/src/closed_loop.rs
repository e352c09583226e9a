//! Closed loops: how long their whole queues stood still, and the slow reads that they therefore lack.
//!
//! A host that keeps *n* requests outstanding asks for nothing while all of them wait for one erase. One
//! that does not wait for its answers would go on asking, and its requests would wait, too. So the
//! reads of a closed loop meet fewer erases than there are (coordinated omission [HDR]), while those of
//! Poisson arrivals meet them as often as they last [WOLFF]: docs/open-and-closed-loops.md.

use engine::Span;
use metrics::{Blame, Latency, STATES};

/// The shortest standstill that counts.
pub const LEAST: Span = Span::from_us(100);

/// Times in which nothing of a queue went on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stood {
    /// Number of standstills.
    pub count: u64,
    /// Sum of their lengths.
    pub time: Span,
    /// Length of the longest one.
    pub longest: Span,
}

impl Stood {
    fn add(&mut self, lasted: Span) {
        self.count += 1;
        self.time += lasted;
        self.longest = self.longest.max(lasted);
    }
}

/// A time in which the whole queue of a closed loop waited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Standstill {
    /// Its length.
    pub lasted: Span,
    /// True if the request whose answer ended it waited for flash all the time.
    pub is_on_flash: bool,
}

impl Standstill {
    /// The standstill before an answer, if no other came for so long and all requests were outstanding:
    /// this time without the service of the request that is answered. `None` if it does not count.
    pub fn of(pause: Span, blame: &Blame) -> Option<Self> {
        let service = blame.service();
        let lasted = pause.checked_sub(service)?.min(blame.total() - service);
        let is_on_flash = blame.on_flash() >= lasted;
        (lasted >= LEAST).then_some(Self { lasted, is_on_flash })
    }
}

/// An initiator that keeps a number of requests outstanding.
#[derive(Clone, Debug)]
pub struct ClosedLoop {
    /// Requests that it keeps outstanding.
    pub depth: u32,
    /// The NVM set that it uses, if it uses one.
    pub set: Option<ftl::SetId>,
    /// Standstills of its whole queue.
    pub all: Stood,
    /// Standstills in which all requests were reads that waited for the same group of flash units.
    pub behind_one: Stood,
    /// Time of the latter, by what the first request to be answered waited for.
    pub waits_ns: [u64; STATES],
    /// Latencies of reads that waited for an erase, or for its suspension.
    erases: Option<Latency>,
}

impl ClosedLoop {
    /// Nothing has happened yet.
    pub fn new(depth: u32, set: Option<ftl::SetId>) -> Self {
        Self {
            depth,
            set,
            all: Stood::default(),
            behind_one: Stood::default(),
            waits_ns: [0; STATES],
            erases: None,
        }
    }

    /// Counts a standstill; `blame` is that of the request whose answer ended it.
    pub fn note(&mut self, stood: Standstill, is_behind_one: bool, blame: &Blame) {
        self.all.add(stood.lasted);
        if !is_behind_one {
            return;
        }
        self.behind_one.add(stood.lasted);
        // The request may have waited before the others joined it: each of its waits keeps its share.
        let (lasted, waited) = (stood.lasted.as_ns(), blame.on_flash().as_ns());
        for (state, span) in blame.iter().filter(|(state, _)| state.is_on_flash()) {
            let ns = u128::from(lasted) * u128::from(span.as_ns()) / u128::from(waited);
            self.waits_ns[state as usize] += ns as u64;
        }
    }

    /// Counts a read that waited for an erase.
    pub fn note_erase(&mut self, latency: Span) {
        self.erases.get_or_insert_default().record(latency);
    }

    /// The reads of an open loop, from these and the times of the flash; `None` if the reads met as many
    /// erases as there were.
    pub fn corrected(&self, reads: &Latency, shares: Shares) -> Option<Corrected> {
        let erases = self.erases.as_ref()?;
        let met = erases.count() as f64 / reads.count() as f64;
        let expected = (shares.erase / (1.0 - shares.read).max(0.5)).min(1.0);
        (expected > met && erases.count() < reads.count())
            .then(|| Corrected::new(reads, erases, (met, expected)))
    }

    /// Share of the reads that waited for an erase.
    pub fn erases_met(&self, reads: &Latency) -> f64 {
        let met = self.erases.as_ref().map_or(0, Latency::count);
        met as f64 / reads.count().max(1) as f64
    }
}

/// Shares of time of the flash units that hosts read, each as often as they read it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shares {
    /// Share for which it erased.
    pub erase: f64,
    /// Share for which it read for hosts.
    pub read: f64,
}

impl Shares {
    /// From the shares of each unit; `None` if hosts read none of them.
    pub fn of_units(units: impl Iterator<Item = Self>) -> Option<Self> {
        let (mut all, mut erase, mut read) = (0.0, 0.0, 0.0);
        for unit in units {
            all += unit.read;
            erase += unit.read * unit.erase;
            read += unit.read * unit.read;
        }
        (all > 0.0).then(|| Self { erase: erase / all, read: read / all })
    }
}

/// Latencies of reads that meet as many erases as there are.
pub struct Corrected {
    /// Latencies of all reads and of those that waited for an erase, as numbers of reads above a value.
    all: Above,
    erases: Above,
    least: f64,
    /// Share of the reads that met an erase, and share of those that would have.
    met: f64,
    expected: f64,
}

impl Corrected {
    fn new(reads: &Latency, erases: &Latency, (met, expected): (f64, f64)) -> Self {
        let least = reads.min().map_or(0.0, |least| least.as_ns() as f64);
        Self { all: Above::new(reads), erases: Above::new(erases), least, met, expected }
    }

    /// Share of the reads that take longer. A read that met an erase stands for some that came after it
    /// and were not asked for. As in [HDR], they are spread evenly: their latencies fall from its own to the
    /// least.
    fn above(&self, ns: f64) -> f64 {
        let (all, erases) = (self.all.count as f64, self.erases.count as f64);
        let (above, of_erases) = (self.all.above(ns), self.erases.above(ns));
        let others = (above - of_erases) / (all - erases);
        let stands_for = self.expected / self.met;
        let spread = self.erases.spread(ns, self.least);
        let met = of_erases / erases / stands_for + (1.0 - 1.0 / stands_for) * spread;
        (1.0 - self.expected) * others + self.expected * met
    }

    /// The latency that a share of the reads does not exceed.
    pub fn percentile(&self, quantile: f64) -> Span {
        let (mut low, mut high) = (0, self.all.values.last().map_or(0, |(ns, _)| *ns));
        while low < high {
            let middle = low + (high - low) / 2;
            match self.above(middle as f64) > 1.0 - quantile {
                true => low = middle + 1,
                false => high = middle,
            }
        }
        Span::from_ns(low)
    }
}

/// Latencies, and the number of those at each.
struct Above {
    values: Vec<(u64, u64)>,
    count: u64,
}

impl Above {
    fn new(latency: &Latency) -> Self {
        let most = latency.max().map_or(0, Span::as_ns);
        let values = latency.buckets().map(|of| (of.high_ns.min(most), of.count)).collect();
        Self { values, count: latency.count() }
    }
    /// Number of those above a value.
    fn above(&self, ns: f64) -> f64 {
        let behind = self.values.partition_point(|(value, _)| *value as f64 <= ns);
        self.values[behind..].iter().map(|(_, count)| count).sum::<u64>() as f64
    }
    /// Share above a value if each is spread evenly between `least` and itself.
    fn spread(&self, ns: f64, least: f64) -> f64 {
        let share = |value: f64| match value > least {
            true => ((value - ns) / (value - least)).clamp(0.0, 1.0),
            false => 0.0,
        };
        let sum: f64 =
            self.values.iter().map(|(value, count)| share(*value as f64) * *count as f64).sum();
        sum / self.count as f64
    }
}

#[cfg(test)]
mod tests;
