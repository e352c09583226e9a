//! Scrubbing in time: at each interval the next bin of each NVM set is polled, and the block that the policy takes,
//! if any, is moved and erased as a collected block is. If the bin is being collected, the poll is
//! remembered: it comes between two victims.

use crate::device::Base;
use crate::device::event::Event;
use crate::device::gc::Gc;
use crate::device::gc::gate::{Leave, Maintenance};
use crate::device::gc::turn::{Found, Turn};
use crate::device::ids::OpId;
use ftl::scrub::Polled;
use ftl::{BinId, BlockId, BySet, Level, SetId};
use metrics::Holder;

impl Gc {
    pub(in crate::device) fn begin_scrubbing(&mut self, base: &mut Base) {
        let Some(turns) = &mut self.scrubs else { return };
        for set in turns.ids() {
            let turn = &mut turns[set];
            if !std::mem::replace(&mut turn.begun, true) {
                base.time.agenda.schedule(base.time.now + turn.interval, Event::Scrub(set), 0);
            }
        }
    }

    /// True if scrubbing will not help the waiting operations: no poll took a block, and no other
    /// event is due; or each block was rewritten twice without any progress.
    #[inline]
    pub fn scrubs_in_vain(&self, base: &Base) -> bool {
        self.scrubs.as_ref().is_some_and(|turns| self.is_in_vain(base, turns))
    }

    #[cold]
    fn is_in_vain(&self, base: &Base, turns: &BySet<Turn>) -> bool {
        let blocks = u64::from(base.space.ftl.layout.bins)
            * u64::from(base.space.ftl.layout.blocks_per_bin());
        let timers = turns.count() + self.scrubber.as_ref().map_or(0, |of| of.awaiting_rate());
        base.time.agenda.len() <= timers as usize
            || turns.iter().any(|turn| u64::from(turn.in_vain) > 2 * blocks)
    }

    /// True if only scrubbing is under way.
    fn only_scrubs(&self, base: &Base) -> bool {
        let scrubs = |op: OpId| {
            let op = base.flash.op(op);
            op.is_scrubbing() || op.is_collection() && base.space.task(op.bin).scrubs
        };
        base.time.agenda.events().all(|event| match event {
            Event::Scrub(_) | Event::ScrubAgain(_) | Event::Think(_) | Event::Window(_) => true,
            Event::Undecoded(op)
            | Event::Programmed(op)
            | Event::Array(op)
            | Event::Sensed(op)
            | Event::CarriedOut(op)
            | Event::CarriedIn(op)
            | Event::Commanded(op) => scrubs(op),
            _ => false,
        })
    }

    /// Ends all scrubbing.
    pub(in crate::device) fn end_scrubbing(&mut self, base: &mut Base) {
        self.scrubs = None;
        base.time.agenda.withdraw(|event| matches!(event, Event::Scrub(_) | Event::ScrubAgain(_)));
        self.jobs.as_mut_slice().iter_mut().for_each(|job| job.look = false);
        self.end_scrubber(base);
    }

    pub(in crate::device) fn scrub_due(&mut self, base: &mut Base, set: SetId) {
        let turn = self.turn(set);
        let bin = turn.take_next();
        base.time.agenda.schedule(base.time.now + turn.interval, Event::Scrub(set), 0);
        if self.scrubber.is_some() {
            return self.poll_when_possible(base, bin);
        }
        let job = &mut self.jobs[bin];
        job.look_is_late = std::mem::replace(&mut job.look, true);
        self.collect(base, bin);
    }

    /// Chooses the next victim of a bin with a poll due. Foreground GC goes first; otherwise
    /// scrubbing and collection take turns, so that neither is put off for ever. A collection that must
    /// wait keeps its place before the poll if it can count on its turn to come.
    pub(in crate::device) fn next_with_look(&mut self, base: &mut Base, bin: BinId) -> bool {
        if base.space.task(bin).scrubs || base.space.ftl.level(bin) == Level::Foreground {
            return self.next_collected(base, bin) || self.look(base, bin);
        }
        // Collection begins nothing new before the poll.
        self.is_idle(base, bin) && (self.look(base, bin) || self.next_collected(base, bin))
    }

    /// Polls a bin, if no operation is under way there; returns true if a block is taken.
    fn look(&mut self, base: &mut Base, bin: BinId) -> bool {
        if !self.is_idle(base, bin) || self.asks_leave(base, bin, Maintenance::Scrub) != Leave::Go {
            return false;
        }
        let job = &mut self.jobs[bin];
        (job.look, job.look_is_late) = (false, false);
        let Some(block) = self.poll(base, bin) else { return false };
        self.note_progress(base, bin);
        let job = &mut self.jobs[bin];
        (job.victim, job.next) = (Some(block), 0);
        let task = base.space.task_mut(bin);
        (task.scrubs, task.scrubbed_last) = (true, true);
        task.collected_before = std::mem::take(&mut job.collected);
        true
    }

    /// Asks the policy for a block of a bin, notes what it found, and takes the block unless one of its
    /// pages is to be read first.
    pub(super) fn poll(&mut self, base: &mut Base, bin: BinId) -> Option<BlockId> {
        let Base { time, space, errors, .. } = base;
        let needs = space.ftl.scrub_needs();
        let mut polled = match errors {
            Some(errors) => errors.decay(&space.ftl, time.now, bin, needs),
            None => Polled::default(),
        };
        polled.turn = self.scrubber.as_ref().map_or(0, |scrubber| scrubber.turn_of(bin));
        let block = space.ftl.find_scrub(bin, polled);
        let set = space.ftl.layout.set_of_bin(bin);
        let turn = &mut self.scrubs.as_mut().expect("a poll is due")[set];
        turn.counts.polls += 1;
        if let Some(above) = needs.above {
            let first = space.ftl.layout.first_block(bin).0;
            let place = block.map(|block| (block.0 - first) as usize);
            turn.note_found(bin, Found::new(polled.expected_errors, above, place));
        }
        if let Some(block) = block
            && needs.patrol.is_none()
        {
            self.take_block(base, block);
        }
        block
    }

    /// Takes a block, which will be moved and erased.
    pub(super) fn take_block(&mut self, base: &mut Base, block: BlockId) {
        base.space.ftl.take_scrub(block);
        let set = base.set_of_bin(base.space.ftl.layout.bin(block));
        self.turn(set).counts.taken += 1;
    }

    /// Notes if there was any progress since the last scrubbed block of a bin's set.
    pub(super) fn note_progress(&mut self, base: &Base, bin: BinId) {
        let seen = (base.outstanding(), base.flash.counters().but_for_scrubbing());
        let is_waited_for = base.outstanding() > 0 && self.only_scrubs(base);
        let is_waited_for = is_waited_for && !self.any_goes_first(base);
        let turn = self.turn(base.set_of_bin(bin));
        let in_vain = is_waited_for && std::mem::replace(&mut turn.seen, seen) == seen;
        turn.in_vain = if in_vain { turn.in_vain + 1 } else { 0 };
    }

    /// Counts a block of a set that was scrubbed and is erased.
    #[cold]
    pub(in crate::device) fn note_scrubbed(&mut self, set: SetId) {
        if let Some(turns) = &mut self.scrubs {
            turns[set].counts.blocks += 1;
        }
    }

    /// Scrubbing of a set, whose poll is due or was.
    fn turn(&mut self, set: SetId) -> &mut Turn {
        &mut self.scrubs.as_mut().expect("a drive that scrubs")[set]
    }

    /// Scrubbing by NVM set; none without scrubbing.
    pub(in crate::device) fn scrubbing(&self) -> Option<&BySet<Turn>> {
        self.scrubs.as_ref()
    }

    /// The source of the reads of a bin's collection.
    #[inline]
    pub(in crate::device) fn reader_of(&self, base: &Base, bin: BinId) -> Holder {
        if base.space.task(bin).scrubs { Holder::Scrub } else { Holder::GcRead }
    }
    /// The source of the programs of a bin's collection.
    #[inline]
    pub(in crate::device) fn writer_of(&self, base: &Base, bin: BinId) -> Holder {
        if base.space.task(bin).scrubs { Holder::Scrub } else { Holder::GcProgram }
    }
}
