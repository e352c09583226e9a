//! Faults of traces and of settings; each names its place and the remedy.

use std::fmt;
use std::path::PathBuf;

/// One fault of a setting.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fault {
    /// The key, from its table down: `addresses.theta`.
    pub key: String,
    /// The fault and the right value.
    pub problem: String,
}

impl Fault {
    /// A fault of `key`.
    pub fn new(key: impl Into<String>, problem: impl Into<String>) -> Self {
        Self { key: key.into(), problem: problem.into() }
    }
}

/// A fault of a trace file.
#[derive(Debug)]
pub struct TraceError {
    /// The file.
    pub file: PathBuf,
    /// The line, counted from 1, if the fault belongs to one.
    pub line: Option<u64>,
    /// The fault and its remedy.
    pub problem: String,
}

impl fmt::Display for TraceError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(out, "{}:{line}: {}", self.file.display(), self.problem),
            None => write!(out, "{}: {}", self.file.display(), self.problem),
        }
    }
}

impl std::error::Error for TraceError {}
