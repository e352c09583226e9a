//! Settings that something cannot be combined with.

use settings::Problems;

/// True if a setting is given, the fault and the remedy.
pub type Refused = (bool, &'static str, &'static str);

/// Refuses the settings that are given beside what `path` names; `otherwise` is the other remedy.
pub fn refuse(
    path: &str,
    refused: impl IntoIterator<Item = Refused>,
    otherwise: &str,
    problems: &mut Problems,
) {
    for (_, fault, remedy) in refused.into_iter().filter(|(is_given, ..)| *is_given) {
        problems.push(path, format!("{fault}; {remedy}, or {otherwise}"));
    }
}
