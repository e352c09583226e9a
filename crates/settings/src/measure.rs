//! Common parts of all quantity types: they are strings on the outside.

use std::fmt;
use std::marker::PhantomData;

use schemars::{Schema, json_schema as json};
use serde::de::{Deserializer, Error, Visitor};

use crate::scale::KEYWORD;
use crate::{Decimal, Refusal, Scale, Unit};

/// A quantity that is written as a number with a unit.
///
/// To make one: implement this and `Display` (which must write what the scale
/// reads), then call [`measure!`](crate::measure!) for serde, the JSON schema
/// and `FromStr`.
pub trait Measure: Sized + fmt::Display {
    /// The units it may be written in.
    const SCALE: Scale<'static>;

    /// Converts an amount in the smallest unit and the unit in which it was written. The scale
    /// has accepted both, so this cannot fail.
    fn from_amount(amount: Decimal, unit: Unit<'static>) -> Self;

    /// Reads a number with its unit.
    fn read(text: &str) -> Result<Self, Refusal> {
        let (amount, unit) = Self::SCALE.read(text)?;
        Ok(Self::from_amount(amount, unit))
    }
}

/// Implements `FromStr`, `Serialize`, `Deserialize` and `JsonSchema` for a
/// [`Measure`].
#[macro_export]
macro_rules! measure {
    ($name:ident) => {
        impl ::std::str::FromStr for $name {
            type Err = $crate::Refusal;
            fn from_str(text: &str) -> ::std::result::Result<Self, $crate::Refusal> {
                <Self as $crate::Measure>::read(text)
            }
        }
        impl $crate::expansion::serde::Serialize for $name {
            fn serialize<S: $crate::expansion::serde::Serializer>(
                &self,
                serializer: S,
            ) -> ::std::result::Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }
        impl<'de> $crate::expansion::serde::Deserialize<'de> for $name {
            fn deserialize<D: $crate::expansion::serde::Deserializer<'de>>(
                deserializer: D,
            ) -> ::std::result::Result<Self, D::Error> {
                $crate::expansion::deserialize(deserializer)
            }
        }
        impl $crate::expansion::schemars::JsonSchema for $name {
            fn schema_name() -> ::std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }
            fn schema_id() -> ::std::borrow::Cow<'static, str> {
                concat!(module_path!(), "::", stringify!($name)).into()
            }
            fn json_schema(
                _: &mut $crate::expansion::schemars::SchemaGenerator,
            ) -> $crate::expansion::schemars::Schema {
                $crate::expansion::json_schema::<Self>()
            }
        }
    };
}

/// Reads a measure from a string, and refuses a bare number with the remedy.
pub fn deserialize<'de, M: Measure, D: Deserializer<'de>>(from: D) -> Result<M, D::Error> {
    struct Reader<M>(PhantomData<M>);

    impl<M: Measure> Visitor<'_> for Reader<M> {
        type Value = M;
        fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
            write!(out, "a {} such as {:?}", M::SCALE.noun, M::SCALE.example)
        }
        fn visit_str<E: Error>(self, text: &str) -> Result<M, E> {
            M::read(text).map_err(E::custom)
        }
        fn visit_i64<E: Error>(self, number: i64) -> Result<M, E> {
            Err(E::custom(M::SCALE.refuse_bare(&number.to_string())))
        }
        fn visit_u64<E: Error>(self, number: u64) -> Result<M, E> {
            Err(E::custom(M::SCALE.refuse_bare(&number.to_string())))
        }
        fn visit_f64<E: Error>(self, number: f64) -> Result<M, E> {
            Err(E::custom(M::SCALE.refuse_bare(&number.to_string())))
        }
    }

    from.deserialize_any(Reader(PhantomData))
}

/// A string with the measure's own format, a pattern for editors, and its scale for the walk.
pub fn json_schema<M: Measure>() -> Schema {
    let Scale { noun, example, ref units, .. } = M::SCALE;
    let visible: Vec<&str> = M::SCALE.visible().collect();
    let accepted: Vec<&str> = units.iter().map(|unit| unit.name).collect();
    json!({
        "type": "string",
        "format": format!("flashscape-{noun}"),
        "description": format!(
            "A {noun} with its unit, for example {example:?}. Units: {}.", visible.join(", ")
        ),
        "examples": [example],
        "pattern": format!(r"^\s*[0-9]+(\.[0-9]+)?\s*({})\s*$", accepted.join("|")),
        KEYWORD: M::SCALE,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Size, Time};

    #[test]
    fn serde_gives_the_same_refusals() {
        let refusal = |json: &str| serde_json::from_str::<Time>(json).unwrap_err().to_string();
        assert!(refusal("800").starts_with("800 has no unit (one of ns, us, ms, s, min, h, d)"));
        assert!(refusal("-1").starts_with("-1 is negative"));
        assert!(refusal("1.5").starts_with("1.5 has no unit (one of ns, us, ms, s, min, h, d)"));
        assert!(
            refusal(r#""8""#).starts_with(r#""8" has no unit (one of ns, us, ms, s, min, h, d)"#)
        );
        assert!(refusal("true").contains(r#"expected a time such as "25 us""#));
    }

    #[test]
    fn the_schema_serves_editors() {
        let schema = json_schema::<Size>();
        assert_eq!(schema.get("format").unwrap(), "flashscape-size");
        assert_eq!(
            schema.get("description").unwrap(),
            "A size with its unit, for example \"4 KiB\". \
             Units: B, KiB, MiB, GiB, TiB, kB, MB, GB, TB."
        );
        let pattern = schema.get("pattern").unwrap().as_str().unwrap();
        assert!(pattern.contains("|KB|"), "other spellings are accepted: {pattern}");
    }
}
