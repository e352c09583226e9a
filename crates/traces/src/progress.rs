//! Progress of work on a trace, for whoever shows it.

/// How far reading has come.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Progress {
    /// Requests read.
    pub requests: u64,
    /// The share of the file that is read.
    pub share: f64,
}
