//! Settings and untimed runs: one table says which settings such a run uses. From it come the refusal
//! of settings that need time, and the note on settings that have no effect.

use crate::experiment::Experiment;
use serde_json::Value;
use settings::{Problems, counted};

/// Use of a setting by an untimed run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Use {
    /// The run depends on it.
    Used,
    /// It has no effect, and a note says so if the user has given it. A preset may have it.
    Unused,
    /// It asks for something that needs time, and is refused.
    Refused,
    /// Another check refuses it, with a reason of its own.
    RefusedElsewhere,
}
use Use::{Refused, RefusedElsewhere, Unused, Used};

/// Uses of settings, by the beginning of their paths, without places in lists: the longest beginning
/// counts. `untimed_use.rs` of the tests compares untimed runs with it.
pub const SETTINGS: &[(&str, Use)] = &[
    ("", Used),
    ("array", RefusedElsewhere),
    ("drive.buffer", Unused),
    ("drive.concurrency", Unused),
    ("drive.firmware", Unused),
    ("drive.ftl.gc", Unused),
    ("drive.ftl.gc.background", Used),
    ("drive.ftl.gc.foreground", Used),
    ("drive.ftl.gc.idle_gap", Refused),
    ("drive.ftl.gc.least_gain", Used),
    ("drive.ftl.gc.pacing", Used),
    ("drive.ftl.gc.stop", Used),
    ("drive.ftl.gc.victim", Used),
    ("drive.ftl.parity.flush", Unused),
    ("drive.ftl.parity.rebuild", Unused),
    ("drive.ftl.parity.xor", Unused),
    ("drive.ftl.pressure", RefusedElsewhere),
    ("drive.ftl.read_recovery", Unused),
    ("drive.ftl.read_recovery_levels", Unused),
    ("drive.ftl.scrub", Refused),
    ("drive.ftl.sets", RefusedElsewhere),
    ("drive.ftl.superblock.width.scrub", Unused),
    ("drive.ftl.superblock.xor", Unused),
    ("drive.ftl.tasks", Unused),
    ("drive.ftl.windows", RefusedElsewhere),
    ("drive.geometry.page_spare", Unused),
    ("drive.link", Unused),
    ("drive.nand", Unused),
    ("drive.nand.copy_back_pages", Refused),
    ("drive.nand.endurance", Used),
    ("drive.nand.errors", RefusedElsewhere),
    ("drive.recovery", Unused),
    ("drive.scheduler", Unused),
    ("record", Unused),
    ("record.collection", Refused),
    ("run.audit", Refused),
    ("run.failures", RefusedElsewhere),
    ("run.power_cut", Refused),
    ("run.starvation", Refused),
    ("run.warm_up", Refused),
    ("run.windows", RefusedElsewhere),
    ("workload.priority", Unused),
    ("workload.queue_depth", Unused),
    ("workload.read_recovery_level", Unused),
];

/// Paths of a note at most; it counts the others.
const NAMED: usize = 8;

/// The use of the setting at a path, such as `workload[0].queue_depth`.
pub fn use_of(path: &str) -> Use {
    let path = without_places(path);
    let is_within = |beginning: &str| {
        let rest = path.strip_prefix(beginning);
        beginning.is_empty() || rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    let found = SETTINGS.iter().filter(|(beginning, _)| is_within(beginning));
    found.max_by_key(|(beginning, _)| beginning.len()).expect("the first fits all").1
}

/// A path without places in lists.
fn without_places(path: &str) -> String {
    let parts = path.split('[').map(|part| part.split_once(']').map_or(part, |(_, rest)| rest));
    parts.collect()
}

/// Refuses settings that need time, in an untimed run.
pub fn check(experiment: &Experiment, problems: &mut Problems) {
    if !experiment.run.untimed {
        return;
    }
    let given = serde_json::to_value(experiment).expect("a configuration is plain data");
    for (path, _) in SETTINGS.iter().filter(|(_, of)| *of == Refused) {
        if is_given(given.pointer(&format!("/{}", path.replace('.', "/")))) {
            problems.push(
                *path,
                "an untimed run (run.untimed) has none of this; leave it out, or leave untimed out",
            );
        }
    }
}

/// True for a value that asks for something.
fn is_given(value: Option<&Value>) -> bool {
    match value {
        None | Some(Value::Null | Value::Bool(false)) => false,
        Some(Value::Array(list)) => !list.is_empty(),
        Some(Value::String(word)) => word != "any",
        Some(_) => true,
    }
}

/// The note on settings that the user has given, at these paths, and an untimed run does not use.
pub fn note<'p>(experiment: &Experiment, given: impl Iterator<Item = &'p str>) -> Option<String> {
    if !experiment.run.untimed {
        return None;
    }
    let unused: Vec<&str> = given.filter(|path| use_of(path) == Unused).collect();
    if unused.is_empty() {
        return None;
    }
    let more = unused.len().saturating_sub(NAMED);
    let rest = if more > 0 {
        format!(" and {}", counted(more as u64, "more setting"))
    } else {
        String::new()
    };
    Some(format!(
        "an untimed run (run.untimed) does not use {}{rest}: they have no effect",
        unused[..unused.len() - more].join(", "),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_beginning_counts() {
        assert_eq!(use_of("drive.ftl.gc.pacing"), Used);
        assert_eq!(use_of("drive.ftl.superblock.width.gc"), Used);
        assert_eq!(use_of("drive.ftl.superblock.width.scrub"), Unused);
        assert_eq!(use_of("drive.buffers"), Used);
        assert_eq!(use_of("workload[12].queue_depth"), Unused);
        assert_eq!(use_of("workload[0].size[1].share"), Used);
        assert_eq!(use_of("run.warm_up.time"), Refused);
        assert_eq!(use_of("seed"), Used);
    }
}
