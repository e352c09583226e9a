//! The parameters of a configuration, by a walk of its JSON schema.
//!
//! A parameter is a key that holds a value: `drive.nand.decode`. Lists are left out
//! of the name, which is alike for all entries. A key that comes with a tag names the
//! tag's value: `workload.addresses(zipf).theta`; the tag itself is a parameter of
//! which every value counts. The walk knows the forms that configuration types have
//! (`settings`, on what they must keep to), and stops at any other, so that nothing is
//! passed over in silence.

use drive::Experiment;
use drive::presets::PRESETS;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// The parameters of a configuration.
#[derive(Debug, Default)]
pub struct Parameters {
    /// By name, the values that each can take, where it takes one of a few.
    pub words: BTreeMap<String, Vec<String>>,
    /// The tag of each tagged table.
    tags: BTreeMap<String, String>,
}

impl Parameters {
    /// Those of an experiment, as `flashscape schema` prints it.
    pub fn of_experiment() -> Self {
        let presets: Vec<_> = PRESETS.iter().map(|preset| preset.name).collect();
        Self::of(&settings::schema_under_presets::<Experiment>("drive", &presets))
    }

    /// Those that a schema describes.
    pub fn of(schema: &Value) -> Self {
        let mut found = Self::default();
        found.node(schema, schema, "");
        found
    }

    /// The parameters below a table, or the table's tag and what comes with it.
    pub fn is_below(name: &str, table: &str) -> bool {
        name.strip_prefix(table).is_some_and(|rest| rest.starts_with(['.', '(']))
    }

    /// The values that a resolved configuration gives to its parameters; a list gives
    /// several to one.
    pub fn values(&self, configuration: &Value) -> BTreeMap<String, Vec<Value>> {
        let mut values = BTreeMap::new();
        self.collect(configuration, "", &mut values);
        values
    }

    fn collect(&self, value: &Value, name: &str, into: &mut BTreeMap<String, Vec<Value>>) {
        match value {
            Value::Null => {}
            Value::Array(list) => list.iter().for_each(|entry| self.collect(entry, name, into)),
            Value::Object(table) => {
                for (key, value) in table {
                    self.collect(value, &self.key(table, name, key), into);
                }
            }
            plain => {
                assert!(self.words.contains_key(name), "{name} = {plain} is not in the schema");
                into.entry(name.to_owned()).or_default().push(plain.clone());
            }
        }
    }

    /// The name of what a table holds at `key`.
    fn key(&self, table: &Map<String, Value>, name: &str, key: &str) -> String {
        let Some(tag) = self.tags.get(name).filter(|tag| *tag != key) else {
            return join(name, key);
        };
        let word = table.get(tag).and_then(Value::as_str).unwrap_or_default();
        let with_tag = join(&format!("{name}({word})"), key);
        let is_known = |known: &String| *known == with_tag || Self::is_below(known, &with_tag);
        // What stands beside a flattened choice goes with all of its tags.
        if self.words.keys().any(is_known) { with_tag } else { join(name, key) }
    }

    fn leaf(&mut self, name: &str, words: &[String]) {
        self.words.entry(name.to_owned()).or_default().extend_from_slice(words);
    }

    fn node(&mut self, root: &Value, node: &Value, name: &str) {
        let node = resolved(root, node);
        if let Some(words) = words(root, node) {
            return self.leaf(name, &words);
        }
        let alternatives = alternatives(root, node);
        if let Some(tag) = tag(root, &alternatives) {
            self.tagged(root, &alternatives, &tag, name);
        }
        if let Some(keys) = node.get("properties").and_then(Value::as_object) {
            return keys.iter().for_each(|(key, at)| self.node(root, at, &join(name, key)));
        }
        if !alternatives.is_empty() {
            if !self.tags.contains_key(name) {
                alternatives.iter().for_each(|node| self.node(root, node, name));
            }
            return;
        }
        match types(node).as_slice() {
            ["array"] => self.node(root, &node["items"], name),
            ["boolean"] => self.leaf(name, &["false".into(), "true".into()]),
            ["string" | "integer" | "number"] => self.leaf(name, &[]),
            _ => panic!("{name}: the walk of the schema does not know {node}"),
        }
    }

    fn tagged(&mut self, root: &Value, alternatives: &[&Value], tag: &str, name: &str) {
        self.tags.insert(name.to_owned(), tag.to_owned());
        for table in alternatives {
            let table = resolved(root, table);
            let Some(keys) = table.get("properties").and_then(Value::as_object) else { continue };
            let word = words(root, resolved(root, &keys[tag])).expect("a tag is a word").concat();
            self.leaf(&join(name, tag), std::slice::from_ref(&word));
            for (key, at) in keys.iter().filter(|(key, _)| *key != tag) {
                self.node(root, at, &join(&format!("{name}({word})"), key));
            }
        }
    }
}

fn join(name: &str, key: &str) -> String {
    if name.is_empty() { key.to_owned() } else { format!("{name}.{key}") }
}

/// What a `$ref` leads to.
fn resolved<'s>(root: &'s Value, node: &'s Value) -> &'s Value {
    let Some(target) = node.get("$ref").and_then(Value::as_str) else { return node };
    let target = target.strip_prefix('#').and_then(|at| root.pointer(at));
    resolved(root, target.expect("a reference leads somewhere"))
}

/// The types of a place without null.
fn types(node: &Value) -> Vec<&str> {
    let types = match node.get("type") {
        Some(Value::String(name)) => vec![name.as_str()],
        Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    types.into_iter().filter(|name| *name != "null").collect()
}

/// What may stand at a place, null and mere conditions aside.
fn alternatives<'s>(root: &'s Value, node: &'s Value) -> Vec<&'s Value> {
    let listed = node.get("oneOf").or_else(|| node.get("anyOf"));
    let listed = listed.and_then(Value::as_array).into_iter().flatten();
    let is_null = |node: &Value| node.get("type").is_some_and(|name| name == "null");
    let is_condition = |node: &Value| {
        node.as_object().is_some_and(|node| node.keys().all(|key| key == "required"))
    };
    let listed = listed.map(|node| resolved(root, node));
    listed.filter(|node| !is_null(node) && !is_condition(node)).collect()
}

/// The words of an enumeration.
fn words(root: &Value, node: &Value) -> Option<Vec<String>> {
    let text = |word: &Value| word.as_str().map(str::to_owned);
    if let Some(word) = node.get("const") {
        return text(word).map(|word| vec![word]);
    }
    if let Some(list) = node.get("enum").and_then(Value::as_array) {
        return list.iter().filter(|word| !word.is_null()).map(text).collect();
    }
    let alternatives = alternatives(root, node);
    let words: Option<Vec<_>> = alternatives.iter().map(|node| words(root, node)).collect();
    words.map(|words| words.concat()).filter(|words| !words.is_empty())
}

/// The key that tells tables apart, each of which holds another word there. (The word
/// alone may stand for its table, which is the same value written shorter.)
fn tag(root: &Value, alternatives: &[&Value]) -> Option<String> {
    let tables: Vec<_> = alternatives
        .iter()
        .filter(|node| words(root, node).is_none())
        .map(|node| node.get("properties").and_then(Value::as_object))
        .collect::<Option<_>>()?;
    let holds_word = |table: &&Map<String, Value>, key: &str| {
        table.get(key).is_some_and(|node| resolved(root, node).get("const").is_some())
    };
    let mut keys = tables.first()?.keys();
    keys.find(|key| tables.iter().all(|table| holds_word(table, key))).cloned()
}
