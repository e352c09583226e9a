//! The limit of simulated time. The agenda numbers 2^58 ns. Requests may arrive, and work may
//! start, in the first half of that; the second half is left for the work that is under way then,
//! so that no moment is ever beyond the limit.

use crate::config::LinkConfig;
use engine::{Instant, Span};

/// The last moment at which a request may arrive: 4.5 years.
pub const LATEST: Instant = Instant::from_ns(1 << 57);

/// The longest time that a configuration may name, and that one operation may
/// take: a year of 365 days.
pub const LONGEST: Span = Span::from_s(365 * 24 * 3600);

/// Longest time that the requests on the link, or still to cross it, may take: a quarter of the
/// time that the agenda numbers.
const ON_LINK: Span = Span::from_ns(1 << 56);

/// Bytes of the requests under way, which all may have to wait for the link.
#[derive(Clone, Copy, Debug)]
pub struct LinkLoad {
    bytes: u64,
    most: u64,
}

impl LinkLoad {
    /// Nothing under way on the link of `config`.
    pub fn new(config: &LinkConfig) -> Self {
        let most = config.rate.map_or(u64::MAX, |rate| {
            let bytes = rate.bytes_per_second() as f64 * ON_LINK.as_secs_f64();
            bytes as u64
        });
        Self { bytes: 0, most }
    }
    /// Adds a request; returns false if the link would be busy beyond the end of time.
    #[inline]
    #[must_use]
    pub fn add(&mut self, bytes: u64) -> bool {
        self.bytes = self.bytes.saturating_add(bytes);
        self.bytes <= self.most
    }
    /// A request has completed.
    #[inline]
    pub fn remove(&mut self, bytes: u64) {
        self.bytes -= bytes;
    }
}
