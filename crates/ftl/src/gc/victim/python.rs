//! A victim policy that the user writes, as a function in Python.

use super::greedy::Greedy;
use super::{Candidates, Choose};
use engine::Stream;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use settings::Outside;

/// A victim policy outside the simulator.
pub trait ChooseOutside: Send + Sync {
    /// Returns the place of the block to be collected next. `random` is a new random number in
    /// each call.
    ///
    /// # Errors
    /// The policy's error, in one line.
    fn choose(&self, candidates: Candidates<'_>, random: u64) -> Result<usize, String>;
}

/// Calls a function in a Python file, which gets the blocks and returns the place of one
/// (docs/how-to/add-a-policy.md).
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Python(Outside<dyn ChooseOutside>);

impl Python {
    /// The connection to the function; see [`Outside`].
    pub fn outside(&mut self) -> &mut Outside<dyn ChooseOutside> {
        &mut self.0
    }
    /// The function's error, if there was one.
    pub fn fault(&self) -> Option<String> {
        self.0.fault()
    }
}

impl Choose for Python {
    fn choose(&self, candidates: Candidates<'_>, numbers: &mut Stream) -> Option<usize> {
        // The function is called only if there is a block to choose.
        let fallback = Greedy::default().choose(candidates, numbers)?;
        let random = numbers.bits();
        let answer = self.0.ask(|policy| {
            let chosen = policy.choose(candidates, random)?;
            match candidates.valid.get(chosen) {
                Some(_) if candidates.gains(chosen) => Ok(chosen),
                Some(_) => Err(format!(
                    "chose block {chosen}, whose collection gains no space; candidates.gaining \
                     has those that do"
                )),
                None => Err(format!("chose block {chosen} of {}", candidates.len())),
            }
        });
        // The error ends the run; until then the fallback keeps the drive consistent.
        answer.or(Some(fallback))
    }
}
