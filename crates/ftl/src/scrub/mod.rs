//! Scrubbing: which block is written anew before its data decays ([`ScrubChoice`], one file a
//! policy). When, and moving the pages, is the caller's business.

mod most_read;
mod oldest;
mod python;
mod registry;

pub use python::ScrubOutside;
pub use registry::{PickOld, ScrubChoice, Written};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use settings::Time;

/// Scrubbing. Its operations wait for all others of their unit, as soft collection.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ScrubConfig {
    /// Time between two looks; each is at the next bin in turn.
    pub interval: Time,
    /// Which block of the bin is written anew, if any.
    pub choice: ScrubChoice,
}
