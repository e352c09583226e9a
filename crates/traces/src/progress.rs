//! Progress of work on a trace.

/// Progress of reading.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Progress {
    /// Requests read.
    pub requests: u64,
    /// The share of the file that is read.
    pub share: f64,
}
