//! Writes whose flash has failed: they are programmed elsewhere, or the rest of their stripes tells their
//! data.

use crate::device::Base;
use crate::device::flash::Note;
use crate::device::ids::{EntryId, OpId};
use crate::device::request::Requests;
use crate::device::write::Write;
use crate::device::write::flush::end_deferred;
use crate::device::write::off_flash::OffFlash;
use crate::device::write::unit::Unit;
use ftl::{Lpn, PoolId, Ppn};

impl Write {
    /// Lets units be written elsewhere that were on their way to flash which has failed, or placed
    /// there.
    pub(in crate::device) fn flash_failed(&mut self, base: &mut Base) {
        let stripes = base.space.ftl.layout.stripes.expect("what fails has parity");
        let mut units = Vec::new();
        for lpn in base.space.ftl.placed_and_lost() {
            base.space.ftl.take_back(lpn);
            let id = self.updates().of(stripes.of(lpn)).expect("an update placed it");
            let updates = self.updates_mut();
            updates.updates[id].left += 1;
            let unit = match stripes.is_parity(lpn) {
                true => Unit::Parity(self.parity_of(base, id)),
                false => {
                    let entries = &self.updates().updates[id].entries;
                    let own = |entry: &&EntryId| self.buffer.entry(**entry).lpn == lpn;
                    Unit::Data(*entries.iter().find(own).expect("the update has its data"))
                }
            };
            units.push((lpn, unit));
        }
        let pools = (0..base.space.ftl.layout.pool_count()).map(PoolId);
        let failed: Vec<PoolId> = pools.filter(|pool| base.space.ftl.has_failed(*pool)).collect();
        for pool in failed {
            for unit in std::mem::take(&mut self.updates_mut().ready[pool]) {
                let lpn = self.lpn_of(base, unit);
                if self.is_needed(base, lpn, unit) {
                    units.push((lpn, unit));
                } else {
                    // Only those who wait for it are told.
                    self.updates_mut().lost.push(unit);
                    base.flash.note(Note::UpdatesEnded);
                }
            }
        }
        base.flash.count_retried(units.len() as u64);
        let mut pools = Vec::new();
        for (lpn, unit) in units {
            pools.extend(self.make_ready(base, lpn, unit));
        }
        pools.into_iter().for_each(|pool| self.flush_pool(base, pool));
    }

    /// The logical unit of a unit on its way to flash.
    pub(super) fn lpn_of(&self, base: &Base, unit: Unit) -> Lpn {
        match unit {
            Unit::Data(entry) => self.buffer.entry(entry).lpn,
            Unit::Parity(id) => {
                let stripes = base.space.ftl.layout.stripes.expect("data has parity");
                stripes.parity(self.updates().parities[id].stripe)
            }
        }
    }

    /// True if a unit on its way to flash is part of an update, or the present data of a member.
    fn is_needed(&self, base: &Base, lpn: Lpn, unit: Unit) -> bool {
        let stripe = base.space.ftl.layout.stripes.expect("data has parity").of(lpn);
        let updates = self.updates();
        let is_member = updates.off_flash.get(lpn).is_some_and(|member| member.unit == Some(unit));
        updates.of_unit(stripe, unit).is_some() || is_member && !updates.off_flash.is_trimmed(lpn)
    }

    /// Continues after a program that ended on failed flash: what is still needed is programmed
    /// elsewhere.
    pub(super) fn program_again(
        &mut self,
        base: &mut Base,
        requests: &mut Requests,
        op: OpId,
        (unit, ppn): (Unit, Ppn),
    ) {
        let lpn = self.lpn_of(base, unit);
        base.space.ftl.note(ppn, lpn);
        match unit {
            Unit::Data(entry) => base.audit_program(lpn, ppn, self.buffer.token(entry)),
            Unit::Parity(id) => base.audit_parity(ppn, self.updates().parities[id].token),
        }
        if self.is_needed(base, lpn, unit) {
            base.flash.count_retried(1);
            if let Some(pool) = self.make_ready(base, lpn, unit) {
                base.space.call_pool(pool);
            }
            return;
        }
        // Nobody needs its data any more.
        self.updates_mut().off_flash.written(lpn, unit);
        match unit {
            Unit::Data(entry) => self.tell_of_lost(base, requests, Some(op), entry),
            Unit::Parity(id) => self.end_parity(id),
        }
    }

    /// Counts a unit as placed for which no flash has room. A member of its stripe that was in memory
    /// is lost.
    pub(super) fn lose(&mut self, base: &mut Base, lpn: Lpn, unit: Unit) {
        base.flash.count_degraded();
        let stripe = base.space.ftl.layout.stripes.expect("data has parity").of(lpn);
        if self.has_other_loss(base, lpn, unit) {
            base.lose_data(stripe);
        }
        if let Some(id) = self.updates().of_unit(stripe, unit) {
            let updates = self.updates_mut();
            let held = &mut updates.updates[id].held;
            let was_held = held.iter().position(|held| *held == unit);
            was_held.into_iter().for_each(|at| {
                held.swap_remove(at);
            });
            updates.updates[id].lost.push(unit);
            if was_held.is_none() {
                updates.count_placed(id);
            }
        } else {
            let member = self.updates().off_flash.get(lpn).expect("it is a member in memory");
            self.updates_mut().off_flash.put(lpn, OffFlash { unit: None, is_lost: true, ..member });
            self.updates_mut().lost.push(unit);
        }
        base.flash.note(Note::UpdatesEnded);
    }

    /// True if another member of a unit's stripe is lost, and will be when the unit is.
    fn has_other_loss(&self, base: &Base, lpn: Lpn, unit: Unit) -> bool {
        let stripes = base.space.ftl.layout.stripes.expect("data has parity");
        let stripe = stripes.of(lpn);
        let update = self.updates().of_unit(stripe, unit).map(|id| &self.updates().updates[id]);
        let is_written = |of: Lpn| {
            let lpn_of = |entry: &EntryId| self.buffer.entry(*entry).lpn;
            update.is_some_and(|update| {
                stripes.is_parity(of)
                    || update.holes.contains(&of)
                    || update.entries.iter().any(|entry| lpn_of(entry) == of)
            })
        };
        let is_lost = |of: Lpn| self.member(base, of).is_some_and(|member| !member.is_there());
        let mut members = stripes.data(stripe).chain([stripes.parity(stripe)]);
        update.is_some_and(|update| !update.lost.is_empty())
            || members.any(|of| of != lpn && !is_written(of) && is_lost(of))
    }

    /// Ends the entries and the parity of members that were in memory and have been lost.
    pub(super) fn end_lost(&mut self, base: &mut Base, requests: &mut Requests) {
        for unit in std::mem::take(&mut self.updates_mut().lost) {
            match unit {
                Unit::Data(entry) => self.tell_of_lost(base, requests, None, entry),
                Unit::Parity(id) => self.end_parity(id),
            }
        }
    }

    /// Tells those who wait for an entry that its data will not be on flash, and removes the entry.
    pub(super) fn tell_of_lost(
        &mut self,
        base: &mut Base,
        requests: &mut Requests,
        op: Option<OpId>,
        id: EntryId,
    ) {
        while let Some(read) = self.buffer.take_deferred(id) {
            // Its data is still here.
            let lpn = self.buffer.entry(id).lpn;
            base.audit_buffer_read(requests, read.request, lpn, self.buffer.token(id));
            end_deferred(base, requests, op, read);
        }
        if let Some((request, part)) = self.buffer.entry(id).writer {
            self.written_through(base, requests, op, id, (request, part));
        }
        self.buffer.flying -= 1;
        self.buffer.remove(id);
    }
}
