//! A run: initiators on one side, the device on the other, and what is measured
//! between them.

mod power;
mod untimed;

use crate::check::{self, PLACES_MOST, WAITING_BYTES, available};
use crate::device::{Completion, Device, RequestId};
use crate::experiment::Experiment;
use crate::horizon::{LATEST, LinkLoad};
use crate::measure::Measured;
use crate::precondition::NoSpace;
use crate::prepare::{History, Prepared};
use crate::requests::RequestLog;
use crate::snapshot::{Damaged, Snapshot};
use crate::starvation::{REMEDY, Starved, Watch};
use engine::{Agenda, Instant, Slab, Span, Streams, typed_id};
use host::trace::Survey;
use host::{Command, HostError, Issue, Kind, Source, WorkloadConfig};
use power::Power;
use settings::counted;
use std::collections::VecDeque;
use untimed::WithoutTime;

fn requests(count: &u32) -> String {
    counted(*count, "request")
}

/// Why a run ended early.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The drive cannot hold what it is preconditioned with.
    #[error(transparent)]
    NoSpace(#[from] NoSpace),
    /// The snapshot to start from cannot be read.
    #[error(transparent)]
    Snapshot(#[from] Damaged),
    /// The snapshot to start from is of another layout: each key that says so.
    #[error("the snapshot does not fit the drive")]
    Unfit(Vec<(&'static str, String)>),
    /// A drive cannot be shut down.
    #[error("no snapshot can be taken: {0}")]
    Restless(String),
    /// A workload is at fault.
    #[error(transparent)]
    Host(#[from] HostError),
    /// Requests wait for ever.
    #[error("the drive is stuck at {at:?} with {} under way: {why}", requests(.outstanding))]
    Stuck {
        /// When.
        at: Instant,
        /// Requests under way.
        outstanding: u32,
        /// What is missing.
        why: String,
    },
    /// A request has waited for longer than it may; what was measured until then stands.
    #[error("starvation: {0}; {REMEDY}")]
    Starved(Box<Starved>),
    /// A workload asks for more than can be simulated.
    #[error("workload \"{workload}\": {problem}")]
    Workload {
        /// Its name.
        workload: String,
        /// What it asks for, and what to do about it.
        problem: String,
    },
    /// The host has written more than recovery can tell apart.
    #[error(
        "the host has written 2^32 - 2 mapping units, and versions (drive.recovery) tell no more apart; choose a larger mapping unit, or a shorter run"
    )]
    Versions,
    /// A policy of the user failed.
    #[error("policy {0}")]
    Policy(String),
    /// The auditor found a fault of the simulator.
    #[error("audit: {0}")]
    Audit(String),
}

/// Completions of an initiator at one moment after which it is taken to go on
/// there without end, unless a number of requests or bytes will end it.
const AT_ONE_MOMENT: u64 = 1 << 20;

/// How a run stands.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Progress {
    /// Filling or ageing the drive, with the share done.
    Preconditioning(f64),
    /// Running, with the share done where an end is known.
    Running(Option<f64>),
    /// Complete.
    Done,
}

typed_id! {
    /// A request that waits for its moment: an arrival, or the end of a think time.
    struct Coming;
}

impl engine::Event for Coming {
    fn pack(self) -> u32 {
        self.0
    }
    fn unpack(bits: u32) -> Self {
        Self(bits)
    }
    fn lane(self) -> Option<usize> {
        // Arrivals come in order, and so do think times that are all alike.
        Some(0)
    }
}

/// A request that was drawn.
#[derive(Clone, Copy)]
struct Drawn {
    command: Command,
    /// Its place among all that its initiator has drawn.
    number: u64,
}

/// A host program that uses the drive.
struct Initiator {
    source: Source,
    /// How many requests were drawn.
    drawn: u64,
    outstanding: u32,
    depth: u32,
    /// Arrived, and waiting in the host: for a place in the queue (open loop), or for the
    /// drive's power.
    waiting: VecDeque<(Instant, Drawn)>,
    /// Nothing more comes.
    stopped: bool,
    /// Closed loop: places that are to be filled at the beginning.
    places: u64,
    /// Whether a trace, or a number of requests or bytes, ends it whatever time it is.
    is_bounded: bool,
    /// The moment of its last completion, and how many there were at that moment.
    standing: (Instant, u64),
    backlog: Backlog,
}

/// How many requests of an open loop were waiting or under way, as arrivals found it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Backlog {
    /// Requests that have arrived.
    pub arrived: u64,
    /// How many of them had not completed when the last one arrived.
    pub at_last: u64,
    /// The same when between a quarter and a half of them had arrived.
    pub at_half: u64,
    at_power_of_two: u64,
}

impl Backlog {
    #[inline]
    fn arrive(&mut self, under_way: u64) {
        self.arrived += 1;
        self.at_last = under_way;
        if self.arrived.is_power_of_two() {
            self.at_half = self.at_power_of_two;
            self.at_power_of_two = under_way;
        }
    }
}

impl Initiator {
    fn new(source: Source, workload: &WorkloadConfig, experiment: &Experiment) -> Self {
        let depth = source.queue_depth().unwrap_or(u32::MAX);
        let places = match source.is_open_loop() {
            true => 1,
            false => check::first_draws(workload, depth, experiment.run.requests),
        };
        Self {
            depth,
            places,
            is_bounded: check::is_bounded(workload, &experiment.run),
            source,
            drawn: 0,
            outstanding: 0,
            waiting: VecDeque::new(),
            stopped: false,
            standing: (Instant::START, 0),
            backlog: Backlog::default(),
        }
    }
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
    /// Requests that the traces and limits of all workloads add up to, where known.
    expected: Option<u64>,
    /// The initiator whose first requests are drawn next; all have begun where there
    /// is none.
    to_begin: usize,
    begun: bool,
    link: LinkLoad,
    /// Requests that wait in the host.
    waiting: u64,
    /// Bytes that requests under way or waiting may take.
    backlog_bytes: u64,
    /// Where the run takes no time.
    without_time: Option<Box<WithoutTime>>,
    /// Looks for requests that starve, where that is asked for.
    watch: Option<Box<Watch>>,
    /// When the next request starves; after all time where none is looked for.
    starves_at: Instant,
    /// The drive's power, where it is cut.
    power: Option<Box<Power>>,
}

impl Run {
    /// Makes the drive and readies the initiators; see [`Prepared::new`] and
    /// [`Run::start`].
    ///
    /// # Errors
    /// Where the drive has no space or a trace is at fault.
    pub fn new(
        experiment: &Experiment,
        surveys: &[Option<Survey>],
        ongoing: &mut dyn FnMut(f64) -> bool,
    ) -> Result<Option<Self>, RunError> {
        let Some(prepared) = Prepared::new(experiment, None, ongoing)? else { return Ok(None) };
        Self::start(experiment, surveys, prepared).map(Some)
    }

    /// Readies the initiators of an experiment before its drive. `surveys` are those of
    /// the workloads' traces, in their order.
    ///
    /// # Errors
    /// Where a trace is at fault.
    pub fn start(
        experiment: &Experiment,
        surveys: &[Option<Survey>],
        prepared: Prepared,
    ) -> Result<Self, RunError> {
        let streams = Streams::new(experiment.seed);
        let Prepared { mut device, history } = prepared;
        let capacity = device.ftl().layout.exported_bytes();
        let found: Vec<Option<&Survey>> = surveys.iter().map(Option::as_ref).collect();
        if let Some((_, clash)) = host::name_clashes(&experiment.workload, &found).pop() {
            return Err(clash.into());
        }
        let mut initiators = Vec::new();
        for (workload, survey) in experiment.workload.iter().zip(surveys) {
            for expanded in workload.expand(survey.as_ref()) {
                let source = Source::build_surveyed(&expanded, survey.as_ref(), capacity, streams)?;
                initiators.push(Initiator::new(source, workload, experiment));
            }
        }
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
            link: LinkLoad::new(&experiment.drive.link),
            waiting: 0,
            // Half of it: the drive, its map and its results are there already or come.
            // What grows is copied to twice the room: both are there for a moment.
            backlog_bytes: available().map_or(u64::MAX, |bytes| bytes / 4),
            without_time: None,
            watch: experiment.run.starvation.as_ref().map(|config| Box::new(Watch::new(config))),
            starves_at: Instant::NEVER,
            power: Power::new(experiment, streams),
        };
        if experiment.run.untimed {
            let choice = experiment.drive.ftl.allocation.choice;
            run.without_time = Some(Box::new(WithoutTime::new(&mut run, choice)));
            return Ok(run);
        }
        // So that small runs have begun when they are made.
        run.begin(1 << 16)?;
        Ok(run)
    }

    /// Draws up to `most` of the first requests of all places.
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

    /// Goes on for about `events` events of the device, or as many arrivals; returns whether there is
    /// more to do.
    ///
    /// # Errors
    /// Where a trace or a policy of the user is at fault, the drive is stuck, or the auditor
    /// finds a fault.
    #[inline(never)]
    pub fn advance(&mut self, events: u64) -> Result<bool, RunError> {
        let gone_on = match self.without_time.is_some() {
            true => self.go_on_without_time(events),
            false => self.go_on(events),
        };
        // Whatever else went wrong, this came first.
        match self.device.policy_fault() {
            Some(fault) => Err(RunError::Policy(fault)),
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
            let own = self.agenda.next_due();
            if self.power.is_some() && self.power_goes_first(own)? {
                continue;
            }
            if self.starves_at < Instant::NEVER && self.starves_before(own)? {
                continue;
            }
            if own.is_none() && self.device.scrubs_in_vain() && self.starves_at == Instant::NEVER {
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
                    let boundary = self.measured.next_boundary().min(LATEST).min(self.starves_at);
                    let until = own.map_or(boundary, |own| own.min(boundary));
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

    /// Whether a request starves before the next one comes at `own` and before the drive does
    /// anything, which may answer it. What is due at that very moment comes first.
    #[cold]
    #[inline(never)]
    fn starves_before(&mut self, own: Option<Instant>) -> Result<bool, RunError> {
        let at = self.starves_at;
        if [own, self.device.next_due()].into_iter().flatten().any(|due| due <= at) {
            return Ok(false);
        }
        self.measured.note_time(at, &mut self.device);
        self.device.wait(at);
        let watch = self.watch.as_mut().expect("it said so");
        let name = |index: u32| self.initiators[index as usize].source.name().to_owned();
        let starved = watch.starve(&mut self.device, name);
        self.starves_at = watch.deadline();
        match starved {
            Some(starved) => Err(RunError::Starved(Box::new(starved))),
            None => Ok(true),
        }
    }

    /// A request was submitted. Out of line, as few runs look for those that starve.
    #[cold]
    #[inline(never)]
    fn watch_submitted(&mut self, id: RequestId, at: Instant, index: usize, kind: Kind) {
        if let Some(watch) = &mut self.watch {
            watch.submitted(id, at, index as u32, kind);
            self.starves_at = watch.deadline();
        }
    }

    /// Requests were answered; their ids were not given away again.
    #[cold]
    #[inline(never)]
    fn watch_answered(&mut self, completions: &[Completion]) {
        if let Some(watch) = &mut self.watch {
            completions.iter().for_each(|one| watch.answered(one.id, one.finished));
            self.starves_at = watch.deadline();
        }
    }

    /// Nothing goes on once a request has starved that was to end the run.
    fn refuse_starved(&self) -> Result<(), RunError> {
        match self.watch.as_ref().and_then(|watch| watch.ended_by()) {
            Some(starved) => Err(RunError::Starved(Box::new(starved.clone()))),
            None => Ok(()),
        }
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

    // ---- initiators ---------------------------------------------------------

    #[inline]
    fn may_issue(&self, at: Instant) -> bool {
        self.stop_time.is_none_or(|stop| at < stop)
            && self.issued < self.stop_requests
            && self.issued_bytes < self.stop_bytes
    }

    #[inline]
    fn count_issued(&mut self, request: Drawn) {
        self.issued += 1;
        self.issued_bytes += request.command.bytes;
        if self.issued >= self.stop_requests || self.issued_bytes >= self.stop_bytes {
            // What is still to come would not be issued: the run need not wait for it.
            self.agenda = Agenda::new();
            self.initiators.iter_mut().for_each(|initiator| initiator.stopped = true);
        }
    }

    /// Draws an initiator's next request, which is issued at once or waits for its
    /// moment. In a closed loop a place in the queue is free since `free`.
    #[inline]
    fn draw(&mut self, index: usize, free: Instant) -> Result<(), RunError> {
        let initiator = &mut self.initiators[index];
        if initiator.stopped {
            return Ok(());
        }
        let Some(request) = initiator.source.next()? else {
            initiator.stopped = true;
            return Ok(());
        };
        let at = Instant::START
            + match request.issue {
                Issue::At(since) => since,
                Issue::After(think) => initiator.source.earliest(free + think - Instant::START),
            };
        let request = Drawn { command: request.command, number: initiator.drawn };
        initiator.drawn += 1;
        let is_open = initiator.source.is_open_loop();
        let late =
            initiator.source.deadline().is_some_and(|deadline| at >= Instant::START + deadline);
        if late || !self.may_issue(at) {
            self.initiators[index].stopped = true;
        } else if at > LATEST {
            return Err(self.too_late(Some(index)));
        } else if at == self.device.now() && !is_open && self.begun {
            self.count_issued(request);
            self.submit(index, at, at, request)?;
        } else {
            let coming = self.coming.insert((index as u32, request));
            self.agenda.schedule(at.max(self.device.now()), coming);
        }
        Ok(())
    }

    /// A request's moment has come.
    fn arrive(&mut self) -> Result<(), RunError> {
        let (now, _, id) = self.agenda.pop().expect("a request was coming");
        let (index, request) = self.coming[id];
        let is_off = self.power.as_ref().is_some_and(|power| power.up_at().is_some());
        self.coming.remove(id);
        let index = index as usize;
        let initiator = &mut self.initiators[index];
        let is_open = initiator.source.is_open_loop();
        if !self.may_issue(now) {
            self.initiators[index].stopped = true;
            return Ok(());
        }
        self.count_issued(request);
        let initiator = &mut self.initiators[index];
        if !is_open && is_off {
            // Its place in the queue is free: it is kept for the drive alone.
            initiator.waiting.push_back((now, request));
            self.waiting += 1;
            return Ok(());
        }
        if !is_open {
            return self.submit(index, now, now, request);
        }
        let waiting = initiator.waiting.len() as u64;
        initiator.backlog.arrive(u64::from(initiator.outstanding) + waiting);
        if initiator.outstanding >= initiator.depth || is_off {
            initiator.waiting.push_back((now, request));
            self.waiting += 1;
        } else {
            self.submit(index, now, now, request)?;
        }
        let watched = self.watch.as_ref().map_or(0, |watch| watch.bytes());
        let bytes = self.device.bytes_under_way() + watched + self.waiting * WAITING_BYTES;
        let most = self.device.most_operations() as u64 + u64::from(self.device.outstanding());
        if most > PLACES_MOST || bytes > self.backlog_bytes {
            return Err(self.overloaded(index));
        }
        self.draw(index, now)
    }

    #[inline]
    fn submit(
        &mut self,
        index: usize,
        now: Instant,
        arrived: Instant,
        request: Drawn,
    ) -> Result<(), RunError> {
        if !self.link.add(request.command.bytes) {
            return Err(self.fault(
                index,
                "its requests would keep the link busy for years; raise drive.link.rate, or lower \
                 queue_depth or the rate of arrivals"
                    .into(),
            ));
        }
        let initiator = &mut self.initiators[index];
        initiator.outstanding += 1;
        let priority = initiator.source.priority();
        let id = self.device.submit(now, arrived, request.command, priority, index as u32);
        if let Some(log) = &mut self.measured.log {
            log.submitted(id, request.number);
        }
        if self.watch.is_some() {
            self.watch_submitted(id, now, index, request.command.kind);
        }
        Ok(())
    }

    // ---- what cannot be simulated ---------------------------------------------

    fn fault(&self, index: usize, problem: String) -> RunError {
        RunError::Workload { workload: self.initiators[index].source.name().into(), problem }
    }

    /// A request of an initiator, or else something that the drive does, would come
    /// after all time.
    #[cold]
    fn too_late(&self, index: Option<usize>) -> RunError {
        let busy = |initiator: &Initiator| initiator.outstanding > 0;
        let index = index.or_else(|| self.initiators.iter().position(busy)).unwrap_or(0);
        let now = self.device.now();
        let problem = format!(
            "it goes on after {now:?}, beyond the {LATEST:?} (4.5 years) that can be simulated; limit \
             it with stop or the run with run.time, or shorten its start, pauses, time scale or \
             repetitions"
        );
        self.fault(index, problem)
    }

    #[cold]
    fn overloaded(&self, index: usize) -> RunError {
        let arrived = self.initiators[index].backlog.arrived;
        let under_way = u64::from(self.device.outstanding()) + self.waiting;
        let problem = format!(
            "overload: at {:?} {under_way} requests are waiting or under way, more than memory is \
             for ({arrived} of this workload have arrived); the drive serves less than is asked of \
             it, so lower the rate of arrivals (or raise trace.time_scale), or end the run earlier",
            self.device.now()
        );
        self.fault(index, problem)
    }

    #[cold]
    fn stands_still(&self, index: usize) -> RunError {
        let (at, completions) = self.initiators[index].standing;
        let problem = format!(
            "{completions} of its requests have completed at {at:?} and take no time, so no limit in \
             time is ever reached; give it a number of requests (stop.requests), a think_time, or its \
             commands a duration (drive.firmware)"
        );
        self.fault(index, problem)
    }

    #[inline]
    fn collect_completions(&mut self) -> Result<(), RunError> {
        // A submission may complete at once and add to the device's list.
        while self.device.has_done() {
            let mut completions = std::mem::take(&mut self.completions);
            self.device.take_done(&mut completions);
            for completion in &completions {
                // Before anything is submitted: the blame's slot is free for reuse.
                self.measured.record(completion, self.device.blame(completion.id));
            }
            if self.watch.is_some() {
                self.watch_answered(&completions);
            }
            for completion in completions.drain(..) {
                self.link.remove(completion.command.bytes);
                self.completed(completion.tag as usize, completion.finished)?;
            }
            self.completions = completions;
        }
        Ok(())
    }

    #[inline]
    fn completed(&mut self, index: usize, now: Instant) -> Result<(), RunError> {
        let initiator = &mut self.initiators[index];
        initiator.outstanding -= 1;
        if initiator.source.is_open_loop() {
            if let Some((arrived, request)) = initiator.waiting.pop_front() {
                self.waiting -= 1;
                self.submit(index, now, arrived, request)?;
            }
            return Ok(());
        }
        if !initiator.is_bounded {
            let (at, completions) = initiator.standing;
            initiator.standing = if at == now { (at, completions + 1) } else { (now, 1) };
            if completions >= AT_ONE_MOMENT && at == now {
                return Err(self.stands_still(index));
            }
        }
        self.draw(index, now)
    }

    // ---- looking in ----------------------------------------------------------

    /// Bounds the memory that requests of open loops may take while they wait or are
    /// under way. Without it: a quarter of what the system could give when the run was
    /// made.
    pub fn limit_backlog(&mut self, bytes: u64) {
        self.backlog_bytes = bytes;
    }
    /// How the run stands.
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
    /// What was measured so far.
    pub fn measured(&self) -> &Measured {
        &self.measured
    }
    /// What was found of requests that starve, where they are looked for.
    pub fn starvation(&self) -> Option<&Watch> {
        self.watch.as_deref()
    }
    /// Each open loop's name and backlog.
    pub fn backlogs(&self) -> impl Iterator<Item = (&str, Backlog)> {
        let open = |initiator: &&Initiator| initiator.source.is_open_loop();
        let told = |initiator: &'_ Initiator| initiator.backlog;
        self.initiators.iter().filter(open).map(move |i| (i.source.name(), told(i)))
    }
    /// Keeps counted requests from now on; called before the run goes on for the first time.
    pub fn log_requests(&mut self) {
        self.measured.log = Some(Box::default());
    }
    /// The requests that were counted since their log was last emptied, where it is kept.
    pub fn request_log(&mut self) -> Option<&mut RequestLog> {
        self.measured.log.as_deref_mut()
    }
    /// Ends measuring at the present moment.
    pub fn finish(&mut self) {
        self.measured.finish(&mut self.device);
    }
    /// What was done to the drive before.
    pub fn history(&self) -> &History {
        &self.history
    }
    /// Shuts the drive down and keeps it.
    ///
    /// # Errors
    /// Where requests are under way, or the drive cannot come to rest.
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

fn expected_requests(experiment: &Experiment, surveys: &[Option<Survey>]) -> Option<u64> {
    let expected = |(workload, survey): (&host::WorkloadConfig, &Option<Survey>)| {
        let limit = workload.stop.as_ref().and_then(|stop| stop.requests);
        let rows = survey
            .as_ref()
            .zip(workload.trace.as_ref())
            .map(|(survey, trace)| survey.rows.saturating_mul(trace.repeat.unwrap_or(1)));
        match (limit, rows) {
            (Some(limit), Some(rows)) => Some(limit.min(rows)),
            (limit, rows) => limit.or(rows),
        }
    };
    let mut each = experiment.workload.iter().zip(surveys).map(expected);
    each.try_fold(0u64, |sum, expected| Some(sum.saturating_add(expected?)))
}
