//! Waits for free space, and the activity of a bin's collection meanwhile.

use engine::{Instant, Span};
use metrics::{Blame, LEDGER_STATES, Snapshot, State};

/// Charges of waits for a bin's space, as cumulative time: while its collection is under way, the
/// activity of the bin's unit (collection itself, or the operation that collection waits for); else
/// nothing.
#[derive(Clone)]
pub struct Space {
    totals: SpaceSnapshot,
    since: Instant,
    under_way: bool,
    /// True once an operation has waited for the bin's space: nothing is recorded before.
    is_kept: bool,
    /// True while the collection waits until it may request a program (`ftl.pressure`).
    awaits_credit: bool,
    /// Moves of the collection that other packages program.
    pub(in crate::device) elsewhere: u32,
    /// The totals of the unit's ledger at `since`.
    unit: Snapshot,
}

/// Time by [`SPACE_STATES`].
pub type SpaceSnapshot = [Span; SPACES];

/// Number of charges of a wait for space; and those beside the activities of a unit: collection is not
/// under way, or the number of outstanding programs is limited.
const SPACES: usize = LEDGER_STATES + 2;
const IDLE: usize = LEDGER_STATES;
const LIMITED: usize = LEDGER_STATES + 1;

/// Charge of a wait for space, by the activity of the unit; then those beside.
pub const SPACE_STATES: [State; SPACES] = {
    let mut states = [State::SpaceIdle; SPACES];
    states[LIMITED] = State::Pressure;
    let mut index = 0;
    while index < LEDGER_STATES {
        states[index] = match State::ALL[index] {
            State::UnitGcRead => State::SpaceGcRead,
            State::UnitGcProgram => State::SpaceGcProgram,
            State::UnitErase => State::SpaceErase,
            other => other,
        };
        index += 1;
    }
    states
};

impl Default for Space {
    fn default() -> Self {
        Self {
            totals: [Span::ZERO; SPACES],
            since: Instant::START,
            under_way: false,
            awaits_credit: false,
            is_kept: false,
            elsewhere: 0,
            unit: [Span::ZERO; LEDGER_STATES],
        }
    }
}

impl Space {
    pub fn is_under_way(&self) -> bool {
        self.under_way
    }
    /// True once an operation has waited for the bin's space.
    pub fn is_kept(&self) -> bool {
        self.is_kept
    }
    /// Notes that collection starts or stops. Settle first.
    pub fn set_under_way(&mut self, under_way: bool) {
        self.under_way = under_way;
    }
    /// True while the collection waits until it may request a program.
    pub fn awaits_credit(&self) -> bool {
        self.awaits_credit
    }
    /// Notes that it does, or no longer. Settle first.
    pub fn set_awaits_credit(&mut self, awaits: bool) {
        self.awaits_credit = awaits;
    }
    /// The totals at the last settling.
    pub fn totals(&self) -> &SpaceSnapshot {
        &self.totals
    }

    /// Updates the totals to `now`, given the totals `unit` of the unit's ledger.
    pub fn settle(&mut self, now: Instant, unit: &Snapshot) {
        if !std::mem::replace(&mut self.is_kept, true) {
            self.unit = *unit;
            self.since = now;
            return;
        }
        let mut rest = now - self.since;
        if self.under_way {
            for (index, (present, earlier)) in unit.iter().zip(&self.unit).enumerate() {
                let busy = *present - *earlier;
                self.totals[index] += busy;
                rest = rest.checked_sub(busy).expect("a unit does one thing at a time");
            }
            let state = match self.elsewhere {
                0 if self.awaits_credit => LIMITED,
                0 => State::Order as usize,
                _ => State::UnitGcProgram as usize,
            };
            self.totals[state] += rest;
        } else {
            self.totals[IDLE] += rest;
        }
        self.unit = *unit;
        self.since = now;
    }
}

/// Charges a wait for space from `earlier` to `present`; returns its length.
pub fn charge(earlier: &SpaceSnapshot, present: &SpaceSnapshot, blame: &mut Blame) -> Span {
    let mut waited = Span::ZERO;
    for (index, state) in SPACE_STATES.into_iter().enumerate() {
        let span = present[index] - earlier[index];
        blame.charge(state, span);
        waited += span;
    }
    waited
}

/// Adds a wait for the limit of outstanding programs.
pub fn add_limited(totals: &mut SpaceSnapshot, span: Span) {
    totals[LIMITED] += span;
}
