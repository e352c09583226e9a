//! Settings that an untimed run uses, as the table of `check/untimed.rs` says: each case changes its
//! parameter in an untimed run, which ends otherwise or not. The digest of such a run covers all
//! commands, and the programs and erases that they caused.

use super::case::Case;
use super::cases;
use super::schema::Parameters;
use drive::check::untimed::{SETTINGS, Use, use_of};
use drive::{Experiment, Run};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// Parameters that a run uses although no case shows it in the digest, each with the reason.
const USED_UNSEEN: &[(&str, &str)] = &[
    ("drive.ftl.allocation.bin", PLACES),
    ("drive.ftl.allocation.order", PLACES),
    ("drive.ftl.allocation.pool", PLACES),
    ("drive.ftl.bad_blocks.factory", ALIKE),
    ("drive.ftl.erase_planes", ALIKE),
    ("drive.ftl.gc.foreground", "only pacing by host writes uses it, which its case does not have"),
    ("drive.ftl.gc.victim.file", FUNCTIONS),
    ("drive.ftl.gc.victim.function", FUNCTIONS),
    ("drive.ftl.partial_writes", WHOLE),
    ("drive.ftl.subunit", WHOLE),
    ("drive.ftl.superblock.dies", ALIKE),
    ("precondition.parts.align", WHOLE),
    ("precondition.parts.share", WHOLE),
    ("precondition.parts.size", WHOLE),
    ("run.time", MOMENTS),
    ("run.untimed", "all runs here are untimed"),
    ("title", "it is a text"),
    ("workload.arrivals.process", MOMENTS),
    ("workload.arrivals.rate", MOMENTS),
    ("workload.bursts.off", MOMENTS),
    ("workload.bursts.on", MOMENTS),
    ("workload.nvm_set", "the drive needs sets, which are refused"),
    ("workload.start", MOMENTS),
    ("workload.stop.time", MOMENTS),
    ("workload.think_time", MOMENTS),
    ("workload.think_time.mean", MOMENTS),
    ("workload.trace.disorder", MOMENTS),
    ("workload.trace.event", MOMENTS),
    ("workload.trace.format", MOMENTS),
    ("workload.trace.mode", MOMENTS),
    ("workload.trace.spread", MOMENTS),
    ("workload.trace.time_scale", MOMENTS),
    ("workload.trace.time_unit", MOMENTS),
    ("workload.trace.waits", MOMENTS),
];

const WHOLE: &str = "the load writes whole units";
const ALIKE: &str = "the values of its case cause equally many programs and erases";
const FUNCTIONS: &str = "no Python function runs here";
const PLACES: &str = "the digest has no places of data";
const MOMENTS: &str = "moments decide the order of several initiators and the end of the run";

/// Writes, trims and reads that make a small drive collect; the first limit ends them.
fn load() -> Value {
    json!([{ "name": "host", "mix": { "write": "70 %", "read": "20 %", "trim": "10 %" }, "size": "4 KiB" }])
}

/// An experiment as an untimed run, without what is refused there; `None` if it is refused.
fn untimed(mut config: Value, parameter: &str) -> Option<Experiment> {
    let is_of = |part: &str| parameter == part || parameter.starts_with(&format!("{part}."));
    let run = config["run"].as_object_mut().expect("a run is a table");
    for key in ["audit", "warm_up", "starvation", "power_cut", "failures", "windows"] {
        if !is_of(&format!("run.{key}")) {
            run.remove(key);
        }
    }
    run.insert("untimed".into(), true.into());
    if !is_of("run") {
        run.retain(|key, _| key == "untimed");
        run.insert("requests".into(), 3_000.into());
    }
    if !is_of("workload") {
        config["workload"] = load();
    }
    if !is_of("record") {
        config.as_object_mut().expect("it is a table").remove("record");
    }
    let text = config.to_string();
    drive::load::load_json(&text, "untimed.json", &[]).ok().map(|(experiment, _)| experiment)
}

/// The digest of an untimed run; `None` if it cannot be prepared.
fn digest(experiment: &Experiment) -> Option<u64> {
    let surveys = experiment.workload.iter().map(|workload| workload.survey().ok());
    let traces: Vec<_> = surveys.collect::<Option<_>>()?;
    let mut run = Run::new(experiment, &traces, &mut |_| true).ok()??;
    let mut left = 20;
    while left > 0 && run.advance(1_000).ok()? {
        left -= 1;
    }
    Some(run.device().digest())
}

/// The digests of the values of a case, of those that an untimed run takes.
fn digests(case: &Case) -> BTreeSet<u64> {
    let configs = case.resolved();
    let parameter = case.name();
    configs.into_iter().filter_map(|config| digest(&untimed(config, parameter)?)).collect()
}

/// A path without the values of tags: `workload.addresses(zipf).theta`.
fn path_of(parameter: &str) -> String {
    let parts =
        parameter.split('(').map(|part| part.split_once(')').map_or(part, |(_, rest)| rest));
    parts.collect()
}

#[test]
fn an_untimed_run_uses_the_settings_that_the_table_says() {
    let mut seen: BTreeMap<String, bool> = BTreeMap::new();
    for case in cases() {
        let path = path_of(case.name());
        let differs = digests(&case).len() > 1;
        *seen.entry(path).or_default() |= differs;
    }
    let mut faults = Vec::new();
    for (path, differs) in &seen {
        let unseen = USED_UNSEEN.iter().any(|(used, _)| used == path);
        match use_of(path) {
            Use::Used if !differs && !unseen => {
                faults.push(format!("{path}: used, but no case shows it"))
            }
            Use::Used if *differs && unseen => {
                faults.push(format!("{path}: is seen; take it out of USED_UNSEEN"))
            }
            Use::Unused | Use::Refused | Use::RefusedElsewhere if *differs => {
                faults.push(format!(
                    "{path}: changes an untimed run, but is not in the table as used"
                ));
            }
            _ => {}
        }
    }
    assert!(faults.is_empty(), "{} faults:\n  {}", faults.len(), faults.join("\n  "));
}

#[test]
fn each_line_of_the_table_is_of_a_setting() {
    let known = Parameters::of_experiment();
    let paths: BTreeSet<String> = known.words.keys().map(|name| path_of(name)).collect();
    for (line, _) in &SETTINGS[1..] {
        let is_below = |path: &String| path == line || path.starts_with(&format!("{line}."));
        assert!(paths.iter().any(is_below), "{line}: there is no such setting");
    }
}

#[test]
fn the_documentation_has_each_line_of_the_table() {
    let page = include_str!("../../../../../docs/configuration.md");
    let (_, table) = page.split_once("| setting | in an untimed run |\n|---|---|\n").unwrap();
    let (table, _) = table.split_once("\n\n").unwrap();
    let expected = SETTINGS[1..].iter().map(|(path, of)| {
        let told = match of {
            Use::Used => "used",
            Use::Unused => "no effect",
            Use::Refused | Use::RefusedElsewhere => "refused",
        };
        format!("| `{path}` | {told} |")
    });
    assert_eq!(table.lines().collect::<Vec<_>>(), expected.collect::<Vec<_>>());
}
