//! Remedies for unknown names.

/// More names than this are not listed: the list would hide the message.
const LISTED: usize = 20;

/// The valid name that `given` most likely meant: at most a third of its letters differ, case and
/// the kind of dash aside.
pub(crate) fn nearest<'n>(given: &str, valid: &[&'n str]) -> Option<&'n str> {
    let plain = |name: &str| name.to_lowercase().replace('_', "-");
    let given = plain(given);
    let allowed = (given.chars().count() / 3).max(1);
    valid
        .iter()
        .map(|name| (strsim::damerau_levenshtein(&given, &plain(name)), *name))
        // A name of one letter is one letter away from every other.
        .filter(|(distance, name)| *distance <= allowed && *distance < name.chars().count())
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, name)| name)
}

/// The remedy for an unknown name, in brackets and with a blank before it;
/// empty if there is nothing to say.
pub fn remedy(given: &str, valid: &[&str]) -> String {
    let near: Vec<&str> = nearest(given, valid).into_iter().collect();
    propose(&near, valid)
}

/// As [`remedy`], for known candidates.
pub(crate) fn propose(meant: &[&str], valid: &[&str]) -> String {
    let mut parts = Vec::new();
    if !meant.is_empty() {
        let meant: Vec<String> = meant.iter().map(|name| format!("{name:?}")).collect();
        parts.push(format!("did you mean {}?", meant.join(" or ")));
    }
    if !valid.is_empty() && valid.len() <= LISTED {
        parts.push(format!("valid: {}", valid.join(", ")));
    }
    if parts.is_empty() { String::new() } else { format!(" ({})", parts.join(" ")) }
}

/// The remedy for a place where one of these names belongs.
pub(crate) fn one_of(valid: &[&str]) -> String {
    match valid {
        [only] => format!("{only:?}"),
        _ if valid.len() > LISTED => "a name".to_owned(),
        _ => format!("one of {}", valid.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_names_are_proposed_and_far_ones_are_not() {
        let valid = ["greedy", "d-choices", "random"];
        assert_eq!(nearest("d_choice", &valid), Some("d-choices"));
        assert_eq!(nearest("Greedy", &valid), Some("greedy"));
        assert_eq!(nearest("lru", &valid), None);
        assert_eq!(nearest("x", &["s", "h"]), None);
    }

    #[test]
    fn short_lists_are_shown_whole() {
        assert_eq!(
            remedy("greddy", &["greedy", "random"]),
            r#" (did you mean "greedy"? valid: greedy, random)"#
        );
        assert_eq!(remedy("lru", &["greedy", "random"]), " (valid: greedy, random)");
        assert_eq!(remedy("lru", &[]), "");
        let many: Vec<String> = (0..21).map(|n| format!("policy-{n}")).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        assert_eq!(remedy("lru", &many), "");
        assert_eq!(remedy("policy-99", &many), r#" (did you mean "policy-9"?)"#);
    }
}
