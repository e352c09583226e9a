//! The stream of requests of one initiator, from any origin.

use crate::bursts::Bursts;
use crate::config::{Combine, Priority, WorkloadConfig};
use crate::error::{ConfigError, HostError};
use crate::placement::chosen;
use crate::region::Region;
use crate::replay::{self, Replay};
use crate::request::{Issue, Request};
use crate::synthetic::Synthetic;
use engine::{Span, Streams};
use std::collections::BTreeMap;
use traces::{Fault, Survey, survey_with};

/// One initiator's stream of requests.
pub struct Source {
    origin: Origin,
    name: String,
    priority: Priority,
    read_recovery_level: Option<u8>,
    region: Region,
    queue_depth: Option<u32>,
    is_open: bool,
    start: Span,
    deadline: Option<Span>,
    bursts: Option<Bursts>,
    requests_left: u64,
    bytes_left: u64,
}

/// Origin of requests; matched, not called through a table.
enum Origin {
    Synthetic(Box<Synthetic>),
    Trace(Box<Replay>),
}

impl WorkloadConfig {
    /// Reads the workload's trace once, if it has one: for the announcement before a replay, for
    /// [`WorkloadConfig::expand`] and [`Source::build_surveyed`].
    pub fn survey(&self) -> Result<Option<Survey>, HostError> {
        let Some(trace) = &self.trace else { return Ok(None) };
        Ok(Some(survey_with(&trace.file, trace.format, &trace.options())?))
    }

    /// All faults that forbid the replay of the workload's trace, given its `survey`, on a drive
    /// with this namespace.
    pub fn trace_faults(&self, survey: &Survey, namespace: impl Into<Region>) -> Vec<HostError> {
        let namespace = namespace.into();
        let mut faults: Vec<HostError> = Vec::new();
        for initiator in self.expand(Some(survey)) {
            let Some(trace) = &initiator.trace else { continue };
            let region = Region::of(&initiator, namespace);
            for fault in replay::faults(&initiator, trace, survey, region) {
                // Initiators that share a file share most of its faults.
                if faults.iter().all(|known| known.to_string() != fault.to_string()) {
                    faults.push(fault);
                }
            }
        }
        faults
    }

    /// The initiators of this workload: one for each device of a trace with `combine =
    /// "separate"`, named `<name>.<device>`, else the workload itself.
    pub fn expand(&self, survey: Option<&Survey>) -> Vec<WorkloadConfig> {
        let (Some(trace), Some(survey)) = (&self.trace, survey) else { return vec![self.clone()] };
        if trace.combine != Some(Combine::Separate) {
            return vec![self.clone()];
        }
        let chosen = chosen(trace, survey);
        let alone = |device: u32| {
            let mut initiator = self.clone();
            initiator.name = format!("{}.{device}", self.name);
            let trace = initiator.trace.as_mut().expect("it is a copy of one with a trace");
            trace.devices = Some(vec![device]);
            initiator
        };
        chosen.into_iter().map(|known| alone(known.device)).collect()
    }
}

/// Initiators of `workloads` with the name of another one, once those with `combine = "separate"`
/// are expanded by their surveys: the index of the workload and its fault.
pub fn name_clashes(
    workloads: &[WorkloadConfig],
    surveys: &[Option<&Survey>],
) -> Vec<(usize, HostError)> {
    let mut known: BTreeMap<String, usize> = BTreeMap::new();
    let mut clashes = Vec::new();
    for (index, (workload, survey)) in workloads.iter().zip(surveys).enumerate() {
        for initiator in workload.expand(*survey) {
            let Some(other) = known.insert(initiator.name.clone(), index) else { continue };
            let (name, other) = (&initiator.name, &workloads[other].name);
            let problem = format!(
                "an initiator of \"{}\" and one of \"{other}\" would both be called \"{name}\" \
                 (combine = \"separate\" calls its initiators by the device); choose another name",
                workload.name
            );
            let faults = vec![Fault::new("name", problem)];
            let error = ConfigError { workload: workload.name.clone(), faults };
            clashes.push((index, error.into()));
        }
    }
    clashes
}

impl Source {
    /// The requests of `config` to a namespace, with random numbers from `streams`. A trace is
    /// surveyed first.
    pub fn build(
        config: &WorkloadConfig,
        namespace: impl Into<Region>,
        streams: Streams,
    ) -> Result<Self, HostError> {
        let namespace = namespace.into();
        check(config, namespace)?;
        let survey = config.survey()?;
        Self::build_surveyed(config, survey.as_ref(), namespace, streams)
    }

    /// As [`Source::build`], with an existing survey of the trace.
    ///
    /// # Panics
    /// If a workload with a trace comes without a survey.
    pub fn build_surveyed(
        config: &WorkloadConfig,
        survey: Option<&Survey>,
        namespace: impl Into<Region>,
        streams: Streams,
    ) -> Result<Self, HostError> {
        let namespace = namespace.into();
        check(config, namespace)?;
        let region = Region::of(config, namespace);
        let origin = match &config.trace {
            None => Origin::Synthetic(Box::new(Synthetic::build(config, region, streams))),
            Some(trace) => {
                let survey = survey.expect("a trace is surveyed before it is replayed");
                let replay = Replay::build(config, trace, survey, region, streams)?;
                Origin::Trace(Box::new(replay))
            }
        };
        Ok(Self::assemble(config, region, origin))
    }

    fn assemble(config: &WorkloadConfig, region: Region, origin: Origin) -> Self {
        let is_open = config.is_open();
        let stop = config.stop.clone().unwrap_or_default();
        let start = config.start.map_or(Span::ZERO, |start| start.span());
        Self {
            origin,
            name: config.name.clone(),
            priority: config.priority,
            read_recovery_level: config.read_recovery_level,
            region,
            queue_depth: match config.queue_depth {
                Some(depth) => depth.limit(),
                None => (!is_open).then_some(1),
            },
            is_open,
            start,
            deadline: stop
                .time
                .map(|time| Span::from_ns(start.as_ns().saturating_add(time.span().as_ns()))),
            bursts: config.bursts.as_ref().map(Bursts::new),
            requests_left: stop.requests.unwrap_or(u64::MAX),
            bytes_left: stop.bytes.map_or(u64::MAX, |size| size.bytes()),
        }
    }

    /// The next request, or nothing when the initiator has stopped.
    ///
    /// This function enforces limits on requests and bytes, and a limit in time if the issue time
    /// is known (open loop); in a closed loop the caller enforces [`Source::deadline`].
    #[expect(
        clippy::should_implement_trait,
        reason = "an iterator of results would go on after one"
    )]
    #[inline]
    pub fn next(&mut self) -> Result<Option<Request>, HostError> {
        if self.requests_left == 0 || self.bytes_left == 0 {
            return Ok(None);
        }
        let request = match &mut self.origin {
            Origin::Synthetic(synthetic) => synthetic.next(),
            Origin::Trace(replay) => match replay.next()? {
                Some(request) => request,
                None => return Ok(None),
            },
        };
        if let (Issue::At(at), Some(deadline)) = (request.issue, self.deadline)
            && at >= deadline
        {
            self.requests_left = 0;
            return Ok(None);
        }
        self.requests_left -= 1;
        self.bytes_left = self.bytes_left.saturating_sub(request.command.bytes);
        Ok(Some(request))
    }

    /// The initiator's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Rank of its requests.
    pub fn priority(&self) -> Priority {
        self.priority
    }

    /// Read recovery level of its reads, if it chooses one.
    #[inline]
    pub fn read_recovery_level(&self) -> Option<u8> {
        self.read_recovery_level
    }

    /// The part of the drive that it uses; all of its requests lie inside.
    pub fn region(&self) -> Region {
        self.region
    }

    /// Most outstanding requests: always given in a closed loop; in an open loop `None` means no
    /// limit.
    pub fn queue_depth(&self) -> Option<u32> {
        self.queue_depth
    }

    /// True if requests come by a clock of their own ([`Issue::At`]), false if they wait for a
    /// place in the queue ([`Issue::After`]).
    pub fn is_open_loop(&self) -> bool {
        self.is_open
    }

    /// Earliest time of the first request, since the start of the run.
    pub fn start(&self) -> Span {
        self.start
    }

    /// Time from which on no request is issued, since the start of the run.
    pub fn deadline(&self) -> Option<Span> {
        self.deadline
    }

    /// Closed loop: the first moment not before `since_run_start` at which a
    /// request may be issued, which respects `start` and `bursts`. The caller
    /// adds a think time before it asks.
    pub fn earliest(&self, since_run_start: Span) -> Span {
        let since_start = since_run_start.saturating_sub(self.start);
        self.start + self.bursts.map_or(since_start, |bursts| bursts.next_on(since_start))
    }
}

fn check(config: &WorkloadConfig, namespace: Region) -> Result<(), HostError> {
    let faults = config.faults(namespace);
    if faults.is_empty() {
        return Ok(());
    }
    Err(ConfigError { workload: config.name.clone(), faults }.into())
}
