//! Faults of a configuration: all of them, each with path and place.

use crate::plural::counted;
use std::fmt;

/// One fault of a configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Path of the fault, such as `drive.ftl.gc.victim`; empty for the whole file.
    pub path: String,
    /// The file or layer of the faulty value, if it is not the one of the [`Problems`]: a preset,
    /// or `override`.
    pub source: Option<String>,
    /// The line in that file, from one, if known.
    pub line: Option<u32>,
    /// The fault and its remedy.
    pub message: String,
}

/// `line 12, drive.seed: missing; write a whole number`
impl fmt::Display for Problem {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let line = self.line.map(|line| format!("line {line}"));
        let place = match (&self.source, line) {
            (Some(source), Some(line)) => Some(format!("{source} {line}")),
            (source, line) => source.clone().or(line),
        };
        let path = Some(self.path.clone()).filter(|path| !path.is_empty());
        let place: Vec<String> = place.into_iter().chain(path).collect();
        if place.is_empty() {
            out.write_str(&self.message)
        } else {
            write!(out, "{}: {}", place.join(", "), self.message)
        }
    }
}

/// Faults collected while a configuration is checked: the error that names all
/// of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problems {
    /// The file, by the user's name for it.
    pub file: String,
    /// The faults, in order of their lines if those are known.
    pub problems: Vec<Problem>,
}

impl Problems {
    /// An empty list of problems in `file`.
    pub fn new(file: impl Into<String>) -> Self {
        Self { file: file.into(), problems: Vec::new() }
    }

    /// Adds a problem; [`Document::locate`](crate::Document::locate) finds its
    /// line later.
    pub fn push(&mut self, path: impl Into<String>, message: impl Into<String>) {
        let (path, message) = (path.into(), message.into());
        self.problems.push(Problem { path, source: None, line: None, message });
    }

    /// Adds the problem that a check has found, if any.
    pub(crate) fn extend(&mut self, path: &str, message: Option<String>) {
        if let Some(message) = message {
            self.push(path, message);
        }
    }

    /// True if there is no problem.
    pub fn is_empty(&self) -> bool {
        self.problems.is_empty()
    }

    /// Number of problems.
    pub fn len(&self) -> usize {
        self.problems.len()
    }

    /// `value` if there is no problem, else these problems.
    pub fn or_ok<T>(self, value: T) -> Result<T, Self> {
        if self.is_empty() { Ok(value) } else { Err(self) }
    }
}

impl fmt::Display for Problems {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}: {}", self.file, counted(self.len() as u64, "problem"))?;
        self.problems.iter().try_for_each(|problem| write!(out, "\n  {problem}"))
    }
}

impl std::error::Error for Problems {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn problems_print_with_all_that_is_known() {
        let mut problems = Problems::new("ssd.toml");
        assert_eq!(problems.clone().or_ok(7), Ok(7));
        problems.push("drive.seed", "missing");
        assert_eq!(problems.to_string(), "ssd.toml: 1 problem\n  drive.seed: missing");
        problems.push("", "empty");
        problems.push("a.b", "wrong");
        problems.push("c", "odd");
        problems.problems[0].line = Some(12);
        problems.problems[2].line = Some(4);
        problems.problems[2].source = Some("tlc.toml".into());
        problems.problems[3].source = Some("override".into());
        assert_eq!(
            problems.to_string(),
            "ssd.toml: 4 problems\n  line 12, drive.seed: missing\n  empty\n  \
             tlc.toml line 4, a.b: wrong\n  override, c: odd"
        );
        assert_eq!(problems.clone().or_ok(7), Err(problems));
    }
}
