//! What is in a trace: read once, before it is replayed, so that the user is
//! told what was understood and faults show before the run and not inside it.

use super::Format;
use super::detect::{detect, empty};
use super::lines::Lines;
use super::row::Row;
use super::rows::Rows;
use crate::command::Kind;
use crate::error::TraceError;
use engine::Span;
use std::fmt;
use std::path::{Path, PathBuf};

/// What a trace file contains.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Survey {
    /// The file.
    pub file: PathBuf,
    /// Its format.
    pub format: Format,
    /// Why it is taken to have that format.
    pub reason: String,
    /// True for a gzip file.
    pub compressed: bool,
    /// Requests.
    pub rows: u64,
    /// The earliest stamp, from wherever the trace counts.
    pub first_stamp: Span,
    /// The latest stamp.
    pub last_stamp: Span,
    /// Requests and bytes of each kind, by [`Kind::index`].
    pub kinds: [Tally; 5],
    /// Each device number that occurs, ascending.
    pub devices: Vec<DeviceSurvey>,
    /// Bytes of the largest request.
    pub largest_bytes: u64,
    /// Where stamps run backwards, if they do.
    pub backwards: Option<Backwards>,
}

/// A number of requests and what they ask for together.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Tally {
    /// Requests.
    pub requests: u64,
    /// Bytes.
    pub bytes: u64,
}

/// What one device of a trace is asked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DeviceSurvey {
    /// The device's number in the trace.
    pub device: u32,
    /// Requests to it.
    pub rows: u64,
    /// Its lowest byte that is asked for; `u64::MAX` where only flushes come.
    pub begin: u64,
    /// The request that reaches farthest, if any has a range.
    pub farthest: Option<Farthest>,
}

/// The request that reaches farthest into a device.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Farthest {
    /// Its line, counted from 1.
    pub line: u64,
    /// Its first byte.
    pub offset: u64,
    /// Its length in bytes.
    pub bytes: u64,
}

/// Stamps that are earlier than one before them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Backwards {
    /// The first line with such a stamp, counted from 1.
    pub first_line: u64,
    /// How many lines have one.
    pub rows: u64,
    /// How far the farthest lies behind the latest stamp before it.
    pub largest_step: Span,
}

/// Reads a trace from beginning to end; the format is detected where none is given.
pub fn survey(path: &Path, format: Option<Format>) -> Result<Survey, TraceError> {
    read(path, format).map_err(|error| {
        // What damage makes of a compressed file is no fault of its rows.
        let has_rows = error.line.is_some();
        if has_rows { Lines::verify(path).err().unwrap_or(error) } else { error }
    })
}

/// As much as [`survey`] does with the first rows only: whether the file can be
/// opened, and its format, in a line.
pub fn glance(path: &Path, format: Option<Format>) -> Result<String, TraceError> {
    let (format, reason) = match format {
        Some(format) => {
            let mut rows = Rows::open(path, format)?;
            rows.next()?.ok_or_else(|| empty(path))?;
            (format, "as told".to_owned())
        }
        None => {
            let found = detect(path)?;
            (found.format, found.reason)
        }
    };
    Ok(format!("{}: {} ({reason})", path.display(), format.title()))
}

fn read(path: &Path, format: Option<Format>) -> Result<Survey, TraceError> {
    let (format, reason) = match format {
        Some(format) => (format, "as told".to_owned()),
        None => {
            let found = detect(path)?;
            (found.format, found.reason)
        }
    };
    let mut tally = Survey::nothing_yet(path, format, reason);
    tally.read().map_err(|error| tally.with_hint(error))?;
    if tally.rows == 0 {
        return Err(empty(path));
    }
    Ok(tally)
}

impl Survey {
    /// From the earliest stamp to the latest.
    pub fn span(&self) -> Span {
        self.last_stamp - self.first_stamp
    }

    /// Bytes that all requests ask for together.
    pub fn bytes(&self) -> u64 {
        self.kinds.iter().map(|tally| tally.bytes).sum()
    }

    /// The mean gap between two requests, at least 1 ns.
    pub fn mean_gap(&self) -> Span {
        let gaps = (self.rows - 1).max(1);
        Span::from_ns((self.span().as_ns() / gaps).max(1))
    }

    fn nothing_yet(path: &Path, format: Format, reason: String) -> Self {
        Self {
            file: path.to_owned(),
            format,
            reason,
            compressed: false,
            rows: 0,
            first_stamp: Span::from_ns(u64::MAX),
            last_stamp: Span::ZERO,
            kinds: [Tally::default(); 5],
            devices: Vec::new(),
            largest_bytes: 0,
            backwards: None,
        }
    }

    fn read(&mut self) -> Result<(), TraceError> {
        let mut rows = Rows::open(&self.file, self.format)?;
        self.compressed = rows.is_compressed();
        let mut last_device = 0;
        while let Some(row) = rows.next()? {
            let line = rows.line();
            self.add_stamp(Span::from_ns(row.stamp_ns), line);
            let tally = &mut self.kinds[row.command.kind.index()];
            tally.requests += 1;
            tally.bytes = tally
                .bytes
                .checked_add(row.command.bytes)
                .ok_or_else(|| rows.error("the trace asks for more than 2^64 bytes".to_owned()))?;
            self.largest_bytes = self.largest_bytes.max(row.command.bytes);
            last_device = self.device_index(row.device, last_device);
            self.devices[last_device].add(&row, line);
            self.rows += 1;
        }
        Ok(())
    }

    fn add_stamp(&mut self, stamp: Span, line: u64) {
        if stamp < self.last_stamp {
            let step = self.last_stamp - stamp;
            let found = self.backwards.get_or_insert(Backwards {
                first_line: line,
                rows: 0,
                largest_step: Span::ZERO,
            });
            found.rows += 1;
            found.largest_step = found.largest_step.max(step);
        }
        self.first_stamp = self.first_stamp.min(stamp);
        self.last_stamp = self.last_stamp.max(stamp);
    }

    /// Where a device stands in the list; it is put there if it is new. Traces
    /// stay on one device for a while, so the last place is looked at first.
    fn device_index(&mut self, device: u32, last: usize) -> usize {
        if self.devices.get(last).is_some_and(|known| known.device == device) {
            return last;
        }
        self.devices.binary_search_by_key(&device, |known| known.device).unwrap_or_else(|place| {
            let new = DeviceSurvey { device, rows: 0, begin: u64::MAX, farthest: None };
            self.devices.insert(place, new);
            place
        })
    }

    /// Says which format the file looks like, where another one was forced.
    fn with_hint(&self, mut error: TraceError) -> TraceError {
        if let Ok(found) = detect(&self.file)
            && found.format != self.format
        {
            let name = found.format.name();
            error.problem += &format!("; the file looks like format = {name:?}");
        }
        error
    }
}

impl DeviceSurvey {
    /// The first byte behind all requests to the device.
    pub fn end(&self) -> u64 {
        self.farthest.map_or(0, |farthest| farthest.offset + farthest.bytes)
    }

    fn add(&mut self, row: &Row, line: u64) {
        self.rows += 1;
        if !row.command.kind.has_range() {
            return;
        }
        self.begin = self.begin.min(row.command.offset);
        if row.command.end() > self.end() {
            let (offset, bytes) = (row.command.offset, row.command.bytes);
            self.farthest = Some(Farthest { line, offset, bytes });
        }
    }
}

/// The announcement before a replay: several lines, the last without a line end.
impl fmt::Display for Survey {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let packed = if self.compressed { ", gzip" } else { "" };
        writeln!(
            out,
            "{}: {}{packed} ({})",
            self.file.display(),
            self.format.title(),
            self.reason
        )?;
        writeln!(out, "  columns   {}", self.format.columns().join("; "))?;
        let (rows, seconds) = (self.rows, self.span().as_secs_f64());
        write!(out, "  rows      {rows} over {seconds:.6} s")?;
        if seconds > 0.0 {
            write!(out, ", {:.1} a second", rows as f64 / seconds)?;
        }
        writeln!(out, "\n  stamps    {} to {}", self.first_stamp, self.last_stamp)?;
        if let Some(Backwards { first_line, rows, largest_step }) = self.backwards {
            let first = format!("first in line {first_line}, by {largest_step} at most");
            writeln!(out, "            {rows} run backwards, {first}")?;
        }
        for (kind, tally) in Kind::ALL.iter().zip(self.kinds).filter(|(_, t)| t.requests > 0) {
            let share = tally.requests as f64 / rows as f64 * 100.0;
            let mean = tally.bytes as f64 / tally.requests as f64;
            let (name, count) = (kind.name(), tally.requests);
            writeln!(out, "  {name:<12}{count} ({share:.1} %), {mean:.0} B in the mean")?;
        }
        let shown = 16;
        for device in self.devices.iter().take(shown) {
            let begin = device.begin.min(device.end());
            let (number, rows, end) = (device.device, device.rows, device.end());
            writeln!(out, "  device {number:<5}{rows} rows, bytes {begin} to {end}")?;
        }
        if self.devices.len() > shown {
            writeln!(out, "  and {} more devices", self.devices.len() - shown)?;
        }
        write!(out, "  largest   {} B", self.largest_bytes)
    }
}
