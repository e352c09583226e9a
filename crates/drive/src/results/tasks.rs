//! The firmware's tasks, as `summary.json` has them.

use crate::device::TaskCounts;
use crate::experiment::Experiment;
use crate::measure::Measured;
use serde_json::{Value, json};

/// Tasks that began, and the use of those that there are, in all and by NVM set; null without a limit,
/// or for an untimed run.
pub fn of_run(experiment: &Experiment, measured: &Measured) -> Value {
    let (Some(tasks), Some(counts)) = (experiment.drive.ftl.tasks, measured.tasks()) else {
        return Value::Null;
    };
    if experiment.run.untimed {
        return Value::Null;
    }
    let ns = measured.span().as_ns().max(1) as f64;
    let mut figures = used(&counts.iter().copied().sum(), ns, counts.len());
    figures["most"] = tasks.most.into();
    let of_set = |(set, counts): (usize, &TaskCounts)| {
        let mut figures = used(counts, ns, 1);
        figures["set"] = (set + 1).into();
        figures
    };
    figures["sets"] = (counts.len() > 1)
        .then(|| counts.iter().enumerate().map(of_set).collect::<Vec<_>>())
        .into();
    figures
}

/// Use of the tasks of so many sets in a time.
fn used(counts: &TaskCounts, ns: f64, sets: usize) -> Value {
    json!({
        "begun": counts.begun,
        "mean_busy": counts.busy_ns as f64 / ns,
        "mean_thinking": counts.thinking_ns as f64 / ns,
        "full": counts.full.as_ns() as f64 / ns / sets as f64,
        "greatest": counts.greatest,
    })
}
