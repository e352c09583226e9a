//! Data that cannot be decoded and is rebuilt from the rest of its stripe: in a superblock here, and over
//! logical units in [`super::stripes`]. The pages of the other members are read, as far as they are on
//! flash; each may need re-reads, but none is rebuilt itself. What is not on flash is in the memory of
//! the controller.

use crate::device::base::Base;
use crate::device::errors::Recovery;
use crate::device::event::Event;
use crate::device::flash::Ask;
use crate::device::flash::counters::OpKind;
use crate::device::flash::op::{Op, Owner};
use crate::device::ids::{OpId, RecoveryId};
use crate::device::join::Join;
use ftl::Batch;
use metrics::{Blame, Holder, State};

impl Base {
    /// True if the stripe of what an operation reads can rebuild it.
    pub(super) fn is_protected(&self, id: OpId) -> bool {
        let op = self.flash.op(id);
        match self.space.ftl.layout.stripes {
            Some(_) => matches!(
                op.owner,
                Owner::Read(..)
                    | Owner::RmwRead(..)
                    | Owner::ParityRead(..)
                    | Owner::CollectRead(_)
                    | Owner::ScrubRead(_)
            ),
            None => !op.is_member() && self.space.ftl.stripe_width(op.block).is_some(),
        }
    }

    /// Asks for the other members of the stripe of a read.
    pub(super) fn begin_rebuild(&mut self, id: OpId, recovery: RecoveryId) {
        let members = self.members_on_flash(id);
        let errors = self.errors.as_mut().expect("flash has errors");
        errors.counters.read_for_rebuilds += members.len() as u64;
        let of = &mut errors.recoveries[recovery];
        (of.members, of.blame) = (Join::of(members.len() as u32), Blame::NONE);
        of.lost.clear();
        if members.is_empty() {
            let xor = self.xor;
            return self.schedule_rebuilt(id, self.time.now + xor);
        }
        let owner = self.flash.op(id).owner_of_members();
        for (member, at) in (0..).zip(members) {
            self.ask_member(id, at, owner(recovery, member));
        }
    }

    /// The other members of a read's stripe whose pages can be read, parity included.
    fn members_on_flash(&self, id: OpId) -> Vec<Batch> {
        let (ftl, op) = (&self.space.ftl, self.flash.op(id));
        ftl.members_on_flash(Batch { block: op.block, batch: op.batch }).collect()
    }

    /// Asks for a member: the same part of its page.
    fn ask_member(&mut self, id: OpId, at: Batch, owner: Owner) {
        let of = self.flash.transferred(id);
        let Op { bin, class, transfer, row, .. } = *self.flash.op(id);
        self.space.ftl.begin_read(at.block);
        self.ask_for_rebuild(Ask {
            slots: of.slots,
            kind: OpKind::Read,
            holder: Holder::Rebuild,
            owner,
            class,
            bin,
            planes: of.planes,
            block: at.block,
            batch: at.batch,
            row: row - of.rows,
            rows: of.rows,
            transfer,
            bytes: of.bytes,
        });
    }

    /// Continues after a member was read, or could not be.
    pub(super) fn member_read(&mut self, op: OpId, (id, member): (RecoveryId, u32)) {
        let at = self.decoded(op);
        let errors = self.errors.as_mut().expect("flash has errors");
        let lost = std::mem::take(&mut errors.lost_of_member);
        let recovery = &mut errors.recoveries[id];
        match recovery.of_member.get(member as usize) {
            Some(unit) if !lost.is_empty() => recovery.lost.extend([*unit]),
            Some(_) => {}
            None => recovery.lost.extend(lost),
        }
        let (blame, aside) = (self.flash.blame(op), &mut errors.aside);
        recovery.members.ended(member, at, blame, &mut recovery.blame, aside);
        let settled = recovery.members.settle(&mut recovery.blame, aside);
        let vehicle = recovery.op;
        if let Some(at) = settled {
            let xor = self.xor;
            self.schedule_rebuilt(vehicle, at + xor);
        }
    }

    pub(super) fn schedule_rebuilt(&mut self, id: OpId, at: engine::Instant) {
        self.time.agenda.schedule(at, Event::Undecoded(id), self.flash.op(id).seq);
    }

    /// Ends the rebuild of a read's data, which its owner gets now, as far as all members could be
    /// read.
    pub(super) fn end_rebuild(&mut self, id: OpId, recovery: RecoveryId) {
        let (xor, words) = (self.xor, self.words_of(id));
        self.note_last_re_reads(recovery);
        let errors = self.errors.as_mut().expect("flash has errors");
        let Recovery { wrong, lost, blame, holder, .. } = &mut errors.recoveries[recovery];
        // Units whose other members could be read are there again.
        wrong.retain(|wrong| lost.contains(&words.unit_of(wrong.word)));
        let (is_lost, holder) = (!wrong.is_empty(), *holder);
        blame.charge(State::Xor, xor);
        if !self.flash.op(id).is_collection() {
            self.flash.blame_mut(id).add(blame);
        }
        errors.counters.rebuild_failures[holder as usize] += u64::from(is_lost);
        self.decode = engine::Span::ZERO;
        // It occupies nothing any more.
        self.flash.hold_nothing(id);
        match is_lost {
            true => self.give_up(id, recovery),
            false => self.errors().end_recovery(id),
        }
    }
}
