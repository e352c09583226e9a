//! Chains of collection: if nothing intervenes, an operation turns into the one that collection
//! asks for next. The read of a batch becomes the program that moves it, which becomes the read of
//! the next batch, and so on.

use crate::device::Base;
use crate::device::gc::Gc;
use crate::device::gc::job::Course;
use crate::device::ids::OpId;
use ftl::{Batch, BinId};

impl Gc {
    /// Continues after a batch of a victim is read: programs it if the whole batch is valid and
    /// nothing else was read before it. Returns true if it does.
    #[inline(always)]
    pub(in crate::device) fn chain_program(
        &mut self,
        base: &mut Base,
        id: OpId,
        valid: u64,
    ) -> bool {
        let op = base.flash.op(id);
        let (bin, from) = (op.bin, op.at());
        let ftl = &base.space.ftl;
        if valid != ftl.layout.whole_batch() || ftl.valid_in_batch(from) != valid {
            return false;
        }
        let job = &self.jobs[bin];
        if !base.flash.turns_moves()
            || !job.staged.is_empty()
            || job.under_way() < self.config.window
        {
            return false;
        }
        let class = base.class_of(bin);
        let writer = self.writer_of(base, bin);
        if !base.flash.may_turn(&base.time, id, bin, class, None)
            || !base.space.can_move(bin, writer)
            || !base.space.leaves_room(bin, |older| older == from.block)
        {
            return false;
        }
        let job = &mut self.jobs[bin];
        job.reads -= 1;
        job.writes += 1;
        self.note_sensed(base, from);
        base.flash.turn_to_program(&mut base.time, &mut base.space, id, class, writer);
        true
    }

    /// True if a read may follow the end of a move from `from` on the same units, so that they need
    /// not be freed before.
    #[inline(always)]
    pub(in crate::device) fn may_chain_read(&self, base: &Base, bin: BinId, from: Batch) -> bool {
        let job = &self.jobs[bin];
        // A block that is read completely is erased after the last move from it, on units that must
        // be free then.
        base.flash.turns_moves()
            && job.victim == Some(from.block)
            && job.course == Course::Needed
            && job.under_way() == self.config.window
            && !self.config.copy_back
    }

    /// Continues after a batch was moved: reads the victim's next one. Returns true if it does.
    #[inline(always)]
    pub(in crate::device) fn chain_read(&mut self, base: &mut Base, id: OpId) -> bool {
        let bin = base.flash.op(id).bin;
        if self.rests_at_pace(base, bin) {
            return false;
        }
        let Some((at, valid)) = self.next_valid_batch(base, bin) else { return false };
        let planes = base.space.ftl.layout.planes_of(valid);
        let class = base.class_of(bin);
        if !base.flash.may_turn(&base.time, id, bin, class, Some(planes)) {
            return false;
        }
        self.begin_move(base, bin, at, valid);
        self.jobs[bin].reads += 1;
        let reader = self.reader_of(base, bin);
        base.flash.turn_to_read(&mut base.time, id, (class, reader), (at, valid, planes));
        true
    }
}
