//! Read recovery levels of the drive, and those that workloads choose.

use super::workloads::host_kinds;
use crate::config::DriveConfig;
use crate::experiment::Experiment;
use ftl::RecoveryLevel;
use ftl::read_recovery::ReadRecovery;
use host::Kind;
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

/// Refuses read recovery levels of workloads and NVM sets that the drive does not have, or that mean
/// nothing.
pub fn check(experiment: &Experiment, problems: &mut Problems) {
    check_of_sets(&experiment.drive, problems);
    for (index, workload) in experiment.workload.iter().enumerate() {
        let level = workload.read_recovery_level.map(RecoveryLevel::try_from);
        let Some(Ok(level)) = level else { continue };
        let reads = host_kinds(workload)[Kind::Read.index()];
        let without_reads =
            || "the workload reads nothing; leave this out, or give it reads".to_owned();
        let why = fault_of_level(&experiment.drive, level);
        if let Some(why) = why.or_else(|| (!reads).then(without_reads)) {
            problems.push(format!("workload[{index}].read_recovery_level"), why);
        }
    }
}

/// Refuses such levels of NVM sets.
fn check_of_sets(drive: &DriveConfig, problems: &mut Problems) {
    let path = "drive.ftl.sets.read_recovery_levels";
    let Some(levels) = drive.ftl.sets.as_ref().and_then(|of| of.read_recovery_levels.as_ref())
    else {
        return;
    };
    if drive.nand.errors.is_none() {
        return problems.push(path, NOTHING_TO_RECOVER);
    }
    for (index, level) in levels.iter().enumerate() {
        if let Some(why) = fault_of_level(drive, *level) {
            problems.push(format!("{path}[{index}]"), why);
        }
    }
}

const NOTHING_TO_RECOVER: &str = "all that is read can be decoded (drive.nand.errors is not given), so no read is recovered; give errors, or leave this out";

/// The reason why reads cannot have a read recovery level, and the remedy.
fn fault_of_level(drive: &DriveConfig, level: RecoveryLevel) -> Option<String> {
    let levels = drive.ftl.read_recovery_levels.as_ref();
    if drive.nand.errors.is_none() {
        return Some(NOTHING_TO_RECOVER.into());
    }
    let is_there =
        level == RecoveryLevel::DEFAULT || levels.is_some_and(|levels| levels.of(level).is_some());
    (!is_there).then(|| {
        format!(
            "the drive has no level {level}; give its policy in drive.ftl.read_recovery_levels, or choose a level that is there, such as {}, the default",
            RecoveryLevel::DEFAULT
        )
    })
}
