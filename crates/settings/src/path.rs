//! Dotted paths such as `workload[1].size`, as users read and write them. A key
//! that is not a bare TOML key is quoted: `"a.b".c`.

/// One step of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    Key(String),
    Index(usize),
}

/// The path of `key` in the table at `table`.
pub(crate) fn key(table: &str, key: &str) -> String {
    let bare = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    let mut path = table.to_owned();
    if !path.is_empty() {
        path.push('.');
    }
    if !key.is_empty() && key.chars().all(bare) {
        path.push_str(key);
    } else {
        let escaped = key.replace('\\', r"\\").replace('"', r#"\""#);
        path.push_str(&format!("\"{escaped}\""));
    }
    path
}

/// The path of an entry of the list at `list`.
pub(crate) fn index(list: &str, index: usize) -> String {
    format!("{list}[{index}]")
}

/// The path of `steps` below `start`.
pub(crate) fn join(start: &str, steps: &[Step]) -> String {
    steps.iter().fold(start.to_owned(), |path, step| match step {
        Step::Key(name) => key(&path, name),
        Step::Index(at) => index(&path, *at),
    })
}

/// The steps of a path; nothing if the text is not one.
pub(crate) fn steps(text: &str) -> Option<Vec<Step>> {
    let mut steps = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        if let Some(after) = rest.strip_prefix('[') {
            let (number, after) = after.split_once(']')?;
            steps.push(Step::Index(number.parse().ok()?));
            rest = after;
        } else {
            if !steps.is_empty() {
                rest = rest.strip_prefix('.')?;
            }
            let (name, after) = first_key(rest)?;
            steps.push(Step::Key(name));
            rest = after;
        }
    }
    Some(steps)
}

/// The key that `text` begins with and what follows it.
fn first_key(text: &str) -> Option<(String, &str)> {
    let Some(quoted) = text.strip_prefix('"') else {
        let end = text.find(['.', '[']).unwrap_or(text.len());
        return (end > 0).then(|| (text[..end].to_owned(), &text[end..]));
    };
    let mut name = String::new();
    let mut characters = quoted.chars();
    loop {
        match characters.next()? {
            '"' => return Some((name, characters.as_str())),
            '\\' => name.push(characters.next()?),
            other => name.push(other),
        }
    }
}

/// The last key of a path, in words: the name of the value there.
pub(crate) fn noun(path: &str) -> String {
    let named = steps(path).unwrap_or_default().into_iter().rev().find_map(|step| match step {
        Step::Key(name) => Some(name.replace('_', " ")),
        Step::Index(_) => None,
    });
    named.unwrap_or_else(|| "value".to_owned())
}

/// True if `path` is `above` or lies inside of it.
pub(crate) fn is_within(path: &str, above: &str) -> bool {
    path.strip_prefix(above)
        .is_some_and(|rest| above.is_empty() || rest.is_empty() || rest.starts_with(['.', '[']))
}

/// `path` and all paths above it, innermost first; the root is the empty path.
pub(crate) fn outwards(path: &str) -> Vec<String> {
    let steps = steps(path).unwrap_or_default();
    (0..=steps.len()).rev().map(|length| join("", &steps[..length])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_taken_apart_and_put_together() {
        for text in ["drive.ftl", "workload[1].size", "a[0][2]", r#""a.b".c"#, r#"x."q\"u""#, ""] {
            assert_eq!(join("", &steps(text).unwrap()), text);
        }
        assert_eq!(steps("a[1]").unwrap(), [Step::Key("a".into()), Step::Index(1)]);
        for text in [".", "a.", "a..b", "a[x]", "a[1]b", "a[1", "\"a"] {
            assert_eq!(steps(text), None, "{text}");
        }
    }

    #[test]
    fn a_path_lies_in_what_is_above_it() {
        assert!(is_within("a.b[1].c", "a.b"));
        assert!(is_within("a.b", "a.b"));
        assert!(is_within("a", ""));
        assert!(!is_within("a.bc", "a.b"));
        assert_eq!(outwards("a[1].b"), ["a[1].b", "a[1]", "a", ""]);
    }

    #[test]
    fn the_last_key_names_the_value() {
        assert_eq!(noun("workload[1].read_order[0]"), "read order");
        assert_eq!(noun(""), "value");
    }
}
