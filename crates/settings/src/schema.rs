//! The JSON schema of a configuration type, for editors.

use schemars::{JsonSchema, SchemaGenerator};
use serde_json::{Value, json};

use crate::shape::{Node, Shape};

/// The schema as serde reads the type; the walk goes along it.
pub(crate) fn exact<T: JsonSchema>() -> Value {
    SchemaGenerator::default().into_root_schema_for::<T>().to_value()
}

/// The JSON schema (draft 2020-12) of what may be written for `T`: with titles
/// and descriptions from the doc comments, and with the word that stands for a
/// tagged table without parameters.
pub fn schema<T: JsonSchema>() -> Value {
    let exact = exact::<T>();
    let mut written = exact.clone();
    let mut places = Vec::new();
    find_alternatives(&exact, String::new(), &mut places);
    for place in places {
        let alternatives = exact.pointer(&place).expect("the place was just found");
        let node = json!({"oneOf": alternatives, "$defs": exact.get("$defs")});
        let Shape::Tagged(tagged) = Node::of(&node).shape() else { continue };
        let bare = tagged.variants.iter().filter(|(_, table)| table.required.len() == 1);
        let words: Vec<&str> = bare.map(|(name, _)| *name).collect();
        if words.is_empty() {
            continue;
        }
        let list = written.pointer_mut(&place).and_then(Value::as_array_mut);
        list.expect("the copy has the same places").push(json!({"type": "string", "enum": words}));
    }
    written
}

/// The JSON pointers of all alternatives below `schema`.
fn find_alternatives(schema: &Value, at: String, found: &mut Vec<String>) {
    let below = |key: &str| format!("{at}/{}", key.replace('~', "~0").replace('/', "~1"));
    match schema {
        Value::Object(object) => {
            for (key, value) in object {
                if key == "oneOf" && value.is_array() {
                    found.push(below(key));
                }
                find_alternatives(value, below(key), found);
            }
        }
        Value::Array(list) => {
            for (index, value) in list.iter().enumerate() {
                find_alternatives(value, below(&index.to_string()), found);
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Time;

    /// How often.
    #[derive(JsonSchema)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "only its schema is looked at")]
    struct Patrol {
        /// Time between rounds.
        period: Time,
        order: Order,
    }

    #[derive(JsonSchema)]
    #[serde(tag = "policy", rename_all = "kebab-case")]
    #[expect(dead_code, reason = "only its schema is looked at")]
    enum Order {
        OldestFirst,
        Random { choices: u32 },
    }

    #[test]
    fn editors_get_titles_descriptions_and_shorthands() {
        let schema = schema::<Patrol>();
        assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
        assert_eq!(schema["title"], "Patrol");
        assert_eq!(schema["description"], "How often.");
        assert_eq!(schema["properties"]["period"]["description"], "Time between rounds.");
        assert_eq!(schema["$defs"]["Time"]["format"], "flashscape-time");
        let order = schema["$defs"]["Order"]["oneOf"].as_array().unwrap();
        // `random` needs its choices, so the word alone would not do.
        assert_eq!(order[2], json!({"type": "string", "enum": ["oldest-first"]}));
        assert_eq!(order.len(), 3);
    }
}
