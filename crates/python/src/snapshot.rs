//! Drives that were shut down.

use crate::errors;
use crate::function;
use crate::guard;
use crate::plan::Plan;
use crate::progress::report;
use drive::snapshot;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::fs::File;
use std::path::PathBuf;
use std::sync::Arc;

/// A drive that was shut down; any number of others may be started from it.
#[pyclass(frozen, module = "flashscape._flashscape")]
pub struct Snapshot {
    pub(crate) inner: Arc<drive::Snapshot>,
}

#[pymethods]
impl Snapshot {
    /// Prepares the drive of a plan as before a run, and returns it as a snapshot. `ongoing` is
    /// called with the share done; an exception from it (and Ctrl-C) ends the preparation.
    #[staticmethod]
    #[pyo3(signature = (plan, ongoing=None))]
    fn take(py: Python<'_>, plan: &Plan, ongoing: Option<Py<PyAny>>) -> PyResult<Self> {
        let plan = plan.inner.clone();
        plan.refuse_array("a snapshot holds one drive")?;
        plan.check_snapshot(None)?;
        watched(py, ongoing.as_ref(), |tell| {
            drive::Snapshot::take(&plan.experiment, tell).map_err(errors::run)
        })
    }

    /// Reads a snapshot from a file.
    #[staticmethod]
    #[pyo3(signature = (path, ongoing=None))]
    fn read(py: Python<'_>, path: PathBuf, ongoing: Option<Py<PyAny>>) -> PyResult<Self> {
        watched(py, ongoing.as_ref(), |tell| {
            drive::Snapshot::read(&path, tell).map_err(errors::damaged)
        })
    }

    /// Writes a new file, which must not exist yet.
    fn write(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        let snapshot = self.inner.clone();
        guard::detached(py, || {
            let mut file = File::create_new(&path)?;
            snapshot.write(&mut file)
        })?
        .map_err(PyErr::from)
    }

    /// Origin of the snapshot, as JSON text.
    fn origin(&self) -> PyResult<String> {
        errors::json(&self.inner.origin)
    }
}

/// Origin of the snapshot in a file, as JSON text.
#[pyfunction]
pub fn snapshot_origin(path: PathBuf) -> PyResult<String> {
    errors::json(&snapshot::info(&path).map_err(errors::damaged)?)
}

/// Header of the snapshot in a file, which identifies its content: it has the checksums of all
/// the rest.
#[pyfunction]
pub fn snapshot_header(py: Python<'_>, path: PathBuf) -> PyResult<Py<PyBytes>> {
    let header = snapshot::header(&path).map_err(errors::damaged)?;
    Ok(PyBytes::new(py, &header).unbind())
}

/// Makes a snapshot and reports the progress to a callable, which may end it by raising.
fn watched(
    py: Python<'_>,
    ongoing: Option<&Py<PyAny>>,
    make: impl FnOnce(&mut dyn FnMut(f64) -> bool) -> PyResult<Option<drive::Snapshot>> + Send,
) -> PyResult<Snapshot> {
    let mut raised = None;
    let mut tell = |share| {
        raised = Python::attach(|py| report(py, ongoing, share)).err();
        raised.is_none()
    };
    let made = function::heeding_interrupts(|| guard::detached(py, || make(&mut tell))?)?;
    match made {
        Some(snapshot) => Ok(Snapshot { inner: Arc::new(snapshot) }),
        None => Err(raised.expect("nothing else ends it")),
    }
}
