//! Reader of a JSON schema: what may stand at one place, in the few terms that configurations
//! need. Shapes are computed one level at a time during the walk, so that schemas may refer to
//! themselves.

use serde::Deserialize;
use serde_json::{Map, Number, Value};

use crate::scale::{self, Scale};

/// The keyword for common wrong words and the right ones.
const MEANT: &str = "x-meant";

/// The keyword for former names of keys, which are accepted.
const RENAMED: &str = "x-renamed";

/// The word that removes an optional table, also one of a preset.
pub(crate) const NONE: &str = "none";

/// One place of a schema: an object, and the targets of its `$ref`s. The nearest one counts
/// first.
///
/// The default is a place where anything may stand.
#[derive(Clone, Debug, Default)]
pub(crate) struct Node<'s> {
    root: Option<&'s Value>,
    chain: Vec<&'s Map<String, Value>>,
}

/// Shape of the values allowed at a place.
#[derive(Debug)]
pub(crate) enum Shape<'s> {
    /// Anything; serde decides.
    Any,
    Bool,
    Integer(Bounds),
    Number(Bounds),
    Text(Lengths),
    Quantity(Scale<'s>),
    /// One of these words.
    Choice(Vec<&'s str>),
    Table(Table<'s>),
    /// A table with a tag that decides about its other keys.
    Tagged(Tagged<'s>),
    List(List<'s>),
    /// Any of these shapes.
    Either(Vec<Node<'s>>),
}

/// The range of a number: its limits, and those that it must not reach.
#[derive(Debug, Default)]
pub(crate) struct Bounds {
    pub least: Option<Number>,
    pub most: Option<Number>,
    pub above: Option<Number>,
    pub below: Option<Number>,
}

/// The range of a length.
#[derive(Debug)]
pub(crate) struct Lengths {
    pub least: Option<u64>,
    pub most: Option<u64>,
}

/// The keys of a table.
#[derive(Debug)]
pub(crate) struct Table<'s> {
    pub keys: Vec<(&'s str, Node<'s>)>,
    pub required: Vec<&'s str>,
    /// Shape of the values of other keys, if any are allowed.
    pub others: Option<Node<'s>>,
}

/// The variants of a tagged table.
#[derive(Debug)]
pub(crate) struct Tagged<'s> {
    pub tag: &'s str,
    pub variants: Vec<(&'s str, Table<'s>)>,
}

/// The entries of a list.
#[derive(Debug)]
pub(crate) struct List<'s> {
    /// The entries with a shape of their own, by position.
    pub first: Vec<Node<'s>>,
    /// All other entries.
    pub rest: Node<'s>,
    pub lengths: Lengths,
}

impl<'s> Node<'s> {
    /// The place of the whole schema.
    pub fn of(root: &'s Value) -> Self {
        Self { root: Some(root), chain: Vec::new() }.at(root)
    }

    fn at(&self, schema: &'s Value) -> Self {
        let mut chain = Vec::new();
        let mut next = schema.as_object();
        while let Some(object) = next {
            chain.push(object);
            let target = object.get("$ref").and_then(Value::as_str);
            // schemars refers within the schema only: "#/$defs/Name".
            let target = target.and_then(|text| self.root?.pointer(text.strip_prefix('#')?));
            next = target.and_then(Value::as_object);
        }
        Self { root: self.root, chain }
    }

    fn get(&self, keyword: &str) -> Option<&'s Value> {
        self.chain.iter().find_map(|object| object.get(keyword))
    }

    fn all(&self, keyword: &'s str) -> impl Iterator<Item = &'s Value> {
        self.chain.iter().filter_map(move |object| object.get(keyword))
    }

    fn number(&self, keyword: &str) -> Option<Number> {
        self.get(keyword).and_then(Value::as_number).cloned()
    }

    /// The types that the schema names, without null.
    fn types(&self) -> Vec<&'s str> {
        let types = match self.get("type") {
            Some(Value::String(name)) => vec![name.as_str()],
            Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).collect(),
            _ => Vec::new(),
        };
        types.into_iter().filter(|name| *name != "null").collect()
    }

    fn alternatives(&self) -> Vec<Node<'s>> {
        let alternatives = self.get("oneOf").or_else(|| self.get("anyOf"));
        let alternatives = alternatives.and_then(Value::as_array).into_iter().flatten();
        alternatives.map(|schema| self.at(schema)).collect()
    }

    fn is_null(&self) -> bool {
        self.get("type").is_some_and(|name| name == "null")
    }

    /// True if null, like Python's None, removes the value.
    pub fn allows_null(&self) -> bool {
        let listed =
            |list: &Value| list.as_array().is_some_and(|names| names.contains(&"null".into()));
        self.chain.is_empty()
            || self.is_null()
            || self.get("type").is_some_and(listed)
            || self.alternatives().iter().any(Self::allows_null)
    }

    /// True for a table, or one or a list of such, that may be missing. The word [`NONE`] removes
    /// it, which TOML has instead of null. If a text is allowed at the place, the word means
    /// itself.
    pub fn may_be_none(&self) -> bool {
        let is_of_tables = match self.shape() {
            Shape::Table(_) => true,
            Shape::Either(nodes) => {
                let is_one = |node: &Self| match node.shape() {
                    Shape::Table(_) => true,
                    Shape::List(list) => matches!(list.rest.shape(), Shape::Table(_)),
                    _ => false,
                };
                nodes.iter().all(is_one)
            }
            _ => false,
        };
        is_of_tables && self.allows_null()
    }

    /// True for a table whose keys exclude one another, also if a list of such is allowed.
    pub fn takes_one_key(&self) -> bool {
        self.get("maxProperties").and_then(Value::as_u64) == Some(1)
            || matches!(self.shape(), Shape::Either(nodes) if nodes.iter().any(Self::takes_one_key))
    }

    /// The right word for a common wrong one, such as the name of a key or a choice in other
    /// programs.
    pub fn meant(&self, word: &str) -> Option<&'s str> {
        self.other_name(MEANT, word)
    }

    /// The current name of a key with this former name.
    pub fn renamed(&self, key: &str) -> Option<&'s str> {
        self.other_name(RENAMED, key)
    }

    /// The partner of a word in a list of pairs.
    fn other_name(&self, keyword: &'static str, word: &str) -> Option<&'s str> {
        let pairs = self.all(keyword).filter_map(Value::as_array).flatten();
        let mut pairs = pairs.filter_map(Value::as_array);
        let pair = pairs.find(|pair| pair.first().and_then(Value::as_str) == Some(word));
        pair.and_then(|pair| pair.get(1)?.as_str())
            .or_else(|| self.alternatives().iter().find_map(|node| node.other_name(keyword, word)))
    }

    /// Shape of the values allowed here, null aside.
    pub fn shape(&self) -> Shape<'s> {
        if let Some(words) = self.words() {
            return Shape::Choice(words);
        }
        let mut alternatives = self.alternatives();
        alternatives.retain(|node| !node.is_null());
        if let Some(mut tagged) = tagged(&alternatives) {
            tagged.share(&self.table());
            return Shape::Tagged(tagged);
        }
        match (alternatives.len(), self.types().as_slice()) {
            (1, _) => alternatives[0].shape(),
            (2.., _) => Shape::Either(alternatives),
            (0, [name]) => self.simple(name),
            (0, _) => Shape::Any,
        }
    }

    /// The words of an enumeration without parameters.
    fn words(&self) -> Option<Vec<&'s str>> {
        if let Some(word) = self.get("const") {
            return word.as_str().map(|word| vec![word]);
        }
        if let Some(words) = self.get("enum").and_then(Value::as_array) {
            let words: Option<Vec<_>> =
                words.iter().filter(|word| !word.is_null()).map(Value::as_str).collect();
            return words;
        }
        let mut alternatives = self.alternatives();
        alternatives.retain(|node| !node.is_null());
        let words: Vec<_> = alternatives.iter().map(Self::words).collect::<Option<_>>()?;
        if words.is_empty() { None } else { Some(words.concat()) }
    }

    fn simple(&self, name: &str) -> Shape<'s> {
        match name {
            "boolean" => Shape::Bool,
            "integer" => Shape::Integer(self.bounds()),
            "number" => Shape::Number(self.bounds()),
            "string" => match self.get(scale::KEYWORD).map(Scale::deserialize) {
                Some(Ok(scale)) => Shape::Quantity(scale),
                _ => Shape::Text(self.lengths("minLength", "maxLength")),
            },
            "object" => Shape::Table(self.table()),
            "array" => Shape::List(List {
                first: self.array("prefixItems").map(|schema| self.at(schema)).collect(),
                rest: self.get("items").map(|schema| self.at(schema)).unwrap_or_default(),
                lengths: self.lengths("minItems", "maxItems"),
            }),
            _ => Shape::Any,
        }
    }

    fn array(&self, keyword: &str) -> impl Iterator<Item = &'s Value> + use<'s> {
        self.get(keyword).and_then(Value::as_array).into_iter().flatten()
    }

    fn lengths(&self, least: &str, most: &str) -> Lengths {
        let length = |keyword| self.get(keyword).and_then(Value::as_u64);
        Lengths { least: length(least), most: length(most) }
    }

    fn bounds(&self) -> Bounds {
        let (narrowest, widest) = self.width();
        Bounds {
            least: self.number("minimum").or(narrowest),
            most: self.number("maximum").or(widest),
            above: self.number("exclusiveMinimum"),
            below: self.number("exclusiveMaximum"),
        }
    }

    /// Limits of the integer type: schemars states them for small types only.
    fn width(&self) -> (Option<Number>, Option<Number>) {
        match self.get("format").and_then(Value::as_str) {
            Some("uint32") => (Some(0.into()), Some(u32::MAX.into())),
            Some("uint64" | "uint") => (Some(0.into()), Some(u64::MAX.into())),
            Some("int32") => (Some(i32::MIN.into()), Some(i32::MAX.into())),
            Some("int64" | "int") => (Some(i64::MIN.into()), Some(i64::MAX.into())),
            _ => (None, None),
        }
    }

    fn table(&self) -> Table<'s> {
        let properties = self.all("properties").filter_map(Value::as_object).flatten();
        let required = self.all("required").filter_map(Value::as_array).flatten();
        // A struct without `deny_unknown_fields` is as closed as one with it.
        let others =
            self.get("additionalProperties").filter(|schema| **schema != Value::Bool(false));
        Table {
            keys: properties.map(|(key, schema)| (key.as_str(), self.at(schema))).collect(),
            required: required.filter_map(Value::as_str).collect(),
            others: others.map(|schema| self.at(schema)),
        }
    }
}

impl<'s> Table<'s> {
    /// The place of `key`, if that is a key.
    pub fn node(&self, key: &str) -> Option<&Node<'s>> {
        let known = self.keys.iter().find(|(name, _)| *name == key).map(|(_, node)| node);
        known.or(self.others.as_ref())
    }

    /// The only word that `key` may have, if there is only one.
    fn word(&self, key: &str) -> Option<&'s str> {
        let (_, node) = self.keys.iter().find(|(name, _)| *name == key)?;
        node.get("const").and_then(Value::as_str)
    }
}

impl<'s> Tagged<'s> {
    /// All values of the tag.
    pub fn names(&self) -> Vec<&'s str> {
        self.variants.iter().map(|(name, _)| *name).collect()
    }

    /// The keys of a variant.
    pub fn variant(&self, name: &str) -> Option<&Table<'s>> {
        self.variants.iter().find(|(known, _)| *known == name).map(|(_, table)| table)
    }

    /// Adds keys beside the alternatives, which therefore belong to every variant, as a flattened
    /// enum writes them.
    fn share(&mut self, beside: &Table<'s>) {
        for (_, table) in &mut self.variants {
            table.keys.extend(beside.keys.iter().cloned());
            table.required.extend(&beside.required);
        }
    }

    /// Expands a single word to a table with this tag: `victim = "greedy"`.
    pub fn expand(&self, value: &mut Value) {
        if value.is_string() {
            let tag = std::mem::take(value);
            *value = Value::Object(Map::from_iter([(self.tag.to_owned(), tag)]));
        }
    }
}

/// Tables that all require one key with a different word each are tagged.
fn tagged<'s>(alternatives: &[Node<'s>]) -> Option<Tagged<'s>> {
    let is_table = |node: &Node<'s>| node.types() == ["object"];
    if alternatives.is_empty() || !alternatives.iter().all(is_table) {
        return None;
    }
    let tables: Vec<Table<'s>> = alternatives.iter().map(Node::table).collect();
    let has_word =
        |table: &Table<'s>, key: &str| table.required.contains(&key) && table.word(key).is_some();
    let mut keys = tables[0].keys.iter().map(|(key, _)| *key);
    let tag = keys.find(|key| tables.iter().all(|table| has_word(table, key)))?;
    let named = tables.into_iter().filter_map(|table| Some((table.word(tag)?, table)));
    Some(Tagged { tag, variants: named.collect() })
}
