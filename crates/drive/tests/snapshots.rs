//! Snapshots: what a drive was is what is started from it, in memory and from a file.

mod common;

use common::{BY_HAND, Bench, Override, experiment, set};
use drive::snapshot::{info, unfit};
use drive::{Device, Experiment, Prepared, Run, RunError, Snapshot, preparation};
use ftl::{BlockState, Lpn};
use host::Kind;
use serde_json::json;
use std::fs::File;
use std::path::PathBuf;

const PAGE: u64 = 4_096;

/// A file of a test, gone at its end.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("flashscape-{}-{name}", std::process::id()));
        Self(folder)
    }
    fn holding(name: &str, snapshot: &Snapshot) -> Self {
        let scratch = Self::new(name);
        snapshot.write(&mut File::create(&scratch.0).unwrap()).unwrap();
        scratch
    }
    fn read(&self) -> Result<Snapshot, String> {
        let read = Snapshot::read(&self.0, &mut |_| true);
        read.map(|read| read.expect("nobody ends it")).map_err(|damaged| damaged.to_string())
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// A workload that reads and writes on an aged drive.
const MIXED: &str = "
    [precondition]
    fill = \"random\"
    age.overwrites = 2.0
    [[workload]]
    name = \"mix\"
    reads = \"40 %\"
    queue_depth = 8
    [run]
    requests = 3000
    audit = true
";

fn aged(overrides: &[Override]) -> Experiment {
    experiment(MIXED, overrides)
}

fn to_its_end(mut run: Run) -> Run {
    while run.advance(1 << 14).unwrap_or_else(|error| panic!("{error}")) {}
    run.finish();
    run
}

fn started_from(snapshot: Option<&Snapshot>, experiment: &Experiment) -> Run {
    let prepared = Prepared::new(experiment, snapshot, &mut |_| true).unwrap().unwrap();
    to_its_end(Run::start(experiment, &[None], prepared).unwrap())
}

fn taken(experiment: &Experiment) -> Snapshot {
    Snapshot::take(experiment, &mut |_| true).unwrap().expect("nobody ends it")
}

#[test]
fn a_run_from_a_snapshot_is_the_run_that_preconditions_itself() {
    // Policies that draw random numbers of their own go on where they were.
    for victim in ["greedy", "random", "d-choices"] {
        let experiment = aged(&[
            set("ftl.gc.victim", format!("{{ policy = \"{victim}\" }}")),
            set("ftl.bad_blocks.grown_per_erase", "0.01 %"),
        ]);
        let direct = started_from(None, &experiment);
        let snapshot = taken(&experiment);
        let file = Scratch::holding(victim, &snapshot);
        for (how, snapshot) in [("memory", snapshot), ("file", file.read().unwrap())] {
            let run = started_from(Some(&snapshot), &experiment);
            assert_eq!(run.device().digest(), direct.device().digest(), "{victim}, from {how}");
            assert_eq!(run.device().counters(), direct.device().counters());
            assert_eq!(run.device().ftl().erase_counts(), direct.device().ftl().erase_counts());
        }
        let origin = info(&file.0).unwrap();
        let by_itself = direct.history().preconditioned;
        assert_eq!(origin.preconditioned.aged, by_itself.aged);
        assert_eq!(origin.mapped_units, 768);
    }
}

/// A map of 20 MB, which clones share; results are those of a drive whose map is its own.
#[test]
fn drives_that_share_a_long_map_go_on_apart() {
    let experiment = aged(&[
        set("geometry.blocks_per_plane", 40_000),
        set("geometry.pages_per_block", 64),
        set("precondition.fill", "sequential"),
        set("precondition.age.overwrites", 0.02),
        set("run.audit", false),
    ]);
    let finished = |prepared| to_its_end(Run::start(&experiment, &[None], prepared).unwrap());
    let direct = started_from(None, &experiment);
    assert!(direct.device().ftl().mapped_units() > 1_900_000, "too short to be shared");
    let first = Prepared::for_clones(&experiment, None, &mut |_| true).unwrap().unwrap();
    let copy = |of: &Prepared| Prepared { device: of.device.clone(), history: of.history.clone() };
    let (second, third) = (copy(&first), copy(&first));
    let used = finished(second);
    let from_used = Snapshot::of(
        used.device().clone(),
        &experiment.drive,
        None,
        experiment.seed,
        Default::default(),
    );
    let from_used = from_used.unwrap();
    let by_itself = finished(copy(&third)).into_snapshot(&experiment).unwrap();
    for (what, run) in [
        ("the second", used),
        ("the first, after it", finished(first)),
        ("a copy of a copy", finished(copy(&third))),
        ("from a snapshot", started_from(Some(&taken(&experiment)), &experiment)),
    ] {
        assert_eq!(run.device().digest(), direct.device().digest(), "{what}");
        assert_eq!(run.device().ftl().audit(), Ok(()), "{what}");
    }
    // A drive that ran, and one whose map was another's before it ran.
    let digests = [direct.into_snapshot(&experiment).unwrap(), from_used, by_itself]
        .map(|snapshot| started_from(Some(&snapshot), &experiment).device().digest());
    assert!(digests.iter().all(|digest| *digest == digests[0]), "{digests:x?}");
}

/// What a sweep may vary while its drives are filled and aged once.
fn asleep() -> [Override; 10] {
    [
        set("ftl.gc.pacing", "proportional"),
        set("ftl.gc.preemptible", false),
        set("ftl.gc.copy_back", true),
        set("ftl.gc.window", 2),
        set("ftl.gc.idle_gap", "1 ms"),
        set("scheduler.bypass", "drain"),
        set("buffer.size", "64 KiB"),
        set("firmware.read", "3 us"),
        set("nand.read", "[\"40 us\"]"),
        set("link.rate", "1 GB/s"),
    ]
}

#[test]
fn a_drive_that_another_experiment_prepared_alike_is_as_good_as_its_own() {
    let base = aged(&[]);
    let kept = taken(&base);
    for override_ in asleep() {
        let varied = aged(std::slice::from_ref(&override_));
        assert_ne!(json!(varied), json!(base), "{override_:?} changes nothing");
        assert_eq!(preparation(&varied), preparation(&base), "{override_:?}");
        let prepared = Prepared::done_before(&varied, &kept).unwrap();
        let run = to_its_end(Run::start(&varied, &[None], prepared).unwrap());
        let own = started_from(None, &varied);
        assert_eq!(run.device().digest(), own.device().digest(), "{override_:?}");
        assert_eq!(run.device().counters(), own.device().counters(), "{override_:?}");
        assert!(run.history().snapshot.is_none(), "it is no snapshot of the user's");
        assert_eq!(run.history().preconditioned.aged, own.history().preconditioned.aged);
    }
}

#[test]
fn what_fills_and_ages_otherwise_has_another_preparation() {
    let base = preparation(&aged(&[]));
    assert!(base.is_some());
    let awake = [
        set("ftl.gc.victim", "{ policy = \"fifo\" }"),
        set("ftl.gc.stop", "\"4 blocks\""),
        set("ftl.allocation.free_block", "least-worn"),
        set("ftl.allocation.streams", "separate"),
        set("ftl.over_provisioning.spare", "40 %"),
        set("ftl.bad_blocks.grown_per_erase", "0.01 %"),
        set("nand.endurance", 3000),
        set("geometry.pages_per_block", 32),
        set("precondition.share", "50 %"),
        set("precondition.age.overwrites", 1.0),
        set("seed", 2),
    ];
    for override_ in awake {
        let varied = aged(std::slice::from_ref(&override_));
        assert_ne!(preparation(&varied), base, "{override_:?}");
    }
    assert_eq!(preparation(&experiment(BY_HAND, &[])), None, "nothing is done to a new drive");
}

#[test]
fn an_experiment_that_names_a_snapshot_starts_from_it() {
    let experiment = aged(&[]);
    let file = Scratch::holding("named", &taken(&experiment));
    let path = file.0.to_str().unwrap();
    let unconditioned = MIXED.replace("fill = \"random\"\n    age.overwrites = 2.0", "");
    let naming = common::experiment(&unconditioned, &[set("precondition.snapshot", path)]);
    let run = started_from(None, &naming);
    assert_eq!(run.device().digest(), started_from(None, &experiment).device().digest());
    assert!(run.history().snapshot.is_some());
}

#[test]
fn a_shut_down_drive_keeps_what_was_acknowledged_from_its_buffer() {
    let overrides = [set("buffer.durability", "capacitor")];
    let (experiment, mut bench) = (experiment(BY_HAND, &overrides), Bench::new(&overrides));
    for page in [3, 1, 4, 1, 5] {
        bench.submit(0, Kind::Write, page * PAGE, PAGE);
    }
    bench.settle();
    let snapshot = Snapshot::of(bench.device, &experiment.drive, None, 1, Default::default());
    let snapshot = snapshot.unwrap();
    let ftl = snapshot.firmware().unwrap();
    let mapped = (0..768).filter(|lpn| ftl.lookup(Lpn(*lpn)).is_some());
    assert_eq!(mapped.collect::<Vec<_>>(), [1, 3, 4, 5]);
    assert_eq!(ftl.audit(), Ok(()));
}

#[test]
fn a_drive_with_commands_under_way_is_not_shut_down() {
    let (experiment, mut bench) = (experiment(BY_HAND, &[]), Bench::new(&[]));
    bench.submit(0, Kind::Write, 0, PAGE);
    let taken = Snapshot::of(bench.device, &experiment.drive, None, 1, Default::default());
    assert_eq!(taken.err().as_deref(), Some("1 commands are still under way"));
}

#[test]
fn a_drive_that_ran_goes_on_with_its_wear() {
    let experiment = aged(&[]);
    let first = started_from(None, &experiment);
    let worn: Vec<u32> = first.device().ftl().erase_counts().to_vec();
    let snapshot = first.into_snapshot(&experiment).unwrap();
    assert!(snapshot.origin.ran_ns > 0);
    let file = Scratch::holding("ran", &snapshot);
    let again = started_from(Some(&file.read().unwrap()), &experiment);
    let later = again.device().ftl().erase_counts();
    assert!(worn.iter().zip(later).all(|(before, after)| before <= after));
    assert!(worn.iter().sum::<u32>() < later.iter().sum::<u32>());
    let closed = |device: &Device| {
        let states = device.ftl().block_states();
        states.iter().filter(|state| **state == BlockState::Closed).count()
    };
    assert!(closed(again.device()) > 40, "the drive is full");
}

#[test]
fn other_policies_and_timing_fit_and_another_layout_does_not() {
    let snapshot = taken(&aged(&[]));
    let faults = |overrides: &[Override]| -> Vec<&str> {
        let found = unfit(&snapshot.origin, &aged(overrides).drive);
        found.into_iter().map(|(path, _)| path).collect()
    };
    let policies = [
        set("scheduler.bypass", "drain"),
        set("ftl.gc.victim", "{ policy = \"fifo\" }"),
        set("ftl.allocation.free_block", "fifo"),
        set("nand.read", "[\"40 us\"]"),
    ];
    assert_eq!(faults(&policies), [""; 0]);
    started_from(Some(&snapshot), &aged(&policies));
    // Twice the pages, and so three quarters of twice as much exported.
    let longer = faults(&[set("geometry.pages_per_block", 32)]);
    assert_eq!(longer, ["drive.geometry.pages_per_block", "drive.ftl.over_provisioning"]);
    // The same capacity, said by another key, is no difference: 1024 units, 768 exported.
    assert_eq!(faults(&[set("ftl.over_provisioning.reserved", "25 %")]), [""; 0]);
    let spare = [set("ftl.over_provisioning.spare", "40 %")];
    assert_eq!(faults(&spare), ["drive.ftl.over_provisioning"]);
    let prepared = Prepared::new(&aged(&spare), Some(&snapshot), &mut |_| true);
    assert!(matches!(prepared.err(), Some(RunError::Unfit(_))));
}

#[test]
fn a_damaged_file_is_refused() {
    let file = Scratch::holding("damaged", &taken(&aged(&[])));
    let whole = std::fs::read(&file.0).unwrap();
    let said = |bytes: &[u8]| {
        std::fs::write(&file.0, bytes).unwrap();
        file.read().err().unwrap_or_default()
    };
    assert_eq!(said(&whole), "");
    assert!(said(&whole[..whole.len() - 1]).contains("ends too early"));
    assert!(said(&whole[..100]).contains("cut"));
    assert!(said(b"").contains("no snapshot") && said(b"flsnap").contains("no snapshot"));
    assert!(said(&[b'x'; 4096]).contains("no snapshot"));
    // Every bit counts: one in each part of the file, but for what fills up to a column.
    let flipped = |place: usize| {
        let mut bytes = whole.clone();
        bytes[place] ^= 1;
        said(&bytes)
    };
    assert!(flipped(7).contains("version"));
    assert!(flipped(30).contains("checksum of its header"));
    assert!(flipped(whole.len() - 1).contains("checksum of bins.free"));
    std::fs::remove_file(&file.0).unwrap();
    assert!(file.read().err().unwrap().contains("there is no such file"));
}

#[test]
fn a_copy_of_a_drive_at_work_goes_on_as_the_drive_does() {
    let mut bench = Bench::filled(&[set("buffer.durability", "volatile")]);
    for page in 0..40 {
        bench.submit(page * 10_000, Kind::Write, page * 17 % 700 * PAGE, PAGE);
        bench.submit(page * 10_000, Kind::Read, page * 31 % 700 * PAGE, PAGE);
    }
    let mut copy = bench.device.clone();
    assert!(copy.outstanding() > 0, "requests are under way when the copy is made");
    bench.settle();
    while copy.step().is_some() {}
    assert_eq!(copy.digest(), bench.device.digest());
    assert_eq!(copy.counters(), bench.device.counters());
}
