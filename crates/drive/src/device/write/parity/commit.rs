//! The end of updates: all units of a stripe become current together.

use crate::device::Base;
use crate::device::ids::{EntryId, OpId, UpdateId};
use crate::device::request::Requests;
use crate::device::write::Write;
use crate::device::write::off_flash::OffFlash;
use crate::device::write::unit::Unit;
use crate::device::write::updates::Update;

impl Write {
    /// Ends the updates of which the last unit is placed: a program's, if `op` is one.
    #[inline(never)]
    pub(in crate::device::write) fn commit_ended(
        &mut self,
        base: &mut Base,
        requests: &mut Requests,
        op: Option<OpId>,
    ) {
        for id in std::mem::take(&mut self.updates_mut().ended) {
            self.commit_update(base, requests, id, op);
        }
    }

    /// Ends an update whose units are all placed, by the end of `op` if it had any.
    pub(in crate::device) fn commit_update(
        &mut self,
        base: &mut Base,
        requests: &mut Requests,
        id: UpdateId,
        op: Option<OpId>,
    ) {
        let update = self.updates_mut().end(id);
        self.parity_current(base, &update);
        for hole in &update.holes {
            base.space.ftl.end_keeping(*hole);
            base.space.note_trimmed(*hole);
            self.forget_off_flash(*hole);
        }
        if update.entries.is_empty() {
            self.updates_mut().of_holes -= 1;
        }
        for entry in &update.entries {
            if update.held.contains(&Unit::Data(*entry)) {
                self.kept_current(base, *entry, false);
            } else if update.lost.contains(&Unit::Data(*entry)) {
                self.kept_current(base, *entry, true);
                self.tell_of_lost(base, requests, op, *entry);
            } else {
                self.member_current(base, requests, op, *entry);
            }
        }
        // Together, so that they are one update.
        self.admitting = true;
        for entry in update.later {
            self.list_again(base, requests, entry);
        }
        self.admitting = false;
        self.flush_gathered(base);
        base.space.retry_starved(self.set);
    }

    /// The parity of an update becomes current, on flash or in memory, or is dropped.
    fn parity_current(&mut self, base: &mut Base, update: &Update) {
        let stripes = base.space.ftl.layout.stripes.expect("data has parity");
        let lpn = stripes.parity(update.stripe);
        if let Some(id) = update.parity {
            let is_lost = update.lost.contains(&Unit::Parity(id));
            if is_lost {
                self.end_parity(id);
            }
            let unit = (!is_lost).then_some(Unit::Parity(id));
            let member = OffFlash { token: update.token, unit, is_trimmed: false, is_lost };
            return self.keep_off_flash(base, lpn, member);
        }
        self.forget_off_flash(lpn);
        if update.drops {
            base.space.ftl.trim(lpn);
            base.space.note_trimmed(lpn);
        } else {
            base.space.ftl.attach(lpn);
        }
    }

    /// A member's new data, which is on flash, becomes current, unless it was trimmed meanwhile.
    fn member_current(
        &mut self,
        base: &mut Base,
        requests: &mut Requests,
        op: Option<OpId>,
        entry: EntryId,
    ) {
        let (lpn, stale) = (self.buffer.entry(entry).lpn, self.buffer.entry(entry).stale);
        if !stale {
            self.buffer.supersede_older(entry);
        }
        self.forget_off_flash(lpn);
        let ppn = if stale {
            self.add_hole(lpn);
            base.space.ftl.keep_placed(lpn)
        } else {
            base.space.ftl.attach(lpn)
        };
        self.tell_of(base, requests, op, entry, ppn);
    }

    /// Makes a member's new data current that stays in memory until it is on flash, or that is
    /// lost.
    fn kept_current(&mut self, base: &mut Base, entry: EntryId, is_lost: bool) {
        let (lpn, stale) = (self.buffer.entry(entry).lpn, self.buffer.entry(entry).stale);
        if stale {
            self.add_hole(lpn);
        } else {
            self.buffer.supersede_older(entry);
        }
        let token = self.buffer.token(entry);
        let unit = (!is_lost).then_some(Unit::Data(entry));
        self.keep_off_flash(base, lpn, OffFlash { token, unit, is_trimmed: stale, is_lost });
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
