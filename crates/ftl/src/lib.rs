//! The flash translation layer: where each logical unit lives, where the next
//! one goes, which block is collected next, and what that wears.
//!
//! Plain functions over plain state. Nothing here owns a clock: the drive calls
//! the same code *timed*, with a flash operation between deciding and
//! committing, and *untimed* ([`Untimed`]), as fast as memory allows, to
//! precondition or to study write amplification and wear alone.
//!
//! The vocabulary: a *unit* is what the map maps. A *block* here is what is
//! erased as a whole: one erase block, or one in each of several planes of a die
//! that are always programmed and erased together. A *batch* is what one program
//! command (or, for units larger than that, one unit) writes. A *bin* is the
//! home of blocks: a plane, or the planes that blocks span. A *pool* is the set
//! of bins among which a logical unit may be placed.

mod allocation;
mod audit;
mod blocks;
mod commit;
mod config;
mod factory;
mod ftl;
pub mod gc;
mod ids;
mod layout;
mod leveling;
mod map;
mod metadata;
mod persist;
pub mod recovery;
pub mod scrub;
mod space;
pub mod state;
mod strain;
mod streams;
mod untimed;
mod victims;
pub mod wear;

pub use allocation::{
    AllocationConfig, BinChoice, BinLevel, FreeBlockOrder, PoolLevel, StreamSharing,
};
pub use blocks::{BlockState, Source, Tally};
pub use config::{BadBlocksConfig, FtlConfig, OverProvisioning, PartialWrites};
pub use factory::FactoryBlocks;
pub use ftl::Ftl;
pub use gc::{GcConfig, Level, Pacing, Threshold, Thresholds, VictimPolicy};
pub use ids::{Batch, BinId, BlockId, Lpn, PoolId, Ppn};
pub use layout::Layout;
pub use scrub::{ScrubChoice, ScrubConfig, ScrubStream};
pub use space::Full;
pub use streams::{RESERVE, Stream};
pub use untimed::Untimed;
