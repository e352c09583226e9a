//! A run: initiators on one side, the device on the other, and the measurements between them.

pub(crate) mod faults;
mod host_windows;
pub(crate) mod initiator;
mod intake;
mod power;
mod starvation;
mod supply;
mod untimed;
mod untimed_state;
mod windows;

pub use initiator::Backlog;

use crate::check::available;
use crate::check::exact_footprint;
use crate::device::{Completion, Device};
use crate::error::RunError;
use crate::experiment::Experiment;
use crate::failures;
use crate::history::History;
use crate::horizon::{LATEST, LinkLoad};
use crate::measure::Measured;
use crate::prepare::Prepared;
use crate::requests::RequestLog;
use crate::snapshot::Snapshot;
use crate::starvation::Watch;
use engine::{Agenda, Instant, Slab, Span, Streams};
use host_windows::HostSide;
use initiator::{Coming, Drawn, Initiator, expected_requests, initiators, watch_closed_loops};
use nand::Geometry;
use supply::Power;
use traces::Survey;
use untimed_state::UntimedState;

/// State of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Progress {
    /// Filling or ageing the drive, with the share that is done.
    Preconditioning(f64),
    /// Running, with the share that is done if the end is known.
    Running(Option<f64>),
    /// Complete.
    Done,
}

/// A run in progress.
pub struct Run {
    device: Device,
    initiators: Vec<Initiator>,
    agenda: Agenda<Coming>,
    coming: Slab<Coming, (u32, Drawn)>,
    measured: Measured,
    stop_time: Option<Instant>,
    stop_requests: u64,
    stop_bytes: u64,
    issued: u64,
    issued_bytes: u64,
    completions: Vec<Completion>,
    history: History,
    /// Total requests of the traces and limits of all workloads, if known.
    expected: Option<u64>,
    /// The initiator whose first requests are drawn next; equals the number of initiators once all
    /// have begun.
    to_begin: usize,
    begun: bool,
    link: LinkLoad,
    /// Requests that wait in the host.
    waiting: u64,
    /// Most bytes that requests under way or waiting may take.
    backlog_bytes: u64,
    /// State of an untimed run.
    untimed: Option<Box<UntimedState>>,
    /// Looks for requests that starve, if the experiment asks for that.
    watch: Option<Box<Watch>>,
    /// The moment at which the next request starves; `Instant::NEVER` if nothing looks for such
    /// requests.
    starves_at: Instant,
    /// The drive's power, if the experiment cuts it.
    power: Option<Box<Power>>,
    /// Windows of predictable latency that the host asks for, and latencies in them.
    windows: Option<Box<HostSide>>,
    /// The moment of the next one; `Instant::NEVER` if there is none.
    window_at: Instant,
    /// True if nothing but requests acts on the drive, and no read has a recovery level of its own: no
    /// power cuts, no scrubbing, no limit for requests that starve.
    is_plain: bool,
}

impl Run {
    /// Makes the drive and readies the initiators; see [`Prepared::new`] and
    /// [`Run::start`].
    ///
    /// # Errors
    /// If the drive has no space or a trace is at fault.
    pub fn new(
        experiment: &Experiment,
        surveys: &[Option<Survey>],
        ongoing: &mut dyn FnMut(f64) -> bool,
    ) -> Result<Option<Self>, RunError> {
        let Some(prepared) = Prepared::new(experiment, None, ongoing)? else { return Ok(None) };
        Self::start(experiment, surveys, prepared).map(Some)
    }

    /// Readies the initiators of an experiment before its drive. `surveys` are those of the
    /// workloads' traces, in the order of the workloads.
    ///
    /// # Errors
    /// If a trace is at fault.
    pub fn start(
        experiment: &Experiment,
        surveys: &[Option<Survey>],
        prepared: Prepared,
    ) -> Result<Self, RunError> {
        let streams = Streams::new(experiment.run_seed());
        let Prepared { mut device, history } = prepared;
        let initiators = initiators(experiment, surveys, &device.ftl().layout)?;
        make_ready(experiment, &mut device);
        let names = initiators.iter().map(|initiator| initiator.source.name().to_owned()).collect();
        let mut run = Self {
            measured: Measured::new(experiment, names, &mut device),
            device,
            initiators,
            agenda: Agenda::new(),
            coming: Slab::default(),
            stop_time: experiment.run.time.map(|time| Instant::START + time.span()),
            stop_requests: experiment.run.requests.unwrap_or(u64::MAX),
            stop_bytes: experiment.run.bytes.map_or(u64::MAX, |size| size.bytes()),
            issued: 0,
            issued_bytes: 0,
            completions: Vec::new(),
            history,
            expected: expected_requests(experiment, surveys),
            to_begin: 0,
            begun: false,
            link: LinkLoad::new(&experiment.drive.host_link()),
            waiting: 0,
            // A quarter of the free memory: half of it is left for the drive, its map and its
            // results. A queue that grows is copied to one of twice the size, and both exist for a
            // moment.
            backlog_bytes: available().map_or(u64::MAX, |bytes| bytes / 4),
            untimed: None,
            watch: experiment.run.starvation.as_ref().map(|config| Box::new(Watch::new(config))),
            starves_at: Instant::NEVER,
            power: Power::new(experiment, streams),
            windows: None,
            window_at: Instant::NEVER,
            is_plain: false,
        };
        run.plan_windows(experiment);
        run.is_plain = run.has_requests_alone();
        if experiment.run.untimed {
            let choice = experiment.drive.ftl.allocation.choice;
            let initiators = run.initiators.len();
            run.untimed = Some(Box::new(UntimedState::new(&mut run.device, initiators, choice)));
            return Ok(run);
        }
        let sets = run.device.ftl().layout.set_count();
        watch_closed_loops(&run.initiators, sets, &mut run.measured);
        // Small runs have begun as soon as they are made.
        run.begin(1 << 16)?;
        Ok(run)
    }

    fn has_requests_alone(&self) -> bool {
        self.power.is_none()
            && self.watch.is_none()
            && self.device.scrub_counts().is_none()
            && self.windows.is_none()
            && self.initiators.iter().all(|of| of.source.read_recovery_level().is_none())
    }

    /// Draws up to `most` of the first requests of all queue places.
    fn begin(&mut self, mut most: u64) -> Result<(), RunError> {
        while let Some(initiator) = self.initiators.get_mut(self.to_begin) {
            if initiator.stopped || initiator.places == 0 {
                self.to_begin += 1;
                continue;
            }
            if most == 0 {
                return Ok(());
            }
            most -= 1;
            initiator.places -= 1;
            let start = Instant::START + initiator.source.start();
            self.draw(self.to_begin, start)?;
        }
        self.begun = true;
        Ok(())
    }

    /// Advances by about `events` events of the device, or as many arrivals; returns true if there
    /// is more to do.
    ///
    /// # Errors
    /// If a trace or a policy of the user is at fault, the drive is stuck, or the auditor
    /// finds a fault.
    #[inline(never)]
    pub fn advance(&mut self, events: u64) -> Result<bool, RunError> {
        let gone_on = match self.untimed.is_some() {
            true => self.go_on_untimed(events),
            false => self.go_on(events),
        };
        // A fault of a policy came before any other fault.
        match self.device.policy_fault() {
            Some(fault) => Err(RunError::Policy(fault)),
            None if let Some(loss) = self.device.data_loss() => Err(RunError::Lost(loss.into())),
            None if self.device.ftl().has_used_up_versions() => Err(RunError::Versions),
            None => gone_on,
        }
    }

    fn go_on(&mut self, events: u64) -> Result<bool, RunError> {
        if !self.begun {
            self.begin(events)?;
            return Ok(true);
        }
        self.refuse_starved()?;
        let last = self.device.events() + events;
        let mut arrivals = 0;
        while self.device.events() < last && arrivals < events {
            if self.device.data_loss().is_some() {
                return Ok(false);
            }
            if self.goes_on_quietly() {
                self.collect_completions()?;
                continue;
            }
            let own = self.agenda.next_due();
            if self.power.is_some() && self.power_goes_first(own)? {
                continue;
            }
            if self.starves_at < Instant::NEVER && self.starves_before(own)? {
                continue;
            }
            if self.window_at < Instant::NEVER && self.window_comes_first(own) {
                continue;
            }
            if own.is_none() && self.waits_in_vain() {
                return self.end().map(|()| false);
            }
            match (self.device.next_due(), own) {
                (Some(due), own)
                    if own.is_none_or(|own| due <= own)
                        && (own.is_some() || self.device.outstanding() > 0) =>
                {
                    if due > LATEST {
                        return Err(self.too_late(None));
                    }
                    self.measured.note_time(due, &mut self.device);
                    let until = self.stays_until(own);
                    match &mut self.power {
                        None => self.device.step_while_quiet(until),
                        Some(power) if power.counts_events() => {
                            power.count_event();
                            self.device.step();
                        }
                        Some(power) => self.device.step_while_quiet(until.min(power.stays_until())),
                    }
                }
                (_, Some(due)) => {
                    self.measured.note_time(due, &mut self.device);
                    self.arrive()?;
                    arrivals += 1;
                }
                _ => return self.end().map(|()| false),
            }
            self.collect_completions()?;
        }
        Ok(true)
    }

    /// The moment up to which only the device acts, if the next request comes at `own`.
    #[inline]
    fn stays_until(&self, own: Option<Instant>) -> Instant {
        let boundary = self.measured.next_boundary().min(LATEST);
        let boundary = boundary.min(self.starves_at).min(self.window_at);
        own.map_or(boundary, |own| own.min(boundary))
    }

    /// Lets the device advance up to a completion if only the device acts until then. Returns true
    /// if there is a completion, and false if an interval of the results ends before it.
    #[inline]
    fn goes_on_quietly(&mut self) -> bool {
        let until = self.measured.next_boundary().min(LATEST);
        self.coming.taken() == 0
            && (self.is_plain || self.is_quiet_now())
            && self.device.outstanding() > 0
            && until > Instant::START
            && self.device.goes_on_until_done(until)
    }

    /// True if nothing but requests acts on the drive for now.
    #[cold]
    #[inline(never)]
    fn is_quiet_now(&self) -> bool {
        self.power.is_none()
            && self.starves_at == Instant::NEVER
            && self.window_at == Instant::NEVER
            && !self.device.scrubs_in_vain()
    }

    /// True if what is due does not help the requests that wait.
    #[inline]
    fn waits_in_vain(&self) -> bool {
        self.device.scrubs_in_vain() && self.starves_at == Instant::NEVER
            || self.window_at < Instant::NEVER && self.has_windows_in_vain()
    }

    fn end(&mut self) -> Result<(), RunError> {
        if self.device.outstanding() > 0 {
            return Err(RunError::Stuck {
                at: self.device.now(),
                outstanding: self.device.outstanding(),
                why: self.device.why_stuck(),
            });
        }
        if self.device.is_audited() {
            self.device.finish_audit().map_err(RunError::Audit)?;
        }
        Ok(())
    }

    // ---- inspection ----------------------------------------------------------

    /// Bounds the memory that requests of open loops may take while they wait or are under way.
    /// Default: a quarter of the memory that the system could give when the run was made.
    pub fn limit_backlog(&mut self, bytes: u64) {
        self.backlog_bytes = bytes;
    }
    /// The state of the run.
    pub fn progress(&self) -> Progress {
        let by_requests = self.issued as f64 / self.stop_requests as f64;
        let by_bytes = self.issued_bytes as f64 / self.stop_bytes as f64;
        let by_time = self
            .stop_time
            .map_or(0.0, |stop| self.device.now().as_ns() as f64 / stop.as_ns() as f64);
        let by_expectation =
            self.expected.map_or(0.0, |expected| self.issued as f64 / expected as f64);
        let share = by_requests.max(by_bytes).max(by_time).max(by_expectation);
        Progress::Running((share > 0.0).then_some(share.min(1.0)))
    }
    /// The moment that the run has reached.
    pub fn now(&self) -> Instant {
        self.device.now()
    }
    /// Requests issued so far.
    pub fn issued(&self) -> u64 {
        self.issued
    }
    /// The drive.
    pub fn device(&self) -> &Device {
        &self.device
    }
    /// The drive, for figures that need its ledgers settled.
    pub fn device_mut(&mut self) -> &mut Device {
        &mut self.device
    }
    /// The measurements so far.
    pub fn measured(&self) -> &Measured {
        &self.measured
    }
    /// Findings about requests that starve, if the run looks for them.
    pub fn starvation(&self) -> Option<&Watch> {
        self.watch.as_deref()
    }
    /// Each open loop's name and backlog.
    pub fn backlogs(&self) -> impl Iterator<Item = (&str, Backlog)> {
        initiator::backlogs(&self.initiators)
    }
    /// Logs counted requests from now on; must be called before the run advances for the first
    /// time.
    pub fn log_requests(&mut self) {
        self.measured.log = Some(Box::default());
    }
    /// The log of the requests that were counted since it was last emptied, if the run keeps one.
    pub fn request_log(&mut self) -> Option<&mut RequestLog> {
        self.measured.log.as_deref_mut()
    }
    /// Ends measuring at the present moment.
    pub fn finish(&mut self) {
        self.measured.finish(&mut self.device);
    }
    /// The history of the drive before the run.
    pub fn history(&self) -> &History {
        &self.history
    }
    /// Shuts the drive down and keeps a snapshot of it.
    ///
    /// # Errors
    /// If requests are under way, or the drive cannot come to rest.
    pub fn into_snapshot(self, experiment: &Experiment) -> Result<Snapshot, RunError> {
        let Experiment { drive, title, seed, .. } = experiment;
        let taken = Snapshot::of(self.device, drive, title.as_deref(), *seed, &self.history);
        taken.map_err(RunError::Restless)
    }
    /// Simulated time since the beginning.
    pub fn elapsed(&self) -> Span {
        self.device.now() - Instant::START
    }
}

/// Lets a drive record what an experiment asks for, and fail as it says.
fn make_ready(experiment: &Experiment, device: &mut Device) {
    if experiment.record.collection {
        device.record_collection();
    }
    if experiment.run.failures.is_empty() {
        return;
    }
    device.expect_data(exact_footprint(experiment, device.ftl()));
    let geometry = Geometry::from(&experiment.drive.geometry);
    failures::schedule(&experiment.run.failures, &geometry, device);
}
