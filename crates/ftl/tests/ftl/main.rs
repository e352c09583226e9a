//! Tests of the firmware.

mod common;
mod own_units;
mod pace;
mod parity;
mod recovery;
mod sets;
mod stale;
mod streams;
mod superblocks;
