//! Read recovery by the protection of the data.

use super::{NextStep, Step, Undecoded};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Gives up re-reading early if the stripe can rebuild the data. Source: the conditional re-read of
/// HRM [FAST19], which does not state the limits.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Conditional {
    /// Most re-reads of data that its stripe can rebuild.
    pub protected: u32,
    /// Most re-reads of other data. Default: as many as it takes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unprotected: Option<u32>,
}

impl Default for Conditional {
    fn default() -> Self {
        Self { protected: 1, unprotected: None }
    }
}

impl NextStep for Conditional {
    fn next(&self, data: &Undecoded) -> Step {
        let most = if data.is_protected { Some(self.protected) } else { self.unprotected };
        data.after_re_reads(most)
    }
}
