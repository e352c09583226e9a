//! Operations in the order in which they were asked for.

use super::{Asking, Turn, Turns};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// First come, first served.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct InOrder {}

impl Turns for InOrder {
    #[inline]
    fn turn(&self, _: &Asking) -> Turn {
        Turn::Oldest
    }
}
