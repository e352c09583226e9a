//! Scrubbing: the choice of the block that is rewritten before its data decays ([`ScrubChoice`],
//! one file a policy). The caller decides when to scrub and moves the pages.
//!
//! A new policy is a file here and a line of the list below: its tag, the list in error messages,
//! the schema, the documentation and the contract tests follow from the line.

mod written;

pub use python::ScrubOutside;
pub use written::{Needs, PickOld, Polled, Written};

use crate::streams::Stream;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use settings::{Rate, Time};

/// Scrubbing. Its operations wait for all others of their unit, like those of background GC.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ScrubConfig {
    /// Time between two polls in each NVM set; its bins are polled in turn.
    pub interval: Time,
    /// Policy that chooses the block of the bin to rewrite, if any.
    pub choice: ScrubChoice,
    /// Destination of the pages that scrubbing moves. Default: `collection`.
    #[serde(default)]
    pub stream: ScrubStream,
    /// The task that moves the blocks. Default: `turns`.
    #[serde(default)]
    pub task: ScrubTask,
    /// Batches of a block that may be in progress at a time, if the task is its own. Default: 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 64))]
    pub window: Option<u32>,
    /// Most data that is moved in a time in each NVM set, if the task is its own: after a block, the next one begins
    /// when its data would have been moved at this rate. Default: no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<Rate>,
}

/// The task that moves the blocks of scrubbing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ScrubTask {
    /// The task of the bin's collection: scrubbing and collection take turns. If the bin's GC is in
    /// the foreground or in debt and waits for a scrub to end, the operations of the scrub go first
    /// as well.
    #[default]
    Turns,
    /// A task of its own in each bin, beside collection. Source: [FAST19].
    Own,
}

/// Destination of the pages that scrubbing moves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ScrubStream {
    /// The open blocks of collection.
    #[default]
    Collection,
    /// Open blocks of their own, apart from host writes and collection; those of collection while
    /// a bin has no free block to spare.
    Own,
}

impl ScrubStream {
    /// The stream that scrubbing writes to.
    pub fn stream(self) -> Stream {
        match self {
            Self::Collection => Stream::Gc,
            Self::Own => Stream::Scrub,
        }
    }
}

settings::family! {
    /// Policy that chooses the block to scrub next.
    ScrubChoice asks pick(written: Written<'_>) -> Option<usize>, and needs() -> Needs;
    /// The block that was closed first.
    "oldest" => oldest::Oldest,
    /// The block with the most reads since its erase, once they reach a limit.
    "most-read" => most_read::MostRead,
    /// The block with the most expected errors in a codeword, if there are too many.
    "expected-errors" => expected_errors::ExpectedErrors,
    /// The block whose data is oldest, once it reaches an age.
    "refresh" => refresh::Refresh,
    /// The block with the most re-reads for each valid page, if there are too many.
    "cost-benefit" => cost_benefit::CostBenefit,
    /// The next block in turn, if a read of one of its pages needs re-reads.
    "patrol" => patrol::Patrol,
    /// A block that a function of the user chooses, or none.
    "python" => python::Python,
}

settings::asks_outside!(ScrubChoice);

#[cfg(test)]
mod tests;
