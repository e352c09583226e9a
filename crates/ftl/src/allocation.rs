//! Configuration of allocation: the `[drive.ftl.allocation]` table.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use settings::Size;

/// Configuration of the placement of writes.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AllocationConfig {
    /// Level of the static part: a unit's pool follows from its logical address by striping over
    /// all pools of this level. `drive` is a single pool, so that placement is wholly dynamic.
    pub pool: PoolLevel,
    /// Bytes of consecutive logical addresses that go to one pool before the next pool's turn; a
    /// multiple of the mapping unit. Default: the bytes that one program command writes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stripe: Option<Size>,
    /// Level of a bin, which has open blocks, free blocks, thresholds and victims of its own. If
    /// a bin covers several planes, the firmware opens blocks on them in turn. Not above `pool`.
    /// Default: `plane`.
    #[serde(default)]
    pub bin: BinLevel,
    /// Order of the levels in striping and round-robin, the fastest varying first, in the letters
    /// C (channel), W (way: package on a channel), D (die), P (plane).
    #[schemars(regex(pattern = "^[CWDP]{4}$"))]
    pub order: String,
    /// Choice of the bin of the pool that takes the next batch: the dynamic part.
    pub choice: BinChoice,
    /// Sharing of open blocks between host writes and the pages that garbage collection moves.
    pub streams: StreamSharing,
    /// Choice of the free block that is opened next (dynamic wear-leveling, or none).
    pub free_block: FreeBlockOrder,
}

/// The level that a bin covers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum BinLevel {
    /// One plane, or all planes of a block if blocks span several.
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
    /// The pool level that covers the same part of the flash.
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
    /// One plane, or all planes of a block if blocks span several.
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

/// Choice of the bin for the next batch inside a pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum BinChoice {
    /// Bins take turns in `order`.
    RoundRobin,
    /// The bin with the fewest programs waiting; ties take turns.
    LeastQueued,
    /// The bin with the fewest operations waiting or under way, of whatever kind; ties take turns.
    LeastBusy,
    /// The bin with the most free pages that no waiting program will use; ties take turns.
    MostFree,
}

/// Sharing of open blocks between host writes and moved pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum StreamSharing {
    /// Moved pages have open blocks of their own.
    Separate,
    /// One open block takes both.
    Shared,
}

/// Choice of the free block that is opened next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FreeBlockOrder {
    /// The block with the fewest erases: dynamic wear-leveling.
    LeastWorn,
    /// The one that has been free for longest.
    Fifo,
    /// The next free block by position after the block that was opened last, wrapping around at
    /// the end.
    NextFit,
}
