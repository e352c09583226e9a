//! Scrubbing by benefit over cost: the judicious scrub of HRM. Source: [FAST19].

use super::{Needs, PickOld, Written};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Takes the block with the most re-reads since its erase for each valid page, if there are more than
/// `above`; the lowest number breaks ties. Its re-reads are the benefit of moving its data, and its
/// valid pages are the cost. [FAST19] does not say from which ratio on a block is taken.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CostBenefit {
    /// Re-reads for each valid page that are not too many yet.
    #[serde(default = "one")]
    #[schemars(range(min = 0.0))]
    pub above: f64,
}

fn one() -> f64 {
    1.0
}

impl Default for CostBenefit {
    fn default() -> Self {
        Self { above: one() }
    }
}

impl PickOld for CostBenefit {
    fn pick(&self, written: Written<'_>) -> Option<usize> {
        let ratio = |index: usize| f64::from(written.re_reads[index]) / written.valid_pages(index);
        written.highest(self.above, ratio)
    }
    fn needs(&self) -> Needs {
        Needs { errors: true, ..Needs::default() }
    }
}
