//! Contradictions of bit errors and of read recovery.

use super::{faults, levels};
use crate::config::DriveConfig;
use crate::experiment::Experiment;
use ftl::read_recovery::ReadRecovery;
use ftl::{ParityFlush, PartialWrites};
use nand::Geometry;
use nand::errors::{Counting, ErrorsConfig, Initial};
use settings::{Problems, counted};

/// Checks the errors of flash by themselves, and beside other settings.
pub fn check(experiment: &Experiment, geometry: &Geometry, problems: &mut Problems) {
    let drive = &experiment.drive;
    let Some(errors) = &drive.nand.errors else {
        for (key, is_given) in [
            ("drive.ftl.read_recovery", drive.ftl.read_recovery.is_some()),
            ("drive.ftl.read_recovery_levels", drive.ftl.read_recovery_levels.is_some()),
        ] {
            if is_given {
                problems.push(key, "all that is read can be decoded (drive.nand.errors is not given); give errors, or leave this out");
            }
        }
        if drive.nand.faults.is_some() {
            problems.push("drive.nand.faults", "flash without bit errors is always decoded (drive.nand.errors is not given), so that no fault is ever met; give errors, or leave this out");
        }
        return;
    };
    check_constants(errors, problems);
    check_codewords(drive, errors, geometry, problems);
    check_spread(errors, problems);
    check_recovery(drive, errors, problems);
    if let Some(faults) = &drive.nand.faults {
        faults::check(drive, faults, geometry, problems);
    }
    check_beside(experiment, problems);
}

fn check_constants(errors: &ErrorsConfig, problems: &mut Problems) {
    let path = "drive.nand.errors";
    match (errors.chip, errors.constants) {
        (None, None) => {
            problems.push(path, "does not say which rate; give a chip, or constants");
        }
        (Some(_), Some(_)) => {
            problems.push(
                format!("{path}.constants"),
                "the chip has constants of its own; leave one of the two out",
            );
        }
        _ => {}
    }
    for (key, fault) in errors.constants.iter().flat_map(|constants| constants.faults()) {
        problems.push(format!("{path}.constants.{key}"), fault);
    }
}

fn check_codewords(
    drive: &DriveConfig,
    errors: &ErrorsConfig,
    geometry: &Geometry,
    problems: &mut Problems,
) {
    let path = "drive.nand.errors";
    let (word, page) = (errors.codeword.bytes(), geometry.page_bytes);
    if word == 0 || !page.is_multiple_of(word) {
        problems.push(
            format!("{path}.codeword"),
            format!("{word} bytes do not divide a page of {page} bytes"),
        );
        return;
    }
    if word > MOST_CODEWORD_BYTES {
        problems.push(
            format!("{path}.codeword"),
            format!("at most {MOST_CODEWORD_BYTES} bytes are supported"),
        );
        return;
    }
    let (holds, words) = (page / word, u64::from(errors.words_per_page(page)));
    let key = format!("{path}.codewords_per_page");
    if words > holds {
        problems.push(key, format!("a page holds {} of {word} bytes", counted(holds, "codeword")));
        return;
    }
    let transfers =
        drive.nand.codeword.map_or(drive.ftl.unit.bytes().min(page), |size| size.bytes());
    if !page.is_multiple_of(words) || !transfers.is_multiple_of(page / words) {
        problems.push(
            key,
            format!(
                "a read transfers {transfers} bytes at least, which {} a page do not divide evenly",
                counted(words, "codeword")
            ),
        );
    }
    let bits = word * 8;
    for (key, corrects) in [
        ("corrects", errors.corrects),
        ("soft_decoding.corrects", errors.soft_decoding.map(|of| of.corrects)),
    ] {
        if corrects.is_some_and(|corrects| u64::from(corrects) >= bits) {
            problems.push(format!("{path}.{key}"), format!("is less than the {bits} bits of a codeword; leave corrects out for a code that corrects any number"));
        }
    }
}

/// Bytes of the largest codeword.
const MOST_CODEWORD_BYTES: u64 = 16 << 10;

fn check_spread(errors: &ErrorsConfig, problems: &mut Problems) {
    let path = "drive.nand.errors";
    if let Some(spread) = errors.spread {
        if spread.blocks.is_none() && spread.pages.is_none() && spread.layers.is_none() {
            problems.push(
                format!("{path}.spread"),
                "says neither blocks, pages nor layers; give one, or leave this out",
            );
        }
        if spread.layers.is_some() != spread.layer_count.is_some() {
            problems.push(
                format!("{path}.spread.layer_count"),
                "goes with layers; give both or neither",
            );
        }
        for (key, share) in
            [("blocks", spread.blocks), ("pages", spread.pages), ("layers", spread.layers)]
        {
            if share.is_some_and(|share| share.fraction() > MOST_SPREAD) {
                problems.push(format!("{path}.spread.{key}"), "is at most 300 %");
            }
        }
    }
    if let Some(Initial::Range(range)) = errors.initial_cycles
        && range.from > range.to
    {
        problems.push(format!("{path}.initial_cycles.from"), "must not be greater than `to`");
    }
    if let Some(Initial::Range(range)) = errors.initial_age
        && range.from.span() > range.to.span()
    {
        problems.push(format!("{path}.initial_age.from"), "must not be greater than `to`");
    }
}

/// The greatest standard deviation of a factor's logarithm.
const MOST_SPREAD: f64 = 3.0;

fn check_recovery(drive: &DriveConfig, errors: &ErrorsConfig, problems: &mut Problems) {
    let path = "drive.nand.errors";
    let policies = levels::policies(drive);
    let unlimited = policies.iter().find(|(_, policy)| levels::is_unlimited(policy));
    check_policies(drive, &policies, problems);
    let Some(corrects) = errors.corrects else {
        // Faults of flash are undecodable whatever the code corrects.
        let recovers = drive.nand.faults.is_some();
        for (key, is_given) in [
            ("drive.ftl.read_recovery", drive.ftl.read_recovery.is_some() && !recovers),
            ("drive.ftl.read_recovery_levels", policies.len() > 1 && !recovers),
            ("drive.nand.errors.soft_decoding", errors.soft_decoding.is_some()),
        ] {
            if is_given {
                problems.push(key, "the code corrects any number of errors (drive.nand.errors.corrects is not given); give that, or leave this out");
            }
        }
        return;
    };
    if let Some((key, _)) = unlimited
        && errors.re_read_scale <= 1.0
    {
        problems.push(format!("{path}.re_read_scale"), format!("a re-read that finds the same errors would be repeated for ever; give a scale above 1, or a limit of re-reads ({key})"));
    }
    if errors.soft_decoding.is_some_and(|of| of.corrects <= corrects) {
        problems.push(
            format!("{path}.soft_decoding.corrects"),
            format!(
                "is more than the {} that the code corrects without it",
                counted(corrects, "error")
            ),
        );
    }
    if errors.soft_decoding.is_some() && levels::is_unlimited(&policies[0].1) {
        problems.push(format!("{path}.soft_decoding"), "comes after the last re-read, and their number has no limit; give a limit (drive.ftl.read_recovery), or leave this out");
    }
    if errors.counting == Counting::Expected && errors.codewords_per_page.is_some() {
        // All codewords of a read have the same expected number.
        problems.push(format!("{path}.codewords_per_page"), "the expected number of errors is the same for all codewords of a page; leave this out, or choose counting = \"drawn\"");
    }
}

/// Refuses policies of read recovery, and lists of levels, that mean nothing here.
fn check_policies(
    drive: &DriveConfig,
    policies: &[(String, ReadRecovery)],
    problems: &mut Problems,
) {
    let widths = drive.ftl.superblock.map(|of| of.width).unwrap_or_default();
    let of_superblocks = [widths.host, widths.collection, widths.scrub].iter().any(Option::is_some);
    let has_parity = of_superblocks || drive.ftl.parity.is_some();
    for (key, policy) in policies {
        if matches!(policy, ReadRecovery::Conditional(_)) && !has_parity {
            problems.push(format!("{key}.policy"), "no data has parity (drive.ftl.superblock.width or drive.ftl.parity); choose \"ladder\", or give one of them");
        }
    }
    levels::check_listed(drive, problems);
}

/// Refuses what does not know of errors yet.
fn check_beside(experiment: &Experiment, problems: &mut Problems) {
    let drive = &experiment.drive;
    let gc = &drive.ftl.gc;
    for (is_given, key, why) in [
        (
            gc.copy_back,
            "drive.ftl.gc.copy_back",
            "data that is copied back is not decoded, so its errors would add up",
        ),
        (
            gc.streaming,
            "drive.ftl.gc.streaming",
            "pages that stream are not decoded, so their errors would add up",
        ),
        (
            drive.ftl.partial_writes == PartialWrites::Plane,
            "drive.ftl.partial_writes",
            "what stays in its planes is not decoded, so its errors would add up",
        ),
        (
            drive.ftl.parity.is_some_and(|parity| parity.flush == ParityFlush::GcTolerant),
            "drive.ftl.parity.flush",
            "stripes whose data is in part in memory do not recover what cannot be decoded yet",
        ),
        (
            drive.ftl.parity.is_some() && !gc.preemptible,
            "drive.ftl.gc.preemptible",
            "collections that reserve flash (preemptible = false) would wait for each other when what they move has to be rebuilt from other flash (drive.ftl.parity)",
        ),
        (
            !experiment.run.failures.is_empty(),
            "run.failures",
            "what is lost by failed flash is computed without errors",
        ),
        (
            drive.scheduler.rounds.is_some(),
            "drive.scheduler.rounds",
            "re-reads have no place in rounds",
        ),
        (
            drive.recovery.is_some(),
            "drive.recovery",
            "recovery from power cuts reads without errors",
        ),
        (experiment.run.untimed, "run.untimed", "an untimed run reads nothing"),
    ] {
        if is_given {
            problems.push(key, format!("{why}; leave it out, or drive.nand.errors"));
        }
    }
}
