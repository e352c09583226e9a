//! Results of a run: `summary.json`, whose names scripts may rely on (docs/results.md), and tables.

pub mod array;
mod closed_loop;
mod duration;
mod endurance;
mod errors;
mod failures;
mod notes;
mod pressure;
mod recovery;
mod scrub;
mod sets;
mod starvation;
mod steady;
mod tables;
mod tasks;
mod windows;
mod work;

pub use recovery::outage;
pub use starvation::{record as starved, table as starvation};
pub use tables::{Table, Values, tables};
pub use windows::of_device as window_counts;

use crate::check::Checked;
use crate::device::{Device, OpKind};
use crate::experiment::Experiment;
use crate::history::History;
use crate::measure::{InitiatorStats, KindStats, Measured};
use crate::presets;
use crate::run::Run;
use ftl::{BlockState, Ftl, Layout, Source, Stream};
use host::Kind;
use metrics::{Estimate, Holder, Latency, STATES, State};
use nand::NandConfig;
use notes::Judged;
use serde_json::{Map, Value, json};
use steady::Steadiness;
use traces::Survey;
use work::spread;

/// Facts about the run that only the caller knows.
#[derive(Clone, Copy, Debug)]
pub struct Outcome {
    /// CPU time that the simulation took, in seconds.
    pub host_cpu_seconds: f64,
    /// False if the run was interrupted, or if a request that starved ended it.
    pub complete: bool,
}

/// The contents of `summary.json`. Ends measuring.
pub fn summary(
    run: &mut Run,
    experiment: &Experiment,
    checked: &Checked,
    surveys: &[Option<Survey>],
    outcome: Outcome,
) -> Value {
    run.finish();
    let measured = run.measured();
    let is_untimed = experiment.run.untimed;
    let scope = Scope {
        seconds: (!is_untimed).then(|| measured.span().as_secs_f64()),
        records_holds: run.device().records_holds(),
    };
    let steadiness = (!is_untimed).then(|| Steadiness::of_run(run, &checked.layout));
    let steady = steadiness.as_ref().map_or_else(steady::untimed, Steadiness::verdicts);
    let latency_rises = steadiness.as_ref().is_some_and(Steadiness::latency_rises);
    let judged = Judged { steady: &steady, latency_rises };
    let notes = notes::notes(run, experiment, checked, judged);
    let requests = Requests { measured, scope, steadiness: steadiness.as_ref() };
    json!({
        "flashscape": env!("CARGO_PKG_VERSION"),
        "title": experiment.title,
        "complete": outcome.complete,
        "simulated_ns": run.elapsed().as_ns(),
        "counted_ns": measured.span().as_ns(),
        "host_cpu_seconds": outcome.host_cpu_seconds,
        "digest": format!("{:016x}", run.device().digest()),
        "initiators": requests.by_initiator(run.device()),
        "kinds": requests.by_kind(),
        "all": requests.all(),
        "mean_outstanding": (!is_untimed).then(|| measured.mean_outstanding()),
        "flash": flash(measured),
        "write_amplification": write_amplification(measured, &checked.layout),
        "collection": collection(measured, checked.layout.data_units(Stream::Gc), is_untimed),
        "detours": detours(measured),
        "sets": sets::of_run(run, measured),
        "endurance_groups": endurance::groups(run.device().ftl(), &experiment.drive, measured, 0),
        "windows": windows::of_run(run),
        // Only in a run of several drives.
        "array": Value::Null,
        "wear": wear(&[run.device().ftl()], &experiment.drive.nand, measured),
        "utilisation": utilisation(measured, is_untimed),
        "steady_state": steady,
        "cycles": steadiness.as_ref().map_or(Value::Null, Steadiness::cycles),
        "worn_out_bytes": run.worn_out(),
        "starvation": starvation::of_run(run),
        "recovery": recovery::of_run(run),
        "failures": failures::of_run(run, experiment),
        "errors": errors::of_run(run, measured),
        "scrub": scrub::of_run(run, experiment, measured),
        "tasks": tasks::of_run(experiment, measured),
        "pressure": pressure::of_run(experiment, measured, checked.layout.set_count()),
        "precondition": precondition(run.history()),
        "traces": traces(surveys),
        "notes": notes,
        "preset": preset(experiment),
        "config": serde_json::to_value(experiment).expect("a configuration is plain data"),
    })
}

/// Shares of the counted time in which units and channels were busy.
fn utilisation(measured: &Measured, is_untimed: bool) -> Value {
    let busy = |shares: &[f64]| if is_untimed { Value::Null } else { spread(shares) };
    json!({
        "units": busy(&measured.unit_utilisation()),
        "channels": busy(&measured.channel_utilisation()),
    })
}

/// The preset of a drive and its version.
fn preset(experiment: &Experiment) -> Value {
    let preset = experiment.drive.preset.as_deref().and_then(presets::preset);
    preset.map_or(Value::Null, |of| json!({ "name": of.name, "version": of.version }))
}

/// Facts about the requests of a run that decide which figures they have.
#[derive(Clone, Copy)]
struct Scope {
    /// The counted time; `None` for an untimed run, which has no rates.
    seconds: Option<f64>,
    /// True if reads that met collection are counted.
    records_holds: bool,
}

/// Requests of a run.
#[derive(Clone, Copy)]
struct Requests<'a> {
    measured: &'a Measured,
    scope: Scope,
    /// `None` for an untimed run.
    steadiness: Option<&'a Steadiness<'a>>,
}

impl Requests<'_> {
    /// Figures of each initiator by kind, with the figures of its closed loop on a `device`.
    fn by_initiator(self, device: &Device) -> Value {
        let of_one = |(index, stats): (usize, &InitiatorStats)| {
            let mut table = Map::new();
            table.insert("name".into(), stats.name.clone().into());
            for kind in Kind::ALL {
                let empty = KindStats::default();
                let of_kind = stats.kinds[kind.index()].as_deref().unwrap_or(&empty);
                let estimate = self.steadiness.and_then(|of| of.of_requests(index, kind));
                table.insert(kind.name().into(), self.figures([of_kind], estimate));
            }
            let standstills = closed_loop::of_initiator(stats, self.measured, device);
            table.insert("closed_loop".into(), standstills);
            Value::from(table)
        };
        self.measured.initiators().iter().enumerate().map(of_one).collect()
    }

    /// Figures of all initiators together, for each kind that occurred.
    fn by_kind(self) -> Value {
        let mut table = Map::new();
        for kind in Kind::ALL {
            let of_kind = || self.measured.kinds().filter(|(_, of, _)| *of == kind);
            if of_kind().next().is_some() {
                let estimate = self.steadiness.and_then(|of| of.of_all_requests(&[kind]));
                let found = self.figures(of_kind().map(|(_, _, stats)| stats), estimate);
                table.insert(kind.name().into(), found);
            }
        }
        table.into()
    }

    /// Figures of all initiators and kinds together.
    fn all(self) -> Value {
        let estimate = self.steadiness.and_then(|of| of.of_all_requests(&Kind::ALL));
        self.figures(self.measured.kinds().map(|(_, _, stats)| stats), estimate)
    }

    /// Figures of groups together, with the interval of their mean if there is one.
    fn figures<'b>(
        self,
        groups: impl IntoIterator<Item = &'b KindStats>,
        estimate: Option<Estimate>,
    ) -> Value {
        let mut found = figures(groups, self.scope);
        if let Some(estimate) = estimate {
            found["latency_ns"]["mean_ci95"] = estimate.half_width.into();
            found["latency_ns"]["mean_freedom"] = estimate.freedom.into();
        }
        found
    }
}

fn figures<'a>(groups: impl IntoIterator<Item = &'a KindStats>, scope: Scope) -> Value {
    let mut latency = Latency::new();
    let mut blame = [0; STATES];
    let [mut requests, mut bytes, mut unmapped, mut met, mut blocked] = [0; 5];
    let [mut failed, mut failed_units] = [0; 2];
    for stats in groups {
        latency.merge(&stats.latency);
        stats.bands.total().iter().zip(&mut blame).for_each(|(ns, sum)| *sum += ns);
        requests += stats.latency.count() + stats.untimed;
        bytes += stats.bytes;
        unmapped += stats.unmapped;
        failed += stats.failed;
        failed_units += stats.failed_units;
        met += stats.met;
        blocked += stats.blocked;
    }
    let blame: Map<String, Value> = State::ALL
        .iter()
        .zip(blame)
        .filter(|(_, ns)| *ns > 0)
        .map(|(state, ns)| (state.name().into(), ns.into()))
        .collect();
    json!({
        "requests": requests,
        "bytes": bytes,
        "iops": scope.seconds.map(|s| if s > 0.0 { requests as f64 / s } else { 0.0 }),
        "unmapped": unmapped,
        "failed": failed,
        "failed_units": failed_units,
        "met": scope.records_holds.then_some(met),
        "blocked": scope.records_holds.then_some(blocked),
        "latency_ns": latency.to_json(),
        "blame_ns": blame,
    })
}

/// Commands by kind and source (a multi-plane command counts once), and the pages or erase blocks
/// that they worked on.
fn flash(measured: &Measured) -> Value {
    let counters = measured.counters();
    let mut table = Map::new();
    for kind in OpKind::ALL {
        let mut sources = Map::new();
        for holder in Holder::ALL {
            let commands = counters.commands(kind, holder);
            if commands > 0 {
                let planes = counters.planes(kind, holder);
                sources.insert(
                    holder.name().into(),
                    json!({ "commands": commands, "planes": planes }),
                );
            }
        }
        table.insert(kind.name().into(), sources.into());
    }
    table.insert("commands".into(), counters.total().into());
    table.insert("erase_suspensions".into(), counters.suspensions.into());
    table.insert("program_suspensions".into(), counters.program_suspensions.into());
    table.insert("erase_put_offs".into(), counters.put_offs.into());
    table.insert("program_put_offs".into(), counters.program_put_offs.into());
    table.insert("erase_deferrals".into(), counters.deferrals.into());
    table.insert("program_deferrals".into(), counters.program_deferrals.into());
    table.insert("extra_ramps".into(), counters.extra_ramps.into());
    table.insert("extra_pulses".into(), counters.extra_pulses.into());
    table.into()
}

/// Blocks that were collected, and the time from the choice of a block to the end of its erase.
fn collection(measured: &Measured, units_per_block: u32, is_untimed: bool) -> Value {
    let counters = measured.counters();
    let tally = measured.tally();
    // A victim that is not yet erased does not count, even if some of its pages were moved.
    let erased = tally.collected * u64::from(units_per_block);
    let (timed, took) = (counters.collections, counters.collecting.as_ns());
    json!({
        "blocks": if is_untimed { tally.collected } else { timed },
        "mean_ns": (timed > 0).then(|| took as f64 / timed as f64),
        "max_ns": (timed > 0).then(|| counters.longest_collection.as_ns()),
        "streamed_pages": counters.streamed,
        "out_of_turn": counters.out_of_turn,
        "skipped_pages": tally.skipped,
        // Null unless recorded.
        "held": measured.unit_held().map(|shares| spread(&shares)),
        // Invalid units among all units of the erased blocks [ATC08, 3.4].
        "cleaning_efficiency":
            (erased > 0).then(|| (erased - tally.moved) as f64 / erased as f64),
    })
}

/// Mapping units that reads computed from the rest of their stripes, and units read for that alone;
/// and units that updates of stripes did not wait for.
fn detours(measured: &Measured) -> Value {
    let counters = measured.counters();
    json!({
        "computed_units": counters.rebuilt,
        "units_read_besides": counters.read_beside,
        "held_data_units": counters.held_data,
        "held_parity_units": counters.held_parity,
    })
}

/// The sources of programmed data, by their names in results.
const SOURCES: [(Source, &str); 7] = [
    (Source::Host, "host"),
    (Source::Gc, "gc"),
    (Source::Padding, "padding"),
    (Source::Scrub, "scrub"),
    (Source::Summary, "summary"),
    (Source::Parity, "parity"),
    (Source::Rebuild, "rebuild"),
];

/// Bytes programmed over bytes that hosts wrote, in all and by source; null if hosts wrote none.
fn write_amplification(measured: &Measured, layout: &Layout) -> Value {
    let written: u64 = measured
        .initiators()
        .iter()
        .filter_map(|stats| stats.kinds[Kind::Write.index()].as_deref())
        .map(|stats| stats.bytes)
        .sum();
    let tally = measured.tally();
    let ratio =
        |units: u64| (written > 0).then(|| (units * layout.unit_bytes) as f64 / written as f64);
    let mut table = json!({
        "total": ratio(tally.units.iter().sum()),
        "host_bytes": written,
    });
    let mut programmed = json!({});
    for (source, name) in SOURCES {
        let units = tally.units[source as usize];
        table[name] = json!(ratio(units));
        programmed[name] = (units * layout.unit_bytes).into();
    }
    table["programmed_bytes"] = programmed;
    if layout.superblocks.is_some() {
        // By the data that it protects.
        let of = |stream: Stream| ratio(tally.parity_of[stream as usize]);
        table["parity_of"] = json!({
            "host": of(Stream::Host),
            "gc": of(Stream::Gc),
            "scrub": of(Stream::Scrub),
        });
    }
    table
}

/// Erases of each block since the drives were new.
fn wear(drives: &[&Ftl], nand: &NandConfig, measured: &Measured) -> Value {
    let blocks = || drives.iter().flat_map(|ftl| ftl.erase_counts().iter().zip(ftl.block_states()));
    let good = blocks().filter(|(_, state)| **state != BlockState::Bad);
    let counts: Vec<f64> = good.map(|(count, _)| f64::from(*count)).collect();
    let bad = blocks().count() - counts.len();
    json!({
        "erase_count": spread(&counts),
        "erases": measured.tally().erases,
        "erases_since_new": drives.iter().map(|ftl| ftl.tally.erases).sum::<u64>(),
        "good_blocks": counts.len(),
        "bad_blocks": bad,
        "retired": measured.tally().retired,
        "migrations": measured.tally().migrations,
        "suspension": suspension_wear(drives, nand),
    })
}

/// Wear of each block by interruptions since the drives were new; null if nothing is interrupted.
fn suspension_wear(drives: &[&Ftl], nand: &NandConfig) -> Value {
    let strain: Vec<[u32; 2]> =
        drives.iter().flat_map(|ftl| ftl.strain().iter().copied()).collect();
    if strain.is_empty() {
        return Value::Null;
    }
    let of = |index: usize| -> Vec<f64> {
        strain.iter().map(|strain| f64::from(strain[index])).collect()
    };
    let factors: Vec<f64> =
        strain.iter().map(|[ramps, _]| nand.error_rate_factor(*ramps)).collect();
    json!({
        "extra_ramps": spread(&of(0)),
        "extra_pulses": spread(&of(1)),
        "error_rate_factor": spread(&factors),
    })
}

fn precondition(history: &History) -> Value {
    let done = &history.preconditioned;
    let snapshot = history.snapshot.as_ref().map(|origin| {
        json!({
            "flashscape": origin.flashscape,
            "title": origin.title,
            "seed": origin.seed,
            "ran_ns": origin.ran_ns,
            "erases": origin.erases,
            "mapped_units": origin.mapped_units,
        })
    });
    json!({
        "filled_units": done.filled,
        "stale_units": done.stale,
        "aged_units": done.aged,
        "write_amplification": done.write_amplification,
        "steady": done.steady,
        "programmed_units": done.tally.units.iter().sum::<u64>(),
        "erases": done.tally.erases,
        "snapshot": snapshot,
    })
}

/// The traces that were read.
fn traces(surveys: &[Option<Survey>]) -> Value {
    surveys.iter().flatten().map(survey).collect::<Vec<_>>().into()
}

fn survey(survey: &Survey) -> Value {
    let passed = survey.passed.iter().map(|passed| (passed.reason.to_owned(), json!(passed.lines)));
    json!({
        "file": survey.file.display().to_string(),
        "format": survey.format.name(),
        "rows": survey.rows,
        "span_ns": survey.span().as_ns(),
        "bytes": survey.bytes(),
        "passed_over": passed.collect::<serde_json::Map<_, _>>(),
        "read_as": survey.notes,
        "devices": survey.names,
    })
}
