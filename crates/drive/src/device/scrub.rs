//! Scrubbing in time: at each interval the next bin is looked at, and the block that the
//! policy takes, if any, is moved and erased as a collected one is. A bin that is being
//! collected is passed over.

use super::Device;
use super::event::Event;
use engine::Span;
use ftl::{BinId, ScrubConfig};
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
    }

    pub(super) fn scrub_due(&mut self) {
        // It was due when scrubbing ended.
        let Some(turn) = &mut self.scrubs else { return };
        let bin = turn.next;
        turn.next = BinId((bin.0 + 1) % self.ftl.layout.bins);
        self.agenda.schedule(self.now + turn.interval, Event::Scrub);
        if !self.jobs[bin].is_idle() {
            return;
        }
        if let Some(block) = self.ftl.pick_scrub(bin) {
            self.jobs[bin].begin_scrub(block);
            self.collect(bin);
        }
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
