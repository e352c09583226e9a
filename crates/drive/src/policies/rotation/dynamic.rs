//! Turns, as long as there is space.

use super::rotating::{Rotating, one};
use super::{Begins, Group};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use settings::Share;

/// As `rotating`, but no turns while more than a share of all bins is short of space. Source: dynamic
/// rotating GC in the released code of [FAST17], which compares two rates besides (docs/decisions).
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Dynamic {
    /// Most collections at a time in a group while they take turns. Default: 1.
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 64))]
    pub at_once: u32,
    /// Share of bins at or below the foreground threshold above which there are no turns. Default:
    /// 30 %.
    #[serde(default = "third")]
    pub short: Share,
}

fn third() -> Share {
    Share::from_percent(30)
}

impl Default for Dynamic {
    fn default() -> Self {
        Self { at_once: one(), short: third() }
    }
}

impl Begins for Dynamic {
    fn begins(&self, group: &Group) -> bool {
        group.short > self.short.fraction() || Rotating { at_once: self.at_once }.begins(group)
    }
}
