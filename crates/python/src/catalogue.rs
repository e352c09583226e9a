//! What flashscape knows by name.

use crate::errors;
use drive::{Experiment, presets::PRESETS};
use metrics::State;
use pyo3::prelude::*;
use settings::Document;

/// Every preset: its name, what it is in a line, and its TOML text, which says
/// where each figure comes from.
#[pyfunction]
pub fn presets() -> Vec<(&'static str, &'static str, &'static str)> {
    PRESETS.iter().map(|preset| (preset.name, preset.about, preset.text)).collect()
}

/// The JSON Schema of an experiment, as JSON text.
#[pyfunction]
pub fn schema() -> PyResult<String> {
    let names: Vec<_> = PRESETS.iter().map(|preset| preset.name).collect();
    errors::json(&settings::schema_under_presets::<Experiment>("drive", &names))
}

/// TOML text as JSON text, and the line of each path in it; `file` is what faults call it.
#[pyfunction]
pub fn toml(text: &str, file: &str) -> PyResult<(String, Vec<(String, u32)>)> {
    let document = Document::parse(text, file).map_err(|problems| errors::config(&problems))?;
    let lines = document.lines().map(|(path, line)| (path.to_owned(), line)).collect();
    Ok((errors::json(document.root())?, lines))
}

/// Every state that time is charged to: its name and what it means.
#[pyfunction]
pub fn states() -> Vec<(&'static str, &'static str)> {
    State::ALL.iter().map(|state| (state.name(), state.meaning().trim())).collect()
}
