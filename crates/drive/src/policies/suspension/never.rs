//! No erase makes way.

use super::{SafePoint, YieldAt};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Goes on.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Never {}

impl YieldAt for Never {
    fn yields(&self, _: &SafePoint) -> bool {
        false
    }
}
