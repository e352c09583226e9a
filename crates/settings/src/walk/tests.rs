//! Each kind of fault with its exact message, on the shapes that configurations
//! are made of.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Decimal, Document, Measure, Rate, Scale, Share, Size, Time, Unit, measure};

/// A quantity of another crate, which the walk does not know.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Threshold {
    Blocks(u64),
    Percent(Decimal),
}

impl Measure for Threshold {
    const SCALE: Scale<'static> = Scale::new(
        "threshold",
        "8 blocks",
        &[Unit::whole("blocks", 1, "blocks"), Unit::any("%", 1)],
    );

    fn from_amount(amount: Decimal, unit: Unit<'static>) -> Self {
        match (unit.name, amount.whole()) {
            ("blocks", Some(blocks)) => Self::Blocks(blocks),
            _ => Self::Percent(amount),
        }
    }
}

impl std::fmt::Display for Threshold {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Blocks(blocks) => write!(out, "{blocks} blocks"),
            Self::Percent(percent) => write!(out, "{percent} %"),
        }
    }
}

measure!(Threshold);

#[derive(Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
struct Everything {
    victim: Victim,
    fallback: Option<Victim>,
    pulse: Option<Time>,
    page: Option<Size>,
    bus: Option<Rate>,
    spare: Option<Share>,
    start: Option<Threshold>,
    direction: Option<Direction>,
    #[schemars(range(min = 1, max = 64))]
    queues: Option<u32>,
    wide: Option<u32>,
    seed: Option<u64>,
    offset: Option<i32>,
    #[schemars(range(min = 0.5, max = 2.0))]
    skew: Option<f64>,
    audit: bool,
    name: String,
    #[schemars(length(min = 2, max = 4))]
    code: Option<String>,
    #[schemars(length(min = 1, max = 3))]
    dies: Option<Vec<u8>>,
    pair: Option<(u8, Time)>,
    workload: Vec<Workload>,
    tenants: BTreeMap<String, Workload>,
    drive: Option<NameOrDrive>,
    limit: Option<Limit>,
    checked: Option<Even>,
    anything: serde_json::Value,
    /// No `deny_unknown_fields`: the walk refuses what it does not know anyhow.
    open: Option<Open>,
    load: Option<Load>,
}

/// Choice of blocks.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "policy", rename_all = "kebab-case", deny_unknown_fields)]
enum Victim {
    /// Fewest valid pages.
    #[default]
    Greedy,
    /// The best of some.
    DChoices { choices: u32, within: Option<Time> },
    /// Like a struct of its own.
    Windowed(Workload),
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum Direction {
    /// Documented, so schemars puts it apart from the others, and last.
    Read,
    Write,
    ReadWrite,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Workload {
    size: Size,
    #[serde(default)]
    depth: u16,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
enum NameOrDrive {
    Name(String),
    Drive(Workload),
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
enum Limit {
    After(Time),
    Volume(Size),
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
struct Open {
    a: Option<u8>,
}

/// An enum flattened into a table; serde allows no `deny_unknown_fields` here.
#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
struct Load {
    depth: u16,
    #[serde(flatten)]
    pattern: Pattern,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "pattern", rename_all = "kebab-case")]
enum Pattern {
    Uniform,
    Zipf { theta: f64 },
}

/// A rule that only serde knows.
#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "u32", into = "u32")]
#[schemars(with = "u32")]
struct Even(u32);

impl TryFrom<u32> for Even {
    type Error = String;
    fn try_from(number: u32) -> Result<Self, String> {
        if number.is_multiple_of(2) { Ok(Self(number)) } else { Err(format!("{number} is odd")) }
    }
}

impl From<Even> for u32 {
    fn from(even: Even) -> u32 {
        even.0
    }
}

impl Clone for Even {
    fn clone(&self) -> Self {
        Self(self.0)
    }
}

fn read(text: &str) -> Everything {
    Document::parse(text, "f").unwrap().read().unwrap_or_else(|problems| panic!("{problems}"))
}

/// The problems of a text, one a line and without the heading.
#[track_caller]
fn refused(text: &str, expected: &[&str]) {
    let outcome = Document::parse(text, "f").unwrap().read::<Everything>();
    let problems = outcome.expect_err("it should be refused").problems;
    let lines: Vec<String> = problems.iter().map(ToString::to_string).collect();
    assert_eq!(lines, expected);
}

#[test]
fn what_is_right_is_read() {
    let all = read(
        r#"
        victim = { policy = "d-choices", choices = 10, within = "1 ms" }
        fallback = { policy = "windowed", size = "4 KiB" }
        pulse = "800 us"
        start = "5 %"
        direction = "read-write"
        seed = 18446744073709551615
        skew = 2
        audit = true
        dies = [1, 2]
        pair = [3, "4 us"]
        tenants.a.size = "8 KiB"
        drive = { size = "1 GiB" }
        limit = "1 GB"
        checked = 4
        anything = { goes = [1] }
        [[workload]]
        size = "16 KiB"
        depth = 2
        "#,
    );
    let within = Some("1 ms".parse().unwrap());
    assert_eq!(all.victim, Victim::DChoices { choices: 10, within });
    let size = |bytes| Workload { size: Size::from_bytes(bytes), depth: 0 };
    assert_eq!(all.fallback, Some(Victim::Windowed(size(4_096))));
    assert_eq!(all.start, Some(Threshold::Percent(5.into())));
    assert_eq!(all.direction, Some(Direction::ReadWrite));
    assert_eq!((all.seed, all.skew, all.audit), (Some(u64::MAX), Some(2.0), true));
    assert_eq!(all.pair, Some((3, "4 us".parse().unwrap())));
    assert_eq!(all.tenants["a"], size(8_192));
    assert_eq!(all.drive, Some(NameOrDrive::Drive(size(1 << 30))));
    assert_eq!(all.limit, Some(Limit::Volume(Size::from_bytes(1_000_000_000))));
    assert_eq!(all.workload, [Workload { size: Size::from_bytes(16_384), depth: 2 }]);
    assert_eq!(all.checked, Some(Even(4)));
}

#[test]
fn a_word_stands_for_its_tagged_table() {
    assert_eq!(read("victim = 'greedy'").victim, Victim::Greedy);
    assert_eq!(read("fallback = 'greedy'").fallback, Some(Victim::Greedy));
    refused("victim = 'd-choices'", &["line 1, victim.choices: missing; write a whole number"]);
}

#[test]
fn unknown_tags_list_the_valid_ones() {
    refused(
        "victim = { policy = 'd-choice' }\nfallback = 'lru'",
        &[
            "line 1, victim.policy: no policy \"d-choice\" (did you mean \"d-choices\"? \
             valid: greedy, d-choices, windowed)",
            "line 2, fallback: no policy \"lru\" (valid: greedy, d-choices, windowed)",
        ],
    );
    refused(
        "victim = {}\nfallback = { policy = 3 }",
        &[
            "line 1, victim.policy: missing; write one of greedy, d-choices, windowed",
            "line 2, fallback.policy: expected one of greedy, d-choices, windowed, found 3",
        ],
    );
}

#[test]
fn parameters_belong_to_their_tag() {
    refused(
        "victim = { policy = 'greedy', choices = 3 }\n\
         fallback = { policy = 'd-choices', choice = 3, window = 1 }",
        &[
            "line 1, victim.choices: policy \"greedy\" takes no parameters",
            "line 2, fallback.choice: policy \"d-choices\" has no such key \
             (did you mean \"choices\"? valid: choices, within)",
            "line 2, fallback.window: policy \"d-choices\" has no such key \
             (valid: choices, within)",
        ],
    );
}

#[test]
fn a_flattened_enum_shares_its_table() {
    let load = read("load = { pattern = 'zipf', theta = 0.9, depth = 4 }").load.unwrap();
    assert_eq!(load, Load { depth: 4, pattern: Pattern::Zipf { theta: 0.9 } });
    refused(
        "[load]\npattern = 'uniform'\ntheta = 0.9",
        &[
            "line 1, load.depth: missing; write a whole number",
            "line 3, load.theta: pattern \"uniform\" has no such key (valid: depth)",
        ],
    );
    refused(
        "[load]\npattern = 'zip'\ndepth = 'x'",
        &["line 2, load.pattern: no pattern \"zip\" (did you mean \"zipf\"? valid: uniform, zipf)"],
    );
}

#[test]
fn unknown_words_and_keys_are_named() {
    refused(
        "direction = 'wriet'\naudti = true\nopen.b = 1\n[tenants.x]\nsize = '1 B'\ndept = 1",
        &[
            "line 1, direction: no direction \"wriet\" (did you mean \"write\"? \
             valid: write, read-write, read)",
            "line 2, audti: unknown key (did you mean \"audit\"?)",
            // One letter is as near to any other as it can be.
            "line 3, open.b: unknown key (valid: a)",
            "line 6, tenants.x.dept: unknown key (did you mean \"depth\"? valid: size, depth)",
        ],
    );
}

#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("x-meant" = [["iodepth", "depth"]]))]
struct Host {
    depth: u32,
    pattern: Option<Places>,
    firmware: Option<Firmware>,
    spare: Option<Spare>,
}

#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
#[schemars(extend("x-meant" = [["random", "uniform"]]))]
enum Places {
    Uniform {},
    Sequential {},
}

#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Firmware {
    gc: Option<Spare>,
}

#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Spare {
    share: Option<Share>,
    bytes: Option<Size>,
}

#[test]
fn names_of_other_programs_and_keys_in_the_wrong_table_are_recognised() {
    let refused = |text: &str| {
        let problems = Document::parse(text, "f").unwrap().read::<Host>().unwrap_err().problems;
        problems[0].message.clone()
    };
    let keys = "valid: depth, pattern, firmware, spare";
    assert_eq!(refused("iodepth = 1"), format!("unknown key (did you mean \"depth\"? {keys})"));
    assert_eq!(refused("gc = {}"), format!("unknown key (did you mean \"firmware.gc\"? {keys})"));
    assert_eq!(
        refused("depth = 1\npattern = 'random'"),
        "no kind \"random\" (did you mean \"uniform\"? valid: uniform, sequential)"
    );
    assert_eq!(
        refused("depth = 1\nspare = '28%'"),
        "expected a table, found the string \"28%\" \
         (write { share = \"28%\" }; keys: share, bytes)"
    );
}

#[test]
fn numbers_beyond_64_bits_are_told_their_range() {
    let refusal = |json: &str| {
        let read = Document::from_json(json, "f").unwrap().read::<Everything>();
        read.unwrap_err().problems[0].message.clone()
    };
    let large = "18446744073709551616 is too large (at most 18446744073709551615)";
    assert_eq!(refusal(r#"{"seed": "18446744073709551616"}"#), large);
    assert!(
        refusal(r#"{"seed": 18446744073709551616}"#).ends_with("(at most 18446744073709551615)")
    );
    assert_eq!(
        refusal(r#"{"seed": "-18446744073709551616"}"#),
        "-18446744073709551616 is too small (at least 0)"
    );
}

#[test]
fn missing_keys_say_what_to_write_and_misspelt_ones_are_not_missing_too() {
    refused(
        "[[workload]]\nsize = '1 B'\n[[workload]]\ndepth = 1\n[[workload]]\nsizes = '1 B'",
        &[
            "line 3, workload[1].size: missing; write a size such as \"4 KiB\"",
            "line 6, workload[2].sizes: unknown key (did you mean \"size\"? valid: size, depth)",
        ],
    );
}

#[test]
fn quantities_are_checked_by_their_scale() {
    refused(
        "pulse = '800'\npage = 16\nbus = '0 MB/s'\nspare = 0.07\nstart = '2.5 blocks'",
        &[
            "line 1, pulse: \"800\" has no unit (one of ns, us, ms, s, min, h, d)",
            "line 2, page: 16 has no unit (one of B, KiB, MiB, GiB, TiB, kB, MB, GB, TB; as B: \"16 B\")",
            "line 3, bus: \"0 MB/s\" must be more than zero",
            "line 4, spare: 0.07 has no unit (write \"7 %\" or \"0.07 %\")",
            "line 5, start: \"2.5 blocks\" is not a whole number of blocks",
        ],
    );
    refused(
        "pulse = true\npair = [1, '2 parsec']",
        &[
            "line 1, pulse: expected a time such as \"25 us\", found true",
            "line 2, pair[1]: \"2 parsec\": no unit \"parsec\" (valid: ns, us, ms, s, min, h, d)",
        ],
    );
}

#[test]
fn wrong_kinds_come_with_what_to_write_instead() {
    refused(
        "queues = '12'\naudit = 'yes'\nname = 7\nworkload = { size = '1 B' }\nseed = 1.5\n\
         direction = 1\nvictim = 4\ndies = 'all'\nskew = [1]\ntenants = 3",
        &[
            "line 1, queues: expected a whole number, found the string \"12\" (write 12)",
            "line 2, audit: expected true or false, found the string \"yes\"",
            "line 3, name: expected a string, found 7 (write \"7\")",
            "line 4, workload: expected a list, found a table (write [[workload]])",
            "line 5, seed: expected a whole number, found 1.5",
            "line 6, direction: expected one of write, read-write, read, found 1",
            "line 7, victim: expected one of greedy, d-choices, windowed, found 4",
            "line 8, dies: expected a list, found the string \"all\"",
            "line 9, skew: expected a number, found a list",
            "line 10, tenants: expected a table, found 3",
        ],
    );
    refused("dies = 4", &["line 1, dies: expected a list, found 4 (write [4])"]);
}

#[test]
fn numbers_and_lengths_keep_to_their_range() {
    refused(
        "queues = 65\nwide = 4294967296\nseed = -1\noffset = -2147483649\nskew = 0.25\n\
         code = 'x'\ndies = []\npair = [256, '1 s', 3]",
        &[
            "line 1, queues: 65 is too large (at most 64)",
            "line 2, wide: 4294967296 is too large (at most 4294967295)",
            "line 3, seed: -1 is too small (at least 0)",
            "line 4, offset: -2147483649 is too small (at least -2147483648)",
            "line 5, skew: 0.25 is too small (at least 0.5)",
            "line 6, code: 1 character is too few (at least 2)",
            "line 7, dies: 0 entries are too few (at least 1)",
            "line 8, pair: 3 entries are too many (at most 2)",
            "line 8, pair[0]: 256 is too large (at most 255)",
        ],
    );
    assert_eq!(read("queues = 64\nskew = 0.5\ncode = 'µµ'\ndies = [1, 2, 3]").queues, Some(64));
}

#[test]
fn alternatives_are_judged_by_the_one_that_was_meant() {
    refused(
        "drive = { sise = '1 GiB', depth = -1 }\nlimit = 5",
        &[
            "line 1, drive.sise: unknown key (did you mean \"size\"? valid: size, depth)",
            "line 1, drive.depth: -1 is too small (at least 0)",
            "line 2, limit: 5 has no unit (one of ns, us, ms, s, min, h, d)",
        ],
    );
    refused("drive = 3", &["line 1, drive: expected a string, or a table, found 3"]);
    assert_eq!(read("drive = 'tlc'").drive, Some(NameOrDrive::Name("tlc".into())));
}

#[test]
fn what_only_serde_knows_is_a_problem_with_a_path() {
    refused("name = 'x'\nchecked = 3", &["line 2, checked: 3 is odd"]);
}

#[test]
fn none_from_python_is_an_absent_value() {
    let read = |json| Document::from_json(json, "dict").unwrap().read::<Everything>();
    assert_eq!(read(r#"{"pulse": null, "victim": "greedy"}"#).unwrap(), Everything::default());
    assert_eq!(
        read(r#"{"audit": null}"#).unwrap_err().to_string(),
        "dict: 1 problem\n  audit: expected true or false, found nothing"
    );
}

#[test]
fn what_was_read_is_written_so_that_it_reads_again() {
    let all = read(
        "victim = { policy = 'd-choices', choices = 2 }\npulse = '0.8 ms'\nstart = '8 blocks'",
    );
    let value = serde_json::to_value(&all).unwrap();
    assert_eq!(value["pulse"], "800 us");
    assert_eq!(Document::from_value(value, "f").unwrap().read::<Everything>().unwrap(), all);
}

#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum Endless {
    None,
}

#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(untagged)]
enum Depth {
    Limit(u16),
    Unlimited(Endless),
}

#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
struct Queue {
    depth: Depth,
}

#[test]
fn a_number_in_quotes_is_no_misspelt_word() {
    let read = |text: &str| Document::parse(text, "f").unwrap().read::<Queue>();
    assert_eq!(read("depth = 8").unwrap().depth, Depth::Limit(8));
    assert_eq!(read("depth = 'none'").unwrap().depth, Depth::Unlimited(Endless::None));
    let refused = |text: &str| read(text).unwrap_err().problems[0].message.clone();
    let told = refused("depth = '8'");
    assert!(told.starts_with("expected a whole number, or "), "{told}");
    assert!(told.ends_with("found the string \"8\""), "{told}");
    let told = refused("depth = 'nome'");
    assert!(told.contains("did you mean \"none\"?"), "{told}");
}
