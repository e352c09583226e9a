//! Host writes: the buffer, its flushing, and partial writes.

mod admit;
pub mod buffer;
mod flush;
pub mod modify;

use crate::config::{BufferConfig, DriveConfig};
use buffer::{Buffer, EntryId};
use ftl::{Layout, PartialWrites, PoolId};
use metrics::Blame;

/// Host data on its way to flash.
#[derive(Clone)]
pub struct Write {
    // ---- constant ----
    pub(in crate::device) config: BufferConfig,
    /// Whether writes of a part of a unit leave the rest of it in its planes.
    pub(in crate::device) modifies: bool,
    // ---- state ----
    pub(in crate::device) buffer: Buffer,
    /// True from the buffer's high mark to its low mark.
    pub(in crate::device) draining: bool,
    /// Page reads that entries still wait for.
    pub(in crate::device) fetches_left: Vec<(EntryId, u32)>,
    /// Partial writes (second) of units whose rest is being read, or programmed, for another
    /// (first).
    pub(in crate::device) followers: Vec<(EntryId, EntryId)>,
    /// What the units of the write that is being let in waited for before, where
    /// writes are acknowledged from flash.
    pub(in crate::device) wait_for_room: Blame,
    /// True while the units of a write are taken in, and the pools that listed some.
    pub(in crate::device) admitting: bool,
    pub(in crate::device) listed: Vec<PoolId>,
}

impl Write {
    pub fn new(config: &DriveConfig, layout: &Layout) -> Self {
        let units = (config.buffer.size.bytes() / layout.unit_bytes) as u32;
        Self {
            config: config.buffer.clone(),
            modifies: config.ftl.partial_writes == PartialWrites::Plane,
            buffer: Buffer::new(units, layout.pool_count()),
            draining: false,
            fetches_left: Vec::new(),
            followers: Vec::new(),
            wait_for_room: Blame::default(),
            admitting: false,
            listed: Vec::new(),
        }
    }
}
