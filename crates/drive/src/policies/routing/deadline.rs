//! Reads that would wait for long ask for a suspension.

use super::{Meeting, Route, RouteTo};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use settings::Time;

/// Asks the operation to suspend if its remaining time is longer than `within`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Deadline {
    /// The longest remaining time of an operation that a read waits for.
    pub within: Time,
}

impl Default for Deadline {
    fn default() -> Self {
        Self { within: engine::Span::from_ms(1).into() }
    }
}

impl RouteTo for Deadline {
    fn route(&self, meeting: &Meeting) -> Route {
        let rest = meeting.free_at.saturating_since(meeting.now);
        if rest > self.within.span() { Route::Suspend } else { Route::Wait }
    }
}
