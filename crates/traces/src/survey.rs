//! Survey of a trace: it is read once before it is replayed, so that the user learns how it was
//! understood, and faults show before the run and not during it.

use super::detect::{READS_AS, detect, empty};
use super::lines::{Compression, Lines};
use super::options::{Options, Spread};
use super::read::Format;
use super::remarks::{Passed, Remarks};
use super::row::Row;
use super::rows::Rows;
use crate::command::Kind;
use crate::error::TraceError;
use engine::Span;
use hashbrown::HashTable;
use settings::{counted, each, grouped};
use std::fmt;
use std::path::{Path, PathBuf};

/// Stamps in this unit or a larger one are coarse: a drive serves many requests in it.
const COARSE_NS: u64 = 1_000_000;

/// The coarsest unit of stamps that is tried.
const UNIT_MAX_NS: u64 = 1_000_000_000;

/// Content of a trace file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Survey {
    /// The file.
    pub file: PathBuf,
    /// Its format.
    pub format: Format,
    /// Reason for this format.
    pub reason: String,
    /// Options for reading the file.
    pub options: Options,
    /// Compression of the file, if any.
    pub compression: Option<Compression>,
    /// Requests.
    pub rows: u64,
    /// The earliest stamp, from the trace's own origin.
    pub first_stamp: Span,
    /// The latest stamp.
    pub last_stamp: Span,
    /// Requests and bytes of each kind, by [`Kind::index`].
    pub kinds: [Tally; 5],
    /// Each device number that occurs, ascending.
    pub devices: Vec<DeviceSurvey>,
    /// Stamps that run backwards, if there are any.
    pub backwards: Option<Backwards>,
    /// Resolution of the stamps.
    pub stamps: Stamps,
    /// Lines that are no requests to replay, by reason.
    pub passed: Vec<Passed>,
    /// Choices and interpretations of the reader that could be different.
    pub notes: Vec<String>,
    /// Units that are hardly right, with the options that tell the right ones.
    pub doubts: Vec<String>,
    /// The names of devices 0, 1, …; none if the trace numbers them itself.
    pub names: Vec<String>,
}

/// Resolution of stamps.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Stamps {
    /// The unit of the stamps: that of the format, or the largest power of ten up to 1 s of which
    /// all stamps are multiples, if that is larger.
    pub unit: Span,
    /// Requests that have the stamp of the one before them.
    pub repeated: u64,
    /// The most consecutive requests with one stamp.
    pub most_at_once: u64,
}

impl Stamps {
    /// True if many requests have one stamp because stamps are coarse.
    pub fn is_coarse(&self) -> bool {
        self.unit.as_ns() >= COARSE_NS && self.repeated > 0
    }
}

/// A number of requests and their bytes.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Tally {
    /// Requests.
    pub requests: u64,
    /// Bytes.
    pub bytes: u64,
}

/// Requests to one device of a trace.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DeviceSurvey {
    /// The device's number in the trace.
    pub device: u32,
    /// Requests to it.
    pub rows: u64,
    /// The lowest byte of the device that is accessed; `u64::MAX` if there are only flushes.
    pub begin: u64,
    /// The request that reaches farthest, if any has a range.
    pub farthest: Option<Farthest>,
    /// Bytes of its largest request.
    pub largest_bytes: u64,
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
    /// Number of lines with such a stamp.
    pub rows: u64,
    /// The largest distance by which a stamp lies behind the latest before it.
    pub largest_step: Span,
}

/// Reads a trace from beginning to end; the format is detected if none is given.
pub fn survey(path: &Path, format: Option<Format>) -> Result<Survey, TraceError> {
    survey_with(path, format, &Options::default())
}

/// As [`survey`], with options for reading the file.
pub fn survey_with(
    path: &Path,
    format: Option<Format>,
    options: &Options,
) -> Result<Survey, TraceError> {
    read(path, format, options).map_err(|error| {
        // What damage makes of a compressed file is no fault of its rows.
        let has_rows = error.line.is_some();
        if has_rows { Lines::verify(path).err().unwrap_or(error) } else { error }
    })
}

/// A short [`survey_with`] that reads only the first rows: it checks that the file can be opened
/// and returns its format in a line.
pub fn glance(
    path: &Path,
    format: Option<Format>,
    options: &Options,
) -> Result<String, TraceError> {
    let (format, reason) = match format {
        Some(format) => {
            let mut rows = Rows::open_with(path, format, options)?;
            rows.next()?.ok_or_else(|| empty(path, &rows.passed()))?;
            (format, "as told".to_owned())
        }
        None => {
            let found = detect(path, options)?;
            (found.format, found.reason)
        }
    };
    options.check(path, format)?;
    Ok(format!("{}: {} ({reason})", path.display(), format.title()))
}

fn read(path: &Path, format: Option<Format>, options: &Options) -> Result<Survey, TraceError> {
    let (format, reason) = match format {
        Some(format) => (format, "as told".to_owned()),
        None => {
            let found = detect(path, options)?;
            (found.format, found.reason)
        }
    };
    let mut tally = Survey::nothing_yet(path, format, reason, *options);
    tally.read().map_err(|error| tally.with_hint(error))?;
    if tally.rows == 0 {
        return Err(tally.with_hint(empty(path, &tally.passed)));
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

    /// Bytes of the largest request.
    pub fn largest_bytes(&self) -> u64 {
        self.devices.iter().map(|device| device.largest_bytes).max().unwrap_or(0)
    }

    /// The mean gap between two requests, at least 1 ns.
    pub fn mean_gap(&self) -> Span {
        let gaps = (self.rows - 1).max(1);
        Span::from_ns((self.span().as_ns() / gaps).max(1))
    }

    /// The name of a device, if the trace has names.
    pub fn device_name(&self, device: u32) -> Option<&str> {
        self.names.get(device as usize).map(String::as_str)
    }

    /// Name of a device in messages: its number, and its name if it has one.
    pub fn device_label(&self, device: u32) -> String {
        match self.device_name(device) {
            Some(name) => format!("{device} = {}  ", name.escape_debug()),
            None => device.to_string(),
        }
    }

    /// True if many requests have one stamp because stamps are coarse.
    pub fn is_coarse(&self) -> bool {
        self.stamps.is_coarse()
    }

    fn nothing_yet(path: &Path, format: Format, reason: String, options: Options) -> Self {
        Self {
            file: path.to_owned(),
            format,
            reason,
            options,
            compression: None,
            rows: 0,
            first_stamp: Span::from_ns(u64::MAX),
            last_stamp: Span::ZERO,
            kinds: [Tally::default(); 5],
            devices: Vec::new(),
            backwards: None,
            stamps: Stamps { unit: Span::ZERO, repeated: 0, most_at_once: 0 },
            passed: Vec::new(),
            notes: Vec::new(),
            doubts: Vec::new(),
            names: Vec::new(),
        }
    }

    fn read(&mut self) -> Result<(), TraceError> {
        let mut rows = Rows::open_with(&self.file, self.format, &self.options)?;
        self.compression = rows.compression();
        let mut devices = Devices::default();
        let mut stamps = Repeats::new();
        while let Some(row) = rows.next()? {
            let line = rows.line();
            stamps.add(row.stamp_ns);
            self.add_stamp(Span::from_ns(row.stamp_ns), line);
            let tally = &mut self.kinds[row.command.kind.index()];
            tally.requests += 1;
            tally.bytes = tally
                .bytes
                .checked_add(row.command.bytes)
                .ok_or_else(|| rows.error("the trace asks for more than 2^64 bytes".to_owned()))?;
            devices.of(row.device).add(&row, line);
            self.rows += 1;
        }
        self.devices = devices.ascending();
        self.stamps = stamps.found(self.format.stamp_unit_ns(&self.options));
        let Remarks { passed, notes, doubts, names } = rows.remarks();
        (self.passed, self.notes, self.doubts, self.names) = (passed, notes, doubts, names);
        Ok(())
    }

    #[inline]
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

    /// Adds to the error of a forced format the format that the file looks like.
    fn with_hint(&self, mut error: TraceError) -> TraceError {
        match detect(&self.file, &self.options) {
            Ok(found) if found.format != self.format => {
                let name = found.format.name();
                error.problem += &format!("; the file looks like format = {name:?}");
            }
            Err(doubtful) if doubtful.problem.starts_with(READS_AS) => {
                error.problem += &format!("; {}", doubtful.problem);
            }
            _ => {}
        }
        error
    }
}

/// The devices that occurred so far, in the order of their first appearance.
#[derive(Default)]
struct Devices {
    devices: Vec<DeviceSurvey>,
    /// Position of a device in the list; used for look-ups only.
    places: HashTable<u32>,
    /// Position of the device of the row before: traces stay on one device for a while.
    last: usize,
}

impl Devices {
    #[inline]
    fn of(&mut self, device: u32) -> &mut DeviceSurvey {
        if self.devices.get(self.last).is_none_or(|known| known.device != device) {
            self.last = self.find_or_add(device);
        }
        &mut self.devices[self.last]
    }

    fn find_or_add(&mut self, device: u32) -> usize {
        let hash = |device: u32| u64::from(device).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let devices = &mut self.devices;
        let is_same = |place: &u32| devices[*place as usize].device == device;
        if let Some(place) = self.places.find(hash(device), is_same) {
            return *place as usize;
        }
        let place = devices.len();
        devices.push(DeviceSurvey {
            device,
            rows: 0,
            begin: u64::MAX,
            farthest: None,
            largest_bytes: 0,
        });
        let rehash = |place: &u32| hash(devices[*place as usize].device);
        self.places.insert_unique(hash(device), place as u32, rehash);
        place
    }

    fn ascending(mut self) -> Vec<DeviceSurvey> {
        self.devices.sort_by_key(|known| known.device);
        self.devices
    }
}

/// Counts rows with equal stamps, and finds the unit of the stamps.
pub(crate) struct Repeats {
    unit_ns: u64,
    last_ns: Option<u64>,
    repeated: u64,
    at_once: u64,
    most_at_once: u64,
}

impl Repeats {
    pub fn new() -> Self {
        Self { unit_ns: UNIT_MAX_NS, last_ns: None, repeated: 0, at_once: 0, most_at_once: 0 }
    }

    #[inline]
    pub fn add(&mut self, stamp_ns: u64) {
        if self.last_ns == Some(stamp_ns) {
            self.repeated += 1;
            self.at_once += 1;
        } else {
            self.at_once = 1;
            self.last_ns = Some(stamp_ns);
            while self.unit_ns > 1 && !stamp_ns.is_multiple_of(self.unit_ns) {
                self.unit_ns /= 10;
            }
        }
        self.most_at_once = self.most_at_once.max(self.at_once);
    }

    /// The result for a format whose stamps are in `unit_ns` or coarser.
    pub fn found(&self, unit_ns: u64) -> Stamps {
        Stamps {
            unit: Span::from_ns(self.unit_ns.max(unit_ns)),
            repeated: self.repeated,
            most_at_once: self.most_at_once,
        }
    }
}

impl DeviceSurvey {
    /// The first byte after all requests to the device.
    pub fn end(&self) -> u64 {
        self.farthest.map_or(0, |farthest| farthest.offset + farthest.bytes)
    }

    fn add(&mut self, row: &Row, line: u64) {
        self.rows += 1;
        if !row.command.kind.has_range() {
            return;
        }
        self.begin = self.begin.min(row.command.offset);
        self.largest_bytes = self.largest_bytes.max(row.command.bytes);
        if row.command.end() > self.end() {
            let (offset, bytes) = (row.command.offset, row.command.bytes);
            self.farthest = Some(Farthest { line, offset, bytes });
        }
    }
}

/// The announcement before a replay: several lines, the last without a line end.
impl fmt::Display for Survey {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let packed = self.compression.map_or(String::new(), |how| format!(", {}", how.name()));
        writeln!(
            out,
            "{}: {}{packed} ({})",
            self.file.display(),
            self.format.title(),
            self.reason
        )?;
        writeln!(out, "  columns   {}", self.format.columns().join("; "))?;
        for note in &self.notes {
            writeln!(out, "  read as   {note}")?;
        }
        for doubt in &self.doubts {
            writeln!(out, "  doubtful  {doubt}")?;
        }
        for Passed { reason, lines, first_line } in &self.passed {
            writeln!(
                out,
                "  passed    {}, the first {first_line}: {reason}",
                counted(*lines, "line")
            )?;
        }
        let (rows, seconds) = (self.rows, self.span().as_secs_f64());
        write!(out, "  rows      {} over {seconds:.6} s", grouped(rows))?;
        if seconds > 0.0 {
            write!(out, ", {:.1} a second", rows as f64 / seconds)?;
        }
        writeln!(out, "\n  stamps    {} to {}", self.first_stamp, self.last_stamp)?;
        self.write_stamps(out)?;
        for (kind, tally) in Kind::ALL.iter().zip(self.kinds).filter(|(_, t)| t.requests > 0) {
            let share = tally.requests as f64 / rows as f64 * 100.0;
            let mean = tally.bytes as f64 / tally.requests as f64;
            let (name, count) = (kind.name(), grouped(tally.requests));
            writeln!(out, "  {name:<12}{count} ({share:.1} %), {mean:.0} B in the mean")?;
        }
        self.write_devices(out)?;
        write!(out, "  largest   {} B", self.largest_bytes())
    }
}

impl Survey {
    /// Writes a line for each oddity of the stamps.
    fn write_stamps(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(Backwards { first_line, rows, largest_step }) = self.backwards {
            let first = format!("first in line {first_line}, by {largest_step} at most");
            let runs = each(rows, "runs", "run");
            writeln!(out, "            {} {runs} backwards, {first}", grouped(rows))?;
        }
        let Stamps { unit, repeated, most_at_once } = self.stamps;
        if self.options.spread == Some(Spread::Uniform) {
            let told = format!(
                "{} {} the stamp before",
                counted(repeated, "row"),
                each(repeated, "repeats", "repeat")
            );
            writeln!(out, "            {told}; equal ones are spread evenly over {unit}")?;
        } else if self.rows > 1 && self.span().is_zero() {
            let remedy = "replay with mode = \"closed\", or they come at once";
            writeln!(out, "  warning   all rows have one stamp: {remedy}")?;
        } else if self.is_coarse() {
            let bursts = format!("up to {} come at once", counted(most_at_once, "request"));
            let remedy = "spread = \"uniform\" takes them apart";
            writeln!(out, "  warning   stamps are whole multiples of {unit}: {bursts}; {remedy}")?;
        }
        Ok(())
    }

    fn write_devices(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = 16;
        for device in self.devices.iter().take(shown) {
            let begin = device.begin.min(device.end());
            let (rows, end) = (device.rows, device.end());
            let label = self.device_label(device.device);
            writeln!(out, "  device {label:<5}{}, bytes {begin} to {end}", counted(rows, "row"))?;
        }
        if self.devices.len() > shown {
            writeln!(out, "  and {} more devices", grouped(self.devices.len() - shown))?;
        }
        Ok(())
    }
}
