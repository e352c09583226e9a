//! Whole numbers as arguments from Python, refused with words for people.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyBool;

/// A whole number from 0 on, but not a `bool`, which is a whole number in Python.
pub struct Whole(pub u64);

impl<'a, 'py> FromPyObject<'a, 'py> for Whole {
    type Error = PyErr;
    fn extract(given: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        if !given.is_instance_of::<PyBool>()
            && let Ok(number) = given.extract()
        {
            return Ok(Self(number));
        }
        // Python adds the name of the argument.
        let shown = given.repr()?;
        Err(PyTypeError::new_err(format!("{shown} is not a whole number from 0 to 2^64 - 1")))
    }
}

/// Extracts such a number, for an argument that has a default.
pub fn whole(given: &Bound<'_, PyAny>) -> PyResult<u64> {
    given.extract::<Whole>().map(|number| number.0)
}
