//! Policies that users write themselves, in another language: where one is to be found,
//! and what stands for it once it was.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

/// A function in a Python file that decides. It is asked without knowing of a run: equal
/// questions must get equal answers.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, bound = "")]
pub struct Outside<P: ?Sized> {
    /// The Python file; a relative path counts from the experiment file's folder.
    pub file: PathBuf,
    /// The function in it.
    pub function: String,
    #[serde(skip)]
    #[schemars(skip)]
    found: Option<Arc<Found<P>>>,
}

/// What was found, and what went wrong with it first.
struct Found<P: ?Sized> {
    fault: Mutex<Option<String>>,
    policy: Box<P>,
}

impl<P: ?Sized> Outside<P> {
    /// Puts what was found in the place of the words that describe it.
    pub fn find(&mut self, policy: Box<P>) {
        self.found = Some(Arc::new(Found { fault: Mutex::new(None), policy }));
    }

    /// Asks; what went wrong is kept, and `None` is returned.
    pub fn ask<A>(&self, question: impl FnOnce(&P) -> Result<A, String>) -> Option<A> {
        let found = self.found.as_ref()?;
        match question(&found.policy) {
            Ok(answer) => Some(answer),
            Err(why) => {
                let mut fault = found.fault.lock().unwrap_or_else(PoisonError::into_inner);
                fault.get_or_insert_with(|| format!("{}: {why}", self.function));
                None
            }
        }
    }

    /// What went wrong first, with it or with any copy; that it was not found, if it was not.
    pub fn fault(&self) -> Option<String> {
        let Some(found) = &self.found else {
            return Some(format!(
                "{}: a policy in Python is found from Python only",
                self.function
            ));
        };
        found.fault.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl<P: ?Sized> Default for Outside<P> {
    fn default() -> Self {
        Self { file: PathBuf::new(), function: String::new(), found: None }
    }
}

impl<P: ?Sized> Clone for Outside<P> {
    fn clone(&self) -> Self {
        let Self { file, function, found } = self;
        Self { file: file.clone(), function: function.clone(), found: found.clone() }
    }
}

impl<P: ?Sized> fmt::Debug for Outside<P> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}:{}", self.file.display(), self.function)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Doubles = Outside<dyn Fn(u32) -> Result<u32, String>>;

    #[test]
    fn the_first_fault_is_kept_for_all_copies() {
        let mut policy: Doubles =
            serde_json::from_str(r#"{ "file": "p.py", "function": "f" }"#).unwrap();
        assert!(policy.fault().is_some(), "nothing was found");
        assert_eq!(policy.ask(|double| double(1)), None);
        policy.find(Box::new(|n| match n {
            0 => Err("no double".into()),
            1 => Err("another".into()),
            n => Ok(2 * n),
        }));
        let copy = policy.clone();
        assert_eq!((policy.ask(|double| double(4)), policy.fault()), (Some(8), None));
        assert_eq!((copy.ask(|double| double(0)), copy.ask(|double| double(1))), (None, None));
        assert_eq!(policy.fault().as_deref(), Some("f: no double"));
        let written = serde_json::to_value(&policy).unwrap();
        assert_eq!(written, serde_json::json!({ "file": "p.py", "function": "f" }));
    }
}
