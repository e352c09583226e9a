//! The contract of every policy of every family, found in the schema: a drive with the policy
//! serves reads, writes and trims under audit to their end, and twice in the same way. A new
//! policy, and a new family, is tested without a line here.

use crate::common::{DRIVE, run};
use drive::{Experiment, load};
use serde_json::Value;

/// Choices that describe the parts of a drive. All others are policies.
const PARTS: [&str; 7] = [
    "drive.nand.cell",
    "drive.nand.errors.chip",
    "drive.nand.errors.counting",
    "drive.concurrency.read",
    "drive.concurrency.program",
    "drive.concurrency.erase",
    "drive.link.duplex",
];

/// Parameters that have no default.
const PARAMETERS: [(&str, &str); 5] = [
    ("protected", "1"),
    ("within", "\"200 us\""),
    ("high", "\"80 %\""),
    ("low", "\"30 %\""),
    ("reads", "10"),
];

const BOUNDS_OF_PROGRAMS: &str = "drive.scheduler.program_suspension_bounds.by";

const REBUILD: &str = "drive.ftl.parity.rebuild";
const FLUSH: &str = "drive.ftl.parity.flush";
const BIN: &str = "drive.ftl.allocation.bin";
const IN_CHANNELS: &str = "{ read = \"channel\", program = \"channel\", erase = \"channel\" }";
const IN_PLANES: &str = "{ read = \"plane\", program = \"plane\", erase = \"plane\" }";
const GANG: &str = "{ channels = 2, control = \"asynchronous\" }";
const ROUNDS: &str = "drive.scheduler.rounds";

/// Settings that a policy, or a whole family, needs.
const COMPANIONS: [(&str, &str, &str, &str); 52] = [
    (SCRUB, "patrol", "drive.nand.errors", ERRORS),
    (SCRUB, "patrol", "drive.ftl.scrub.task", "own"),
    (SCRUB, "patrol", "drive.ftl.scrub.stream", "own"),
    ("drive.ftl.scrub.task", "own", "drive.ftl.scrub.stream", "own"),
    (SCRUB, "expected-errors", "drive.nand.errors", ERRORS),
    (SCRUB, "refresh", "drive.nand.errors", ERRORS),
    (SCRUB, "cost-benefit", "drive.nand.errors", ERRORS),
    (READ_RECOVERY, "*", "drive.nand.errors", ERRORS),
    (READ_RECOVERY, "conditional", "drive.ftl.superblock", STRIPES),
    (READ_RECOVERY, "conditional", "drive.ftl.allocation.streams", "separate"),
    (READ_RECOVERY, "conditional", "drive.ftl.over_provisioning.spare", "200 %"),
    (COPIES, "*", "drive.ftl.gc.copy_back", "true"),
    (COPIES, "odd-even", RESERVED, "copied"),
    (COPIES, "odd-even", "drive.ftl.gc.preemptible", "false"),
    (REBUILD, "*", "drive.ftl.parity.width", "2"),
    (REBUILD, "*", "drive.ftl.allocation.pool", "plane"),
    (FLUSH, "*", RESERVED, "copied"),
    (FLUSH, "*", "drive.ftl.parity.width", "2"),
    (FLUSH, "*", "drive.ftl.allocation.pool", "plane"),
    (FLUSH, "*", "drive.ftl.gc.preemptible", "false"),
    (FLUSH, "*", "drive.buffer.durability", "capacitor"),
    (ROTATION, "*", "drive.ftl.parity.width", "2"),
    (ROTATION, "*", "drive.ftl.allocation.pool", "plane"),
    (ROUTING, "reconstruct", "drive.ftl.parity.width", "2"),
    (ROUTING, "reconstruct", "drive.ftl.allocation.pool", "plane"),
    (CONVERT, "*", "drive.ftl.parity.width", "2"),
    (CONVERT, "*", "drive.ftl.allocation.pool", "plane"),
    (RESERVED, "erase", "drive.scheduler.suspension", "baseline"),
    (RESERVED, "stop", "drive.scheduler.suspension", "baseline"),
    (RESERVED, "*", "drive.ftl.gc.preemptible", "false"),
    (BLOCKING, "*", "drive.ftl.gc.preemptible", "false"),
    (BLOCKING, "*", RESERVED, "copied"),
    (BIN, "*", "drive.concurrency", IN_CHANNELS),
    ("drive.ftl.allocation.pool", "gang", "drive.geometry.gang", GANG),
    ("drive.geometry.gang", "*", "drive.geometry.gang.channels", "2"),
    ("drive.geometry.gang", "*", "drive.ftl.allocation.pool", "gang"),
    ("drive.scheduler.rounds.unit", "gang", "drive.geometry.gang", GANG),
    (ROUNDS, "*", "drive.geometry.planes_per_die", "2"),
    (ROUNDS, "*", "drive.concurrency", IN_PLANES),
    (ROUNDS, "*", "drive.scheduler.suspension", "baseline"),
    (ROUNDS, "*", "drive.ftl.gc.preemptible", "false"),
    (ROUNDS, "*", "drive.ftl.gc.background", "2 blocks"),
    ("drive.scheduler.rounds.collect", "*", "drive.scheduler.rounds.unit", "channel"),
    (ROUTING, "wait", "drive.scheduler.suspension", "baseline"),
    (BOUNDS_OF_PROGRAMS, "host-reads", "drive.scheduler.program_suspension", "i-es"),
    (BOUNDS_OF_PROGRAMS, "reads", "drive.scheduler.program_suspension", "d-es"),
    ("drive.recovery.map", "checkpoint", "drive.recovery.map.units", "300"),
    ("drive.recovery", "*", "run.power_cut", "{ at = \"20 ms\" }"),
    (PARTIAL, "plane", "drive.buffer.durability", "none"),
    (PARTIAL, "plane", "drive.buffer.flush", "eager"),
    (PARTIAL, "plane", "drive.buffer.order", "fifo"),
    (PARTIAL, "plane", "workload[0].size", "1 KiB"),
];
const STRIPES: &str = "{ dies = 2, width = { host = 2, collection = 2 } }";
const SCRUB: &str = "drive.ftl.scrub.choice";
const READ_RECOVERY: &str = "drive.ftl.read_recovery";
const ERRORS: &str = "{ chip = \"tlc-72-layer\", codeword = \"512 B\", corrects = 75, re_read_scale = 2.0, initial_cycles = 8000 }";
const COPIES: &str = "drive.nand.copy_back_pages";
const ROUTING: &str = "drive.scheduler.read_routing";
const ROTATION: &str = "drive.scheduler.rotation";
const CONVERT: &str = "drive.scheduler.read_routing.convert";
const BLOCKING: &str = "drive.ftl.gc.blocking";
const RESERVED: &str = "drive.ftl.gc.reserve_until";
const PARTIAL: &str = "drive.ftl.partial_writes";

/// A small drive at work: trims, collection, and reads that wait for erases of three steps.
const WORK: &str = r#"
[precondition]
fill = "random"
age.overwrites = 1.0
[[workload]]
name = "mix"
mix = { read = "50 %", write = "45 %", trim = "5 %" }
size = "8 KiB"
queue_depth = 12
[run]
requests = 1500
audit = true
"#;

/// Policies under which no erase is suspended.
const SILENT: [(&str, &str); 4] = [
    ("drive.scheduler.read_routing", "wait"),
    ("drive.scheduler.suspension", "baseline"),
    (RESERVED, "erase"),
    (RESERVED, "stop"),
];

const BASE: [(&str, &str); 14] = [
    (
        "drive.nand.program_steps",
        "{ steps = 4, ramp = \"2 us\", recover = \"5 us\", verify = \"5 us\" }",
    ),
    ("drive.ftl.scrub.interval", "1 ms"),
    ("drive.ftl.scrub.choice", "oldest"),
    ("drive.geometry.channels", "2"),
    ("drive.geometry.dies_per_package", "2"),
    ("drive.geometry.blocks_per_plane", "24"),
    ("drive.ftl.over_provisioning.spare", "60 %"),
    ("drive.ftl.gc.background", "3 blocks"),
    ("drive.ftl.gc.foreground", "2 blocks"),
    ("drive.ftl.gc.stop", "4 blocks"),
    ("drive.nand.erase.steps", "3"),
    ("drive.buffer.durability", "volatile"),
    ("drive.buffer.size", "128 KiB"),
    ("drive.scheduler.suspension", "d-es"),
];

/// A policy: the path of its family, its name, and its text in a configuration.
struct Choice {
    path: String,
    name: String,
    written: String,
}

#[test]
fn every_policy_serves_reads_writes_and_trims_and_twice_alike() {
    let choices = choices();
    for family in ["drive.ftl.gc.victim", "drive.buffer.flush", "drive.scheduler.bypass"] {
        let names = choices.iter().filter(|choice| choice.path == family).count();
        assert!(names >= 2, "{names} policies of {family} were found");
    }
    for choice in choices {
        let experiment = experiment(&choice);
        let runs = [run(&experiment), run(&experiment)];
        let [digest, again] = runs.each_ref().map(|run| run.device().digest());
        let Choice { path, name, .. } = choice;
        assert_eq!(digest, again, "{path} = {name}");
        let [run, _] = runs;
        assert!(run.measured().tally().erases > 50, "{path} = {name} collects");
        let suspensions = run.device().counters().suspensions;
        assert_eq!(
            suspensions > 0,
            !SILENT.contains(&(&*path, &*name)) && !path.starts_with(ROUNDS),
            "{path} = {name}: {suspensions} suspensions"
        );
        let of_programs = run.device().counters().program_suspensions;
        let interrupts_programs = path.contains("program_suspension") && name != "baseline";
        assert_eq!(of_programs > 0, interrupts_programs, "{path} = {name}: {of_programs}");
    }
}

fn experiment(choice: &Choice) -> Experiment {
    let owned = |(path, value): &(&str, &str)| ((*path).to_owned(), (*value).to_owned());
    let mut overrides: Vec<_> = BASE.iter().map(owned).collect();
    overrides.push((choice.path.clone(), choice.written.clone()));
    for (of, is, other, value) in COMPANIONS {
        if choice.path.starts_with(of) && (is == "*" || is == choice.name) {
            overrides.push((other.into(), value.into()));
        }
    }
    if choice.path.starts_with(ROUNDS) || [RESERVED, COPIES].contains(&&*choice.path) {
        // In rounds, beside a reservation until GC stops, and where copies must fit, nothing is
        // scrubbed.
        overrides.retain(|(path, _)| !path.starts_with("drive.ftl.scrub"));
    }
    let loaded = load::load(&format!("{DRIVE}\n{WORK}"), "policies.toml", &overrides);
    loaded.map(|(experiment, _)| experiment).unwrap_or_else(|problems| panic!("{problems}"))
}

/// Every policy of a drive, except for those in Python.
fn choices() -> Vec<Choice> {
    let root = settings::schema::<Experiment>();
    let mut found = Vec::new();
    find(&root, &root["properties"]["drive"], "drive", &mut found);
    found.retain(|choice| !PARTS.contains(&&*choice.path));
    found
}

fn find(root: &Value, node: &Value, path: &str, found: &mut Vec<Choice>) {
    let node = resolved(root, node);
    for way in node["oneOf"].as_array().into_iter().flatten() {
        if let Some(name) = way["const"].as_str() {
            let (name, written) = (name.to_owned(), format!("\"{name}\""));
            found.push(Choice { path: path.to_owned(), name, written });
        } else if let Some(tag) = tag_of(way)
            && way["properties"][tag]["const"] != "python"
        {
            found.push(tagged(way, tag, path));
        }
    }
    for below in node["anyOf"].as_array().into_iter().flatten() {
        find(root, below, path, found);
    }
    for (key, below) in node["properties"].as_object().into_iter().flatten() {
        find(root, below, &format!("{path}.{key}"), found);
    }
}

fn tagged(way: &Value, tag: &str, path: &str) -> Choice {
    let name = way["properties"][tag]["const"].as_str().expect("a tag is a word").to_owned();
    let required = way["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let needed = required.filter(|key| *key != tag).map(|key| {
        let known = PARAMETERS.iter().find(|(of, _)| *of == key);
        let (_, value) = known.unwrap_or_else(|| panic!("{path} = {name} needs a value of {key}"));
        format!(", {key} = {value}")
    });
    let written = format!("{{ {tag} = \"{name}\"{} }}", needed.collect::<String>());
    Choice { path: path.to_owned(), name, written }
}

fn tag_of(way: &Value) -> Option<&str> {
    let mut keys = way["properties"].as_object()?.iter();
    keys.find(|(_, value)| value["const"].is_string()).map(|(key, _)| key.as_str())
}

fn resolved<'v>(root: &'v Value, mut node: &'v Value) -> &'v Value {
    while let Some(place) = node["$ref"].as_str() {
        node = root.pointer(place.trim_start_matches('#')).expect("references lead somewhere");
    }
    node
}
