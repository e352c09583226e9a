//! Statistics of traces, conversions and synthetic traces.

use crate::names::{kind_of, unknown};
use crate::{errors, guard};
use pyo3::prelude::*;
use serde_json::{Value, json};
use std::path::PathBuf;
use traces::imitate::{DESCRIPTION_VERSION, Model};
use traces::statistics::{Measured, Progress, measure};
use traces::write::{self, Choices, Destination, Target};
use traces::{Fault, Format, Kind, Options, Passed, Remarks, TraceError};

/// Formats of traces: name, title, and whether they can be written.
#[pyfunction]
pub fn trace_formats() -> Vec<(&'static str, &'static str, bool)> {
    let facts = |format: &Format| {
        let name = format.name();
        (name, format.title(), Target::of(name).is_some())
    };
    Format::ALL.iter().map(facts).collect()
}

/// Trace options of a file from a dictionary: those of `workload.trace` by key.
fn options(given: &str) -> PyResult<Options> {
    serde_json::from_str(given).map_err(|error| errors::argument(error.to_string()))
}

/// Facts of the file, statistics and the model for a synthetic trace, each as JSON text.
/// `ongoing` is called with the requests and the share of the file that were read.
#[pyfunction]
#[pyo3(signature = (path, *, format=None, reading="{}", memory_bytes, ongoing=None))]
pub fn trace_info(
    py: Python<'_>,
    path: PathBuf,
    format: Option<&str>,
    reading: &str,
    memory_bytes: u64,
    ongoing: Option<Py<PyAny>>,
) -> PyResult<(String, String, String)> {
    let format = format.map(known_format).transpose()?;
    let options = options(reading)?;
    let mut report = Report::new(ongoing);
    let measured = guard::detached(py, || {
        measure(&path, format, &options, memory_bytes, &mut |at| report.tell(at))
    })?;
    let measured = report.outcome(measured.map_err(|error| errors::host(error.into()))?)?;
    let facts = facts(&path, &measured);
    let statistics = measured.statistics;
    Ok((facts.to_string(), errors::json(&statistics)?, errors::json(&statistics.model)?))
}

fn facts(path: &std::path::Path, measured: &Measured) -> Value {
    json!({
        "file": path.display().to_string(),
        "format": measured.format.name(),
        "title": measured.format.title(),
        "reason": measured.reason,
        "compressed": measured.compression.is_some(),
        "first_stamp_ns": measured.first_stamp.as_ns(),
        "stamps": {
            "unit_ns": measured.stamps.unit.as_ns(),
            "repeated": measured.stamps.repeated,
            "most_at_once": measured.stamps.most_at_once,
            "coarse": measured.stamps.is_coarse(),
            "spread": measured.spread,
        },
        "passed_over": passed(&measured.remarks),
        "read_as": measured.remarks.notes,
        "doubts": measured.remarks.doubts,
        "device_names": measured.remarks.names,
    })
}

/// Lines that are no requests, by reason.
fn passed(remarks: &Remarks) -> Vec<Value> {
    let of_reason = |passed: &Passed| {
        let Passed { reason, lines, first_line } = *passed;
        json!({ "reason": reason, "lines": lines, "first_line": first_line })
    };
    remarks.passed.iter().map(of_reason).collect()
}

/// The version of descriptions.
#[pyfunction]
pub fn trace_description_version() -> u32 {
    DESCRIPTION_VERSION
}

/// Writes a trace in another format; returns the result as JSON text.
#[pyfunction]
#[pyo3(signature = (
    input, output, to, *, format=None, reading="{}", drop=Vec::new(), round=false, sort=false, devices=None,
    start_ns=None, end_ns=None, time_scale=None, rebase=false, force=false, ongoing=None
))]
#[expect(clippy::too_many_arguments, reason = "keywords in Python")]
pub fn trace_convert(
    py: Python<'_>,
    input: PathBuf,
    output: PathBuf,
    to: &str,
    format: Option<&str>,
    reading: &str,
    drop: Vec<String>,
    round: bool,
    sort: bool,
    devices: Option<Vec<u32>>,
    start_ns: Option<u64>,
    end_ns: Option<u64>,
    time_scale: Option<f64>,
    rebase: bool,
    force: bool,
    ongoing: Option<Py<PyAny>>,
) -> PyResult<String> {
    let target = known_target(to)?;
    let choices = Choices {
        format: format.map(known_format).transpose()?,
        options: options(reading)?,
        drop: drop.iter().map(|name| kind_of("drop", name)).collect::<PyResult<_>>()?,
        round,
        sort,
        devices,
        start: start_ns.map(engine::Span::from_ns),
        end: end_ns.map(engine::Span::from_ns),
        time_scale,
        rebase,
        force,
    };
    let mut report = Report::new(ongoing);
    let converted = guard::detached(py, || {
        write::convert(&input, &output, target, &choices, &mut |at| report.tell(at))
    })?;
    let done = report.outcome(converted.map_err(|error| errors::host(error.into()))?)?;
    let figures = json!({
        "title": target.title(),
        "read": done.read,
        "written": done.written,
        "dropped": by_kind(done.dropped),
        "not_asked_for": done.not_asked_for,
        "rounded": done.rounded,
        "passed_over": passed(&done.remarks),
        "read_as": done.remarks.notes,
        "doubts": done.remarks.doubts,
        "notes": done.notes,
    });
    Ok(figures.to_string())
}

/// Writes a synthetic trace from a description; returns the result as JSON text. `file` is the
/// name of the description in error messages.
#[pyfunction]
#[pyo3(signature = (
    description, output, to, *, file, requests=None, span_bytes=None, seed=0, drop=Vec::new(),
    force=false, ongoing=None
))]
#[expect(clippy::too_many_arguments, reason = "keywords in Python")]
pub fn trace_imitate(
    py: Python<'_>,
    description: &str,
    output: PathBuf,
    to: &str,
    file: PathBuf,
    requests: Option<u64>,
    span_bytes: Option<u64>,
    seed: u64,
    drop: Vec<String>,
    force: bool,
    ongoing: Option<Py<PyAny>>,
) -> PyResult<String> {
    let target = known_target(to)?;
    let drop = drop.iter().map(|name| kind_of("drop", name)).collect::<PyResult<Vec<_>>>()?;
    let mut report = Report::new(ongoing);
    let imitated = guard::detached(py, || {
        let model = Model::parse(description, &file)?;
        let mut wishes = model.wishes();
        wishes.requests = requests.unwrap_or(wishes.requests);
        wishes.span_bytes = span_bytes.unwrap_or(wishes.span_bytes);
        wishes.seed = seed;
        let faults = model.faults(&wishes);
        if !faults.is_empty() {
            return Err(refused(&file, &faults));
        }
        let to = Destination { output: &output, target, drop: &drop, force };
        write::imitate(&model, wishes, to, &mut |at| report.tell(at))
    })?;
    let done = report.outcome(imitated.map_err(|error| errors::host(error.into()))?)?;
    let figures = json!({
        "title": target.title(),
        "written": done.written,
        "dropped": by_kind(done.dropped),
        "rounded": done.rounded,
    });
    Ok(figures.to_string())
}

/// All faults of a description at once.
fn refused(file: &std::path::Path, faults: &[Fault]) -> TraceError {
    let listed = faults.iter().map(|fault| format!("\n  {}: {}", fault.key, fault.problem));
    let problem = format!("no synthetic trace can be made:{}", listed.collect::<String>());
    TraceError { file: file.to_owned(), line: None, problem }
}

fn by_kind(counts: [u64; Kind::ALL.len()]) -> Value {
    let counted = Kind::ALL.iter().zip(counts).filter(|(_, count)| *count > 0);
    counted.map(|(kind, count)| (kind.name().to_owned(), json!(count))).collect()
}

fn format_of(name: &str) -> Option<Format> {
    Format::ALL.iter().copied().find(|format| format.name() == name)
}

fn known_format(name: &str) -> PyResult<Format> {
    let names: Vec<_> = Format::ALL.iter().map(|format| format.name()).collect();
    format_of(name).ok_or_else(|| unknown("format", "format", name, &names))
}

fn known_target(name: &str) -> PyResult<Target> {
    let names: Vec<_> = Target::ALL.iter().map(|target| target.name()).collect();
    Target::of(name).ok_or_else(|| unknown("to", "format", name, &names))
}

/// Reports progress to Python, and keeps an exception that this raises.
struct Report {
    ongoing: Option<Py<PyAny>>,
    raised: Option<PyErr>,
}

impl Report {
    fn new(ongoing: Option<Py<PyAny>>) -> Self {
        Self { ongoing, raised: None }
    }

    /// False if Python has raised something, such as Ctrl-C.
    fn tell(&mut self, at: Progress) -> bool {
        let told = Python::attach(|py| {
            py.check_signals()?;
            if let Some(ongoing) = &self.ongoing {
                ongoing.call1(py, (at.requests, at.share))?;
            }
            Ok(())
        });
        self.raised = told.err();
        self.raised.is_none()
    }

    /// The result, or the exception that was raised meanwhile.
    fn outcome<T>(self, made: Option<T>) -> PyResult<T> {
        made.ok_or_else(|| self.raised.expect("nothing else ends it"))
    }
}
