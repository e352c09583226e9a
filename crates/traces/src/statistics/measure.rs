//! Reads a trace for its statistics: once, if its stamps are in order.

use super::summary::{Disorder, Statistics};
use super::watch::Watch;
use crate::detect::empty;
use crate::error::TraceError;
use crate::input::Input;
use crate::lines::Compression;
use crate::options::Options;
use crate::preview::Preview;
use crate::progress::Progress;
use crate::read::Format;
use crate::remarks::Remarks;
use crate::spread::Spreading;
use crate::survey::{Repeats, Stamps};
use engine::Span;
use std::path::Path;

/// Rows from which the unit of time is estimated.
const SAMPLE_ROWS: usize = 4_096;

/// Rows between two reports.
const REPORT_ROWS: u64 = 1 << 16;

/// Largest distance by which stamps may run back and still be sorted; a larger one could take any
/// amount of memory.
const SORTED_NS: u64 = 10_000_000_000;

/// Properties of a trace file and its content.
#[derive(Clone, PartialEq, Debug)]
pub struct Measured {
    /// Its format.
    pub format: Format,
    /// Reason for this format.
    pub reason: String,
    /// Compression of the file, if any.
    pub compression: Option<Compression>,
    /// The earliest stamp, from the trace's own origin.
    pub first_stamp: Span,
    /// Resolution of the stamps, before equal ones are spread.
    pub stamps: Stamps,
    /// True if rows of equal stamps were spread.
    pub spread: bool,
    /// Remarks of the reader on the file.
    pub remarks: Remarks,
    /// Statistics of the requests.
    pub statistics: Statistics,
}

/// Reason why a pass ended before the end of the file.
enum End {
    Fault(TraceError),
    /// A stamp runs backwards.
    Disorder,
    /// Stamps are multiples of this unit only.
    Tick(u64),
    /// The receiver of the progress asked for it.
    Stopped,
}

impl From<TraceError> for End {
    fn from(error: TraceError) -> Self {
        Self::Fault(error)
    }
}

/// Measures a trace, with about `memory_bytes` of memory for its addresses; the format is
/// detected if none is given. `tell` receives the progress and may end the measurement by
/// returning false: then there is no result.
pub fn measure(
    path: &Path,
    format: Option<Format>,
    options: &Options,
    memory_bytes: u64,
    tell: &mut dyn FnMut(Progress) -> bool,
) -> Result<Option<Measured>, TraceError> {
    let (input, reason) = Input::of(path, format, *options)?;
    match Pass::new(input, memory_bytes).go(tell) {
        Ok(found) => Ok(Some(Measured { reason, ..found })),
        Err(End::Stopped) => Ok(None),
        Err(End::Fault(error)) => Err(input.explained(error)),
        Err(End::Disorder | End::Tick(_)) => unreachable!("these begin another pass"),
    }
}

/// Facts that are known before a pass.
struct Pass<'a> {
    input: Input<'a>,
    memory_bytes: u64,
    tick_ns: u64,
    /// Known if stamps run backwards or equal ones are spread.
    preview: Option<Preview>,
}

impl<'a> Pass<'a> {
    fn new(input: Input<'a>, memory_bytes: u64) -> Self {
        Self { input, memory_bytes, tick_ns: 1, preview: None }
    }

    /// Passes over the file, repeatedly if a pass shows that its assumptions were wrong.
    fn go(mut self, tell: &mut dyn FnMut(Progress) -> bool) -> Result<Measured, End> {
        if self.input.spreads() {
            self.look_ahead(tell)?;
        }
        self.tick_ns = self.sampled_tick()?;
        loop {
            match self.pass(tell) {
                Err(End::Disorder) => self.look_ahead(tell)?,
                Err(End::Tick(tick_ns)) => self.tick_ns = tick_ns,
                ended => return ended,
            }
        }
    }

    fn look_ahead(&mut self, tell: &mut dyn FnMut(Progress) -> bool) -> Result<(), End> {
        let found = Preview::of(&self.input, tell)?;
        self.preview = Some(found.ok_or(End::Stopped)?);
        Ok(())
    }

    /// The unit of time of the first rows.
    fn sampled_tick(&self) -> Result<u64, TraceError> {
        let mut rows = self.open()?;
        let (mut first, mut divisor) = (None, 0);
        for _ in 0..SAMPLE_ROWS {
            let Some(row) = rows.next_row()? else { break };
            let first = *first.get_or_insert(row.stamp_ns);
            divisor = crate::units::greatest_divisor(divisor, row.stamp_ns.abs_diff(first));
        }
        first.ok_or_else(|| empty(self.input.path, &rows.source().passed()))?;
        Ok(divisor.max(1))
    }

    /// The rows in the order of their stamps, as far as that is known.
    fn open(&self) -> Result<Spreading, TraceError> {
        let sorted = self.disorder().filter(|disorder| disorder.sorted);
        let slack_ns = sorted.map_or(0, |disorder| disorder.largest_step_ns);
        self.input.in_order(slack_ns, self.preview.as_ref().map(|found| found.stamps))
    }

    fn pass(&self, tell: &mut dyn FnMut(Progress) -> bool) -> Result<Measured, End> {
        let mut rows = self.open()?;
        let mut repeats = Repeats::new();
        let Some(first) = rows.next_row()? else { return Err(empty(self.input.path, &[]).into()) };
        let first_ns = self.preview.as_ref().map_or(first.stamp_ns, |found| found.first_ns);
        let mut watch = Watch::new(first_ns, self.tick_ns, self.memory_bytes);
        let (mut row, mut latest, mut requests) = (first, first_ns, 0u64);
        loop {
            if row.stamp_ns < latest {
                if self.preview.is_none() {
                    return Err(End::Disorder);
                }
                row.stamp_ns = latest;
            }
            latest = row.stamp_ns;
            repeats.add(row.stamp_ns);
            watch
                .add(&row)
                .ok_or_else(|| rows.error("the trace asks for more than 2^64 bytes".to_owned()))?;
            requests += 1;
            if requests.is_multiple_of(REPORT_ROWS) {
                self.check_tick(&watch)?;
                if !tell(Progress { requests, share: rows.source().share() }) {
                    return Err(End::Stopped);
                }
            }
            match rows.next_row()? {
                Some(next) => row = next,
                None => break,
            }
        }
        self.check_tick(&watch)?;
        let format = self.input.format;
        let unit_ns = self.input.stamp_unit_ns();
        Ok(Measured {
            format,
            reason: String::new(),
            compression: rows.source().compression(),
            first_stamp: Span::from_ns(first_ns),
            stamps: self.preview.as_ref().map_or(repeats.found(unit_ns), |found| found.stamps),
            spread: self.input.spreads(),
            remarks: rows.source().remarks(),
            statistics: watch.finish(self.disorder()),
        })
    }

    fn check_tick(&self, watch: &Watch) -> Result<(), End> {
        let divisor = watch.divisor_ns();
        if divisor == 0 || divisor.is_multiple_of(self.tick_ns) {
            return Ok(());
        }
        Err(End::Tick(crate::units::greatest_divisor(divisor, self.tick_ns)))
    }

    fn disorder(&self) -> Option<Disorder> {
        let Preview { backwards, largest_step_ns, .. } = *self.preview.as_ref()?;
        if backwards == 0 {
            return None;
        }
        let sorted = largest_step_ns <= SORTED_NS;
        Some(Disorder { requests: backwards, largest_step_ns, sorted })
    }
}
