//! Time for which collection holds units.

use engine::{Instant, Span};
use metrics::{Ledger, State};

/// Time for which cells have been reserved.
#[derive(Clone)]
pub struct Holds {
    cells: Vec<Kept>,
}

/// Reservations of a cell so far.
#[derive(Clone, Copy, Default)]
struct Kept {
    /// The beginning of the present one, and the time for which collection had used the cell then.
    since: Option<(Instant, Span)>,
    /// Reserved time without use by collection.
    idle: Span,
}

impl Kept {
    /// Reserved time without use by collection up to `now`, when collection has used the cell for
    /// `used`.
    fn idle_at(&self, now: Instant, used: Span) -> Span {
        self.idle + self.since.map_or(Span::ZERO, |(since, then)| (now - since) - (used - then))
    }
}

impl Holds {
    /// No reservation of as many cells so far.
    pub fn new(cells: u32) -> Self {
        Self { cells: vec![Kept::default(); cells as usize] }
    }
    /// Notes that a cell is reserved from now on, or no longer; `ledger` is its ledger, settled.
    pub fn note(&mut self, now: Instant, cell: usize, ledger: &Ledger, begins: bool) {
        let (used, kept) = (used(ledger), &mut self.cells[cell]);
        kept.idle = kept.idle_at(now, used);
        kept.since = begins.then_some((now, used));
    }
    /// Time for which collection has held a cell so far.
    pub fn of(&self, now: Instant, cell: usize, ledger: &Ledger) -> Span {
        let used = used(ledger);
        used + self.cells[cell].idle_at(now, used)
    }
}

/// Time for which collection has used a unit.
fn used(ledger: &Ledger) -> Span {
    let states = State::ALL[..metrics::HOLDERS].iter().filter(|state| state.is_hold());
    states.map(|state| ledger.totals()[*state as usize]).sum()
}
