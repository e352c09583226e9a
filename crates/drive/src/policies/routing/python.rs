//! A function of the user decides.

use super::{Meeting, Route, RouteTo};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use settings::Outside;

/// A policy outside the simulator.
pub trait RouteOutside: Send + Sync {
    /// True if the read asks the operation to suspend.
    ///
    /// # Errors
    /// The fault, in one line.
    fn asks(&self, meeting: &Meeting) -> Result<bool, String>;
}

/// Asks a function in a Python file (docs/how-to/add-a-policy.md).
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Python(Outside<dyn RouteOutside>);

impl Python {
    /// The link to the function; see [`Outside`].
    pub fn outside(&mut self) -> &mut Outside<dyn RouteOutside> {
        &mut self.0
    }
    /// The fault of the function, if it had one.
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
