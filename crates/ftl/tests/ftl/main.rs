//! Tests of the firmware.

mod common;
mod own_units;
mod recovery;
mod streams;
