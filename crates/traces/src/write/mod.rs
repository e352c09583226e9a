//! Traces written: one file a format, each with what the format cannot say.
//!
//! A writer turns a row into a line, or says why it cannot ([`Lack`]). `sink` has the
//! file: compressed by its name, and whole or not there. `convert` goes from one file
//! to another and counts what is lacking.

mod captured;
mod convert;
mod disksim;
mod fio_v3;
mod imitated;
mod mqsim;
mod msr;
mod sink;
mod spc;
mod target;
mod writer;

pub use convert::{Choices, Converted, convert};
pub use imitated::{Destination, Imitated, imitate};
pub use target::Target;
