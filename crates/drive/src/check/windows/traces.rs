//! Bytes that the trace of a workload writes in deterministic windows.

use super::rates::{asked_dtwin, bytes_between, written_to};
use crate::experiment::Experiment;
use engine::{Span, Streams};
use ftl::Layout;
use host::{HostError, Issue, Kind, Request, Source, WorkloadConfig};
use std::collections::VecDeque;
use traces::Survey;

/// A sentence on a trace that is replayed by its stamps, if it writes more in the time of a
/// deterministic window than lies between the thresholds of garbage collection: in the mean, or in its
/// busiest stretch. Reads the trace once more.
///
/// # Errors
/// If the trace cannot be read any more.
pub fn notes(
    experiment: &Experiment,
    layout: &Layout,
    workload: &WorkloadConfig,
    survey: &Survey,
) -> Result<Option<String>, HostError> {
    let Some((key, dtwin)) = asked_dtwin(experiment).filter(|_| experiment.array.is_none()) else {
        return Ok(None);
    };
    let Some(found) = written(experiment, layout, workload, (survey, dtwin.span()))? else {
        return Ok(None);
    };
    let set = workload.nvm_set.unwrap_or(1) - 1;
    let room = bytes_between(experiment, layout, set) as f64;
    let seconds = dtwin.span().as_secs_f64();
    let beside = written_to(experiment, layout, set, seconds);
    let [mean, most] = [found.mean_in(seconds), found.most as f64].map(|bytes| bytes + beside);
    if most <= room {
        return Ok(None);
    }
    let others = if beside > 0.0 { ", open loops of its NVM set or drive included" } else { "" };
    let often = if mean > room {
        "most deterministic windows end"
    } else {
        "some deterministic windows may end"
    };
    Ok(Some(format!(
        "in {dtwin} ({key}) it writes {:.1} MB in the mean and {:.1} MB at most{others}, and {:.1} MB lie between the background and the foreground threshold of drive.ftl.gc: {often} before the host ends them; choose a shorter time, or raise drive.ftl.gc.background",
        mean / 1e6,
        most / 1e6,
        room / 1e6,
    )))
}

/// Bytes of mapping units that a trace writes.
struct Written {
    bytes: u64,
    /// From its first request to its last.
    lasts: Span,
    /// In the busiest stretch of a length.
    most: u64,
}

impl Written {
    /// Mean bytes in so many seconds; all bytes of a trace that is shorter.
    fn mean_in(&self, seconds: f64) -> f64 {
        self.bytes as f64 * (seconds / self.lasts.as_secs_f64()).min(1.0)
    }
}

/// Writes of a trace, and most of them in a stretch of a length; `None` if it is replayed in a closed
/// loop.
fn written(
    experiment: &Experiment,
    layout: &Layout,
    workload: &WorkloadConfig,
    (survey, length): (&Survey, Span),
) -> Result<Option<Written>, HostError> {
    let namespace = experiment.namespace(layout, workload);
    let streams = Streams::new(experiment.run_seed());
    let mut sources = Vec::new();
    for initiator in workload.expand(Some(survey)) {
        sources.push(Source::build_surveyed(&initiator, Some(survey), namespace, streams)?);
    }
    if !sources.iter().all(Source::is_open_loop) {
        return Ok(None);
    }
    let end = experiment.run.time.map(|time| time.span());
    let mut heads = Vec::new();
    for source in &mut sources {
        heads.push(source.next()?);
    }
    let (mut first, mut last, mut stretch) = (None, Span::ZERO, Stretch::new(length));
    for _ in 0..experiment.run.requests.unwrap_or(u64::MAX) {
        let next = (0..heads.len()).filter_map(|index| Some((moment(heads[index])?, index))).min();
        let Some((at, index)) = next.filter(|(at, _)| end.is_none_or(|end| *at < end)) else {
            break;
        };
        let request = std::mem::replace(&mut heads[index], sources[index].next()?);
        let command = request.expect("it has a moment").command;
        first = first.or(Some(at));
        last = at;
        if command.kind == Kind::Write {
            let unit = layout.unit_bytes;
            let units = command.end().div_ceil(unit) - command.offset / unit;
            stretch.add(at, units * unit);
        }
    }
    let lasts = first.map_or(Span::ZERO, |first| last - first);
    Ok(Some(Written { bytes: stretch.all, lasts, most: stretch.most }))
}

fn moment(request: Option<Request>) -> Option<Span> {
    match request?.issue {
        Issue::At(at) => Some(at),
        Issue::After(_) => None,
    }
}

/// The busiest stretch of a length.
struct Stretch {
    length: Span,
    /// Moments and bytes of the writes in the last stretch, and their sum.
    inside: VecDeque<(Span, u64)>,
    sum: u64,
    most: u64,
    all: u64,
}

impl Stretch {
    fn new(length: Span) -> Self {
        Self { length, inside: VecDeque::new(), sum: 0, most: 0, all: 0 }
    }

    /// Adds a write, not before the one added last.
    fn add(&mut self, at: Span, bytes: u64) {
        self.inside.push_back((at, bytes));
        (self.sum, self.all) = (self.sum + bytes, self.all + bytes);
        while let Some((then, gone)) = self.inside.front().copied()
            && at - then > self.length
        {
            self.inside.pop_front();
            self.sum -= gone;
        }
        self.most = self.most.max(self.sum);
    }
}

#[cfg(test)]
mod tests {
    use super::Stretch;
    use engine::Span;

    #[test]
    fn the_busiest_stretch_is_that_of_a_plain_sum() {
        let writes: Vec<(u64, u64)> =
            (0..200u64).map(|k| (k * k % 701 * 3, 1 + k * 37 % 11)).collect();
        for length in [0, 5, 90, 3_000] {
            let mut ordered = writes.clone();
            ordered.sort();
            let mut stretch = Stretch::new(Span::from_ns(length));
            ordered.iter().for_each(|(at, bytes)| stretch.add(Span::from_ns(*at), *bytes));
            let from = |begin: u64| -> u64 {
                let inside = |(at, _): &&(u64, u64)| (begin..=begin + length).contains(at);
                writes.iter().filter(inside).map(|(_, bytes)| bytes).sum()
            };
            let plain = writes.iter().map(|(at, _)| from(*at)).max();
            assert_eq!(Some(stretch.most), plain, "{length}");
            assert_eq!(stretch.all, writes.iter().map(|(_, bytes)| bytes).sum::<u64>());
        }
    }
}
