//! Failures of flash and the rebuild, as `summary.json` has them.

use crate::device::rounded;
use crate::experiment::Experiment;
use crate::run::Run;
use engine::Instant;
use serde_json::{Value, json};
use settings::{counted, each};

/// Failures of flash, what they cost, and the progress of the rebuild; null if none is configured.
pub fn of_run(run: &Run, experiment: &Experiment) -> Value {
    if experiment.run.failures.is_empty() {
        return Value::Null;
    }
    let (device, counters) = (run.device(), run.measured().counters());
    let failures = device.failures().map(|failure| {
        json!({
            "at_ns": failure.at.as_ns(),
            "what": failure.what,
            "pools": failure.pools.iter().map(|pool| pool.0).collect::<Vec<_>>(),
            "lost_units": failure.lost,
        })
    });
    let progress = device.rebuild();
    let rebuild = progress.began.map(|began| {
        json!({
            "began_ns": began.as_ns(),
            "ended_ns": progress.ended.map(Instant::as_ns),
            "units": progress.units,
            "lacks_room": progress.lacks_room,
            "progress": progress.samples.iter().map(|(at, units)| [at.as_ns(), *units]).collect::<Vec<_>>(),
        })
    });
    json!({
        "failures": failures.collect::<Vec<_>>(),
        "lost_units": device.lost_units(),
        "computed_units": counters.computed_lost,
        "retried_units": counters.retried,
        "units_without_room": counters.degraded,
        "rebuild": rebuild,
    })
}

/// Notes on failures, in sentences.
pub fn notes(run: &Run, experiment: &Experiment) -> Vec<String> {
    let (all, came) = (experiment.run.failures.len(), run.device().failures().count());
    let mut notes = Vec::new();
    if came < all {
        notes.push(match (came, all) {
            (0, 1) => "the run ended before its failure of flash".into(),
            (0, _) => format!("the run ended before the first of its {all} failures of flash"),
            _ => format!("the run ended after {came} of its {all} failures of flash"),
        });
    }
    let (lost, progress) = (run.device().lost_units(), run.device().rebuild());
    if lost > 0 {
        let units = counted(lost, "mapping unit");
        let are = each(lost, "is", "are");
        notes.push(match (progress.began, progress.ended) {
            (Some(_), None) => format!("the run ended before the rebuild: {units} {are} still lost"),
            (Some(_), Some(at)) if progress.lacks_room => format!(
                "the drive stays degraded: since {} no flash has room for more, and {units} {are} lost",
                rounded(at - Instant::START)
            ),
            _ => format!("the drive stays degraded: {units} {are} lost"),
        });
    }
    notes
}
