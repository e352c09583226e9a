//! Timeout-based erase suspension (ATC'19): immediate, as long as the operation has not been
//! under way for too long; from then on deferred, so that it ends.

use super::{Asked, Interruption, Interrupts};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use settings::Time;

/// Is interrupted at once until `after` from when it was its turn (its first ramp, unless reads
/// put it off), and at the ends of steps from then on until it is done. 0 is `d-es`, and a time that no operation takes is `i-es`.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TEs {
    /// Time from its beginning (N in the paper): what a write may take at most, less what
    /// collection takes. Default: `64 ms`, as in the paper.
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
