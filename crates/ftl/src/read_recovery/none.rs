//! No read recovery.

use super::{NextStep, Step, Undecoded};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Gives up at once, as the fastest read recovery level of NVMe does: other copies of the data are
/// elsewhere.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct None {}

impl NextStep for None {
    fn next(&self, _: &Undecoded) -> Step {
        Step::GiveUp
    }
}
