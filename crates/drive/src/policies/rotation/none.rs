//! No turns.

use super::{Begins, Group};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Every collection may begin.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Free {}

impl Begins for Free {
    fn begins(&self, _: &Group) -> bool {
        true
    }
}
