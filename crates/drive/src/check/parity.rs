//! Contradictions of parity.

use crate::config::{DriveConfig, Durability};
use crate::experiment::Experiment;
use ftl::PartialWrites;
use settings::Problems;

/// Refuses settings that cannot keep parity.
pub fn check(experiment: &Experiment, problems: &mut Problems) {
    let DriveConfig { ftl, recovery, buffer, .. } = &experiment.drive;
    if ftl.parity.is_none() {
        return;
    }
    let path = "drive.ftl.parity";
    if ftl.partial_writes == PartialWrites::Plane {
        problems.push(path, "parity needs the whole of a unit that is written in part, which then stays inside its planes (ftl.partial_writes is \"plane\"); choose partial_writes = \"controller\", or leave parity out");
    }
    if recovery.is_some() {
        problems.push(path, "recovery from a power cut cannot tell if the members of a stripe that were written last agree with its parity; leave recovery or parity out");
    }
    if ftl.flushes_round_gc() {
        if buffer.durability != Durability::Capacitor {
            problems.push("drive.ftl.parity.flush", "an update of a stripe ends while some of its data is only in the write buffer, which a power cut must not empty; choose buffer.durability = \"capacitor\", or flush = \"wait\"");
        }
        if ftl.gc.preemptible {
            problems.push("drive.ftl.parity.flush", "garbage collection reserves no flash if it is preemptible, so there is nothing to go on without; choose ftl.gc.preemptible = false, or flush = \"wait\"");
        }
    }
}
