//! NAND flash as a datasheet describes it: how a drive's cells are arranged,
//! how long each command takes and which parts of the chip it occupies.
//!
//! This room owns no clock and no queue. Whether an operation *may* start is
//! answered here (`Units`); whether it *should* is the scheduler's business.

mod config;
mod geometry;
mod pulses;
mod timing;
mod units;

pub use config::{
    CellKind, ConcurrencyConfig, EraseConfig, GangConfig, GangControl, GeometryConfig, NandConfig,
    ProgramStepsConfig, UnitLevel,
};
pub use geometry::{ChannelId, DieId, Geometry, PlaneId};
pub use pulses::{Progress, Pulses, Stop, Stopped, Strain};
pub use timing::{Cycles, Timing};
pub use units::{CellId, GroupId, Place, Units};
