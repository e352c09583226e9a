//! What flashscape knows by name.

use crate::errors;
use drive::{Experiment, presets::PRESETS};
use metrics::State;
use pyo3::prelude::*;

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

/// Every state that time is charged to: its name and what it means.
#[pyfunction]
pub fn states() -> Vec<(&'static str, &'static str)> {
    State::ALL.iter().map(|state| (state.name(), state.meaning().trim())).collect()
}
