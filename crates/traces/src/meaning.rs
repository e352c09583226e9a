//! Options, and the formats that they apply to.

use super::error::TraceError;
use super::options::Options;
use super::read::Format;
use std::path::Path;

impl Options {
    /// The given keys that have no meaning for `format`.
    pub fn foreign_to(&self, format: Format) -> Vec<&'static str> {
        let given = [
            ("event", self.event.is_some()),
            ("time_unit", self.time_unit.is_some()),
            ("waits", self.waits.is_some()),
            ("block_size", self.block_bytes.is_some()),
            ("length_unit", self.length_bytes.is_some()),
        ];
        let known = format.description().settings;
        let is_foreign = |(key, is_given): &(&str, bool)| *is_given && !known.contains(key);
        given.iter().filter(|key| is_foreign(key)).map(|(key, _)| *key).collect()
    }

    /// Refuses all given options that have no meaning for `format`.
    pub(crate) fn check(&self, path: &Path, format: Format) -> Result<(), TraceError> {
        let fault = |key: &&str| format!("{key} {}", Self::no_meaning(key, format));
        let mut faults: Vec<String> = self.foreign_to(format).iter().map(fault).collect();
        for (key, bytes) in [("block_size", self.block_bytes), ("length_unit", self.length_bytes)] {
            if bytes == Some(0) {
                faults.push(format!("{key} must be more than 0 B"));
            }
        }
        if faults.is_empty() {
            return Ok(());
        }
        Err(TraceError { file: path.to_owned(), line: None, problem: faults.join("\n  ") })
    }

    /// Reason for refusing `key` for `format`.
    pub fn no_meaning(key: &str, format: Format) -> String {
        let (title, others) = (format.title(), Self::formats_with(key));
        format!("has no meaning for {title}, only for the formats {others}; remove it")
    }

    /// The formats for which `key` has a meaning, as a message lists them.
    fn formats_with(key: &str) -> String {
        let knows = |format: &&Format| format.description().settings.contains(&key);
        let names: Vec<&str> = Format::ALL.iter().filter(knows).map(|f| f.name()).collect();
        names.join(", ")
    }
}
