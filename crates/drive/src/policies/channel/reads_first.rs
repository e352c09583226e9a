//! Reads before the rest.

use super::{Begins, Order, Orders};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Reads go before the rest, and collections that have their units go before reads, within bounds.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ReadsFirst {}

impl Orders for ReadsFirst {
    fn order(&self) -> Order {
        let begins = Some(Begins { collection: 0, read: 1 });
        Order { out_of_hosts: 2, out: 2, into: 3, begin: 3, begins, bounded: true }
    }
}
