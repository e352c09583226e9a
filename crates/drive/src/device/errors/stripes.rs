//! Data that cannot be decoded and is rebuilt from stripes over logical units (`ftl.parity`): each unit
//! has a stripe of its own, and its members are where they are at the moment.

use crate::device::Device;
use crate::device::base::Base;
use crate::device::errors::Rebuild;
use crate::device::flash::end::Ended;
use crate::device::flash::op::Op;
use crate::device::ids::{OpId, RecoveryId};
use crate::device::join::Join;
use crate::device::pieces::Piece;
use crate::device::write::member::{Member, Others};
use engine::bits;
use ftl::{Lpn, Ppn};
use metrics::{Blame, Holder};
use std::collections::BTreeSet;

/// Reads of other members of stripes, each with the number of the unit that it tells.
#[derive(Default)]
struct Needed {
    pieces: Vec<Piece>,
    of_member: Vec<u32>,
    /// Units that no stripe tells.
    lost: BTreeSet<u32>,
}

impl Device {
    /// Asks for the other members of the stripes of the units that a read could not decode. If a stripe
    /// cannot tell its unit, the read goes on as one of data without parity.
    pub(super) fn begin_rebuild_of_units(
        &mut self,
        id: OpId,
        recovery: RecoveryId,
    ) -> Option<Ended> {
        let Needed { pieces, of_member, lost } = self.needed_to_rebuild(id, recovery);
        let base = &mut self.base;
        if !lost.is_empty() {
            return base.go_on_unprotected(id, recovery);
        }
        base.rebuilds_task(id);
        let xor = base.xor;
        let errors = base.errors();
        errors.counters.read_for_rebuilds += pieces.len() as u64;
        let of = &mut errors.recoveries[recovery];
        (of.members, of.blame) = (Join::of(pieces.len() as u32), Blame::NONE);
        of.of_member = of_member;
        of.lost.clear();
        of.rebuild = Rebuild::UnderWay;
        if pieces.is_empty() {
            base.schedule_rebuilt(id, base.time.now + xor);
            return None;
        }
        let (class, owner) = (base.flash.op(id).class, base.flash.op(id).owner_of_members());
        for (member, piece) in (0..).zip(pieces) {
            let ask = base.read_of_piece(piece, Holder::Rebuild, class, owner(recovery, member));
            base.ask_for_rebuild(ask);
        }
        None
    }

    /// Members that tell the units that a read could not decode. Nothing is read for units that
    /// have no data any more, whose data is in memory, or that were lost before.
    fn needed_to_rebuild(&self, id: OpId, recovery: RecoveryId) -> Needed {
        let (base, write) = (&self.base, self.write.whole());
        let (ftl, op) = (&base.space.ftl, base.flash.op(id));
        let stripes = ftl.layout.stripes.expect("data has parity");
        let first = ftl.layout.first_unit(op.block, op.batch).0;
        let slots: Vec<usize> = bits(base.flash.transferred(id).slots).collect();
        let mut needed = Needed::default();
        for place in base.units_without(id, recovery) {
            let ppn = Ppn(first + slots[place as usize] as u32);
            let lpn = ftl.holds(ppn);
            let Some(Member::OnFlash(_, now_at)) = write.member(base, lpn) else { continue };
            if now_at != ppn && ftl.is_valid(ppn) {
                // It is placed by an update that has not ended, which keeps its data in memory.
                continue;
            }
            // Other data may be where it was moved to, or where newer data is: the stripe tells that.
            if ftl.is_poisoned(now_at) {
                let is_moved_again = op.is_collection() && now_at == ppn;
                if !is_moved_again {
                    needed.lost.insert(place);
                }
                continue;
            }
            let others = write.others(base, stripes.of(lpn), |member| member == lpn);
            let Some(others) = others.filter(|others| !others.has_poison(base)) else {
                needed.lost.insert(place);
                continue;
            };
            base.audit_rebuilt(now_at, &others);
            for &(lpn, ppn) in &others.on_flash {
                // Each unit has members of its own, so that it is known what depends on which.
                let mut own = Vec::new();
                base.split_whole(&mut own, lpn, ppn);
                needed.of_member.extend(own.iter().map(|_| place));
                needed.pieces.extend(own);
            }
        }
        needed
    }
}

impl Base {
    /// Units of the row that a read has sensed last that it may have been asked for, each once: the
    /// current one of those that have the same number.
    pub(in crate::device) fn units_of_row(
        &self,
        op: &Op,
        wanted: impl Fn(Lpn) -> bool,
    ) -> Vec<(Lpn, Ppn)> {
        let ftl = &self.space.ftl;
        let first = ftl.layout.first_unit(op.block, op.batch).0;
        // An operation that has ended is one row further.
        let (place, row) = (self.flash.place_of(op.bin, op.batch), op.row - 1);
        let mut pieces = Vec::new();
        let mut units: Vec<(Lpn, Ppn)> = Vec::new();
        for ppn in (first..first + ftl.layout.units_per_batch).map(Ppn) {
            let lpn = ftl.holds(ppn);
            if !wanted(lpn) {
                continue;
            }
            pieces.clear();
            self.split_whole(&mut pieces, lpn, ppn);
            let is_read = pieces.iter().any(|piece| {
                let planes = piece.planes_in(op.block, row);
                planes.is_some_and(|of| place.read_cells(of) & op.cells != 0)
            });
            match units.iter_mut().find(|(known, _)| *known == lpn) {
                _ if !is_read => {}
                Some(known) if ftl.member(lpn) == Some(ppn) => *known = (lpn, ppn),
                Some(_) => {}
                None => units.push((lpn, ppn)),
            }
        }
        units
    }

    /// Reports data that is computed from others of its stripe.
    fn audit_rebuilt(&self, ppn: Ppn, others: &Others) {
        if self.audit.is_none() {
            return;
        }
        let on_flash =
            others.on_flash.iter().fold(0, |sum, (_, ppn)| sum ^ self.audit_stored(*ppn));
        let (told, stored) = (on_flash ^ others.in_ram, self.audit_stored(ppn));
        assert_eq!(told, stored, "{ppn:?} is not what its stripe tells");
    }
}
