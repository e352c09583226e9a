//! The end of updates: all units of a stripe become current together.

use crate::device::Base;
use crate::device::ids::{EntryId, OpId, UpdateId};
use crate::device::request::Requests;
use crate::device::write::Write;

impl Write {
    /// Ends the updates of which a program has written the last unit.
    #[inline(never)]
    pub(in crate::device::write) fn commit_ended(
        &mut self,
        base: &mut Base,
        requests: &mut Requests,
        op: OpId,
    ) {
        for id in std::mem::take(&mut self.updates_mut().ended) {
            self.commit_update(base, requests, id, Some(op));
        }
    }

    /// Ends an update whose units are all on flash, by the end of `op` if it had any.
    pub(in crate::device) fn commit_update(
        &mut self,
        base: &mut Base,
        requests: &mut Requests,
        id: UpdateId,
        op: Option<OpId>,
    ) {
        let updates = self.updates_mut();
        let update = updates.end(id);
        let stripes = base.space.ftl.layout.stripes.expect("data has parity");
        let parity = stripes.parity(update.stripe);
        if update.drops {
            base.space.ftl.trim(parity);
        } else {
            base.space.ftl.attach(parity);
        }
        for hole in &update.holes {
            base.space.ftl.end_keeping(*hole);
        }
        if update.entries.is_empty() {
            self.updates_mut().of_holes -= 1;
        }
        for entry in update.entries {
            let op = op.expect("data was programmed");
            self.member_current(base, requests, op, entry);
        }
        // Together, so that they are one update.
        self.admitting = true;
        for entry in update.later {
            self.list_again(base, requests, entry);
        }
        self.admitting = false;
        self.flush_gathered(base);
        base.space.retry_starved();
    }

    /// A member's new data becomes current, unless it was trimmed meanwhile.
    fn member_current(
        &mut self,
        base: &mut Base,
        requests: &mut Requests,
        op: OpId,
        entry: EntryId,
    ) {
        let (lpn, stale) = (self.buffer.entry(entry).lpn, self.buffer.entry(entry).stale);
        let ppn = if stale {
            self.add_hole(lpn);
            base.space.ftl.keep_placed(lpn)
        } else {
            self.buffer.supersede_older(entry);
            base.space.ftl.attach(lpn)
        };
        self.tell_of(base, requests, op, entry, ppn);
    }

    /// Lists an entry that waited for the end of its stripe's update, unless nobody needs it.
    fn list_again(&mut self, base: &mut Base, requests: &mut Requests, entry: EntryId) {
        let kept = self.buffer.entry(entry);
        let is_needed = !kept.stale || kept.writer.is_some() || self.buffer.is_awaited(entry);
        if is_needed {
            self.entry_ready(base, entry);
        } else {
            self.buffer.remove(entry);
            self.end_flushes(base, requests, None);
        }
    }
}
