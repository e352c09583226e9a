//! The number of outstanding requests of an initiator, which an open loop need not limit.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Deserializer, Error, Visitor};
use serde::ser::Serializer;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::fmt;

/// The word for no limit.
const NONE: &str = "none";

/// Most outstanding requests of an initiator: a number, or `"none"`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueueDepth {
    /// So many.
    Limit(u32),
    /// Any number.
    Unlimited,
}

impl QueueDepth {
    /// The number; nothing if any number may be outstanding.
    pub fn limit(self) -> Option<u32> {
        match self {
            Self::Limit(depth) => Some(depth),
            Self::Unlimited => None,
        }
    }
}

impl Serialize for QueueDepth {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Limit(depth) => out.serialize_u32(*depth),
            Self::Unlimited => out.serialize_str(NONE),
        }
    }
}

impl<'de> Deserialize<'de> for QueueDepth {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        struct Reader;
        impl Visitor<'_> for Reader {
            type Value = QueueDepth;
            fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(out, "a whole number, or {NONE:?}")
            }
            fn visit_u64<E: Error>(self, depth: u64) -> Result<QueueDepth, E> {
                let too_large = || E::custom(format!("{depth} is more than {}", u32::MAX));
                depth.try_into().map(QueueDepth::Limit).map_err(|_| too_large())
            }
            fn visit_i64<E: Error>(self, depth: i64) -> Result<QueueDepth, E> {
                let negative = || E::custom(format!("{depth} is negative"));
                u64::try_from(depth).map_err(|_| negative()).and_then(|depth| self.visit_u64(depth))
            }
            fn visit_str<E: Error>(self, word: &str) -> Result<QueueDepth, E> {
                let unknown = || E::custom(format!("{word:?} is neither a number nor {NONE:?}"));
                (word == NONE).then_some(QueueDepth::Unlimited).ok_or_else(unknown)
            }
        }
        input.deserialize_any(Reader)
    }
}

impl JsonSchema for QueueDepth {
    fn schema_name() -> Cow<'static, str> {
        "QueueDepth".into()
    }

    fn schema_id() -> Cow<'static, str> {
        concat!(module_path!(), "::QueueDepth").into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "Most outstanding requests, or \"none\" for no limit.",
            "anyOf": [
                { "type": "integer", "format": "uint32", "minimum": 1, "maximum": u32::MAX },
                { "const": NONE },
            ],
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Serialize, Deserialize)]
    struct Workload {
        depth: QueueDepth,
    }

    #[test]
    fn a_number_or_the_word_is_read_and_written_alike() {
        for text in ["depth = 1\n", "depth = 4294967295\n", "depth = \"none\"\n"] {
            let workload: Workload = toml::from_str(text).unwrap();
            assert_eq!(toml::to_string(&workload).unwrap(), text);
        }
        for depth in ["-1", "4294967296", "\"some\"", "1.5", "true"] {
            assert!(toml::from_str::<Workload>(&format!("depth = {depth}")).is_err(), "{depth}");
        }
    }
}
