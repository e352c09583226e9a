//! Data before commands.

use super::{Order, Orders};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Data goes before what begins, within bounds: other units may bring data without end.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DataFirst {}

impl Orders for DataFirst {
    fn order(&self) -> Order {
        Order { out_of_hosts: 0, out: 1, into: 2, begin: 3 }
    }
}
