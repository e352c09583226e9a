//! From Rust's errors to Python's, which are declared in `flashscape/errors.py`.

use drive::RunError;
use host::HostError;
use pyo3::prelude::*;
use serde::Serialize;
use settings::{Problem, Problems};

pyo3::import_exception!(flashscape.errors, ConfigError);
pyo3::import_exception!(flashscape.errors, SimulatorError);
pyo3::import_exception!(flashscape.errors, SpaceError);
pyo3::import_exception!(flashscape.errors, TraceError);

/// Every fault of a configuration: the text, and `(path, file, line, message)` of each.
pub fn config(problems: &Problems) -> PyErr {
    let listed: Vec<_> =
        problems.problems.iter().map(|fault| entry(&problems.file, fault)).collect();
    ConfigError::new_err((problems.to_string(), listed))
}

fn entry(file: &str, problem: &Problem) -> (String, String, Option<u32>, String) {
    let source = problem.source.clone().unwrap_or_else(|| file.to_owned());
    (problem.path.clone(), source, problem.line, problem.message.clone())
}

/// A workload or its trace is at fault.
pub fn host(error: HostError) -> PyErr {
    match error {
        HostError::Trace(error) => {
            let place = (error.file.clone(), error.line, error.problem.clone());
            TraceError::new_err((error.to_string(), place.0, place.1, place.2))
        }
        HostError::Config(error) => {
            let mut problems = Problems::new(format!("workload {:?}", error.workload));
            for fault in error.faults {
                problems.push(fault.key, fault.problem);
            }
            config(&problems)
        }
    }
}

/// A run ended early.
pub fn run(error: RunError) -> PyErr {
    match error {
        RunError::Host(error) => host(error),
        RunError::NoSpace(_) | RunError::Stuck { .. } => SpaceError::new_err(error.to_string()),
        RunError::Workload { workload, problem } => {
            let mut problems = Problems::new(format!("workload {workload:?}"));
            problems.push("", problem);
            config(&problems)
        }
        RunError::Audit(_) => SimulatorError::new_err(error.to_string()),
    }
}

/// JSON text of plain data.
pub fn json(value: &impl Serialize) -> PyResult<String> {
    serde_json::to_string(value).map_err(|error| SimulatorError::new_err(error.to_string()))
}
