//! Reads before all other operations.

use super::{Asking, Turn, Turns};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Reads go first until none waits.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Drain {}

impl Turns for Drain {
    #[inline]
    fn turn(&self, asking: &Asking) -> Turn {
        Turn::Goes { bound: asking.bound.filter(|_| asking.others_wait) }
    }
}
