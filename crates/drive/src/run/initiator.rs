//! Initiators: the host programs that use the drive, and their requests that are still to come.

use crate::check;
use crate::closed_loop::{self, ClosedLoop, Standstill};
use crate::error::RunError;
use crate::experiment::Experiment;
use crate::measure::Measured;
use engine::{Instant, Span, Streams, typed_id};
use ftl::{Layout, SetId};
use host::{Command, Issue, Source, WorkloadConfig};
use metrics::Blame;
use std::collections::VecDeque;
use traces::Survey;

typed_id! {
    /// A request that waits for its moment: an arrival, or the end of a think time.
    pub(crate) struct Coming;
}

impl engine::Event for Coming {
    const KINDS: [u32; engine::LANES] = [0; engine::LANES];
    fn parts(self) -> (u32, u32) {
        (0, self.0)
    }
    fn of_parts(_: u32, index: u32) -> Self {
        Self(index)
    }
    fn lane(self) -> Option<usize> {
        // Arrivals come in order, and so do think times that are all equal.
        Some(0)
    }
}

/// Number of completions of an initiator at one moment from which it is taken to repeat there
/// without end, unless a number of requests or bytes will end it.
pub(crate) const AT_ONE_MOMENT: u64 = 1 << 20;

/// A request that was drawn.
#[derive(Clone, Copy)]
pub(crate) struct Drawn {
    pub(crate) command: Command,
    /// Its number among all requests that its initiator has drawn.
    pub(crate) number: u64,
}

/// A host program that uses the drive.
pub(crate) struct Initiator {
    pub(crate) source: Source,
    /// The NVM set that it uses; the first one without sets.
    set: SetId,
    /// Number of requests that were drawn.
    pub(crate) drawn: u64,
    pub(crate) outstanding: u32,
    pub(crate) depth: u32,
    /// Requests that have arrived and wait in the host: for a place in the queue (open loop), or
    /// for the drive's power.
    pub(crate) waiting: VecDeque<(Instant, Drawn)>,
    /// No more requests come.
    pub(crate) stopped: bool,
    /// Closed loop: queue places that are still to be filled at the beginning.
    pub(crate) places: u64,
    /// True if a trace, or a number of requests or bytes, ends it independently of time.
    pub(crate) is_bounded: bool,
    /// The moment of its last completion, and the number of completions at that moment.
    pub(crate) standing: (Instant, u64),
    /// The moment of its last answer, and the time without one from which it is examined: a closed loop
    /// may have stood still.
    last_answer: Instant,
    examined_after: Span,
    pub(crate) backlog: Backlog,
}

/// The initiators of an experiment, each with its own part of its namespace.
///
/// # Errors
/// If two have the same name, or a trace is at fault.
pub(crate) fn initiators(
    experiment: &Experiment,
    surveys: &[Option<Survey>],
    layout: &Layout,
) -> Result<Vec<Initiator>, RunError> {
    let found: Vec<Option<&Survey>> = surveys.iter().map(Option::as_ref).collect();
    if let Some((_, clash)) = host::name_clashes(&experiment.workload, &found).pop() {
        return Err(clash.into());
    }
    let streams = Streams::new(experiment.run_seed());
    let mut initiators = Vec::new();
    for (workload, survey) in experiment.workload.iter().zip(surveys) {
        let namespace = experiment.namespace(layout, workload);
        for expanded in workload.expand(survey.as_ref()) {
            let source = Source::build_surveyed(&expanded, survey.as_ref(), namespace, streams)?;
            initiators.push(Initiator::new(source, workload, experiment));
        }
    }
    Ok(initiators)
}

/// Total requests of the traces and limits of all workloads, if known.
pub(crate) fn expected_requests(
    experiment: &Experiment,
    surveys: &[Option<Survey>],
) -> Option<u64> {
    let expected = |(workload, survey): (&WorkloadConfig, &Option<Survey>)| {
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

impl Initiator {
    pub(crate) fn new(source: Source, workload: &WorkloadConfig, experiment: &Experiment) -> Self {
        let depth = source.queue_depth().unwrap_or(u32::MAX);
        let is_open = source.is_open_loop();
        let places = match is_open {
            true => 1,
            false => check::first_draws(workload, depth, experiment.run.requests),
        };
        Self {
            depth,
            places,
            is_bounded: check::is_bounded(workload, &experiment.run),
            source,
            set: SetId(workload.nvm_set.unwrap_or(1).saturating_sub(1)),
            drawn: 0,
            outstanding: 0,
            waiting: VecDeque::new(),
            stopped: false,
            standing: (Instant::START, 0),
            last_answer: Instant::START,
            examined_after: if is_open { Span::from_ns(u64::MAX) } else { closed_loop::LEAST },
            backlog: Backlog::default(),
        }
    }

    /// Notes an answer. Returns the time without one before it, if it is so long that the whole queue of a
    /// closed loop may have stood still.
    #[inline]
    pub(crate) fn answered(&mut self, now: Instant) -> Option<Span> {
        let pause = now - std::mem::replace(&mut self.last_answer, now);
        (pause > self.examined_after).then_some(pause)
    }

    /// The standstill of the whole queue before an answer, after so long a pause.
    pub(crate) fn standstill(&self, pause: Span, blame: &Blame) -> Option<Standstill> {
        // What is outstanding now has been so since the answer before.
        let is_whole = self.outstanding == self.depth;
        Standstill::of(pause, blame).filter(|_| is_whole)
    }

    /// Draws the next request, and the moment at which it is to be issued; in a closed loop its place in
    /// the queue has been free since `free`. `None` if no more requests come.
    #[inline(always)]
    pub(crate) fn draw(&mut self, free: Instant) -> Result<Option<(Instant, Drawn)>, RunError> {
        if self.stopped {
            return Ok(None);
        }
        let Some(request) = self.source.next()? else {
            self.stopped = true;
            return Ok(None);
        };
        let at = Instant::START
            + match request.issue {
                Issue::At(since) => since,
                Issue::After(think) => self.source.earliest(free + think - Instant::START),
            };
        let request = Drawn { command: request.command, number: self.drawn };
        self.drawn += 1;
        if self.source.deadline().is_some_and(|deadline| at >= Instant::START + deadline) {
            self.stopped = true;
            return Ok(None);
        }
        Ok(Some((at, request)))
    }
}

/// Begins to watch the standstills of closed loops. `sets` is the number of NVM sets, of which each
/// initiator uses one, or 1.
pub(crate) fn watch_closed_loops(initiators: &[Initiator], sets: u32, measured: &mut Measured) {
    for (index, initiator) in initiators.iter().enumerate() {
        if !initiator.source.is_open_loop() {
            let set = (sets > 1).then_some(initiator.set);
            measured.watch_closed_loop(index, ClosedLoop::new(initiator.depth, set));
        }
    }
}

/// Each open loop's name and backlog.
pub(crate) fn backlogs(initiators: &[Initiator]) -> impl Iterator<Item = (&str, Backlog)> {
    let open = |initiator: &&Initiator| initiator.source.is_open_loop();
    initiators.iter().filter(open).map(|of| (of.source.name(), of.backlog))
}

/// Number of requests of an open loop that were waiting or under way when others arrived.
#[derive(Clone, Copy, Debug, Default)]
pub struct Backlog {
    /// Requests that have arrived.
    pub arrived: u64,
    /// Number of requests that had not completed when the last one arrived.
    pub at_last: u64,
    /// Number of requests that had not completed when between a quarter and a half of the requests
    /// had arrived.
    pub at_half: u64,
    at_power_of_two: u64,
}

impl Backlog {
    #[inline]
    pub(crate) fn arrive(&mut self, under_way: u64) {
        self.arrived += 1;
        self.at_last = under_way;
        if self.arrived.is_power_of_two() {
            self.at_half = self.at_power_of_two;
            self.at_power_of_two = under_way;
        }
    }
}
