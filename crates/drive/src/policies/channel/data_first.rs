//! Data before commands.

use super::{Order, Orders};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Data goes before what begins, within bounds: other units may bring data without end.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DataFirst {
    /// Without bounds: nothing begins while data waits, as in MQSim. Units that share a channel
    /// fall into step then. Needs `nand.command_cycles`: where reads begin without the channel,
    /// their data would keep programs from it for ever.
    #[serde(default)]
    pub strict: bool,
}

impl Orders for DataFirst {
    fn order(&self) -> Order {
        Order { out_of_hosts: 0, out: 1, into: 2, begin: 3, bounded: !self.strict }
    }
}
