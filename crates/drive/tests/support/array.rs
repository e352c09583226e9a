//! Random arrays: several of another random drive, with a plan, without what arrays do not support.

use super::case::Dice;
use super::superblocks::without_lines;
use drive::load;

/// The experiment with several drives, if it is sound then.
pub fn with_array(text: &str, dice: &mut Dice<'_>) -> Option<String> {
    // Rows of a trace may lie hours apart.
    let least = if text.contains("trace = ") { 3 } else { 0 };
    let plan = plan(dice, least);
    let (drives, same) = (dice.between(1, 3), dice.below(2) == 1);
    let drop = ["nvm_set = ", "power_cut = ", "errors = ", "faults = ", "failures = ", "tasks = "];
    let plain: String = without_lines(text, &drop)
        .lines()
        // Plans choose the windows, and a run may not.
        .filter(|line| !(line.starts_with("windows = {") && line.contains("order = ")))
        .flat_map(|line| [line, "\n"])
        .collect();
    (0..3).find_map(|turn| {
        let drives = (drives + turn) % 3 + 1;
        let array =
            format!("array = {{ drives = {drives}, same_numbers = {same}, plan = {plan} }}\n");
        // A key of the file stands above its tables.
        let with = array + &plain;
        load::load(&with, "case.toml", &[]).is_ok().then_some(with)
    })
}

/// The experiment with a plan that levels wear in place of that of its array, if it is sound then.
pub fn with_leveling(text: &str, dice: &mut Dice<'_>) -> Option<String> {
    let piece = dice.of(&[4, 16, 64]);
    let chunk = piece * dice.of(&[1, 3, 8]);
    let gap = chunk * dice.of(&[1, 2, 10]);
    let copies = dice.of(&["10 %", "100 %", "300 %"]);
    let depth = dice.of(&["", ", depth = 1", ", depth = 3"]);
    let latency = dice.of(&["", ", latency = \"0 us\"", ", latency = \"300 us\""]);
    let plan = format!(
        "{{ policy = \"leveling\", chunk = \"{chunk} KiB\", gap = \"{gap} KiB\", \
         piece = \"{piece} KiB\", copies = \"{copies}\"{depth}{latency} }}"
    );
    let (drives, same) = (dice.between(1, 3), dice.below(2) == 1);
    // It chooses no windows.
    let plain = without_lines(text, &["array = {", "windows = {"]);
    (drives..=drives + 1).find_map(|drives| {
        let with = format!(
            "array = {{ drives = {drives}, same_numbers = {same}, plan = {plan} }}\n{plain}"
        );
        load::load(&with, "case.toml", &[]).is_ok().then_some(with)
    })
}

fn plan(dice: &mut Dice<'_>, least: u64) -> String {
    let periods = ["300 us", "1 ms", "7 ms", "60 ms"];
    let period = periods[dice.below(4).max(least) as usize];
    let size = dice.of(&["1 B", "40 KiB", "300 KiB", "64 MiB"]);
    let latency = dice.of(&["0 us", "1 us", "300 us"]);
    let depth = dice.of(&["", ", depth = 1", ", depth = 3"]);
    let settle = dice.of(&["", "", ", settle = \"10 us\""]);
    let common = format!(
        "period = \"{period}\", cache = {{ size = \"{size}\", latency = \"{latency}\" }}{depth}{settle}"
    );
    match dice.below(5) {
        0 => {
            let reads = dice.of(&["round-robin", "least-outstanding"]);
            let after = dice.of(&["0 us", "90 us", "700 us"]);
            let below = dice.of(&["", ", below = 1", ", below = 4"]);
            let hedge = match dice.below(2) {
                0 => String::new(),
                _ => format!(", hedge = {{ after = \"{after}\"{below} }}"),
            };
            format!("{{ policy = \"mirror\", reads = \"{reads}\"{hedge} }}")
        }
        1 => format!("{{ policy = \"ping-pong\", {common} }}"),
        2 => {
            let chunk = dice.of(&["16 KiB", "64 KiB", "192 KiB"]);
            format!("{{ policy = \"rotation\", {common}, chunk = \"{chunk}\" }}")
        }
        _ => {
            let release = dice.of(&["replicated", "swap-after-next"]);
            let answer = dice.of(&["written", "cached"]);
            let more = format!("release = \"{release}\", answer = \"{answer}\"");
            format!("{{ policy = \"rails\", {common}, {more} }}")
        }
    }
}
