//! Closed loops: standstills of their queues, and the percentiles of their reads as an open loop would
//! have them.

use crate::closed_loop::{ClosedLoop, Corrected, Shares, Stood};
use crate::device::{Device, rounded};
use crate::experiment::Experiment;
use crate::measure::{InitiatorStats, Measured};
use host::{Kind, WorkloadConfig};
use metrics::{Latency, State};
use serde_json::{Map, Value, json};

/// Percentiles that are corrected: key, quantile and name.
const PERCENTILES: [(&str, f64, &str); 4] = [
    ("p95", 0.95, "p95"),
    ("p99", 0.99, "p99"),
    ("p99_9", 0.999, "p99.9"),
    ("p99_99", 0.999_9, "p99.99"),
];

/// Factor by which a percentile must be too low for a note, and the least samples beyond it.
const TOO_LOW: f64 = 1.25;
const LEAST_BEYOND: u64 = 10;

/// Share of the time from which on standstills are told. Below it, a tail comes from times in which a part of
/// the queue waits.
const STOOD_LEAST: f64 = 0.0005;

/// Share of the closed loop's rate at which a note proposes an open loop: at the whole rate, the queue of a
/// drive that is busy all the time might grow without end.
const PROPOSED_RATE: f64 = 0.9;

/// Figures of an initiator; null for an open loop.
pub fn of_initiator(stats: &InitiatorStats, measured: &Measured, device: &Device) -> Value {
    let Some(closed) = &stats.closed_loop else { return Value::Null };
    let span = measured.span().as_ns().max(1) as f64;
    let share = |stood: &Stood| stood.time.as_ns() as f64 / span;
    let waits: Map<String, Value> = State::ALL
        .iter()
        .zip(closed.waits_ns)
        .filter(|(_, ns)| *ns > 0)
        .map(|(state, ns)| (state.name().into(), ns.into()))
        .collect();
    let stood = |stood: &Stood| {
        json!({
            "count": stood.count,
            "ns": stood.time.as_ns(),
            "share": share(stood),
            "longest_ns": stood.longest.as_ns(),
        })
    };
    let mut behind_one = stood(&closed.behind_one);
    behind_one["waits_ns"] = waits.into();
    let found = Found::of(stats, measured, device);
    json!({
        "queue_depth": closed.depth,
        "standstills": stood(&closed.all),
        "behind_one_unit": behind_one,
        "erases": found.as_ref().map(|found| json!({
            "time_share": found.shares.erase,
            "read_share": found.met,
        })),
        "corrected_ns": found.as_ref().and_then(|found| found.corrected.as_ref()).map(percentiles),
    })
}

fn percentiles(corrected: &Corrected) -> Value {
    let of = |(key, quantile, _): (&str, f64, _)| {
        (key.to_owned(), json!(corrected.percentile(quantile).as_ns()))
    };
    PERCENTILES.map(of).into_iter().collect::<Map<_, _>>().into()
}

/// Reads of a closed loop, beside the times of the flash.
struct Found<'a> {
    closed: &'a ClosedLoop,
    reads: &'a Latency,
    shares: Shares,
    /// Share of the reads that waited for an erase.
    met: f64,
    corrected: Option<Corrected>,
}

impl<'a> Found<'a> {
    /// None of an open loop, or without reads of flash.
    fn of(stats: &'a InitiatorStats, measured: &Measured, device: &Device) -> Option<Self> {
        let closed = stats.closed_loop.as_deref()?;
        let reads = &stats.kinds[Kind::Read.index()].as_deref()?.latency;
        let units = measured.unit_shares();
        let own = closed.set.map(|set| device.units_of_set(set));
        let is_own = |unit: &usize| own.as_ref().is_none_or(|own| own.contains(unit));
        let shares = Shares::of_units((0..units.len()).filter(is_own).map(|unit| units[unit]))?;
        let met = closed.erases_met(reads);
        Some(Self { closed, reads, shares, met, corrected: closed.corrected(reads, shares) })
    }

    /// The percentile that is the most too low: its name, its latency, and that of an open loop.
    fn worst(&self) -> Option<(&'static str, String, String)> {
        let corrected = self.corrected.as_ref()?;
        let of = |(_, quantile, name): (_, f64, &'static str)| {
            let (own, open) = (self.reads.percentile(quantile)?, corrected.percentile(quantile));
            let factor = open.as_ns() as f64 / own.as_ns().max(1) as f64;
            let is_founded = self.reads.samples_beyond(quantile) >= LEAST_BEYOND;
            (is_founded && factor >= TOO_LOW).then(|| (factor, name, rounded(own), rounded(open)))
        };
        let worst = PERCENTILES.into_iter().filter_map(of).max_by(|a, b| a.0.total_cmp(&b.0))?;
        Some((worst.1, worst.2, worst.3))
    }
}

/// Notes on closed loops whose tail an open loop would not have.
pub fn notes<'a>(
    measured: &'a Measured,
    experiment: &'a Experiment,
    device: &'a Device,
) -> impl Iterator<Item = String> + use<'a> {
    measured.initiators().iter().filter_map(|stats| note(stats, measured, experiment, device))
}

fn note(
    stats: &InitiatorStats,
    measured: &Measured,
    experiment: &Experiment,
    device: &Device,
) -> Option<String> {
    let found = Found::of(stats, measured, device)?;
    let (percentile, own, open) = found.worst()?;
    let (name, depth) = (&stats.name, found.closed.depth);
    let percent = |share: f64| format!("{:.2} %", 100.0 * share);
    let stood = found.closed.behind_one.time.as_ns() as f64 / measured.span().as_ns().max(1) as f64;
    let reason = match depth {
        _ if stood < STOOD_LEAST => {
            "A closed loop sends less while some of its requests wait".to_owned()
        }
        1 => format!(
            "A closed loop sends nothing while its only request waits: behind one flash unit for {} \
             of the time",
            percent(stood)
        ),
        _ => format!(
            "A closed loop sends nothing while all {depth} requests of its queue wait: behind one \
             flash unit for {} of the time",
            percent(stood)
        ),
    };
    Some(format!(
        "{percentile} of the reads of \"{name}\" is {own} in this closed loop, and would be about \
         {open} in an open one{}. {reason}. So {} of the reads waited for an erase, although flash \
         units erased for {} of the time",
        proposal(stats, measured, experiment),
        percent(found.met),
        percent(found.shares.erase),
    ))
}

/// The option with which a workload becomes an open loop; empty for one of which more would change.
fn proposal(stats: &InitiatorStats, measured: &Measured, experiment: &Experiment) -> String {
    let is_it = |workload: &&WorkloadConfig| workload.name == stats.name;
    let place = experiment.workload.iter().position(|workload| is_it(&workload));
    let Some(place) = place else { return String::new() };
    let workload = &experiment.workload[place];
    if workload.trace.is_some() || workload.think_time.is_some() || workload.bursts.is_some() {
        return String::new();
    }
    let requests: u64 = stats.kinds.iter().flatten().map(|kind| kind.latency.count()).sum();
    let rate = PROPOSED_RATE * requests as f64 / measured.span().as_secs_f64().max(1e-9);
    // Two digits.
    let scale = 10f64.powi(rate.max(1.0).log10().floor() as i32 - 1).max(1.0);
    let rate = ((rate / scale).floor() * scale).max(1.0);
    format!(
        " (try --set 'workload[{place}].arrivals={{process=\"poisson\", rate=\"{rate} IOPS\"}}')"
    )
}
