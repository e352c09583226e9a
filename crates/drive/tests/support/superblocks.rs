//! Random drives with superblocks: another random drive, without what superblocks do not support.

use super::case::Dice;
use drive::check::check;
use drive::load;

/// The experiment with superblocks, if it is sound then.
pub fn with_superblocks(text: &str, exported: u64, dice: &mut Dice<'_>) -> Option<String> {
    let number = |key: &str| -> u64 {
        let from = text.find(key).map(|at| at + key.len()).expect("a number of the geometry");
        let digits = text[from..].split_whitespace().next().expect("a number");
        digits.parse().expect("a number")
    };
    let dies: u64 = ["\nchannels = ", "\npackages_per_channel = ", "\ndies_per_package = "]
        .into_iter()
        .map(number)
        .product();
    let divisors = |of: u64| -> Vec<u64> { (2..=of).filter(|by| of.is_multiple_of(*by)).collect() };
    if dies < 2 || text.contains("\nparity = ") || text.contains("[drive.recovery]") {
        return None;
    }
    let lanes = dice.of(&divisors(dies));
    let fits: Vec<u64> = divisors(lanes).into_iter().filter(|width| *width <= 64).collect();
    let mut least = 1.0;
    let mut width = |key: &str, once_in: u64| match dice.below(once_in) {
        0 => String::new(),
        _ => {
            let width = dice.of(&fits);
            least = f64::min(least, 1.0 - 1.0 / width as f64);
            format!("{key} = {width}")
        }
    };
    let own = text.contains("stream = \"own\"");
    let widths =
        [width("host", 3), width("collection", 4), width("scrub", if own { 2 } else { 1 })];
    let widths: Vec<String> = widths.into_iter().filter(|width| !width.is_empty()).collect();
    let mut with = supported(text);
    let blocks = number("\nblocks_per_plane = ");
    let more = (blocks as f64 / least).ceil() as u64 + dice.below(4);
    let [old, new] = [blocks, more].map(|blocks| format!("\nblocks_per_plane = {blocks}\n"));
    with = with.replace(&old, &new);
    let line = "\nover_provisioning = { ";
    let begin = with.find(line).expect("every drive has it");
    let end = begin + 1 + with[begin + 1..].find('\n').expect("it ends");
    let superblock = format!(
        "{line}exported = \"{exported} B\" }}\nsuperblock = {{ dies = {lanes}, width = {{ {} }} }}",
        widths.join(", ")
    );
    with.replace_range(begin..end, &superblock);
    let (experiment, _) = load::load(&with, "case.toml", &[]).ok()?;
    check(&experiment).is_ok().then_some(with)
}

/// The experiment with collection that may stop between any two moves, and moves all data through the
/// controller.
pub fn plain_collection(text: &str) -> String {
    let mut with = text.to_owned();
    for (begin, end) in [
        ("idle_gap = \"", ", "),
        ("at_once = {", "}, "),
        (", reserve_until = \"", "\""),
        (", copy_back_most = ", ","),
    ] {
        if let Some(from) = with.find(begin) {
            let from_end = from + begin.len();
            let to = from_end + with[from_end..].find(end).expect("it ends") + end.len();
            let kept = if end == "," { "," } else { "" };
            with.replace_range(from..to, kept);
        }
    }
    replace_value(&mut with, "blocking = \"", "plane");
    with = with
        .replace("preemptible = false", "preemptible = true")
        .replace("copy_back = true", "copy_back = false")
        .replace("streaming = true", "streaming = false");
    without_lines(&with, &["wear = ", "rounds = ", "copy_back_pages = ", "rotation = "])
}

/// The experiment without what superblocks do not support.
fn supported(text: &str) -> String {
    let mut with = plain_collection(text);
    for (begin, end) in [("stripe = \"", ", "), ("background_begins = \"", ", ")] {
        if let Some(from) = with.find(begin) {
            let from_end = from + begin.len();
            let to = from_end + with[from_end..].find(end).expect("it ends") + end.len();
            with.replace_range(from..to, "");
        }
    }
    for (key, value) in [
        (" pool = \"", "drive"),
        (" bin = \"", "plane"),
        (" streams = \"", "separate"),
        ("partial_writes = \"", "controller"),
    ] {
        replace_value(&mut with, key, value);
    }
    with = with.replace("summary_page = true", "summary_page = false");
    without_lines(&with, &["gang = ", "erase_batching = "])
}

fn replace_value(text: &mut String, key: &str, value: &str) {
    let from = text.find(key).expect("every drive has it") + key.len();
    let to = from + text[from..].find('"').expect("it ends");
    text.replace_range(from..to, value);
}

pub fn without_lines(text: &str, keys: &[&str]) -> String {
    let is_kept = |line: &&str| !keys.iter().any(|key| line.starts_with(key));
    let lines: Vec<&str> = text.lines().filter(is_kept).collect();
    lines.join("\n") + "\n"
}
