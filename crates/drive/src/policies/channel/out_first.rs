//! Data on its way out before the rest.

use super::{Order, Orders};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Data on its way out goes before the rest, within bounds.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OutFirst {}

impl Orders for OutFirst {
    fn order(&self) -> Order {
        Order { out_of_hosts: 0, out: 1, into: 2, begin: 2, begins: None, bounded: true }
    }
}
