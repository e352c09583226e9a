//! Waiting for free space: what kept a bin's collection from giving some.

use engine::{Instant, Span};
use metrics::{Blame, LEDGER_STATES, Snapshot, State};

/// What waits for a bin's space are charged to, as cumulative time: while its
/// collection is under way, what holds the bin's unit (collection itself, or what
/// collection waits for in turn); else nothing.
#[derive(Clone)]
pub struct Space {
    totals: SpaceSnapshot,
    since: Instant,
    under_way: bool,
    /// True once somebody has waited for the bin's space: nothing is kept before.
    is_kept: bool,
    /// Moves of the collection that other packages program.
    pub(in crate::device) elsewhere: u32,
    /// The totals of the unit's ledger at `since`.
    unit: Snapshot,
}

/// Time by [`SPACE_STATES`].
pub type SpaceSnapshot = [Span; LEDGER_STATES + 1];

/// What a wait for space is charged with, by what the unit does; where collection
/// is not under way, the last.
pub const SPACE_STATES: [State; LEDGER_STATES + 1] = {
    let mut states = [State::SpaceIdle; LEDGER_STATES + 1];
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
            totals: [Span::ZERO; LEDGER_STATES + 1],
            since: Instant::START,
            under_way: false,
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
    /// True once somebody has waited for the bin's space.
    pub fn is_kept(&self) -> bool {
        self.is_kept
    }
    /// Collection starts or stops. Settle first.
    pub fn set_under_way(&mut self, under_way: bool) {
        self.under_way = under_way;
    }
    /// The totals as of the last settling.
    pub fn totals(&self) -> &SpaceSnapshot {
        &self.totals
    }

    /// Brings the totals up to `now`, when the totals of the unit's ledger are `unit`.
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
            let state = if self.elsewhere > 0 { State::UnitGcProgram } else { State::Order };
            self.totals[state as usize] += rest;
        } else {
            self.totals[LEDGER_STATES] += rest;
        }
        self.unit = *unit;
        self.since = now;
    }
}

/// Charges a wait for space from `earlier` to `present`; returns how long it was.
pub fn charge(earlier: &SpaceSnapshot, present: &SpaceSnapshot, blame: &mut Blame) -> Span {
    let mut waited = Span::ZERO;
    for (index, state) in SPACE_STATES.into_iter().enumerate() {
        let span = present[index] - earlier[index];
        blame.charge(state, span);
        waited += span;
    }
    waited
}
