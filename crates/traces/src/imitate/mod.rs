//! Synthetic traces: traces made from the statistics of others.
//!
//! A [`Model`] is the part of a trace that `statistics` keeps for this, and no more. `clock`
//! makes the stamps, `space` the addresses, `generate` the requests. Properties that occur in
//! known numbers (kinds, sizes, requests that continue others) are drawn without replacement from
//! decks (`deck`).

mod clock;
mod deck;
mod generate;
mod model;
mod space;
mod wishes;

pub use generate::SyntheticTrace;
pub use model::{DESCRIPTION_VERSION, KindModel, Model};
pub use wishes::Wishes;
