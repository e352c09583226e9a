//! Scrubbing in order of age.

use super::{PickOld, Written};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Takes the block that was closed first; the lowest number breaks ties.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Oldest {}

impl PickOld for Oldest {
    fn pick(&self, written: Written<'_>) -> Option<usize> {
        written.fitting().min_by_key(|index| written.closed_at[*index])
    }
}
