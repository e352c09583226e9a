//! Values that a file may write as a text or as a table. Serde's `untagged` would try each form
//! and, if none fits, report only that. Choosing by the shape of the value keeps the error
//! message of the intended form.

/// Implements `Deserialize` by the shape of the value.
macro_rules! text_or_table {
    ($($name:ident: $expects:literal {
        text => $text:ident, $(list => $list:ident,)? table => $table:ident,
    })+) => {$(
        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
                struct Shape;
                impl<'de> serde::de::Visitor<'de> for Shape {
                    type Value = $name;
                    fn expecting(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                        out.write_str($expects)
                    }
                    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<$name, E> {
                        let text = serde::de::value::StrDeserializer::new(text);
                        serde::Deserialize::deserialize(text).map($name::$text)
                    }
                    $(fn visit_seq<A: serde::de::SeqAccess<'de>>(
                        self,
                        list: A,
                    ) -> Result<$name, A::Error> {
                        let list = serde::de::value::SeqAccessDeserializer::new(list);
                        serde::Deserialize::deserialize(list).map($name::$list)
                    })?
                    fn visit_map<A: serde::de::MapAccess<'de>>(
                        self,
                        table: A,
                    ) -> Result<$name, A::Error> {
                        let table = serde::de::value::MapAccessDeserializer::new(table);
                        serde::Deserialize::deserialize(table).map($name::$table)
                    }
                }
                input.deserialize_any(Shape)
            }
        }
    )+};
}
pub(crate) use text_or_table;
