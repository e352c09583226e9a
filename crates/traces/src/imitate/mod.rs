//! Synthetic traces: traces made from the statistics of others.
//!
//! A [`Model`] is what `statistics` keeps of a trace for this, and no more. `clock`
//! makes the stamps, `space` the addresses, `generate` the requests; what comes in
//! known numbers (kinds, sizes, requests that continue others) is drawn from decks
//! without putting back (`deck`).

mod clock;
mod deck;
mod generate;
mod model;
mod space;
mod wishes;

pub use generate::SyntheticTrace;
pub use model::{DESCRIPTION_VERSION, KindModel, Model};
pub use wishes::Wishes;
