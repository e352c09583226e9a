//! Scrubbing that finds out by reading.

use super::{Needs, PickOld, Written};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Reads a page of the next block in turn, and takes the block if that needed re-reads, or failed.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Patrol {
    /// Re-reads that the page must need before its block is taken.
    #[serde(default = "one")]
    #[schemars(range(min = 1))]
    pub re_reads: u32,
}

fn one() -> u32 {
    1
}

impl Default for Patrol {
    fn default() -> Self {
        Self { re_reads: one() }
    }
}

impl PickOld for Patrol {
    fn pick(&self, written: Written<'_>) -> Option<usize> {
        let mut from_turn = (written.turn..written.valid.len()).filter(|at| written.fits(*at));
        from_turn.next().or_else(|| written.fitting().next())
    }
    fn needs(&self) -> Needs {
        Needs { errors: true, patrol: Some(self.re_reads), ..Needs::default() }
    }
}
