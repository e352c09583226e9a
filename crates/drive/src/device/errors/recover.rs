//! Recovery of data that could not be decoded: the steps, in time.

use crate::device::Device;
use crate::device::base::Base;
use crate::device::errors::words::Words;
use crate::device::errors::{ErrorCounters, Errors, ReadOf, Rebuild, Recovery};
use crate::device::event::Event;
use crate::device::flash::counters::OpKind;
use crate::device::flash::end::Ended;
use crate::device::flash::op::Owner;
use crate::device::ids::{OpId, RecoveryId};
use engine::{IdOrNone, Span, bits};
use ftl::read_recovery::{Step, Undecoded};
use ftl::{Ppn, RecoveryLevel};
use metrics::{Holder, State};
use nand::errors::Wrong;
use std::collections::BTreeSet;

impl Device {
    /// Handles the end of an operation where flash has errors, tasks or programs are limited, or the
    /// drive has windows. Returns true if it is a read whose data cannot be decoded and that will begin
    /// anew: its owner does not get it yet.
    #[inline(never)]
    pub(in crate::device) fn begins_again(&mut self, ended: Ended) -> bool {
        self.gc.audit_end(&self.base, ended.id);
        let is_again = self.base.errors.is_some() && self.is_read_again(ended);
        if !is_again && self.base.tasks.is_some() {
            self.base.task_ended(ended.id);
        }
        if self.base.space.pressure.is_some() {
            self.base.ended_within_limit(ended.id);
        }
        is_again
    }

    fn is_read_again(&mut self, ended: Ended) -> bool {
        let base = &mut self.base;
        let op = base.flash.op(ended.id);
        match op.kind {
            OpKind::Read if base.flash.holds_nothing(ended.id) => return false,
            OpKind::Read => {}
            OpKind::Program => {
                base.space.ftl.note_program(op.block, base.time.now.as_ns());
                return false;
            }
            _ => return false,
        }
        let level = match ended.owner {
            Owner::Read(request, _) if base.errors().has_levels() => {
                base.level_or_of_set(ended.id, self.port.requests.recovery_level(request))
            }
            Owner::Rebuild(rebuild, _) if base.errors().has_levels() => {
                base.level_or_of_set(ended.id, self.port.recovery_level_of(rebuild))
            }
            _ => RecoveryLevel::DEFAULT,
        };
        base.read_with_errors(ended.id, level)
    }

    /// Decoding of a read has failed: continues with its recovery. Returns the read if it is over.
    #[cold]
    #[inline(never)]
    pub(in crate::device) fn undecoded(&mut self, id: OpId) -> Option<Ended> {
        let recovery = self.base.errors().recovery_of(id).expect("it is being recovered");
        let is_due = self.base.errors().recoveries[recovery].rebuild == Rebuild::Due;
        if is_due && self.base.space.ftl.layout.stripes.is_some() {
            return self.begin_rebuild_of_units(id, recovery);
        }
        self.base.go_on_undecoded(id, recovery)
    }

    /// Handles the end of the read of another member of a stripe.
    pub(in crate::device) fn member_read(&mut self, id: OpId, member: (RecoveryId, u32)) {
        self.base.member_read(id, member);
    }
}

impl Base {
    /// The next attempt of a read begins, or its data is rebuilt. Returns the read if it is over.
    fn go_on_undecoded(&mut self, id: OpId, recovery: RecoveryId) -> Option<Ended> {
        match self.errors().recoveries[recovery].rebuild {
            Rebuild::No => self.flash.begin_again(&mut self.time, &mut self.space, id),
            Rebuild::Due => {
                self.errors().recoveries[recovery].rebuild = Rebuild::UnderWay;
                self.rebuilds_task(id);
                self.begin_rebuild(id, recovery);
            }
            Rebuild::UnderWay => {
                self.end_rebuild(id, recovery);
                return Some(Ended { id, owner: self.flash.op(id).owner });
            }
            Rebuild::InVain => return Some(self.end_in_vain(id, recovery)),
        }
        None
    }

    /// Notes how many re-reads the read needed that goes to its owner now.
    pub(super) fn note_last_re_reads(&mut self, recovery: RecoveryId) {
        let errors = self.errors();
        errors.last_re_reads = errors.recoveries[recovery].re_reads;
    }

    /// Takes the next step of a read whose stripe cannot tell its data, as if that had no parity. It is
    /// decoded, and has freed its units. Returns the read if it is over.
    pub(super) fn go_on_unprotected(&mut self, id: OpId, recovery: RecoveryId) -> Option<Ended> {
        let errors = self.errors();
        let of = &mut errors.recoveries[recovery];
        (of.is_unprotected, of.rebuild) = (true, Rebuild::No);
        let (holder, step) = (of.holder, errors.next_step(recovery, false));
        errors.counters.rebuilds[holder as usize] -= 1;
        if matches!(step, Step::ReRead | Step::SoftDecoding) {
            errors.begin_step(recovery, step);
            self.note_attempt(id, step);
            self.flash.begin_again(&mut self.time, &mut self.space, id);
            return None;
        }
        // As it holds nothing when it ends, its task ends here.
        self.rebuilds_task(id);
        Some(self.end_in_vain(id, recovery))
    }

    /// Ends a read that is decoded, has freed its units, and lacks data.
    fn end_in_vain(&mut self, id: OpId, recovery: RecoveryId) -> Ended {
        self.decode = Span::ZERO;
        self.flash.hold_nothing(id);
        self.note_last_re_reads(recovery);
        self.give_up(id, recovery);
        Ended { id, owner: self.flash.op(id).owner }
    }

    /// Counts an attempt that has failed, and that a further sense follows.
    fn note_attempt(&mut self, id: OpId, step: Step) {
        // The owner counts the rows of the last attempt.
        let (block, rows) = (self.flash.op(id).block, self.flash.transferred(id).rows);
        self.space.ftl.note_sensed(block, rows);
        if step == Step::ReRead {
            self.space.ftl.note_re_read(block);
        }
    }

    pub(super) fn errors(&mut self) -> &mut Errors {
        self.errors.as_mut().expect("flash has errors")
    }

    /// Decodes what a read of a read recovery level has read; returns true if that fails and the read
    /// begins anew.
    fn read_with_errors(&mut self, id: OpId, level: RecoveryLevel) -> bool {
        let read = self.read_of(id, level);
        let errors = self.errors.as_mut().expect("flash has errors");
        let recovery = errors.recovery_of(id);
        match recovery {
            None => errors.read(&self.space.ftl, self.time.now, &read),
            Some(recovery) => {
                errors.find_later_faults(&self.space.ftl, self.time.now, &read, recovery);
                errors.go_on(recovery);
            }
        }
        self.space.ftl.disturb(read.at, read.planes, read.rows);
        let errors = self.errors();
        let is_decoded = match recovery {
            None => errors.wrong.is_empty(),
            Some(recovery) => errors.recoveries[recovery].wrong.is_empty(),
        };
        if recovery.is_none() && is_decoded {
            self.decode = self.flash.timing().decode;
            self.errors().last_re_reads = 0;
            return false;
        }
        let recovery = match recovery {
            None => errors.begin_recovery(id, &read),
            Some(recovery) => {
                self.charge_attempt(id, recovery);
                recovery
            }
        };
        self.decode = self.decode_time(recovery);
        let errors = self.errors();
        errors.last_re_reads = errors.recoveries[recovery].re_reads;
        if is_decoded {
            self.errors().end_recovery(id);
            return false;
        }
        self.next_attempt(id, recovery)
    }

    /// Begins the next attempt, if the policy knows one; returns true if it does.
    fn next_attempt(&mut self, id: OpId, recovery: RecoveryId) -> bool {
        let is_protected =
            self.is_protected(id) && !self.errors().recoveries[recovery].is_unprotected;
        let step = self.errors().next_step(recovery, is_protected);
        let owner = self.flash.op(id).owner;
        let begins_anew = matches!(owner, Owner::Rebuild(..));
        if step == Step::GiveUp && !begins_anew {
            self.give_up(id, recovery);
            return false;
        }
        let decode = self.decode;
        if !self.flash.op(id).is_collection() {
            let is_first = self.flash.op(id).holder != Holder::ReRead;
            let state = if is_first { State::Decode } else { State::ReRead };
            self.flash.blame_mut(id).charge(state, decode);
            let served = self.served(id);
            self.errors().recoveries[recovery].served = served;
        }
        debug_assert!(!matches!(owner, Owner::StreamOut(_)), "what streams is not decoded");
        self.errors().begin_step(recovery, step);
        if matches!(step, Step::ReRead | Step::SoftDecoding) {
            self.note_attempt(id, step);
        }
        self.flash.step_aside(&mut self.time, &mut self.space, id);
        let at = self.time.now + decode;
        self.time.agenda.schedule(at, Event::Undecoded(id), self.flash.op(id).seq);
        true
    }

    /// Time to decode what the present attempt has read. Soft decoding begins after its last sense.
    fn decode_time(&self, recovery: RecoveryId) -> Span {
        let errors = self.errors.as_ref().expect("flash has errors");
        let Recovery { softly, senses_left, .. } = errors.recoveries[recovery];
        match &errors.soft_decoder {
            Some(_) if softly && senses_left > 0 => Span::ZERO,
            Some((soft_decoding, _)) if softly => soft_decoding.decode.span(),
            _ => self.flash.timing().decode,
        }
    }

    /// Time of sensing and of transfers that an operation is charged with.
    fn served(&self, id: OpId) -> [Span; 2] {
        [State::Sense, State::Transfer].map(|state| self.flash.blame(id).of(state))
    }

    /// The read recovery level of a host's read: its own, or that of the set that it reads from.
    fn level_or_of_set(&mut self, id: OpId, own: Option<RecoveryLevel>) -> RecoveryLevel {
        let set = self.set_of_bin(self.flash.op(id).bin);
        own.unwrap_or_else(|| self.errors().level_of(set))
    }

    /// Charges the service of a repeated attempt as a re-read.
    fn charge_attempt(&mut self, id: OpId, recovery: RecoveryId) {
        if self.flash.op(id).is_collection() {
            return;
        }
        let before = self.errors().recoveries[recovery].served;
        let now = self.served(id);
        let blame = self.flash.blame_mut(id);
        for (state, (now, before)) in
            [State::Sense, State::Transfer].into_iter().zip(now.into_iter().zip(before))
        {
            blame.transfer(now - before, state, State::ReRead);
        }
    }

    /// Place, source and level of a read.
    fn read_of(&self, id: OpId, level: RecoveryLevel) -> ReadOf {
        let op = self.flash.op(id);
        let (at, row, holder) = (op.at(), op.row, op.holder);
        let is_wanted = holder == Holder::HostRead && matches!(op.owner, Owner::Read(..));
        let of = self.flash.transferred(id);
        // An operation that has ended is behind its last row.
        let (rows, row) = (of.rows, row - of.rows);
        let (words, set) = (self.words_of(id), self.set_of_bin(op.bin));
        ReadOf { at, row, rows, planes: of.planes, words, holder, is_wanted, level, set }
    }

    /// Ends the recovery of a read whose data cannot be read. Its owner gets the number of mapping
    /// units without data; units that are moved have none from now on.
    #[cold]
    pub(super) fn give_up(&mut self, id: OpId, recovery: RecoveryId) {
        let places = self.units_without(id, recovery);
        let errors = self.errors();
        let holder = errors.recoveries[recovery].holder;
        errors.end_recovery(id);
        let op = self.flash.op(id);
        let first = self.space.ftl.layout.first_unit(op.block, op.batch);
        if op.is_member() {
            self.errors().lost_of_member = places;
            return;
        }
        let lost = match op.owner {
            // A patrol only finds out, and a read that goes round is followed by one that does not.
            Owner::PatrolRead | Owner::Rebuild(..) => 0,
            Owner::CollectRead(slots) | Owner::ScrubRead(slots) => {
                let slots: Vec<u32> = bits(slots.bits()).map(|slot| slot as u32).collect();
                let pages = places.iter().map(|place| Ppn(first.0 + slots[*place as usize]));
                // What is invalid by now, or was lost before, is no further loss.
                let is_lost =
                    |ppn: &Ppn| self.space.ftl.is_valid(*ppn) && !self.space.ftl.is_poisoned(*ppn);
                let lost: Vec<Ppn> = pages.filter(is_lost).collect();
                lost.iter().for_each(|ppn| self.space.ftl.poison(*ppn));
                lost.len()
            }
            _ => places.len(),
        };
        self.errors().counters.unrecovered[holder as usize] += lost as u64;
        self.flash.fail(id, places.len() as u8);
    }

    /// The mapping units that a read does not get, by their number among those that it reads.
    pub(super) fn units_without(&self, id: OpId, recovery: RecoveryId) -> BTreeSet<u32> {
        let errors = self.errors.as_ref().expect("flash has errors");
        let words = self.words_of(id);
        let wrong = &errors.recoveries[recovery].wrong;
        wrong.iter().map(|wrong: &Wrong| words.unit_of(wrong.word)).collect()
    }

    /// Codewords of each row of a read.
    #[inline]
    pub(super) fn words_of(&self, id: OpId) -> Words {
        let errors = self.errors.as_ref().expect("flash has errors");
        let of = self.flash.transferred(id);
        Words::new(of.bytes, errors.bytes_per_word, errors.words_of_unit, of.slots)
    }
}

impl Errors {
    /// Begins the recovery of a read that was read for the first time.
    fn begin_recovery(&mut self, op: OpId, read: &ReadOf) -> RecoveryId {
        ErrorCounters::count(&mut self.counters.undecoded, read.holder);
        let id = self.recoveries.reuse_or_insert_with(|| Recovery::of(op));
        let recovery = &mut self.recoveries[id];
        recovery.wrong.clear();
        std::mem::swap(&mut recovery.wrong, &mut self.wrong);
        (recovery.re_reads, recovery.softly, recovery.senses_left) = (0, false, 0);
        (recovery.holder, recovery.served) = (read.holder, [Span::ZERO; 2]);
        (recovery.level, recovery.set) = (read.level, read.set);
        recovery.is_faulty = recovery.wrong.iter().any(Wrong::is_faulty);
        (recovery.op, recovery.rebuild) = (op, Rebuild::No);
        recovery.of_member.clear();
        recovery.is_unprotected = false;
        if self.of_operation.len() <= op.0 as usize {
            self.of_operation.resize(op.0 as usize + 1, IdOrNone::NONE);
        }
        self.of_operation[op.0 as usize] = IdOrNone::some(id);
        id
    }
    pub(super) fn end_recovery(&mut self, op: OpId) {
        if let Some(id) = self.of_operation[op.0 as usize].take() {
            self.recoveries.remove(id);
        }
    }

    /// Decodes what a further attempt has read. Soft decoding decodes after its last sense.
    fn go_on(&mut self, id: RecoveryId) {
        let recovery = &mut self.recoveries[id];
        if !recovery.softly {
            self.decode_again(id);
        } else if recovery.senses_left == 0 {
            self.decode_softly(id);
        }
    }

    fn next_step(&self, id: RecoveryId, is_protected: bool) -> Step {
        let recovery = &self.recoveries[id];
        if recovery.senses_left > 0 {
            return Step::SoftDecoding;
        }
        let data = Undecoded {
            re_reads: recovery.re_reads,
            is_protected,
            has_soft_decoding: self.soft_decoder.is_some(),
            was_decoded_softly: recovery.softly,
        };
        let step = self.policy_of(recovery.level).next(&data);
        debug_assert!(data.allows(step), "{step:?} for {data:?}");
        step
    }

    /// Notes that a step begins.
    fn begin_step(&mut self, id: RecoveryId, step: Step) {
        let recovery = &mut self.recoveries[id];
        match step {
            Step::ReRead => {
                recovery.re_reads += 1;
                ErrorCounters::count(&mut self.counters.re_reads, recovery.holder);
            }
            Step::SoftDecoding if recovery.softly => recovery.senses_left -= 1,
            Step::SoftDecoding => {
                recovery.softly = true;
                let (soft_decoding, _) =
                    self.soft_decoder.as_ref().expect("the code has soft decoding");
                recovery.senses_left = soft_decoding.senses - 1;
                ErrorCounters::count(&mut self.counters.soft_decodings, recovery.holder);
            }
            Step::Rebuild => {
                recovery.rebuild = Rebuild::Due;
                ErrorCounters::count(&mut self.counters.rebuilds, recovery.holder);
            }
            Step::GiveUp => recovery.rebuild = Rebuild::InVain,
        }
    }
}
