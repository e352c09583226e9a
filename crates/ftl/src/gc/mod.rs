//! Garbage collection: when it starts and stops ([`Thresholds`]) and which block
//! it takes ([`VictimPolicy`], one file a policy). Moving the pages is the
//! caller's business, because it takes time.

mod thresholds;
mod victim;

pub use thresholds::{Level, Threshold, Thresholds};
pub use victim::{Candidates, Choose, ChooseOutside, Python, VictimPolicy};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use settings::Time;

/// How collection and host writes share a unit between the soft and the urgent
/// threshold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Pacing {
    /// Collection waits for host writes until the urgent threshold, and then goes
    /// before them until it is above it.
    None,
    /// For each batch that a host writes, collection owes as many moves as gain that
    /// space again; while it owes some, its operations go before host writes.
    Proportional,
}

/// Garbage collection of one bin (a plane, or the planes that a block spans).
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GcConfig {
    /// Which block is collected.
    pub victim: VictimPolicy,
    /// Soft collection starts when no more than this is free. Its operations
    /// wait for all others of their unit, except as `pacing` says.
    pub soft: Threshold,
    /// Urgent collection starts when no more than this is free. It goes before
    /// host writes. This threshold must be reachable.
    pub urgent: Threshold,
    /// Collection stops when more than this is free.
    pub stop: Threshold,
    /// After the unit has been idle for this long, soft collection starts even
    /// above the soft threshold (but not above `stop`). Without it: never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idle_gap: Option<Time>,
    /// How collection shares its unit with host writes between the soft and the
    /// urgent threshold.
    pub pacing: Pacing,
    /// Whether other operations may go between the page moves of a collection.
    /// If not, the unit is withheld from all others until the block is erased, or
    /// until only reads of hosts keep it from being erased.
    pub preemptible: bool,
    /// Whether pages move inside their plane without the channel (copy-back), where all units
    /// of the batch are live and the block that takes them lies in that plane (which is
    /// always so where a bin is a plane).
    pub copy_back: bool,
    /// So many times in a row data may be copied back, or stream; then it goes through the
    /// controller, which corrects its errors. Default: any number. Only with `copy_back`,
    /// `streaming` or partial writes inside planes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 255))]
    pub copy_back_most: Option<u8>,
    /// Whether pages of a victim stream to another package of the pool, in one transfer and past
    /// the controller, where one can take them at once. Default: no.
    #[serde(default)]
    pub streaming: bool,
    /// Batches that one collection may have under way at a time.
    #[schemars(range(min = 1, max = 64))]
    pub window: u32,
}
