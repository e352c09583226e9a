//! The rows of a trace in a known format.

use super::Format;
use super::columns::{Fault, What, shown, trim};
use super::lines::Lines;
use super::row::Row;
use crate::error::TraceError;
use std::path::Path;

/// The rows of a file, one after the other; blank lines are passed over.
pub(crate) struct Rows {
    lines: Lines,
    format: Format,
}

impl Rows {
    /// Opens a file in a format and reads its header, where that has one.
    pub fn open(path: &Path, format: Format) -> Result<Self, TraceError> {
        let mut rows = Self { lines: Lines::open(path)?, format };
        if let Some(header) = format.description().header {
            rows.expect_header(header)?;
        }
        Ok(rows)
    }

    /// The next row, or nothing behind the last.
    #[inline]
    pub fn next(&mut self) -> Result<Option<Row>, TraceError> {
        loop {
            let Some(line) = self.lines.next()? else { return Ok(None) };
            match self.format.parse(line) {
                Ok(row) => return Ok(Some(row)),
                Err(_) if trim(line).is_empty() => {}
                Err(fault) => {
                    let problem = describe(fault, line, self.format);
                    return Err(self.error(problem));
                }
            }
        }
    }

    /// The number of the line of the row that came last, counted from 1.
    pub fn line(&self) -> u64 {
        self.lines.number()
    }

    /// The share of the file that was read.
    pub fn share(&self) -> f64 {
        self.lines.share()
    }

    /// True for a gzip file.
    pub fn is_compressed(&self) -> bool {
        self.lines.is_compressed()
    }

    /// A fault of the row that came last.
    #[cold]
    pub fn error(&self, problem: String) -> TraceError {
        TraceError { file: self.lines.file().to_owned(), line: Some(self.line()), problem }
    }

    fn expect_header(&mut self, header: &str) -> Result<(), TraceError> {
        loop {
            match self.lines.next()?.map(trim) {
                Some(line) if line == header.as_bytes() => return Ok(()),
                Some([]) => {}
                Some(_) => break,
                // An empty file is reported as one that has no rows.
                None => return Ok(()),
            }
        }
        let title = self.format.title();
        Err(self.error(format!("a {title} file begins with the header {header:?}")))
    }
}

/// What is wrong with a row, in words that say which column and what it holds.
#[cold]
fn describe(fault: Fault, line: &[u8], format: Format) -> String {
    let description = format.description();
    let column = fault.column + 1;
    let wanted = description.columns.len();
    let title = description.title;
    let meaning = description.columns.get(fault.column);
    match (fault.what, meaning) {
        (What::Missing, Some(meaning)) => format!(
            "column {column} ({meaning}) {}; a {title} row has {wanted} columns",
            fault.what
        ),
        (_, Some(meaning)) => {
            let text = shown(line, description.separator, fault.column);
            format!("column {column} ({meaning}): {text} {} ({title})", fault.what)
        }
        (_, None) => {
            let text = shown(line, description.separator, fault.column);
            format!("column {column}: {text} {}; a {title} row has {wanted}", fault.what)
        }
    }
}
