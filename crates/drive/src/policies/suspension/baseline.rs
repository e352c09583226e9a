//! Nothing is suspended.

use super::{Asked, Interruption, Interrupts};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Lets the operation go on.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Baseline {}

impl Interrupts for Baseline {
    fn interrupts(&self, _: &Asked) -> Interruption {
        Interruption::GoOn
    }
}
