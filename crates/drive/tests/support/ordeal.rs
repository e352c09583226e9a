//! Runs an experiment to its end under audit and reports the fault, if there was one.

use drive::array::{ArrayRun, Drives};
use drive::check::check;
use drive::experiment::{StarvationConfig, Then};
use drive::measure::Measured;
use drive::recovery::Outage;
use drive::requests::RequestLog;
use drive::starvation::Watch;
use drive::{Device, Experiment, OpKind, Run, RunError, load};
use engine::Span;
use ftl::{Ftl, Lpn, SetId};
use host::{HostError, WorkloadConfig};
use metrics::{Band, Holder, State};
use settings::Time;
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::panic::AssertUnwindSafe;
use std::path::Path;
use std::sync::Once;
use traces::Survey;

/// The end of an experiment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// All requests were completed.
    Completed(Box<Account>),
    /// `check` refused it, with these problems.
    Refused(String),
    /// Blocks wore out until the rest could not hold the data: no fault.
    WornOut,
    /// A trace cannot be read, for this reason.
    Untraceable(String),
    /// The run ended with an error of the user's, this one.
    Ended(String),
    /// It takes more memory than the bounds allow.
    TooLarge,
    /// It takes longer than the bounds allow.
    CutOff,
}

impl Outcome {
    /// Its name in reports.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Completed(_) => "completed",
            Self::Refused(_) => "refused",
            Self::WornOut => "worn out",
            Self::Untraceable(_) => "an unreadable trace",
            Self::Ended(_) => "ended with an error",
            Self::TooLarge => "accepted, too large to run",
            Self::CutOff => "accepted, run for a while",
        }
    }
}

/// Results of a run, as far as two runs of an experiment must agree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Account {
    pub digest: u64,
    pub events: u64,
    counters: drive::Counters,
    tally: ftl::Tally,
    erase_counts: Vec<u32>,
    /// Blame of each initiator's requests, by kind and latency.
    blame: Vec<String>,
    /// Power cuts and the recoveries from them.
    pub outages: Vec<Outage>,
}

impl Account {
    /// The results of a run that has ended.
    pub fn of(run: &Run) -> Self {
        let device = run.device();
        Self {
            digest: device.digest(),
            events: device.events(),
            counters: *device.counters(),
            tally: device.ftl().tally,
            erase_counts: device.ftl().erase_counts().to_vec(),
            blame: blames(run.measured()),
            outages: run.outages().to_vec(),
        }
    }
    /// The account of a run of several drives whose measuring has ended.
    pub fn of_array(run: &ArrayRun) -> Self {
        let devices = &run.drives().devices;
        let digests = devices.iter().map(|device| device.digest());
        let counts = devices.iter().flat_map(|device| device.ftl().erase_counts().to_vec());
        Self {
            digest: digests.fold(run.digest(), |sum, one| sum.rotate_left(1) ^ one),
            events: devices.iter().map(|device| device.events()).sum(),
            counters: run.measured().counters(),
            tally: devices.iter().map(|device| device.ftl().tally).sum(),
            erase_counts: counts.collect(),
            blame: blames(run.measured()),
            outages: Vec::new(),
        }
    }
    /// The blame of its requests, and the flash's work and wear, as text: without zeros, so that a
    /// new count that stays zero here does not change it.
    pub fn told(&self) -> [String; 2] {
        let mut work = String::new();
        for kind in OpKind::ALL {
            for holder in Holder::ALL {
                let count =
                    (self.counters.commands(kind, holder), self.counters.planes(kind, holder));
                if count != (0, 0) {
                    work += &format!("{} {} {count:?}\n", kind.name(), holder.name());
                }
            }
        }
        let (counters, tally) = (&self.counters, &self.tally);
        let counted = [
            ("collections", counters.collections),
            ("collecting", counters.collecting.as_ns()),
            ("longest", counters.longest_collection.as_ns()),
            ("streamed", counters.streamed),
            ("suspensions", counters.suspensions),
            ("program suspensions", counters.program_suspensions),
            ("deferrals", counters.deferrals),
            ("program deferrals", counters.program_deferrals),
            ("put offs", counters.put_offs),
            ("program put offs", counters.program_put_offs),
            ("ramps", counters.extra_ramps),
            ("pulses", counters.extra_pulses),
            ("erases", tally.erases),
            ("collected", tally.collected),
            ("moved", tally.moved),
            ("retired", tally.retired),
            ("migrations", tally.migrations),
        ];
        let units =
            tally.units.iter().enumerate().map(|(source, units)| (source.to_string(), *units));
        let all = counted.into_iter().map(|(name, count)| (name.to_owned(), count)).chain(units);
        for (name, count) in all.filter(|(_, count)| *count > 0) {
            work += &format!("{name} {count}\n");
        }
        work += &format!("{:?}\n", self.erase_counts);
        for outage in &self.outages {
            let Outage { at, took, units, saved_units, lost_requests, .. } = outage;
            work += &format!("{at:?} {took:?} {units} {saved_units} {lost_requests}\n");
        }
        [self.blame.join("\n"), work]
    }
}

/// The blame of each initiator's requests, by kind and latency.
fn blames(measured: &Measured) -> Vec<String> {
    let blame = measured.kinds().map(|(name, kind, stats)| {
        let bands: Vec<String> = stats.bands.iter().map(told_of).collect();
        format!("{name} {kind:?} {bands:?}")
    });
    blame.collect()
}

/// Charges of requests of about the same latency, by the names of states, so that a new state
/// changes nothing if it is not in use.
fn told_of((from, to, band): (u64, u64, &Band)) -> String {
    let charged = State::ALL.iter().zip(band.blame_ns).filter(|(_, ns)| *ns > 0);
    let mut charged: Vec<String> =
        charged.map(|(state, ns)| format!("{} {ns}", state.name())).collect();
    charged.sort();
    format!("{from} {to} {} {charged:?}", band.requests)
}

/// Bounds on a run.
#[derive(Clone, Copy)]
pub struct Bounds {
    /// Events after which a run ends: as a fault, or cut off.
    events: u64,
    /// Slices of preconditioning after which it ends.
    slices: u32,
    /// Bytes that a run may take; a drive that takes more is not made.
    memory: u64,
}

impl Bounds {
    /// A whole run. If scrubbing goes on all the time between rare requests, it handles a few
    /// million events.
    pub const WHOLE: Self = Self { events: 15_000_000, slices: u32::MAX, memory: u64::MAX };
    /// A short run of an unknown drive.
    pub const SHORT: Self = Self { events: 60_000, slices: 3, memory: 64 << 20 };

    const fn is_whole(self) -> bool {
        self.slices == u32::MAX
    }
}

/// Runs the experiment of `text` with the device's short cuts and without; its files are in
/// `folder`. Also returns the number of operations of collection that another one turned into.
///
/// # Errors
/// The first fault, including a panic, as of the auditor and of the blame.
pub fn run_both_ways(text: &str, folder: &Path) -> Result<(Outcome, u64), String> {
    let (outcome, turned) = judged(|| attempt(text, folder, true))?;
    let (otherwise, _) = judged(|| attempt(text, folder, false))?;
    if outcome != otherwise {
        return Err("a run without short ways ends otherwise".into());
    }
    Ok((outcome, turned))
}

thread_local! {
    /// True while this thread's panics are recorded, and the message of the last one.
    static SAID: RefCell<(bool, String)> = const { RefCell::new((false, String::new())) };
}

/// Calls `run`; a panic becomes an error with its position.
///
/// # Errors
/// As `run`, or if it panicked.
pub fn judged<T>(run: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
    static LISTEN: Once = Once::new();
    LISTEN.call_once(|| {
        let usual = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            let (listens, _) = SAID.take();
            match listens {
                true => SAID.set((true, panic.to_string())),
                false => usual(panic),
            }
        }));
    });
    SAID.set((true, String::new()));
    let result = std::panic::catch_unwind(AssertUnwindSafe(run));
    let (_, said) = SAID.take();
    result.unwrap_or(Err(said))
}

fn attempt(text: &str, folder: &Path, short_ways: bool) -> Result<(Outcome, u64), String> {
    match load::load(text, "case.toml", &[]) {
        Err(problems) => Ok((Outcome::Refused(problems.to_string()), 0)),
        Ok((experiment, _)) => run(&experiment, folder, short_ways, Bounds::WHOLE),
    }
}

/// Runs an experiment under audit, with or without the device's short cuts.
///
/// # Errors
/// The first fault.
pub fn run(
    experiment: &Experiment,
    folder: &Path,
    short_ways: bool,
    bounds: Bounds,
) -> Result<(Outcome, u64), String> {
    let mut experiment = experiment.clone();
    experiment.run.audit = true;
    if !short_ways && experiment.run.starvation.is_none() && experiment.array.is_none() {
        experiment.run.starvation = Some(reported(&experiment));
    }
    if !short_ways && let Some(windows) = &mut experiment.drive.ftl.windows {
        // Warnings must change nothing, so one of the two runs gives none.
        (windows.reads_threshold, windows.writes_threshold) = (None, None);
        windows.time_threshold = None;
    }
    for trace in experiment.workload.iter_mut().filter_map(|workload| workload.trace.as_mut()) {
        trace.file = folder.join(&trace.file);
    }
    let capacity = match check(&experiment) {
        Ok(checked) if checked.memory.total() > bounds.memory => return Ok((Outcome::TooLarge, 0)),
        // With the audit, it may be too large for this machine.
        Err(_) if !bounds.is_whole() => return Ok((Outcome::TooLarge, 0)),
        Ok(checked) => checked.layout.exported_bytes(),
        Err(problems) => return Err(format!("audited, it is refused: {problems}")),
    };
    match surveyed(&experiment, capacity)? {
        Ok(surveys) if experiment.array.is_some() => {
            let outcome = run_array(&experiment, &surveys, short_ways, bounds);
            outcome.map(|outcome| (outcome, 0))
        }
        Ok(surveys) => run_checked(&experiment, &surveys, short_ways, bounds),
        Err(outcome) => Ok((outcome, 0)),
    }
}

/// Reports requests that starve. This must change nothing, so one of the two runs does it.
fn reported(experiment: &Experiment) -> StarvationConfig {
    let limits = [Span::from_ns(1), Span::from_us(300), Span::from_ms(2), Span::from_ms(20)];
    let limit = limits[(experiment.seed % limits.len() as u64) as usize];
    StarvationConfig { limit: Time::from(limit), then: Then::Report }
}

/// Checks that the state of a run's oldest request can be found at any moment.
fn look_at_oldest(run: &mut Run) -> Result<(), String> {
    let Some(oldest) = run.starvation().and_then(Watch::oldest) else { return Ok(()) };
    let device = run.device_mut();
    // For hundreds of thousands of operations this takes longer than many a case.
    if device.most_operations() > 50_000 {
        return Ok(());
    }
    let blamed = device.blame_so_far(oldest).total();
    let standings = device.standings(oldest);
    if !device.is_stuck() && standings.iter().any(|one| one.words.starts_with("nothing is")) {
        return Err(format!("nothing is known of {oldest:?}, blamed for {blamed}: {standings:?}"));
    }
    Ok(())
}

/// Asks for the estimates of all windows. This must change nothing that the drive does, so one of the
/// two runs does it.
fn ask_for_estimates(device: &mut Device) {
    if device.has_windows() {
        let sets = (0..device.ftl().layout.set_count()).map(SetId);
        sets.for_each(|set| _ = device.window_estimates(set));
    }
}

/// The surveys of all traces, or the end of the experiment without them.
fn surveyed(
    experiment: &Experiment,
    capacity: u64,
) -> Result<Result<Vec<Option<Survey>>, Outcome>, String> {
    let mut surveys = Vec::new();
    for workload in &experiment.workload {
        let survey = match workload.survey() {
            Ok(survey) => survey,
            Err(error) => return Ok(Err(of_trace(workload, error)?)),
        };
        if let Some(survey) = &survey
            && let Some(error) = workload.trace_faults(survey, capacity).pop()
        {
            return Ok(Err(of_trace(workload, error)?));
        }
        surveys.push(survey);
    }
    Ok(Ok(surveys))
}

fn of_trace(workload: &WorkloadConfig, error: HostError) -> Result<Outcome, String> {
    let said = error.to_string();
    let file = workload.trace.as_ref().and_then(|trace| trace.file.file_name());
    let file = file.map_or(String::new(), |name| name.to_string_lossy().into_owned());
    match error {
        HostError::Config(_) => Ok(Outcome::Refused(said)),
        HostError::Trace(_) if !said.contains(&file) => {
            Err(format!("an error that does not name {file}: {said}"))
        }
        HostError::Trace(_) => Ok(Outcome::Untraceable(said)),
    }
}

fn run_checked(
    experiment: &Experiment,
    surveys: &[Option<Survey>],
    short_ways: bool,
    bounds: Bounds,
) -> Result<(Outcome, u64), String> {
    let mut slices = 0;
    let mut ongoing = |_| {
        slices += 1;
        slices < bounds.slices
    };
    let mut run = match Run::new(experiment, surveys, &mut ongoing) {
        Ok(Some(run)) => run,
        Ok(None) => return Ok((Outcome::CutOff, 0)),
        // Blocks may have worn out during preconditioning, unseen.
        Err(RunError::NoSpace(_)) if wears(experiment) => return Ok((Outcome::WornOut, 0)),
        Err(error) => return ended(error, experiment).map(|outcome| (outcome, 0)),
    };
    // The log must change nothing, so one of the two runs has it.
    match short_ways {
        true => run.log_requests(),
        false => run.device_mut().forgo_short_ways(),
    }
    let mut logged = Logged::default();
    let mut events = 0;
    let slice = if short_ways { 1 << 14 } else { 1 << 9 };
    loop {
        match run.advance(slice) {
            Ok(true) => {}
            Ok(false) => break,
            Err(RunError::Stuck { .. }) if is_worn(run.device().ftl(), experiment) => {
                return Ok((Outcome::WornOut, run.device().chained()));
            }
            Err(error) => return ended(error, experiment).map(|outcome| (outcome, 0)),
        }
        logged.take(run.request_log())?;
        look_at_oldest(&mut run)?;
        if !short_ways {
            ask_for_estimates(run.device_mut());
        }
        events += slice;
        if events > bounds.events && !bounds.is_whole() {
            return Ok((Outcome::CutOff, run.device().chained()));
        }
        if events > bounds.events {
            return Err(format!("no end after {events} events, {} requests", run.issued()));
        }
    }
    logged.take(run.request_log())?;
    run.finish();
    account_for_all(&run)?;
    let counted: u64 = run.measured().kinds().map(|(_, _, stats)| stats.latency.count()).sum();
    if short_ways {
        logged.has_all(counted)?;
    }
    if let Some(expected) = expected(experiment, surveys)
        && run.issued() != expected
    {
        return Err(format!("{} requests of {expected} in traces are issued", run.issued()));
    }
    let account = Account::of(&run);
    let chained = run.device().chained();
    if short_ways && bounds.is_whole() {
        restart(run, experiment, surveys)?;
    }
    Ok((Outcome::Completed(Box::new(account)), chained))
}

/// Runs several drives under audit.
fn run_array(
    experiment: &Experiment,
    surveys: &[Option<Survey>],
    short_ways: bool,
    bounds: Bounds,
) -> Result<Outcome, String> {
    let mut slices = 0;
    let mut ongoing = |_| {
        slices += 1;
        slices < bounds.slices
    };
    let array = experiment.array.as_ref().expect("an array");
    let mut drives = match Drives::prepare(experiment, array, &mut ongoing) {
        Ok(Some(drives)) => drives,
        Ok(None) => return Ok(Outcome::CutOff),
        Err(RunError::NoSpace(_)) if wears(experiment) => return Ok(Outcome::WornOut),
        Err(error) => return ended(error, experiment),
    };
    if !short_ways {
        drives.devices.iter_mut().for_each(Device::forgo_short_ways);
    }
    let start = ArrayRun::start(experiment, surveys, drives);
    let mut run = start.map_err(|error| error.to_string())?;
    // The log must change nothing, so one of the two runs has it.
    if short_ways {
        run.log_requests();
    }
    let mut logged = Logged::default();
    let slice = if short_ways { 1 << 14 } else { 1 << 9 };
    let mut events = 0;
    loop {
        match run.advance(slice) {
            Ok(true) => {}
            Ok(false) => break,
            Err(RunError::Stuck { .. }) if is_any_worn(&run, experiment) => {
                return Ok(Outcome::WornOut);
            }
            Err(error) => return ended(error, experiment),
        }
        logged.take(run.request_log())?;
        if !short_ways {
            run.drives_mut().devices.iter_mut().for_each(ask_for_estimates);
        }
        events += slice;
        if events > bounds.events && !bounds.is_whole() {
            return Ok(Outcome::CutOff);
        }
        if events > bounds.events {
            return Err(format!("no end after {events} events, {} requests", run.issued()));
        }
    }
    logged.take(run.request_log())?;
    run.finish();
    let counted: u64 = run.measured().kinds().map(|(_, _, stats)| stats.latency.count()).sum();
    if short_ways {
        logged.has_all(counted)?;
    }
    if counted > run.issued() || run.drives().outstanding() > 0 {
        return Err(format!("{counted} completions of {} requests", run.issued()));
    }
    if experiment.run.warm_up.is_none() && counted < run.issued() {
        return Err(format!("{counted} completions of {} requests", run.issued()));
    }
    Ok(Outcome::Completed(Box::new(Account::of_array(&run))))
}

fn is_any_worn(run: &ArrayRun, experiment: &Experiment) -> bool {
    run.drives().devices.iter().any(|device| is_worn(device.ftl(), experiment))
}

/// Shuts the drive down and starts it again: its map is sound, it has data of the same units as the
/// drive, and its content can be read and overwritten.
fn restart(run: Run, experiment: &Experiment, surveys: &[Option<Survey>]) -> Result<(), String> {
    let worn = is_worn(run.device().ftl(), experiment);
    let device = run.device();
    if device.failures().next().is_some() {
        // A snapshot cannot keep failed flash.
        return match run.into_snapshot(experiment) {
            Ok(_) => Err("a drive with failed flash was saved".into()),
            Err(_) => Ok(()),
        };
    }
    let units = (0..device.ftl().layout.host_units).map(Lpn);
    let stored: Vec<Lpn> = units.filter(|lpn| device.has_data(*lpn)).collect();
    let snapshot = match run.into_snapshot(experiment) {
        Ok(snapshot) => snapshot,
        Err(_) if worn => return Ok(()),
        Err(error) => return Err(error.to_string()),
    };
    let firmware = snapshot.firmware().map_err(|error| error.to_string())?;
    firmware.audit()?;
    // Blocks may be lost while collection is completed.
    let worn = worn || is_worn(&firmware, experiment);
    let kept = (0..firmware.layout.host_units).map(Lpn);
    let kept: Vec<Lpn> = kept.filter(|lpn| firmware.lookup(*lpn).is_some()).collect();
    if kept != stored {
        let (kept, stored) = (kept.len(), stored.len());
        return Err(format!("shut down, the drive has {kept} units of data, before {stored}"));
    }
    let mut again = experiment.clone();
    again.run.requests = Some(again.run.requests.map_or(50, |most| most.min(50)));
    again.run.warm_up = None;
    // The drive was cloned before it ran.
    again.cloned = None;
    let prepared = drive::Prepared::new(&again, Some(&snapshot), &mut |_| true);
    let prepared = match prepared {
        // The rest of it is not enough for the thresholds.
        Err(RunError::Unfit(_)) if worn => return Ok(()),
        prepared => prepared.map_err(|error| error.to_string())?.expect("nobody ends it"),
    };
    let mut run = Run::start(&again, surveys, prepared).map_err(|error| error.to_string())?;
    loop {
        match run.advance(1 << 14) {
            Ok(true) => {}
            Ok(false) => return Ok(()),
            Err(RunError::Stuck { .. }) if is_worn(run.device().ftl(), experiment) => return Ok(()),
            Err(error) => return Err(format!("started again: {error}")),
        }
    }
}

/// The end of an experiment by an error: an allowed one, or a fault.
fn ended(error: RunError, experiment: &Experiment) -> Result<Outcome, String> {
    let said = error.to_string();
    match error {
        // Surveyed traces can be replayed, but stamps may run backwards by more than the reader
        // sorts, or repeat without end.
        RunError::Workload { .. } => Ok(Outcome::Ended(said)),
        RunError::Starved(_) if experiment.run.starvation.is_some() => Ok(Outcome::Ended(said)),
        RunError::Snapshot(_) if experiment.precondition.snapshot.is_some() => {
            Ok(Outcome::Ended(said))
        }
        RunError::Policy(_) if format!("{experiment:?}").contains("Python") => {
            Ok(Outcome::Ended(said))
        }
        _ => Err(said),
    }
}

/// Requests that a run issues if only traces and a number of requests end it.
fn expected(experiment: &Experiment, surveys: &[Option<Survey>]) -> Option<u64> {
    let run = &experiment.run;
    if run.time.is_some() || run.bytes.is_some() {
        return None;
    }
    let rows = experiment.workload.iter().zip(surveys).map(|(workload, survey)| {
        let trace = workload.trace.as_ref()?;
        let is_whole = workload.stop.is_none() && trace.devices.is_none();
        is_whole.then(|| Some(survey.as_ref()?.rows * trace.repeat.unwrap_or(1)))?
    });
    let rows: Option<u64> = rows.sum();
    Some(rows?.min(run.requests.unwrap_or(u64::MAX)))
}

/// Rows that were taken from the log of requests.
#[derive(Default)]
struct Logged {
    rows: u64,
    seen: BTreeSet<(u32, u64)>,
}

impl Logged {
    /// Empties the log. Checks that the blame of each request sums to its latency, and that none is
    /// there twice.
    fn take(&mut self, log: Option<&mut RequestLog>) -> Result<(), String> {
        let Some(log) = log else { return Ok(()) };
        let spent = State::ALL.map(|state| log.spent_ns(state));
        for (index, row) in log.rows().iter().enumerate() {
            let sum: u64 = spent.iter().map(|column| column[index]).sum();
            let latency = (row.finished - row.arrived).as_ns();
            if sum != latency {
                return Err(format!("{sum} ns of blame for {latency} ns: {row:?}"));
            }
            if !self.seen.insert((row.initiator, row.number)) {
                return Err(format!("twice in the log: {row:?}"));
            }
        }
        self.rows += log.rows().len() as u64;
        log.clear();
        Ok(())
    }

    /// Checks that it had as many requests as were counted.
    fn has_all(&self, counted: u64) -> Result<(), String> {
        match self.rows == counted {
            true => Ok(()),
            false => Err(format!("{} of {counted} requests are in the log", self.rows)),
        }
    }
}

/// True if blocks may be retired during a run.
fn wears(experiment: &Experiment) -> bool {
    experiment.drive.nand.endurance > 0
        || experiment.drive.ftl.bad_blocks.grown_per_erase.fraction() > 0.0
}

/// True if blocks were retired since the drive was new.
fn is_worn(ftl: &Ftl, experiment: &Experiment) -> bool {
    let new = Device::new(&experiment.drive, experiment.seed);
    wears(experiment) && ftl.tally.retired > new.ftl().tally.retired
}

/// Checks that counts add up: requests, and the blame of each kind.
fn account_for_all(run: &Run) -> Result<(), String> {
    if run.device().outstanding() > 0 {
        return Err(format!("{} requests never completed", run.device().outstanding()));
    }
    let mut counted = 0;
    for kind in run.measured().initiators().iter().flat_map(|initiator| &initiator.kinds) {
        let Some(stats) = kind else { continue };
        counted += stats.latency.count();
    }
    if counted > run.issued() {
        return Err(format!("{counted} completions of {} requests", run.issued()));
    }
    Ok(())
}
