//! Wishes for a synthetic trace.

/// What a synthetic trace may have differently from its model.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Wishes {
    /// Requests.
    pub requests: u64,
    /// Bytes of the address space.
    pub span_bytes: u64,
    /// Each gives another synthetic trace.
    pub seed: u64,
}
