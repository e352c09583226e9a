//! Code that several test files share.
#![allow(dead_code, reason = "each test file uses a part of it")]

mod array;
pub mod campaign;
pub mod case;
mod faults;
mod figures;
pub mod kinds;
pub mod mutations;
pub mod ordeal;
mod pressure;
mod scrubber;
pub mod sets;
mod subunits;
mod superblocks;
mod tasks;
pub mod traces;
mod windows;
#[path = "../../../traces/tests/traces/written/mod.rs"]
mod written;
