//! Random drives with windows of predictable latency: another random drive, without what windows do not
//! support.

use super::case::Dice;
use super::sets::without_joins;
use super::superblocks::without_lines;
use drive::check::check;
use drive::load;

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
