//! An erase makes way between its steps: a step that has begun is given whole, so that each
//! suspension follows at least one step (Kim et al., ATC'19, deferred suspension).

use super::{SafePoint, YieldAt};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Makes way, but no more than `most` times in an erase.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AtSteps {
    /// Suspensions of one erase at most. Without it: as many as there are safe points.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub most: Option<u32>,
}

impl YieldAt for AtSteps {
    fn yields(&self, at: &SafePoint) -> bool {
        self.most.is_none_or(|most| at.suspensions < most)
    }
}
