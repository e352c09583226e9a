//! An array: several drives in one run, and between initiators and drives the host's plan.
//!
//! The array owns the drives, the requests of the host, and the time. It tells the plan ([`plan`]) what
//! the host asks for and which commands have ended, and does what the plan decides. Each member is a
//! drive or an NVM set of one. A run of one drive without a plan is [`crate::Run`].

mod acting;
mod audit;
pub mod config;
mod decisions;
mod drives;
mod event;
mod intake;
mod members;
mod plan;
mod ranges;
mod requests;
mod standstill;

pub use drives::Drives;
pub use plan::act::PlanCounts;
pub use plan::leveling::chunks::Chunks;
pub use plan::leveling::wear::Written;

pub use plan::act::{Asked, Wait};
pub use plan::outside::{Array, Decide, Decision, Ended, MakePlan, News, Seen, Stop, ToMember};

use crate::check::available;
use crate::device::{Completion, Device};
use crate::error::RunError;
use crate::experiment::Experiment;
use crate::horizon::{LATEST, LinkLoad};
use crate::measure::{Measurable, Measured};
use crate::requests::RequestLog;
use crate::run::Progress;
use crate::run::faults;
use crate::run::initiator::{
    self, Backlog, Drawn, Initiator, expected_requests, initiators, watch_closed_loops,
};
use audit::Audit;
use engine::{Agenda, Instant, Slab, Span, typed_id};
use event::Event;
use members::Members;
use metrics::Digest;
use plan::Plan;
use plan::act::{Act, UnderWay};
use requests::{Requests, Sent, SentId, Serving, ServingId};
use traces::Survey;

typed_id! {
    /// A request that waits for its moment.
    struct Coming;
}

/// A run of an array in progress.
pub struct ArrayRun {
    now: Instant,
    drives: Drives,
    members: Members,
    plan: Plan,
    initiators: Vec<Initiator>,
    requests: Requests,
    sent: Slab<SentId, Sent>,
    /// The command that ended last, if the present answer follows from it.
    ended: Option<Sent>,
    /// Commands under way at each member.
    under_way: Vec<u32>,
    agenda: Agenda<Event>,
    coming: Slab<Coming, (u32, Drawn)>,
    measured: Measured,
    stop_time: Option<Instant>,
    stop_requests: u64,
    stop_bytes: u64,
    issued: u64,
    issued_bytes: u64,
    completions: Vec<Completion>,
    acts: Vec<Act>,
    /// Total requests of the traces and limits of all workloads, if known.
    expected: Option<u64>,
    begun: bool,
    link: LinkLoad,
    /// Requests that wait in the host for a place in the queue.
    waiting: u64,
    /// Most bytes that requests under way or waiting may take.
    backlog_bytes: u64,
    /// A running hash of every answer to the host.
    digest: Digest,
    audit: Option<Audit>,
    /// Parts of requests that the host's cache serves.
    serving: Slab<ServingId, Serving>,
    /// Events of the plan's periods since anything else happened.
    idle_periods: u32,
    /// Wakes of a plan in Python in a row while nothing else is to come.
    own_wakes: u32,
    last_wake: Instant,
    /// Turns of members that may be in maintenance wait until others have ended theirs.
    turns_wait: bool,
    /// Members that still collected when the plan began to read them: at how many swaps.
    unsettled: u64,
    /// The fault that the auditor has found.
    fault: Option<String>,
}

impl ArrayRun {
    /// Readies the initiators of an experiment before its drives. `surveys` are those of the
    /// workloads' traces, in the order of the workloads.
    ///
    /// # Errors
    /// If a trace is at fault.
    ///
    /// # Panics
    /// If the experiment has no array.
    pub fn start(
        experiment: &Experiment,
        surveys: &[Option<Survey>],
        mut drives: Drives,
    ) -> Result<Self, RunError> {
        let array = experiment.array.as_ref().expect("an experiment with an array");
        let layout = drives.devices[0].ftl().layout.clone();
        let members = Members::new(array.drives, &layout);
        let all = Array { members: members.count(), bytes: array.bytes(&layout) };
        let plan = Plan::new(&array.plan, all).map_err(RunError::Policy)?;
        let initiators = initiators(experiment, surveys, &layout)?;
        if experiment.record.collection {
            drives.devices.iter_mut().for_each(|device| device.record_collection());
        }
        let names = initiators.iter().map(|initiator| initiator.source.name().to_owned()).collect();
        let mut run = Self {
            now: Instant::START,
            measured: Measured::new(experiment, names, &mut drives),
            plan,
            requests: Requests::default(),
            sent: Slab::default(),
            ended: None,
            under_way: vec![0; members.count() as usize],
            audit: None,
            drives,
            members,
            initiators,
            agenda: Agenda::new(),
            coming: Slab::default(),
            stop_time: experiment.run.time.map(|time| Instant::START + time.span()),
            stop_requests: experiment.run.requests.unwrap_or(u64::MAX),
            stop_bytes: experiment.run.bytes.map_or(u64::MAX, |size| size.bytes()),
            issued: 0,
            issued_bytes: 0,
            completions: Vec::new(),
            acts: Vec::new(),
            expected: expected_requests(experiment, surveys),
            begun: false,
            link: LinkLoad::new(&experiment.drive.host_link()),
            waiting: 0,
            // As in a run of one drive.
            backlog_bytes: available().map_or(u64::MAX, |bytes| bytes / 4),
            digest: Digest::default(),
            serving: Slab::default(),
            own_wakes: 0,
            last_wake: Instant::NEVER,
            idle_periods: 0,
            turns_wait: false,
            unsettled: 0,
            fault: None,
        };
        // The plan chooses the NVM sets.
        watch_closed_loops(&run.initiators, 1, &mut run.measured);
        if experiment.run.audit {
            run.begin_audit();
        }
        run.begin()?;
        Ok(run)
    }

    /// Begins to audit members that hold the same data.
    fn begin_audit(&mut self) {
        if let Plan::Outside(outside) = &mut self.plan
            && outside.says_nothing()
        {
            outside.fail("the run is audited, so the plan must say if every member gets every write at its own address: mirrors = True, or False");
        }
        if self.plan.is_mirrored() {
            self.audit = Some(Audit::new(self.members.count()));
        }
    }

    /// Draws the first requests of all queue places.
    fn begin(&mut self) -> Result<(), RunError> {
        self.show_windows();
        self.plan.begin(self.now, UnderWay(&self.under_way), &mut self.acts);
        self.act();
        self.begin_turns();
        for index in 0..self.initiators.len() {
            let start = Instant::START + self.initiators[index].source.start();
            while !self.initiators[index].stopped && self.initiators[index].places > 0 {
                self.initiators[index].places -= 1;
                self.draw(index, start)?;
            }
        }
        self.begun = true;
        Ok(())
    }

    /// Advances by about `events` events of the drives, or as many of the host; returns true if there
    /// is more to do.
    ///
    /// # Errors
    /// If a trace or a policy of the user is at fault, the array is stuck, or the auditor finds a
    /// fault.
    pub fn advance(&mut self, events: u64) -> Result<bool, RunError> {
        let gone_on = self.go_on(events);
        if let Some(fault) = self.drives.devices.iter().find_map(|device| device.policy_fault()) {
            return Err(RunError::Policy(fault));
        }
        match self.plan.stop() {
            Some(Stop::Fault(fault)) => return Err(RunError::Policy(fault.clone())),
            // The run is as it was at the last moment of which the plan was told.
            Some(Stop::Interrupted) => return Ok(true),
            None => {}
        }
        match self.fault.take() {
            Some(fault) => Err(RunError::Audit(fault)),
            None => gone_on,
        }
    }

    fn go_on(&mut self, events: u64) -> Result<bool, RunError> {
        let last = self.drives.events() + events;
        let mut own_events = 0;
        while self.drives.events() < last && own_events < events && !self.has_stopped() {
            let own = self.agenda.next_due();
            match (self.drives.next_due(), own) {
                _ if !self.is_busy() => return self.end().map(|()| false),
                _ if self.periods_change_nothing() => return self.end().map(|()| false),
                (Some((due, drive)), own) if own.is_none_or(|own| due <= own) => {
                    if due > LATEST {
                        return Err(self.too_late(None));
                    }
                    self.measured.note_time(due, &mut self.drives);
                    // The drive is alone until then. Its completions may make others act.
                    let until = self.drives.next_due_but(drive).min(own.unwrap_or(LATEST));
                    let until = until.min(self.measured.next_boundary()).min(LATEST);
                    let device = self.drives.get_mut(drive);
                    let waits_alone = device.waits_for_timers_alone();
                    match self.turns_wait {
                        // The moment at which the window begins matters to others.
                        true => _ = device.step(),
                        false => device.step_while_quiet(until),
                    }
                    self.now = device.now();
                    if !waits_alone || device.has_done() {
                        self.idle_periods = 0;
                    }
                }
                (_, Some(due)) => {
                    if due > LATEST {
                        return Err(self.too_late(None));
                    }
                    self.measured.note_time(due, &mut self.drives);
                    self.happen()?;
                    own_events += 1;
                }
                _ => return self.end().map(|()| false),
            }
            self.go_on_with_turns();
            self.collect()?;
        }
        Ok(true)
    }

    fn has_stopped(&self) -> bool {
        self.fault.is_some() || self.plan.stop().is_some()
    }

    /// True if the host or its plan has something to do, be it that it waits for the drives: for an
    /// answer, or for the end of a copy that it does not need any more.
    fn is_busy(&self) -> bool {
        self.coming.taken() > 0
            || self.requests.under_way() > 0
            || self.sent.taken() > 0
            || !self.plan.is_at_rest()
    }

    /// True if every member has had its turn while nothing happened, and nothing else is to come.
    fn periods_change_nothing(&self) -> bool {
        // A period has two events at most.
        let nothing_comes = self.coming.taken() == 0 && self.serving.taken() == 0;
        nothing_comes
            && self.idle_periods > 2 * (self.members.count() + 2)
            && self.drives.devices.iter().all(Device::waits_for_timers_alone)
    }

    fn end(&mut self) -> Result<(), RunError> {
        if self.is_busy() && self.fails_outside() {
            return Ok(());
        }
        if self.is_busy() {
            let why = self.drives.devices.iter().find(|device| device.outstanding() > 0);
            return Err(RunError::Stuck {
                at: self.now(),
                outstanding: self.requests.under_way() as u32,
                why: why.map_or_else(
                    || "the host's plan sends nothing".into(),
                    |device| device.why_stuck(),
                ),
            });
        }
        for device in self.drives.devices.iter().filter(|device| device.is_audited()) {
            device.finish_audit().map_err(RunError::Audit)?;
        }
        if let Some(Err(fault)) = self.audit.as_ref().map(Audit::finish) {
            self.audit_failed(fault);
        }
        self.fault.take().map_or(Ok(()), |fault| Err(RunError::Audit(fault)))
    }

    /// Ends a plan in Python with a fault if it holds the run, or has not answered a request.
    fn fails_outside(&mut self) -> bool {
        let Plan::Outside(outside) = &mut self.plan else { return false };
        if self.drives.devices.iter().any(|device| device.outstanding() > 0) {
            return false;
        }
        outside.fail(&match self.requests.first() {
            Some(number) => {
                format!("has not answered request {number}, and nothing is to come")
            }
            None => "holds the run (Act.hold), and nothing is to come".to_owned(),
        });
        true
    }

    fn too_late(&self, index: Option<usize>) -> RunError {
        let index = index.unwrap_or_else(|| faults::busy(&self.initiators));
        faults::too_late(&self.initiators[index], self.now())
    }

    // ---- inspection ----------------------------------------------------------

    /// The state of the run.
    pub fn progress(&self) -> Progress {
        let by_requests = self.issued as f64 / self.stop_requests as f64;
        let by_bytes = self.issued_bytes as f64 / self.stop_bytes as f64;
        let by_time =
            self.stop_time.map_or(0.0, |stop| self.now().as_ns() as f64 / stop.as_ns() as f64);
        let by_expectation =
            self.expected.map_or(0.0, |expected| self.issued as f64 / expected as f64);
        let share = by_requests.max(by_bytes).max(by_time).max(by_expectation);
        Progress::Running((share > 0.0).then_some(share.min(1.0)))
    }
    /// The moment that the run has reached.
    pub fn now(&self) -> Instant {
        self.now
    }
    /// Simulated time since the beginning.
    pub fn elapsed(&self) -> Span {
        self.now() - Instant::START
    }
    /// Requests issued so far.
    pub fn issued(&self) -> u64 {
        self.issued
    }
    /// The drives.
    pub fn drives(&self) -> &Drives {
        &self.drives
    }
    /// The drives, to ask them for what may change a figure that is told later.
    pub fn drives_mut(&mut self) -> &mut Drives {
        &mut self.drives
    }
    /// The measurements so far. Units, channels and NVM sets of the first drive come first.
    pub fn measured(&self) -> &Measured {
        &self.measured
    }
    /// A running hash of every answer to the host; in a mirror of one drive it is the drive's.
    pub fn digest(&self) -> u64 {
        self.digest.finish()
    }
    /// Counts of the plan, the warm-up included.
    pub fn plan_counts(&self) -> PlanCounts {
        self.plan.counts()
    }
    /// Bytes that each member was sent to write, the warm-up included, if the plan levels their wear.
    pub fn written(&self) -> Option<&[Written]> {
        self.plan.written()
    }
    /// Number of times that a member which was to be read after a swap still collected.
    pub fn unsettled(&self) -> u64 {
        self.unsettled
    }
    /// Each open loop's name and backlog.
    pub fn backlogs(&self) -> impl Iterator<Item = (&str, Backlog)> {
        initiator::backlogs(&self.initiators)
    }
    /// Logs counted requests from now on; must be called before the run advances for the first time.
    pub fn log_requests(&mut self) {
        self.measured.log = Some(Box::default());
    }
    /// The log of the requests that were counted since it was last emptied, if the run keeps one.
    pub fn request_log(&mut self) -> Option<&mut RequestLog> {
        self.measured.log.as_deref_mut()
    }
    /// Ends measuring at the present moment.
    pub fn finish(&mut self) {
        self.drives.wait(self.now);
        self.measured.finish(&mut self.drives);
    }
}
