//! A checked configuration.

use crate::{errors, guard};
use drive::Experiment;
use drive::check::Checked;
use drive::load::{load, load_json};
use pyo3::prelude::*;
use std::path::Path;
use std::sync::Arc;

/// A checked configuration; it never changes and may be run any number of times,
/// in several threads at once.
#[pyclass(frozen, module = "flashscape._flashscape")]
pub struct Plan {
    pub(crate) inner: Arc<Inner>,
}

pub(crate) struct Inner {
    pub experiment: Experiment,
    pub checked: Checked,
}

#[pymethods]
impl Plan {
    /// Reads an experiment. `file` is what faults call it; trace files are looked
    /// for in `folder`.
    #[staticmethod]
    #[pyo3(signature = (text, *, file, is_json=false, overrides=Vec::new(), folder=None))]
    fn load(
        py: Python<'_>,
        text: &str,
        file: &str,
        is_json: bool,
        overrides: Vec<(String, String)>,
        folder: Option<&str>,
    ) -> PyResult<Self> {
        let read = if is_json { load_json } else { load };
        let loaded = guard::detached(py, || read(text, file, &overrides))?;
        let (mut experiment, checked) = loaded.map_err(|problems| errors::config(&problems))?;
        if let Some(folder) = folder {
            find_traces(&mut experiment, Path::new(folder));
        }
        Ok(Self { inner: Arc::new(Inner { experiment, checked }) })
    }

    /// The configuration with all presets, overrides and defaults in place, as JSON text.
    fn resolved(&self) -> PyResult<String> {
        errors::json(&self.inner.experiment)
    }

    /// What follows from the configuration, as JSON text.
    fn derived(&self) -> PyResult<String> {
        errors::json(&self.inner.checked.derived(&self.inner.experiment))
    }
}

/// A relative path in a configuration counts from the configuration's folder.
fn find_traces(experiment: &mut Experiment, folder: &Path) {
    for trace in experiment.workload.iter_mut().filter_map(|workload| workload.trace.as_mut()) {
        trace.file = folder.join(&trace.file);
    }
}
