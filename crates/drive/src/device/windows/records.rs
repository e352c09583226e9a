//! Counts of a set's windows, and the events of those that have ended.

use super::warnings::{Warned, Warning, WarningCounts};
use engine::{Instant, Span};
use ftl::SetId;

/// Cause of the end of a deterministic window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The host asked for the non-deterministic window.
    Host,
    /// More reads than DTWIN Reads Typical.
    Reads,
    /// More writes than DTWIN Writes Typical.
    Writes,
    /// DTWIN Time Maximum has passed.
    Time,
    /// A deterministic excursion: foreground GC was due.
    Excursion,
}

impl End {
    /// All causes.
    pub const ALL: [Self; 5] = [Self::Host, Self::Reads, Self::Writes, Self::Time, Self::Excursion];

    /// Its name in results.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Host => "host",
            Self::Reads => "reads",
            Self::Writes => "writes",
            Self::Time => "time",
            Self::Excursion => "excursion",
        }
    }

    /// The warning that precedes it, if the drive ends the window.
    pub const fn warning(self) -> Option<Warning> {
        match self {
            Self::Host => None,
            Self::Reads => Some(Warning::Reads),
            Self::Writes | Self::Excursion => Some(Warning::Writes),
            Self::Time => Some(Warning::Time),
        }
    }

    /// Its name in sentences.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Host => "the host",
            Self::Reads => "reads",
            Self::Writes => "writes",
            Self::Time => "time",
            Self::Excursion => "excursions (foreground GC was due)",
        }
    }
}

/// The end of a deterministic window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WindowEvent {
    /// Its moment.
    pub at: Instant,
    /// The moment of the beginning of the window.
    pub began: Instant,
    /// The set.
    pub set: SetId,
    /// Its cause.
    pub why: End,
    /// Reads of 4 KiB in the window.
    pub reads: u64,
    /// Units that hosts wrote in the window.
    pub written: u64,
    /// DTWIN Writes Typical of the window, in Optimal Write Size.
    pub writes: u64,
}

/// Counts of a set's windows since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WindowCounts {
    /// Deterministic windows that were asked for.
    pub asked: u64,
    /// Deterministic windows that have begun.
    pub begun: u64,
    /// Ends of them by cause, in the order of [`End::ALL`].
    pub ends: [u64; 5],
    /// Time in deterministic windows.
    pub dtwin: Span,
    /// Time outside deterministic windows.
    pub ndwin: Span,
    /// Time in which the host waited for a deterministic window that it had asked for.
    pub waited: Span,
    /// The longest of these waits.
    pub longest_wait: Span,
    /// Time from the end of a deterministic window by itself until the next one began, or the host asked
    /// for a non-deterministic one.
    pub broken: Span,
    /// The least and the greatest DTWIN Writes Typical of the windows that have begun.
    pub writes: Option<(u64, u64)>,
    /// Warnings by kind, in the order of [`Warning::ALL`].
    pub warnings: [WarningCounts; 3],
}

/// Most events of a set that are kept: the first ones. The counts have all.
const EVENTS_MOST: usize = 256;

#[derive(Clone, Default)]
pub(super) struct Records {
    pub counts: WindowCounts,
    events: Vec<WindowEvent>,
}

impl Records {
    /// A deterministic window with so many writes began, after so much time outside, of which the host
    /// waited for a part.
    pub fn began(&mut self, writes: u64, outside: Span, waited: Span) {
        let (least, most) = self.counts.writes.unwrap_or((writes, writes));
        self.counts.writes = Some((least.min(writes), most.max(writes)));
        self.counts.begun += 1;
        self.counts.ndwin += outside;
        self.gave_up(waited);
    }
    /// The host waits no more for a deterministic window.
    pub fn gave_up(&mut self, waited: Span) {
        self.counts.waited += waited;
        self.counts.longest_wait = self.counts.longest_wait.max(waited);
    }
    /// A warning came.
    pub fn warned(&mut self, kind: Warning) {
        self.counts.warnings[kind as usize].count += 1;
    }
    /// A deterministic window with these warnings ended after so much time.
    pub fn ended(&mut self, lasted: Span, event: WindowEvent, warned: &Warned) {
        self.counts.dtwin += lasted;
        if let Some(kind) = event.why.warning()
            && let Some(then) = warned.at(kind)
        {
            let of = &mut self.counts.warnings[kind as usize];
            let before = event.at - then;
            of.shortest = Some(of.shortest.map_or(before, |shortest| shortest.min(before)));
        }
        self.counts.ends[event.why as usize] += 1;
        if self.events.len() < EVENTS_MOST {
            self.events.push(event);
        }
    }
    /// The first events.
    pub fn events(&self) -> &[WindowEvent] {
        &self.events
    }
}
