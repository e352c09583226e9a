//! The measurements of a run: latencies, blame and the slowest requests by initiator and kind, time
//! series, and the work of the flash.

mod observed;
mod requests;

pub use observed::{LEAST_TIME, Observed};
pub use requests::{InitiatorStats, KindStats, SlowRequest};

use crate::closed_loop::{ClosedLoop, Shares, Standstill};
use crate::device::{
    Completion, Counters, Device, ErrorCounters, PressureCounts, ScrubCounts, TaskCounts,
};
use crate::experiment::Experiment;
use crate::requests::RequestLog;
use engine::ids::Id;
use engine::{Instant, Span};
use ftl::{SetId, Tally};
use host::{Command, Kind};
use metrics::{Blame, Field, Merge, Number, Series, State};
use std::cmp::Reverse;

/// The state of the counters at a moment.
#[derive(Clone)]
pub struct Mark {
    at: Instant,
    counters: Counters,
    errors: Option<ErrorCounters>,
    scrub: Option<Vec<ScrubCounts>>,
    tasks: Option<Vec<TaskCounts>>,
    /// Outstanding programs by NVM set; empty without a limit.
    pressure: Vec<PressureCounts>,
    tally: Tally,
    /// Tally of each NVM set.
    tallies: Vec<Tally>,
    units: Vec<Span>,
    /// Time for which each unit erased, and read for hosts.
    erasing: Vec<Span>,
    reading: Vec<Span>,
    channels: Vec<Span>,
    held: Option<Vec<Span>>,
}

/// A drive, or the drives of an array together, as a measurement sees them apart from requests.
pub trait Measurable {
    /// The moment that it has reached.
    fn now(&self) -> Instant;
    /// Lets time pass up to `until`, which no event precedes.
    fn wait(&mut self, until: Instant);
    /// Begins a new maximum of the longest collection.
    fn begin_counting(&mut self);
    /// Units and erases so far.
    fn tally(&self) -> Tally;
    /// Free blocks.
    fn free_blocks(&self) -> u32;
    /// The state of its counters.
    fn mark(&mut self) -> Mark;
}

impl Measurable for Device {
    #[inline]
    fn now(&self) -> Instant {
        Self::now(self)
    }
    #[inline]
    fn wait(&mut self, until: Instant) {
        Self::wait(self, until);
    }
    fn begin_counting(&mut self) {
        Self::begin_counting(self);
    }
    #[inline]
    fn tally(&self) -> Tally {
        self.ftl().tally
    }
    #[inline]
    fn free_blocks(&self) -> u32 {
        self.ftl().free_blocks_in_all()
    }
    fn mark(&mut self) -> Mark {
        Mark {
            at: Self::now(self),
            counters: *self.counters(),
            errors: self.errors().cloned(),
            scrub: self.scrub_counts_of_sets(),
            tasks: self.task_counts(),
            pressure: (0..self.ftl().layout.set_count())
                .filter_map(|set| self.pressure_counts(SetId(set)))
                .collect(),
            tally: self.ftl().tally,
            tallies: (0..self.ftl().layout.set_count())
                .map(|set| self.ftl().tally_of(SetId(set)))
                .collect(),
            units: self.unit_busy(),
            erasing: self.unit_spent(State::UnitErase),
            reading: self.unit_spent(State::UnitHostRead),
            channels: self.channel_busy(),
            held: self.unit_held(),
        }
    }
}

impl Mark {
    /// The marks of two drives of an array at the same moment, as one: counts are sums, and units and
    /// NVM sets of the second follow those of the first. Drives of an array have none of the rest.
    pub fn beside(mut self, mut other: Self) -> Self {
        debug_assert!(self.errors.is_none() && self.scrub.is_none() && self.tasks.is_none());
        self.counters = self.counters.plus(&other.counters);
        self.tally = [self.tally, other.tally].into_iter().sum();
        self.tallies.append(&mut other.tallies);
        self.pressure.append(&mut other.pressure);
        self.units.append(&mut other.units);
        self.erasing.append(&mut other.erasing);
        self.reading.append(&mut other.reading);
        self.channels.append(&mut other.channels);
        self.held = self.held.zip(other.held).map(|(one, other)| [one, other].concat());
        self
    }
}

/// Counts of the present interval of the time series.
#[derive(Default)]
struct Interval {
    requests: [u64; 2],
    bytes: [u64; 2],
    latency_ns: [u64; 2],
    longest_ns: [u64; 2],
}

/// All measurements of a run.
pub struct Measured {
    initiators: Vec<InitiatorStats>,
    /// Number of slowest requests that are kept, for each initiator and kind.
    slowest: usize,
    series: Series,
    interval: Interval,
    interval_span: Span,
    interval_end: Instant,
    /// Readings since counting began.
    observed: Option<Observed>,
    /// The next end of an interval, or the next reading if it comes first.
    boundary: Instant,
    tally_before: Tally,
    warm_up_time: Instant,
    warm_up_requests: u64,
    completions: u64,
    /// The moment at which counting began; `None` during the warm-up.
    begin: Option<Mark>,
    end: Option<Mark>,
    in_flight_ns: u128,
    /// True if the warm-up was over before the end.
    is_warm: bool,
    /// Counted requests, if they are logged.
    pub log: Option<Box<RequestLog>>,
}

/// Rows of the time series before intervals are joined.
const ROWS: usize = 4096;

impl Measured {
    /// Nothing measured yet.
    pub fn new(experiment: &Experiment, names: Vec<String>, device: &mut impl Measurable) -> Self {
        let warm_up = experiment.run.warm_up.clone().unwrap_or_default();
        let span = experiment.record.interval.span();
        let fields = [
            Field::u64("reads", Merge::Sum),
            Field::u64("writes", Merge::Sum),
            Field::u64("read_bytes", Merge::Sum),
            Field::u64("write_bytes", Merge::Sum),
            Field::u64("read_latency_sum_ns", Merge::Sum),
            Field::u64("write_latency_sum_ns", Merge::Sum),
            Field::u64("read_latency_max_ns", Merge::Max),
            Field::u64("write_latency_max_ns", Merge::Max),
            Field::u64("host_units_programmed", Merge::Sum),
            Field::u64("gc_units_programmed", Merge::Sum),
            Field::u64("padding_units_programmed", Merge::Sum),
            Field::u64("scrub_units_programmed", Merge::Sum),
            Field::u64("summary_units_programmed", Merge::Sum),
            Field::u64("parity_units_programmed", Merge::Sum),
            Field::u64("rebuild_units_programmed", Merge::Sum),
            Field::u64("erases", Merge::Sum),
            Field::u64("free_blocks", Merge::Last),
        ];
        let mut measured = Self {
            initiators: names
                .into_iter()
                .map(|name| InitiatorStats { name, kinds: Default::default(), closed_loop: None })
                .collect(),
            slowest: experiment.record.slowest as usize,
            series: Series::new(Instant::START, ROWS, fields),
            interval: Interval::default(),
            interval_span: span,
            interval_end: Instant::START + span,
            observed: None,
            boundary: Instant::START + span,
            tally_before: device.tally(),
            warm_up_time: Instant::START + warm_up.time.map_or(Span::ZERO, |time| time.span()),
            warm_up_requests: warm_up.requests.unwrap_or(0),
            completions: 0,
            begin: None,
            end: None,
            in_flight_ns: 0,
            is_warm: false,
            log: None,
        };
        measured.begin_if_warm(Instant::START, device);
        measured
    }

    /// Begins counting if the warm-up ends by `due`, before the events that are due then. It takes
    /// the device to the end of the warm-up, because its ledgers are settled there.
    fn begin_if_warm(&mut self, due: Instant, device: &mut impl Measurable) {
        if due >= self.warm_up_time && self.completions >= self.warm_up_requests {
            device.wait(self.warm_up_time.max(device.now()));
            device.begin_counting();
            self.begin = Some(device.mark());
            let tally = device.tally();
            let mut observed = Observed::new(device.now(), &tally, &self.initiators);
            // Nothing happens between this moment and the event that is due.
            observed.take(due, &tally, &self.initiators);
            self.boundary = self.interval_end.min(observed.next_due());
            self.observed = Some(observed);
        }
    }

    /// Time advances to `due`: closes intervals and ends the warm-up on the way.
    #[inline]
    pub fn note_time(&mut self, due: Instant, device: &mut impl Measurable) {
        if due >= self.boundary {
            self.pass_boundary(due, device);
        }
        if self.begin.is_none() {
            self.begin_if_warm(due, device);
        }
    }

    /// The last moment until which nothing has to be noted before a request completes; the start if
    /// something has to be noted at once.
    #[inline]
    pub fn next_boundary(&self) -> Instant {
        let mut end = self.boundary;
        if self.begin.is_none() && self.completions >= self.warm_up_requests {
            end = end.min(self.warm_up_time);
        }
        if end == Instant::START { end } else { end - Span::from_ns(1) }
    }

    #[cold]
    fn pass_boundary(&mut self, due: Instant, device: &mut impl Measurable) {
        if due >= self.interval_end {
            self.close_intervals(due, device);
        }
        self.boundary = self.interval_end;
        if let Some(observed) = &mut self.observed {
            if due >= observed.next_due() {
                observed.take(due, &device.tally(), &self.initiators);
            }
            self.boundary = self.boundary.min(observed.next_due());
        }
    }

    fn close_intervals(&mut self, due: Instant, device: &mut impl Measurable) {
        self.append(self.interval_end, device);
        let quiet = (due - self.interval_end).as_ns() / self.interval_span.as_ns();
        self.series.append_quiet(quiet, self.interval_span, &self.row(device));
        self.interval_end += self.interval_span * (quiet + 1);
    }

    fn append(&mut self, end: Instant, device: &impl Measurable) {
        let row = self.row(device);
        self.tally_before = device.tally();
        self.interval = Interval::default();
        self.series.append(end, &row);
    }

    /// The counts of the present interval.
    fn row(&self, device: &impl Measurable) -> [Number; 17] {
        let tally = device.tally();
        let flash = tally.since(&self.tally_before);
        let interval = &self.interval;
        let free = device.free_blocks();
        [
            interval.requests[0].into(),
            interval.requests[1].into(),
            interval.bytes[0].into(),
            interval.bytes[1].into(),
            interval.latency_ns[0].into(),
            interval.latency_ns[1].into(),
            interval.longest_ns[0].into(),
            interval.longest_ns[1].into(),
            flash.units[0].into(),
            flash.units[1].into(),
            flash.units[2].into(),
            flash.units[3].into(),
            flash.units[4].into(),
            flash.units[5].into(),
            flash.units[6].into(),
            flash.erases.into(),
            u64::from(free).into(),
        ]
    }

    /// Counts a completed request.
    #[inline]
    pub fn record(&mut self, completion: &Completion, blame: &Blame) {
        self.completions += 1;
        let latency = completion.finished - completion.arrived;
        let kind = completion.command.kind;
        if let Kind::Read | Kind::Write = kind {
            let index = kind.index();
            self.interval.requests[index] += 1;
            self.interval.bytes[index] += completion.command.bytes;
            self.interval.latency_ns[index] += latency.as_ns();
            self.interval.longest_ns[index] = self.interval.longest_ns[index].max(latency.as_ns());
        }
        let Some(begin) = &self.begin else { return };
        if completion.arrived < begin.at {
            return;
        }
        self.in_flight_ns += u128::from(latency.as_ns());
        if blame.has_erase() {
            self.note_erase(completion, latency);
        }
        let stats = self.initiators[completion.tag as usize].kinds[kind.index()]
            .get_or_insert_with(|| Box::new(KindStats::new(self.slowest)));
        stats.latency.record(latency);
        stats.bytes += completion.command.bytes;
        stats.unmapped += u64::from(completion.unmapped);
        if completion.failed > 0 {
            stats.count_failed(completion.failed);
        }
        stats.bands.record(latency, blame);
        stats.slowest.offer(latency, || SlowRequest {
            initiator: completion.tag,
            command: completion.command,
            arrived: completion.arrived,
            blame: blame.iter().collect(),
        });
        if let Some(log) = &mut self.log {
            log.record(completion, blame);
        }
    }

    /// Begins to watch an initiator that asks in a closed loop.
    pub fn watch_closed_loop(&mut self, initiator: usize, closed_loop: ClosedLoop) {
        self.initiators[initiator].closed_loop = Some(Box::new(closed_loop));
    }

    /// Counts a request that waited for an erase, if it is a read of a closed loop.
    #[cold]
    #[inline(never)]
    fn note_erase(&mut self, completion: &Completion, latency: Span) {
        if let Some(closed_loop) = &mut self.initiators[completion.tag as usize].closed_loop
            && completion.command.kind == Kind::Read
        {
            closed_loop.note_erase(latency);
        }
    }

    /// Counts a standstill of an initiator's whole queue that ended with this answer, if it is counted.
    pub fn note_standstill(
        &mut self,
        completion: &Completion,
        (stood, is_behind_one): (Standstill, bool),
        blame: &Blame,
    ) {
        if self.counts(completion.arrived)
            && let Some(closed_loop) = &mut self.initiators[completion.tag as usize].closed_loop
        {
            closed_loop.note(stood, is_behind_one, blame);
        }
    }

    /// Counts, of completed requests that were recorded, those that met collection or waited for it.
    #[cold]
    pub fn count_met(&mut self, completions: &[Completion]) {
        let Some(begin) = &self.begin else { return };
        let is_counted = |of: &&Completion| of.met | of.blocked && of.arrived >= begin.at;
        for completion in completions.iter().filter(is_counted) {
            let kinds = &mut self.initiators[completion.tag as usize].kinds;
            let stats = kinds[completion.command.kind.index()].as_mut().expect("it was recorded");
            let latency = completion.finished - completion.arrived;
            stats.met += u64::from(completion.met);
            stats.blocked += u64::from(completion.blocked);
            stats.bands.count_met(latency, completion.met, completion.blocked);
        }
    }

    /// Counts a request that was carried out untimed.
    pub fn count_untimed(&mut self, initiator: usize, command: Command) {
        let stats = self.initiators[initiator].kinds[command.kind.index()]
            .get_or_insert_with(|| Box::new(KindStats::new(self.slowest)));
        stats.untimed += 1;
        stats.bytes += command.bytes;
    }

    /// Ends measuring at the device's present moment.
    pub fn finish(&mut self, device: &mut impl Measurable) {
        if self.end.is_some() {
            return;
        }
        let now = device.now();
        // An event at the very moment at which an interval ends counts in the next interval, which
        // has no length if the run ends at that moment, too.
        let has_counted = self.interval.requests != [0; 2] || device.tally() != self.tally_before;
        if now + self.interval_span > self.interval_end || has_counted {
            self.append(now, device);
        }
        if let Some(observed) = &mut self.observed {
            observed.finish(now, &device.tally(), &self.initiators);
        }
        self.end = Some(device.mark());
        self.is_warm = self.begin.is_some();
        if self.begin.is_none() {
            self.begin = self.end.clone();
        }
    }

    fn marks(&self) -> (&Mark, &Mark) {
        let missing = "measuring was finished";
        (self.begin.as_ref().expect(missing), self.end.as_ref().expect(missing))
    }

    /// Requests by initiator and kind.
    pub fn initiators(&self) -> &[InitiatorStats] {
        &self.initiators
    }
    /// The requests that occurred, with the initiator's name and their kind.
    pub fn kinds(&self) -> impl Iterator<Item = (&str, Kind, &KindStats)> {
        self.initiators.iter().flat_map(|of_one| {
            let kinds = Kind::ALL.into_iter().zip(&of_one.kinds);
            kinds.filter_map(|(kind, stats)| Some((of_one.name.as_str(), kind, &**stats.as_ref()?)))
        })
    }
    /// The slowest requests of each initiator and kind, all together slowest first.
    pub fn slowest(&self) -> Vec<(Span, SlowRequest)> {
        let kinds = self.initiators.iter().flat_map(|stats| stats.kinds.iter().flatten());
        let mut slowest: Vec<_> =
            kinds.flat_map(|of_kind| of_kind.slowest.clone().into_sorted()).collect();
        slowest.sort_by_key(|(latency, _)| Reverse(*latency));
        slowest
    }
    /// Readings since counting began; `None` if it never did.
    pub fn observed(&self) -> Option<&Observed> {
        self.observed.as_ref()
    }
    /// The time series.
    pub fn series(&self) -> &Series {
        &self.series
    }
    /// True if counting began before the end.
    pub fn is_warm(&self) -> bool {
        self.is_warm
    }
    /// True if a request that arrived at this moment is counted: the warm-up was over.
    pub fn counts(&self, arrived: Instant) -> bool {
        self.begin.as_ref().is_some_and(|begin| arrived >= begin.at)
    }
    /// The moment at which counting began.
    pub fn begun_at(&self) -> Instant {
        self.marks().0.at
    }
    /// Simulated time that was counted. Call [`Measured::finish`] before this method and the
    /// following ones.
    pub fn span(&self) -> Span {
        let (begin, end) = self.marks();
        end.at.saturating_since(begin.at)
    }
    /// Flash operations that were counted.
    pub fn counters(&self) -> Counters {
        let (begin, end) = self.marks();
        end.counters.since(&begin.counters)
    }
    /// Errors that were counted, if flash has any.
    pub fn errors(&self) -> Option<ErrorCounters> {
        let (begin, end) = self.marks();
        Some(end.errors.as_ref()?.since(begin.errors.as_ref()?))
    }
    /// Scrubbing that was counted by NVM set, if there is any.
    pub fn scrub(&self) -> Option<Vec<ScrubCounts>> {
        let (begin, end) = self.marks();
        let of_sets = end.scrub.iter().flatten().zip(begin.scrub.iter().flatten());
        end.scrub.as_ref().map(|_| of_sets.map(|(end, begin)| end.since(begin)).collect())
    }
    /// The firmware's tasks that were counted by NVM set, if their number is limited.
    pub fn tasks(&self) -> Option<Vec<TaskCounts>> {
        let (begin, end) = self.marks();
        let of_sets = end.tasks.iter().flatten().zip(begin.tasks.iter().flatten());
        end.tasks.as_ref().map(|_| of_sets.map(|(end, begin)| end.since(begin)).collect())
    }
    /// Programs of an NVM set that were counted, if the number of outstanding ones is limited.
    pub fn pressure(&self, set: SetId) -> Option<PressureCounts> {
        let (begin, end) = self.marks();
        let of = |mark: &Mark| mark.pressure.get(set.index()).copied();
        Some(of(end)?.since(&of(begin)?))
    }
    /// Units and erases that were counted.
    pub fn tally(&self) -> Tally {
        let (begin, end) = self.marks();
        end.tally.since(&begin.tally)
    }
    /// Units and erases of an NVM set that were counted.
    pub fn tally_of(&self, set: SetId) -> Tally {
        let (begin, end) = self.marks();
        end.tallies[set.index()].since(&begin.tallies[set.index()])
    }
    /// Share of the counted time that each unit was busy.
    pub fn unit_utilisation(&self) -> Vec<f64> {
        let (begin, end) = self.marks();
        utilisation(&begin.units, &end.units, self.span())
    }
    /// Shares of the counted time for which each unit erased, and read for hosts.
    pub fn unit_shares(&self) -> Vec<Shares> {
        let (begin, end) = self.marks();
        let erase = utilisation(&begin.erasing, &end.erasing, self.span());
        let read = utilisation(&begin.reading, &end.reading, self.span());
        erase.into_iter().zip(read).map(|(erase, read)| Shares { erase, read }).collect()
    }
    /// Share of the counted time for which collection held each unit, if that was recorded.
    pub fn unit_held(&self) -> Option<Vec<f64>> {
        let (begin, end) = self.marks();
        let (begin, end) = (begin.held.as_ref()?, end.held.as_ref()?);
        Some(utilisation(begin, end, self.span()))
    }
    /// Share of the counted time that each channel was busy.
    pub fn channel_utilisation(&self) -> Vec<f64> {
        let (begin, end) = self.marks();
        utilisation(&begin.channels, &end.channels, self.span())
    }
    /// Mean number of counted requests under way, by their latencies.
    pub fn mean_outstanding(&self) -> f64 {
        self.in_flight_ns as f64 / self.span().as_ns().max(1) as f64
    }
}

fn utilisation(begin: &[Span], end: &[Span], span: Span) -> Vec<f64> {
    let share =
        |(begin, end): (&Span, &Span)| (*end - *begin).as_ns() as f64 / span.as_ns().max(1) as f64;
    begin.iter().zip(end).map(share).collect()
}
