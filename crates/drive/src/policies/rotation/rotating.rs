//! Turns.

use super::{Begins, Group};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One collection after the other, from the choice of a victim to the end of its erase. Source:
/// rotating GC of [FAST17].
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Rotating {
    /// Most collections at a time in a group. Default: 1.
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 64))]
    pub at_once: u32,
}

pub(super) fn one() -> u32 {
    1
}

impl Default for Rotating {
    fn default() -> Self {
        Self { at_once: one() }
    }
}

impl Begins for Rotating {
    fn begins(&self, group: &Group) -> bool {
        group.under_way < self.at_once && !group.others_wait
    }
}
