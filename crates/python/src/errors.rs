//! Conversion of Rust's errors to Python's, which are declared in `flashscape/errors.py`.

use drive::RunError;
use drive::snapshot::Damaged;
use drive::starvation::{REMEDY, Starved};
use host::HostError;
use parquet::errors::ParquetError;
use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;
use serde::Serialize;
use settings::{Problem, Problems};
use std::io;
use std::path::PathBuf;

pyo3::import_exception!(flashscape.errors, ConfigError);
pyo3::import_exception!(flashscape.errors, PolicyError);
pyo3::import_exception!(flashscape.errors, SimulatorError);
pyo3::import_exception!(flashscape.errors, SnapshotError);
pyo3::import_exception!(flashscape.errors, SpaceError);
pyo3::import_exception!(flashscape.errors, StarvationError);
pyo3::import_exception!(flashscape.errors, TraceError);

/// Every fault of a configuration: the text, and `(path, file, line, message)` of each.
pub fn config(problems: &Problems) -> PyErr {
    let listed: Vec<_> =
        problems.problems.iter().map(|fault| entry(&problems.file, fault)).collect();
    ConfigError::new_err((problems.to_string(), listed))
}

/// An argument that means nothing.
pub fn argument(problem: impl Into<String>) -> PyErr {
    ConfigError::new_err((problem.into(),))
}

fn entry(file: &str, problem: &Problem) -> (String, String, Option<u32>, String) {
    let source = problem.source.clone().unwrap_or_else(|| file.to_owned());
    (problem.path.clone(), source, problem.line, problem.message.clone())
}

/// A fault of a workload or its trace.
pub fn host(error: HostError) -> PyErr {
    match error {
        HostError::Trace(error) => trace(error.to_string(), &error),
        HostError::Config(error) => {
            let mut problems = Problems::new(format!("workload {:?}", error.workload));
            for fault in error.faults {
                problems.push(fault.key, fault.problem);
            }
            config(&problems)
        }
    }
}

/// Traces that cannot be replayed, and faults of the configuration about them.
pub fn traces(errors: Vec<traces::TraceError>, problems: &Problems) -> PyErr {
    let Some(first) = errors.first() else { return config(problems) };
    let mut texts: Vec<String> = errors.iter().map(ToString::to_string).collect();
    if !problems.is_empty() {
        texts.push(problems.to_string());
    }
    trace(texts.join("\n"), first)
}

fn trace(text: String, error: &traces::TraceError) -> PyErr {
    let place = (error.file.clone(), error.line, error.problem.clone());
    TraceError::new_err((text, place.0, place.1, place.2))
}

/// A run ended early.
pub fn run(error: RunError) -> PyErr {
    match error {
        RunError::Host(error) => host(error),
        RunError::Snapshot(error) => damaged(error),
        RunError::Restless(why) => restless(why),
        RunError::Unfit(faults) => unfit("snapshot", faults),
        RunError::NoSpace(_) | RunError::Stuck { .. } => SpaceError::new_err(error.to_string()),
        RunError::Starved(first) => starved(&first),
        RunError::Workload { workload, problem } => {
            let mut problems = Problems::new(format!("workload {workload:?}"));
            problems.push("", problem);
            config(&problems)
        }
        RunError::Versions => {
            let mut problems = Problems::new("");
            problems.push("drive.recovery", error.to_string());
            config(&problems)
        }
        RunError::Lost(_) => {
            let mut problems = Problems::new("the run");
            problems.push("run.failures", error.to_string());
            config(&problems)
        }
        RunError::Policy(_) => PolicyError::new_err(error.to_string()),
        RunError::Audit(_) => SimulatorError::new_err(error.to_string()),
    }
}

/// A request has waited for longer than it may: the text, and the record as JSON text.
fn starved(first: &Starved) -> PyErr {
    starved_as(first, None)
}

/// As [`starved`], for a request that the caller knows by an id.
pub fn starved_as(first: &Starved, id: Option<u64>) -> PyErr {
    let record = drive::results::starved(first).to_string();
    StarvationError::new_err((format!("starvation: {first}; {REMEDY}"), record, id))
}

/// A file holds no snapshot that can be used.
pub fn damaged(error: Damaged) -> PyErr {
    SnapshotError::new_err((error.to_string(), error.file, error.problem))
}

/// A drive cannot be shut down.
pub fn restless(why: String) -> PyErr {
    SnapshotError::new_err((format!("no snapshot can be taken: {why}"), None::<PathBuf>, why))
}

/// A snapshot is of a drive of another layout.
pub fn unfit(file: &str, faults: Vec<(&'static str, String)>) -> PyErr {
    let mut problems = Problems::new(file);
    faults.into_iter().for_each(|(path, problem)| problems.push(path, problem));
    config(&problems)
}

/// JSON text of plain data.
pub fn json(value: &impl Serialize) -> PyResult<String> {
    serde_json::to_string(value).map_err(|error| SimulatorError::new_err(error.to_string()))
}

/// A file cannot be written. `OSError` with the system's number, as Python's own.
pub fn file(error: ParquetError) -> PyErr {
    match error {
        ParquetError::External(inner) => match inner.downcast::<io::Error>() {
            Ok(error) => match error.raw_os_error() {
                Some(number) => PyOSError::new_err((number, error.to_string())),
                None => PyOSError::new_err(error.to_string()),
            },
            Err(other) => SimulatorError::new_err(other.to_string()),
        },
        other => SimulatorError::new_err(other.to_string()),
    }
}
