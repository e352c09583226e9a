//! Scrubbing against retention.

use super::{Needs, PickOld, Written};
use engine::Span;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use settings::Time;

/// Takes the block whose data is oldest, if it is that old; the lowest number breaks ties.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Refresh {
    /// Time since the first program of a block before it may be taken.
    #[serde(default = "month")]
    pub age: Time,
}

fn month() -> Time {
    Span::from_ms(720 * 3_600_000).into()
}

impl Default for Refresh {
    fn default() -> Self {
        Self { age: month() }
    }
}

impl PickOld for Refresh {
    fn pick(&self, written: Written<'_>) -> Option<usize> {
        let old = written.fitting().filter(|at| written.data_age[*at] >= self.age.span().as_ns());
        old.max_by_key(|index| (written.data_age[*index], std::cmp::Reverse(*index)))
    }
    fn needs(&self) -> Needs {
        Needs { errors: true, data_age: true, ..Needs::default() }
    }
}
