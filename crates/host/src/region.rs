//! The part of the drive that an initiator uses.

use crate::config::WorkloadConfig;

/// A range of the drive's exported bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Region {
    /// Its first byte.
    pub offset: u64,
    /// Its length in bytes.
    pub bytes: u64,
}

impl Region {
    /// The region of `config` on a drive of `capacity_bytes`, not yet checked: if it does not
    /// fit, it has no bytes or reaches beyond the drive.
    pub(crate) fn of(config: &WorkloadConfig, capacity_bytes: u64) -> Self {
        let region = config.region.clone().unwrap_or_default();
        let offset = region.offset.map_or(0, |size| size.bytes());
        let rest = capacity_bytes.saturating_sub(offset);
        Self { offset, bytes: region.size.map_or(rest, |size| size.bytes()) }
    }
}
