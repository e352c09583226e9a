//! What can be wrong with a workload: each fault names its place and what to do.

use settings::counted;
use std::fmt;
use std::path::PathBuf;

/// Why a workload cannot be built or cannot go on.
///
/// Boxed inside, because every `Source::next` returns a `Result` of it.
#[derive(Debug, thiserror::Error)]
pub enum HostError {
    /// The configuration is at fault: all of its faults at once.
    #[error(transparent)]
    Config(Box<ConfigError>),
    /// A trace is at fault.
    #[error(transparent)]
    Trace(Box<TraceError>),
}

/// Everything wrong with one workload's configuration.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ConfigError {
    /// The workload's name.
    pub workload: String,
    /// Its faults, in the order of the keys.
    pub faults: Vec<Fault>,
}

/// One fault of a configuration.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fault {
    /// The key, from the workload's table down: `addresses.theta`.
    pub key: String,
    /// What is wrong, and what to write instead.
    pub problem: String,
}

impl Fault {
    /// A fault of `key`.
    pub fn new(key: impl Into<String>, problem: impl Into<String>) -> Self {
        Self { key: key.into(), problem: problem.into() }
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            out,
            "workload \"{}\": {}",
            self.workload,
            counted(self.faults.len() as u64, "problem")
        )?;
        for Fault { key, problem } in &self.faults {
            write!(out, "\n  {key}: {problem}")?;
        }
        Ok(())
    }
}

impl std::error::Error for ConfigError {}

/// A fault of a trace file.
#[derive(Debug)]
pub struct TraceError {
    /// The file.
    pub file: PathBuf,
    /// The line, counted from 1, where the fault belongs to one.
    pub line: Option<u64>,
    /// What is wrong, and what to do.
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

impl From<TraceError> for HostError {
    fn from(error: TraceError) -> Self {
        Self::Trace(Box::new(error))
    }
}

impl From<ConfigError> for HostError {
    fn from(error: ConfigError) -> Self {
        Self::Config(Box::new(error))
    }
}
