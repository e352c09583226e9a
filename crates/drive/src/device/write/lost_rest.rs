//! Partial writes of units whose rest cannot be read.

use crate::device::Base;
use crate::device::ids::{EntryId, OpId};
use crate::device::write::Write;
use ftl::Ppn;

impl Write {
    /// True if a part of an entry's unit could not be read.
    #[inline]
    pub(in crate::device) fn is_unread(&self, entry: EntryId) -> bool {
        !self.unread.entries.is_empty() && self.unread.entries.contains(&entry)
    }
    /// Lets an entry go on whose rest is poisoned: nothing is read.
    #[cold]
    pub(super) fn begin_without_rest(&mut self, base: &mut Base, entry: EntryId) {
        self.buffer.entry_mut(entry).since = base.time.now;
        self.unread.entries.insert(entry);
        self.rest_is_there(base, entry, (base.time.now, u64::from(entry.0)));
    }
    /// Notes the end of a read for the rest of an entry's unit.
    pub(super) fn note_unread(&mut self, base: &Base, op: OpId, entry: EntryId) {
        if base.flash.op(op).failed > 0 && !self.unread.whole.contains(&entry) {
            self.unread.entries.insert(entry);
        }
    }
    /// Notes that an entry was overwritten as a whole.
    #[inline]
    pub(super) fn note_overwritten(&mut self, base: &Base, entry: EntryId, reads_rest: bool) {
        if base.errors.is_some() {
            self.unread.entries.remove(&entry);
            if reads_rest {
                self.unread.whole.insert(entry);
            }
        }
    }
    /// Forgets what was noted of an entry whose place is taken by a new one.
    #[inline]
    pub(super) fn forget_unread(&mut self, base: &Base, entry: EntryId) {
        if base.errors.is_some() {
            self.unread.entries.remove(&entry);
            self.unread.whole.remove(&entry);
        }
    }
    /// An entry takes the rest of its unit from an older one.
    #[inline]
    pub(super) fn inherit_unread(&mut self, older: EntryId, entry: EntryId) {
        if self.is_unread(older) {
            self.unread.entries.insert(entry);
        }
    }
    /// An entry is on flash: its unit has no data there, either.
    #[inline]
    pub(super) fn move_unread(&mut self, base: &mut Base, entry: EntryId, ppn: Ppn) {
        if self.is_unread(entry) {
            self.unread.entries.remove(&entry);
            base.space.ftl.poison(ppn);
        }
    }
}
