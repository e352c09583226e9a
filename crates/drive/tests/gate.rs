//! The gate: outcomes of frozen experiments when they were last accepted, and their outcomes now. A
//! change that only moves code leaves every outcome unchanged; a change of the model says which
//! outcomes it changes, and why.
//!
//! `make gate` compares, `make gate-accept` keeps the new outcomes. The cases are experiments with
//! all their settings written out, so that neither presets nor defaults nor the generator of random
//! cases can change them: `gate/cases.jsonl.gz`, one a line. The outcomes are text, so that a
//! difference can be read in the diff: `gate/outcomes.tsv`.

mod support;

use drive::load::{load, load_json};
use drive::{Experiment, Run, RunError};
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use metrics::Digest;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use support::kinds::Kind;
use support::ordeal::{Bounds, Outcome, judged, run};

/// Number of frozen random cases: 2,000 from before commands had cycles, and 200 with cycles and
/// with a channel order that is not the default.
const CASES: usize = 2_200;
const ORDERS: [&str; 3] =
    ["channel = \"data-first\"", "channel = \"commands-first\"", "channel = \"by-age\""];

/// Outcome of a run: hashes of the order and latencies of its completions, of the blame of its
/// requests, and of the flash's work and wear; and the number of its events.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Row {
    outcome: String,
    digest: u64,
    blame: u64,
    work: u64,
    events: u64,
}

/// Compares one column of two outcomes.
type Agrees = fn(&Row, &Row) -> bool;

/// Columns of an outcome that a change may alter.
const COLUMNS: [(&str, Agrees); 5] = [
    ("outcome", |a, b| a.outcome == b.outcome),
    ("digest", |a, b| a.digest == b.digest),
    ("blame", |a, b| a.blame == b.blame),
    ("work", |a, b| a.work == b.work),
    ("events", |a, b| a.events == b.events),
];

impl Row {
    fn ended(outcome: &str) -> Self {
        Self { outcome: outcome.replace(' ', "-"), digest: 0, blame: 0, work: 0, events: 0 }
    }
    fn to_line(&self, name: &str) -> String {
        let Self { outcome, digest, blame, work, events } = self;
        format!("{name}\t{outcome}\t{digest:016x}\t{blame:016x}\t{work:016x}\t{events}\n")
    }
    fn of_line(line: &str) -> Option<(String, Self)> {
        let mut words = line.split('\t');
        let mut word = || words.next();
        let (name, outcome) = (word()?.to_owned(), word()?.to_owned());
        let mut hash = || u64::from_str_radix(word()?, 16).ok();
        let (digest, blame, work) = (hash()?, hash()?, hash()?);
        Some((name, Self { outcome, digest, blame, work, events: word()?.parse().ok()? }))
    }
}

/// An experiment file of the repository, and the settings that make it short.
struct Shipped {
    name: String,
    file: PathBuf,
    overrides: Vec<(String, String)>,
}

fn here(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// Every file in `experiments/`, `examples/` and `examples/tiny-tail-flash/` that Rust can run: those of benches with fewer
/// requests, and drives of terabytes as smaller ones. Policies in Python have no function here; a
/// sweep is its base with the settings of its variations.
fn shipped() -> Vec<Shipped> {
    let mut found = Vec::new();
    for folder in ["experiments", "examples", "examples/tiny-tail-flash"] {
        let mut files: Vec<PathBuf> = here("../..")
            .join(folder)
            .read_dir()
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .filter(|path| path.extension().is_some_and(|kind| kind == "toml"))
            .collect();
        files.sort();
        for file in files {
            let stem = file.file_stem().unwrap().to_string_lossy().into_owned();
            let name = format!("{folder}/{stem}");
            for (suffix, settings) in variations(&stem) {
                let file = match stem.as_str() {
                    "sweep" => file.with_file_name("mixed.toml"),
                    _ => file.clone(),
                };
                let overrides = smaller(&stem)
                    .iter()
                    .chain(settings.iter())
                    .map(|(key, value)| (key.to_string(), value.to_string()));
                found.push(Shipped {
                    name: format!("{name}{suffix}"),
                    file,
                    overrides: overrides.collect(),
                });
            }
        }
    }
    found
}

type Settings = &'static [(&'static str, &'static str)];

/// Settings that make the drive of a shipped file small enough to be run often.
fn smaller(stem: &str) -> Settings {
    const SLICE: [(&str, &str); 4] = [
        ("drive.geometry.channels", "4"),
        ("drive.geometry.blocks_per_plane", "100"),
        ("drive.geometry.pages_per_block", "48"),
        ("drive.buffer.size", "\"16 MiB\""),
    ];
    const EXPORTED: &str = "drive.ftl.over_provisioning";
    match stem {
        "mixed" | "bench-mixed" | "sweep" => {
            &[SLICE[0], SLICE[1], SLICE[2], SLICE[3], (EXPORTED, "{ exported = \"1080 MB\" }")]
        }
        "demo" | "bench-trace" => &[
            SLICE[0],
            SLICE[1],
            SLICE[2],
            SLICE[3],
            (EXPORTED, "{ exported = \"1 GiB\" }"),
            ("workload[0].trace.repeat", "1"),
        ],
        "plane-blocking" | "gc-tolerant-reads" | "rotating-gc" | "gc-tolerant-flush"
        | "failed-plane" => {
            &[("drive.geometry.blocks_per_plane", "64"), ("workload[0].region.size", "\"1 GiB\"")]
        }
        _ => &[],
    }
}

/// The runs of a shipped file: a suffix of its name, and settings.
fn variations(stem: &str) -> &'static [(&'static str, Settings)] {
    const REQUESTS: (&str, &str) = ("run.requests", "20000");
    match stem {
        "policy" => &[],
        "demo" | "bench-trace" | "tenants" | "power-cut" | "end-of-life" | "superblocks"
        | "faults" => &[("", &[])],
        "hrm" => &[("", &[("run.time", "\"20 s\""), ("run.warm_up.time", "\"5 s\"")])],
        // Collection begins after 22,000 requests.
        "plane-blocking" | "gc-tolerant-reads" | "rotating-gc" | "gc-tolerant-flush" => {
            &[("", &[("run.requests", "60000"), ("run.warm_up.time", "\"2 s\"")])]
        }
        "failed-plane" => &[("", &[("run.time", "\"20 s\"")])],
        "sets" => &[("", &[("run.requests", "60000"), ("run.warm_up.requests", "10000")])],
        "mixed" | "bench-mixed" => &[("", &[("run.time", "\"6 s\"")])],
        "sweep" => &[
            (":greedy", &[("run.time", "\"6 s\""), ("drive.ftl.gc.victim", "\"greedy\"")]),
            (":fifo", &[("run.time", "\"6 s\""), ("drive.ftl.gc.victim", "\"fifo\"")]),
            (
                ":10 choices",
                &[
                    ("run.time", "\"6 s\""),
                    ("drive.ftl.gc.victim", "{ policy = \"d-choices\", choices = 10 }"),
                ],
            ),
            (
                ":fifo, early",
                &[
                    ("run.time", "\"6 s\""),
                    (
                        "drive.ftl.gc",
                        "{ victim = \"fifo\", background = \"16 blocks\", stop = \"16 blocks\" }",
                    ),
                ],
            ),
        ],
        "bench-large" => &[(
            "",
            &[
                REQUESTS,
                ("drive.geometry.channels", "1"),
                ("drive.geometry.packages_per_channel", "1"),
                ("drive.ftl.over_provisioning.exported", "\"200 GB\""),
            ],
        )],
        _ => &[("", &[REQUESTS])],
    }
}

// ---- running --------------------------------------------------------------------

fn hash(text: &str) -> u64 {
    let mut digest = Digest::default();
    text.bytes().for_each(|byte| digest.mix(byte.into()));
    digest.finish()
}

/// Runs a random case under audit.
fn of_case(line: &str) -> Result<Row, String> {
    let (experiment, _) = load_json(line, "case.json", &[]).map_err(|why| why.to_string())?;
    let (outcome, _) = judged(|| run(&experiment, Path::new("."), true, Bounds::WHOLE))?;
    let Outcome::Completed(account) = &outcome else { return Ok(Row::ended(outcome.name())) };
    let [blame, work] = account.told().map(|text| hash(&text));
    let (digest, events) = (account.digest, account.events);
    Ok(Row { outcome: outcome.name().into(), digest, blame, work, events })
}

/// Runs a shipped experiment as a user does.
fn of_shipped(shipped: &Shipped) -> Result<Row, String> {
    let text = std::fs::read_to_string(&shipped.file).map_err(|why| why.to_string())?;
    let name = shipped.file.to_string_lossy();
    let (mut experiment, _) =
        load(&text, &name, &shipped.overrides).map_err(|why| why.to_string())?;
    let folder = shipped.file.parent().expect("a file is in a folder");
    for trace in experiment.workload.iter_mut().filter_map(|workload| workload.trace.as_mut()) {
        trace.file = folder.join(&trace.file);
    }
    finished(&experiment).map_err(|why| why.to_string())
}

fn finished(experiment: &Experiment) -> Result<Row, RunError> {
    let surveys: Result<Vec<_>, _> = experiment.workload.iter().map(|one| one.survey()).collect();
    let run = Run::new(experiment, &surveys?, &mut |_| true)?;
    let mut run = run.expect("nobody interrupts it");
    while run.advance(1 << 16)? {}
    run.finish();
    let account = support::ordeal::Account::of(&run);
    let [blame, work] = account.told().map(|text| hash(&text));
    let (digest, events) = (account.digest, account.events);
    Ok(Row { outcome: "completed".into(), digest, blame, work, events })
}

/// The rows of all cases, in the order of their names; faults are named.
fn rows() -> Result<BTreeMap<String, Row>, String> {
    let cases = frozen();
    let shipped = shipped();
    let next = AtomicUsize::new(0);
    let found = Mutex::new((BTreeMap::new(), String::new()));
    let work = || {
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            // Long cases first.
            let (name, row) = match (shipped.get(index), index.checked_sub(shipped.len())) {
                (Some(one), _) => (one.name.clone(), judged(|| of_shipped(one))),
                (None, Some(number)) if number < cases.len() => {
                    (format!("case {number:04}"), of_case(&cases[number]))
                }
                _ => return,
            };
            let mut found = found.lock().unwrap();
            match row {
                Ok(row) => drop(found.0.insert(name, row)),
                Err(why) => writeln!(found.1, "{name}: {why}").unwrap(),
            }
        }
    };
    std::thread::scope(|scope| {
        let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get());
        (0..cores).for_each(|_| drop(scope.spawn(work)));
    });
    let (rows, faults) = found.into_inner().unwrap();
    if faults.is_empty() { Ok(rows) } else { Err(faults) }
}

// ---- accepted outcomes ---------------------------------------------------------------

fn frozen() -> Vec<String> {
    let file = std::fs::File::open(here("tests/gate/cases.jsonl.gz")).expect("frozen cases");
    let mut text = String::new();
    GzDecoder::new(file).read_to_string(&mut text).expect("a file that was frozen");
    text.lines().map(str::to_owned).collect()
}

fn accepted() -> BTreeMap<String, Row> {
    let text = std::fs::read_to_string(here("tests/gate/outcomes.tsv")).unwrap_or_default();
    text.lines().skip(1).filter_map(Row::of_line).collect()
}

/// Differences between the accepted outcomes and the new ones, as a table.
fn difference(before: &BTreeMap<String, Row>, after: &BTreeMap<String, Row>) -> Option<String> {
    let mut told = String::new();
    for (column, is_equal) in COLUMNS {
        let differs =
            |name: &&String| before.get(*name).is_none_or(|row| !is_equal(row, &after[*name]));
        let names: Vec<&String> = after.keys().filter(differs).collect();
        if let [first, ..] = names[..] {
            let (count, all) = (names.len(), after.len());
            writeln!(told, "{column:8} {count} of {all} differ, the first: {first}").unwrap();
        }
    }
    let gone = before.keys().filter(|name| !after.contains_key(*name)).count();
    if gone > 0 {
        writeln!(told, "{gone} accepted outcomes have no case any more").unwrap();
    }
    (!told.is_empty()).then_some(told)
}

#[test]
#[ignore = "some minutes: make gate"]
fn outcomes_are_as_they_were() {
    let after = rows().unwrap_or_else(|faults| panic!("cases with faults:\n{faults}"));
    let Some(told) = difference(&accepted(), &after) else {
        println!("{} outcomes are as they were", after.len());
        return;
    };
    if std::env::var_os("FLASHSCAPE_GATE_ACCEPT").is_some() {
        let mut text = "name\toutcome\tdigest\tblame\twork\tevents\n".to_owned();
        after.iter().for_each(|(name, row)| text += &row.to_line(name));
        std::fs::write(here("tests/gate/outcomes.tsv"), text).unwrap();
        println!("accepted:\n{told}");
        return;
    }
    panic!("outcomes differ:\n{told}if that is meant: make gate-accept, and say why");
}

/// Adds frozen random cases, with all their settings, for features that the earlier cases lack. The
/// earlier cases stay unchanged: otherwise their accepted outcomes would be lost.
#[test]
#[ignore = "only where cases are to be added"]
fn freeze() {
    let mut cases = frozen();
    for number in 0.. {
        if cases.len() >= CASES {
            break;
        }
        let text = Kind::Drive.case(&Kind::Drive.dice(17, number)).text;
        let has_order = text.lines().any(|line| ORDERS.contains(&line));
        if has_order
            && text.contains("[drive.nand.command_cycles]")
            && let Ok((experiment, _)) = load(&text, "case.toml", &[])
        {
            cases.push(serde_json::to_string(&experiment).unwrap());
        }
    }
    let file = std::fs::File::create(here("tests/gate/cases.jsonl.gz")).unwrap();
    let mut file = GzEncoder::new(file, Compression::best());
    cases.iter().for_each(|case| writeln!(file, "{case}").unwrap());
    file.finish().unwrap();
}

/// A row is read as it was written, which readers of a diff rely on.
#[test]
fn a_row_is_read_as_it_was_written() {
    let row = Row { outcome: "completed".into(), digest: 1, blame: u64::MAX, work: 3, events: 4 };
    let (name, read) = Row::of_line(row.to_line("case 0001").trim_end()).unwrap();
    assert_eq!((name.as_str(), &read), ("case 0001", &row));
    let of = |row: &Row| BTreeMap::from([("case".to_owned(), row.clone())]);
    assert_eq!(difference(&of(&row), &of(&row)), None);
    let other = Row { events: 5, ..row.clone() };
    let told = difference(&of(&row), &of(&other)).unwrap();
    assert_eq!(told, "events   1 of 1 differ, the first: case\n");
}
