//! Wishes for a synthetic trace.

/// Properties in which a synthetic trace may differ from its model.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Wishes {
    /// Requests.
    pub requests: u64,
    /// Bytes of the address space.
    pub span_bytes: u64,
    /// Seed of the random choices.
    pub seed: u64,
}
