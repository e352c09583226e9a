//! Immediate erase suspension (ATC'19): the pulse is given up, so an erase may starve if reads come
//! more often than a verify and a step last.

use super::{Asked, Interruption, Interrupts};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Interrupts the operation at once and gives the pulse up.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct IEs {}

impl Interrupts for IEs {
    fn interrupts(&self, _: &Asked) -> Interruption {
        Interruption::Cancel
    }
}
