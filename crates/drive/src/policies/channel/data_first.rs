//! Data before commands.

use super::{Order, Orders};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Data goes before operations that begin, within bounds, as other units may bring data without
/// end.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DataFirst {
    /// No bounds: no operation begins while data waits, as in MQSim. Units that share a channel
    /// then fall into step. Needs `nand.command_cycles`: if reads began without the channel, their
    /// data would keep programs from it for ever.
    #[serde(default)]
    pub strict: bool,
}

impl Orders for DataFirst {
    fn order(&self) -> Order {
        Order { out_of_hosts: 0, out: 1, into: 2, begin: 3, begins: None, bounded: !self.strict }
    }
}
