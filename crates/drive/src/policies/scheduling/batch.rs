//! Reads in batches: those that were waiting when another operation could have gone.

use super::{Asking, Turn, Turns};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Reads go first, but only those that were waiting when another operation could have gone.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Batch {}

impl Turns for Batch {
    #[inline]
    fn turn(&self, asking: &Asking) -> Turn {
        if !asking.others_wait {
            return Turn::Goes { bound: None };
        }
        if !asking.is_bounded {
            // Foreground GC outranks host writes by intent.
            return Turn::Goes { bound: asking.bound };
        }
        let bound = asking.bound.unwrap_or(asking.next);
        if asking.number < bound { Turn::Goes { bound: Some(bound) } } else { Turn::Oldest }
    }
}
