//! Scrubbing: the choice of the block that is rewritten before its data decays ([`ScrubChoice`],
//! one file a policy). The caller decides when to scrub and moves the pages.
//!
//! A new policy is a file here and a line of the list below: its tag, the list in error messages,
//! the schema, the documentation and the contract tests follow from the line.

mod written;

pub use python::ScrubOutside;
pub use written::{PickOld, Written};

use crate::streams::Stream;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use settings::Time;

/// Scrubbing. Its operations wait for all others of their unit, like those of background GC. If
/// the bin's GC is in the foreground or in debt and waits for a scrub to end, the scrub's
/// operations go first as well.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ScrubConfig {
    /// Time between two polls; the bins are polled in turn. If the polled bin is being collected,
    /// the poll comes between two victims.
    pub interval: Time,
    /// Policy that chooses the block of the bin to rewrite, if any.
    pub choice: ScrubChoice,
    /// Destination of the pages that scrubbing moves. Default: `collection`.
    #[serde(default)]
    pub stream: ScrubStream,
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
    ScrubChoice asks pick(written: Written<'_>) -> Option<usize>;
    /// The block that was closed first.
    "oldest" => oldest::Oldest,
    /// The block with the most reads since its erase, once they reach a limit.
    "most-read" => most_read::MostRead,
    /// A block that a function of the user chooses, or none.
    "python" => python::Python,
}

settings::asks_outside!(ScrubChoice);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::blocks::BARRED;
    use proptest::prelude::*;

    /// True if a policy may decide that no block needs scrubbing.
    fn may_decline(policy: &ScrubChoice, written: Written<'_>) -> bool {
        let mut fitting = written.fitting();
        match policy {
            ScrubChoice::Oldest(_) => fitting.next().is_none(),
            ScrubChoice::MostRead(most) => fitting.all(|index| written.sensed[index] < most.reads),
            // No function is connected in this test.
            ScrubChoice::Python(_) => true,
        }
    }

    proptest! {
        /// The contract of every policy: it returns a block that fits, always the same one, or
        /// none if no block needs scrubbing.
        #[test]
        fn every_policy_keeps_the_contract(
            valid in proptest::collection::vec(prop_oneof![0u32..=8, Just(BARRED), Just(BARRED | 3)], 1..40),
            most_valid in 0u32..=8,
        ) {
            let closed_at: Vec<u64> = (0..valid.len() as u64).map(|index| index * 7 % 50).collect();
            let sensed: Vec<u32> = (0..valid.len() as u32).map(|index| index * 5 % 37 * 1_000).collect();
            let erase_count = vec![1; valid.len()];
            let written = Written {
                valid: &valid,
                closed_at: &closed_at,
                sensed: &sensed,
                erase_count: &erase_count,
                now: 60,
                units_per_block: 8,
                most_valid,
            };
            for policy in ScrubChoice::all() {
                let picked = policy.pick(written);
                prop_assert_eq!(picked, policy.pick(written));
                match picked {
                    Some(index) => prop_assert!(written.fits(index), "{:?}", policy),
                    None => prop_assert!(may_decline(&policy, written), "{:?}", policy),
                }
            }
        }
    }
}
