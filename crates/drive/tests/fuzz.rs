//! Random drives under random workloads, with the auditor on: nothing panics,
//! nothing hangs, every request completes, its blame sums to its latency, every
//! read returns what was written, the map is sound, and the same experiment
//! ends with the same digest, operations, wear and blame where the device goes no
//! short way (`Device::forgo_short_ways`).
//!
//! `FLASHSCAPE_FUZZ_CASES` raises the number of cases. A case that fails is
//! printed as an experiment file, shrunk. Keep it in `tests/fuzz/`: everything
//! there is run again by [`cases_that_once_failed_pass`].

mod support;

use proptest::collection::vec;
use proptest::prelude::any;
use proptest::test_runner::{Config, TestCaseError, TestRunner};
use std::cell::Cell;
use std::path::Path;
use support::case::{DICE, experiment};
use support::ordeal::{Outcome, run};

/// Cases of a usual run; some seconds.
const CASES: u32 = 600;

#[test]
fn random_drives_serve_random_workloads() {
    let cases = std::env::var("FLASHSCAPE_FUZZ_CASES");
    let cases = cases.map_or(CASES, |cases| cases.parse().expect("a number of cases"));
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    let [completed, refused, worn] = [0; 3].map(Cell::new);
    let chained = Cell::new(0);
    let count = |counter: &Cell<u32>| counter.set(counter.get() + 1);
    let outcome = TestRunner::new(config).run(&vec(any::<u32>(), DICE), |dice| {
        let text = experiment(&dice);
        let (outcome, turned) =
            run_both_ways(&text).map_err(|why| TestCaseError::fail(format!("{why}\n{text}")))?;
        chained.set(chained.get() + turned);
        count(match outcome {
            Outcome::Refused(_) => &refused,
            Outcome::WornOut => &worn,
            Outcome::Completed(_) => &completed,
        });
        Ok(())
    });
    let [completed, refused, worn] = [completed, refused, worn].map(Cell::into_inner);
    println!("{completed} completed, {refused} were refused by check, {worn} wore out");
    if let Err(failure) = outcome {
        panic!("{failure}");
    }
    assert!(completed > cases / 2, "{completed} of {cases} cases were run to their end");
    assert!(chained.get() > 0, "no operation of collection ever turned into another");
}

/// Runs a case with the device's short ways and without.
fn run_both_ways(text: &str) -> Result<(Outcome, u64), String> {
    let (outcome, turned) = run(text, true)?;
    let (otherwise, _) = run(text, false)?;
    if outcome != otherwise {
        return Err("a run without short ways ends otherwise".into());
    }
    Ok((outcome, turned))
}

#[test]
fn cases_that_once_failed_pass() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fuzz");
    let mut files: Vec<_> = folder.read_dir().unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    for file in files {
        let text = std::fs::read_to_string(&file).unwrap();
        match run_both_ways(&text) {
            Ok((Outcome::Completed(_) | Outcome::WornOut, _)) => {}
            Ok((Outcome::Refused(why), _)) => panic!("{} tests nothing: {why}", file.display()),
            Err(reason) => panic!("{}: {reason}", file.display()),
        }
    }
}
