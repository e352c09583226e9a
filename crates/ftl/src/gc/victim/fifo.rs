//! FIFO: the flash as a circular log.

use super::{Candidates, Choose};
use engine::Stream;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Takes the block that was closed first among those that gain space; the
/// lowest number breaks ties.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Fifo {}

impl Choose for Fifo {
    fn choose(&self, candidates: Candidates<'_>, _: &mut Stream) -> Option<usize> {
        candidates.gaining().min_by_key(|index| candidates.closed_at[*index])
    }
}
