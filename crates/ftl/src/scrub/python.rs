//! A scrub policy that the user writes, as a function in Python.

use super::{Needs, PickOld, Written};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use settings::Outside;

/// A scrub policy outside the simulator.
pub trait ScrubOutside: Send + Sync {
    /// Returns the place of the block to rewrite, or `None`.
    ///
    /// # Errors
    /// The policy's error, in one line.
    fn pick(&self, written: Written<'_>) -> Result<Option<usize>, String>;
}

/// Calls a function in a Python file (docs/how-to/add-a-policy.md).
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Python(Outside<dyn ScrubOutside>);

impl Python {
    /// The connection to the function; see [`Outside`].
    pub fn outside(&mut self) -> &mut Outside<dyn ScrubOutside> {
        &mut self.0
    }
    /// The function's error, if there was one.
    pub fn fault(&self) -> Option<String> {
        self.0.fault()
    }
}

impl PickOld for Python {
    fn pick(&self, written: Written<'_>) -> Option<usize> {
        // An error ends the run; until then nothing is scrubbed.
        self.0.ask(|policy| match policy.pick(written)? {
            Some(place) if place >= written.valid.len() => {
                Err(format!("chose block {place} of {}", written.valid.len()))
            }
            Some(place) if !written.fits(place) => Err(format!(
                "chose block {place}, which holds no data or cannot be moved; blocks.fitting has \
                 those that can"
            )),
            answer => Ok(answer),
        })?
    }
    fn needs(&self) -> Needs {
        Needs { expected_errors: true, data_age: true, ..Needs::default() }
    }
}
