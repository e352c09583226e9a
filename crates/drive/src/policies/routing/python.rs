//! A function of the user decides.

use super::{Meeting, Route, RouteTo};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use settings::Outside;

/// What a policy from outside answers.
pub trait RouteOutside: Send + Sync {
    /// Whether the read asks the operation to suspend.
    ///
    /// # Errors
    /// What went wrong with it, in a line.
    fn asks(&self, meeting: &Meeting) -> Result<bool, String>;
}

/// Asks a function in a Python file (docs/how-to/add-a-policy.md).
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Python(Outside<dyn RouteOutside>);

impl Python {
    /// What stands for the function; see [`Outside`].
    pub fn outside(&mut self) -> &mut Outside<dyn RouteOutside> {
        &mut self.0
    }
    /// What went wrong with it.
    pub fn fault(&self) -> Option<String> {
        self.0.fault()
    }
}

impl RouteTo for Python {
    fn route(&self, meeting: &Meeting) -> Route {
        // A fault ends the run; until then the read waits.
        match self.0.ask(|policy| policy.asks(meeting)) {
            Some(true) => Route::Suspend,
            _ => Route::Wait,
        }
    }
}
