//! Rows sorted by their stamps, from a file in which stamps run back a little.

use super::row::Row;
use super::rows::Rows;
use crate::error::TraceError;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// The rows of a file by stamp; equal stamps keep the order of the file.
///
/// A row waits until no earlier one can follow. The survey has measured how far stamps run back,
/// so only the rows of that span are kept.
pub(crate) struct InOrder {
    rows: Rows,
    /// Most that a stamp may lie before the newest before it, in nanoseconds.
    slack_ns: u64,
    waiting: BinaryHeap<Reverse<Waiting>>,
    newest_ns: u64,
    /// Numbers the rows in file order.
    next_ticket: u64,
    ended: bool,
}

/// A row that waits, ordered by stamp and then by ticket.
#[derive(PartialEq, Eq)]
struct Waiting {
    ticket: u64,
    row: Row,
}

impl Ord for Waiting {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.row.stamp_ns, self.ticket).cmp(&(other.row.stamp_ns, other.ticket))
    }
}
impl PartialOrd for Waiting {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl InOrder {
    /// The rows of `rows`, whose stamps run back by at most `slack_ns`; with a
    /// slack of 0 they come in the order of the file.
    pub fn new(rows: Rows, slack_ns: u64) -> Self {
        let waiting = BinaryHeap::new();
        Self { rows, slack_ns, waiting, newest_ns: 0, next_ticket: 0, ended: false }
    }

    /// Drops the figures of the rows.
    pub fn without_sample(self) -> Self {
        Self { rows: self.rows.without_sample(), ..self }
    }

    /// The next row, or nothing after the last.
    #[inline]
    pub fn next(&mut self) -> Result<Option<Row>, TraceError> {
        if self.slack_ns == 0 {
            return self.rows.next();
        }
        while !self.ended && !self.is_first_settled() {
            match self.rows.next()? {
                Some(row) => self.hold(row),
                None => self.ended = true,
            }
        }
        Ok(self.waiting.pop().map(|Reverse(waiting)| waiting.row))
    }

    /// The source of the rows.
    pub fn source(&self) -> &Rows {
        &self.rows
    }

    /// A fault of the row read last.
    pub fn error(&self, problem: String) -> TraceError {
        self.rows.error(problem)
    }

    fn hold(&mut self, row: Row) {
        self.newest_ns = self.newest_ns.max(row.stamp_ns);
        self.waiting.push(Reverse(Waiting { ticket: self.next_ticket, row }));
        self.next_ticket += 1;
    }

    /// True if no later row can precede the first that waits.
    fn is_first_settled(&self) -> bool {
        self.waiting
            .peek()
            .is_some_and(|Reverse(first)| self.newest_ns - first.row.stamp_ns >= self.slack_ns)
    }
}
