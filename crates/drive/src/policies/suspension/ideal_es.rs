//! Suspension without cost, the bound that the ATC'19 paper compares with.

use super::{Asked, Interruption, Interrupts};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Stands still at once and goes on where it was.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct IdealEs {}

impl Interrupts for IdealEs {
    fn interrupts(&self, _: &Asked) -> Interruption {
        Interruption::Freeze
    }
}
