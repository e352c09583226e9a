//! JSON as a tree of values. Serde silently keeps the last of two equal keys; here such a text is
//! refused, as TOML refuses it.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

/// Parses `text`, or returns the fault and its line.
pub(crate) fn parse(text: &str) -> Result<Value, (Option<u32>, String)> {
    let mut input = serde_json::Deserializer::from_str(text);
    let parsed = Strict.deserialize(&mut input).and_then(|value| input.end().map(|()| value));
    parsed.map_err(|error| {
        let (line, column) = (error.line(), error.column());
        let message = error.to_string();
        // Serde repeats the place at the end.
        let place = format!(" at line {line} column {column}");
        let message = message.strip_suffix(&place).unwrap_or(&message);
        (u32::try_from(line).ok(), format!("column {column}: {message}"))
    })
}

/// Reads any value; of a table, each key once.
struct Strict;

impl<'de> DeserializeSeed<'de> for Strict {
    type Value = Value;
    fn deserialize<D: Deserializer<'de>>(self, input: D) -> Result<Value, D::Error> {
        input.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Strict {
    type Value = Value;
    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a value")
    }
    fn visit_unit<E: Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }
    fn visit_bool<E: Error>(self, truth: bool) -> Result<Value, E> {
        Ok(truth.into())
    }
    fn visit_i64<E: Error>(self, number: i64) -> Result<Value, E> {
        Ok(number.into())
    }
    fn visit_u64<E: Error>(self, number: u64) -> Result<Value, E> {
        Ok(number.into())
    }
    fn visit_f64<E: Error>(self, number: f64) -> Result<Value, E> {
        Ok(Number::from_f64(number).map_or(Value::Null, Value::from))
    }
    fn visit_str<E: Error>(self, text: &str) -> Result<Value, E> {
        Ok(text.into())
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Value, A::Error> {
        let mut entries = Vec::new();
        while let Some(entry) = list.next_element_seed(Strict)? {
            entries.push(entry);
        }
        Ok(entries.into())
    }
    fn visit_map<A: MapAccess<'de>>(self, mut table: A) -> Result<Value, A::Error> {
        let mut values = Map::new();
        while let Some(key) = table.next_key::<String>()? {
            if values.contains_key(&key) {
                return Err(A::Error::custom(format!("duplicate key {key:?}")));
            }
            let value = table.next_value_seed(Strict)?;
            values.insert(key, value);
        }
        Ok(values.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn values_are_read_as_they_stand() {
        let text =
            r#"{"b": [1, -2, 0.5, 18446744073709551615], "a": {"x": null, "y": true, "z": "µ"}}"#;
        assert_eq!(parse(text).unwrap(), serde_json::from_str::<Value>(text).unwrap());
        assert_eq!(parse("3").unwrap(), json!(3));
    }

    #[test]
    fn a_key_comes_once() {
        let text = "{\"seed\": 1,\n \"run\": {\"time\": 1, \"time\": 2}}";
        let (line, message) = parse(text).unwrap_err();
        assert_eq!(line, Some(2));
        assert!(message.ends_with("duplicate key \"time\""), "{message}");
        assert!(parse("{\"a\": {\"x\": 1}, \"b\": {\"x\": 1}}").is_ok());
    }

    #[test]
    fn a_syntax_error_has_its_place() {
        assert_eq!(parse("{\n  \"a\": ?}"), Err((Some(2), "column 8: expected value".to_owned())));
        assert!(parse("{} {}").unwrap_err().1.contains("trailing characters"));
    }
}
