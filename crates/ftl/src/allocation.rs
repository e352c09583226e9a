//! Configuration of allocation: the `[drive.ftl.allocation]` table.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use settings::Size;

/// Where a host write may go and where it goes.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AllocationConfig {
    /// The static part: a unit's pool follows from its logical address by
    /// striping over all pools of this level. `drive` is one pool: wholly dynamic.
    pub pool: PoolLevel,
    /// Bytes of consecutive logical addresses that go to one pool before the
    /// next pool's turn; a multiple of the mapping unit. Without it: what one
    /// program command writes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stripe: Option<Size>,
    /// The level that has open blocks, free blocks, thresholds and victims of its own: a bin.
    /// Blocks of its planes are opened one after the other. Not above `pool`. Default:
    /// `plane`.
    #[serde(default)]
    pub bin: BinLevel,
    /// Which level varies fastest in striping and in taking turns, named by the
    /// letters C (channel), W (way: package on a channel), D (die), P (plane).
    #[schemars(regex(pattern = "^[CWDP]{4}$"))]
    pub order: String,
    /// The dynamic part: which bin of the pool takes the next batch.
    pub choice: BinChoice,
    /// Whether pages that garbage collection moves share blocks with host writes.
    pub streams: StreamSharing,
    /// Which free block is opened next (dynamic wear-leveling, or none).
    pub free_block: FreeBlockOrder,
}

/// The level that a bin covers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum BinLevel {
    /// One plane, or the planes of a block where blocks span several.
    #[default]
    Plane,
    /// One die.
    Die,
    /// One package.
    Package,
    /// All packages of a channel.
    Channel,
}

impl BinLevel {
    /// The pool of as much.
    pub const fn pool(self) -> PoolLevel {
        match self {
            Self::Plane => PoolLevel::Plane,
            Self::Die => PoolLevel::Die,
            Self::Package => PoolLevel::Package,
            Self::Channel => PoolLevel::Channel,
        }
    }
}

/// The level that a pool covers.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum PoolLevel {
    /// One plane, or the planes of a block where blocks span several.
    Plane,
    /// One die.
    Die,
    /// One package (the element of the ATC'08 paper).
    Package,
    /// All packages of a channel, which share its data lines (a shared-bus gang).
    Channel,
    /// All channels of a gang, which share their control lines (`geometry.gang`).
    Gang,
    /// The whole drive.
    Drive,
}

/// How the bin for the next batch is chosen inside a pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum BinChoice {
    /// Bins take turns in `order`.
    RoundRobin,
    /// The bin with the fewest programs waiting; ties take turns.
    LeastQueued,
    /// The bin with the most free pages that nothing waits to be written to; ties take turns.
    MostFree,
}

/// Whether host writes and moved pages share open blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum StreamSharing {
    /// Moved pages have open blocks of their own.
    Separate,
    /// One open block takes both.
    Shared,
}

/// Which free block is opened next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FreeBlockOrder {
    /// The least erased one: dynamic wear-leveling.
    LeastWorn,
    /// The one that has been free for longest.
    Fifo,
    /// The next one by position behind the block that was opened last; behind the last block comes
    /// the first.
    NextFit,
}
