//! Drives that are kept in snapshots.

use crate::common::{experiment, run, set};
use crate::power::{Cutting, US};
use drive::{Experiment, Prepared, Run, Snapshot};
use engine::Instant;

/// Requests to a drive in use, with shares of writes and trims.
fn mixed(write: u32, trim: u32) -> String {
    format!(
        "[precondition]\nfill = \"random\"\nage.overwrites = 2.0\n[[workload]]\nname = \"mix\"\n\
         mix = {{ read = \"20 %\", write = \"{write} %\", trim = \"{trim} %\" }}\nqueue_depth = 4\n\
         [run]\nrequests = 2000\n"
    )
}

/// The snapshot that an experiment leaves, and the same from a file.
fn kept_and_read(experiment: &Experiment, name: &str) -> (Snapshot, Snapshot) {
    let kept = run(experiment).into_snapshot(experiment).unwrap();
    let path = std::env::temp_dir().join(format!("flashscape-{name}-{}", std::process::id()));
    kept.write(&mut std::fs::File::create(&path).unwrap()).unwrap();
    let read = Snapshot::read(&path, &mut |_| true).unwrap().unwrap();
    std::fs::remove_file(path).unwrap();
    (kept, read)
}

/// An experiment on a drive that was kept.
fn run_from(kept: &Snapshot, experiment: &Experiment) -> Run {
    let prepared = Prepared::new(experiment, Some(kept), &mut |_| true).unwrap().unwrap();
    let mut run = Run::start(experiment, &[None], prepared).unwrap();
    while run.advance(1 << 14).unwrap_or_else(|error| panic!("{error}")) {}
    run
}

#[test]
fn versions_survive_a_snapshot() {
    let text = mixed(70, 10);
    let volatile = [set("recovery.trims", "volatile"), set("run.power_cut", "{ at = \"90 ms\" }")];
    let (cutting, plain) = (experiment(&text, &volatile), experiment(&text, &[]));
    // The snapshot of a drive that has been cut off and has run on.
    let (kept, read) = kept_and_read(&cutting, "versions");
    let (one, other) = (run_from(&kept, &cutting), run_from(&read, &cutting));
    assert_eq!(one.device().digest(), other.device().digest());
    assert_eq!(one.outages(), other.outages());
    assert_eq!(one.outages().len(), 1);
    // A drive without metadata for recovery may be started from it, and the other way round.
    assert!(!run_from(&read, &plain).device().ftl().keeps_metadata());
    let without = run(&plain).into_snapshot(&plain).unwrap();
    assert_eq!(run_from(&without, &cutting).outages().len(), 1);
}

#[test]
fn what_was_trimmed_before_a_snapshot_stays_so() {
    let text = mixed(60, 20);
    for trims in ["logged", "volatile"] {
        let plain = [set("recovery.trims", trims)];
        let at_once = [plain.as_slice(), &[set("run.power_cut", "{ after_events = 0 }")]].concat();
        let (plain, at_once) = (experiment(&text, &plain), experiment(&text, &at_once));
        let (kept, read) = kept_and_read(&plain, trims);
        let mapped = kept.origin.mapped_units;
        assert!((1..768).contains(&mapped), "{mapped}");
        let recovered = |kept| {
            let run = run_from(kept, &at_once);
            (run.outages().to_vec(), run.device().digest())
        };
        let (of_memory, of_file) = (recovered(&kept), recovered(&read));
        assert_eq!(of_memory.0[0].units, mapped, "{trims}");
        assert_eq!(of_memory, of_file, "{trims}");
    }
}

#[test]
fn copies_of_a_drive_recover_alike_and_apart() {
    let mut drive = Cutting::filled(&[set("buffer.durability", "capacitor")]);
    (0..40).for_each(|turn| _ = drive.write(turn * 100 * US, turn * 5));
    let mut copy = drive.bench.device.clone();
    let outage = drive.cut(5_000 * US).unwrap();
    copy.advance(Instant::from_ns(5_000 * US));
    copy.take_done(&mut Vec::new());
    assert_eq!(copy.cut_power().unwrap().outage, outage);
}
