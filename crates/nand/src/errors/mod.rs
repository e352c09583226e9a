//! Bit errors of flash: their rate ([`Mechanisms`]), the code that corrects them ([`Code`]), and
//! what differs between blocks and pages. Faults of flash, which no code corrects.
//!
//! Everything here is a pure function, of numbers that the caller keeps and of random streams that
//! the caller owns.

mod binomial;
mod chips;
mod code;
mod config;
mod faults;
mod mechanisms;
mod spread;

pub use binomial::{Binomial, thin};
pub use chips::Chip;
pub use code::{Code, Wrong};
pub use config::{
    Counting, ErrorsConfig, Initial, InitialAge, InitialCycles, SoftDecoding, SpreadConfig,
};
pub use faults::{
    DieFault, Fault, FaultsConfig, PageFault, Programmed, RandomFaults, WordLineFault,
};
pub use mechanisms::{Disturb, Mechanisms, OfCycles, Retention, Wear};
pub use spread::{NS_OF_DAY, Spread};
