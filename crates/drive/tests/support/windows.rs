//! Random drives with windows of predictable latency: another random drive, without what windows do not
//! support.

use super::case::Dice;
use super::sets::without_joins;
use super::superblocks::without_lines;
use drive::check::check;
use drive::load;

/// Gives a drive that has windows warnings of what is left of them.
pub fn with_thresholds(text: &mut String, dice: &mut Dice<'_>) {
    let Some(at) = text.find("ndwin_low = ") else { return };
    let line = text[..at].rsplit('\n').next().unwrap_or_default();
    let dtwin = line.trim_start_matches("windows = { dtwin = \"").split(' ').next();
    let dtwin: u64 = dtwin.and_then(|us| us.parse().ok()).expect("a length in us");
    let mut given = String::new();
    if line.contains("reads = 20,") && dice.once_in(2) {
        given += &format!("reads_threshold = {}, ", dice.below(20));
    }
    if !dice.once_in(3) {
        given += &format!("writes_threshold = {}, ", dice.of(&[0, 1, 7, 100]));
    }
    if dice.once_in(2) {
        given += &format!("time_threshold = \"{} us\", ", dice.below(dtwin));
    }
    text.insert_str(at, &given);
}

/// The experiment with windows, if it is sound then.
pub fn with_windows(text: &str, dice: &mut Dice<'_>) -> Option<String> {
    // Traces may last for hours.
    let lasts = text.contains("trace");
    let dtwin = if lasts { 200_000 } else { dice.of(&[300, 2_000, 20_000, 200_000]) };
    let reads = dice.of(&["", "", "reads = 1, ", "reads = 20, "]);
    let low = dice.of(&[0, 100, 3_000]);
    let high = low + dice.of(&[1, 200, 10_000]);
    let order = dice.of(&["together", "in-turn"]);
    let host = match dice.below(3) {
        0 => String::new(),
        _ if lasts => String::new(),
        _ => format!("dtwin = \"{} us\", ", dice.between(1, dtwin)),
    };
    let with = without_lines(&without_joins(text), &["wear = ", "rotation = "]);
    let windows = format!(
        "windows = {{ dtwin = \"{dtwin} us\", {reads}ndwin_low = \"{low} us\", ndwin_high = \"{high} us\" }}\n"
    );
    let with = with.replacen("[drive.ftl]\n", &format!("[drive.ftl]\n{windows}"), 1);
    let host = format!("\n[run]\nwindows = {{ {host}order = \"{order}\" }}\n");
    let with = with.replacen("\n[run]\n", &host, 1);
    let (experiment, _) = load::load(&with, "case.toml", &[]).ok()?;
    check(&experiment).is_ok().then_some(with)
}
