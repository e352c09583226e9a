//! The auditor finds faults of a recovery.

use crate::common::{Bench, set};
use crate::power::{Cutting, US, buffered, now, trimmed};
use ftl::recovery::Fault;

/// The auditor's report on a recovery with a fault.
fn found(mut drive: Cutting, fault: Fault, at: u64) -> String {
    drive.device().recover_badly(fault);
    drive.cut(at).expect_err("it is found")
}

#[test]
fn the_auditor_finds_what_a_recovery_does_wrong() {
    // The third write is in a block of a lower number than the second.
    let overwritten = || {
        let mut drive = Cutting::new(&[]);
        (0..20).for_each(|turn| _ = drive.write(turn * 300 * US, turn % 3));
        drive
    };
    let mut sound = overwritten();
    assert_eq!(sound.cut(6_000 * US).unwrap().units, 3);
    let mut trims = trimmed("logged");
    trims.device().recover_badly(Fault::ForgetsTrims);
    let returned = trims.cut(1_000 * US).expect_err("it returned");
    assert!(returned.contains("it is older"), "{returned}");
    let skipped = found(overwritten(), Fault::SkipsOpen, 6_000 * US);
    assert!(skipped.contains("it is older") || skipped.contains("lost"), "{skipped}");
    let torn = found(overwritten(), Fault::TrustsTorn, 19 * 300 * US + 200 * US);
    assert!(torn.contains("is mapped to"), "{torn}");
    let mut saved = buffered("capacitor");
    saved.write(0, 5);
    let lost = found(saved, Fault::LosesDump, 10 * US);
    assert!(lost.contains("it is lost"), "{lost}");
}

#[test]
fn a_recovery_that_ignores_versions_is_found() {
    // Once blocks were collected, older copies lie in blocks of higher numbers.
    let mut drive = Cutting::filled(&[]);
    for turn in 0..1_000 {
        let now = now(&drive);
        drive.write(now, turn * 7 % 768);
        drive.bench.settle();
    }
    assert!(drive.bench.device.ftl().tally.erases > 40);
    drive.device().recover_badly(Fault::IgnoresVersions);
    let at = now(&drive);
    let wrong = drive.cut(at).expect_err("it is found");
    assert!(wrong.contains("is mapped to") || wrong.contains("it is older"), "{wrong}");
}

#[test]
fn a_recovery_that_reads_too_little_is_found() {
    let given = [set("recovery.map", "{ policy = \"checkpoint\", units = 1000 }")];
    let mut drive = Cutting { bench: Bench::filled(&given) };
    (0..20).for_each(|turn| _ = drive.write(turn * 300 * US, turn));
    let wrong = found(drive, Fault::SkipsChanged, 6_000 * US);
    assert!(wrong.contains("was not read"), "{wrong}");
}
