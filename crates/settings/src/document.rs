//! A configuration before it has a type: presets and overrides are layered here, and every value
//! keeps the place where it was written.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::layer::{self, Empty, Overlay};
use crate::path::{self, Step};
use crate::problem::Problems;
use crate::renamed::{self, Renamed};
use crate::shape::{List, NONE, Node, Shape};
use crate::source::{self, Place, Places};
use crate::{json, schema, walk};

/// The file name of values that were [set](Document::set).
const OVERRIDE: &str = "override";

/// A tree of configuration values that knows its lines.
///
/// ```
/// use settings::{Document, Time};
///
/// #[derive(serde::Deserialize, schemars::JsonSchema)]
/// struct Erase {
///     pulse: Time,
///     pulses: u32,
/// }
///
/// let erase: Erase = Document::parse("pulse = '800 us'\npulses = 4", "erase.toml")?.read()?;
/// assert_eq!(erase.pulse.span() * erase.pulses.into(), engine::Span::from_us(3200));
///
/// let faulty = Document::parse("pulse = 800\npulse_count = 4", "erase.toml")?;
/// assert_eq!(
///     faulty.read::<Erase>().err().unwrap().to_string(),
///     "erase.toml: 3 problems\n  \
///      line 1, pulse: 800 has no unit (one of ns, us, ms, s, min, h, d)\n  \
///      line 2, pulse_count: unknown key (valid: pulse, pulses)\n  \
///      pulses: missing; write a whole number"
/// );
/// # Ok::<(), settings::Problems>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Document {
    file: Arc<str>,
    root: Map<String, Value>,
    places: Places,
    /// Keys that were written with former names.
    renamed: Vec<Renamed>,
}

impl Document {
    /// Parses TOML; `file` is its name in problems.
    pub fn parse(text: &str, file: &str) -> Result<Self, Problems> {
        let (root, places) = source::parse(text, file)?;
        Ok(Self { file: file.into(), root, places, renamed: Vec::new() })
    }

    /// Parses JSON, for example of a Python dictionary. Its values keep no lines, because mostly
    /// nobody wrote that text.
    pub fn from_json(text: &str, file: &str) -> Result<Self, Problems> {
        match json::parse(text) {
            Ok(value) => Self::from_value(value, file),
            Err((line, message)) => {
                let mut problems = one_problem(file, "", message);
                problems.problems[0].line = line;
                Err(problems)
            }
        }
    }

    /// A document of this value, which must be a table.
    pub fn from_value(value: Value, file: &str) -> Result<Self, Problems> {
        match value {
            Value::Object(root) => {
                let place = Place { file: file.into(), line: None };
                let mut places = Places::new();
                let root = Value::Object(root);
                source::place_all(&root, "", &place, &mut places);
                let (root, renamed) = (table_of(root), Vec::new());
                Ok(Self { file: place.file, root, places, renamed })
            }
            other => {
                let message = format!("expected a table, found {}", walk::shown(&other));
                Err(one_problem(file, "", message))
            }
        }
    }

    /// Name of this document in problems.
    pub fn file(&self) -> &str {
        &self.file
    }

    /// The present values.
    pub fn root(&self) -> &Map<String, Value> {
        &self.root
    }

    /// The line of each path that was written in this document's own text.
    pub fn lines(&self) -> impl Iterator<Item = (&str, u32)> {
        let own = self.places.iter().filter(|(_, place)| place.file == self.file);
        own.filter_map(|(path, place)| Some((path.as_str(), place.line?)))
    }

    /// The paths of single values that this document's own text or an override gave, and no preset.
    pub fn given(&self) -> impl Iterator<Item = &str> {
        let is_own = |place: &Place| place.file == self.file || &*place.file == OVERRIDE;
        let own = self.places.iter().filter(move |(_, place)| is_own(place));
        let is_single = |path: &&str| {
            self.get(path).is_some_and(|value| match value {
                Value::Object(_) => false,
                Value::Array(list) => list.first().is_none_or(|first| !first.is_object()),
                _ => true,
            })
        };
        own.map(|(path, _)| path.as_str()).filter(is_single)
    }

    /// The value at a path.
    pub fn get(&self, path: &str) -> Option<&Value> {
        let steps = path::steps(path)?;
        let (first, rest) = steps.split_first()?;
        let Step::Key(first) = first else { return None };
        rest.iter().try_fold(self.root.get(first)?, |value, step| match step {
            Step::Key(key) => value.get(key),
            Step::Index(index) => value.get(index),
        })
    }

    /// Removes and returns the value under a key, such as the name of a preset
    /// that is no part of the configuration itself.
    pub fn take(&mut self, path: &str) -> Option<Value> {
        let mut steps = path::steps(path)?;
        let Some(Step::Key(last)) = steps.pop() else { return None };
        let mut table = &mut self.root;
        for step in &steps {
            let Step::Key(key) = step else { return None };
            table = table.get_mut(key)?.as_object_mut()?;
        }
        let value = table.shift_remove(&last)?;
        self.places.retain(|place, _| !path::is_within(place, path));
        Some(value)
    }

    /// Gives keys with former names their current ones. `T` is the type of the whole document.
    /// `under`, `set` and `read` do so by themselves.
    pub fn rename<T: JsonSchema + 'static>(&mut self) {
        let schema = schema::exact::<T>();
        let mut root = Value::Object(std::mem::take(&mut self.root));
        let mut found = Vec::new();
        renamed::rename(&Node::of(&schema), &mut root, "", &mut found);
        self.root = table_of(root);
        for (former, current) in found {
            let moved = |path: String| match path.strip_prefix(&former) {
                Some(rest) if path::is_within(&path, &former) => format!("{current}{rest}"),
                _ => path,
            };
            let places = std::mem::take(&mut self.places);
            self.places = places.into_iter().map(|(path, place)| (moved(path), place)).collect();
            self.note_renamed((former, current));
        }
    }

    /// A line about keys that were written with former names, if there are any.
    pub fn notice(&self) -> Option<String> {
        renamed::notice(&self.renamed)
    }

    fn note_renamed(&mut self, pair: Renamed) {
        if !self.renamed.contains(&pair) {
            self.renamed.push(pair);
        }
    }

    /// Lays this document over `base`, a preset of the part at the path `at` (of the whole if
    /// `at` is empty). `T` is the type of the whole document.
    ///
    /// Tables join key by key; lists and plain values replace. A tagged table replaces one with
    /// another tag as a whole. An optional table without a key, which changes nothing, is
    /// refused; the rest is laid over all the same.
    pub fn under<T: JsonSchema + 'static>(
        &mut self,
        base: Document,
        at: &str,
    ) -> Result<(), Problems> {
        let steps = path::steps(at).filter(|steps| !steps.iter().any(is_index));
        let Some(steps) = steps else {
            return Err(one_problem(&self.file, at, "not a path of keys with dots between them"));
        };
        self.rename::<T>();
        let schema = schema::exact::<T>();
        let below = wrap(&steps, base.root.into());
        let within = |path: String| if at.is_empty() { path } else { format!("{at}.{path}") };
        let below_places = base.places.into_iter().map(|(path, place)| (within(path), place));
        let below_places: Places = below_places.collect();

        let mut overlay = Overlay::default();
        let over = std::mem::take(&mut self.root).into();
        self.root = table_of(overlay.join(over, below, &Node::of(&schema), ""));
        let over_places = std::mem::take(&mut self.places);
        self.places = overlay.places(over_places, below_places, "");
        let mut problems = Problems::new(&*self.file);
        // Programs that write files leave tables without keys, which does no harm. Whoever empties a table
        // that can be left out may mean to leave it out.
        for empty in overlay.empty().iter().filter(|empty| empty.is_optional) {
            problems.push(&empty.path, changes_nothing(empty));
        }
        problems.or_ok(())
    }

    /// Sets the value at `path`, as a user writes it on the command line: TOML, or a string
    /// without quotes if it is not TOML. `T` is the type of the whole document.
    ///
    /// A table joins the existing one, by the rules of [`under`](Self::under).
    pub fn set<T: JsonSchema + 'static>(&mut self, path: &str, text: &str) -> Result<(), Problems> {
        self.set_value::<T>(path, value_of(text))
    }

    /// As [`set`](Self::set), with a value that already has its type.
    pub fn set_value<T: JsonSchema + 'static>(
        &mut self,
        path: &str,
        value: Value,
    ) -> Result<(), Problems> {
        let steps = path::steps(path).filter(|steps| matches!(steps.first(), Some(Step::Key(_))));
        let Some(mut steps) = steps else {
            return Err(self.override_refused(path, "not a path (write keys with dots between)"));
        };
        self.rename::<T>();
        let schema = schema::exact::<T>();
        let whole = Value::Object(std::mem::take(&mut self.root));
        let former = renamed::rename_steps(&Node::of(&schema), &whole, &mut steps);
        self.root = table_of(whole);
        former.into_iter().for_each(|pair| self.note_renamed(pair));
        if let Some(message) = self.list_on_the_way(&steps) {
            return Err(self.override_refused(path, message));
        }
        // Entries of a list must exist; tables may be new.
        let fixed = steps.iter().rposition(is_index).map_or(0, |last| last + 1);
        let (fixed, keys) = steps.split_at(fixed);
        let at = path::join("", fixed);

        let mut root = Value::Object(std::mem::take(&mut self.root));
        let mut overlay = Overlay::default();
        let mut inside = Vec::new();
        let place = Place { file: OVERRIDE.into(), line: None };
        let mut over_places = Places::new();
        let outcome = descend(&mut root, Node::of(&schema), fixed).map(|(slot, node)| {
            let mut over = wrap(keys, value);
            renamed::rename(&node, &mut over, &at, &mut inside);
            source::place_all(&over, &at, &place, &mut over_places);
            *slot = overlay.join(over, slot.take(), &node, &at);
        });
        self.root = table_of(root);
        inside.into_iter().for_each(|pair| self.note_renamed(pair));
        outcome.map_err(|message| self.override_refused(path, message))?;

        // Tables that the override shares with this document are still of this document, but the one
        // that was set.
        over_places.retain(|path, _| !overlay.is_shared(path));
        over_places.insert(path::join("", &steps), place);
        let base_places = std::mem::take(&mut self.places);
        self.places = overlay.places(over_places, base_places, &at);
        let whole = path::join("", &steps);
        let is_meant = |empty: &&Empty| empty.is_optional || empty.path == whole;
        match overlay.empty().iter().find(is_meant) {
            Some(empty) => Err(self.override_refused(&empty.path, changes_nothing(empty))),
            None => Ok(()),
        }
    }

    /// The refusal of an override, which has no line of the file.
    fn override_refused(&self, path: &str, message: impl Into<String>) -> Problems {
        let mut problems = one_problem(&self.file, path, message);
        problems.problems[0].source = Some(OVERRIDE.to_owned());
        problems
    }

    /// The refusal of a path that names a key of a list, with the remedy.
    fn list_on_the_way(&self, steps: &[Step]) -> Option<String> {
        let (length, _) = steps.iter().enumerate().skip(1).find(|(length, step)| {
            let above = self.get(&path::join("", &steps[..*length]));
            !is_index(step) && above.is_some_and(Value::is_array)
        })?;
        let list = path::join("", &steps[..length]);
        let entry = path::index(&list, 0);
        let meant = path::join(&entry, &steps[length..]);
        Some(format!("{list} is a list; say which of its entries: {meant}"))
    }

    /// The document as a `T`, or all of its faults.
    pub fn read<T: DeserializeOwned + JsonSchema + 'static>(&self) -> Result<T, Problems> {
        let schema = schema::exact::<T>();
        let mut current = self.clone();
        current.rename::<T>();
        let mut value = Value::Object(std::mem::take(&mut current.root));
        let mut problems = Problems::new(&*self.file);
        walk::check(&Node::of(&schema), &mut value, "", &mut problems);
        if problems.is_empty() {
            match serde_path_to_error::deserialize(value) {
                Ok(read) => return Ok(read),
                Err(error) => {
                    let path = error.path().to_string();
                    let path = if path == "." { String::new() } else { path };
                    problems.push(path, error.into_inner().to_string());
                }
            }
        }
        current.locate(&mut problems);
        Err(problems)
    }

    /// Gives problems their lines and sorts them: the lines of this file first, then those of
    /// presets and overrides. A missing key gets the line of its table.
    pub fn locate(&self, problems: &mut Problems) {
        for problem in &mut problems.problems {
            if problem.line.is_some() || problem.source.is_some() {
                continue;
            }
            let enclosing = path::outwards(&problem.path);
            let place = enclosing.iter().find_map(|path| self.places.get(path));
            if let Some(place) = place {
                problem.line = place.line;
                problem.source = (place.file != self.file).then(|| place.file.to_string());
            }
        }
        problems
            .problems
            .sort_by_key(|problem| (problem.source.clone(), problem.line.unwrap_or(u32::MAX)));
    }
}

/// The path with the current names of its keys; `T` is the type of the whole document. A text
/// that is no path is returned unchanged.
pub fn current_path<T: JsonSchema + 'static>(path: &str) -> String {
    let Some(mut steps) = path::steps(path) else { return path.to_owned() };
    let schema = schema::exact::<T>();
    let renamed = renamed::rename_steps(&Node::of(&schema), &Value::Null, &mut steps);
    renamed.map_or_else(|| path.to_owned(), |(_, current)| current)
}

fn one_problem(file: &str, path: &str, message: impl Into<String>) -> Problems {
    let mut problems = Problems::new(file);
    problems.push(path, message);
    problems
}

fn changes_nothing(empty: &Empty) -> String {
    let name = empty.path.rsplit('.').next().unwrap_or(&empty.path);
    let remedy = match empty.is_optional {
        true => format!(", or write {name} = {NONE:?} to leave it out"),
        false => String::new(),
    };
    format!("an empty table changes nothing; give a key{remedy}")
}

fn is_index(step: &Step) -> bool {
    matches!(step, Step::Index(_))
}

/// Wraps `value` in tables, one for each key.
fn wrap(keys: &[Step], value: Value) -> Value {
    keys.iter().rev().fold(value, |inner, step| match step {
        Step::Key(key) => Map::from_iter([(key.clone(), inner)]).into(),
        Step::Index(_) => unreachable!("entries of lists are not wrapped"),
    })
}

fn table_of(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(table) => table,
        _ => unreachable!("a document is a table, and tables join to tables"),
    }
}

/// The value of a user's `text`: a TOML value, else a string without quotes.
fn value_of(text: &str) -> Value {
    let parsed = source::parse(&format!("value = {text}"), OVERRIDE);
    let only = parsed.ok().filter(|(table, _)| table.len() == 1);
    only.and_then(|(mut table, _)| table.remove("value")).unwrap_or_else(|| text.into())
}

/// The value at the end of `steps`, and its place in the schema.
fn descend<'v, 's>(
    root: &'v mut Value,
    node: Node<'s>,
    steps: &[Step],
) -> Result<(&'v mut Value, Node<'s>), String> {
    let mut slot = root;
    let mut node = node;
    for step in steps {
        match (step, slot) {
            (Step::Key(key), Value::Object(table)) => {
                let keys = layer::table(&node, table);
                node = keys.and_then(|keys| keys.node(key).cloned()).unwrap_or_default();
                slot = table.get_mut(key).ok_or_else(|| format!("there is no list {key:?}"))?;
            }
            (Step::Index(index), Value::Array(entries)) => {
                node = match node.shape() {
                    Shape::List(List { first, rest, .. }) => {
                        first.into_iter().nth(*index).unwrap_or(rest)
                    }
                    _ => Node::default(),
                };
                let length = entries.len();
                let missing = || format!("there is no such entry (the list has {length})");
                slot = entries.get_mut(*index).ok_or_else(missing)?;
            }
            (Step::Key(key), other) => {
                return Err(format!("{} has no key {key:?}", walk::shown(other)));
            }
            (Step::Index(_), other) => {
                return Err(format!("{} has no entries", walk::shown(other)));
            }
        }
    }
    Ok((slot, node))
}

#[cfg(test)]
mod tests;
