//! Suspension without cost, the bound that the ATC'19 paper compares with.

use super::{Asked, Interruption, Interrupts};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Freezes the operation at once and resumes it at the same point.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct IdealEs {}

impl Interrupts for IdealEs {
    fn interrupts(&self, _: &Asked) -> Interruption {
        Interruption::Freeze
    }
}
