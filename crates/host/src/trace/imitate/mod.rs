//! Stand-ins.
mod model;
pub use model::{KindModel, Model};
