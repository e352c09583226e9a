//! The walk of a tree of values along a schema. It finds all faults, while serde would stop at
//! the first one, and expands shorthands so that serde can read the sound parts.

use std::cmp::Ordering;

use serde_json::{Map, Number, Value};

use crate::names;
use crate::path;
use crate::problem::Problems;
use crate::shape::{Bounds, Lengths, List, NONE, Node, Shape, Table, Tagged};

/// Checks `value`, which is at the path `at`, and adds its faults.
pub(crate) fn check(node: &Node<'_>, value: &mut Value, at: &str, problems: &mut Problems) {
    if value.is_null() && node.allows_null() {
        return;
    }
    let shape = node.shape();
    if value == NONE && node.may_be_none() {
        *value = Value::Null;
        return;
    }
    if let Shape::Either(nodes) = &shape {
        return check_either(nodes, value, at, problems);
    }
    if !fits(&shape, value) {
        return problems.push(at, mismatch(&shape, value, at));
    }
    match (shape, value) {
        (Shape::Integer(bounds) | Shape::Number(bounds), Value::Number(number)) => {
            problems.extend(at, check_bounds(&bounds, number));
        }
        (Shape::Text(lengths), Value::String(text)) => {
            let length = text.chars().count();
            problems.extend(at, check_lengths(&lengths, length, "character"));
        }
        (Shape::Quantity(scale), Value::String(text)) => {
            problems.extend(at, scale.read(text).err().map(|refusal| refusal.to_string()));
        }
        (Shape::Choice(words), Value::String(word)) => {
            problems.extend(at, check_word(node, &path::noun(at), word, &words));
        }
        (Shape::Table(table), Value::Object(values)) => {
            let unknown = |key: &str, valid: &[&str]| match node.renamed(key) {
                Some(name) => format!(
                    "the former name of {name:?}, which is given too; leave one of them out"
                ),
                None => format!("unknown key{}", remedy_for_key(node, &table, key, valid, at)),
            };
            check_table(&table, values, at, &unknown, problems);
        }
        (Shape::Tagged(tagged), value) => check_tagged(node, &tagged, value, at, problems),
        (Shape::List(list), Value::Array(entries)) => check_list(&list, entries, at, problems),
        _ => {}
    }
}

/// True if a value is of the type that a shape needs, even with faults inside.
fn fits(shape: &Shape<'_>, value: &Value) -> bool {
    match shape {
        Shape::Any | Shape::Either(_) => true,
        Shape::Bool => value.is_boolean(),
        Shape::Integer(_) => value.is_i64() || value.is_u64(),
        Shape::Number(_) => value.is_number(),
        Shape::Text(_) | Shape::Quantity(_) | Shape::Choice(_) => value.is_string(),
        Shape::Table(_) => value.is_object(),
        Shape::Tagged(_) => value.is_object() || value.is_string(),
        Shape::List(_) => value.is_array(),
    }
}

/// Checks a value against several shapes: the first without a fault is the intended one, else the
/// one of the right type with the fewest faults.
fn check_either(nodes: &[Node<'_>], value: &mut Value, at: &str, problems: &mut Problems) {
    let attempt = |node: &Node<'_>| {
        let mut written_out = value.clone();
        let mut found = Problems::new(problems.file.clone());
        check(node, &mut written_out, at, &mut found);
        (found, written_out)
    };
    // A text that is no word, and resembles none, may be a number in quotes: "8" for 8.
    let is_number = |node: &Node<'_>| matches!(node.shape(), Shape::Integer(_) | Shape::Number(_));
    let has_number = nodes.iter().any(is_number);
    let is_no_word = |node: &Node<'_>| match (node.shape(), value.as_str()) {
        (Shape::Choice(words), Some(text)) => {
            has_number && names::nearest(text, &words).is_none() && node.meant(text).is_none()
        }
        _ => false,
    };
    let fitting = nodes.iter().filter(|node| fits(&node.shape(), value) && !is_no_word(node));
    let best = fitting.map(attempt).min_by_key(|(found, _)| found.len());
    let Some((found, written_out)) = best else {
        // A bare number for a quantity lacks its unit: no other shape is intended.
        let is_quantity = |node: &&Node<'_>| matches!(node.shape(), Shape::Quantity(_));
        let quantity = nodes.iter().find(is_quantity).filter(|_| value.is_number());
        let message = match quantity {
            Some(node) => mismatch(&node.shape(), value, at),
            None => format!("expected {}, found {}", any_of(nodes), shown(value)),
        };
        return problems.push(at, message);
    };
    *value = written_out;
    problems.problems.extend(found.problems);
}

fn check_table(
    table: &Table<'_>,
    values: &mut Map<String, Value>,
    at: &str,
    unknown: &dyn Fn(&str, &[&str]) -> String,
    problems: &mut Problems,
) {
    let valid: Vec<&str> = table.keys.iter().map(|(key, _)| *key).collect();
    let mut misspelt = Vec::new();
    for (key, value) in values.iter_mut() {
        let path = path::key(at, key);
        if let Some(node) = table.node(key) {
            check(node, value, &path, problems);
        } else {
            misspelt.extend(names::nearest(key, &valid));
            problems.push(path, unknown(key, &valid));
        }
    }
    for key in &table.required {
        // A misspelt key is one fault, and not also a missing key.
        if !values.contains_key(*key) && !misspelt.contains(key) {
            let wanted = table.node(key).map_or_else(|| "a value".to_owned(), wanted);
            problems.push(path::key(at, key), format!("missing; write {wanted}"));
        }
    }
}

/// The remedy for an unknown key: the intended key, a key with a similar spelling, or else the
/// places of a key of this name below this table.
fn remedy_for_key(
    node: &Node<'_>,
    table: &Table<'_>,
    key: &str,
    valid: &[&str],
    at: &str,
) -> String {
    if let Some(meant) = node.meant(key) {
        return names::propose(&[meant], valid);
    }
    let mut below = Vec::new();
    if names::nearest(key, valid).is_none() {
        find_below(table, key, at, DEPTH_SEARCHED, &mut below);
    }
    match below.as_slice() {
        // A name that is everywhere tells nothing about the intention.
        [] | [_, _, _, ..] => names::remedy(key, valid),
        paths => {
            let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
            names::propose(&paths, valid)
        }
    }
}

/// Levels down to which a misplaced key is searched.
const DEPTH_SEARCHED: u32 = 3;

/// The paths of all keys called `key` inside the tables of `table`.
fn find_below(table: &Table<'_>, key: &str, at: &str, depth: u32, found: &mut Vec<String>) {
    if depth == 0 {
        return;
    }
    for (name, node) in &table.keys {
        let mut path = path::key(at, name);
        let mut shape = node.shape();
        if let Shape::List(list) = shape {
            path = path::index(&path, 0);
            shape = list.rest.shape();
        }
        if let Shape::Table(inner) = shape {
            if inner.keys.iter().any(|(known, _)| *known == key) {
                found.push(path::key(&path, key));
            }
            find_below(&inner, key, &path, depth - 1, found);
        }
    }
}

fn check_tagged(
    node: &Node<'_>,
    tagged: &Tagged<'_>,
    value: &mut Value,
    at: &str,
    problems: &mut Problems,
) {
    let tag = tagged.tag;
    let tag_path = if value.is_string() { at.to_owned() } else { path::key(at, tag) };
    tagged.expand(value);
    let Value::Object(values) = value else { return };
    let names = tagged.names();
    let name = match values.get(tag) {
        Some(Value::String(name)) => name.clone(),
        Some(other) => {
            let wanted = names::one_of(&names);
            return problems.push(tag_path, format!("expected {wanted}, found {}", shown(other)));
        }
        None => {
            return problems.push(tag_path, format!("missing; write {}", names::one_of(&names)));
        }
    };
    let Some(table) = tagged.variant(&name) else {
        return problems.extend(&tag_path, check_word(node, &path::noun(tag), &name, &names));
    };
    // The tag has been checked, and is no remedy for another key.
    let keys = table.keys.iter().filter(|(key, _)| *key != tag).cloned().collect();
    let required = table.required.iter().copied().filter(|key| *key != tag).collect();
    let others = table.others.clone();
    let parameters = Table { keys, required, others };
    let unknown = |key: &str, valid: &[&str]| match valid {
        [] => format!("{tag} {name:?} takes no parameters"),
        _ => format!("{tag} {name:?} has no such key{}", names::remedy(key, valid)),
    };
    let chosen = values.shift_remove_entry(tag);
    check_table(&parameters, values, at, &unknown, problems);
    values.extend(chosen);
}

fn check_list(list: &List<'_>, entries: &mut [Value], at: &str, problems: &mut Problems) {
    problems.extend(at, check_lengths(&list.lengths, entries.len(), "entry"));
    for (index, entry) in entries.iter_mut().enumerate() {
        let node = list.first.get(index).unwrap_or(&list.rest);
        check(node, entry, &path::index(at, index), problems);
    }
}

fn check_word(node: &Node<'_>, noun: &str, word: &str, valid: &[&str]) -> Option<String> {
    if valid.contains(&word) {
        return None;
    }
    let remedy = match node.meant(word) {
        Some(meant) => names::propose(&[meant], valid),
        None => names::remedy(word, valid),
    };
    Some(format!("no {noun} {word:?}{remedy}"))
}

fn check_bounds(bounds: &Bounds, number: &Number) -> Option<String> {
    let beyond = |limit: &Option<Number>, beyond: &[Ordering], what: &str| {
        let limit = limit.as_ref()?;
        let is_beyond = beyond.contains(&compare(number, limit));
        is_beyond.then(|| format!("{number} is too {what} {limit})"))
    };
    beyond(&bounds.least, &[Ordering::Less], "small (at least")
        .or_else(|| beyond(&bounds.most, &[Ordering::Greater], "large (at most"))
        .or_else(|| beyond(&bounds.above, &[Ordering::Less, Ordering::Equal], "small (more than"))
        .or_else(|| {
            beyond(&bounds.below, &[Ordering::Greater, Ordering::Equal], "large (less than")
        })
}

/// Exact if both are whole: floats cannot distinguish 64-bit seeds.
fn compare(left: &Number, right: &Number) -> Ordering {
    match (left.as_i128(), right.as_i128()) {
        (Some(left), Some(right)) => left.cmp(&right),
        _ => {
            let float = |number: &Number| number.as_f64().unwrap_or(f64::NAN);
            float(left).total_cmp(&float(right))
        }
    }
}

fn check_lengths(lengths: &Lengths, length: usize, of: &str) -> Option<String> {
    let count = match (length, of) {
        (1, _) => format!("1 {of} is"),
        (_, "entry") => format!("{length} entries are"),
        _ => format!("{length} {of}s are"),
    };
    let length = length as u64;
    match (lengths.least, lengths.most) {
        (Some(least), _) if length < least => Some(format!("{count} too few (at least {least})")),
        (_, Some(most)) if length > most => Some(format!("{count} too many (at most {most})")),
        _ => None,
    }
}

/// Message for a value of the wrong type and, if a near one exists, the remedy.
fn mismatch(shape: &Shape<'_>, value: &Value, at: &str) -> String {
    if let (Shape::Quantity(scale), Value::Number(number)) = (shape, value) {
        return scale.refuse_bare(&number.to_string()).to_string();
    }
    if let Shape::Integer(bounds) = shape
        && let Some(beyond) = beyond_64_bits(bounds, value)
    {
        return beyond;
    }
    let remedy = match (shape, value) {
        (Shape::Table(table), Value::String(text)) => {
            Some(remedy_for_text(table, text)).filter(|remedy| !remedy.is_empty())
        }
        (Shape::Integer(_) | Shape::Number(_) | Shape::Bool, Value::String(text)) => {
            let bare: Option<Value> = serde_json::from_str(text).ok();
            bare.filter(|bare| fits(shape, bare)).map(|_| format!(" (write {text})"))
        }
        (Shape::Text(_), Value::Number(_) | Value::Bool(_)) => {
            Some(format!(" (write \"{value}\")"))
        }
        (Shape::List(list), Value::Object(_)) if fits(&list.rest.shape(), value) => {
            Some(format!(" (write [[{at}]])"))
        }
        (Shape::List(list), Value::String(_) | Value::Number(_))
            if fits(&list.rest.shape(), value) =>
        {
            Some(format!(" (write [{value}])"))
        }
        _ => None,
    };
    let wanted = wanted_shape(shape);
    format!("expected {wanted}, found {}{}", shown(value), remedy.unwrap_or_default())
}

/// Message for a whole number beyond 64 bits, which came as a text from the command line, or
/// rounded from JSON.
fn beyond_64_bits(bounds: &Bounds, value: &Value) -> Option<String> {
    let shown = match value {
        Value::String(text) => text.trim().to_owned(),
        Value::Number(number) if number.as_f64()?.fract() == 0.0 => number.to_string(),
        _ => return None,
    };
    let digits = shown.strip_prefix('-').unwrap_or(&shown);
    let is_whole = !digits.is_empty() && digits.chars().all(|digit| digit.is_ascii_digit());
    let is_large = match value {
        Value::String(_) => {
            is_whole && shown.parse::<i64>().is_err() && shown.parse::<u64>().is_err()
        }
        _ => shown.parse::<f64>().is_ok_and(|number| number.abs() >= 2.0_f64.powi(63)),
    };
    if !is_large {
        return None;
    }
    match (shown.starts_with('-'), &bounds.least, &bounds.most) {
        (true, Some(least), _) => Some(format!("{shown} is too small (at least {least})")),
        (false, _, Some(most)) => Some(format!("{shown} is too large (at most {most})")),
        _ => Some(format!("{shown} does not fit 64 bits")),
    }
}

/// Remedy for a text in place of a table: the keys that could hold it, and all keys.
fn remedy_for_text(table: &Table<'_>, text: &str) -> String {
    let holds = |node: &Node<'_>| match node.shape() {
        Shape::Quantity(scale) => scale.read(text).is_ok(),
        _ => false,
    };
    let fitting = table.keys.iter().filter(|(_, node)| holds(node));
    let fitting: Vec<String> = fitting.map(|(key, _)| format!("{{ {key} = {text:?} }}")).collect();
    let keys: Vec<&str> = table.keys.iter().map(|(key, _)| *key).collect();
    match fitting.as_slice() {
        [] => names::propose(&[], &keys),
        _ => format!(" (write {}; keys: {})", fitting.join(" or "), keys.join(", ")),
    }
}

/// Description of the values allowed at a place.
fn wanted(node: &Node<'_>) -> String {
    wanted_shape(&node.shape())
}

fn wanted_shape(shape: &Shape<'_>) -> String {
    match shape {
        Shape::Any => "a value".to_owned(),
        Shape::Bool => "true or false".to_owned(),
        Shape::Integer(_) => "a whole number".to_owned(),
        Shape::Number(_) => "a number".to_owned(),
        Shape::Text(_) => "a string".to_owned(),
        Shape::Quantity(scale) => format!("a {} such as {:?}", scale.noun, scale.example),
        Shape::Choice(words) => names::one_of(words),
        Shape::Table(_) => "a table".to_owned(),
        Shape::Tagged(tagged) => names::one_of(&tagged.names()),
        Shape::List(_) => "a list".to_owned(),
        Shape::Either(nodes) => any_of(nodes),
    }
}

fn any_of(nodes: &[Node<'_>]) -> String {
    let wanted: Vec<String> = nodes.iter().map(wanted).collect();
    wanted.join(", or ")
}

/// A value as a message shows it.
pub(crate) fn shown(value: &Value) -> String {
    match value {
        Value::Null => "nothing".to_owned(),
        Value::Bool(_) | Value::Number(_) => value.to_string(),
        Value::String(_) => format!("the string {value}"),
        Value::Array(_) => "a list".to_owned(),
        Value::Object(_) => "a table".to_owned(),
    }
}

#[cfg(test)]
mod tests;
