//! Garbage collection: when it starts and stops ([`Thresholds`]) and which block
//! it takes ([`VictimPolicy`], one file a policy). Moving the pages is the
//! caller's business, because it takes time.

mod config;
mod thresholds;
mod victim;

pub use config::{GcConfig, Pacing, Threshold};
pub use thresholds::{Level, Thresholds};
pub use victim::{Candidates, Choose, ChooseOutside, Python, VictimPolicy};
