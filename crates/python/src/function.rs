//! Functions in Python that decide, the words for their faults, and a Ctrl-C that comes meanwhile.

use pyo3::exceptions::{PyKeyboardInterrupt, PyTypeError};
use pyo3::prelude::*;
use std::cell::Cell;

thread_local! {
    /// True if Ctrl-C came while this thread called a policy.
    static INTERRUPTED: Cell<bool> = const { Cell::new(false) };
}

/// True if Ctrl-C came while this thread called a policy.
pub fn was_interrupted() -> bool {
    INTERRUPTED.get()
}

/// Does work that may call policies. A Ctrl-C that comes meanwhile is raised at the end, unless
/// the work fails itself.
///
/// # Errors
/// Those of `work`, and `KeyboardInterrupt`.
pub fn heeding_interrupts<T>(work: impl FnOnce() -> PyResult<T>) -> PyResult<T> {
    // Work may call Python, which may come here again.
    let around = INTERRUPTED.replace(false);
    let result = work();
    let interrupted = interrupted();
    INTERRUPTED.set(around);
    let result = result?;
    interrupted.map(|()| result)
}

/// Raises, once, the Ctrl-C that came while this thread called a policy.
pub fn interrupted() -> PyResult<()> {
    match INTERRUPTED.take() {
        true => Err(PyKeyboardInterrupt::new_err(())),
        false => Ok(()),
    }
}

/// Notes a Ctrl-C that came while this thread called a policy.
pub fn note_interrupt() {
    INTERRUPTED.set(true);
}

/// A function in Python.
pub struct Function(pub Py<PyAny>);

impl Function {
    /// Calls the function with a view and takes its answer.
    pub fn decide<V, A>(&self, view: impl Fn(Python<'_>) -> PyResult<V>) -> Result<A, String>
    where
        V: for<'py> IntoPyObject<'py>,
        A: for<'a, 'py> FromPyObject<'a, 'py, Error = PyErr>,
    {
        Python::attach(|py| {
            let ask = || self.0.bind(py).call1((view(py)?,));
            let answer = match ask() {
                // Ctrl-C is no fault of the policy: the run ends at its next pause.
                Err(error) if error.is_instance_of::<PyKeyboardInterrupt>(py) => {
                    note_interrupt();
                    ask()
                }
                answer => answer,
            };
            let answer = answer.map_err(|error| told(py, &error))?;
            // The message says it all: the type of this exception is ours, not the policy's.
            answer.extract().map_err(|error: PyErr| error.value(py).to_string())
        })
    }
}

/// An exception as one line, with its place in the user's file.
pub fn told(py: Python<'_>, error: &PyErr) -> String {
    let tell = || -> PyResult<String> {
        let policies = py.import("flashscape.outside")?;
        // With its traceback, which gives the place.
        let raised = error.clone_ref(py).into_value(py);
        policies.call_method1("told", (raised,))?.extract()
    };
    tell().unwrap_or_else(|_| error.to_string())
}

/// The error of an answer of the wrong type, with the expected one.
pub fn unsuitable(expected: &str, answer: &Bound<'_, PyAny>) -> PyErr {
    let shown = answer.repr().map_or_else(|_| "?".to_owned(), |repr| repr.to_string());
    let shown: String = shown.chars().take(60).collect();
    PyTypeError::new_err(format!("it must return {expected}, and returned {shown}"))
}
