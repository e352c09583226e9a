//! Random drives, workloads, traces and texts, with the auditor on: nothing panics, nothing hangs,
//! every request completes once, its blame sums to its latency, every read returns the written
//! data, the map is sound, and the same experiment ends with the same digest, operations, wear and
//! blame if the device takes no short cut (`Device::forgo_short_ways`); any text is an experiment
//! or has problems with their positions.
//!
//! `make fuzz` runs a campaign of any size (docs/fuzzing.md). A case that fails is written to a
//! folder, shrunk. Keep it in `tests/fuzz/`: [`cases_that_once_failed_pass`] runs everything there
//! again.

mod support;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use support::campaign::{Campaign, Tally, smaller};
use support::kinds::{Case, Kind};
use support::ordeal::Outcome;

/// Cases of a usual run; some seconds.
const CASES: u64 = 1_800;

/// Drives of which those that can be cut into channels are compared.
const SETS_TRIED: u64 = 1_000;

#[test]
fn a_few_random_cases_pass() {
    let folder = std::env::temp_dir().join(format!("flashscape-findings-{}", std::process::id()));
    let campaign = Campaign {
        seed: floor::seed(1),
        first: 0,
        cases: CASES,
        only: None,
        has: None,
        jobs: cores(),
        folder,
        patience: Duration::from_secs(120),
        is_told: false,
    };
    let tally = judged(&campaign);
    for kind in [Kind::Drive, Kind::Trace] {
        let completed = tally.count(kind, "completed");
        assert!(completed > CASES / 9, "{completed} of {} {} cases", CASES / 3, kind.name());
    }
    for outcome in ["completed", "refused"] {
        let texts = tally.count(Kind::Text, outcome);
        assert!(texts > CASES / 30, "{texts} texts {outcome}");
    }
    assert!(tally.count(Kind::Trace, "an unreadable trace") > 0, "no damage was found");
    assert!(tally.turned > 0, "no operation of collection ever turned into another");
    let _ = std::fs::remove_dir_all(campaign.folder);
}

/// Sets of whole channels behind a free link do the same whether others work or idle.
#[test]
fn random_sets_do_what_they_do_alone() {
    let (mut compared, seed) = (0, floor::seed(1));
    for number in 0..SETS_TRIED {
        let dice = Kind::Drive.dice(seed, number);
        let text = support::case::experiment(&dice);
        let mut own = support::case::Dice::new(&dice);
        let cut = match text.contains("\nsets = {") {
            true => Some(text),
            false => support::sets::with_sets(&text, &mut own),
        };
        let Some(experiment) = cut.as_deref().and_then(support::sets::apart) else { continue };
        match support::ordeal::judged(|| support::sets::compare(&experiment)) {
            Ok(sets) => compared += sets,
            Err(fault) => {
                panic!("seed {seed}, case {number}: {fault}\n{}", cut.unwrap_or_default())
            }
        }
    }
    assert!(compared > 50, "{compared} sets of {SETS_TRIED} drives");
}

/// `make fuzz`: its settings are environment variables.
#[test]
#[ignore = "a campaign of any size: make fuzz"]
fn campaign() {
    let number = |name: &str, usual: u64| {
        let given = std::env::var(format!("FLASHSCAPE_FUZZ_{name}"));
        given.map_or(usual, |given| given.parse().expect("a whole number"))
    };
    let folder = std::env::var("FLASHSCAPE_FUZZ_FOLDER").map_or_else(
        |_| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/fuzz"),
        PathBuf::from,
    );
    let only = std::env::var("FLASHSCAPE_FUZZ_ONLY").ok().filter(|only| !only.is_empty());
    let has = match only.as_deref() {
        Some("failures") => Some("\nfailures = ["),
        Some("faults") => Some("\nfaults = {"),
        Some("superblocks") => Some("\nsuperblock = {"),
        Some("sets") => Some("\nsets = {"),
        Some("windows") => Some("\nwindows = { dtwin"),
        Some("array") => Some("array = {"),
        Some("scrubbing") => Some("\ntask = \"own\""),
        Some("pressure") => Some("\npressure = {"),
        Some("tasks") => Some("\ntasks = {"),
        Some("subunits") => Some("\nsubunit = "),
        _ => None,
    };
    let only = only.filter(|_| has.is_none()).map(|only| {
        let known = Kind::ALL.into_iter().find(|kind| kind.name() == only);
        known.expect(
            "FLASHSCAPE_FUZZ_ONLY is drive, trace, text, failures, faults, superblocks, sets, windows, array, scrubbing, pressure, subunits or tasks",
        )
    });
    let campaign = Campaign {
        seed: floor::seed(1),
        first: number("FIRST", 0),
        cases: number("CASES", CASES),
        only,
        has,
        jobs: number("JOBS", cores()).max(1),
        folder,
        patience: Duration::from_secs(number("PATIENCE", 120)),
        is_told: true,
    };
    judged(&campaign);
}

/// Runs a campaign, prints its results, and fails if it found something.
fn judged(campaign: &Campaign) -> Tally {
    let last = campaign.first + campaign.cases - 1;
    println!("seed {}, cases {} to {last}, {} jobs", campaign.seed, campaign.first, campaign.jobs);
    let tally = campaign.run();
    print!("{}", tally.told());
    let findings = &tally.findings;
    assert!(
        findings.is_empty(),
        "{} findings, in {}:\n{}",
        findings.len(),
        campaign.folder.display(),
        findings.join("\n")
    );
    tally
}

fn cores() -> u64 {
    std::thread::available_parallelism().map_or(1, |cores| cores.get() as u64)
}

/// The entries of a folder of this crate's tests, in order; empty if it is not there.
fn entries(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(folder);
    let found = folder.read_dir().into_iter().flatten();
    let mut entries: Vec<_> = found.map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    entries
}

/// Drives are files, drives with traces are folders with a `case.toml`, and texts, which may be
/// refused, have a folder of their own.
#[test]
fn cases_that_once_failed_pass() {
    let drives = entries("fuzz");
    assert!(!drives.is_empty(), "they come with the repository");
    for entry in drives {
        match entry.is_dir() {
            true => passes(Kind::Trace, &entry.join("case.toml")),
            false => passes(Kind::Drive, &entry),
        }
    }
    for file in entries("fuzz-texts") {
        passes(Kind::Text, &file);
    }
}

/// Runs a drive to its end; one that may be refused names the expected end.
fn passes(kind: Kind, file: &Path) {
    let case = Case::kept(kind, file);
    let folder = Scratch::of(file.parent().expect("a file is in a folder"));
    let (outcome, _) =
        case.run(&folder.0).unwrap_or_else(|reason| panic!("{}: {reason}", file.display()));
    let (name, ended) = (outcome.name(), file.display());
    let runs = matches!(outcome, Outcome::Completed(_) | Outcome::WornOut);
    match case.outcome() {
        Some(expected) => assert_eq!(name, expected, "{ended}"),
        None => assert!(
            kind == Kind::Drive && runs,
            "{ended}: {name}; if that is right, write \"# outcome: {name}\" into its first lines"
        ),
    }
}

/// A copy of a folder's files, to which a case may add others.
struct Scratch(PathBuf);

impl Scratch {
    fn of(folder: &Path) -> Self {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("flashscape-kept-{}-{number}", std::process::id());
        let copy = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&copy).unwrap();
        for file in folder.read_dir().unwrap().map(|entry| entry.unwrap().path()) {
            if file.is_file() {
                std::fs::copy(&file, copy.join(file.file_name().unwrap())).unwrap();
            }
        }
        Self(copy)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A case that a campaign writes down is judged as in the campaign: a sound trace may not be
/// refused.
#[test]
fn what_is_kept_of_a_sound_trace_stays_sound() {
    let seed = floor::seed(1);
    let number =
        (1..).step_by(3).find(|number| Kind::Trace.case(&Kind::Trace.dice(seed, *number)).is_sound);
    let mut case = Kind::Trace.case(&Kind::Trace.dice(seed, number.expect("most are sound")));
    let folder = std::env::temp_dir().join(format!("flashscape-sound-{}", std::process::id()));
    for (_, content) in &mut case.files {
        content.splice(0..0, *b"\x01\x02 no trace\n");
    }
    case.write(&folder);
    let kept = Case::kept(Kind::Trace, &folder.join("case.toml"));
    let found = kept.run(&folder).expect_err("its traces are unreadable");
    assert!(found.starts_with("a sound trace"), "{found}");
    std::fs::remove_dir_all(&folder).unwrap();
}

/// A case that is shrunk still fails, and contains only parts that it needs.
#[test]
fn failing_cases_shrink_to_what_they_need() {
    let dice = Kind::Drive.dice(1, 0);
    assert_eq!(dice, Kind::Drive.dice(1, 0));
    assert_ne!(dice, Kind::Drive.dice(1, 1));
    let mut failing = dice.clone();
    failing[70] = 1 << 20;
    let smaller = smaller(failing, &mut |dice| dice[70] > 1_000);
    // 2^20 halved as long as it is more than 1000.
    let needed: Vec<(usize, u32)> =
        smaller.into_iter().enumerate().filter(|(_, die)| *die > 0).collect();
    assert_eq!(needed, [(70, 1_024)]);
}

/// Every policy of every family occurs in random experiments, except for those in Python, for which
/// Rust has no functions.
#[test]
fn every_policy_occurs() {
    let seed = floor::seed(1);
    let texts: Vec<String> =
        (0..600).map(|number| Kind::Drive.case(&Kind::Drive.dice(seed, number)).text).collect();
    for (key, names) in [
        ("victim = ", ftl::VictimPolicy::NAMES),
        ("read_routing = ", drive::policies::routing::ReadRouting::NAMES),
        ("\nsuspension = ", drive::policies::suspension::Suspension::NAMES),
        ("program_suspension = ", drive::policies::suspension::Suspension::NAMES),
    ] {
        // A program's baseline equals the key left out.
        let is_default = |name: &str| key.starts_with("program") && name == "baseline";
        for name in names.iter().filter(|name| **name != "python" && !is_default(name)) {
            let ways = [format!("{key}\"{name}\""), format!("{key}{{ policy = \"{name}\"")];
            let occurs = |text: &String| ways.iter().any(|way| text.contains(way));
            assert!(texts.iter().any(occurs), "{key}{name}");
        }
    }
}
