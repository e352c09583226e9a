//! Every parameter of the configuration has a case that says how changing it moves a result, and by
//! how much (docs/decisions/0025).
//!
//! The schema gives the parameters, and the cases give the covered ones: a parameter, or a value
//! that it may take, without a case fails [`every_parameter_has_a_case`]. To add one, add a
//! `case(…)` to the list in the file of its part of the configuration: the setup, the measured
//! figure, and the model's prediction for each value. Predictions come from docs/model, by
//! arithmetic or theory, and never from a run.

mod case;
mod predicted;
mod requests;
mod scene;
mod schema;
pub(crate) mod scratch;
mod self_check;
mod untimed_use;

use case::Case;
use schema::Parameters;
use std::collections::{BTreeMap, BTreeSet};

/// The parts of the configuration: the file with the list of a part's cases, and how
/// the names of its parameters begin (the longest beginning counts).
macro_rules! parts {
    ($($file:ident: $($beginning:literal),+;)+) => {
        $(mod $file;)+

        const BEGINNINGS: &[(&str, &str)] = &[$($(($beginning, stringify!($file)),)+)+];

        fn cases() -> Vec<Case> {
            [$($file::cases()),+].into_iter().flatten().collect()
        }

        $(#[test]
        fn $file() {
            check($file::cases());
        })+
    };
}

parts! {
    general: "";
    geometry: "drive.geometry";
    nand: "drive.nand";
    concurrency: "drive.concurrency";
    ftl: "drive.ftl";
    allocation: "drive.ftl.allocation";
    collection: "drive.ftl.gc";
    parity: "drive.ftl.parity";
    failures: "run.failures", "drive.ftl.parity.rebuild";
    scheduler: "drive.scheduler";
    detours: "drive.scheduler.read_routing(reconstruct)";
    rotation: "drive.scheduler.rotation";
    rounds: "drive.scheduler.rounds";
    suspension: "drive.scheduler.suspension", "drive.scheduler.program_suspension",
        "drive.scheduler.erase_batching", "drive.nand.program_steps",
        "drive.nand.error_rate_per_1000_suspensions";
    errors: "drive.nand.errors", "drive.ftl.read_recovery";
    faults: "drive.nand.faults";
    scrubbing: "drive.ftl.scrub";
    wear: "drive.ftl.wear";
    sets: "drive.ftl.sets", "workload.nvm_set";
    superblocks: "drive.ftl.superblock";
    tasks: "drive.ftl.tasks";
    pressure: "drive.ftl.pressure";
    windows: "drive.ftl.windows", "run.windows";
    buffer: "drive.buffer";
    link: "drive.link";
    firmware: "drive.firmware";
    recovery: "drive.recovery";
    precondition: "precondition";
    clones: "clone";
    workload: "workload";
    addresses: "workload.addresses", "precondition.age.addresses";
    arrivals: "workload.arrivals", "workload.queue_depth", "workload.think_time", "workload.bursts";
    sizes: "workload.size";
    trace: "workload.trace";
    run: "run", "record";
    array: "array";
}

fn check(cases: Vec<Case>) {
    let faults: Vec<String> = cases.iter().filter_map(|case| case.check().err()).collect();
    assert!(faults.is_empty(), "{} cases fail:\n  {}", faults.len(), faults.join("\n  "));
}

/// Faults of a list of cases: cases that change another parameter than they say, and parameters or
/// values without a case.
fn faults_of(known: &Parameters, cases: &[Case]) -> Vec<String> {
    let mut faults = Vec::new();
    let mut covered: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    for case in cases {
        match case.changes(known) {
            Ok(changes) => covered.entry(changes.parameter).or_default().extend(changes.values),
            Err(fault) => faults.push(fault),
        }
    }
    let without_case = |what: String, name: &str| {
        format!(
            "{what}: no case; add one to crates/drive/tests/drive/directions/{}.rs",
            file_of(name)
        )
    };
    for (name, words) in &known.words {
        let Some(values) = covered.get(name.as_str()) else {
            faults.push(without_case(name.clone(), name));
            continue;
        };
        let missing = words.iter().filter(|word| !values.contains(*word));
        faults.extend(missing.map(|word| without_case(format!("{name} = {word}"), name)));
    }
    faults
}

/// The file for a parameter's cases.
fn file_of(name: &str) -> &'static str {
    let fits = BEGINNINGS.iter().filter(|(beginning, _)| name.starts_with(beginning));
    fits.max_by_key(|(beginning, _)| beginning.len()).expect("the first fits all").1
}

#[test]
fn every_parameter_has_a_case() {
    let known = Parameters::of_experiment();
    let values: usize = known.words.values().map(|words| words.len().max(1)).sum();
    let cases = cases();
    println!(
        "{} parameters, {values} with the values of each; {} cases",
        known.words.len(),
        cases.len()
    );
    let faults = faults_of(&known, &cases);
    assert!(
        faults.is_empty(),
        "every parameter of the configuration, and every value that it takes one of, needs a \
         test that changing it moves a result as the model says (docs/decisions/0025):\n  {}",
        faults.join("\n  ")
    );
}
