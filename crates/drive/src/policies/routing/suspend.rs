//! Every read asks for a suspension.

use super::{Meeting, Route, RouteTo};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Asks the operation to suspend.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Suspend {}

impl RouteTo for Suspend {
    fn route(&self, _: &Meeting) -> Route {
        Route::Suspend
    }
}
