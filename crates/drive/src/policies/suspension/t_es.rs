//! Timeout-based erase suspension (ATC'19): immediate until the operation has been under way for
//! too long; from then on deferred, so that it ends.

use super::{Asked, Interruption, Interrupts};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use settings::Time;

/// Interrupts the operation at once during the time `after` since it was its turn (its first ramp,
/// unless reads put it off), and from then on at the ends of steps. With `after` = 0 it is `d-es`;
/// with a time longer than any operation it is `i-es`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TEs {
    /// Time from the operation's beginning (N in the paper): the most that a write may take, less
    /// the time of collection. Default: `64 ms`, as in the paper.
    #[serde(default = "default_after")]
    pub after: Time,
}

fn default_after() -> Time {
    engine::Span::from_ms(64).into()
}

impl Default for TEs {
    fn default() -> Self {
        Self { after: default_after() }
    }
}

impl Interrupts for TEs {
    fn interrupts(&self, asked: &Asked) -> Interruption {
        if asked.since_begun < self.after.span() {
            Interruption::Cancel
        } else {
            Interruption::AtStepEnd
        }
    }
}
