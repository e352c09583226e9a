//! Lists of everything that has a name.

use crate::errors;
use drive::{Experiment, presets::PRESETS};
use metrics::{State, student};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use settings::{Document, Size, Time};

/// Every preset: its name, its version, a description in one line, and its TOML text, which gives
/// the source of each figure.
#[pyfunction]
pub fn presets() -> Vec<(&'static str, u32, &'static str, &'static str)> {
    PRESETS.iter().map(|preset| (preset.name, preset.version, preset.about, preset.text)).collect()
}

/// The JSON Schema of an experiment, as JSON text.
#[pyfunction]
pub fn schema() -> PyResult<String> {
    let names: Vec<_> = PRESETS.iter().map(|preset| preset.name).collect();
    errors::json(&settings::schema_under_presets::<Experiment>("drive", &names))
}

/// The path of an experiment with the current names of its keys.
#[pyfunction]
pub fn current_path(path: &str) -> String {
    drive::load::current_path(path)
}

/// Converts TOML text to JSON text and returns the line of each path in it; error messages call
/// it `file`.
#[pyfunction]
pub fn toml(text: &str, file: &str) -> PyResult<(String, Vec<(String, u32)>)> {
    let document = Document::parse(text, file).map_err(|problems| errors::config(&problems))?;
    let lines = document.lines().map(|(path, line)| (path.to_owned(), line)).collect();
    Ok((errors::json(document.root())?, lines))
}

/// The bytes of a size as configurations write it: `4 KiB`.
#[pyfunction]
pub fn size_bytes(text: &str) -> PyResult<u64> {
    let size: Result<Size, _> = text.parse();
    size.map(Size::bytes).map_err(|refusal| PyValueError::new_err(refusal.to_string()))
}

/// The nanoseconds of a time as configurations write it: `3.5 ms`.
#[pyfunction]
pub fn time_ns(text: &str) -> PyResult<u64> {
    let time: Result<Time, _> = text.parse();
    let ns = time.map(|time| time.span().as_ns());
    ns.map_err(|refusal| PyValueError::new_err(refusal.to_string()))
}

/// Every state that time is charged to: its name and meaning.
#[pyfunction]
pub fn states() -> Vec<(&'static str, &'static str)> {
    State::ALL.iter().map(|state| (state.name(), state.meaning().trim())).collect()
}

/// The probability that Student's t is at most `t`.
#[pyfunction]
pub fn student_cdf(t: f64, freedom: u32) -> PyResult<f64> {
    refuse_no_freedom(freedom)?;
    Ok(student::cdf(t, freedom))
}

/// The value that Student's t does not exceed with a probability of at least 0.5.
#[pyfunction]
pub fn student_quantile(probability: f64, freedom: u32) -> PyResult<f64> {
    refuse_no_freedom(freedom)?;
    if !(0.5..=1.0).contains(&probability) {
        return Err(PyValueError::new_err(format!("{probability} is not from 0.5 to 1")));
    }
    Ok(student::quantile(probability, freedom))
}

fn refuse_no_freedom(freedom: u32) -> PyResult<()> {
    if freedom == 0 {
        return Err(PyValueError::new_err("0 degrees of freedom: one value has no spread"));
    }
    Ok(())
}
