//! The part of the drive that an initiator uses, and the namespace that it lies in.

use crate::config::WorkloadConfig;
use traces::Command;

/// A range of the drive's exported bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Region {
    /// Its first byte.
    pub offset: u64,
    /// Its length in bytes.
    pub bytes: u64,
    /// The first byte of the namespace that it lies in. A flush, which has no address, goes there.
    pub namespace_begin: u64,
}

impl Region {
    /// The region of `config` in a namespace, not yet checked: if it does not fit, it has no bytes or
    /// reaches beyond the namespace.
    pub fn of(config: &WorkloadConfig, namespace: Self) -> Self {
        let region = config.region.clone().unwrap_or_default();
        let offset = region.offset.map_or(0, |size| size.bytes());
        let rest = namespace.bytes.saturating_sub(offset);
        Self {
            offset: namespace.offset.saturating_add(offset),
            bytes: region.size.map_or(rest, |size| size.bytes()),
            namespace_begin: namespace.namespace_begin,
        }
    }

    /// A flush of its namespace.
    #[inline]
    pub(crate) fn flush(&self) -> Command {
        Command { offset: self.namespace_begin, ..Command::FLUSH }
    }

    /// The first byte behind it, if a number can tell it.
    pub fn end(&self) -> Option<u64> {
        self.offset.checked_add(self.bytes)
    }
}

impl From<u64> for Region {
    /// The namespace of a drive that exports so many bytes.
    fn from(bytes: u64) -> Self {
        Self { offset: 0, bytes, namespace_begin: 0 }
    }
}
