//! Read recovery in a fixed order.

use super::{NextStep, Step, Undecoded};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Re-reads up to a limit, then soft decoding (`nand.errors.soft_decoding`), then the rest of the
/// stripe, as far as each is there.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Ladder {
    /// Most re-reads of data that cannot be decoded. Default: as many as it takes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub re_reads: Option<u32>,
}

impl NextStep for Ladder {
    fn next(&self, data: &Undecoded) -> Step {
        data.after_re_reads(self.re_reads)
    }
}
