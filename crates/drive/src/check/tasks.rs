//! Contradictions of the limit of tasks.

use super::beside::refuse;
use crate::experiment::Experiment;
use settings::Problems;

const PATH: &str = "drive.ftl.tasks";

/// Refuses what a limit of tasks cannot be combined with.
pub fn check(experiment: &Experiment, problems: &mut Problems) {
    let drive = &experiment.drive;
    if drive.ftl.tasks.is_none() {
        return;
    }
    let refused = [
        (
            drive.scheduler.rounds.is_some(),
            "in rounds (scheduler.rounds) a collection goes on until a block is erased",
            "leave rounds out (rounds = \"none\")",
        ),
        (
            drive.scheduler.rounds.is_none() && !drive.ftl.gc.preemptible,
            "a collection that waits for a task would keep the flash that it has reserved (ftl.gc.preemptible is false) from reads, which may have the tasks",
            "choose preemptible = true",
        ),
        (
            drive.ftl.gc.streaming,
            "the read and the program of a page that streams (ftl.gc.streaming) are one",
            "choose streaming = false",
        ),
        (
            !experiment.run.failures.is_empty(),
            "the rebuild of data on flash that fails (run.failures) has a limit of its own",
            "leave failures out",
        ),
    ];
    let otherwise = "leave tasks out (tasks = \"none\" if a preset has it)";
    refuse(PATH, refused, otherwise, problems);
}
