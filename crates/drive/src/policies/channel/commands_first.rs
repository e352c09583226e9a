//! Commands before data.

use super::{Order, Orders};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Operations that begin go before data, within bounds, as other units may begin without end.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CommandsFirst {}

impl Orders for CommandsFirst {
    fn order(&self) -> Order {
        Order { out_of_hosts: 1, out: 2, into: 3, begin: 0, begins: None, bounded: true }
    }
}
