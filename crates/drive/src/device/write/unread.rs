//! Entries of the buffer whose unit was written in part, and whose rest could not be read: their unit
//! has no data until it is written as a whole.

use crate::device::ids::EntryId;
use std::collections::BTreeSet;

/// Entries without their rest.
#[derive(Clone, Default)]
pub struct Unread {
    pub entries: BTreeSet<EntryId>,
    /// Entries that were overwritten as a whole while their rest was being read.
    pub whole: BTreeSet<EntryId>,
}
