//! stub
use pyo3::prelude::*;
/// m
#[pymodule]
mod _flashscape {}
