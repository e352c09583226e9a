//! Erases and programs that are suspended for reads. A policy answers a suspension request of
//! reads; the chip determines the cost of an interruption ([`nand::Progress`]); this module carries
//! it out. A suspended operation leaves its unit to the reads that wait for it by then, and resumes
//! after them; no other operation uses the unit in between.

use crate::device::Time;
use crate::device::event::Event;
use crate::device::flash::counters::OpKind;
use crate::device::flash::op::{Class, Op};
use crate::device::flash::working::{Rules, Stage, Working, WorkingView};
use crate::device::flash::{Flash, Note, Placement};
use crate::device::ids::OpId;
use crate::policies::routing::{Meeting, Route};
use crate::policies::suspension::{Asked, Interruption};
use engine::{Instant, Span};
use metrics::State;
use nand::{GroupId, Progress, Pulses, Stop};

/// Reply of an operation to a suspension request.
enum Reply {
    /// It is never suspended.
    Deaf,
    /// It goes on; the request is re-evaluated at this time.
    Later(Instant),
    /// It is suspended at the end of its step, unless that is the end of the operation.
    AtStepEnd(Instant),
    Suspends,
    Stops(Stop),
}

impl Flash {
    /// The operations that have begun and may be suspended.
    pub(in crate::device) fn at_work(&self) -> impl Iterator<Item = OpId> + '_ {
        self.working.as_slice().iter().flatten().map(|working| working.op)
    }

    /// True if an operation that begins may be suspended later.
    #[inline]
    pub(in crate::device) fn is_suspendable(&self, kind: OpKind) -> bool {
        self.suspends
            && match kind {
                OpKind::Erase => self.erase_rules.is_on,
                OpKind::Program => self.program_rules.is_on,
                OpKind::Read | OpKind::CopyBack | OpKind::Modify => false,
            }
    }

    /// The operations of a group that have begun and may be suspended, or were suspended.
    pub(in crate::device) fn working_in(
        &self,
        group: GroupId,
    ) -> impl Iterator<Item = WorkingView> + '_ {
        self.working[group].iter().map(|working| WorkingView {
            op: working.op,
            began: working.began,
            ends: (working.stage == Stage::AtWork).then(|| self.ends(working)),
            is_aside: matches!(working.stage, Stage::Aside { .. }),
            suspensions: working.suspensions,
        })
    }

    /// True if an operation of a group is suspended.
    pub(in crate::device) fn has_suspended(&self, group: GroupId) -> bool {
        self.working[group].iter().any(|working| working.stage != Stage::AtWork)
    }
    /// True if a group has operations under way that may be suspended.
    #[inline]
    pub(in crate::device) fn has_work(&self, group: GroupId) -> bool {
        self.suspends && !self.working[group].is_empty()
    }

    fn rules_of(&self, working: &Working) -> &Rules {
        if working.is_program { &self.program_rules } else { &self.erase_rules }
    }
    fn pulses(&self, working: &Working) -> &Pulses {
        self.pulses_of(working.op, working.is_program)
    }
    fn pulses_of(&self, id: OpId, is_program: bool) -> &Pulses {
        match is_program {
            true => self.timing.program_steps(self.ops[id].row),
            false => &self.timing.erase,
        }
    }

    /// Begins an erase, or the array's part of a program, on cells that it occupies.
    #[inline(never)]
    pub(in crate::device) fn begin_work<P: Placement>(
        &mut self,
        time: &mut Time,
        p: &mut P,
        id: OpId,
    ) {
        let op = &self.ops[id];
        let (group, cells, is_program) = (op.group, op.cells, op.kind == OpKind::Program);
        let (now, progress) = (time.now, Progress::new(self.pulses_of(id, is_program)));
        self.working[group].push(Working {
            op: id,
            cells,
            is_program,
            progress,
            began: now,
            resumed: now,
            entered: now,
            suspensions: 0,
            is_deferred: false,
            asking: 0,
            asked_at: now,
            stage: Stage::AtWork,
            ends: Instant::NEVER,
            poll_at: Instant::NEVER,
        });
        let place = self.working[group].len() - 1;
        self.schedule_end(time, group, place);
        // Reads that are waiting already may request its suspension, too.
        self.meet_all(time, group, place);
        self.consider(time, p, group, place);
    }

    fn schedule_end(&mut self, time: &mut Time, group: GroupId, place: usize) {
        let working = &self.working[group][place];
        let ends = time.now + working.progress.to_end(self.pulses(working));
        let event = match working.is_program {
            true => Event::Programmed(working.op),
            false => Event::Array(working.op),
        };
        let sequence = self.ops[working.op].seq;
        self.working[group][place].ends = ends;
        time.agenda.schedule(ends, event, sequence);
    }

    /// Ends an operation that may have been suspended, unless the event is stale; returns true if
    /// it is over.
    pub(in crate::device) fn end_work(&mut self, time: &mut Time, id: OpId, sequence: u64) -> bool {
        if self.ops[id].seq != sequence {
            return false;
        }
        let all = &mut self.working[self.ops[id].group];
        let Some(place) = all.iter().position(|working| working.op == id) else {
            // A program may have ended at this moment already, and have another row to do.
            return !self.is_suspendable(self.ops[id].kind);
        };
        if all[place].ends != time.now {
            return false;
        }
        let working = all.swap_remove(place);
        // Any time beyond its own was spent suspended, or repeating interrupted steps.
        let delayed = time.now - working.began - self.pulses(&working).total();
        self.ops.charge_service(id, State::Suspended, delayed);
        true
    }

    /// Queues an operation on units that may have suspendable operations. Out of line: inlined it
    /// costs drives without suspension ten instructions an operation.
    #[inline(never)]
    pub(in crate::device) fn enqueue_beside_work<P: Placement>(
        &mut self,
        time: &mut Time,
        p: &mut P,
        id: OpId,
    ) {
        let Op { group, kind, .. } = self.ops[id];
        self.groups[group].push_back(&mut self.ops, id);
        if kind == OpKind::Read {
            self.read_meets_work(time, p, id);
        }
        self.serve(time, p, group);
    }

    /// Routes a read that waits in its queue, for each operation at work on its cells.
    pub(super) fn read_meets_work<P: Placement>(&mut self, time: &mut Time, p: &mut P, id: OpId) {
        let Op { group, cells, class, .. } = self.ops[id];
        let mut place = 0;
        // By index: an operation suspended at once serves reads, and others may begin meanwhile.
        while let Some(working) = self.working[group].get(place) {
            if working.stage == Stage::AtWork
                && working.cells & cells != 0
                && !self.groups[group].is_reserved(working.cells | cells)
                && (class.is_read() || !self.rules_of(working).hosts_only)
            {
                self.meet(time, group, place, 1);
                self.consider(time, p, group, place);
            }
            place += 1;
        }
    }

    /// Routes all reads that wait for the cells of an operation.
    fn meet_all(&mut self, time: &mut Time, group: GroupId, place: usize) {
        let working = &self.working[group][place];
        if self.groups[group].is_reserved(working.cells) {
            // Reads wait until the collection gives the unit back.
            return;
        }
        let hosts_only = self.rules_of(working).hosts_only;
        let reads = self.groups[group].count_reads_on(&self.ops, working.cells, hosts_only);
        if self.routing.counts_those_that_ask() {
            (0..reads).for_each(|_| self.meet(time, group, place, 1));
        } else if reads > 0 {
            self.meet(time, group, place, reads);
        }
    }

    /// Routes the reads of a group that a reservation kept from asking: it has ended.
    pub(in crate::device) fn reservation_ended<P: Placement>(
        &mut self,
        time: &mut Time,
        p: &mut P,
        group: GroupId,
    ) {
        let mut place = 0;
        // By index: an operation suspended at once serves reads, and others may begin meanwhile.
        while let Some(working) = self.working[group].get(place) {
            if working.stage == Stage::AtWork && working.asking == 0 {
                self.meet_all(time, group, place);
                self.consider(time, p, group, place);
            }
            place += 1;
        }
    }

    /// Routes reads that wait for a running operation; all of them take the same action.
    fn meet(&mut self, time: &mut Time, group: GroupId, place: usize, reads: u32) {
        let now = time.now;
        let working = self.working[group][place];
        let pulses = self.pulses(&working);
        let (progress, entered) = working.at(pulses, now);
        let meeting = Meeting {
            now,
            free_at: entered + progress.to_end(pulses),
            safe_at: entered + progress.to_safe_point(pulses),
            suspensions: working.suspensions,
            since_begun: now - working.began,
            is_program: working.is_program,
            asking: working.asking,
        };
        if self.routing.route(&meeting) == Route::Suspend {
            let working = &mut self.working[group][place];
            if working.asking == 0 {
                working.asked_at = now;
            }
            working.asking += reads;
        }
    }

    /// Evaluates the suspension request of reads to a running operation, and acts on the reply.
    fn consider<P: Placement>(&mut self, time: &mut Time, p: &mut P, group: GroupId, place: usize) {
        let now = time.now;
        let mut working = self.working[group][place];
        if working.stage != Stage::AtWork || working.asking == 0 {
            return;
        }
        if self.serves_reservation(group, &working) {
            return;
        }
        (working.progress, working.entered) = working.at(self.pulses(&working), now);
        if working.progress.steps_left() == 0 {
            // The operation ends now.
            return;
        }
        self.working[group][place] = working;
        match self.reply(time, p, &working) {
            Reply::Deaf => {}
            Reply::Later(at) => self.poll_at(time, group, place, at),
            Reply::AtStepEnd(at) => {
                if !working.is_deferred {
                    self.working[group][place].is_deferred = true;
                    self.counters.deferred(working.is_program);
                }
                if at < self.ends(&working) {
                    self.poll_at(time, group, place, at);
                }
            }
            Reply::Suspends => self.suspend(time, p, group, place),
            Reply::Stops(how) => self.stop(time, p, group, place, how),
        }
    }

    /// True if no read may use the cells of an operation, because cells that it needs are reserved.
    fn serves_reservation(&self, group: GroupId, working: &Working) -> bool {
        let group = &self.groups[group];
        let hosts_only = self.rules_of(working).hosts_only;
        group.has_reservation()
            && (group.is_reserved(working.cells)
                || !group.has_reads_on(&self.ops, working.cells, hosts_only))
    }

    /// Time until reads can use the cells of a running operation: its next safe point, or its end if
    /// it is no longer suspended.
    pub(super) fn rest_for_reads(&self, now: Instant, working: &Working) -> Span {
        let pulses = self.pulses(working);
        let (progress, entered) = working.at(pulses, now);
        let is_deaf = working.suspensions >= self.rules_of(working).most;
        let rest = if is_deaf { progress.to_end(pulses) } else { progress.to_safe_point(pulses) };
        (entered + rest).saturating_since(now)
    }

    /// The end of a running operation if nothing interrupts it.
    fn ends(&self, working: &Working) -> Instant {
        working.entered + working.progress.to_end(self.pulses(working))
    }

    /// The reply of an operation, in its present state, to the suspension request of reads.
    fn reply<P: Placement>(&self, time: &Time, p: &P, working: &Working) -> Reply {
        let (rules, pulses, now) = (self.rules_of(working), self.pulses(working), time.now);
        if working.suspensions >= rules.most {
            return Reply::Deaf;
        }
        let ends = self.ends(working);
        let may_from = working.resumed + rules.gap;
        if now < may_from {
            return if may_from < ends { Reply::Later(may_from) } else { Reply::Deaf };
        }
        let into_step = now - working.entered;
        let safe_at = working.entered + working.progress.to_safe_point(pulses);
        // An operation that began or resumed just now has not reached a safe point: otherwise it
        // could be suspended for ever.
        let at_safe_point = into_step.is_zero() && working.entered > working.resumed;
        let steps_left = working.progress.steps_left();
        let op = &self.ops[working.op];
        let answer = rules.policy.interrupts(&Asked {
            now,
            steps_done: pulses.steps - steps_left,
            steps_left,
            step: pulses.step(),
            into_step,
            safe_at,
            at_safe_point,
            asking: working.asking,
            waited: now - working.asked_at,
            suspensions: working.suspensions,
            since_begun: now - working.began,
            since_resumed: now - working.resumed,
            foreground: op.is_collection() && self.class_by_owner(p, op) != Class::Background,
        });
        let stop = match answer {
            Interruption::GoOn => {
                return if safe_at < ends { Reply::Later(safe_at) } else { Reply::Deaf };
            }
            Interruption::AtStepEnd if at_safe_point => return Reply::Suspends,
            Interruption::AtStepEnd => return Reply::AtStepEnd(safe_at),
            Interruption::Cancel => Stop::Cancel,
            Interruption::Suspend => Stop::Suspend,
            Interruption::Freeze => Stop::Freeze,
        };
        Reply::Stops(stop)
    }

    fn poll_at(&mut self, time: &mut Time, group: GroupId, place: usize, at: Instant) {
        let working = &mut self.working[group][place];
        if working.poll_at != at {
            working.poll_at = at;
            let op = working.op;
            time.agenda.schedule(at, Event::Poll(op), self.ops[op].seq);
        }
    }

    /// Re-evaluates a suspension request, or completes an interruption, unless the event is stale.
    pub(in crate::device) fn poll_due<P: Placement>(
        &mut self,
        time: &mut Time,
        p: &mut P,
        id: OpId,
        sequence: u64,
    ) {
        if self.ops[id].seq != sequence {
            return;
        }
        let (group, now) = (self.ops[id].group, time.now);
        let is_it = |working: &Working| working.op == id && working.poll_at == now;
        let Some(place) = self.working[group].iter().position(is_it) else { return };
        self.working[group][place].poll_at = Instant::NEVER;
        match self.working[group][place].stage {
            Stage::Stopping => self.suspend(time, p, group, place),
            Stage::AtWork => self.consider(time, p, group, place),
            Stage::Aside { .. } => {}
        }
    }

    /// Interrupts an operation inside its step.
    fn stop<P: Placement>(
        &mut self,
        time: &mut Time,
        p: &mut P,
        group: GroupId,
        place: usize,
        how: Stop,
    ) {
        let mut working = self.working[group][place];
        let elapsed = time.now - working.entered;
        let stopped = working.progress.stop(self.pulses(&working), how, elapsed);
        (working.ends, working.poll_at) = (Instant::NEVER, Instant::NEVER);
        let op = &self.ops[working.op];
        let (block, channel) = (op.block, op.channel);
        self.notes.push_back(Note::Strained(block, stopped.strain));
        self.counters.strain(stopped.strain);
        if stopped.after.is_zero() {
            self.working[group][place] = working;
            return self.suspend(time, p, group, place);
        }
        working.stage = Stage::Stopping;
        self.working[group][place] = working;
        let (now, cells) = (time.now, working.cells);
        self.poll_at(time, group, place, now + stopped.after);
        let channel = &mut self.channels[channel].ledger;
        self.ledgers.occupy(now, group, cells, State::Suspended, &self.groups[group], channel);
    }

    /// Suspends an operation: it leaves its cells to the reads that wait for them.
    fn suspend<P: Placement>(&mut self, time: &mut Time, p: &mut P, group: GroupId, place: usize) {
        self.put_aside(time, group, place);
        let working = &mut self.working[group][place];
        (working.ends, working.poll_at) = (Instant::NEVER, Instant::NEVER);
        let (id, cells) = (working.op, working.cells);
        // Only the reads for which it is suspended may occupy its cells.
        self.groups[group].wanted |= cells;
        self.groups[group].barred |= cells;
        self.vacate(id);
        self.serve(time, p, group);
        let channel = self.ops[id].channel;
        self.note_vacated(time, group, cells, channel);
    }

    /// Puts an operation behind the reads that wait now, or behind all until none waits.
    fn put_aside(&mut self, time: &mut Time, group: GroupId, place: usize) {
        let before = if self.bypass.is_bounded() { self.next_seq } else { u64::MAX };
        let working = &mut self.working[group][place];
        working.suspensions += 1;
        working.asking = 0;
        working.stage = Stage::Aside { before };
        if time.now > working.resumed {
            self.counters.suspended(working.is_program);
        } else {
            // It has only just begun, or resumed: nothing is interrupted.
            self.counters.put_off(working.is_program);
        }
    }

    /// Serves the reads for which operations are suspended, and resumes the operations after them.
    #[inline(never)]
    pub(in crate::device) fn go_on_working<P: Placement>(
        &mut self,
        time: &mut Time,
        p: &mut P,
        group: GroupId,
    ) {
        let (mut place, mut again) = (0, false);
        loop {
            let Some(working) = self.working[group].get(place) else {
                // A read that one operation let go first may be needed by operations examined
                // before it.
                if !std::mem::take(&mut again) {
                    return;
                }
                place = 0;
                continue;
            };
            let Working { cells, stage: Stage::Aside { before }, .. } = *working else {
                place += 1;
                continue;
            };
            let hosts_only = self.rules_of(working).hosts_only;
            while let Some(read) = self.first_read_on(time.now, group, cells, hosts_only) {
                self.groups[group].take_out(&mut self.ops, read);
                self.start(time, p, read);
            }
            let has_to_wait =
                self.groups[group].has_read_before(&self.ops, cells, hosts_only, before);
            if has_to_wait || self.groups[group].busy & cells != 0 {
                place += 1;
            } else if self.goes_on(time, p, group, place) {
                self.take_up(time, p, group, place);
                place += 1;
            } else {
                // It has let more reads go first, which are served now.
                again = true;
            }
        }
    }

    /// Decides if a suspended operation resumes now. If the reads that came meanwhile would
    /// interrupt it at the same moment, it lets them go first instead. Returns true if it resumes.
    fn goes_on<P: Placement>(
        &mut self,
        time: &mut Time,
        p: &mut P,
        group: GroupId,
        place: usize,
    ) -> bool {
        let now = time.now;
        let working = &mut self.working[group][place];
        (working.resumed, working.entered) = (now, now);
        let mut working = *working;
        (working.progress, working.entered) = working.at(self.pulses(&working), now);
        self.working[group][place] = working;
        if working.progress.steps_left() == 0 {
            // Only a verify was missing, which takes no time.
            return true;
        }
        // Reads that came meanwhile request its suspension now.
        self.meet_all(time, group, place);
        let working = self.working[group][place];
        if working.asking == 0 || !matches!(self.reply(time, p, &working), Reply::Stops(_)) {
            return true;
        }
        self.put_aside(time, group, place);
        false
    }

    fn first_read_on(
        &self,
        now: Instant,
        group: GroupId,
        cells: u64,
        hosts_only: bool,
    ) -> Option<OpId> {
        // A read of several cells may start if an operation was suspended on each.
        let open_to = |seq| {
            let open = |working: &&Working| match working.stage {
                Stage::Aside { before } => seq < before,
                _ => false,
            };
            self.working[group].iter().filter(open).fold(0, |open, working| open | working.cells)
        };
        let starts = |op: &Op| !self.lacks_channel(now, op);
        self.groups[group].first_read_on(&self.ops, cells, hosts_only, open_to, starts)
    }

    /// Resumes a suspended operation on its cells.
    fn take_up<P: Placement>(&mut self, time: &mut Time, p: &mut P, group: GroupId, place: usize) {
        let working = &mut self.working[group][place];
        working.stage = Stage::AtWork;
        let (id, cells) = (working.op, working.cells);
        let state = &mut self.groups[group];
        state.wanted &= !cells;
        state.barred &= !cells;
        assert!(state.busy & cells == 0, "a cell serves one operation at a time");
        state.busy |= cells;
        let op = &self.ops[id];
        let (channel, holds) = (op.channel, op.holder.on_unit());
        let channel = &mut self.channels[channel].ledger;
        self.ledgers.occupy(time.now, group, cells, holds, &self.groups[group], channel);
        self.schedule_end(time, group, place);
        self.notes.push_back(Note::Resumed(group));
        self.consider(time, p, group, place);
    }
}

impl Working {
    /// Its progress at `now`, and the moment at which its present step began or resumed.
    fn at(&self, pulses: &Pulses, now: Instant) -> (Progress, Instant) {
        let mut progress = self.progress;
        let into_step = progress.pass(pulses, now - self.entered);
        (progress, now - into_step)
    }
}
