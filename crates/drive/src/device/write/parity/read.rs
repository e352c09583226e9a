//! Reads of the data from which parity follows.

use crate::device::Base;
use crate::device::event::Event;
use crate::device::flash::op::{Class, Owner};
use crate::device::ids::{OpId, UpdateId};
use crate::device::join::Join;
use crate::device::request::Requests;
use crate::device::write::Write;
use crate::device::write::parity::gather::Member;
use crate::device::write::unit::Unit;
use crate::device::write::updates::{Parity, Update};
use engine::{Instant, Span};
use ftl::PoolId;
use metrics::{Holder, State};

impl Write {
    /// Reads units for the parity of an update.
    pub(super) fn read_for_parity(&mut self, base: &mut Base, id: UpdateId, members: &[Member]) {
        let mut pieces = Vec::new();
        let mut token = 0;
        for member in members {
            match *member {
                Member::OnFlash(lpn, ppn) => {
                    base.split_whole(&mut pieces, lpn, ppn);
                    token ^= base.audit_stored(ppn);
                }
                Member::InRam(of) => token ^= of,
            }
        }
        let updates = self.updates_mut();
        let update = &mut updates.updates[id];
        update.token ^= token;
        update.reads = Join::of(pieces.len() as u32);
        if pieces.is_empty() {
            return self.compute_parity(base, id, base.time.now);
        }
        for (member, piece) in pieces.into_iter().enumerate() {
            let owner = Owner::ParityRead(id, member as u32);
            base.ask_piece(piece, Holder::Parity, Class::RmwRead, owner);
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
        let (at, blame) = (base.decoded(op), base.flash.blame(op));
        let updates = self.updates_mut();
        let update = &mut updates.updates[id];
        update.reads.ended(member, at, blame, &mut update.blame, &mut updates.aside);
        if let Some(at) = update.reads.settle(&mut update.blame, &mut updates.aside) {
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
        let now = base.time.now;
        let stripes = base.space.ftl.layout.stripes.expect("data has parity");
        let update = &self.updates().updates[id];
        if update.left == 0 {
            self.commit_update(base, requests, id, None);
            self.end_flushes(base, requests, None);
            return self.admit_waiting(base, requests, None);
        }
        let pool = base.space.ftl.layout.pool(stripes.parity(update.stripe));
        let mut units: Vec<(PoolId, Unit)> = Vec::new();
        for entry in update.entries.clone() {
            let pool = self.buffer.entry(entry).pool;
            units.push((pool, Unit::Data(entry)));
            // From now on it waits for a bin.
            self.buffer.entry_mut(entry).since = now;
            base.settle_space(pool);
            self.buffer.note_space(entry, base.space.without_space(pool).0);
        }
        base.settle_space(pool);
        let without_space = *base.space.without_space(pool).0;
        let updates = self.updates_mut();
        let Update { stripe, token, .. } = updates.updates[id];
        let parity = Parity { stripe, token, update: Some(id), ready: now, without_space };
        let parity = updates.parities.insert(parity);
        updates.updates[id].parity = Some(parity);
        units.push((pool, Unit::Parity(parity)));
        for (pool, unit) in &units {
            updates.coming[*pool] -= 1;
            updates.ready[*pool].push_back(*unit);
        }
        for (pool, _) in units {
            self.update_due(base, pool, None);
        }
    }
}
