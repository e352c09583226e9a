//! Checks rounds, which exclude operations that start beside others.

use crate::config::DriveConfig;
use crate::policies::scheduling::Bypass;
use ftl::{BinChoice, Pacing, ReserveUntil};
use nand::{Geometry, UnitLevel};
use settings::Problems;

pub fn check(drive: &DriveConfig, geometry: &Geometry, problems: &mut Problems) {
    let Some(rounds) = &drive.scheduler.rounds else { return };
    if drive.ftl.allocation.choice == BinChoice::LeastBusy {
        problems.push("drive.ftl.allocation.choice", "in rounds (scheduler.rounds) bins are chosen when a batch begins, and least-busy does not know what that will do; choose another one, or leave rounds out (rounds = \"none\")");
    }
    let path = "drive.scheduler";
    let gc = &drive.ftl.gc;
    let no = |is_given: bool, key: &'static str| is_given.then_some(key);
    let given = [
        no(!drive.scheduler.suspension.is_baseline(), "scheduler.suspension"),
        no(!drive.scheduler.program_suspension.is_baseline(), "scheduler.program_suspension"),
        no(drive.scheduler.erase_batching.is_some(), "scheduler.erase_batching"),
        no(drive.ftl.scrub.is_some(), "ftl.scrub"),
        no(gc.idle_gap.is_some(), "ftl.gc.idle_gap"),
    ];
    for key in given.into_iter().flatten() {
        problems.push(format!("drive.{key}"), "this cannot be combined with rounds (scheduler.rounds), in which no other operation starts before the round has ended; leave this out, or leave rounds out (rounds = \"none\")");
    }
    if !matches!(drive.scheduler.bypass, Bypass::Batch(_)) {
        problems.push(format!("{path}.bypass"), "in rounds (scheduler.rounds) the reads of a batch go first; choose bypass = \"batch\", or leave rounds out (rounds = \"none\")");
    }
    if gc.preemptible {
        problems.push("drive.ftl.gc.preemptible", "in rounds (scheduler.rounds) nothing goes between the moves of a collection; choose preemptible = false, or leave rounds out (rounds = \"none\")");
    }
    if gc.reserve_until.is_some_and(|until| until != ReserveUntil::Erase) {
        problems.push("drive.ftl.gc.reserve_until", "in rounds (scheduler.rounds) a batch of host operations goes between two collections, and none before an erase; choose reserve_until = \"erase\", or leave rounds out (rounds = \"none\")");
    }
    if gc.pacing != Pacing::None {
        problems.push("drive.ftl.gc.pacing", "in rounds (scheduler.rounds) collection goes on until a block is erased; choose pacing = \"none\", or leave rounds out (rounds = \"none\")");
    }
    if gc.foreground != gc.background {
        problems.push("drive.ftl.gc.foreground", "in rounds (scheduler.rounds) collection is in the foreground from the background threshold on; give the same as background");
    }
    let units = &drive.concurrency;
    let planes = |level: UnitLevel| geometry.planes_in(level);
    let largest = [units.read, units.program, units.erase].into_iter().filter_map(planes).max();
    let Some(group) = rounds.unit.planes(geometry) else {
        problems.push(
            format!("{path}.rounds.unit"),
            "a die has no pairs of planes; choose another level",
        );
        return;
    };
    let smallest = [units.read, units.program, units.erase].into_iter().filter_map(planes).min();
    if rounds.most.is_some() && smallest == Some(group) {
        problems.push(format!("{path}.rounds.most"), "the level of the rounds (scheduler.rounds.unit) is one unit of drive.concurrency, which takes one operation at a time, so a batch holds no more; choose a larger unit here or smaller ones there, or leave this out");
    }
    if largest > Some(group) {
        problems.push(format!("{path}.rounds.unit"), "a unit of drive.concurrency is larger than the level of the rounds (scheduler.rounds.unit); choose a larger one here, or smaller units");
    }
}
