//! Random drives that limit outstanding programs: another random drive, without what the limit does not
//! support.

use super::case::Dice;
use super::sets::without_joins;
use super::superblocks::without_lines;
use drive::check::check;
use drive::load;

/// The experiment with a limit of outstanding programs, if it is sound then.
pub fn with_pressure(text: &str, dice: &mut Dice<'_>) -> Option<String> {
    let programs = dice.of(&[1, 1, 2, 3, 8, 1_000_000]);
    let choice = dice.of(&["least-queued", "least-busy"]);
    let limited = |text: &str| {
        let mut with = text.to_owned();
        let begin = with.find("[drive.ftl]\n").expect("there is firmware") + "[drive.ftl]\n".len();
        with.insert_str(begin, &format!("pressure = {{ programs = {programs} }}\n"));
        let with = with.replace("choice = \"least-queued\"", &format!("choice = \"{choice}\""));
        let (experiment, _) = load::load(&with, "case.toml", &[]).ok()?;
        check(&experiment).is_ok().then_some(with)
    };
    limited(text).or_else(|| limited(&plain(text)))
}

/// The experiment without what the limit does not support.
fn plain(text: &str) -> String {
    let mut with = without_joins(text);
    for (begin, end) in [(", reserve_until = \"", "\"")] {
        if let Some(from) = with.find(begin) {
            let from_end = from + begin.len();
            let to = from_end + with[from_end..].find(end).expect("it ends") + end.len();
            with.replace_range(from..to, "");
        }
    }
    let table = "[drive.recovery]\n";
    if let Some(from) = with.find(table) {
        let rest = &with[from + table.len()..];
        let to = rest.find("\n[").map_or(with.len(), |to| from + table.len() + to + 1);
        with.replace_range(from..to, "");
    }
    let with = with
        .replace("preemptible = false", "preemptible = true")
        .replace("streaming = true", "streaming = false");
    without_lines(&with, &["rotation = ", "power_cut = ", "failures = "])
}
