//! Outstanding programs, as `summary.json` has them.

use crate::experiment::Experiment;
use crate::measure::Measured;
use ftl::SetId;
use serde_json::{Value, json};

/// Figures of each NVM set, numbered from 1, of which a drive without sets has one; null without a limit.
pub fn of_run(experiment: &Experiment, measured: &Measured, sets: u32) -> Value {
    if experiment.drive.ftl.pressure.is_none() {
        return Value::Null;
    }
    (0..sets)
        .map(|set| of_set(experiment, measured, SetId(set), set + 1))
        .collect::<Vec<_>>()
        .into()
}

/// Figures of a set with a number; null without a limit.
pub fn of_set(experiment: &Experiment, measured: &Measured, set: SetId, number: u32) -> Value {
    let (Some(pressure), Some(counts)) = (experiment.drive.ftl.pressure, measured.pressure(set))
    else {
        return Value::Null;
    };
    let ns = measured.span().as_ns().max(1) as f64;
    json!({
        "set": number,
        "most": pressure.programs,
        "programs": counts.programs,
        "waited": counts.waited,
        "mean": counts.taken_ns as f64 / ns,
        "full": counts.full.as_ns() as f64 / ns,
        "greatest": counts.greatest,
    })
}
