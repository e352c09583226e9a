//! NAND flash as a datasheet describes it: the arrangement of the flash, the time that each
//! command takes, and the parts of the chip that it occupies.
//!
//! This crate owns no clock and no queue. `Units` tells if an operation *can* start; the
//! scheduler decides if it *should*.

mod config;
pub mod errors;
mod geometry;
mod pulses;
mod timing;
mod units;

pub use config::{
    CellKind, ConcurrencyConfig, CopyBackPages, EraseConfig, GangConfig, GangControl,
    GeometryConfig, NandConfig, ProgramStepsConfig, UnitLevel,
};
pub use geometry::{ChannelId, DieId, Geometry, PlaneId};
pub use pulses::{Progress, Pulses, Stop, Stopped, Strain};
pub use timing::{Cycles, Timing};
pub use units::{CellId, GroupId, Place, Units};
