//! Policies that users write themselves, in another language: the place of the function, and the
//! connection to it once it is found.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

/// One in this many calls is made twice.
const TWICE: u64 = 16;

/// A function in a Python file that decides. It is called without any knowledge of the run: equal
/// arguments must give equal answers.
#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, bound = "")]
// The keys of this struct stand beside the family's tag: a reference would refuse that.
#[schemars(inline)]
pub struct Outside<P: ?Sized> {
    /// The Python file; a relative path counts from the folder of the experiment.
    pub file: PathBuf,
    /// The function in it.
    pub function: String,
    #[serde(skip)]
    #[schemars(skip)]
    found: Option<Arc<Box<P>>>,
    #[serde(skip)]
    #[schemars(skip)]
    record: Mutex<Record>,
}

/// Record of the function's answers.
#[derive(Clone, Default)]
struct Record {
    questions: u64,
    /// The first error.
    fault: Option<String>,
}

impl<P: ?Sized> Outside<P> {
    /// Connects the policy with the function that was found.
    pub fn find(&mut self, policy: Box<P>) {
        self.found = Some(Arc::new(policy));
    }

    /// The policy, once its function was found.
    pub fn found(&self) -> Option<&P> {
        self.found.as_deref().map(|found| &**found)
    }

    /// Calls the policy; now and then twice, to check that its answer depends on its arguments
    /// only. The first error is kept; from then on the policy is not called, and `None` is
    /// returned.
    pub fn ask<A: PartialEq>(&self, question: impl Fn(&P) -> Result<A, String>) -> Option<A> {
        let policy = &**self.found.as_deref()?;
        let mut record = self.record.lock().unwrap_or_else(PoisonError::into_inner);
        if record.fault.is_some() {
            return None;
        }
        let is_tried = record.questions.is_multiple_of(TWICE);
        record.questions += 1;
        let answer = question(policy).and_then(|answer| match is_tried {
            true if question(policy)? != answer => {
                Err("gave two answers to one question".to_owned())
            }
            _ => Ok(answer),
        });
        answer.map_err(|why| record.fault = Some(format!("{}: {why}", self.function))).ok()
    }

    /// The first error; if the function was not found, that is the error.
    pub fn fault(&self) -> Option<String> {
        if self.found.is_none() {
            let function = &self.function;
            return Some(format!("{function}: a policy in Python is found from Python only"));
        }
        self.record.lock().unwrap_or_else(PoisonError::into_inner).fault.clone()
    }
}

impl<P: ?Sized> Default for Outside<P> {
    fn default() -> Self {
        let (file, function) = Default::default();
        Self { file, function, found: None, record: Mutex::default() }
    }
}

/// A copy calls the same function, but has its own record of errors.
impl<P: ?Sized> Clone for Outside<P> {
    fn clone(&self) -> Self {
        let Self { file, function, found, record } = self;
        let record = record.lock().unwrap_or_else(PoisonError::into_inner).clone();
        Self {
            file: file.clone(),
            function: function.clone(),
            found: found.clone(),
            record: Mutex::new(record),
        }
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
    use std::sync::atomic::{AtomicU32, Ordering};

    type Doubles = Outside<dyn Fn(u32) -> Result<u32, String>>;

    fn named() -> Doubles {
        serde_json::from_str(r#"{ "file": "p.py", "function": "f" }"#).unwrap()
    }

    #[test]
    fn the_first_fault_is_kept_and_is_not_that_of_copies() {
        let mut policy = named();
        assert!(policy.fault().is_some(), "nothing was found");
        assert_eq!(policy.ask(|double| double(1)), None);
        policy.find(Box::new(|n| match n {
            0 => Err("no double".into()),
            1 => Err("another".into()),
            n => Ok(2 * n),
        }));
        let copy = policy.clone();
        assert_eq!((policy.ask(|double| double(4)), policy.fault()), (Some(8), None));
        assert_eq!((policy.ask(|double| double(0)), policy.ask(|double| double(1))), (None, None));
        assert_eq!(policy.fault().as_deref(), Some("f: no double"));
        assert_eq!(policy.ask(|double| double(4)), None, "it is not asked any more");
        assert_eq!((copy.ask(|double| double(4)), copy.fault()), (Some(8), None));
        assert_eq!(policy.clone().fault().as_deref(), Some("f: no double"));
        let written = serde_json::to_value(&policy).unwrap();
        assert_eq!(written, serde_json::json!({ "file": "p.py", "function": "f" }));
    }

    #[test]
    fn one_question_in_sixteen_is_asked_twice() {
        let asked = Arc::new(AtomicU32::new(0));
        let mut policy = named();
        let counted = asked.clone();
        policy.find(Box::new(move |n| {
            counted.fetch_add(1, Ordering::Relaxed);
            Ok(n)
        }));
        (0..160).for_each(|n| assert_eq!(policy.ask(|same| same(n)), Some(n)));
        assert_eq!(asked.load(Ordering::Relaxed), 160 + 10);
        policy.find(Box::new(move |_| Ok(asked.fetch_add(1, Ordering::Relaxed))));
        assert_eq!(policy.ask(|other| other(1)), None);
        assert_eq!(policy.fault().as_deref(), Some("f: gave two answers to one question"));
    }
}
