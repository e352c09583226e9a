//! Names as arguments from Python: an unknown one is refused with the similar and the valid ones.

use crate::errors;
use host::Kind;
use pyo3::prelude::*;

/// The kind of request that is the value of `argument`.
pub fn kind_of(argument: &str, name: &str) -> PyResult<Kind> {
    let found = Kind::ALL.into_iter().find(|kind| kind.name() == name);
    found.ok_or_else(|| unknown(argument, "kind", name, &Kind::ALL.map(Kind::name)))
}

/// The error for an unknown name of a `noun`, the value of `argument`.
pub fn unknown(argument: &str, noun: &str, name: &str, valid: &[&str]) -> PyErr {
    errors::argument(format!("{argument}: no {noun} {name:?}{}", settings::remedy(name, valid)))
}
