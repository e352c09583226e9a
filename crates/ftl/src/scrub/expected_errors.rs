//! Scrubbing by an oracle that knows the bit errors of all data. Source: [FAST19].

use super::{Needs, PickOld, Written};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Takes the block with the most expected errors in a codeword, if there are more than `above`; the
/// lowest number breaks ties. A real drive does not know this number without reading.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExpectedErrors {
    /// Expected errors of a codeword that are not too many yet.
    #[serde(default = "fifty")]
    #[schemars(range(min = 0.0))]
    pub above: f64,
}

fn fifty() -> f64 {
    50.0
}

impl Default for ExpectedErrors {
    fn default() -> Self {
        Self { above: fifty() }
    }
}

impl PickOld for ExpectedErrors {
    fn pick(&self, written: Written<'_>) -> Option<usize> {
        written.highest(self.above, |index| written.expected_errors[index])
    }
    fn needs(&self) -> Needs {
        Needs { errors: true, expected_errors: true, above: Some(self.above), ..Needs::default() }
    }
}
