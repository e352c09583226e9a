//! A function of the user chooses.

use super::{PickOld, Written};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use settings::Outside;

/// What a policy from outside answers.
pub trait ScrubOutside: Send + Sync {
    /// The place of the block to be written anew, or nothing.
    ///
    /// # Errors
    /// What went wrong with it, in a line.
    fn pick(&self, written: Written<'_>) -> Result<Option<usize>, String>;
}

/// Asks a function in a Python file (docs/how-to/add-a-policy.md).
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Python(Outside<dyn ScrubOutside>);

impl Python {
    /// What stands for the function; see [`Outside`].
    pub fn outside(&mut self) -> &mut Outside<dyn ScrubOutside> {
        &mut self.0
    }
    /// What went wrong with it.
    pub fn fault(&self) -> Option<String> {
        self.0.fault()
    }
}

impl PickOld for Python {
    fn pick(&self, written: Written<'_>) -> Option<usize> {
        // A fault ends the run; until then nothing is scrubbed.
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
}
