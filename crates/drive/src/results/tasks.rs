//! The firmware's tasks, as `summary.json` has them.

use crate::experiment::Experiment;
use crate::measure::Measured;
use serde_json::{Value, json};

/// Tasks that began, and the use of those that there are; null without a limit, or for an untimed run.
pub fn of_run(experiment: &Experiment, measured: &Measured) -> Value {
    let (Some(tasks), Some(counts)) = (experiment.drive.ftl.tasks, measured.tasks()) else {
        return Value::Null;
    };
    if experiment.run.untimed {
        return Value::Null;
    }
    let ns = measured.span().as_ns().max(1) as f64;
    json!({
        "most": tasks.most,
        "begun": counts.begun,
        "mean_busy": counts.busy_ns as f64 / ns,
        "mean_thinking": counts.thinking_ns as f64 / ns,
        "full": counts.full.as_ns() as f64 / ns,
        "greatest": counts.greatest,
    })
}
