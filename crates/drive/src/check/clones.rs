//! Checks of clones.

use crate::experiment::{Experiment, Fill};
use settings::Problems;

/// Refuses further ageing of clones without anything to overwrite, or that would have no effect.
pub fn check(experiment: &Experiment, problems: &mut Problems) {
    let Some(bounds) = experiment.cloned.and_then(|clone| clone.overwrites) else { return };
    let precondition = &experiment.precondition;
    if bounds.from > bounds.to {
        problems.push(
            "clone.overwrites",
            format!("from ({}) is above to ({}); exchange them", bounds.from, bounds.to),
        );
    }
    if bounds.to == 0.0 {
        problems.push("clone.overwrites", "ages nothing; raise to, or leave overwrites out");
    }
    if precondition.snapshot.is_none() && precondition.fill == Fill::Empty {
        problems.push(
            "clone.overwrites",
            "an empty drive has no data to overwrite; set precondition.fill = \"sequential\" or \"random\", or leave overwrites out",
        );
    }
    if precondition.in_step {
        problems.push(
            "clone.overwrites",
            "takes the bins out of the step in which precondition.in_step begins; leave one of the two out",
        );
    }
}
