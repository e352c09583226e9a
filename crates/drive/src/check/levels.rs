//! Read recovery levels of the drive, and those that workloads choose.

use super::workloads::host_kinds;
use crate::config::DriveConfig;
use crate::experiment::Experiment;
use ftl::RecoveryLevel;
use ftl::read_recovery::ReadRecovery;
use host::{Kind, WorkloadConfig};
use settings::Problems;

/// The policy of read recovery of each level of the drive, the default one first, and its path.
pub fn policies(drive: &DriveConfig) -> Vec<(String, ReadRecovery)> {
    let path = "drive.ftl.read_recovery";
    let others = drive.ftl.read_recovery_levels.iter().flat_map(|levels| levels.all());
    let others = others.map(|(level, policy)| (format!("{path}_levels.{level}"), policy.clone()));
    let default = drive.ftl.read_recovery.clone().unwrap_or_default();
    std::iter::once((path.to_owned(), default)).chain(others).collect()
}

/// True if a policy reads some data again without a limit.
pub fn is_unlimited(policy: &ReadRecovery) -> bool {
    [false, true].into_iter().any(|is_protected| policy.most_re_reads(is_protected).is_none())
}

/// Refuses a list of levels that means nothing.
pub fn check_listed(drive: &DriveConfig, problems: &mut Problems) {
    let Some(levels) = &drive.ftl.read_recovery_levels else { return };
    let path = "drive.ftl.read_recovery_levels";
    if levels.is_empty() {
        problems.push(path, "lists no level; list one, or leave this out");
    }
    if levels.of(RecoveryLevel::DEFAULT).is_some() {
        problems.push(format!("{path}.{}", RecoveryLevel::DEFAULT), "is the default level, whose policy is drive.ftl.read_recovery; give that, or list another level");
    }
}

/// Refuses read recovery levels of workloads that the drive does not have, or that mean nothing.
pub fn check(experiment: &Experiment, problems: &mut Problems) {
    for (index, workload) in experiment.workload.iter().enumerate() {
        let level = workload.read_recovery_level.map(RecoveryLevel::try_from);
        let Some(Ok(level)) = level else { continue };
        if let Some(why) = fault_of_level(&experiment.drive, workload, level) {
            problems.push(format!("workload[{index}].read_recovery_level"), why);
        }
    }
}

/// The reason why a workload cannot have a read recovery level, and the remedy.
fn fault_of_level(
    drive: &DriveConfig,
    workload: &WorkloadConfig,
    level: RecoveryLevel,
) -> Option<String> {
    let levels = drive.ftl.read_recovery_levels.as_ref();
    if drive.nand.errors.is_none() {
        return Some("all that is read can be decoded (drive.nand.errors is not given), so no read is recovered; give errors, or leave this out".into());
    }
    if level != RecoveryLevel::DEFAULT && levels.is_none_or(|levels| levels.of(level).is_none()) {
        return Some(format!(
            "the drive has no level {level}; give its policy in drive.ftl.read_recovery_levels, or choose a level that is there, such as {}, the default",
            RecoveryLevel::DEFAULT
        ));
    }
    (!host_kinds(workload)[Kind::Read.index()])
        .then(|| "the workload reads nothing; leave this out, or give it reads".into())
}
