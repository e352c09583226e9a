//! A function of the user decides.

use super::{SafePoint, YieldAt};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use settings::Outside;

/// What a policy from outside answers.
pub trait YieldOutside: Send + Sync {
    /// Whether the erase makes way.
    ///
    /// # Errors
    /// What went wrong with it, in a line.
    fn yields(&self, at: &SafePoint) -> Result<bool, String>;
}

/// Asks a function in a Python file (docs/how-to/add-a-policy.md).
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Python(Outside<dyn YieldOutside>);

impl Python {
    /// What stands for the function; see [`Outside`].
    pub fn outside(&mut self) -> &mut Outside<dyn YieldOutside> {
        &mut self.0
    }
    /// What went wrong with it.
    pub fn fault(&self) -> Option<String> {
        self.0.fault()
    }
}

impl YieldAt for Python {
    fn yields(&self, at: &SafePoint) -> bool {
        // A fault ends the run; until then the erase goes on.
        self.0.ask(|policy| policy.yields(at)).unwrap_or(false)
    }
}
