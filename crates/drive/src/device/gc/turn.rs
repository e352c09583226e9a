//! Turn order of scrubbing.

use engine::Span;
use ftl::{BinId, ScrubConfig};

/// State of the turn order.
#[derive(Clone, Copy, Debug)]
pub struct Turn {
    pub(super) interval: Span,
    pub(super) next: BinId,
    /// True once the first poll is due.
    pub(super) begun: bool,
    /// Blocks that were scrubbed one after the other without any other progress.
    pub(super) in_vain: u32,
    /// Commands under way, and flash operations other than scrubbing, at the last scrubbed block.
    pub(super) seen: (u32, u64),
}

impl Turn {
    pub fn new(config: &ScrubConfig) -> Self {
        Self {
            interval: config.interval.span(),
            next: BinId(0),
            begun: false,
            in_vain: 0,
            seen: (0, 0),
        }
    }
}

impl Turn {
    /// The same turn order in its initial state.
    pub fn begun_anew(&self) -> Self {
        Self { next: BinId(0), begun: false, in_vain: 0, seen: (0, 0), ..*self }
    }
}
