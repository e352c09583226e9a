//! Replay of a trace: its rows as requests, by their stamps or one after the other.

use crate::arrivals::Arrivals;
use crate::config::{Disorder, TraceConfig, TraceMode, WorkloadConfig};
use crate::error::{ConfigError, HostError};
use crate::placement::{self, Placement};
use crate::region::Region;
use crate::request::{Issue, Request};
use engine::{Span, Streams};
use settings::counted;
use std::path::PathBuf;
use traces::{Command, Format, Options, Row, Spread, Spreading, Survey, TraceError};

/// The requests of a trace.
pub(crate) struct Replay {
    file: PathBuf,
    format: Format,
    options: Options,
    rows: Spreading,
    slack_ns: u64,
    /// The unit over which rows of equal stamps are spread.
    spread_ns: Option<u64>,
    placement: Placement,
    pace: Pace,
    passes_left: u64,
}

/// Issue time of rows.
enum Pace {
    Stamps(Stamps),
    Closed(Arrivals),
}

/// Issue by the stamps. All times are in nanoseconds.
struct Stamps {
    /// The file's earliest stamp, which becomes `start`.
    first: u64,
    scale: f64,
    start: u64,
    /// Time from the last stamp of a pass to the first of its repetition.
    period: u64,
    /// Duration of the earlier passes.
    passed: u64,
    /// The last issue time.
    latest: u64,
}

impl Replay {
    /// Prepares the replay of the trace of `config`, which `survey` has read.
    pub fn build(
        config: &WorkloadConfig,
        trace: &TraceConfig,
        survey: &Survey,
        region: Region,
        streams: Streams,
    ) -> Result<Self, HostError> {
        check_devices(config, trace, survey)?;
        let placement = Placement::plan(trace, survey, region)?;
        let slack_ns = slack_ns(trace, survey)?;
        let spread_ns = spread_ns(trace, survey);
        let (format, options) = (survey.format, survey.options);
        Ok(Self {
            file: survey.file.clone(),
            format,
            options,
            rows: Spreading::open(&survey.file, format, &options, slack_ns, spread_ns)?.surveyed(),
            slack_ns,
            spread_ns,
            placement,
            pace: Pace::new(config, trace, survey, streams),
            passes_left: trace.repeat.unwrap_or(1) - 1,
        })
    }

    /// The next request, or nothing after the last.
    #[inline]
    pub fn next(&mut self) -> Result<Option<Request>, HostError> {
        loop {
            let Some(row) = self.rows.next_row()? else {
                if !self.rewind()? {
                    return Ok(None);
                }
                continue;
            };
            let Some(command) = self.placement.place(&row) else { continue };
            return self.issue(&row, command).map(Some);
        }
    }

    fn issue(&mut self, row: &Row, command: Command) -> Result<Request, HostError> {
        if !self.placement.contains(command) {
            return Err(self.changed());
        }
        let issue = match &mut self.pace {
            Pace::Closed(thinking) => thinking.next(),
            Pace::Stamps(stamps) => match stamps.at(row.stamp_ns) {
                Some(at) => Issue::At(at),
                None => return Err(self.changed()),
            },
        };
        Ok(Request { command, issue })
    }

    /// Starts the next pass, if one is left.
    fn rewind(&mut self) -> Result<bool, HostError> {
        if self.passes_left == 0 {
            return Ok(false);
        }
        self.passes_left -= 1;
        let (slack_ns, spread_ns) = (self.slack_ns, self.spread_ns);
        let rows = Spreading::open(&self.file, self.format, &self.options, slack_ns, spread_ns)?;
        self.rows = rows.surveyed();
        if let Pace::Stamps(stamps) = &mut self.pace {
            stamps.passed = stamps.passed.saturating_add(stamps.period);
        }
        Ok(true)
    }

    /// The error of a request that the survey had excluded: the file has changed since.
    #[cold]
    fn changed(&self) -> HostError {
        self.rows.error("the file has changed since it was surveyed".to_owned()).into()
    }
}

/// Everything that forbids the replay of a trace that `survey` has read.
pub(crate) fn faults(
    config: &WorkloadConfig,
    trace: &TraceConfig,
    survey: &Survey,
    region: Region,
) -> Vec<HostError> {
    // The placement of the devices is only checked if their choice has no fault.
    let placed = check_devices(config, trace, survey)
        .and_then(|()| Placement::plan(trace, survey, region).map(drop));
    let ordered = slack_ns(trace, survey).map(drop);
    [placed, ordered].into_iter().filter_map(Result::err).collect()
}

fn check_devices(
    config: &WorkloadConfig,
    trace: &TraceConfig,
    survey: &Survey,
) -> Result<(), HostError> {
    let faults = placement::faults(trace, survey);
    if faults.is_empty() {
        return Ok(());
    }
    Err(ConfigError { workload: config.name.clone(), faults }.into())
}

impl Pace {
    fn new(
        config: &WorkloadConfig,
        trace: &TraceConfig,
        survey: &Survey,
        streams: Streams,
    ) -> Self {
        if trace.mode == TraceMode::Closed {
            return Self::Closed(Arrivals::new(config, streams));
        }
        let start = config.start.map_or(0, |start| start.span().as_ns());
        Self::Stamps(Stamps {
            first: survey.first_stamp.as_ns(),
            scale: trace.time_scale.unwrap_or(1.0),
            start,
            period: period_ns(trace, survey),
            passed: 0,
            latest: start,
        })
    }
}

impl Stamps {
    /// Issue time of a row since the start of the run; nothing if that is before the last issued
    /// request.
    #[inline]
    fn at(&mut self, stamp_ns: u64) -> Option<Span> {
        let since_first = stamp_ns.checked_sub(self.first)?.saturating_add(self.passed);
        // Exact, whatever their size, if stamps are not scaled.
        let scaled = if self.scale == 1.0 {
            since_first
        } else {
            (since_first as f64 * self.scale).round() as u64
        };
        let at = self.start.saturating_add(scaled);
        if at < self.latest {
            return None;
        }
        self.latest = at;
        Some(Span::from_ns(at))
    }
}

/// The unit over which rows of equal stamps are spread, if they are.
fn spread_ns(trace: &TraceConfig, survey: &Survey) -> Option<u64> {
    let spreads = trace.mode == TraceMode::Open && survey.options.spread == Some(Spread::Uniform);
    spreads.then(|| survey.stamps.unit.as_ns())
}

/// Time by which a repetition follows the pass before it: a mean gap after the last stamp, or the
/// unit over which the rows of the last stamp are spread.
fn period_ns(trace: &TraceConfig, survey: &Survey) -> u64 {
    let behind = survey.mean_gap().as_ns().max(spread_ns(trace, survey).unwrap_or(0));
    survey.span().as_ns().saturating_add(behind)
}

/// Largest distance by which a stamp may lie behind an earlier one, in nanoseconds; 0 if rows are
/// taken in file order.
fn slack_ns(trace: &TraceConfig, survey: &Survey) -> Result<u64, HostError> {
    let Some(backwards) = survey.backwards else { return Ok(0) };
    if trace.mode == TraceMode::Closed {
        return Ok(0);
    }
    let by_default = match survey.format.sorts_by_default() {
        true => Disorder::Sort,
        false => Disorder::Refuse,
    };
    match trace.disorder.unwrap_or(by_default) {
        Disorder::Sort => Ok(backwards.largest_step.as_ns()),
        Disorder::Refuse => Err(runs_backwards(survey)),
    }
}

/// The refusal of a trace whose stamps run backwards.
fn runs_backwards(survey: &Survey) -> HostError {
    let backwards = survey.backwards.expect("only such a trace is refused");
    let problem = format!(
        "the stamp is earlier than one before it ({} so, by up to {}); \
         write disorder = \"sort\" to replay in the order of the stamps, or mode = \"closed\"",
        counted(backwards.rows, "row"),
        backwards.largest_step
    );
    let (file, line) = (survey.file.clone(), Some(backwards.first_line));
    TraceError { file, line, problem }.into()
}
