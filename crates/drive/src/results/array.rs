//! Results of a run of several drives: `summary.json` with the keys of any run, in which counts of flash
//! are those of all drives together, and `array` with the plan, each drive and each member.

use super::{
    Outcome, Requests, Scope, collection, detours, endurance, flash, notes, precondition, pressure,
    tables, traces, wear, window_counts, write_amplification,
};
use crate::array::config::PlanConfig;
use crate::array::{ArrayRun, PlanCounts, Written};
use crate::check::Checked;
use crate::experiment::Experiment;
use crate::results::Table;
use crate::results::notes::Judged;
use crate::results::steady::Steadiness;
use crate::results::work::{spread, work};
use ftl::{Ftl, Layout, SetId, Stream, Tally};
use serde_json::{Value, json};
use traces::Survey;

/// The contents of `summary.json`. Ends measuring.
pub fn summary(
    run: &mut ArrayRun,
    experiment: &Experiment,
    checked: &Checked,
    surveys: &[Option<Survey>],
    outcome: Outcome,
) -> Value {
    run.finish();
    let (run, measured) = (&*run, run.measured());
    let scope = Scope {
        seconds: Some(measured.span().as_secs_f64()),
        records_holds: experiment.record.collection,
    };
    let drives: Vec<&Ftl> = run.drives().devices.iter().map(|device| device.ftl()).collect();
    let steadiness = Steadiness::new(measured, &checked.layout, None);
    let steady = steadiness.verdicts();
    let judged = Judged { steady: &steady, latency_rises: steadiness.latency_rises() };
    let notes = notes::of_array(run, experiment, checked, judged);
    let requests = Requests { measured, scope, steadiness: Some(&steadiness) };
    json!({
        "flashscape": env!("CARGO_PKG_VERSION"),
        "title": experiment.title,
        "complete": outcome.complete,
        "simulated_ns": run.elapsed().as_ns(),
        "counted_ns": measured.span().as_ns(),
        "host_cpu_seconds": outcome.host_cpu_seconds,
        "digest": format!("{:016x}", run.digest()),
        "initiators": requests.by_initiator(&run.drives().devices[0]),
        "kinds": requests.by_kind(),
        "all": requests.all(),
        "mean_outstanding": measured.mean_outstanding(),
        "flash": flash(measured),
        "write_amplification": write_amplification(measured, &checked.layout),
        "collection": collection(measured, checked.layout.data_units(Stream::Gc), false),
        "detours": detours(measured),
        "sets": Value::Null,
        "endurance_groups": Value::Null,
        "windows": Value::Null,
        "array": of_array(run, experiment, &checked.layout),
        "wear": wear(&drives, &experiment.drive.nand, measured),
        "utilisation": super::utilisation(measured, false),
        "steady_state": steady,
        "cycles": steadiness.cycles(),
        "worn_out_bytes": Value::Null,
        "starvation": Value::Null,
        "recovery": Value::Null,
        "failures": Value::Null,
        "errors": Value::Null,
        "scrub": Value::Null,
        "tasks": Value::Null,
        "pressure": Value::Null,
        "precondition": precondition(&run.drives().histories[0]),
        "traces": traces(surveys),
        "notes": notes,
        "preset": super::preset(experiment),
        "config": serde_json::to_value(experiment).expect("a configuration is plain data"),
    })
}

/// The tables of a run whose measuring has ended.
pub fn tables_of(run: &ArrayRun) -> Vec<Table> {
    tables::of_array(run)
}

/// The plan, the drives and the members.
fn of_array(run: &ArrayRun, experiment: &Experiment, layout: &Layout) -> Value {
    let drives = run.drives().devices.len() as u32;
    let members = drives * layout.set_count();
    json!({
        "plan": plan(run, experiment),
        "drives": (0..drives).map(|index| drive(run, experiment, layout, index)).collect::<Vec<_>>(),
        "members": (0..members).map(|index| member(run, experiment, layout, index)).collect::<Vec<_>>(),
    })
}

/// Counts of the plan, the warm-up included.
fn plan(run: &ArrayRun, experiment: &Experiment) -> Value {
    // A plan in Python counts for itself.
    let counts = run.plan_counts();
    let plan = experiment.array.as_ref().map(|array| &array.plan);
    let is_own = matches!(plan, Some(PlanConfig::Python(_)));
    let of = |count: u64| (!is_own).then_some(count);
    json!({
        "swaps": of(counts.swaps),
        "kept_writes": of(counts.kept),
        "peak_cache_bytes": of(counts.peak_bytes),
        "writes_delayed": of(counts.delayed),
        "reads_cached": of(counts.cached),
        "reads_cached_in_part": of(counts.cached_in_part),
        "parts_rebuilt": of(counts.rebuilt),
        "collecting_at_swaps": run.unsettled(),
        "hedges": {
            "issued": of(counts.hedges),
            "sent": of(counts.sent),
            "cancelled": of(counts.cancelled),
            "won": of(counts.won),
        },
        "leveling": run.written().map(|members| leveling(&counts, members)),
    })
}

/// Counts of a plan that levels wear.
fn leveling(counts: &PlanCounts, members: &[Written]) -> Value {
    let host_bytes: u64 = members.iter().map(|written| written.host).sum();
    let member =
        |written: &Written| json!({ "host_bytes": written.host, "copied_bytes": written.copied });
    json!({
        "exchanges": counts.exchanges,
        "host_bytes": host_bytes,
        "copied_bytes": counts.copied_bytes,
        "members": members.iter().map(member).collect::<Vec<_>>(),
    })
}

fn drive(run: &ArrayRun, experiment: &Experiment, layout: &Layout, index: u32) -> Value {
    let (at, measured) = (index as usize, run.measured());
    let device = &run.drives().devices[at];
    let sets = layout.set_count();
    let tally: Tally =
        (index * sets..(index + 1) * sets).map(|set| measured.tally_of(SetId(set))).sum();
    let own = |shares: Vec<f64>| {
        let each = shares.len() / run.drives().devices.len();
        spread(&shares[at * each..(at + 1) * each])
    };
    let ftl = device.ftl();
    json!({
        "drive": index,
        "digest": format!("{:016x}", device.digest()),
        "work": work(&tally, layout),
        "endurance_groups": endurance::groups(ftl, &experiment.drive, measured, index * sets),
        "erase_count": wear(&[ftl], &experiment.drive.nand, measured)["erase_count"],
        "erases_since_new": ftl.tally.erases,
        "utilisation": {
            "units": own(measured.unit_utilisation()),
            "channels": own(measured.channel_utilisation()),
        },
        "precondition": precondition(&run.drives().histories[at]),
    })
}

/// A member: a drive, or an NVM set of one.
fn member(run: &ArrayRun, experiment: &Experiment, layout: &Layout, index: u32) -> Value {
    let measured = run.measured();
    let sets = layout.set_count();
    json!({
        "member": index,
        "drive": index / sets,
        "nvm_set": (sets > 1).then_some(index % sets + 1),
        "windows": window_counts(&run.drives().devices[(index / sets) as usize], SetId(index % sets)),
        "pressure": pressure::of_set(experiment, measured, SetId(index), index % sets + 1),
        "work": work(&measured.tally_of(SetId(index)), layout),
    })
}
