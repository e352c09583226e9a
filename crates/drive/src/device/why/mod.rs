//! Why a request waits: found in the parts when somebody asks.

pub mod census;
mod obstacles;
pub mod standing;
mod whereabouts;
