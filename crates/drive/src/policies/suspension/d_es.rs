//! Deferred suspension (ATC'19): a step that has begun is completed, so that at least one step
//! comes before each suspension.

use super::{Asked, Interruption, Interrupts};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Suspends the operation at the end of its step.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DEs {}

impl Interrupts for DEs {
    fn interrupts(&self, _: &Asked) -> Interruption {
        Interruption::AtStepEnd
    }
}
