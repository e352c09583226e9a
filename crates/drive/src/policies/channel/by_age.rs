//! First come, first served.

use super::{Order, Orders};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// First come, first served.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ByAge {}

impl Orders for ByAge {
    fn order(&self) -> Order {
        Order { out_of_hosts: 0, out: 0, into: 0, begin: 0, begins: None, bounded: true }
    }
}
