//! Random drives whose map knows the subunits of units that hold data: another random drive, and the parts
//! of its units that the fill has written.

use super::case::Dice;
use drive::check::check;
use drive::load;

/// The experiment with subunits, if it is sound then.
pub fn with_subunits(text: &str, unit: u64, dice: &mut Dice<'_>) -> Option<String> {
    let parts = dice.of(&[2, 4, 8, 16, 64]).min(unit / 512);
    let subunit = unit / parts.max(2);
    let of_fill = match dice.below(3) {
        0 => String::new(),
        _ => {
            let size = subunit * dice.between(1, 5) / dice.of(&[1, 1, 2]);
            let align = dice.of(&[subunit, 512, unit, subunit * 3]);
            let share = dice.of(&["0", "20", "100", "100"]);
            format!(
                "parts = {{ size = \"{size} B\", align = \"{align} B\", share = \"{share} %\" }}\n"
            )
        }
    };
    let add = |text: &str, table: &str, line: &str| {
        let begin = text.find(table)? + table.len();
        let mut with = text.to_owned();
        with.insert_str(begin, line);
        Some(with)
    };
    let is_sound = |text: &String| {
        load::load(text, "case.toml", &[]).is_ok_and(|(experiment, _)| check(&experiment).is_ok())
    };
    let with = add(text, "[drive.ftl]\n", &format!("subunit = \"{subunit} B\"\n"))?;
    let filled = add(&with, "[precondition]\n", &of_fill).filter(|_| !of_fill.is_empty());
    filled.filter(is_sound).or_else(|| Some(with).filter(is_sound))
}
