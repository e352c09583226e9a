//! Progress reports to Python.

use crate::function;
use pyo3::prelude::*;

/// Calls `ongoing` with the share done.
///
/// # Errors
/// The exception that it raises, and interrupts.
pub(crate) fn report(py: Python<'_>, ongoing: Option<&Py<PyAny>>, share: f64) -> PyResult<()> {
    function::interrupted()?;
    py.check_signals()?;
    if let Some(ongoing) = ongoing {
        ongoing.call1(py, (share,))?;
    }
    Ok(())
}
