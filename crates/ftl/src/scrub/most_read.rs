//! Scrubbing against read disturb.

use super::{PickOld, Written};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Takes the block with the most rows sensed since its erase, if there were at least `reads`; the
/// lowest number breaks ties.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MostRead {
    /// Rows sensed in a block before it may be taken.
    #[schemars(range(min = 1))]
    pub reads: u32,
}

impl Default for MostRead {
    fn default() -> Self {
        Self { reads: 1 }
    }
}

impl PickOld for MostRead {
    fn pick(&self, written: Written<'_>) -> Option<usize> {
        let worn = written.fitting().filter(|index| written.sensed[*index] >= self.reads);
        worn.max_by_key(|index| (written.sensed[*index], std::cmp::Reverse(*index)))
    }
}
