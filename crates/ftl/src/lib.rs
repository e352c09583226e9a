//! The flash translation layer: the mapping of logical units, the placement of writes, the choice
//! of victims, and wear.
//!
//! Plain functions over plain state. Nothing here owns a clock. The drive calls the same code
//! *timed*, with a flash operation between deciding and committing, and *untimed* ([`Untimed`]),
//! as fast as memory allows, to precondition a drive or to study write amplification and wear
//! alone.
//!
//! The vocabulary: a *unit* is an entry of the map. A *block* here is erased as a whole: it is
//! one erase block, or one in each of several planes of a die that are always programmed and
//! erased together. A *batch* is the data of one program command (or one unit, if units are
//! larger than that). A *bin* has blocks of its own: it is a plane, or the planes that blocks
//! span, or a larger part. A *pool* is the set of bins in which a logical unit may be placed.

mod allocation;
mod attach;
mod audit;
mod blocks;
mod commit;
mod config;
mod detached;
mod erase_blocks;
mod exposure;
mod factory;
mod failed;
mod ftl;
pub mod gc;
mod ids;
mod layout;
mod leveling;
mod lost;
mod map;
mod members;
mod metadata;
mod of_set;
mod pace;
mod persist;
mod poison;
mod poisoned;
mod pools;
pub mod read_recovery;
pub mod recovery;
mod recovery_levels;
mod rows;
pub mod scrub;
mod set_counts;
mod set_parts;
mod sets;
mod space;
mod stale;
pub mod state;
mod strain;
mod streams;
mod stripes;
mod subunits;
mod superblocks;
mod untimed;
mod victims;
pub mod wear;
mod written;

pub use allocation::{
    AllocationConfig, BinChoice, BinLevel, FreeBlockOrder, PoolLevel, StreamSharing,
};
pub use blocks::{BlockState, Source, Tally};
pub use config::{
    BadBlocksConfig, FtlConfig, OverProvisioning, ParityConfig, ParityFlush, PartialWrites,
    PressureConfig, RebuildConfig, SuperblockConfig, TasksConfig, WidthConfig, WindowsConfig,
};
pub use exposure::Age;
pub use factory::FactoryBlocks;
pub use ftl::Ftl;
pub use gc::{
    AtOnce, BackgroundBegins, Band, Blocking, Gain, GcConfig, Level, ONE, Pacing, ReserveUntil,
    Threshold, Thresholds, VictimPolicy,
};
pub use ids::{Batch, BinId, BlockId, Lpn, PoolId, Ppn, SetId, StripeId};
pub use layout::Layout;
pub use members::{PageState, ParityPlace, RowStripe, StripeMember};
pub use recovery_levels::{RecoveryLevel, RecoveryLevels};
pub use scrub::{ScrubChoice, ScrubConfig, ScrubStream, ScrubTask};
pub use set_parts::SetPart;
pub use sets::{BySet, Sets, SetsConfig};
pub use space::Full;
pub use streams::{RESERVE, Stream};
pub use stripes::Stripes;
pub use subunits::InUnit;
pub use superblocks::Superblocks;
pub use untimed::Untimed;
