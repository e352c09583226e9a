//! Programs of the units of updates.

use crate::device::Base;
use crate::device::flash::op::{Class, NO_ENTRY, Owner};
use crate::device::ids::{EntryId, OpId, PayloadId, UpdateId};
use crate::device::request::Requests;
use crate::device::write::Write;
use crate::device::write::flush::charge_wait;
use crate::device::write::updates::Unit;
use ftl::{BinId, Lpn, PoolId, Ppn};
use metrics::Holder;

impl Write {
    /// Asks for programs of a pool's units that are ready, as far as its bins allow; returns true if
    /// it asked for any.
    pub(super) fn form_ready(
        &mut self,
        base: &mut Base,
        pool: PoolId,
        after: Option<OpId>,
    ) -> bool {
        let mut has_asked = false;
        while self.updates().forms(pool) {
            let Some(bin) = base.choose_bin(pool) else { break };
            self.program_ready(base, pool, bin, after);
            has_asked = true;
        }
        has_asked
    }

    fn program_ready(&mut self, base: &mut Base, pool: PoolId, bin: BinId, after: Option<OpId>) {
        let stripes = base.space.ftl.layout.stripes.expect("data has parity");
        let payload = base.flash.payloads.new_empty();
        let (mut holder, mut last) = (Holder::Parity, None);
        let first = self.updates().ready[pool].front().copied();
        for _ in 0..base.space.ftl.layout.units_per_batch {
            let Some(unit) = self.updates_mut().ready[pool].pop_front() else { break };
            let (slot, update) = match unit {
                Unit::Data(entry) => {
                    holder = Holder::HostProgram;
                    let lpn = self.buffer.entry(entry).lpn;
                    ([entry.0, lpn.0], self.update_of(stripes.of(lpn), entry))
                }
                Unit::Parity(id) => {
                    let parity = stripes.parity(self.updates().updates[id].stripe);
                    ([NO_ENTRY, parity.0], Some(id))
                }
            };
            base.flash.payloads.push(payload, slot);
            last = update.or(last);
        }
        base.settle_space(pool);
        base.space.end_starving(pool);
        base.space.promise(bin, true);
        let owner = Owner::Flush(payload);
        let op = base.ask_program(bin, payload, holder, Class::Write, owner);
        match first {
            Some(Unit::Data(entry)) => self.charge_listed(base, op, entry, after),
            Some(Unit::Parity(id)) => {
                let update = &self.updates().updates[id];
                charge_wait(base, op, pool, (update.ready, &update.without_space), after);
            }
            None => unreachable!("something is ready"),
        }
        if let Some(id) = last {
            base.flash.blame_mut(op).add(&self.updates().updates[id].blame);
        }
    }

    /// The update that an entry is part of.
    fn update_of(&self, stripe: ftl::StripeId, entry: EntryId) -> Option<UpdateId> {
        let updates = self.updates();
        updates.of(stripe).filter(|id| updates.updates[*id].entries.contains(&entry))
    }

    /// Notes that the units of a program are on flash; returns how many of them are parity.
    #[inline(never)]
    pub(in crate::device::write) fn units_on_flash(
        &mut self,
        base: &mut Base,
        requests: &mut Requests,
        op: OpId,
        payload: PayloadId,
    ) -> u64 {
        let at = base.flash.op(op).at();
        let first = base.space.ftl.layout.first_unit(at.block, at.batch);
        let mut parity = 0;
        for slot in 0..base.flash.payloads.count(payload) {
            let (unit, ppn) = (base.flash.payloads.slot(payload, slot), Ppn(first.0 + slot));
            parity += u64::from(self.unit_on_flash(base, requests, op, unit, ppn));
        }
        parity
    }

    /// Notes that a unit of an update, or one that is written alone, is on flash; returns true if
    /// it is parity.
    fn unit_on_flash(
        &mut self,
        base: &mut Base,
        requests: &mut Requests,
        op: OpId,
        [entry, lpn]: [u32; 2],
        ppn: Ppn,
    ) -> bool {
        let (lpn, stripes) = (Lpn(lpn), base.space.ftl.layout.stripes.expect("data has parity"));
        let stripe = stripes.of(lpn);
        let is_parity = entry == NO_ENTRY;
        let id = if is_parity {
            let id = self.updates().of(stripe).expect("parity is part of an update");
            base.space.ftl.note(ppn, lpn);
            base.audit_parity(ppn, self.updates().updates[id].token);
            id
        } else {
            let entry = EntryId(entry);
            let Some(id) = self.update_of(stripe, entry) else {
                self.entry_on_flash(base, requests, op, entry, ppn);
                return false;
            };
            base.space.ftl.note(ppn, lpn);
            base.audit_program(lpn, ppn, self.buffer.token(entry));
            id
        };
        base.space.ftl.place(lpn, ppn);
        let updates = self.updates_mut();
        let update = &mut updates.updates[id];
        update.left -= 1;
        if update.left == 0 {
            updates.ended.push(id);
        }
        is_parity
    }
}
