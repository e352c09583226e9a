//! Conversion of a file: requests that the output format cannot express are refused with numbers
//! and lines, unless an option tells how to treat them.

use super::sink::Sink;
use super::target::{Lack, Target};
use crate::command::Kind;
use crate::error::TraceError;
use crate::input::Input;
use crate::options::Options;
use crate::preview::Preview;
use crate::progress::Progress;
use crate::read::Format;
use crate::remarks::Remarks;
use crate::row::Row;
use crate::spread::Spreading;
use engine::Span;
use settings::counted;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Rows between two reports.
const REPORT_ROWS: u64 = 1 << 16;

/// The unit of fio's stamps. fio takes a first stamp of 0 for a missing one.
const FIO_TICK_NS: u64 = 1_000;

/// Requests to convert, and treatment of those that do not fit.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Choices {
    /// The format of the input; detected if none is given.
    pub format: Option<Format>,
    /// Options for reading the input.
    pub options: Options,
    /// Kinds to leave out.
    pub drop: Vec<Kind>,
    /// True to extend ranges and to move stamps earlier if the format needs it.
    pub round: bool,
    /// True to sort requests by their stamps.
    pub sort: bool,
    /// Device numbers to keep; all if none is given.
    pub devices: Option<Vec<u32>>,
    /// Keep requests from this time after the first stamp on.
    pub start: Option<Span>,
    /// Keep requests before this time after the first stamp.
    pub end: Option<Span>,
    /// Stretch the time after the first stamp: 2 is half as fast.
    pub time_scale: Option<f64>,
    /// True if stamps count from the first kept request.
    pub rebase: bool,
    /// True to replace an existing output.
    pub force: bool,
}

impl Choices {
    /// True if the device and the time of a row are asked for.
    fn ask_for(&self, row: &Row, first_ns: u64) -> bool {
        let since_first = Span::from_ns(row.stamp_ns - first_ns);
        self.devices.as_ref().is_none_or(|devices| devices.contains(&row.device))
            && self.start.is_none_or(|start| since_first >= start)
            && self.end.is_none_or(|end| since_first < end)
    }
}

/// Result of a conversion.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Converted {
    /// Requests in the input.
    pub read: u64,
    /// Requests in the output.
    pub written: u64,
    /// Requests of each kind that were left out as told, by [`Kind::index`].
    pub dropped: [u64; Kind::ALL.len()],
    /// Requests on other devices or at other times than those asked for.
    pub not_asked_for: u64,
    /// Requests whose range or stamp was rounded.
    pub rounded: u64,
    /// Remarks of the reader on the input.
    pub remarks: Remarks,
    /// Other facts that the output does not contain.
    pub notes: Vec<String>,
}

/// Converts a trace. Returns nothing if `tell` has ended it by returning false; then there is no
/// output.
pub fn convert(
    input: &Path,
    output: &Path,
    target: Target,
    choices: &Choices,
    tell: &mut dyn FnMut(Progress) -> bool,
) -> Result<Option<Converted>, TraceError> {
    let (input, _) = Input::of(input, choices.format, choices.options)?;
    let explained = |error: TraceError| {
        let is_of_a_row = error.file == input.path && error.line.is_some();
        if is_of_a_row { input.explained(error) } else { error }
    };
    input.convert(output, target, choices, tell).map_err(explained)
}

impl Input<'_> {
    fn convert(
        &self,
        output: &Path,
        target: Target,
        choices: &Choices,
        tell: &mut dyn FnMut(Progress) -> bool,
    ) -> Result<Option<Converted>, TraceError> {
        let Some(preview) = Preview::of(self, tell)? else { return Ok(None) };
        self.check(&preview, choices)?;
        let sink = Sink::create(output, target, choices.force)?;
        let slack_ns = if choices.sort { preview.largest_step_ns } else { 0 };
        let mut origin_ns = None;
        if choices.rebase && preview.backwards > 0 && !choices.sort {
            let Some(earliest_ns) = self.earliest(&preview, choices, tell)? else {
                return Ok(None);
            };
            origin_ns = Some(earliest_ns);
        }
        let run = Run {
            input: self.path,
            target,
            choices,
            first_ns: preview.first_ns,
            rows: self.in_order(slack_ns, Some(preview.stamps))?,
            by_place: slack_ns > 0 || self.spreads(),
            sink,
            lacks: BTreeMap::new(),
            latest_ns: 0,
            origin_ns,
            device: None,
            latest_device: None,
            renamed: BTreeSet::new(),
            shift_ns: None,
            done: Converted {
                read: 0,
                written: 0,
                dropped: [0; Kind::ALL.len()],
                not_asked_for: 0,
                rounded: 0,
                remarks: preview.remarks,
                notes: Vec::new(),
            },
        };
        run.go(tell)
    }

    /// The earliest stamp of the kept requests, anywhere in the file; nothing if `tell` has ended
    /// the pass.
    fn earliest(
        &self,
        preview: &Preview,
        choices: &Choices,
        tell: &mut dyn FnMut(Progress) -> bool,
    ) -> Result<Option<u64>, TraceError> {
        let mut rows = self.in_order(0, Some(preview.stamps))?;
        let (mut earliest_ns, mut requests) = (u64::MAX, 0u64);
        while let Some(row) = rows.next_row()? {
            requests += 1;
            let is_kept = choices.ask_for(&row, preview.first_ns)
                && !choices.drop.contains(&row.command.kind);
            if is_kept {
                earliest_ns = earliest_ns.min(row.stamp_ns);
            }
            if requests.is_multiple_of(REPORT_ROWS)
                && !tell(Progress { requests, share: rows.source().share() })
            {
                return Ok(None);
            }
        }
        Ok(Some(earliest_ns))
    }

    /// Checks that the file has the devices and times that are asked for.
    fn check(&self, preview: &Preview, choices: &Choices) -> Result<(), TraceError> {
        let fault =
            |problem: String| TraceError { file: self.path.to_owned(), line: None, problem };
        let known = &preview.devices;
        let absent = |device: &&u32| !known.contains(device);
        if let Some(device) = choices.devices.iter().flatten().find(absent) {
            let label = |device: &u32| preview.remarks.device_label(*device);
            let shown: Vec<String> = known.iter().take(16).map(label).collect();
            let more = if known.len() > shown.len() { ", …" } else { "" };
            let problem = format!("has no device {device} (it has {}{more})", shown.join(", "));
            return Err(fault(problem));
        }
        if let (Some(start), Some(end)) = (choices.start, choices.end)
            && start >= end
        {
            return Err(fault(format!("nothing lies between --start {start} and --end {end}")));
        }
        if choices.time_scale.is_some_and(|scale| !(scale > 0.0 && scale.is_finite())) {
            return Err(fault("--time-scale must be more than 0".to_owned()));
        }
        Ok(())
    }
}

struct Run<'a> {
    input: &'a Path,
    target: Target,
    choices: &'a Choices,
    first_ns: u64,
    rows: Spreading,
    /// True if the line read last is not that of the row.
    by_place: bool,
    sink: Sink,
    /// Lacks of the format: the number of requests, and the first of them.
    lacks: BTreeMap<Lack, (u64, u64)>,
    latest_ns: u64,
    /// The earliest stamp of the kept requests, in the time of the input.
    origin_ns: Option<u64>,
    device: Option<u32>,
    latest_device: Option<u32>,
    /// Written devices, if they have names.
    renamed: BTreeSet<u32>,
    /// Time that is added to the stamps of the output; known from the first request on.
    shift_ns: Option<u64>,
    done: Converted,
}

impl Run<'_> {
    fn go(
        mut self,
        tell: &mut dyn FnMut(Progress) -> bool,
    ) -> Result<Option<Converted>, TraceError> {
        while let Some(row) = self.rows.next_row()? {
            self.done.read += 1;
            self.take(row)?;
            if self.done.read.is_multiple_of(REPORT_ROWS)
                && !tell(Progress { requests: self.done.read, share: self.rows.source().share() })
            {
                return Ok(None);
            }
        }
        if !self.lacks.is_empty() {
            return Err(self.refusal());
        }
        if self.done.written == 0 {
            let problem = "no request is left to write".to_owned();
            return Err(TraceError { file: self.input.to_owned(), line: None, problem });
        }
        self.note_devices();
        self.note_new_names();
        self.note_shift();
        self.sink.finish()?;
        Ok(Some(self.done))
    }

    /// Writes a row, or records why it cannot be written.
    fn take(&mut self, row: Row) -> Result<(), TraceError> {
        let kind = row.command.kind;
        if !self.choices.ask_for(&row, self.first_ns) {
            self.done.not_asked_for += 1;
            return Ok(());
        }
        if self.choices.drop.contains(&kind) {
            self.done.dropped[kind.index()] += 1;
            return Ok(());
        }
        let stamp_ns = self.moved(row.stamp_ns)?;
        let is_lost = self.target == Target::FioV3 && stamp_ns < FIO_TICK_NS;
        let shift_ns = *self.shift_ns.get_or_insert(if is_lost { FIO_TICK_NS } else { 0 });
        let moved = Row { stamp_ns: stamp_ns.saturating_add(shift_ns), ..row };
        let fitting = if self.choices.round { self.target.rounded(moved) } else { moved };
        let lack = self.target.lacks(&fitting).or_else(|| self.lacks_beside_others(&fitting));
        if let Some(lack) = lack {
            self.lacks(lack);
            return Ok(());
        }
        self.latest_ns = fitting.stamp_ns;
        self.watch_names(fitting.device);
        self.done.rounded += u64::from(fitting != moved);
        self.done.written += 1;
        // Once the format lacks something, there will be no output.
        if self.lacks.is_empty() { self.sink.put(&fitting) } else { Ok(()) }
    }

    #[cold]
    fn lacks(&mut self, lack: Lack) {
        let place = if self.by_place { self.done.read } else { self.rows.source().line() };
        self.lacks.entry(lack).or_insert((0, place)).0 += 1;
    }

    /// Records the devices that get a name instead of their number.
    #[inline]
    fn watch_names(&mut self, device: u32) {
        let has_names = self.target.writer().device_prefix.is_some();
        if has_names && self.latest_device.replace(device) != Some(device) {
            self.renamed.insert(device);
        }
    }

    /// The stamp of the output, which must not be before the one it counts from.
    fn moved(&mut self, stamp_ns: u64) -> Result<u64, TraceError> {
        let origin = *self.origin_ns.get_or_insert(stamp_ns);
        let from = if self.choices.rebase { origin } else { self.first_ns };
        let base = if self.choices.rebase { 0 } else { self.first_ns };
        let since = stamp_ns.saturating_sub(from);
        let Some(scale) = self.choices.time_scale else { return Ok(base + since) };
        let stretched = (since as f64 * scale + 0.5) as u64;
        let stamp = base.checked_add(stretched).filter(|stamp| *stamp < u64::MAX);
        let too_late = || self.rows.error("--time-scale puts the stamp behind 2^64 ns".to_owned());
        stamp.ok_or_else(too_late)
    }

    /// Lack of the format for this row after the rows before it.
    fn lacks_beside_others(&mut self, row: &Row) -> Option<Lack> {
        let writer = self.target.writer();
        if writer.in_order && row.stamp_ns < self.latest_ns {
            return Some(Lack::Order);
        }
        let device = *self.device.get_or_insert(row.device);
        (!writer.has_devices && device != row.device).then_some(Lack::Device)
    }

    fn refusal(&self) -> TraceError {
        let what = if self.by_place { "by stamp is number" } else { "in line" };
        let fault = |(lack, (count, first)): (&Lack, &(u64, u64))| {
            let number = counted(*count, "request");
            let explained = self.target.explained(*lack);
            format!("\n  {number}, the first {what} {first}: {explained}")
        };
        let faults: String = self.lacks.iter().map(fault).collect();
        let name = self.target.title();
        let problem = format!("cannot be written as {name} without loss:{faults}");
        TraceError { file: self.input.to_owned(), line: None, problem }
    }

    /// A reader of names numbers them in the order of their appearance.
    fn note_new_names(&mut self) {
        let Some(prefix) = self.target.writer().device_prefix else { return };
        if self.renamed.iter().all(|device| *device == 0) {
            return;
        }
        let named = |device: &u32| format!("{device} = {prefix}{device}");
        let shown: Vec<String> = self.renamed.iter().take(16).map(named).collect();
        let more = if self.renamed.len() > shown.len() { ", …" } else { "" };
        let (title, listed) = (self.target.title(), shown.join(", "));
        self.done.notes.push(format!(
            "{title} has names, not numbers, of devices: {listed}{more}; its readers number them \
             in the order of their appearance"
        ));
    }

    /// Says that stamps were moved.
    fn note_shift(&mut self) {
        if self.shift_ns.is_some_and(|shift| shift > 0) {
            self.done.notes.push(
                "all stamps are 1 us later: fio takes a stamp of 0 for none, and drops the gap \
                 behind it"
                    .to_owned(),
            );
        }
    }

    fn note_devices(&mut self) {
        if let Some(device) = self.device.filter(|device| *device != 0)
            && !self.target.writer().has_devices
        {
            let title = self.target.title();
            let label = self.done.remarks.device_label(device);
            self.done.notes.push(format!("{title} has no devices: device {label} has become 0"));
        } else if self.target.writer().has_devices && !self.done.remarks.names.is_empty() {
            let names = &self.done.remarks.names;
            let label = |device: usize| self.done.remarks.device_label(device as u32);
            let shown: Vec<String> = (0..names.len().min(16)).map(label).collect();
            let more = if names.len() > shown.len() { ", …" } else { "" };
            let listed = shown.join(", ");
            self.done.notes.push(format!("names of devices have become numbers: {listed}{more}"));
        }
    }
}
