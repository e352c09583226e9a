//! Panics, which are bugs of flashscape: a panic becomes a `SimulatorError` that says so and
//! gives the place, and nothing is printed behind the caller's back.

use crate::errors::SimulatorError;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use std::any::Any;
use std::cell::RefCell;
use std::panic::{self, AssertUnwindSafe};
use std::sync::{Mutex, TryLockError};

/// A value that one thread at a time uses without the interpreter lock, and that is gone once
/// work on it has panicked.
///
/// It lies in a box, because Python allocates its objects, which hold this, at 16 bytes, and parts of a
/// drive must lie at cache lines.
pub struct Guarded<T>(Mutex<Option<Box<T>>>);

impl<T: Send> Guarded<T> {
    pub fn new(value: T) -> Self {
        const { assert!(align_of::<Self>() <= 16, "what Python allocates") };
        Self(Mutex::new(Some(Box::new(value))))
    }

    /// Works on the value.
    ///
    /// # Errors
    /// `RuntimeError` if another thread is using it, or if earlier work has panicked;
    /// `SimulatorError` if this work panics.
    pub fn with<R: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut T) -> R + Send,
    ) -> PyResult<R> {
        let mut slot = match self.0.try_lock() {
            Ok(slot) => slot,
            Err(TryLockError::WouldBlock) => {
                return Err(PyRuntimeError::new_err("another thread is using this object"));
            }
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
        };
        let value = slot.as_mut();
        let value =
            value.ok_or_else(|| PyRuntimeError::new_err("this object has failed before"))?;
        let result = detached(py, || work(value));
        if result.is_err() {
            *slot = None;
        }
        result
    }
}

thread_local! {
    /// Place of this thread's last panic.
    static PLACE: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Records the place of a panic instead of printing it. (The hook is this library's own: other
/// extension modules have theirs.)
pub fn keep_panics_quiet() {
    panic::set_hook(Box::new(|info| {
        PLACE.set(info.location().map(ToString::to_string));
    }));
}

/// Does `work` without the interpreter lock.
///
/// # Errors
/// `SimulatorError` if it panics; the data that it worked on must not be used again.
pub fn detached<T: Send>(py: Python<'_>, work: impl FnOnce() -> T + Send) -> PyResult<T> {
    py.detach(|| panic::catch_unwind(AssertUnwindSafe(work)).map_err(|panic| report(&*panic)))
}

fn report(panic: &(dyn Any + Send)) -> PyErr {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no message");
    let place = PLACE.take().map_or_else(String::new, |place| format!(" ({place})"));
    SimulatorError::new_err(format!("{text}{place}"))
}
