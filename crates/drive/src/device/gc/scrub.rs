//! Scrubbing in time: at each interval the next bin is looked at, and the block that the
//! policy takes, if any, is moved and erased as a collected one is. Where the bin is being
//! collected the look is remembered: it comes between two victims.

use crate::device::Device;
use crate::device::event::Event;
use crate::device::flash::op::{OpId, Owner};
use engine::Span;
use ftl::{BinId, Level, ScrubConfig, Stream};
use metrics::Holder;

/// Whose turn it is.
#[derive(Clone, Copy, Debug)]
pub struct Turn {
    interval: Span,
    next: BinId,
    /// True once the first look is due.
    begun: bool,
    /// Blocks that were scrubbed one after the other while nothing else went on.
    in_vain: u32,
    /// Commands under way, and flash operations but for scrubbing, when the last one was.
    seen: (u32, u64),
}

impl Turn {
    pub fn new(config: &ScrubConfig) -> Self {
        Self {
            interval: config.interval.span(),
            next: BinId(0),
            begun: false,
            in_vain: 0,
            seen: (0, 0),
        }
    }
}

impl Turn {
    /// The same in which nothing has happened yet.
    pub fn begun_anew(&self) -> Self {
        Self { next: BinId(0), begun: false, in_vain: 0, seen: (0, 0), ..*self }
    }
}

impl Device {
    pub(in crate::device) fn begin_scrubbing(&mut self) {
        if let Some(turn) = &mut self.gc.scrubs
            && !turn.begun
        {
            turn.begun = true;
            self.base.time.agenda.schedule(self.base.time.now + turn.interval, Event::Scrub, 0);
        }
    }

    /// True where what waits has nothing to hope for: no look took a block, and nothing
    /// else is due; or each block was written anew twice and nothing went on.
    #[inline]
    pub fn scrubs_in_vain(&self) -> bool {
        self.gc.scrubs.as_ref().is_some_and(|turn| self.is_in_vain(turn))
    }

    #[cold]
    fn is_in_vain(&self, turn: &Turn) -> bool {
        let blocks = u64::from(self.base.space.ftl.layout.bins)
            * u64::from(self.base.space.ftl.layout.blocks_per_bin());
        self.base.time.agenda.len() <= 1 || u64::from(turn.in_vain) > 2 * blocks
    }

    /// True where all that is under way is scrubbing.
    fn only_scrubs(&self) -> bool {
        let scrubs = |op: OpId| {
            let op = &self.base.flash.ops[op];
            let is_host = matches!(op.owner, Owner::Read(..) | Owner::Fetch(_) | Owner::Flush(_));
            !is_host && self.gc.jobs[op.bin].scrubs
        };
        self.base.time.agenda.events().all(|event| match event {
            Event::Scrub => true,
            Event::Programmed(op)
            | Event::Array(op)
            | Event::Sensed(op)
            | Event::CarriedOut(op)
            | Event::CarriedIn(op) => scrubs(op),
            _ => false,
        })
    }

    /// Nothing is scrubbed any more.
    pub(in crate::device) fn end_scrubbing(&mut self) {
        self.gc.scrubs = None;
        self.base.time.agenda.withdraw(|event| matches!(event, Event::Scrub));
        self.gc.jobs.as_mut_slice().iter_mut().for_each(|job| job.look = false);
    }

    pub(in crate::device) fn scrub_due(&mut self) {
        let turn = self.gc.scrubs.as_mut().expect("its event goes with it");
        let bin = turn.next;
        turn.next = BinId((bin.0 + 1) % self.base.space.ftl.layout.bins);
        self.base.time.agenda.schedule(self.base.time.now + turn.interval, Event::Scrub, 0);
        self.gc.jobs[bin].look = true;
        self.collect(bin);
    }

    /// The next victim of a bin at which a look is due. Urgent collection goes first; else
    /// the two take turns, so that neither is put off for ever.
    pub(in crate::device) fn next_with_look(&mut self, bin: BinId) -> bool {
        if self.gc.jobs[bin].scrubs || self.base.space.ftl.level(bin) == Level::Urgent {
            return self.next_collected(bin) || self.look(bin);
        }
        // Collection begins nothing new before the look.
        self.gc.jobs[bin].is_idle() && (self.look(bin) || self.next_collected(bin))
    }

    /// Whether a look may take space that host programs of the bin wait for. Where there is
    /// none it would not make any. Where there is, one look after the other would keep it
    /// from them, so they have a turn after each.
    fn has_space_for_look(&self, bin: BinId) -> bool {
        let has_space = self.base.space.ftl.can_bind(bin, Stream::Host);
        self.base.space.ftl.level(bin) != Level::Urgent
            && !(has_space && self.gc.jobs[bin].scrubbed_last)
    }

    /// Looks at a bin, if nothing is under way there; returns whether a block is taken.
    fn look(&mut self, bin: BinId) -> bool {
        if !self.gc.jobs[bin].is_idle() || self.is_awaited(bin) && !self.has_space_for_look(bin) {
            return false;
        }
        self.gc.jobs[bin].look = false;
        let Some(block) = self.base.space.ftl.pick_scrub(bin) else { return false };
        let seen = (self.port.outstanding, self.base.flash.counters.but_for_scrubbing());
        let is_waited_for = self.port.outstanding > 0 && self.only_scrubs();
        let turn = self.gc.scrubs.as_mut().expect("a look is due");
        let in_vain = is_waited_for && std::mem::replace(&mut turn.seen, seen) == seen;
        turn.in_vain = if in_vain { turn.in_vain + 1 } else { 0 };
        self.gc.jobs[bin].begin_scrub(block);
        true
    }

    /// Whose reads those of a bin's collection are.
    #[inline]
    pub(in crate::device) fn reader_of(&self, bin: BinId) -> Holder {
        if self.gc.jobs[bin].scrubs { Holder::Scrub } else { Holder::GcRead }
    }
    /// Whose programs those of a bin's collection are.
    #[inline]
    pub(in crate::device) fn writer_of(&self, bin: BinId) -> Holder {
        if self.gc.jobs[bin].scrubs { Holder::Scrub } else { Holder::GcProgram }
    }
}
