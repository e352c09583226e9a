//! Commands before data.

use super::{Order, Orders};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What begins goes before data. That cannot starve it: data that waits keeps units from beginning.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CommandsFirst {}

impl Orders for CommandsFirst {
    fn order(&self) -> Order {
        Order { out_of_hosts: 1, out: 2, into: 3, begin: 0, is_bounded: false }
    }
}
