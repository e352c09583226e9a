//! Random drives whose scrubbing is a task of its own: another random drive, without what that task
//! does not support.

use super::case::Dice;
use super::superblocks::plain_collection;
use drive::check::check;
use drive::load;

/// The experiment with such a task, if it is sound then.
pub fn with_scrubber(text: &str, dice: &mut Dice<'_>) -> Option<String> {
    if text.contains("[drive.recovery]") {
        return None;
    }
    let mut with = plain_collection(text);
    if let Some(from) = with.find("[drive.ftl.scrub]\n") {
        let rest = from + 1;
        let to = with[rest..].find("\n[").map_or(with.len(), |at| rest + at + 1);
        with.replace_range(from..to, "");
    }
    let interval = dice.of(&["300 us", "2 ms", "5 ms", "40 ms"]);
    let window = match dice.between(1, 9) {
        1 => String::new(),
        window => format!("window = {window}\n"),
    };
    let rate = dice.of(&["", "", "rate = \"30 MB/s\"\n", "rate = \"700 KB/s\"\n"]);
    let policies = if with.contains("\nerrors = {") { 6 } else { 2 };
    let choice = match dice.below(policies) {
        0 => "{ policy = \"oldest\" }".to_owned(),
        1 => format!("{{ policy = \"most-read\", reads = {} }}", dice.of(&[1, 20])),
        2 => format!("{{ policy = \"expected-errors\", above = {} }}", dice.of(&[2, 50, 80])),
        3 => format!("{{ policy = \"refresh\", age = \"{} ms\" }}", dice.of(&[1, 20])),
        4 => format!("{{ policy = \"cost-benefit\", above = {}.0 }}", dice.of(&[0, 1])),
        _ => format!("{{ policy = \"patrol\", re_reads = {} }}", dice.of(&[1, 2])),
    };
    let table = format!(
        "[drive.ftl.scrub]\ninterval = \"{interval}\"\nstream = \"own\"\ntask = \"own\"\n\
         choice = {choice}\n{window}{rate}"
    );
    let at = with.find("[drive.link]\n").expect("every drive has a link");
    with.insert_str(at, &table);
    let (experiment, _) = load::load(&with, "case.toml", &[]).ok()?;
    check(&experiment).is_ok().then_some(with)
}
