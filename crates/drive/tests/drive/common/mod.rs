//! A bench for drives: experiments from a small complete drive with overrides, run completely
//! ([`run`]) or command by command ([`Bench`]). Every run also checks conservation: each request
//! completes once, blame and latencies sum to the same time, series to totals, and Little's law
//! holds to the nanosecond (on the bench, which sees every event, it is checked twice).

use drive::device::Cut;
use drive::device::RequestId;
use drive::recovery::Outage;
use drive::{Completion, Device, Experiment, OpKind, Run, load};
use engine::{Instant, Span, Streams};
use ftl::Source;
use host::{Command, Kind, Priority};
use metrics::{Holder, State, Values};
use std::collections::{BTreeMap, BTreeSet};

/// A complete drive of one plane that every override starts from: sense 25 us,
/// exactly 100 us for a page on the channel, program 200 us, erase 1.5 ms; no
/// link, firmware, decoding or early acknowledgement.
pub const DRIVE: &str = include_str!("drive.toml");

/// A dotted path and its value, as on a command line.
pub type Override = (&'static str, String);

/// The override of `path` with `value`.
pub fn set(path: &'static str, value: impl ToString) -> Override {
    (path, value.to_string())
}

/// The text of an experiment on [`DRIVE`], and its overrides: `text` has the workloads and the run;
/// paths without a table of their own are those of the drive. The audit is on unless an override
/// says otherwise.
pub fn configuration(text: &str, overrides: &[Override]) -> (String, Vec<(String, String)>) {
    let mut all: Vec<(String, String)> = Vec::new();
    let has = |key: &str| overrides.iter().any(|(path, _)| path.contains(key));
    if !has("over_provisioning") {
        all.push(("drive.ftl.over_provisioning.reserved".into(), "25 %".into()));
    }
    if !has("run.audit") {
        all.push(("run.audit".into(), "true".into()));
    }
    let outer =
        ["title", "run", "precondition", "clone", "seed", "record", "workload", "drive", "array"];
    for (path, value) in overrides {
        let first = path.split(['.', '[']).next().unwrap_or_default();
        let path =
            if outer.contains(&first) { (*path).to_owned() } else { format!("drive.{path}") };
        all.push((path, value.clone()));
    }
    (format!("{DRIVE}\n{text}"), all)
}

/// The experiment of a [`configuration`].
pub fn try_experiment(text: &str, overrides: &[Override]) -> Result<Experiment, String> {
    let (text, all) = configuration(text, overrides);
    load::load(&text, "test.toml", &all)
        .map(|(experiment, _)| experiment)
        .map_err(|problems| problems.to_string())
}

/// As [`try_experiment`], for a sound experiment.
pub fn experiment(text: &str, overrides: &[Override]) -> Experiment {
    try_experiment(text, overrides).unwrap_or_else(|problems| panic!("{problems}"))
}

// ---- whole runs -------------------------------------------------------------

/// Runs an experiment to its end and checks conservation.
pub fn run(experiment: &Experiment) -> Run {
    try_run(experiment).unwrap_or_else(|error| panic!("{error}"))
}

/// As [`run`], for an experiment that may fail.
pub fn try_run(experiment: &Experiment) -> Result<Run, String> {
    let surveys: Vec<_> =
        experiment.workload.iter().map(|w| w.survey()).collect::<Result<_, _>>().map_err(text)?;
    let mut run =
        Run::new(experiment, &surveys, &mut |_| true).map_err(text)?.expect("nobody interrupts it");
    let mut patience = Patience::default();
    while run.advance(1_000).map_err(text)? {
        patience.check(run.now());
    }
    run.finish();
    check_conserved(&run, experiment.run.warm_up.is_none());
    Ok(run)
}

/// Runs an experiment without stopping at events, for millions of requests, and checks
/// conservation.
pub fn run_fast(experiment: &Experiment) -> Run {
    let surveys: Vec<_> = experiment.workload.iter().map(|w| w.survey().expect("sound")).collect();
    let mut run = Run::new(experiment, &surveys, &mut |_| true)
        .unwrap_or_else(|error| panic!("{error}"))
        .expect("nobody interrupts it");
    while run.advance(1 << 20).unwrap_or_else(|error| panic!("{error}")) {}
    run.finish();
    check_conserved(&run, experiment.run.warm_up.is_none());
    run
}

/// The contents of `summary.json`.
pub fn summary_of(experiment: &Experiment) -> serde_json::Value {
    let checked = drive::check::check(experiment).expect("a sound experiment");
    let mut run = run(experiment);
    let surveys = vec![None; experiment.workload.len()];
    let outcome = drive::results::Outcome { host_cpu_seconds: 1.0, complete: true };
    drive::results::summary(&mut run, experiment, &checked, &surveys, outcome)
}

fn text(error: impl std::fmt::Display) -> String {
    error.to_string()
}

/// One kind of request of one initiator.
pub fn stats(run: &Run, initiator: usize, kind: Kind) -> &drive::measure::KindStats {
    let stats = run.measured().initiators()[initiator].kinds[kind.index()].as_deref();
    stats.unwrap_or_else(|| panic!("initiator {initiator} had no {}", kind.name()))
}

/// The mean latency of one kind in nanoseconds.
pub fn mean_ns(run: &Run, initiator: usize, kind: Kind) -> f64 {
    stats(run, initiator, kind).latency.mean().expect("there were requests")
}

/// The mean latency of all requests in nanoseconds.
pub fn kinds_mean_ns(run: &Run) -> f64 {
    let sum: u128 = kinds(run).map(|stats| stats.latency.sum_ns()).sum();
    sum as f64 / counted(run) as f64
}

/// Requests of all initiators and kinds that were counted.
pub fn counted(run: &Run) -> u64 {
    kinds(run).map(|stats| stats.latency.count()).sum()
}

fn kinds(run: &Run) -> impl Iterator<Item = &drive::measure::KindStats> {
    run.measured().initiators().iter().flat_map(|i| i.kinds.iter().flatten()).map(|kind| &**kind)
}

/// Checks the invariants of every run: all time is blamed, every request completes once,
/// outstanding requests sum to the latencies, series sum to totals, the work of the flash fits the
/// writes, and nothing is busy for longer than the run.
fn check_conserved(run: &Run, all_counted: bool) {
    for stats in kinds(run) {
        let blamed: u128 = stats.bands.total().iter().map(|ns| u128::from(*ns)).sum();
        assert_eq!(blamed, stats.latency.sum_ns(), "blame sums to latency");
    }
    assert_eq!(run.device().outstanding(), 0);
    let measured = run.measured();
    for share in measured.unit_utilisation().into_iter().chain(measured.channel_utilisation()) {
        assert!((0.0..=1.0).contains(&share), "busy for {share} of the time");
    }
    check_programs(run, all_counted);
    let tally = measured.tally();
    let collected = tally.collected * u64::from(run.device().ftl().layout.units_per_block());
    assert!(tally.moved <= collected && tally.collected <= tally.erases, "{tally:?}");
    if all_counted {
        let completed = run.issued() - run.lost_requests();
        assert_eq!(counted(run), completed, "every request completes exactly once");
        check_series(run);
    }
    check_little(run, all_counted);
}

/// Checks that the programmed units, by source or as padding, fill the batches of all programs. One
/// program of each bin (and lane of it) may have been under way when counting began, and one when it ended: it is
/// then a program, and no unit of it is on flash.
fn check_programs(run: &Run, all_counted: bool) {
    let (counters, tally) = (run.measured().counters(), run.measured().tally());
    let layout = &run.device().ftl().layout;
    let units: u64 = tally.units.iter().sum();
    assert_eq!(units % u64::from(layout.units_per_batch), 0, "programs are whole: {tally:?}");
    let batches = (units / u64::from(layout.units_per_batch)) as i64;
    let programs: u64 = [OpKind::Program, OpKind::CopyBack, OpKind::Modify]
        .into_iter()
        .flat_map(|kind| {
            let by = [Holder::HostProgram, Holder::Parity, Holder::Rebuild];
            let by = by.into_iter().chain([Holder::GcProgram, Holder::Scrub]);
            by.map(move |by| counters.commands(kind, by))
        })
        .sum();
    let under_way = programs as i64 - batches;
    // And one when the power was cut.
    let bins = i64::from(layout.bins * layout.lanes()) * (1 + run.outages().len() as i64);
    let least = if all_counted { 0 } else { -bins };
    assert!((least..=bins).contains(&under_way), "{programs} programs wrote {batches} batches");
}

/// Checks that sums over the time series are the totals.
fn check_series(run: &Run) {
    let measured = run.measured();
    let of = |kind: Kind| measured.initiators().iter().flat_map(move |i| &i.kinds[kind.index()]);
    let tally = measured.tally();
    for (name, total) in [
        ("reads", of(Kind::Read).map(|stats| u128::from(stats.latency.count())).sum()),
        ("writes", of(Kind::Write).map(|stats| u128::from(stats.latency.count())).sum()),
        ("read_bytes", of(Kind::Read).map(|stats| u128::from(stats.bytes)).sum()),
        ("write_bytes", of(Kind::Write).map(|stats| u128::from(stats.bytes)).sum()),
        ("read_latency_sum_ns", of(Kind::Read).map(|stats| stats.latency.sum_ns()).sum()),
        ("write_latency_sum_ns", of(Kind::Write).map(|stats| stats.latency.sum_ns()).sum()),
        ("host_units_programmed", tally.units[Source::Host as usize].into()),
        ("gc_units_programmed", tally.units[Source::Gc as usize].into()),
        ("padding_units_programmed", tally.units[Source::Padding as usize].into()),
        ("erases", tally.erases.into()),
    ] {
        assert_eq!(series_sum(run, name), total, "the series' {name} and their total");
    }
}

fn series_sum(run: &Run, name: &str) -> u128 {
    match run.measured().series().column(name) {
        Some(Values::U64(values)) => values.iter().map(|value| u128::from(*value)).sum(),
        other => panic!("no column {name}: {other:?}"),
    }
}

/// Checks Little's law to the nanosecond: the number of commands in the drive, which the auditor
/// integrates over time, and their waits before that, against the latencies that were measured one
/// by one.
fn check_little(run: &Run, all_counted: bool) {
    let Some((outstanding, queued)) = run.device().audited_outstanding_ns() else { return };
    if all_counted {
        let latency: u128 = kinds(run).map(|stats| stats.latency.sum_ns()).sum();
        let of_queue = |stats: &drive::measure::KindStats| {
            let total = stats.bands.total();
            u128::from(total[State::QueueDepth as usize] + total[State::PowerOff as usize])
        };
        assert_eq!(queued, kinds(run).map(of_queue).sum(), "waiting in the host");
        assert_eq!(outstanding, latency - queued, "Little's law");
        let span = run.measured().span().as_ns().max(1) as f64;
        let mean = (outstanding + queued) as f64 / span;
        let found = run.measured().mean_outstanding();
        assert!((found - mean).abs() <= 1e-12 * mean, "{found} outstanding, {mean} by integration");
        return;
    }
    // The series count the warm-up, too, but reads and writes only.
    let others = [Kind::Trim, Kind::WriteZeroes, Kind::Flush];
    if run
        .measured()
        .initiators()
        .iter()
        .any(|i| others.iter().any(|kind| i.kinds[kind.index()].is_some()))
    {
        return;
    }
    let latency = series_sum(run, "read_latency_sum_ns") + series_sum(run, "write_latency_sum_ns");
    assert_eq!(outstanding + queued, latency, "Little's law, warm-up included");
}

/// Fails a drive that repeats events at one moment without end.
#[derive(Default)]
struct Patience {
    since: Instant,
    steps: u32,
}

impl Patience {
    fn check(&mut self, now: Instant) {
        self.steps = if now > self.since { 0 } else { self.steps + 1 };
        self.since = now;
        assert!(self.steps < 100_000, "nothing moves on at {now:?}: the drive goes in circles");
    }
}

// ---- command by command -----------------------------------------------------

/// A command that has completed.
#[derive(Clone, Debug)]
pub struct Done {
    pub tag: u32,
    pub command: Command,
    pub arrived: u64,
    pub finished: u64,
    pub unmapped: u32,
    pub failed: u32,
    pub met: bool,
    pub blocked: bool,
    pub blame: Vec<(State, u64)>,
}

impl Done {
    /// Nanoseconds from arrival to answer.
    pub fn latency(&self) -> u64 {
        self.finished - self.arrived
    }
    /// Nanoseconds charged to `state`.
    pub fn of(&self, state: State) -> u64 {
        self.blame.iter().find(|(of, _)| *of == state).map_or(0, |(_, ns)| *ns)
    }
}

/// A drive on a bench: commands go in at chosen moments.
pub struct Bench {
    pub device: Device,
    done: Vec<Done>,
    /// Sum of their latencies.
    done_ns: u128,
    completions: Vec<Completion>,
    next_tag: u32,
    /// The command that was submitted last.
    last: RequestId,
    /// Tags of commands that were submitted and have not completed.
    outstanding: BTreeSet<u32>,
    /// Number of commands in the drive, integrated over time in nanoseconds.
    pub area_ns: u128,
    /// Waits of commands before they entered the drive.
    queued_ns: u128,
    /// By tag, the moments of arrival and submission of a command under way.
    came: BTreeMap<u32, [u64; 2]>,
    /// True if nothing was submitted and nothing happened since the last [`Bench::settle`].
    settled: bool,
}

/// Any workload, for experiments whose commands are submitted by the test.
pub const BY_HAND: &str =
    "[[workload]]\nname = \"by hand\"\nreads = \"50 %\"\nsize = \"512 B\"\n[run]\nrequests = 1\n";

impl Bench {
    /// A drive filled sequentially, audited.
    pub fn filled(overrides: &[Override]) -> Self {
        let mut overrides = overrides.to_vec();
        overrides.push(set("precondition.fill", "sequential"));
        Self::new(&overrides)
    }

    /// A drive as the overrides describe it, audited.
    pub fn new(overrides: &[Override]) -> Self {
        Self::of(&experiment(BY_HAND, overrides))
    }

    /// The drive of an experiment, audited.
    pub fn of(experiment: &Experiment) -> Self {
        Self::with(Device::new(&experiment.drive, experiment.seed), experiment)
    }

    /// A drive whose firmware was made by hand, preconditioned as an experiment says, audited.
    pub fn with(mut device: Device, experiment: &Experiment) -> Self {
        let choice = experiment.drive.ftl.allocation.choice;
        let streams = Streams::new(experiment.seed);
        drive::precondition::precondition(
            device.ftl_mut(),
            &experiment.precondition,
            choice,
            streams,
            &mut |_| true,
        )
        .expect("the drive has space")
        .expect("nobody interrupts it");
        device.firmware_changed();
        device.audit();
        let geometry = nand::Geometry::from(&experiment.drive.geometry);
        drive::failures::schedule(&experiment.run.failures, &geometry, &mut device);
        Self {
            device,
            done: Vec::new(),
            done_ns: 0,
            completions: Vec::new(),
            next_tag: 0,
            last: RequestId(0),
            outstanding: BTreeSet::new(),
            area_ns: 0,
            queued_ns: 0,
            came: BTreeMap::new(),
            settled: false,
        }
    }

    /// Cuts the power at `ns`; the drive is on again when it has recovered.
    pub fn cut_power(&mut self, ns: u64) -> Result<Outage, String> {
        self.until(ns);
        self.settled = false;
        let Cut { outage, lost } = self.device.cut_power()?;
        assert_eq!(lost.len(), self.outstanding.len(), "all that is under way is lost");
        for (tag, _) in lost {
            assert!(self.outstanding.remove(&tag), "{tag} is lost again");
            let [arrived, at] = self.came[&tag];
            self.area_ns -= u128::from(ns - at);
            self.queued_ns -= u128::from(at - arrived);
        }
        self.device.power_up(outage.at + outage.took);
        Ok(outage)
    }

    /// Lets time pass up to `ns`, which is not before now.
    pub fn until(&mut self, ns: u64) {
        let until = Instant::START + Span::from_ns(ns);
        while self.device.next_due().is_some_and(|due| due <= until) {
            self.step();
        }
        let outstanding = u128::from(self.device.outstanding());
        self.area_ns += outstanding * u128::from((until - self.device.now()).as_ns());
        self.device.advance(until);
    }

    /// Handles one event; returns true if there was one.
    pub fn step(&mut self) -> bool {
        let (before, outstanding) = (self.device.now(), self.device.outstanding());
        let stepped = self.device.step().is_some();
        self.settled &= !stepped;
        let passed = (self.device.now() - before).as_ns();
        self.area_ns += u128::from(outstanding) * u128::from(passed);
        self.collect();
        stepped
    }

    /// The commands that have completed so far.
    pub fn completed(&self) -> &[Done] {
        &self.done
    }

    /// Submits a command at `ns`; returns its tag.
    pub fn submit(&mut self, ns: u64, kind: Kind, offset: u64, bytes: u64) -> u32 {
        self.submit_as(ns, ns, Command { kind, offset, bytes }, Priority::Normal)
    }

    /// Submits a read at `ns` of a read recovery level; returns its tag.
    pub fn read_at_level(&mut self, ns: u64, level: u8, offset: u64, bytes: u64) -> u32 {
        let tag = self.submit(ns, Kind::Read, offset, bytes);
        self.device.read_at_level(self.last, level.try_into().expect("a level"));
        tag
    }

    /// Submits a command at `ns` for which the host waited since `arrived`; returns its tag.
    pub fn submit_as(
        &mut self,
        ns: u64,
        arrived: u64,
        command: Command,
        priority: Priority,
    ) -> u32 {
        self.until(ns);
        self.settled = false;
        let (at, arrived) = (Instant::from_ns(ns), Instant::from_ns(arrived));
        let tag = self.next_tag;
        self.next_tag += 1;
        self.outstanding.insert(tag);
        self.queued_ns += u128::from((at - arrived).as_ns());
        self.came.insert(tag, [arrived.as_ns(), ns]);
        self.last = self.device.submit(at, arrived, command, priority, tag);
        self.collect();
        tag
    }

    fn collect(&mut self) {
        while self.device.has_done() {
            self.device.take_done(&mut self.completions);
            for completion in self.completions.drain(..) {
                assert!(self.outstanding.remove(&completion.tag), "{completion:?} again");
                let blame = self.device.blame(completion.id).iter();
                let blame = blame.map(|(state, span)| (state, span.as_ns())).collect();
                let done = Done {
                    tag: completion.tag,
                    command: completion.command,
                    arrived: completion.arrived.as_ns(),
                    finished: completion.finished.as_ns(),
                    unmapped: completion.unmapped,
                    failed: completion.failed,
                    met: completion.met,
                    blocked: completion.blocked,
                    blame,
                };
                self.done_ns += u128::from(done.latency());
                self.done.push(done);
            }
        }
    }

    /// Lets everything end; returns the commands in the order of submission.
    pub fn finish(mut self) -> Vec<Done> {
        self.settle();
        self.done.sort_by_key(|done| done.tag);
        self.done
    }

    /// Lets everything end, so that the drive is idle; returns the moment.
    pub fn settle(&mut self) -> u64 {
        let mut patience = Patience::default();
        while self.step() {
            patience.check(self.device.now());
        }
        assert_eq!(self.device.outstanding(), 0, "stuck: {}", self.device.why_stuck());
        assert_eq!(self.area_ns + self.queued_ns, self.done_ns, "Little's law, by steps");
        let audited = self.device.audited_outstanding_ns();
        assert_eq!(audited, Some((self.area_ns, self.queued_ns)), "the auditor's integral");
        self.device.finish_audit().expect("the map is sound");
        self.settled = true;
        self.device.now().as_ns()
    }

    /// One command on the idle drive.
    pub fn alone(&mut self, kind: Kind, offset: u64, bytes: u64) -> Done {
        let now = if self.settled { self.device.now().as_ns() } else { self.settle() };
        let tag = self.submit(now, kind, offset, bytes);
        self.settle();
        self.done.iter().rfind(|done| done.tag == tag).expect("it completed").clone()
    }

    /// True if the command with tag `tag` has completed.
    pub fn is_done(&self, tag: u32) -> bool {
        !self.outstanding.contains(&tag)
    }
    /// The command with tag `tag`, which has completed.
    pub fn done(&self, tag: u32) -> &Done {
        self.done.iter().find(|done| done.tag == tag).expect("it completed")
    }
}

// ---- expectations -----------------------------------------------------------

/// A table of expected and measured figures, printed as it grows.
pub struct Table {
    bound: f64,
    missed: Vec<String>,
}

impl Table {
    /// A table whose figures may deviate by the share `bound`.
    pub fn new(title: &str, bound: f64) -> Self {
        println!("{title}, within {} %", bound * 100.0);
        println!("{:46} {:>14} {:>14} {:>10}", "", "expected", "measured", "deviation");
        Self { bound, missed: Vec::new() }
    }
    /// A figure that must agree.
    pub fn expect(&mut self, what: &str, expected: f64, measured: f64) {
        let deviation = self.context(what, expected, measured);
        if deviation.abs() > self.bound {
            self.missed.push(format!("{what}: expected {expected}, measured {measured}"));
        }
    }
    /// A figure that is only shown; returns its deviation.
    pub fn context(&mut self, what: &str, expected: f64, measured: f64) -> f64 {
        let deviation = if expected == measured { 0.0 } else { measured / expected - 1.0 };
        println!("{what:46} {expected:14.4} {measured:14.4} {:9.3} %", deviation * 100.0);
        deviation
    }
    /// Fails if a figure did not agree.
    pub fn end(self) {
        assert!(self.missed.is_empty(), "{}", self.missed.join("\n"));
    }
}

/// Nanoseconds for `bytes` with their share of a page's spare at `rate` bytes a
/// second, to the nearest; the arithmetic of a datasheet.
pub fn transfer_ns(bytes: u64, page: u64, spare: u64, rate: u64) -> u64 {
    let moved = u128::from(bytes) * u128::from(page + spare);
    let per = u128::from(page) * u128::from(rate);
    ((moved * 2_000_000_000 + per) / (2 * per)) as u64
}
