//! Random faults of flash and read recovery levels: another random drive whose flash has bit errors.

use super::case::Dice;
use drive::check::check;
use drive::load;

/// The experiment with faults, with levels, or with both, if it is sound then.
pub fn with_faults(text: &str, dice: &mut Dice<'_>) -> Option<String> {
    if !text.contains("\nerrors = {") {
        return None;
    }
    let mut with = text.to_owned();
    let insert = |with: &mut String, behind: &str, line: &str| {
        let at = with.find(behind).expect("every drive has it") + behind.len();
        with.insert_str(at, line);
    };
    let kinds = dice.between(1, 3);
    if kinds & 1 != 0 {
        let faults = format!("faults = {{ {} }}\n", faults(dice));
        insert(&mut with, "[drive.nand]\n", &faults);
        if !with.contains("\nread_recovery = ") {
            let limit = format!(
                "read_recovery = {{ policy = \"ladder\", re_reads = {} }}\n",
                dice.below(4)
            );
            insert(&mut with, "[drive.ftl]\n", &limit);
        }
    }
    if kinds & 2 != 0 {
        let levels = format!(
            "read_recovery_levels = {{ 0 = {{ policy = \"ladder\", re_reads = {} }}, \
             15 = {{ policy = \"none\" }} }}\n",
            dice.below(9)
        );
        insert(&mut with, "[drive.ftl]\n", &levels);
        let level = format!("read_recovery_level = {}\n", dice.of(&[15, 0, 4]));
        insert(&mut with, "[[workload]]\n", &level);
    }
    let (experiment, _) = load::load(&with, "case.toml", &[]).ok()?;
    check(&experiment).is_ok().then_some(with)
}

fn faults(dice: &mut Dice<'_>) -> String {
    let share = |dice: &mut Dice<'_>| dice.of(&["0.1 %", "2 %", "40 %"]);
    let mut all = vec![match dice.below(3) {
        0 => format!("page_per_program = \"{}\"", share(dice)),
        1 => format!("word_line_per_program = \"{}\"", share(dice)),
        _ => format!("die_per_hour = {}.0", dice.of(&[3_600, 360_000, 36_000_000])),
    }];
    if dice.once_in(3) {
        let at = dice.of(&[0, 700, 5_000, 80_000]);
        all.push(format!("dies = [{{ die = 0, at = \"{at} us\" }}]"));
    }
    if dice.once_in(3) {
        let [block, page] = [11, 1].map(|most| dice.between(0, most));
        all.push(format!("pages = [{{ plane = 0, block = {block}, page = {page} }}]"));
        all.push(format!(
            "word_lines = [{{ plane = 0, block = {page}, word_line = 0, from_erases = {page} }}]"
        ));
    }
    all.join(", ")
}
