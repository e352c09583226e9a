//! Layers of configurations: tables join key by key, everything else replaces the value below. A
//! tagged table replaces one with another tag as a whole, because the parameters of the old
//! choice mean nothing for the new one. So does a table that takes one key, whose keys exclude
//! one another.

use serde_json::{Map, Value};

use crate::path;
use crate::shape::{Node, Shape, Table};
use crate::source::Places;

/// The parts of the lower of two layers that remain.
#[derive(Default)]
pub(crate) struct Overlay {
    /// Paths whose values come entirely from the lower layer.
    whole: Vec<String>,
    /// Paths of tables with keys from both layers.
    shared: Vec<String>,
    /// Tables that have no key in the upper layer, so that it changes nothing.
    empty: Vec<Empty>,
}

/// A table without a key in the upper layer.
pub(crate) struct Empty {
    pub path: String,
    pub is_optional: bool,
}

impl Overlay {
    /// `over` laid on `base`, both at the path `at`.
    pub fn join(&mut self, mut over: Value, mut base: Value, node: &Node<'_>, at: &str) -> Value {
        if let Shape::Tagged(tagged) = node.shape() {
            tagged.expand(&mut over);
            tagged.expand(&mut base);
            if let (Some(new), Some(old)) = (over.get(tagged.tag), base.get(tagged.tag))
                && new != old
            {
                return over;
            }
        }
        match (over, base) {
            (Value::Object(over), Value::Object(base)) if !node.takes_one_key() => {
                self.join_tables(over, base, node, at).into()
            }
            (over, _) => over,
        }
    }

    fn join_tables(
        &mut self,
        mut over: Map<String, Value>,
        base: Map<String, Value>,
        node: &Node<'_>,
        at: &str,
    ) -> Map<String, Value> {
        self.shared.push(at.to_owned());
        // A file without any key is another one's problem.
        if over.is_empty() && !base.is_empty() && !at.is_empty() {
            self.empty.push(Empty { path: at.to_owned(), is_optional: node.may_be_none() });
        }
        let keys = table(node, &over).or_else(|| table(node, &base));
        let mut joined = Map::new();
        for (key, below) in base {
            let path = path::key(at, &key);
            let value = match over.shift_remove(&key) {
                Some(above) => {
                    let inner = keys.as_ref().and_then(|keys| keys.node(&key)).cloned();
                    self.join(above, below, &inner.unwrap_or_default(), &path)
                }
                None => {
                    self.whole.push(path);
                    below
                }
            };
            joined.insert(key, value);
        }
        for (key, above) in &over {
            let inner = keys.as_ref().and_then(|keys| keys.node(key));
            let is_empty = above.as_object().is_some_and(Map::is_empty);
            // A table that may be left out may mean something without any key.
            if is_empty && inner.is_some_and(|inner| !inner.may_be_none()) {
                self.empty.push(Empty { path: path::key(at, key), is_optional: false });
            }
        }
        joined.extend(over);
        joined
    }

    /// True for a table with keys from both layers.
    pub fn is_shared(&self, path: &str) -> bool {
        self.shared.iter().any(|shared| shared == path)
    }

    /// Tables that have no key in the upper layer.
    pub fn empty(&self) -> &[Empty] {
        &self.empty
    }

    /// The places of the joined tree, from those of both layers. The lower layer was joined at
    /// `at`; elsewhere it is unchanged.
    pub fn places(&self, over: Places, base: Places, at: &str) -> Places {
        let left = |path: &str| {
            !path::is_within(path, at)
                || self.is_shared(path)
                || self.whole.iter().any(|whole| path::is_within(path, whole))
        };
        let mut places: Places = base.into_iter().filter(|(path, _)| left(path)).collect();
        places.extend(over);
        places
    }
}

/// The keys of a table at `node`, if the schema and the table's tag determine them.
pub(crate) fn table<'s>(node: &Node<'s>, values: &Map<String, Value>) -> Option<Table<'s>> {
    match node.shape() {
        Shape::Table(table) => Some(table),
        Shape::Tagged(mut tagged) => {
            let name = values.get(tagged.tag)?.as_str()?;
            let at = tagged.variants.iter().position(|(known, _)| *known == name)?;
            Some(tagged.variants.swap_remove(at).1)
        }
        Shape::Either(nodes) => {
            let mut tables = nodes.iter().filter_map(|node| table(node, values));
            // Of two tables it is unknown which one is meant.
            tables.next().filter(|_| tables.next().is_none())
        }
        _ => None,
    }
}
