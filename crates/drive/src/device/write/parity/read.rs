//! Reads of the data from which parity follows.

use crate::device::Base;
use crate::device::event::Event;
use crate::device::flash::op::{Class, Owner};
use crate::device::ids::{OpId, ParityId, UpdateId};
use crate::device::join::Join;
use crate::device::request::Requests;
use crate::device::space::waits::SpaceSnapshot;
use crate::device::write::Write;
use crate::device::write::member::Member;
use crate::device::write::unit::Unit;
use crate::device::write::updates::{Parity, Update};
use engine::{Instant, Span};
use ftl::{Lpn, PoolId};
use metrics::{Holder, State};

impl Write {
    /// Reads what the parity of an update needs.
    pub(super) fn read_for_parity(&mut self, base: &mut Base, id: UpdateId) {
        let mut pieces = Vec::new();
        let entries = self.updates().updates[id].entries.iter();
        let mut token = entries.fold(0, |sum, entry| sum ^ self.buffer.token(*entry));
        for member in self.needed(base, id) {
            match member {
                Member::OnFlash(lpn, ppn) => {
                    token ^= base.audit_stored(ppn);
                    if base.space.ftl.is_poisoned(ppn) {
                        self.updates_mut().updates[id].unread = true;
                    } else {
                        base.split_whole(&mut pieces, lpn, ppn);
                    }
                }
                Member::InRam(of) => token ^= of,
                // The data is lost for good, and the run ends.
                Member::Lost(_) => debug_assert!(base.loss().is_some()),
            }
        }
        let updates = self.updates_mut();
        let update = &mut updates.updates[id];
        update.token = token;
        update.reads = Join::of(pieces.len() as u32);
        if pieces.is_empty() {
            return self.compute_parity(base, id, base.time.now);
        }
        for (member, piece) in pieces.into_iter().enumerate() {
            let owner = Owner::ParityRead(id, member as u32);
            let op = base.ask_piece(piece, Holder::Parity, Class::RmwRead, owner);
            base.flash.note_parity_read(op, true);
        }
    }

    /// Continues after a read for the parity of an update.
    #[inline(never)]
    pub(in crate::device) fn parity_read(
        &mut self,
        base: &mut Base,
        op: OpId,
        (id, member): (UpdateId, u32),
    ) {
        let (fails, at) = base.decoded_unless_failed(op);
        base.flash.note_parity_read(op, false);
        let blame = base.flash.blame(op);
        let updates = self.updates_mut();
        let update = &mut updates.updates[id];
        update.reads_again |= fails;
        update.unread |= base.flash.op(op).failed > 0;
        update.reads.ended(member, at, blame, &mut update.blame, &mut updates.aside);
        let Some(at) = update.reads.settle(&mut update.blame, &mut updates.aside) else { return };
        if std::mem::take(&mut update.reads_again) {
            self.read_for_parity(base, id);
        } else {
            self.compute_parity(base, id, at);
        }
    }

    /// Computes the parity of an update, whose data is there at `at`.
    fn compute_parity(&mut self, base: &mut Base, id: UpdateId, at: Instant) {
        let updates = self.updates_mut();
        let update = &mut updates.updates[id];
        // Nothing is computed if parity is dropped; that happens now, in the same way.
        let xor = if update.drops { Span::ZERO } else { updates.xor };
        update.blame.charge(State::Xor, xor);
        let number = u64::from(update.stripe.0);
        base.time.agenda.schedule(at + xor, Event::ParityKnown(id), number);
    }

    /// The units of an update may be programmed: its parity is known.
    #[inline(never)]
    pub(in crate::device) fn parity_known(
        &mut self,
        base: &mut Base,
        requests: &mut Requests,
        id: UpdateId,
    ) {
        let stripes = base.space.ftl.layout.stripes.expect("data has parity");
        let update = &self.updates().updates[id];
        if update.left == 0 {
            self.commit_update(base, requests, id, None);
            self.end_flushes(base, requests, None);
            return self.admit_waiting(base, requests, None);
        }
        let lpn = stripes.parity(update.stripe);
        let mut units = Vec::new();
        for entry in update.entries.clone() {
            let kept = self.buffer.entry(entry);
            units.push((kept.pool, kept.lpn, Unit::Data(entry)));
        }
        let pool = base.space.ftl.layout.pool(lpn);
        units.push((pool, lpn, Unit::Parity(self.parity_of(base, id))));
        let mut pools = Vec::new();
        for (pool, lpn, unit) in units {
            self.updates_mut().coming[pool] -= 1;
            pools.extend(self.make_ready(base, lpn, unit));
            // Others of its list may be written now.
            pools.push(pool);
        }
        pools.dedup();
        for pool in pools {
            self.update_due(base, pool, None);
        }
    }

    /// Notes the parity of an update, which is known now.
    pub(super) fn parity_of(&mut self, base: &Base, id: UpdateId) -> ParityId {
        let updates = self.updates_mut();
        let Update { stripe, token, unread, .. } = updates.updates[id];
        let parity = Parity {
            stripe,
            token,
            is_void: unread,
            update: Some(id),
            pool: PoolId(0),
            ready: base.time.now,
            without_space: SpaceSnapshot::default(),
        };
        let parity = updates.parities.insert(parity);
        updates.updates[id].parity = Some(parity);
        parity
    }

    /// Lets a unit be programmed; returns the pool that it goes to. If no flash has room for it, it
    /// counts as placed, and the rest of its stripe tells its data.
    pub(super) fn make_ready(&mut self, base: &mut Base, lpn: Lpn, unit: Unit) -> Option<PoolId> {
        let Some(pool) = base.space.home(lpn) else {
            self.lose(base, lpn, unit);
            return None;
        };
        base.settle_space(pool);
        let (now, without_space) = (base.time.now, *base.space.without_space(pool).0);
        match unit {
            Unit::Data(entry) => {
                // From now on it waits for a bin.
                let kept = self.buffer.entry_mut(entry);
                (kept.since, kept.pool) = (now, pool);
                self.buffer.note_space(entry, &without_space);
            }
            Unit::Parity(id) => {
                let parity = &mut self.updates_mut().parities[id];
                (parity.ready, parity.without_space) = (now, without_space);
                parity.pool = pool;
            }
        }
        self.updates_mut().ready[pool].push_back(unit);
        Some(pool)
    }
}
