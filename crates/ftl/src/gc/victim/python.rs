//! A victim policy that the user writes, as a function in Python.

use super::greedy::Greedy;
use super::{Candidates, Choose};
use engine::Stream;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use settings::Outside;

/// What a policy from outside answers.
pub trait ChooseOutside: Send + Sync {
    /// The place of the block to be collected next. `random` is a number of its own for
    /// each question.
    ///
    /// # Errors
    /// What went wrong with it, in a line.
    fn choose(&self, candidates: Candidates<'_>, random: u64) -> Result<usize, String>;
}

/// Asks a function in a Python file, which gets the blocks and returns the place of one
/// (docs/how-to/add-a-policy.md).
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Python(Outside<dyn ChooseOutside>);

impl Python {
    /// What stands for the function; see [`Outside`].
    pub fn outside(&mut self) -> &mut Outside<dyn ChooseOutside> {
        &mut self.0
    }
    /// What went wrong with it.
    pub fn fault(&self) -> Option<String> {
        self.0.fault()
    }
}

impl Choose for Python {
    fn choose(&self, candidates: Candidates<'_>, numbers: &mut Stream) -> Option<usize> {
        // It is asked only where there is something to choose from.
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
        // The run ends with the fault; until then the drive stays sound.
        answer.or(Some(fallback))
    }
}
