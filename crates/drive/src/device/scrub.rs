//! Scrubbing in time: at each interval the next bin is looked at, and the block that the
//! policy takes, if any, is moved and erased as a collected one is. Where the bin is being
//! collected the look is remembered: it comes between two victims.

use super::Device;
use super::event::Event;
use engine::Span;
use ftl::{BinId, Level, ScrubConfig};
use metrics::Holder;

/// Whose turn it is.
#[derive(Clone, Copy, Debug)]
pub struct Turn {
    interval: Span,
    next: BinId,
    /// True once the first look is due.
    begun: bool,
}

impl Turn {
    pub fn new(config: &ScrubConfig) -> Self {
        Self { interval: config.interval.span(), next: BinId(0), begun: false }
    }
}

impl Device {
    pub(super) fn begin_scrubbing(&mut self) {
        if let Some(turn) = &mut self.scrubs
            && !turn.begun
        {
            turn.begun = true;
            self.agenda.schedule(self.now + turn.interval, Event::Scrub);
        }
    }

    /// True where commands wait for ever: nothing is due but looks of scrubbing, which
    /// makes no space.
    pub(super) fn only_scrubs(&self) -> bool {
        self.outstanding > 0 && self.agenda.len() <= 1
    }

    /// Nothing is scrubbed any more.
    pub(super) fn end_scrubbing(&mut self) {
        self.scrubs = None;
        self.agenda.withdraw(|event| matches!(event, Event::Scrub));
        self.jobs.as_mut_slice().iter_mut().for_each(|job| job.look = false);
    }

    pub(super) fn scrub_due(&mut self) {
        let turn = self.scrubs.as_mut().expect("its event goes with it");
        let bin = turn.next;
        turn.next = BinId((bin.0 + 1) % self.ftl.layout.bins);
        self.agenda.schedule(self.now + turn.interval, Event::Scrub);
        self.jobs[bin].look = true;
        self.collect(bin);
    }

    /// The next victim of a bin at which a look is due. Urgent collection goes first; else
    /// the two take turns, so that neither is put off for ever.
    pub(super) fn next_with_look(&mut self, bin: BinId) -> bool {
        if self.jobs[bin].scrubs || self.ftl.level(bin) == Level::Urgent {
            return self.next_collected(bin) || self.look(bin);
        }
        // Collection begins nothing new before the look.
        self.jobs[bin].is_idle() && (self.look(bin) || self.next_collected(bin))
    }

    /// Looks at a bin, if nothing is under way there; returns whether a block is taken.
    fn look(&mut self, bin: BinId) -> bool {
        if !self.jobs[bin].is_idle() {
            return false;
        }
        self.jobs[bin].look = false;
        let Some(block) = self.ftl.pick_scrub(bin) else { return false };
        self.jobs[bin].begin_scrub(block);
        true
    }

    /// Whose reads those of a bin's collection are.
    #[inline]
    pub(super) fn reader_of(&self, bin: BinId) -> Holder {
        if self.jobs[bin].scrubs { Holder::Scrub } else { Holder::GcRead }
    }
    /// Whose programs those of a bin's collection are.
    #[inline]
    pub(super) fn writer_of(&self, bin: BinId) -> Holder {
        if self.jobs[bin].scrubs { Holder::Scrub } else { Holder::GcProgram }
    }
}
