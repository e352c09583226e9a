//! The rows of a trace in a known format.

use super::columns::{Fault, What, shown, trim};
use super::lines::{Compression, Lines};
use super::options::{Options, Truncated};
use super::parse::Outcome;
use super::plausible::{Doubt, Sample};
use super::read::{AnyParser, Format};
use super::remarks::{Passed, Remarks};
use super::row::{Header, Row};
use crate::error::TraceError;
use std::path::Path;

/// The rows of a file, one after the other. Lines that are no requests are passed over and
/// counted by reason; blank lines are passed over.
pub(crate) struct Rows {
    lines: Lines,
    format: Format,
    parser: AnyParser,
    /// The second row of a line that makes two.
    second: Option<Row>,
    has_header: bool,
    /// By the index of the reason.
    passed: Vec<Passed>,
    options: Options,
    /// True if the trace ends before a last line that was cut.
    ends_early: bool,
    /// `None` if nobody asks for it.
    sample: Option<Sample>,
}

/// Reason for passing over a last line.
const CUT: &str = "the last line, where the file was cut";

impl Rows {
    /// Opens a file in a format and reads its header, if the format has one.
    pub fn open_with(path: &Path, format: Format, options: &Options) -> Result<Self, TraceError> {
        let nothing = |reason: &&'static str| Passed { reason, lines: 0, first_line: 0 };
        let ends_early = options.truncated == Some(Truncated::End);
        let mut rows = Self {
            lines: Lines::open(path, ends_early)?,
            format,
            parser: AnyParser::new(format, options),
            second: None,
            has_header: false,
            passed: format.description().passes.iter().map(nothing).collect(),
            options: *options,
            ends_early,
            sample: Some(Sample::NONE),
        };
        match format.description().header {
            Header::None => {}
            Header::Required(header) => rows.expect_header(header)?,
            Header::Optional(header) => rows.take_header(header)?,
        }
        Ok(rows)
    }

    /// Drops the figures of the rows, for those that are read again.
    pub fn without_sample(self) -> Self {
        Self { sample: None, ..self }
    }

    /// The next row, or nothing after the last.
    #[inline]
    pub fn next(&mut self) -> Result<Option<Row>, TraceError> {
        let row = self.read()?;
        if let (Some(sample), Some(row)) = (&mut self.sample, &row) {
            sample.add(row);
        }
        Ok(row)
    }

    #[inline]
    fn read(&mut self) -> Result<Option<Row>, TraceError> {
        if self.second.is_some() {
            return Ok(self.second.take());
        }
        loop {
            let Some(line) = self.lines.next()? else { return Ok(None) };
            let parsed = self.parser.parse(line);
            if self.ends_early && self.is_cut(parsed.is_err()) {
                return Ok(None);
            }
            match parsed {
                Ok(Outcome::Row(row)) => return Ok(Some(row)),
                Ok(Outcome::Pass(reason)) => {
                    let passed = &mut self.passed[reason as usize];
                    if passed.lines == 0 {
                        passed.first_line = self.lines.number();
                    }
                    passed.lines += 1;
                }
                Ok(Outcome::FlushFirst(row)) => {
                    self.second = Some(row);
                    return Ok(Some(Row { command: crate::command::Command::FLUSH, ..row }));
                }
                Ok(Outcome::Frame) => {}
                Err(_) if trim(self.lines.last()).is_empty() => {}
                Err(fault) => return Err(self.fault(fault)),
            }
        }
    }

    /// True if the line read last is the last of the file and was cut: it has no line end, or
    /// it `is_faulty`. It is then passed over.
    fn is_cut(&mut self, is_faulty: bool) -> bool {
        let is_blank = trim(self.lines.last()).is_empty();
        if is_blank || !(self.lines.is_open() || is_faulty && self.lines.is_last()) {
            return false;
        }
        self.passed.push(Passed { reason: CUT, lines: 1, first_line: self.lines.number() });
        true
    }

    /// The error of a faulty line.
    #[cold]
    fn fault(&mut self, fault: Fault) -> TraceError {
        let mut problem = describe(fault, self.lines.last(), self.format);
        let line = self.line();
        let follows_others = self.sample.is_none_or(|sample| sample.rows() > 0);
        if follows_others && self.lines.is_last() {
            problem += "; this is the last line: if the file was cut, truncated = \"end\" ends the \
                        trace before it";
        }
        TraceError { file: self.lines.file().to_owned(), line: Some(line), problem }
    }

    /// The number of the line of the last row, counted from 1.
    pub fn line(&self) -> u64 {
        self.lines.number()
    }

    /// Compression of the file, if any.
    pub fn compression(&self) -> Option<Compression> {
        self.lines.compression()
    }

    /// True if the file begins with the format's header.
    pub fn has_header(&self) -> bool {
        self.has_header
    }

    /// The lines passed over so far, by reason.
    pub fn passed(&self) -> Vec<Passed> {
        self.passed.iter().filter(|passed| passed.lines > 0).copied().collect()
    }

    /// Choices and interpretations of the parser that could be different.
    pub fn notes(&self) -> Vec<String> {
        let units = self.format.description().units.told(&self.options);
        self.parser.notes().into_iter().chain(units).collect()
    }

    /// Figures of the rows so far.
    pub fn sample(&self) -> Sample {
        self.sample.unwrap_or(Sample::NONE)
    }

    /// Doubts about the units of the rows so far.
    pub fn doubts(&self) -> Vec<Doubt> {
        self.sample().doubts(self.format, &self.options)
    }

    /// The names of devices 0, 1, …; none if the trace numbers them itself.
    pub fn names(&self) -> &[String] {
        self.parser.names()
    }

    /// All remarks so far.
    pub fn remarks(&self) -> Remarks {
        Remarks {
            passed: self.passed(),
            notes: self.notes(),
            doubts: self.doubts().into_iter().map(|doubt| doubt.told).collect(),
            names: self.names().to_owned(),
        }
    }

    /// The share of the file that was read.
    pub fn share(&self) -> f64 {
        self.lines.share()
    }

    /// A fault of the last row.
    #[cold]
    pub fn error(&self, problem: String) -> TraceError {
        TraceError { file: self.lines.file().to_owned(), line: Some(self.line()), problem }
    }

    fn expect_header(&mut self, header: &str) -> Result<(), TraceError> {
        self.take_header(header)?;
        // An empty file is reported as one that has no rows.
        if self.has_header || self.lines.next()?.is_none() {
            return Ok(());
        }
        let title = self.format.title();
        Err(self.error(format!("a {title} file begins with the header {header:?}")))
    }

    /// Reads the header, if it is the next line that is not blank.
    fn take_header(&mut self, header: &str) -> Result<(), TraceError> {
        while let Some(line) = self.lines.next()? {
            if trim(line).is_empty() {
                continue;
            }
            self.has_header = Header::is(header, line);
            if !self.has_header {
                self.lines.step_back();
            }
            break;
        }
        Ok(())
    }
}

/// Message about a fault of a row: the column, its meaning and the fault.
#[cold]
fn describe(fault: Fault, line: &[u8], format: Format) -> String {
    let description = format.description();
    let column = fault.column + 1;
    let wanted = description.columns.len();
    let title = description.title;
    let text = || shown(line, description.separator, fault.column);
    let what = fault.what;
    let meaning = fault.meaning.or(description.columns.get(fault.column).copied());
    let is_time = |meaning: &str| meaning.starts_with("stamp") || meaning.starts_with("arrival");
    match (what, meaning) {
        (What::TooLarge, Some(meaning)) if description.units.time.is_some() && is_time(meaning) => {
            format!(
                "column {column} ({meaning}): {} {what} ({title}); if it counts a smaller unit, ms, \
                 us or ns, say so with time_unit",
                text()
            )
        }
        // Only a format whose rows are all alike has a fixed number of columns.
        (What::Missing, Some(meaning)) if fault.meaning.is_none() => {
            format!("column {column} ({meaning}) {what}; a {title} row has {wanted} columns")
        }
        (What::Missing, Some(meaning)) => {
            format!("column {column} ({meaning}) {what} ({title})")
        }
        (_, Some(meaning)) => format!("column {column} ({meaning}): {} {what} ({title})", text()),
        (_, None) => format!("column {column}: {} {what}; a {title} row has {wanted}", text()),
    }
}
