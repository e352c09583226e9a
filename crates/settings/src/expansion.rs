//! Names for the expansion of [`measure!`](crate::measure!); not for use by hand.

pub use crate::measure::{deserialize, json_schema};
pub use schemars;
pub use serde;
