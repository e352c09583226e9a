//! A function of the user decides.

use super::{Asked, Interruption, Interrupts};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use settings::Outside;

/// A policy outside the simulator.
pub trait InterruptOutside: Send + Sync {
    /// Decides on the suspension of the operation.
    ///
    /// # Errors
    /// The fault, in one line.
    fn interrupts(&self, asked: &Asked) -> Result<Interruption, String>;
}

/// Asks a function in a Python file (docs/how-to/add-a-policy.md).
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Python(Outside<dyn InterruptOutside>);

impl Python {
    /// The link to the function; see [`Outside`].
    pub fn outside(&mut self) -> &mut Outside<dyn InterruptOutside> {
        &mut self.0
    }
    /// The fault of the function, if it had one.
    pub fn fault(&self) -> Option<String> {
        self.0.fault()
    }
}

impl Interrupts for Python {
    fn interrupts(&self, asked: &Asked) -> Interruption {
        // A fault ends the run; until then the operation goes on.
        self.0.ask(|policy| policy.interrupts(asked)).unwrap_or(Interruption::GoOn)
    }
}
