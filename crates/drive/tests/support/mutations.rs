//! Sound experiment files turned into arbitrary ones: keys dropped, doubled and misspelt, values
//! that are extreme or of another kind, tables moved, characters of any script.

use super::case::Dice;
use drive::presets::PRESETS;
use std::ops::Range;
use std::path::Path;

/// Dice of the mutations, in addition to those of the case that is mutated.
const PART: usize = 40;
/// Dice of a text.
pub const DICE: usize = PART + super::case::DICE;

/// Values that no key, or hardly any, accepts.
const VALUES: &[&str] = &[
    "0",
    "1",
    "-1",
    "2",
    "3",
    "7",
    "255",
    "65536",
    "4294967295",
    "4294967296",
    "9223372036854775807",
    "-9223372036854775808",
    "18446744073709551615",
    "0x7fff_ffff",
    "1_000",
    "0.0",
    "-0.0",
    "0.5",
    "1e400",
    "1e308",
    "5e-324",
    "nan",
    "-nan",
    "inf",
    "-inf",
    "1e19",
    "true",
    "false",
    "[]",
    "{}",
    "[[[]]]",
    "[1, 2]",
    "[\"50 us\"]",
    "[\"1 us\", \"2 us\", \"3 us\"]",
    "{ policy = \"x\" }",
    "{ policy = \"greedy\" }",
    "{ policy = \"suspend\", most = 3 }",
    "{ mean = \"4 KiB\" }",
    "{ size = \"4 KiB\" }",
    "1979-05-27T07:32:00Z",
    "07:32:00",
    "\"\"",
    "\" \"",
    "\"0\"",
    "\"0 B\"",
    "\"1 B\"",
    "\"511 B\"",
    "\"512 B\"",
    "\"4 KiB\"",
    "\"1 MiB\"",
    "\"-4 KiB\"",
    "\"16 EiB\"",
    "\"15 EiB\"",
    "\"1 TB\"",
    "\"18446744073709551615 B\"",
    "\"18446744073709551616 B\"",
    "\"0.3 B\"",
    "\"1e3 KiB\"",
    "\"4KiB\"",
    "\"4 kib\"",
    "\"4 KiB/s\"",
    "\"0 s\"",
    "\"1 ns\"",
    "\"0.1 ns\"",
    "\"1 us\"",
    "\"1 ms\"",
    "\"1 h\"",
    "\"4 a\"",
    "\"9223372036 s\"",
    "\"18446744073.709551615 s\"",
    "\"1e30 s\"",
    "\"1 min\"",
    "\"0 %\"",
    "\"1 %\"",
    "\"50 %\"",
    "\"100 %\"",
    "\"100.000001 %\"",
    "\"-1 %\"",
    "\"99.999999999 %\"",
    "\"1e5 %\"",
    "\"NaN %\"",
    "\"inf %\"",
    "\"0 blocks\"",
    "\"1 blocks\"",
    "\"1 block\"",
    "\"4294967296 blocks\"",
    "\"100 % of blocks\"",
    "\"0 % of pages\"",
    "\"100 % of pages\"",
    "\"1 IOPS\"",
    "\"0 IOPS\"",
    "\"1e9 MIOPS\"",
    "\"1 GIOPS\"",
    "\"40 MB/s\"",
    "\"0 MB/s\"",
    "\"4800 MT/s\"",
    "\"1 EB/s\"",
    "\"greedy\"",
    "\"wait\"",
    "\"never\"",
    "\"none\"",
    "\"drive\"",
    "\"plane\"",
    "\"python\"",
    "\"dc-tlc\"",
    "\"atc08\"",
    "\"slc\"",
    "\"qlc\"",
    "\"uniform\"",
    "\"CWDP\"",
    "\"CCCC\"",
    "\"CWD\"",
    "\"random\"",
    "\"٣ KiB\"",
    "\"４ KiB\"",
    "\"4\u{a0}KiB\"",
    "\"4 µs\"",
    "\"4 μs\"",
    "\"💾\"",
    "\"\u{202e}4 KiB\"",
    "\"\\u0000\"",
    "'''x'''",
    "\"\"\"\nx\"\"\"",
    "\"unterminated",
    "]",
    "}",
    "= =",
    "#",
    "../x",
    "/dev/null",
];

/// Parts of experiments that random ones lack.
const SCRAPS: &[&str] = &[
    "[drive]",
    "[[workload]]",
    "[run]",
    "[precondition]",
    "[record]",
    "[drive.ftl.gc]",
    "[[drive]]",
    "[workload]",
    "[workload.trace]",
    "[[run]]",
    "[drive.preset]",
    "drive.preset = \"atc08\"",
    "preset = \"dc-tlc\"",
    "seed = 18446744073709551615",
    "seed = -1",
    "title = 3",
    "audit = true",
    "[precondition]\nsnapshot = \"nowhere\"",
    "trace = { file = \"nowhere\" }",
    "trace = { file = \"/\" }",
    "[record]\ninterval = \"1 ns\"\nslowest = 1000000",
    "[record]\nslowest = 0",
    "requests = 0",
    "time = \"1 ns\"",
    "stop = { bytes = \"1 B\" }",
    "bursts = { on = \"1 ns\", off = \"4 a\" }",
    "a.b.c = 1",
    "\"\" = 1",
    "\"drive.geometry\" = 1",
    "[drive.geometry.channels]",
    "\u{feff}",
    "\u{0}",
    "\r",
    "\r\n",
    "\u{85}",
    "é = 1",
    "[é]",
    "\"é\" = \"ü\"",
    "x = \"\"\"",
    "x = '''",
];

/// The text that `dice` describe.
pub fn text(dice: &[u32]) -> String {
    let (own, of_case) = dice.split_at(PART);
    let mut own = Dice::new(own);
    let mut text = sound(&mut own, of_case);
    for _ in 0..own.between(0, 4) {
        mutate(&mut text, &mut own);
    }
    text
}

/// An experiment that is sound: a random one, one of the files in the repository, or a
/// preset with a workload.
fn sound(dice: &mut Dice<'_>, of_case: &[u32]) -> String {
    let chosen = dice.below(20);
    if chosen < 16 {
        return super::case::experiment(of_case);
    }
    if chosen == 19 {
        let preset = dice.of(PRESETS);
        let drive = preset.text.replace("\n[", "\n[drive.");
        return format!(
            "{drive}\n[[workload]]\nname = \"a\"\nreads = \"50 %\"\n[run]\nrequests = 9\n"
        );
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let files = [
        "examples/demo.toml",
        "examples/mixed.toml",
        "examples/sweep.toml",
        "experiments/bench-age.toml",
        "experiments/bench-gc.toml",
        "experiments/bench-read-deep.toml",
        "crates/drive/tests/fuzz/two-erases-make-way-for-one-read.toml",
        "crates/drive/tests/fuzz/full-of-partial-writes.toml",
    ];
    std::fs::read_to_string(root.join(dice.of(&files))).expect("it comes with the repository")
}

fn mutate(text: &mut String, dice: &mut Dice<'_>) {
    match dice.below(16) {
        0 => edit_lines(text, dice, |lines, at, _| drop(lines.remove(at))),
        1 => edit_lines(text, dice, |lines, at, dice| {
            let to = dice.below(lines.len() as u64) as usize;
            lines.insert(to, lines[at].clone());
        }),
        2 => edit_lines(text, dice, |lines, at, dice| {
            let to = dice.below(lines.len() as u64) as usize;
            lines.swap(at, to);
        }),
        3 => move_table(text, dice),
        4 => edit_lines(text, dice, |lines, at, dice| {
            lines.insert(at, dice.of(SCRAPS).to_owned());
        }),
        5 | 6 => misspell(text, dice),
        7 => insert(text, dice),
        8 => nest(text, dice),
        9 => renumber(text, dice),
        _ => replace_value(text, dice),
    }
}

fn edit_lines(
    text: &mut String,
    dice: &mut Dice<'_>,
    edit: impl FnOnce(&mut Vec<String>, usize, &mut Dice<'_>),
) {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    if lines.is_empty() {
        return;
    }
    let at = dice.below(lines.len() as u64) as usize;
    edit(&mut lines, at, dice);
    *text = lines.join("\n");
    text.push('\n');
}

/// Moves a table with its keys, leaves it out, or doubles it.
fn move_table(text: &mut String, dice: &mut Dice<'_>) {
    let mut tables: Vec<String> = vec![String::new()];
    for line in text.lines() {
        if line.starts_with('[') {
            tables.push(String::new());
        }
        let table = tables.last_mut().expect("there is the first");
        table.push_str(line);
        table.push('\n');
    }
    let at = dice.below(tables.len() as u64) as usize;
    let table = tables[at].clone();
    let how = dice.below(4);
    if how < 3 {
        tables.remove(at);
    }
    if how > 0 {
        tables.insert(dice.below(tables.len() as u64 + 1) as usize, table);
    }
    *text = tables.concat();
}

/// A position between characters.
fn place(text: &str, dice: &mut Dice<'_>) -> usize {
    let mut at = dice.below(text.len() as u64 + 1) as usize;
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

fn insert(text: &mut String, dice: &mut Dice<'_>) {
    let at = place(text, dice);
    match dice.below(4) {
        0 => text.truncate(at),
        1 => text.insert_str(at, &"x".repeat(dice.between(1, 70_000) as usize)),
        _ => text.insert(
            at,
            dice.of(&[
                '"', '[', ']', '{', '}', '=', '.', ',', '\n', '\\', '#', '\'', '\0', '\u{7f}', 'é',
                '💾', '\u{feff}', '\u{2028}', '-', '9',
            ]),
        ),
    }
}

/// Nests a value or a key deeper than any reader allows.
fn nest(text: &mut String, dice: &mut Dice<'_>) {
    let depth = dice.of(&[3, 60, 100, 5_000]);
    let scrap = match dice.below(4) {
        0 => format!("nested = {}{}\n", "[".repeat(depth), "]".repeat(depth)),
        1 => format!("nested = {}1{}\n", "{ a = ".repeat(depth), " }".repeat(depth)),
        2 => format!("{}a = 1\n", "a.".repeat(depth)),
        _ => format!("[{}a]\n", "a.".repeat(depth)),
    };
    edit_lines(text, dice, |lines, at, _| lines.insert(at, scrap));
}

/// Ranges of values: behind each `=`, as far as a comma, a bracket or the line's end.
fn values(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    for (at, _) in text.match_indices('=') {
        let rest = &text[at + 1..];
        let (mut depth, mut quoted, mut end) = (0, false, rest.len());
        for (index, letter) in rest.char_indices() {
            match letter {
                '\n' => end = index,
                '"' => quoted = !quoted,
                '[' | '{' if !quoted => depth += 1,
                ']' | '}' if !quoted && depth > 0 => depth -= 1,
                ',' | '}' | ']' if !quoted && depth == 0 => end = index,
                _ => {}
            }
            if end < rest.len() {
                break;
            }
        }
        found.push(at + 1..at + 1 + end);
    }
    found
}

fn replace_value(text: &mut String, dice: &mut Dice<'_>) {
    let places = values(text);
    if places.is_empty() {
        return;
    }
    let at = places[dice.below(places.len() as u64) as usize].clone();
    // The value of another key may be of the right kind, and wrong only here.
    let value = match dice.below(4) {
        0 => text[places[dice.below(places.len() as u64) as usize].clone()].to_owned(),
        _ => format!(" {}", dice.of(VALUES)),
    };
    text.replace_range(at, &value);
}

/// Replaces a number by another one.
fn renumber(text: &mut String, dice: &mut Dice<'_>) {
    let digits: Vec<usize> =
        text.match_indices(|c: char| c.is_ascii_digit()).map(|it| it.0).collect();
    if digits.is_empty() {
        return;
    }
    let at = digits[dice.below(digits.len() as u64) as usize];
    let with = dice.of(&["0", "9", "00", "99", "-1", "1.5", "1e3", "12345678"]);
    text.replace_range(at..=at, with);
}

/// Doubles, removes, changes or swaps a letter of a word.
fn misspell(text: &mut String, dice: &mut Dice<'_>) {
    let letters: Vec<usize> =
        text.match_indices(|c: char| c.is_ascii_alphabetic()).map(|it| it.0).collect();
    if letters.is_empty() {
        return;
    }
    let at = letters[dice.below(letters.len() as u64) as usize];
    let letter = text[at..=at].to_owned();
    match dice.below(4) {
        0 => drop(text.remove(at)),
        1 => text.insert_str(at, &letter),
        2 => text.replace_range(at..=at, &letter.to_uppercase()),
        _ => text.replace_range(at..=at, dice.of(&["e", "_", "-", "z", "ä", " "])),
    }
}
