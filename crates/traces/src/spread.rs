//! Rows with equal stamps, spread evenly over the unit of the stamps, the first at its stamp.

use super::options::Options;
use super::order::InOrder;
use super::row::Row;
use super::rows::Rows;
use crate::error::TraceError;
use crate::read::Format;
use std::collections::VecDeque;
use std::path::Path;

/// The rows of a trace in the order in which they are replayed.
///
/// The number of rows with one stamp is known only when the next stamp comes, so all rows of one
/// stamp are kept.
pub struct Spreading {
    rows: InOrder,
    /// The unit in nanoseconds; `None` if rows keep their stamps.
    unit_ns: Option<u64>,
    /// Rows of one stamp that were not returned yet.
    pending: VecDeque<Row>,
    /// Number of rows of that stamp.
    group: u64,
    /// The first row of the next stamp.
    next: Option<Row>,
}

impl Spreading {
    /// The rows of a file by stamp, if stamps run back by at most `slack_ns`; rows of equal
    /// stamps are spread over `unit_ns`, if that is given.
    pub fn open(
        path: &Path,
        format: Format,
        options: &Options,
        slack_ns: u64,
        unit_ns: Option<u64>,
    ) -> Result<Self, TraceError> {
        let rows = Rows::open_with(path, format, options)?;
        Ok(Self::new(InOrder::new(rows, slack_ns), unit_ns))
    }

    /// Drops the figures of the rows' units, for a trace that was surveyed.
    pub fn surveyed(self) -> Self {
        Self { rows: self.rows.without_sample(), ..self }
    }

    /// The rows of `rows`; those of equal stamps are spread over `unit_ns`.
    pub(crate) fn new(rows: InOrder, unit_ns: Option<u64>) -> Self {
        Self { rows, unit_ns, pending: VecDeque::new(), group: 0, next: None }
    }

    /// The next row, or nothing after the last.
    #[inline]
    pub fn next_row(&mut self) -> Result<Option<Row>, TraceError> {
        match self.unit_ns {
            None => self.rows.next(),
            Some(unit_ns) => self.spread(unit_ns),
        }
    }

    /// The source of the rows.
    pub(crate) fn source(&self) -> &Rows {
        self.rows.source()
    }

    /// A fault of the row read last.
    pub fn error(&self, problem: String) -> TraceError {
        self.rows.error(problem)
    }

    fn spread(&mut self, unit_ns: u64) -> Result<Option<Row>, TraceError> {
        if self.pending.is_empty() {
            self.hold_a_stamp()?;
        }
        let place = self.group - self.pending.len() as u64;
        let Some(row) = self.pending.pop_front() else { return Ok(None) };
        let behind = u128::from(unit_ns) * u128::from(place) / u128::from(self.group);
        let stamp_ns = row.stamp_ns.saturating_add(behind as u64);
        Ok(Some(Row { stamp_ns, ..row }))
    }

    /// Reads on to the first row of another stamp.
    fn hold_a_stamp(&mut self) -> Result<(), TraceError> {
        let first = match self.next.take() {
            Some(first) => Some(first),
            None => self.rows.next()?,
        };
        self.pending.extend(first);
        while let Some(first) = self.pending.front()
            && let Some(row) = self.rows.next()?
        {
            if row.stamp_ns != first.stamp_ns {
                self.next = Some(row);
                break;
            }
            self.pending.push_back(row);
        }
        self.group = self.pending.len() as u64;
        Ok(())
    }
}
