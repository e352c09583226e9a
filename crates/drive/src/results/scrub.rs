//! Scrubbing, as `summary.json` has it.

use crate::experiment::Experiment;
use crate::measure::Measured;
use crate::run::Run;
use ftl::Source;
use serde_json::{Value, json};
use settings::counted;

/// Polls, and the data that was moved for the policy's reason; null without scrubbing.
pub fn of_run(run: &Run, experiment: &Experiment, measured: &Measured) -> Value {
    let (Some(scrub), Some(counts)) = (&experiment.drive.ftl.scrub, measured.scrub()) else {
        return Value::Null;
    };
    let choice = serde_json::to_value(&scrub.choice).expect("a configuration is plain data");
    json!({
        "policy": choice["policy"],
        "polls": counts.polls,
        "taken": counts.taken,
        "blocks": counts.blocks,
        "units": measured.tally().units[Source::Scrub as usize],
        "expected_errors": limit(run, experiment).map(|(above, highest, left)| json!({
            "above": above,
            "highest": highest,
            "blocks_above": left,
        })),
    })
}

/// The limit of expected errors, the highest at the last poll of each bin, and the number of blocks
/// above the limit that these polls left.
fn limit(run: &Run, experiment: &Experiment) -> Option<(f64, f64, u32)> {
    let above = experiment.drive.ftl.scrub.as_ref()?.choice.needs().above?;
    let (highest, left) = run.device().scrub_found()?;
    Some((above, highest, left))
}

/// A note if scrubbing could not get below its limit.
pub fn note(run: &Run, experiment: &Experiment) -> Option<String> {
    let (above, highest, left) = limit(run, experiment)?;
    (left > 0).then(|| {
        format!(
            "scrubbing did not get all data down to {above} expected errors a codeword: when each bin was polled last, {} stayed above, the worst block with {highest:.1}; fresh data may have as many, or scrubbing needs a shorter interval or a higher rate",
            counted(left, "block"),
        )
    })
}
