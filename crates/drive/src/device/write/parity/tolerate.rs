//! Writes that collection does not hold up. While it holds the flash of a unit of an update, the unit
//! counts as placed: the update ends without it, and the unit follows from memory, without new parity.

use crate::device::Base;
use crate::device::flash::Note;
use crate::device::flash::op::Owner;
use crate::device::ids::{OpId, ParityId};
use crate::device::request::Requests;
use crate::device::write::Write;
use crate::device::write::off_flash::OffFlash;
use crate::device::write::unit::Unit;
use ftl::{BinId, Lpn, PoolId};

impl Write {
    /// Counts units as placed whose flash collection holds, now that it holds that of a bin.
    #[inline(never)]
    pub(in crate::device) fn tolerate(&mut self, base: &mut Base, bin: BinId) {
        if self.updates.as_ref().is_none_or(|updates| !updates.tolerates) {
            return;
        }
        for pool in base.pools_held_with(bin) {
            for (op, bin) in self.updates().asked[pool].clone() {
                self.tolerate_program(base, op, bin);
            }
            self.tolerate_ready(base, pool);
        }
    }

    /// Counts the units of a program that is asked for in a bin as placed, if collection holds
    /// their flash.
    pub(super) fn tolerate_program(&mut self, base: &mut Base, op: OpId, bin: BinId) {
        if !base.keeps_programs_from(bin) {
            return;
        }
        let Owner::Flush(payload) = base.flash.op(op).owner else { unreachable!("of the buffer") };
        for slot in 0..base.flash.payloads.count(payload) {
            let [unit, lpn] = base.flash.payloads.slot(payload, slot);
            self.hold(base, Unit::of_slot(unit), Lpn(lpn));
        }
    }

    /// Counts the units of a pool that may be programmed, but for which no program is asked, as
    /// placed if collection holds the flash of all its bins.
    pub(super) fn tolerate_ready(&mut self, base: &mut Base, pool: PoolId) {
        let bins = base.space.ftl.layout.bins_of(pool);
        if !self.updates().tolerates || !bins.iter().all(|bin| base.keeps_programs_from(*bin)) {
            return;
        }
        for at in 0..self.updates().ready[pool].len() {
            let unit = self.updates().ready[pool][at];
            self.hold(base, unit, self.lpn_of(base, unit));
        }
    }

    /// Counts a unit as placed, if it is part of an update and did not count before.
    fn hold(&mut self, base: &mut Base, unit: Unit, lpn: Lpn) {
        let stripe = base.space.ftl.layout.stripes.expect("data has parity").of(lpn);
        let updates = self.updates_mut();
        let Some(id) = updates.of_unit(stripe, unit) else { return };
        if updates.updates[id].held.contains(&unit) {
            return;
        }
        updates.updates[id].held.push(unit);
        updates.count_placed(id);
        base.flash.count_held(matches!(unit, Unit::Parity(_)));
        if !updates.ended.is_empty() {
            base.flash.note(Note::UpdatesEnded);
        }
    }

    /// Ends the updates whose units are all on flash or in memory.
    #[inline(never)]
    pub(in crate::device) fn end_updates(&mut self, base: &mut Base, requests: &mut Requests) {
        self.commit_ended(base, requests, None);
        self.end_lost(base, requests);
        self.end_flushes(base, requests, None);
        self.admit_waiting(base, requests, None);
        base.space.retry_starved(self.set);
    }

    /// A unit becomes a member of its stripe that is not on flash, instead of earlier data.
    pub(super) fn keep_off_flash(&mut self, base: &mut Base, lpn: Lpn, member: OffFlash) {
        self.forget_off_flash(lpn);
        base.space.ftl.end_keeping(lpn);
        base.space.ftl.trim(lpn);
        let updates = self.updates_mut();
        updates.off_flash.put(lpn, member);
        if let Some(Unit::Parity(id)) = member.unit {
            updates.parities[id].update = None;
            self.buffer.lend();
        }
    }

    /// Newer data takes the place of a member in memory, if it is there. It need not be programmed,
    /// unless that is asked for.
    pub(super) fn forget_off_flash(&mut self, lpn: Lpn) {
        let Some(unit) = self.updates_mut().off_flash.forget(lpn) else { return };
        let pool = match unit {
            Unit::Data(entry) => self.buffer.entry(entry).pool,
            Unit::Parity(id) => self.updates().parities[id].pool,
        };
        let ready = &mut self.updates_mut().ready[pool];
        let Some(at) = ready.iter().position(|waiting| *waiting == unit) else { return };
        match unit {
            Unit::Data(entry) => {
                let kept = self.buffer.entry(entry);
                if kept.writer.is_some() || self.buffer.is_awaited(entry) {
                    return;
                }
                self.buffer.flying -= 1;
                self.buffer.remove(entry);
            }
            Unit::Parity(id) => self.end_parity(id),
        }
        self.updates_mut().ready[pool].remove(at);
    }

    /// Ends the way of parity to flash.
    pub(super) fn end_parity(&mut self, id: ParityId) {
        let updates = self.updates_mut();
        if updates.parities[id].update.is_none() {
            self.buffer.take_back();
        }
        self.updates_mut().parities.remove(id);
    }
}
