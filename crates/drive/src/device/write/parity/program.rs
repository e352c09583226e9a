//! Programs of the units of updates.

use crate::device::Base;
use crate::device::flash::op::{Class, Owner};
use crate::device::ids::{EntryId, OpId, ParityId, PayloadId, UpdateId};
use crate::device::request::Requests;
use crate::device::write::Write;
use crate::device::write::flush::charge_wait;
use crate::device::write::unit::Unit;
use crate::device::write::updates::Parity;
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
            if matches!(unit, Unit::Data(_)) {
                holder = Holder::HostProgram;
            }
            let lpn = self.lpn_of(base, unit);
            base.flash.payloads.push(payload, [unit.slot(), lpn.0]);
            last = self.updates().of_unit(stripes.of(lpn), unit).or(last);
        }
        base.settle_space(pool);
        base.space.end_starving(pool);
        base.space.promise(bin, true);
        let owner = Owner::Flush(payload);
        let transfer = self.transfer_of(base, payload);
        let op = base.ask_transferred(bin, transfer, holder, Class::Write, owner);
        match first {
            Some(Unit::Data(entry)) => self.charge_listed(base, op, entry, after),
            Some(Unit::Parity(id)) => {
                let parity = &self.updates().parities[id];
                charge_wait(base, op, pool, (parity.ready, &parity.without_space), after);
            }
            None => unreachable!("something is ready"),
        }
        if let Some(id) = last {
            base.flash.blame_mut(op).add(&self.updates().updates[id].blame);
        }
        if self.updates().tolerates {
            self.updates_mut().asked[pool].push((op, bin));
            self.tolerate_program(base, op, bin);
        }
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
        let (at, bin) = (base.flash.op(op).at(), base.flash.op(op).bin);
        let first = base.space.ftl.layout.first_unit(at.block, at.batch);
        if self.updates().tolerates {
            let pool = base.space.ftl.layout.pool_of_bin(bin);
            self.updates_mut().asked[pool].retain(|(asked, _)| *asked != op);
        }
        let has_failed = base.space.ftl.is_failed(bin);
        let mut parity = 0;
        for slot in 0..base.flash.payloads.count(payload) {
            let ([unit, lpn], ppn) = (base.flash.payloads.slot(payload, slot), Ppn(first.0 + slot));
            let unit = Unit::of_slot(unit);
            parity += u64::from(matches!(unit, Unit::Parity(_)));
            match unit {
                unit if has_failed => self.program_again(base, requests, op, (unit, ppn)),
                Unit::Data(entry) => self.data_on_flash(base, requests, op, entry, ppn),
                Unit::Parity(id) => self.parity_on_flash(base, id, Lpn(lpn), ppn),
            }
        }
        parity
    }

    /// Notes that a unit of data is on flash.
    fn data_on_flash(
        &mut self,
        base: &mut Base,
        requests: &mut Requests,
        op: OpId,
        entry: EntryId,
        ppn: Ppn,
    ) {
        let lpn = self.buffer.entry(entry).lpn;
        let stripe = base.space.ftl.layout.stripes.expect("data has parity").of(lpn);
        let unit = Unit::Data(entry);
        let Some(id) = self.updates().of_unit(stripe, unit) else {
            // It is written alone, or its update has ended.
            self.updates_mut().off_flash.written(lpn, unit);
            return self.entry_on_flash(base, requests, op, entry, ppn);
        };
        base.space.ftl.note(ppn, lpn);
        base.audit_program(lpn, ppn, self.buffer.token(entry));
        self.move_unread(base, entry, ppn);
        self.unit_placed(base, id, unit, lpn, ppn);
    }

    /// Notes that a unit of parity is on flash.
    fn parity_on_flash(&mut self, base: &mut Base, id: ParityId, lpn: Lpn, ppn: Ppn) {
        let Parity { token, update, is_void, .. } = self.updates().parities[id];
        base.space.ftl.note(ppn, lpn);
        base.audit_parity(ppn, token);
        if is_void {
            base.space.ftl.poison(ppn);
        }
        match update {
            Some(update) => {
                self.unit_placed(base, update, Unit::Parity(id), lpn, ppn);
                self.updates_mut().updates[update].parity = None;
            }
            None if self.updates_mut().off_flash.written(lpn, Unit::Parity(id)) => {
                base.space.ftl.commit_write(lpn, ppn);
            }
            // Newer parity has taken its place.
            None => {}
        }
        self.end_parity(id);
    }

    /// Notes that a unit of an update is on flash, where it becomes current with the others.
    fn unit_placed(&mut self, base: &mut Base, id: UpdateId, unit: Unit, lpn: Lpn, ppn: Ppn) {
        base.space.ftl.place(lpn, ppn);
        let updates = self.updates_mut();
        let held = &mut updates.updates[id].held;
        match held.iter().position(|held| *held == unit) {
            Some(at) => {
                held.swap_remove(at);
            }
            None => updates.count_placed(id),
        }
    }
}
