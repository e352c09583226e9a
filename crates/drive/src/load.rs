//! From text to a checked experiment: a preset, the file that overrides it, and the overrides of
//! both. All faults are reported at once: faults of form (keys, kinds, units, ranges), and faults
//! of meaning (values that contradict each other) unless a value that they depend on has a fault of
//! form.

use crate::check::{Checked, check, check_but_memory, untimed};
use crate::experiment::Experiment;
use crate::presets::{PRESETS, Preset, preset};
use serde_json::{Map, Value, json};
use settings::{Document, Problem, Problems};

/// A value that overrides one of a file.
#[derive(Clone, Debug, PartialEq)]
pub enum Override {
    /// As on a command line: TOML, or else a string without quotes.
    Text(String),
    /// With its type.
    Value(Value),
}

/// Reads an experiment from TOML. `overrides` are pairs of a dotted path and a
/// value, as on a command line.
///
/// # Errors
/// Everything that is wrong with it.
pub fn load(
    text: &str,
    file: &str,
    overrides: &[(String, String)],
) -> Result<(Experiment, Checked), Problems> {
    load_document(&mut Document::parse(text, file)?, &as_texts(overrides), check)
}

/// As [`load`], from JSON.
///
/// # Errors
/// Everything that is wrong with it.
pub fn load_json(
    text: &str,
    file: &str,
    overrides: &[(String, String)],
) -> Result<(Experiment, Checked), Problems> {
    load_document(&mut Document::from_json(text, file)?, &as_texts(overrides), check)
}

fn as_texts(overrides: &[(String, String)]) -> Vec<(String, Override)> {
    let as_text = |(path, text): &(String, String)| (path.clone(), Override::Text(text.clone()));
    overrides.iter().map(as_text).collect()
}

/// As [`load`], from a document that was parsed before. The document keeps the text that the
/// experiment was read from, so that later faults find their lines in it. `check` ([`check()`] or a
/// similar function) judges an experiment that was read without faults.
///
/// # Errors
/// Everything that is wrong with it.
pub fn load_document(
    document: &mut Document,
    overrides: &[(String, Override)],
    check: impl FnOnce(&Experiment) -> Result<Checked, Problems>,
) -> Result<(Experiment, Checked), Problems> {
    let mut faults = Problems::new(document.file());
    // An override may name another preset, so overrides are applied first.
    for (path, value) in overrides {
        let set = match value {
            Override::Text(text) => document.set::<Experiment>(path, text),
            Override::Value(value) => document.set_value::<Experiment>(path, value.clone()),
        };
        if let Err(problems) = set {
            faults.problems.extend(problems.problems);
        }
    }
    if let Some(name) = document.get("drive.preset").cloned() {
        let known = name.as_str().and_then(preset);
        if known.is_none() {
            faults.push("drive.preset", unknown_preset(&name.to_string()));
        }
        // The remaining faults show even with a wrong preset.
        if let Err(problems) = lay_under(document, known.unwrap_or(&PRESETS[0])) {
            faults.problems.extend(problems.problems);
        }
    }
    let read = document.read::<Experiment>();
    if let Err(of_form) = &read {
        faults.problems.extend(of_form.problems.clone());
    }
    let checked = match &read {
        Ok(experiment) if faults.is_empty() => check(experiment),
        _ => {
            faults.problems.extend(faults_of_meaning(document, &faults));
            Err(faults)
        }
    };
    match (read, checked) {
        (Ok(experiment), Ok(mut checked)) => {
            checked.notes.extend(untimed::note(&experiment, document.given()));
            checked.notes.extend(document.notice());
            Ok((experiment, checked))
        }
        (_, Err(mut problems)) | (Err(mut problems), _) => {
            problems.file = document.file().to_owned();
            document.locate(&mut problems);
            Err(problems)
        }
    }
}

/// The path of an experiment with the current names of its keys.
pub fn current_path(path: &str) -> String {
    settings::current_path::<Experiment>(path)
}

fn lay_under(document: &mut Document, preset: &Preset) -> Result<(), Problems> {
    let base = Document::parse(preset.text, &format!("{}.toml", preset.name))?;
    document.under::<Experiment>(base, "drive")
}

fn unknown_preset(name: &str) -> String {
    let names: Vec<_> = PRESETS.iter().map(|preset| preset.name).collect();
    format!("no preset {name}{}", settings::remedy(name.trim_matches('"'), &names))
}

/// Contradictions among the parts of a document that have no fault of form. A placeholder without
/// contradictions replaces a part with such a fault, and contradictions that depend on that part
/// are not reported.
fn faults_of_meaning(document: &Document, of_form: &Problems) -> Vec<Problem> {
    let is_faulty = |part: &str| of_form.problems.iter().any(|fault| part_of(&fault.path) == part);
    let mut root = document.root().clone();
    root.retain(|part, _| PLACEHOLDERS.iter().any(|(known, _)| known == part));
    for (part, placeholder) in PLACEHOLDERS {
        if is_faulty(part) || root.get(*part).is_none() {
            root.insert((*part).to_owned(), placeholder());
        }
    }
    if let Some(Value::Array(workloads)) = root.get_mut("workload") {
        for (index, workload) in workloads.iter_mut().enumerate() {
            if is_faulty(&format!("workload[{index}]")) {
                *workload = placeholder_workload(index);
            }
        }
    }
    let placeholder = Document::from_value(root.into(), document.file());
    let Ok(experiment) = placeholder.and_then(|placeholder| placeholder.read::<Experiment>())
    else {
        return Vec::new();
    };
    let checked =
        if is_faulty("drive") { check_but_memory(&experiment) } else { check(&experiment) };
    let found = checked.err().map_or(Vec::new(), |found| found.problems);
    let is_founded = |fault: &Problem| {
        let part = part_of(&fault.path);
        // The drive's size limits the workloads and the preconditioning, and its parts fail.
        let of_drive = part.starts_with("workload")
            || ["precondition.age", "run.failures"].iter().any(|of| fault.path.starts_with(of));
        !(is_faulty(part) || of_drive && is_faulty("drive"))
    };
    found.into_iter().filter(is_founded).collect()
}

/// The part of a document that a path lies in: a table, or one of the workloads.
fn part_of(path: &str) -> &str {
    let is_entry = path.starts_with("workload[");
    let end = if is_entry { path.find(']').map(|end| end + 1) } else { path.find('.') };
    &path[..end.unwrap_or(path.len())]
}

type Placeholder = fn() -> Value;

/// The parts of an experiment that can contradict one another, each with a placeholder that
/// contradicts nothing.
const PLACEHOLDERS: &[(&str, Placeholder)] = &[
    ("drive", placeholder_drive),
    ("precondition", || json!({})),
    ("workload", || json!([placeholder_workload(0)])),
    ("run", || json!({ "requests": 1 })),
    ("record", || json!({})),
];

fn placeholder_drive() -> Value {
    let preset = Document::parse(PRESETS[0].text, PRESETS[0].name);
    let mut drive = preset.map_or_else(|_| Map::new(), |preset| preset.root().clone());
    // Its power may be cut.
    drive.insert("recovery".into(), json!({}));
    drive.into()
}

fn placeholder_workload(index: usize) -> Value {
    json!({ "name": format!("placeholder {index}"), "reads": "100 %", "stop": { "requests": 1 } })
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOUND: &str = "[drive]\npreset = \"dc-tlc\"\n\
        [[workload]]\nname = \"a\"\nreads = \"50 %\"\n\
        [[workload]]\nname = \"b\"\nreads = \"50 %\"\n\
        [run]\nrequests = 10\n";

    fn faults(overrides: &[(&str, &str)]) -> Vec<String> {
        let overrides: Vec<_> =
            overrides.iter().map(|(path, value)| ((*path).into(), (*value).into())).collect();
        let faults = load(SOUND, "test.toml", &overrides).err().map_or(Vec::new(), |p| p.problems);
        let mut paths: Vec<_> = faults.into_iter().map(|fault| fault.path).collect();
        paths.sort();
        paths
    }

    #[test]
    fn former_names_of_thresholds_are_accepted_with_a_note() {
        let current =
            [("drive.ftl.gc.background", "9 blocks"), ("drive.ftl.gc.foreground", "8 blocks")];
        let former = [("drive.ftl.gc.soft", "9 blocks"), ("drive.ftl.gc.urgent", "8 blocks")];
        let table = [("drive.ftl.gc", "{ soft = '9 blocks', urgent = '8 blocks' }")];
        let stop = ("drive.ftl.gc.stop", "10 blocks");
        let loaded = |overrides: &[(&str, &str)]| {
            let all = overrides.iter().chain([&stop]);
            let all: Vec<_> = all.map(|(path, value)| ((*path).into(), (*value).into())).collect();
            let (experiment, checked) = load(SOUND, "test.toml", &all).unwrap();
            (serde_json::to_value(&experiment).unwrap(), checked.notes)
        };
        let (expected, notes) = loaded(&current);
        assert_eq!(expected["drive"]["ftl"]["gc"]["background"], "9 blocks");
        let is_notice = |note: &&String| note.contains("former name");
        assert_eq!(notes.iter().find(is_notice), None);
        for written in [&former[..], &table] {
            let (found, notes) = loaded(written);
            assert_eq!(found, expected);
            let notice = notes.iter().find(is_notice).expect("a notice");
            assert!(
                notice.contains("drive.ftl.gc.soft is drive.ftl.gc.background now"),
                "{notice}"
            );
        }
    }

    const NO_INTERVAL: (&str, &str) = ("record.interval", "0 s");
    const SMALL_BUFFER: (&str, &str) = ("drive.buffer.size", "4 KiB");
    const BEYOND: (&str, &str) = ("workload[1].size", "900 TB");

    #[test]
    fn faults_of_form_and_of_meaning_come_together() {
        assert_eq!(faults(&[]), [""; 0]);
        assert_eq!(faults(&[NO_INTERVAL, SMALL_BUFFER]), ["drive.buffer.size", "record.interval"]);
        for misspelt in ["seeed", "run.requets", "precondition.flil", "workload[0].raeds"] {
            let mut all = [misspelt, "drive.buffer.size", "record.interval", "workload[1].size"];
            all.sort_unstable();
            assert_eq!(faults(&[(misspelt, "1"), NO_INTERVAL, SMALL_BUFFER, BEYOND]), all);
        }
    }

    #[test]
    fn nothing_is_said_about_what_depends_on_a_faulty_part() {
        let pages = ("drive.geometry.pages_per_block", "many");
        let found = faults(&[pages, NO_INTERVAL, SMALL_BUFFER, BEYOND]);
        assert_eq!(found, ["drive.geometry.pages_per_block", "record.interval"]);
        let fails = ("run.failures", "[{ at = '1 ms', die = 0 }]");
        assert_eq!(faults(&[fails]), ["run.failures"]);
        assert_eq!(faults(&[fails, pages]), ["drive.geometry.pages_per_block"]);
        // Without its requests the run would not end.
        assert_eq!(faults(&[("run.requests", "many")]), ["run.requests"]);
        assert_eq!(faults(&[("workload", "3"), NO_INTERVAL]), ["record.interval", "workload"]);
        let cut = ("run.power_cut", "{ after_events = 3 }");
        assert_eq!(faults(&[cut]), ["run.power_cut"]);
        assert_eq!(faults(&[cut, ("drive.recovery.map", "scan")]), [""; 0]);
        assert_eq!(faults(&[cut, ("drive.recovery.map", "foo")]), ["drive.recovery.map"]);
    }

    #[test]
    fn another_way_to_state_over_provisioning_replaces_the_one_before() {
        let exported = |text: &str, overrides: &[(&str, &str)]| {
            let overrides: Vec<_> =
                overrides.iter().map(|(path, value)| ((*path).into(), (*value).into())).collect();
            let (experiment, _) = load(text, "test.toml", &overrides).unwrap();
            let given = experiment.drive.ftl.over_provisioning;
            (given.spare.is_some(), given.reserved.is_some(), given.exported.is_some())
        };
        let spare = "drive = { ftl = { over_provisioning = { spare = \"28 %\" } }, ";
        let spare = SOUND.replace("[drive]\n", spare).replace("dc-tlc\"\n", "dc-tlc\" }\n");
        let key = "drive.ftl.over_provisioning";
        assert_eq!(exported(&spare, &[]), (true, false, false));
        for (path, value) in
            [(&*format!("{key}.reserved"), "25 %"), (key, "{ reserved = \"25 %\" }")]
        {
            assert_eq!(exported(&spare, &[(path, value)]), (false, true, false), "{path}");
            assert_eq!(exported(SOUND, &[(path, value)]), (false, true, false), "{path}");
        }
        let twice = [(&*format!("{key}.reserved"), "25 %"), (&*format!("{key}.spare"), "20 %")];
        assert_eq!(exported(SOUND, &twice), (true, false, false));
    }

    #[test]
    fn what_a_preset_has_between_flash_and_host_can_be_left_out() {
        let given = |overrides: &[(&str, &str)]| {
            let overrides: Vec<_> =
                overrides.iter().map(|(path, value)| ((*path).into(), (*value).into())).collect();
            load(SOUND, "test.toml", &overrides).unwrap().0.drive
        };
        let preset = given(&[]);
        assert!(preset.host_link().rate.is_some() && !preset.overheads().read.span().is_zero());
        let none = given(&[("drive.link", "none"), ("drive.firmware", "none")]);
        let overheads = none.overheads();
        let times = [overheads.read, overheads.write, overheads.trim, overheads.flush];
        assert!(none.host_link().rate.is_none() && times.iter().all(|time| time.span().is_zero()));
    }

    #[test]
    fn a_channel_beyond_any_bus_is_refused() {
        for (rate, sound) in
            [("39.9 MB/s", false), ("40 MB/s", true), ("4800 MT/s", true), ("5000 GT/s", false)]
        {
            let found = faults(&[("drive.nand.channel", rate)]);
            assert_eq!(found.is_empty(), sound, "{rate}: {found:?}");
        }
    }

    #[test]
    fn spare_bytes_beyond_all_bounds_are_refused_where_they_stand() {
        // With the page's own bytes they exceed 64 bits.
        for spare in ["18446744073709551615 B", "18446744073709535232 B", "1 EiB"] {
            let found = faults(&[("drive.geometry.page_spare", spare)]);
            assert_eq!(found, ["drive.geometry.page_spare"], "{spare}");
        }
    }

    #[test]
    fn flash_beyond_64_bits_is_refused() {
        // 128 planes of 504 blocks of 2112 pages: 2^27.02 pages, with 2^37 B each too many.
        for page in ["18446744073709551615 B", "1 TiB", "128 GiB"] {
            let found = faults(&[("drive.geometry.page_size", page)]);
            assert_eq!(found, ["drive.geometry"], "{page}");
        }
    }

    #[test]
    fn an_unknown_preset_hides_no_other_fault() {
        let found = faults(&[("drive.preset", "dc-tcl"), ("drive.buffer.size", "2"), NO_INTERVAL]);
        assert_eq!(found, ["drive.buffer.size", "drive.preset", "record.interval"]);
    }
}
