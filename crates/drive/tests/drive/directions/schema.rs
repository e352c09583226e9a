//! The parameters of a configuration, found in its JSON schema.
//!
//! A parameter is a key that holds a value: `drive.nand.decode`. The name does not include
//! positions in lists, so it is the same for all entries. A key that belongs to a tag names the
//! tag's value: `workload.addresses(zipf).theta`; the tag itself is a parameter, and all its values
//! count. In a table whose keys are free, `*` stands for each of them. The search knows the forms of configuration types (see `settings`), and stops at any
//! other form, so that it skips nothing in silence.

use drive::Experiment;
use drive::presets::PRESETS;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// The parameters of a configuration.
#[derive(Debug, Default)]
pub struct Parameters {
    /// By name, the values of each parameter that has a fixed list of them.
    pub words: BTreeMap<String, Vec<String>>,
    /// The tag of each tagged table.
    tags: BTreeMap<String, String>,
}

impl Parameters {
    /// The parameters of an experiment, as `flashscape schema` prints it.
    pub fn of_experiment() -> Self {
        let presets: Vec<_> = PRESETS.iter().map(|preset| preset.name).collect();
        Self::of(&settings::schema_under_presets::<Experiment>("drive", &presets))
    }

    /// The parameters that a schema describes.
    pub fn of(schema: &Value) -> Self {
        let mut found = Self::default();
        found.node(&inlined(schema, schema), "");
        found
    }

    /// The parameters below a table, or the table's tag and the keys that belong to it.
    pub fn is_below(name: &str, table: &str) -> bool {
        name.strip_prefix(table).is_some_and(|rest| rest.starts_with(['.', '(']))
    }

    /// The values that a resolved configuration gives to its parameters; a list gives several
    /// values to one parameter.
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

    /// The name of the key `key` of a table.
    fn key(&self, table: &Map<String, Value>, name: &str, key: &str) -> String {
        let Some(tag) = self.tags.get(name).filter(|tag| *tag != key) else {
            let [own, any] = [key, "*"].map(|key| join(name, key));
            return if self.is_known(&own) || !self.is_known(&any) { own } else { any };
        };
        let word = table.get(tag).and_then(Value::as_str).unwrap_or_default();
        let with_tag = join(&format!("{name}({word})"), key);
        // Keys beside a flattened choice belong to all of its tags.
        if self.is_known(&with_tag) { with_tag } else { join(name, key) }
    }
    fn is_known(&self, name: &str) -> bool {
        self.words.keys().any(|known| known == name || Self::is_below(known, name))
    }

    fn leaf(&mut self, name: &str, words: &[String]) {
        self.words.entry(name.to_owned()).or_default().extend_from_slice(words);
    }

    fn node(&mut self, node: &Value, name: &str) {
        if let Some(words) = words(node) {
            return self.leaf(name, &words);
        }
        let alternatives = alternatives(node);
        if let Some(tag) = tag(&alternatives) {
            self.tagged(&alternatives, tag, name);
        }
        if let Some(keys) = node.get("properties").and_then(Value::as_object) {
            return keys.iter().for_each(|(key, at)| self.node(at, &join(name, key)));
        }
        if let Some(at) = node.get("additionalProperties").filter(|at| at.is_object()) {
            return self.node(at, &join(name, "*"));
        }
        if !alternatives.is_empty() {
            if !self.tags.contains_key(name) {
                alternatives.iter().for_each(|node| self.node(node, name));
            }
            return;
        }
        match types(node).as_slice() {
            ["array"] => self.node(&node["items"], name),
            ["boolean"] => self.leaf(name, &["false".into(), "true".into()]),
            ["string" | "integer" | "number"] => self.leaf(name, &[]),
            _ => panic!("{name}: the walk of the schema does not know {node}"),
        }
    }

    fn tagged(&mut self, alternatives: &[&Value], tag: &str, name: &str) {
        self.tags.insert(name.to_owned(), tag.to_owned());
        for table in alternatives {
            let Some(keys) = table.get("properties").and_then(Value::as_object) else { continue };
            let word = words(&keys[tag]).expect("a tag is a word").concat();
            self.leaf(&join(name, tag), std::slice::from_ref(&word));
            for (key, at) in keys.iter().filter(|(key, _)| *key != tag) {
                self.node(at, &join(&format!("{name}({word})"), key));
            }
        }
    }
}

fn join(name: &str, key: &str) -> String {
    if name.is_empty() { key.to_owned() } else { format!("{name}.{key}") }
}

/// A schema whose `$ref`s are replaced by their targets, joined with the keys beside them.
fn inlined(root: &Value, node: &Value) -> Value {
    match node {
        Value::Array(list) => list.iter().map(|entry| inlined(root, entry)).collect(),
        Value::Object(object) => {
            let beside =
                object.iter().filter(|(key, _)| !["$ref", "$defs"].contains(&key.as_str()));
            let mut whole: Value =
                beside.map(|(key, value)| (key.clone(), inlined(root, value))).collect();
            if let Some(target) = object.get("$ref").and_then(Value::as_str) {
                let target = target.strip_prefix('#').and_then(|at| root.pointer(at));
                join_under(&mut whole, inlined(root, target.expect("a reference leads somewhere")));
            }
            whole
        }
        plain => plain.clone(),
    }
}

/// Adds the keys of `below` that `whole` lacks.
fn join_under(whole: &mut Value, below: Value) {
    let (Value::Object(whole), Value::Object(below)) = (whole, below) else { return };
    for (key, value) in below {
        match whole.get_mut(&key) {
            Some(here) => join_under(here, value),
            None => drop(whole.insert(key, value)),
        }
    }
}

/// The types of a schema, without null.
fn types(node: &Value) -> Vec<&str> {
    let types = match node.get("type") {
        Some(Value::String(name)) => vec![name.as_str()],
        Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    types.into_iter().filter(|name| *name != "null").collect()
}

/// The alternatives of a schema, without null and mere conditions.
fn alternatives(node: &Value) -> Vec<&Value> {
    let listed = node.get("oneOf").or_else(|| node.get("anyOf"));
    let listed = listed.and_then(Value::as_array).into_iter().flatten();
    // In TOML a word stands for null.
    let is_null = |node: &Value| {
        node.get("type").is_some_and(|name| name == "null")
            || *node == serde_json::json!({ "const": "none" })
    };
    let is_condition = |node: &Value| {
        node.as_object().is_some_and(|node| node.keys().all(|key| key == "required"))
    };
    listed.filter(|node| !is_null(node) && !is_condition(node)).collect()
}

/// The words of an enumeration.
fn words(node: &Value) -> Option<Vec<String>> {
    let text = |word: &Value| word.as_str().map(str::to_owned);
    if let Some(word) = node.get("const") {
        return text(word).map(|word| vec![word]);
    }
    if let Some(list) = node.get("enum").and_then(Value::as_array) {
        return list.iter().filter(|word| !word.is_null()).map(text).collect();
    }
    let words: Option<Vec<_>> = alternatives(node).into_iter().map(words).collect();
    words.map(|words| words.concat()).filter(|words| !words.is_empty())
}

/// The key that distinguishes tables, each of which has another word there. (The word alone may
/// replace its table, which is the same value written shorter.)
fn tag<'s>(alternatives: &[&'s Value]) -> Option<&'s str> {
    let tables: Vec<_> = alternatives
        .iter()
        .filter(|node| words(node).is_none())
        .map(|node| node.get("properties").and_then(Value::as_object))
        .collect::<Option<_>>()?;
    let holds_word = |table: &&Map<String, Value>, key: &str| {
        table.get(key).is_some_and(|node| node.get("const").is_some())
    };
    let mut keys = tables.first()?.keys();
    keys.find(|key| tables.iter().all(|table| holds_word(table, key))).map(String::as_str)
}
