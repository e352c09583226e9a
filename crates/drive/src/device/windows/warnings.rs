//! Warnings before a deterministic window ends by itself, and the events of a set that its host has not
//! cleared. Source: [NVMBASE], Predictable Latency Mode Config and Predictable Latency Per NVM Set.

use engine::{Instant, Span};

/// Subject of a warning: the estimate has fallen to its threshold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Warning {
    /// DTWIN Reads Estimate.
    Reads,
    /// DTWIN Writes Estimate.
    Writes,
    /// DTWIN Time Estimate.
    Time,
}

impl Warning {
    /// All kinds.
    pub const ALL: [Self; 3] = [Self::Reads, Self::Writes, Self::Time];

    /// Its name in results.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Reads => "reads",
            Self::Writes => "writes",
            Self::Time => "time",
        }
    }
}

/// Event Types that a set has had and that its host has not cleared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pending(u8);

impl Pending {
    /// Bits and names, in the order of NVMe.
    const NAMES: [&'static str; 5] = [
        "reads_warning",
        "writes_warning",
        "time_warning",
        "typical_or_maximum_exceeded",
        "excursion",
    ];

    pub(super) fn warn(&mut self, kind: Warning) {
        self.0 |= 1 << kind as u8;
    }
    /// Notes the end of a deterministic window whose typical or maximum values were exceeded.
    pub(super) fn note_exceeded(&mut self) {
        self.0 |= 1 << 3;
    }
    /// Notes a deterministic excursion.
    pub(super) fn note_excursion(&mut self) {
        self.0 |= 1 << 4;
    }
    /// Adds events that came later.
    pub fn join(&mut self, later: Self) {
        self.0 |= later.0;
    }
    /// The names of the events.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        (0..Self::NAMES.len()).filter(move |bit| self.0 >> bit & 1 == 1).map(|bit| Self::NAMES[bit])
    }
}

/// Warnings of a kind since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WarningCounts {
    /// Number of them.
    pub count: u64,
    /// The shortest time from a warning to the end of its window, of windows that ended by themselves
    /// because of what the warning was about.
    pub shortest: Option<Span>,
}

/// The warnings of the present deterministic window: the moment of each.
#[derive(Clone, Copy, Default)]
pub(super) struct Warned([Option<Instant>; 3]);

impl Warned {
    pub fn at(&self, kind: Warning) -> Option<Instant> {
        self.0[kind as usize]
    }
    /// Notes a warning, unless there was one in this window.
    pub fn note(&mut self, kind: Warning, at: Instant) -> bool {
        let is_new = self.0[kind as usize].is_none();
        self.0[kind as usize].get_or_insert(at);
        is_new
    }
}
