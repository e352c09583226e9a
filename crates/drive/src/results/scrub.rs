//! Scrubbing, as `summary.json` has it.

use crate::device::ScrubCounts;
use crate::experiment::Experiment;
use crate::measure::Measured;
use crate::run::Run;
use ftl::{SetId, Source, Tally};
use serde_json::{Value, json};
use settings::counted;

/// Polls, and the data that was moved for the policy's reason; null without scrubbing.
pub fn of_run(run: &Run, experiment: &Experiment, measured: &Measured) -> Value {
    let (Some(scrub), Some(counts)) = (&experiment.drive.ftl.scrub, measured.scrub()) else {
        return Value::Null;
    };
    let choice = serde_json::to_value(&scrub.choice).expect("a configuration is plain data");
    let mut figures = scrubbed(&counts.iter().copied().sum(), &measured.tally());
    figures["policy"] = choice["policy"].clone();
    figures["expected_errors"] =
        json!(limit(run, experiment).map(|(above, highest, left)| json!({
            "above": above,
            "highest": highest,
            "blocks_above": left,
        })));
    let of_set = |(set, counts): (u32, &ScrubCounts)| {
        let mut figures = scrubbed(counts, &measured.tally_of(SetId(set)));
        figures["set"] = (set + 1).into();
        figures
    };
    figures["sets"] =
        json!((counts.len() > 1).then(|| (0..).zip(&counts).map(of_set).collect::<Vec<_>>()));
    figures
}

/// Polls, blocks, and units that were programmed.
fn scrubbed(counts: &ScrubCounts, tally: &Tally) -> Value {
    json!({
        "polls": counts.polls,
        "taken": counts.taken,
        "blocks": counts.blocks,
        "units": tally.units[Source::Scrub as usize],
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
