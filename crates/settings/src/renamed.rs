//! Keys with a new name. The former name is accepted, and a notice says so.
//!
//! A type lists them in its schema: `#[schemars(extend("x-renamed" = [["former", "current"]]))]`.

use serde_json::{Map, Value};

use crate::layer;
use crate::path::{self, Step};
use crate::shape::{List, Node, Shape};

/// A renamed key: its path as it was written, and its current path.
pub(crate) type Renamed = (String, String);

/// Gives all keys of `value`, which is at the path `at`, their current names. A table with a key
/// under both names keeps both: the walk refuses the former one.
pub(crate) fn rename(node: &Node<'_>, value: &mut Value, at: &str, found: &mut Vec<Renamed>) {
    match value {
        Value::Object(table) => {
            rename_keys(node, table, at, found);
            let Some(keys) = layer::table(node, table) else { return };
            for (key, value) in table {
                if let Some(node) = keys.node(key) {
                    rename(node, value, &path::key(at, key), found);
                }
            }
        }
        Value::Array(entries) => {
            let Shape::List(List { first, rest, .. }) = node.shape() else { return };
            for (index, entry) in entries.iter_mut().enumerate() {
                let node = first.get(index).unwrap_or(&rest);
                rename(node, entry, &path::index(at, index), found);
            }
        }
        _ => {}
    }
}

fn rename_keys(
    node: &Node<'_>,
    table: &mut Map<String, Value>,
    at: &str,
    found: &mut Vec<Renamed>,
) {
    let current = |key: &str| node.renamed(key).filter(|name| !table.contains_key(*name));
    let names: Vec<_> = table.keys().map(|key| current(key)).collect();
    if names.iter().all(Option::is_none) {
        return;
    }
    // Keys keep their order.
    let entries = std::mem::take(table).into_iter().zip(names);
    *table = entries
        .map(|((key, value), name)| match name {
            None => (key, value),
            Some(name) => {
                found.push((path::key(at, &key), path::key(at, name)));
                (name.to_owned(), value)
            }
        })
        .collect();
}

/// Gives the keys of a path their current names. `root` is the tree of the path, as far as it
/// exists: it tells which keys a tagged table has.
pub(crate) fn rename_steps(node: &Node<'_>, root: &Value, steps: &mut [Step]) -> Option<Renamed> {
    let former = path::join("", steps);
    let (mut node, mut value) = (node.clone(), Some(root));
    for step in steps.iter_mut() {
        node = match step {
            Step::Key(key) => {
                if let Some(name) = node.renamed(key) {
                    name.clone_into(key);
                }
                let none = Map::new();
                let values = value.and_then(Value::as_object).unwrap_or(&none);
                let keys = layer::table(&node, values);
                value = value.and_then(|value| value.get(&*key));
                keys.and_then(|keys| keys.node(key).cloned()).unwrap_or_default()
            }
            Step::Index(index) => {
                value = value.and_then(|value| value.get(*index));
                match node.shape() {
                    Shape::List(List { first, rest, .. }) => {
                        first.into_iter().nth(*index).unwrap_or(rest)
                    }
                    _ => Node::default(),
                }
            }
        };
    }
    let current = path::join("", steps);
    (current != former).then_some((former, current))
}

/// The notice about keys that were written with former names, in a line.
pub(crate) fn notice(renamed: &[Renamed]) -> Option<String> {
    let each = renamed.iter().map(|(former, current)| format!("{former} is {current} now"));
    let all: Vec<String> = each.collect();
    let are = if all.len() == 1 { "the former name is" } else { "the former names are" };
    (!all.is_empty()).then(|| format!("{}; {are} accepted until version 1.0", all.join(", ")))
}

#[cfg(test)]
mod tests {
    use crate::Document;
    use schemars::JsonSchema;
    use serde::Deserialize;
    use serde_json::json;

    #[derive(Debug, PartialEq, Deserialize, JsonSchema)]
    struct Chip {
        name: Option<String>,
        erase: Option<Erase>,
        dies: Option<Vec<Erase>>,
    }

    #[derive(Debug, PartialEq, Deserialize, JsonSchema)]
    #[schemars(extend("x-renamed" = [["beats", "pulses"], ["rest", "pause"]]))]
    struct Erase {
        pulses: Option<u32>,
        pause: Option<u32>,
    }

    fn erase(pulses: u32, pause: u32) -> Option<Erase> {
        Some(Erase { pulses: Some(pulses), pause: Some(pause) })
    }

    fn parsed(text: &str) -> Document {
        Document::parse(text, "chip.toml").unwrap()
    }

    #[test]
    fn former_names_mean_the_current_ones_wherever_they_are_written() {
        let below = || parsed("erase = { pulses = 4, pause = 9 }");
        // In a text of its own.
        let own = parsed("erase = { beats = 2, pause = 9 }");
        assert_eq!(own.read::<Chip>().unwrap().erase, erase(2, 9));
        // Over a preset that has the current name.
        let mut over = parsed("[erase]\nbeats = 2");
        over.under::<Chip>(below(), "").unwrap();
        assert_eq!(over.read::<Chip>().unwrap().erase, erase(2, 9));
        assert_eq!(
            over.notice().unwrap(),
            "erase.beats is erase.pulses now; the former name is accepted until version 1.0"
        );
        // As overrides: a path, a table, and over a former name in the text.
        let mut set = parsed("[erase]\nbeats = 2");
        set.set::<Chip>("erase.rest", "3").unwrap();
        assert_eq!(set.read::<Chip>().unwrap().erase, erase(2, 3));
        set.set::<Chip>("erase", "{ beats = 5 }").unwrap();
        assert_eq!(set.read::<Chip>().unwrap().erase, erase(5, 3));
        set.set::<Chip>("erase.pulses", "6").unwrap();
        assert_eq!(set.read::<Chip>().unwrap().erase, erase(6, 3));
        assert_eq!(
            set.notice().unwrap(),
            "erase.beats is erase.pulses now, erase.rest is erase.pause now; the former names are accepted until version 1.0"
        );
    }

    #[test]
    fn a_former_name_keeps_its_place() {
        let mut document = parsed("[[dies]]\npulses = 1\n\n[[dies]]\nrest = 4\nbeats = 'two'\n");
        document.rename::<Chip>();
        assert_eq!(document.root()["dies"], json!([{"pulses": 1}, {"pause": 4, "pulses": "two"}]));
        let refusal = document.read::<Chip>().unwrap_err().to_string();
        assert!(refusal.contains("line 6, dies[1].pulses: expected a whole number"), "{refusal}");
        assert_eq!(parsed("name = 'a'").notice(), None);
    }

    #[test]
    fn a_key_under_both_names_is_refused() {
        let both = parsed("[erase]\npulses = 1\nbeats = 2");
        let refusal = both.read::<Chip>().unwrap_err().to_string();
        assert_eq!(
            refusal,
            "chip.toml: 1 problem\n  line 3, erase.beats: the former name of \"pulses\", which is given too; leave one of them out"
        );
    }

    #[test]
    fn a_path_tells_its_current_name() {
        assert_eq!(crate::current_path::<Chip>("erase.beats"), "erase.pulses");
        assert_eq!(crate::current_path::<Chip>("dies[3].rest"), "dies[3].pause");
        assert_eq!(crate::current_path::<Chip>("erase.what"), "erase.what");
        assert_eq!(crate::current_path::<Chip>("a..b"), "a..b");
    }
}
