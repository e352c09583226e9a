//! Erase suspension as it was first proposed (G. Wu and X. He, FAST'12): at once, wherever
//! the pulse is, and what was executed of it counts.

use super::{Asked, Interruption, Interrupts};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Is interrupted at once and keeps what was executed of the pulse.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Es {}

impl Interrupts for Es {
    fn interrupts(&self, _: &Asked) -> Interruption {
        Interruption::Suspend
    }
}
