//! Reads wait.

use super::{Meeting, Route, RouteTo};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Waits until the operation is over.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Wait {}

impl RouteTo for Wait {
    fn route(&self, _: &Meeting) -> Route {
        Route::Wait
    }
}
