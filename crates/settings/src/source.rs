//! Parser from TOML text to a tree of values, with the line of every key.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Map, Number, Value};
use toml::de::{DeInteger, DeTable, DeValue};

use crate::path;
use crate::problem::{Problem, Problems};

/// Place in the text of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub file: Arc<str>,
    pub line: Option<u32>,
}

/// The place of each path. A path without one has the place of its table.
pub(crate) type Places = BTreeMap<String, Place>;

/// Parses `text`; the user knows it as `file`.
pub(crate) fn parse(text: &str, file: &str) -> Result<(Map<String, Value>, Places), Problems> {
    let mut reading = Reading {
        lines: text.match_indices('\n').map(|(at, _)| at).collect(),
        file: file.into(),
        places: Places::new(),
        problems: Problems::new(file),
    };
    match DeTable::parse(text) {
        Ok(root) => {
            let root = reading.table(root.get_ref(), "");
            reading.problems.or_ok((root, reading.places))
        }
        Err(error) => {
            let at = error.span().map_or(0, |span| span.start);
            let line = reading.line(at);
            let begins = text[..at].rfind('\n').map_or(0, |newline| newline + 1);
            let column = text[begins..at].chars().count() + 1;
            let message = format!("column {column}: {}", error.message());
            let problem = Problem { path: String::new(), source: None, line: Some(line), message };
            reading.problems.problems.push(problem);
            Err(reading.problems)
        }
    }
}

/// Gives `value`, which is at the path `at`, and all that is in it the same place.
pub(crate) fn place_all(value: &Value, at: &str, place: &Place, places: &mut Places) {
    if !at.is_empty() {
        places.insert(at.to_owned(), place.clone());
    }
    match value {
        Value::Object(table) => table.iter().for_each(|(key, value)| {
            place_all(value, &path::key(at, key), place, places);
        }),
        Value::Array(entries) => entries.iter().enumerate().for_each(|(index, entry)| {
            place_all(entry, &path::index(at, index), place, places);
        }),
        _ => {}
    }
}

struct Reading {
    /// Positions of the newlines, ascending.
    lines: Vec<usize>,
    file: Arc<str>,
    places: Places,
    problems: Problems,
}

impl Reading {
    /// The line of a byte of the text, from one.
    fn line(&self, at: usize) -> u32 {
        self.lines.partition_point(|newline| *newline < at) as u32 + 1
    }

    fn table(&mut self, table: &DeTable<'_>, at: &str) -> Map<String, Value> {
        let mut values = Map::new();
        for (key, value) in table {
            let name = key.get_ref().as_ref();
            let path = path::key(at, name);
            let value = self.value(value.get_ref(), &path, key.span().start);
            values.insert(name.to_owned(), value);
        }
        values
    }

    fn value(&mut self, value: &DeValue<'_>, path: &str, begins: usize) -> Value {
        let line = self.line(begins);
        let place = Place { file: self.file.clone(), line: Some(line) };
        self.places.insert(path.to_owned(), place);
        let simple = match value {
            DeValue::String(text) => Ok(Value::from(text.as_ref())),
            DeValue::Boolean(truth) => Ok(Value::from(*truth)),
            DeValue::Integer(number) => integer(number),
            DeValue::Float(number) => float(number.as_str()),
            DeValue::Datetime(date) => {
                Err(format!("dates have no meaning here (write \"{date}\" for a string)"))
            }
            DeValue::Table(table) => Ok(self.table(table, path).into()),
            DeValue::Array(entries) => {
                let entry = |(index, entry): (usize, &toml::Spanned<DeValue<'_>>)| {
                    self.value(entry.get_ref(), &path::index(path, index), entry.span().start)
                };
                Ok(entries.iter().enumerate().map(entry).collect::<Vec<_>>().into())
            }
        };
        simple.unwrap_or_else(|message| {
            let path = path.to_owned();
            let problem = Problem { path, source: None, line: Some(line), message };
            self.problems.problems.push(problem);
            Value::Null
        })
    }
}

fn integer(number: &DeInteger<'_>) -> Result<Value, String> {
    let (digits, radix) = (number.as_str(), number.radix());
    let signed = i64::from_str_radix(digits, radix).map(Value::from);
    // Seeds use all 64 bits.
    let value = signed.or_else(|_| u64::from_str_radix(digits, radix).map(Value::from));
    value.map_err(|_| format!("{number} does not fit 64 bits"))
}

fn float(text: &str) -> Result<Value, String> {
    let number = text.parse().ok().and_then(Number::from_f64);
    number.map(Value::from).ok_or_else(|| format!("{text} is not a finite number"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn every_key_has_its_line() {
        let text =
            "a.b = 1\n[x]\ny = [\n  {z = 1},\n  {z = 2}]\n\n[[w]]\nq = 0x10\n[[w]]\nf = 1_0.5\n";
        let (root, places) = parse(text, "f").unwrap();
        assert_eq!(
            Value::from(root),
            json!({"a": {"b": 1}, "x": {"y": [{"z": 1}, {"z": 2}]}, "w": [{"q": 16}, {"f": 10.5}]})
        );
        let line = |path: &str| places[path].line.unwrap();
        assert_eq!(["a", "a.b", "x", "x.y"].map(line), [1, 1, 2, 3]);
        assert_eq!(["x.y[0].z", "x.y[1]", "x.y[1].z"].map(line), [4, 5, 5]);
        assert_eq!(["w[0]", "w[0].q", "w[1]", "w[1].f"].map(line), [7, 8, 9, 10]);
    }

    #[test]
    fn a_syntax_error_has_line_and_column() {
        let refusal = parse("a = 1\nµ = = 2\n", "ssd.toml").unwrap_err().to_string();
        assert!(refusal.starts_with("ssd.toml: 1 problem\n  line 2: column "), "{refusal}");
        let refusal = parse("a = 1\n\"µ\" = = 2\n", "ssd.toml").unwrap_err().to_string();
        assert_eq!(refusal, "ssd.toml: 1 problem\n  line 2: column 7: extra `=`, expected nothing");
        let refusal = parse("a = 1\nb = 2\na = 3", "ssd.toml").unwrap_err().to_string();
        assert_eq!(refusal, "ssd.toml: 1 problem\n  line 3: column 1: duplicate key");
    }

    #[test]
    fn values_without_a_meaning_are_refused_together() {
        let text = "day = 1979-05-27\n[x]\nhigh = [inf]\nlong = 18446744073709551616\nseed = 18446744073709551615";
        assert_eq!(
            parse(text, "ssd.toml").unwrap_err().to_string(),
            "ssd.toml: 3 problems\n  \
             line 1, day: dates have no meaning here (write \"1979-05-27\" for a string)\n  \
             line 3, x.high[0]: inf is not a finite number\n  \
             line 4, x.long: 18446744073709551616 does not fit 64 bits"
        );
    }
}
