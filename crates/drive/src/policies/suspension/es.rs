//! Erase suspension as it was first proposed (G. Wu and X. He, FAST'12): at once, at any point of
//! the pulse, and the executed part of the pulse counts.

use super::{Asked, Interruption, Interrupts};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Interrupts the operation at once and keeps the executed part of the pulse.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Es {}

impl Interrupts for Es {
    fn interrupts(&self, _: &Asked) -> Interruption {
        Interruption::Suspend
    }
}
