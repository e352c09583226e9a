//! A function of the user decides.

use super::{Asked, Interruption, Interrupts};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use settings::Outside;

/// What a policy from outside answers.
pub trait InterruptOutside: Send + Sync {
    /// How the operation is suspended.
    ///
    /// # Errors
    /// What went wrong with it, in a line.
    fn interrupts(&self, asked: &Asked) -> Result<Interruption, String>;
}

/// Asks a function in a Python file (docs/how-to/add-a-policy.md).
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Python(Outside<dyn InterruptOutside>);

impl Python {
    /// What stands for the function; see [`Outside`].
    pub fn outside(&mut self) -> &mut Outside<dyn InterruptOutside> {
        &mut self.0
    }
    /// What went wrong with it.
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
