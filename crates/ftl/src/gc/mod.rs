//! Garbage collection: when it starts and stops ([`Thresholds`]) and the choice of victims
//! ([`VictimPolicy`], one file a policy). The caller moves the pages, because that takes time.

mod band;
mod config;
mod gain;
mod thresholds;
mod victim;

pub use band::{Band, ONE};
pub use config::{AtOnce, BackgroundBegins, Blocking, GcConfig, Pacing, ReserveUntil, Threshold};
pub use gain::Gain;
pub use thresholds::{Level, Thresholds};
pub use victim::{Candidates, Choose, ChooseOutside, Python, VictimPolicy};
