//! Model of a synthetic trace. It is checked, because model files may come from anywhere.

use super::wishes::Wishes;
use crate::command::Kind;
use crate::error::{Fault, TraceError};
use crate::statistics::sequence::AGES;
use crate::statistics::{Layout, Shape};
use serde::{Deserialize, Serialize};
use std::path::Path;

const UNIT: u64 = 4_096;

/// Most units of an address space: 2^62 bytes.
const SPAN_UNITS_MAX: u64 = 1 << 50;

/// Most pieces of a space; each takes some 100 B of memory.
const PIECES_MAX: u64 = 1 << 26;

/// Most windows that a synthetic trace may last.
const WINDOWS_MAX: u128 = 1 << 27;

/// The version of descriptions that this program writes and reads.
pub const DESCRIPTION_VERSION: u32 = 1;

/// A file that describes a trace: figures for people, and the model for a synthetic trace.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Description {
    /// The version of the file's format, checked before.
    #[serde(rename = "trace_description")]
    _trace_description: serde::de::IgnoredAny,
    /// The version of flashscape that wrote the file.
    #[serde(rename = "flashscape")]
    _flashscape: serde::de::IgnoredAny,
    /// The output of `trace info --json` without the file's path; for people and scripts.
    #[serde(rename = "statistics")]
    _statistics: serde::de::IgnoredAny,
    model: Model,
}

/// The version alone, which is checked before the rest.
#[derive(Deserialize)]
#[serde(expecting = "a JSON object")]
struct Version {
    trace_description: Option<u32>,
}

/// Model of a synthetic trace.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Model {
    /// Requests.
    pub requests: u64,
    /// Number of times that each kind follows each kind: read, write, trim, flush, write_zeroes.
    pub follows: [[u64; Kind::ALL.len()]; Kind::ALL.len()],
    /// Requests of each kind that occurs.
    pub kinds: Vec<KindModel>,
    /// Arrival times of requests.
    pub arrivals: Shape,
    /// Addresses of reads and writes.
    pub layout: Layout,
}

/// Requests of one kind.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KindModel {
    /// The kind's name.
    pub kind: String,
    /// Requests.
    pub requests: u64,
    /// Sizes in bytes of requests that begin a run, with their number.
    pub starting: Vec<(u64, u64)>,
    /// Sizes of requests that continue a run.
    pub continuing: Vec<(u64, u64)>,
    /// Sizes of requests that begin at the beginning of the request before.
    pub again: Vec<(u64, u64)>,
    /// Requests that begin elsewhere: within 64 MiB of the request before, and farther away.
    pub near_and_far: [u64; 2],
    /// Age of the continued request, in requests: 1, 2, 3 to 4, … 17 to 32.
    pub ages: [u64; AGES],
    /// Lengths of runs in requests, with the number of runs.
    pub runs: Vec<(u64, u64)>,
    /// Number of runs that begin in each sector of a unit of 4 KiB.
    pub phases: [u64; 8],
}

impl KindModel {
    /// The kind, if its name is known.
    fn known(&self) -> Option<Kind> {
        Kind::ALL.into_iter().find(|kind| kind.name() == self.kind)
    }

    pub(super) fn kind(&self) -> Kind {
        self.known().expect("a model is checked before it is used")
    }

    fn largest(&self) -> u64 {
        self.sizes().map(|(bytes, _)| *bytes).max().unwrap_or(0)
    }

    fn sizes(&self) -> impl Iterator<Item = &(u64, u64)> + Clone {
        self.starting.iter().chain(&self.continuing).chain(&self.again)
    }
}

impl Model {
    /// Reads a description, which may still contradict itself ([`Model::faults`]).
    pub fn parse(text: &str, file: &Path) -> Result<Self, TraceError> {
        let fault = |line: usize, problem: String| {
            let line = (line > 0).then_some(line as u64);
            TraceError { file: file.to_owned(), line, problem }
        };
        let no_json = |error: serde_json::Error| {
            let problem = format!(
                "this is no description of a trace, which `flashscape trace describe` writes: {error}"
            );
            fault(error.line(), problem)
        };
        let Version { trace_description } = serde_json::from_str(text).map_err(no_json)?;
        match trace_description {
            Some(DESCRIPTION_VERSION) => {}
            Some(other) => {
                let problem = format!(
                    "is of version {other}, and this flashscape reads {DESCRIPTION_VERSION}; \
                     describe the trace again"
                );
                return Err(fault(0, problem));
            }
            None => {
                let problem = "has no key \"trace_description\": it is no description of a trace, \
                               which `flashscape trace describe` writes";
                return Err(fault(0, problem.to_owned()));
            }
        }
        let mut json = serde_json::Deserializer::from_str(text);
        let read: Result<Description, _> = serde_path_to_error::deserialize(&mut json);
        let description = read.map_err(|error| {
            let path = error.path().to_string();
            let inner = error.into_inner();
            fault(inner.line(), format!("{path}: {inner}"))
        })?;
        Ok(description.model)
    }

    /// The properties that the model itself gives.
    pub fn wishes(&self) -> Wishes {
        let span_bytes = self.layout.span_units.saturating_mul(UNIT);
        Wishes { requests: self.requests, span_bytes, seed: 0 }
    }

    /// All faults of the model and of the wishes.
    pub fn faults(&self, wishes: &Wishes) -> Vec<Fault> {
        let mut faults = Vec::new();
        self.check_requests(wishes, &mut faults);
        self.check_arrivals(wishes, &mut faults);
        self.check_layout(wishes, &mut faults);
        faults
    }

    fn check_requests(&self, wishes: &Wishes, faults: &mut Vec<Fault>) {
        let mut fault = |key: &str, problem: &str| faults.push(Fault::new(key, problem));
        if wishes.requests == 0 {
            fault("rows", "a synthetic trace needs at least one request");
        }
        if sum(self.kinds.iter().map(|kind| kind.requests)) != Some(self.requests) {
            fault("model.requests", "is not the sum of the requests of all kinds");
        }
        for (index, kind) in self.kinds.iter().enumerate() {
            let key = format!("model.kinds[{index}]");
            let Some(known) = kind.known() else {
                fault(&key, "has no kind of request (read, write, trim, flush, write_zeroes)");
                continue;
            };
            if self.kinds[..index].iter().any(|other| other.kind == kind.kind) {
                fault(&key, "names a kind that another entry has");
            }
            let sizes = kind.sizes();
            let sized = sum(sizes.clone().map(|(_, count)| *count));
            if known.has_range() && sized != Some(kind.requests) {
                fault(&key, "does not have as many sizes as requests");
            }
            if sizes.clone().any(|(bytes, _)| *bytes == 0) {
                fault(&key, "has requests for nothing; only a flush has no size");
            }
            if kind
                .ages
                .iter()
                .chain(&kind.phases)
                .chain(&kind.near_and_far)
                .any(|count| *count > self.requests)
            {
                fault(&key, "has ages, phases or distances of more requests than there are");
            }
            if sum(kind.runs.iter().map(|(_, runs)| *runs)).is_none() {
                fault(&key, "has more runs than can be counted");
            }
        }
    }

    fn check_arrivals(&self, wishes: &Wishes, faults: &mut Vec<Fault>) {
        let shape = &self.arrivals;
        let mut fault = |key: &str, problem: &str| {
            faults.push(Fault::new(format!("model.arrivals.{key}"), problem));
        };
        if shape.tick_ns == 0 || shape.ticks.checked_mul(shape.tick_ns).is_none() {
            fault("tick_ns", "is 0, or makes the time from first to last longer than 2^64 ns");
        }
        if shape.profile_level > 62 {
            return fault("profile_level", "is larger than 62");
        }
        if shape.profile.len() as u64 != (shape.ticks >> shape.profile_level) + 1 {
            fault("profile", "does not have one number of requests per window");
        }
        if sum(shape.profile.iter().copied()) != Some(self.requests) {
            fault("profile", "does not have as many requests as the model");
        }
        let times = u128::from(wishes.requests / self.requests.max(1) + 1);
        let ticks = u128::from(shape.ticks) + (1 << shape.profile_level);
        let last = times.saturating_mul(ticks).saturating_mul(u128::from(shape.tick_ns));
        if last >= 1 << 64 || times.saturating_mul(shape.profile.len() as u128) > WINDOWS_MAX {
            fault("profile", "would last too long for this many rows");
        }
        for split in &shape.splits {
            if split.level >= 63 || split.class >= 63 {
                fault("splits", "have a level or class of more than 62");
            }
            if sum(split.shares.iter().copied().chain([split.one_sided])).is_none() {
                fault("splits", "are more than can be counted");
            }
        }
    }

    fn check_layout(&self, wishes: &Wishes, faults: &mut Vec<Fault>) {
        let layout = &self.layout;
        let mut fault = |key: &str, problem: String| faults.push(Fault::new(key, problem));
        if layout.span_units > SPAN_UNITS_MAX || wishes.span_bytes / UNIT > SPAN_UNITS_MAX {
            fault("span", "is larger than 2^62 bytes".to_owned());
        }
        let largest = self.kinds.iter().map(KindModel::largest).max().unwrap_or(0);
        if wishes.span_bytes < largest {
            let problem =
                format!("{} B are less than the largest request, {largest} B", wishes.span_bytes);
            fault("span", problem);
        }
        let pieces = layout.stretches.iter().flat_map(|s| [s.count, s.units / 64]);
        if sum(pieces).is_none_or(|count| count > PIECES_MAX) {
            fault("model.layout.stretches", "are too many for memory".to_owned());
        }
        let is_sound = |s: &crate::statistics::Stretch| s.count > 0 && s.units >= s.count;
        if !layout.stretches.iter().all(is_sound)
            || sum(layout.stretches.iter().map(|s| s.units)).is_none_or(|u| u > SPAN_UNITS_MAX)
            || sum(layout.stretches.iter().flat_map(|s| [s.reads, s.writes])).is_none()
        {
            fault(
                "model.layout.stretches",
                "have fewer units than stretches, or too many".to_owned(),
            );
        }
        for growth in [&layout.read_growth, &layout.write_growth] {
            let firsts = sum(growth.firsts.iter().copied());
            if growth.part_units == 0 || firsts.is_none() {
                fault("model.layout.read_growth", "(or write_growth) has no parts".to_owned());
            }
        }
        if layout.written_first_share.is_nan() {
            fault("model.layout.written_first_share", "is not a number".to_owned());
        }
        if layout.gaps.iter().any(|gap| gap.units > SPAN_UNITS_MAX)
            || sum(layout.gaps.iter().map(|gap| gap.count)).is_none()
        {
            fault("model.layout.gaps", "are larger than 2^62 bytes".to_owned());
        }
        for (heat, class, _) in layout.reread.iter().chain(&layout.rewrite) {
            if *heat >= 64 || *class >= 126 {
                fault("model.layout.reread", "(or rewrite) has an unknown class".to_owned());
            }
        }
        let counts = |list: &[(u32, u32, u64)]| sum(list.iter().map(|(_, _, count)| *count));
        if counts(&layout.reread).is_none() || counts(&layout.rewrite).is_none() {
            fault("model.layout.reread", "(or rewrite) is more than can be counted".to_owned());
        }
    }
}

fn sum(counts: impl Iterator<Item = u64>) -> Option<u64> {
    counts.into_iter().try_fold(0u64, u64::checked_add)
}
