//! Detection of a file's format from its first rows; the reason is always reported.
//!
//! A format fits if it parses every row of the sample. Whole numbers in five columns fit both
//! MQSim (ns) and DiskSim (ms). A reading with a mean gap between requests of more than ten
//! seconds is then ruled out. If that does not leave exactly one format, or if its units cannot be
//! right, the user must name it.

use super::options::Options;
use super::plausible::{Doubt, GAP_MAX_NS, Sample};
use super::read::Format;
use super::remarks::Passed;
use super::rows::Rows;
use crate::error::TraceError;
use std::path::Path;

/// Rows in the sample.
const SAMPLE_ROWS: u64 = 1_000;

/// Lines in the sample, if most of them are no rows.
const SAMPLE_LINES: u64 = 100_000;

/// Rows in the sample if the first of them look as if they were in other units: they may be
/// unlike the rest.
const DOUBTED_ROWS: u64 = 100_000;

/// Beginning of the error about a file whose units are doubtful.
pub(crate) const READS_AS: &str = "it reads as";

/// The format of a file and the reason for it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Detection {
    pub format: Format,
    pub reason: String,
}

/// Result of reading the sample in a format.
struct Attempt {
    format: Format,
    /// True if the file begins with the format's header.
    has_header: bool,
    rows: u64,
    /// Lines that could be parsed, rows among them.
    lines: u64,
    passed: Vec<Passed>,
    sample: Sample,
    /// Units that cannot be right.
    doubts: Vec<Doubt>,
    fault: Option<TraceError>,
}

/// Finds the format of a file.
pub(crate) fn detect(path: &Path, options: &Options) -> Result<Detection, TraceError> {
    let attempts = Format::ALL.iter().map(|format| Attempt::make(path, *format, options));
    let attempts: Vec<Attempt> = attempts.collect::<Result<_, _>>()?;
    let fits = |attempt: &&Attempt| attempt.fault.is_none() && attempt.lines > 0;
    let fitting: Vec<&Attempt> = attempts.iter().filter(fits).collect();
    match fitting[..] {
        [] if attempts.iter().any(|attempt| attempt.fault.is_none()) => Err(empty(path, &[])),
        [] => Err(nothing_fits(path, attempts)),
        [only] if only.rows == 0 => Err(empty(path, &only.passed)),
        [only] => {
            let first = only.rows.min(SAMPLE_ROWS);
            only.chosen(path, format!("by its first {first} rows, which are of no other format"))
        }
        _ => choose(path, &fitting, options),
    }
}

/// The error of a file without a row; `passed` are the lines that were passed over.
pub(crate) fn empty(path: &Path, passed: &[Passed]) -> TraceError {
    let mut problem = "the trace has no rows".to_owned();
    let reasons =
        passed.iter().map(|p| format!("{}: {}", settings::counted(p.lines, "line"), p.reason));
    let reasons = reasons.collect::<Vec<_>>().join("; ");
    if !reasons.is_empty() {
        problem += &format!(" to replay; passed over: {reasons}");
    }
    TraceError { file: path.to_owned(), line: None, problem }
}

impl Attempt {
    /// Reads the sample in a format. A file that cannot be opened is an error; a row that cannot
    /// be parsed is a result.
    fn make(path: &Path, format: Format, options: &Options) -> Result<Self, TraceError> {
        let mut attempt = Self {
            format,
            has_header: false,
            rows: 0,
            lines: 0,
            passed: Vec::new(),
            sample: Sample::NONE,
            doubts: Vec::new(),
            fault: None,
        };
        let mut rows = match Rows::open_with(path, format, options) {
            Ok(rows) => rows,
            Err(fault) if fault.line.is_none() => return Err(fault),
            Err(fault) => return Ok(Self { fault: Some(fault), ..attempt }),
        };
        attempt.has_header = rows.has_header();
        attempt.take(&mut rows, SAMPLE_ROWS);
        if attempt.fault.is_none() && attempt.is_doubted(&rows) {
            attempt.take(&mut rows, DOUBTED_ROWS);
            attempt.doubts = rows.doubts().into_iter().filter(|doubt| doubt.is_strong).collect();
        }
        attempt.sample = rows.sample();
        attempt.passed = rows.passed();
        attempt.lines =
            attempt.rows + attempt.passed.iter().map(|passed| passed.lines).sum::<u64>();
        Ok(attempt)
    }

    /// Reads on to this many rows.
    fn take(&mut self, rows: &mut Rows, most: u64) {
        while self.rows < most && rows.line() < SAMPLE_LINES {
            match rows.next() {
                Ok(Some(_)) => self.rows += 1,
                Ok(None) => break,
                Err(fault) => {
                    self.fault = Some(fault);
                    break;
                }
            }
        }
    }

    fn is_doubted(&self, rows: &Rows) -> bool {
        rows.doubts().iter().any(|doubt| doubt.is_strong)
    }

    /// The mean gap between the rows of the sample.
    fn gap_ns(&self) -> u64 {
        self.sample.gap_ns()
    }

    /// The detected format, unless its units cannot be right.
    fn chosen(&self, path: &Path, reason: String) -> Result<Detection, TraceError> {
        let format = self.format;
        if self.doubts.is_empty() {
            return Ok(Detection { format, reason });
        }
        let told: Vec<&str> = self.doubts.iter().map(|doubt| doubt.told.as_str()).collect();
        let problem = format!(
            "{READS_AS} {} {reason}, but a unit is doubtful:\n  {}",
            format.title(),
            told.join("\n  ")
        );
        Err(TraceError { file: path.to_owned(), line: None, problem })
    }
}

/// Chooses among the formats that fit, if their units of time allow it.
fn choose(path: &Path, fitting: &[&Attempt], options: &Options) -> Result<Detection, TraceError> {
    let (plausible, ruled_out): (Vec<&Attempt>, Vec<&Attempt>) =
        fitting.iter().partition(|attempt| attempt.gap_ns() <= GAP_MAX_NS);
    let reading = |a: &&Attempt| {
        format!("{} (then requests come {} apart)", a.format.name(), gap(a.gap_ns()))
    };
    let readings = |of: &[&Attempt]| of.iter().map(reading).collect::<Vec<_>>().join(" or ");
    if let [only] = plausible[..] {
        let reason = format!("it reads as {}, hardly as {}", reading(&only), readings(&ruled_out));
        return only.chosen(path, reason);
    }
    if let (Some(unit), [first, ..]) = (options.time_unit, &plausible[..]) {
        let reason =
            format!("with stamps in {}, {} is alike", unit.sign(), readings(&plausible[1..]));
        return first.chosen(path, reason);
    }
    let names: Vec<String> = fitting.iter().map(|a| format!("{:?}", a.format.name())).collect();
    let problem = format!(
        "the format is ambiguous: whole numbers that read as {}; say which: format = {}, with \
         time_unit if stamps count another unit",
        readings(fitting),
        names.join(" or ")
    );
    Err(TraceError { file: path.to_owned(), line: None, problem })
}

/// The fault of the format whose header the file has, else that of the format that read the
/// farthest; if no format read a row, the faults of all.
fn nothing_fits(path: &Path, mut attempts: Vec<Attempt>) -> TraceError {
    if let Some(named) = attempts.iter_mut().find(|attempt| attempt.has_header)
        && let Some(fault) = named.fault.take()
    {
        return fault;
    }
    let farthest = attempts.iter().map(|attempt| attempt.rows).max().unwrap_or(0);
    if farthest == 0 {
        let why = |a: &Attempt| a.fault.as_ref().map(|fault| format!("\n  {}", fault.problem));
        let mut reasons: Vec<String> = attempts.iter().filter_map(why).collect();
        // A damaged gzip file is the same fault under every format.
        reasons.dedup();
        let reasons = reasons.concat();
        let problem = format!(
            "the first row reads as none of the known formats:{reasons}\n  remedy: if it is one of these formats, fix this row; otherwise convert it to CSV with the header time_us,op,offset,length; docs/traces.md describes each format"
        );
        return TraceError { file: path.to_owned(), line: Some(1), problem };
    }
    let best =
        attempts.into_iter().find(|attempt| attempt.rows == farthest && attempt.fault.is_some());
    best.and_then(|attempt| attempt.fault).expect("no format fits, so each has a fault")
}

/// A gap in the unit that suits its size.
fn gap(ns: u64) -> String {
    match ns {
        0..1_000 => format!("{ns} ns"),
        1_000..1_000_000 => format!("{} us", ns / 1_000),
        1_000_000..1_000_000_000 => format!("{} ms", ns / 1_000_000),
        _ => format!("{} s", ns / 1_000_000_000),
    }
}
