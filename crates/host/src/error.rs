//! Faults of a workload: each names its place and its remedy.

use settings::counted;
use std::fmt;
use traces::{Fault, TraceError};

/// Reason why a workload cannot be built or cannot continue.
///
/// Boxed inside, because every `Source::next` returns a `Result` of it.
#[derive(Debug, thiserror::Error)]
pub enum HostError {
    /// Faults of the configuration, all at once.
    #[error(transparent)]
    Config(Box<ConfigError>),
    /// A fault of a trace.
    #[error(transparent)]
    Trace(Box<TraceError>),
}

/// All faults of one workload's configuration.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ConfigError {
    /// The workload's name.
    pub workload: String,
    /// Its faults, in the order of the keys.
    pub faults: Vec<Fault>,
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
