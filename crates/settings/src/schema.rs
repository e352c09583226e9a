//! The JSON schema of a configuration type, for editors.

use std::any::TypeId;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use schemars::{JsonSchema, SchemaGenerator};
use serde_json::{Value, json};

use crate::shape::{NONE, Node, Shape};

/// The schema as serde reads the type; the walk follows it.
///
/// Kept for the life of the process: it takes half a millisecond to make, and each override of
/// each variation asks for it.
pub(crate) fn exact<T: JsonSchema + 'static>() -> Arc<Value> {
    static MADE: Mutex<BTreeMap<TypeId, Arc<Value>>> = Mutex::new(BTreeMap::new());
    // Entries are whole, so a panic elsewhere does not spoil them.
    let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
    let make = || Arc::new(SchemaGenerator::default().into_root_schema_for::<T>().to_value());
    made.entry(TypeId::of::<T>()).or_insert_with(make).clone()
}

/// The JSON schema (draft 2020-12) of everything that may be written for `T`: with titles and
/// descriptions from the doc comments, with the word for a tagged table without parameters, and
/// with the word that removes a table.
pub fn schema<T: JsonSchema + 'static>() -> Value {
    let exact = exact::<T>();
    let mut written = (*exact).clone();
    let mut places = Vec::new();
    find_alternatives(&exact, "anyOf", String::new(), &mut places);
    for place in places {
        let alternatives = exact.pointer(&place).expect("the place was just found");
        let node = json!({"anyOf": alternatives, "$defs": exact.get("$defs")});
        if Node::of(&node).may_be_none() {
            let list = written.pointer_mut(&place).and_then(Value::as_array_mut);
            list.expect("the copy has the same places").push(json!({"const": NONE}));
        }
    }
    let mut places = Vec::new();
    find_alternatives(&exact, "oneOf", String::new(), &mut places);
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

/// As [`schema`], for a document whose table `part` is laid over the preset that its key `preset`
/// names: with a preset nothing else in the table, or in its parts, is required.
pub fn schema_under_presets<T: JsonSchema + 'static>(part: &str, presets: &[&str]) -> Value {
    let mut written = schema::<T>();
    let start = format!("/properties/{part}");
    let Some(table) = resolved(&written, &start) else { return written };
    let complete = written.pointer(&table).and_then(|table| table.get("required")).cloned();
    let mut seen = Vec::new();
    require_nothing(&mut written, start, &mut seen);
    if let Some(table) = written.pointer_mut(&table) {
        table["anyOf"] = json!([{"required": ["preset"]}, {"required": complete}]);
        table["properties"]["preset"]["enum"] =
            presets.iter().map(|name| json!(name)).chain([Value::Null]).collect();
    }
    written
}

/// JSON pointer of the description of the table at `at`: the target of its `$ref`.
fn resolved(root: &Value, at: &str) -> Option<String> {
    match root.pointer(at)?.get("$ref").and_then(Value::as_str) {
        Some(target) => Some(target.strip_prefix('#')?.to_owned()),
        None => Some(at.to_owned()),
    }
}

/// Makes every key optional at the JSON pointer `at` and in everything that it refers to, except
/// the tags that distinguish alternatives.
fn require_nothing(root: &mut Value, at: String, seen: &mut Vec<String>) {
    if seen.contains(&at) {
        return;
    }
    let Some(schema) = root.pointer_mut(&at) else { return };
    let mut below = Vec::new();
    match schema {
        Value::Object(object) => {
            let tags: Vec<Value> = object.get("properties").map_or(Vec::new(), |keys| {
                let keys = keys.as_object().into_iter().flatten();
                let tags = keys.filter(|(_, schema)| schema.get("const").is_some());
                tags.map(|(key, _)| key.clone().into()).collect()
            });
            if let Some(required) = object.get_mut("required").and_then(Value::as_array_mut) {
                required.retain(|key| tags.contains(key));
            }
            if let Some(target) = object.get("$ref").and_then(Value::as_str) {
                below.extend(target.strip_prefix('#').map(str::to_owned));
            }
            below.extend(object.keys().map(|key| pointer(&at, key)));
        }
        Value::Array(list) => below.extend((0..list.len()).map(|index| format!("{at}/{index}"))),
        _ => {}
    }
    seen.push(at);
    below.into_iter().for_each(|place| require_nothing(root, place, seen));
}

/// The JSON pointer of `key` below `at`.
fn pointer(at: &str, key: &str) -> String {
    format!("{at}/{}", key.replace('~', "~0").replace('/', "~1"))
}

/// The JSON pointers of all alternatives under `keyword` below `schema`.
fn find_alternatives(schema: &Value, keyword: &str, at: String, found: &mut Vec<String>) {
    let below = |key: &str| pointer(&at, key);
    match schema {
        Value::Object(object) => {
            for (key, value) in object {
                if key == keyword && value.is_array() {
                    found.push(below(key));
                }
                find_alternatives(value, keyword, below(key), found);
            }
        }
        Value::Array(list) => {
            for (index, value) in list.iter().enumerate() {
                find_alternatives(value, keyword, below(&index.to_string()), found);
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Time;

    /// Patrol rounds.
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
        assert_eq!(schema["description"], "Patrol rounds.");
        assert_eq!(schema["properties"]["period"]["description"], "Time between rounds.");
        assert_eq!(schema["$defs"]["Time"]["format"], "flashscape-time");
        let order = schema["$defs"]["Order"]["oneOf"].as_array().unwrap();
        // `random` needs its choices, so the word alone would not do.
        assert_eq!(order[2], json!({"type": "string", "enum": ["oldest-first"]}));
        assert_eq!(order.len(), 3);
    }

    #[derive(JsonSchema)]
    #[expect(dead_code, reason = "only its schema is looked at")]
    struct Ward {
        night: Night,
        day: Patrol,
    }

    #[derive(JsonSchema)]
    #[expect(dead_code, reason = "only its schema is looked at")]
    struct Night {
        preset: Option<String>,
        order: Order,
        watch: Watch,
    }

    #[derive(JsonSchema)]
    #[expect(dead_code, reason = "only its schema is looked at")]
    struct Watch {
        hours: u32,
    }

    #[derive(JsonSchema)]
    #[expect(dead_code, reason = "only its schema is looked at")]
    struct Shift {
        relief: Option<Patrol>,
        order: Option<Order>,
    }

    #[test]
    fn a_word_leaves_an_optional_table_out() {
        let shift = schema::<Shift>();
        let relief = shift["properties"]["relief"]["anyOf"].as_array().unwrap();
        assert_eq!(relief[1..], [json!({"type": "null"}), json!({"const": "none"})]);
        assert_eq!(shift["properties"]["order"]["anyOf"].as_array().unwrap().len(), 2);
    }

    #[test]
    fn what_a_preset_gives_need_not_be_written() {
        let schema = schema_under_presets::<Ward>("night", &["calm", "wild"]);
        assert_eq!(schema["required"], json!(["night", "day"]));
        assert_eq!(schema["$defs"]["Watch"]["required"], json!([]));
        assert_eq!(schema["$defs"]["Patrol"]["required"], json!(["period", "order"]));
        let night = &schema["$defs"]["Night"];
        assert_eq!(night["properties"]["preset"]["enum"], json!(["calm", "wild", null]));
        let whole = json!({"required": ["order", "watch"]});
        assert_eq!(night["anyOf"], json!([{"required": ["preset"]}, whole]));
        // Without its tag nobody could say which alternative is meant.
        assert_eq!(schema["$defs"]["Order"]["oneOf"][1]["required"], json!(["policy"]));
    }
}
