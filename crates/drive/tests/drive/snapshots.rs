//! Snapshots: a drive that is started from one, in memory or from a file, equals the drive that was
//! kept.

use crate::common::{self, BY_HAND, Bench, Override, experiment, set};
use drive::check::{Found, Start, check_from};
use drive::snapshot::{info, unfit};
use drive::{Device, Experiment, Prepared, Run, RunError, Snapshot, preparation};
use ftl::{BlockState, Lpn};
use host::Kind;
use serde_json::json;
use std::fs::File;
use std::path::PathBuf;

const PAGE: u64 = 4_096;

/// A file of a test, deleted at its end.
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
    // Policies that draw random numbers of their own continue their streams.
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
        let by_itself = direct.history().preconditioned.clone();
        assert_eq!(origin.preconditioned.aged, by_itself.aged);
        assert_eq!(origin.mapped_units, 768);
    }
}

/// A map of 20 MB, which clones share; the results equal those of a drive with a map of its own.
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
        &Default::default(),
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
    // A drive that ran, and one whose map belonged to another drive before it ran.
    let digests = [direct.into_snapshot(&experiment).unwrap(), from_used, by_itself]
        .map(|snapshot| started_from(Some(&snapshot), &experiment).device().digest());
    assert!(digests.iter().all(|digest| *digest == digests[0]), "{digests:x?}");
}

#[test]
fn a_drive_goes_on_without_the_open_blocks_that_scrubbing_had() {
    let scrubs = |stream: &str| {
        [
            set("ftl.scrub.interval", "10 ms"),
            set("ftl.scrub.choice", "oldest"),
            set("ftl.scrub.stream", stream),
        ]
    };
    let own = experiment(BY_HAND, &scrubs("own"));
    let mut bench = Bench::filled(&scrubs("own"));
    // 13 pages are left of the first block, the oldest; they begin a block of their own.
    bench.submit(0, Kind::Trim, 0, 3 * PAGE);
    bench.until(19_000_000);
    let device = bench.device.clone();
    let snapshot = Snapshot::of(device, &own.drive, None, own.seed, &Default::default()).unwrap();
    let file = Scratch::holding("scrub-stream", &snapshot);
    let open = |device: &Device| {
        let states = device.ftl().block_states().iter();
        states.filter(|state| **state == BlockState::Open).count()
    };
    for snapshot in [snapshot, file.read().unwrap()] {
        assert_eq!(open(&snapshot.device(&own.drive, 1).unwrap()), 1);
        for others in [aged(&scrubs("collection")), aged(&[])] {
            let device = snapshot.device(&others.drive, 1).unwrap();
            assert_eq!(open(&device), 0);
            assert_eq!(device.ftl().audit(), Ok(()));
            assert_eq!(device.ftl().mapped_units(), 765);
            // Under audit.
            started_from(Some(&snapshot), &others);
        }
    }
}

/// Settings that a sweep may vary while its drives are filled and aged once.
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
    let naming = common::experiment(&bare(), &[set("precondition.snapshot", path)]);
    let run = started_from(None, &naming);
    assert_eq!(run.device().digest(), started_from(None, &experiment).device().digest());
    assert!(run.history().snapshot.is_some());
}

/// The experiment of [`MIXED`] on a drive that is not preconditioned.
fn bare() -> String {
    MIXED.replace("fill = \"random\"\n    age.overwrites = 2.0", "")
}

#[test]
fn a_snapshot_of_an_experiment_that_names_one_is_of_that_drive() {
    let experiment = aged(&[]);
    let file = Scratch::holding("retaken", &taken(&experiment));
    let path = file.0.to_str().unwrap();
    let again = taken(&common::experiment(&bare(), &[set("precondition.snapshot", path)]));
    assert_eq!(again.origin.mapped_units, 768);
    let run = started_from(Some(&again), &experiment);
    assert_eq!(run.device().digest(), started_from(None, &experiment).device().digest());
}

#[test]
fn a_shut_down_drive_keeps_what_waits_for_space() {
    // Blocks are lost with most erases, so that programs are parked whose data was acknowledged to
    // a host. The tokens of the units are the expected content of the snapshot.
    let (mut compared, mut refused) = (0, 0);
    for seed in floor::seeds(0, 200) {
        let choices = below(seed);
        let overrides = [
            set("ftl.bad_blocks.grown_per_erase", ["10 %", "30 %", "60 %", "100 %"][choices(4)]),
            set("ftl.allocation.streams", ["shared", "separate"][choices(2)]),
            set("buffer.size", ["16 KiB", "64 KiB", "256 KiB"][choices(3)]),
            set("buffer.durability", "capacitor"),
            set("buffer.partial_after", "1 ms"),
            set("seed", seed),
        ];
        let experiment = common::experiment(BY_HAND, &overrides);
        let mut bench = Bench::of(&experiment);
        let mut written = std::collections::BTreeSet::new();
        loop {
            for _ in 0..[1, 1, 1, 4, 16][choices(5)] {
                let page = choices(768) as u64;
                let now = bench.device.now().as_ns();
                bench.submit(now, Kind::Write, page * PAGE, PAGE);
                written.insert(page);
            }
            while bench.step() {}
            if bench.device.outstanding() > 0 {
                break;
            }
            if bench.device.ftl().mapped_units() as usize == written.len() {
                continue;
            }
            let (copy, drive) = (bench.device.clone(), &experiment.drive);
            match Snapshot::of(copy, drive, None, seed, &Default::default()) {
                Ok(snapshot) => {
                    let ftl = snapshot.firmware().unwrap();
                    assert_eq!(ftl.audit(), Ok(()), "seed {seed}");
                    let mapped = (0..768).filter(|lpn| ftl.lookup(Lpn(*lpn as u32)).is_some());
                    let written: Vec<u64> = written.iter().copied().collect();
                    assert_eq!(mapped.collect::<Vec<_>>(), written, "seed {seed}");
                    compared += 1;
                }
                Err(why) => {
                    assert!(why.contains("space"), "seed {seed}: {why}");
                    refused += 1;
                }
            }
        }
    }
    println!("{compared} drives with data that waits for space, {refused} without any");
    assert!(compared + refused > 0, "some drive set a program aside");
}

/// Numbers below a bound, from a seed.
fn below(seed: u64) -> impl Fn(usize) -> usize {
    let state = std::cell::RefCell::new(engine::Streams::new(seed).stream("test"));
    move |below| state.borrow_mut().below(below as u64) as usize
}

#[test]
fn a_shut_down_drive_collects_no_more_in_idle_gaps() {
    let overrides = [
        set("ftl.gc.idle_gap", "10 s"),
        set("ftl.gc.background", "\"2 blocks\""),
        set("ftl.gc.foreground", "\"2 blocks\""),
        set("ftl.gc.stop", "\"12 blocks\""),
        set("precondition.fill", "sequential"),
    ];
    let experiment = experiment(BY_HAND, &overrides);
    let mut bench = Bench::of(&experiment);
    // Ten of 16 free blocks are filled, so that an idle gap would cause a collection.
    for page in 0..160 {
        let now = bench.device.now().as_ns();
        bench.submit(now, Kind::Write, page * 3 * PAGE, PAGE);
        while bench.device.outstanding() > 0 {
            bench.step();
        }
    }
    assert_eq!(bench.device.ftl().tally.erases, 0);
    assert!(bench.device.next_due().is_some(), "the gap has begun");
    let copy = bench.device.clone();
    let snapshot = Snapshot::of(copy, &experiment.drive, None, 1, &Default::default()).unwrap();
    assert_eq!(snapshot.origin.erases, 0, "nothing that had begun");
    bench.settle();
    assert!(bench.device.ftl().tally.erases > 0, "the drive itself goes on");
}

#[test]
fn a_snapshots_space_is_what_counts() {
    let full = taken(&aged(&[]));
    // 64 blocks, of which 48 hold data: with 16 of them free none is left to be open.
    let stop = |blocks: u32| {
        let region = "region = { size = \"64 KiB\" }\n    reads";
        let text = bare().replacen("reads", region, 1);
        common::experiment(&text, &[set("ftl.gc.stop", format!("\"{blocks} blocks\""))])
    };
    let prepared = |blocks, snapshot| {
        let prepared = Prepared::new(&stop(blocks), Some(snapshot), &mut |_| true);
        prepared.map(drop).map_err(|error| error.to_string())
    };
    assert_eq!(prepared(8, &full), Ok(()));
    assert_eq!(prepared(15, &full), Err("the snapshot does not fit the drive".into()));
    assert_eq!(prepared(15, &taken(&stop(15))), Ok(()), "there is little on this one");
    // Notes, and bad blocks, are those of the snapshot, too.
    let notes = |start| check_from(&stop(8), start).unwrap().notes.len();
    let (found, empty) = (full.found(), taken(&stop(8)).found());
    assert_eq!([notes(Start::New), notes(Start::Unknown)], [1, 0]);
    assert_eq!([notes(Start::Found(&empty)), notes(Start::Found(&found))], [1, 0]);
    let worn = Found { mapped_units: 768, bad_blocks: vec![12] };
    let refused = check_from(&stop(8), Start::Found(&worn)).err().unwrap().to_string();
    assert!(refused.contains("has 52 good blocks"), "{refused}");
    assert!(refused.contains("the bad blocks of the snapshot"), "{refused}");
}

#[test]
fn rows_sensed_are_counted_on_where_nobody_asks() {
    let scrubbing = [
        set("ftl.scrub.interval", "10 ms"),
        set("ftl.scrub.choice", "{ policy = \"most-read\", reads = 4 }"),
        set("precondition.fill", "sequential"),
    ];
    let [asking, silent] = [&scrubbing[..], &scrubbing[2..]].map(|o| experiment(BY_HAND, o));
    let mut kept = taken(&asking);
    // Two rows of block 5 by a drive that asks, one by a drive that does not, and two more.
    for (reads, experiment) in [(2, &asking), (1, &silent), (2, &asking)] {
        let file = Scratch::holding("sensed", &kept);
        let mut device = file.read().unwrap().device(&experiment.drive, 1).unwrap();
        for page in 0..reads {
            let read = host::Command { kind: Kind::Read, offset: (80 + page) * PAGE, bytes: PAGE };
            let now = device.now();
            device.submit(now, now, read, host::Priority::Normal, 0);
            while device.outstanding() > 0 {
                device.step();
            }
        }
        let end = engine::Instant::from_ns(30_000_000);
        device.advance(end);
        kept = Snapshot::of(device, &experiment.drive, None, 1, &Default::default()).unwrap();
    }
    let erases = kept.firmware().unwrap().erase_counts().to_vec();
    let erased = (0..64).filter(|block| erases[*block] > 0);
    assert_eq!(erased.collect::<Vec<_>>(), [5]);
}

#[test]
fn a_shut_down_drive_keeps_what_was_acknowledged_from_its_buffer() {
    let overrides = [set("buffer.durability", "capacitor")];
    let (experiment, mut bench) = (experiment(BY_HAND, &overrides), Bench::new(&overrides));
    for page in [3, 1, 4, 1, 5] {
        bench.submit(0, Kind::Write, page * PAGE, PAGE);
    }
    bench.settle();
    let snapshot = Snapshot::of(bench.device, &experiment.drive, None, 1, &Default::default());
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
    let taken = Snapshot::of(bench.device, &experiment.drive, None, 1, &Default::default());
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
    let ran = snapshot.origin.ran_ns + again.elapsed().as_ns();
    let time = |snapshot: Snapshot| snapshot.origin.ran_ns;
    let closed = |device: &Device| {
        let states = device.ftl().block_states();
        states.iter().filter(|state| **state == BlockState::Closed).count()
    };
    assert!(closed(again.device()) > 40, "the drive is full");
    assert_eq!(again.into_snapshot(&experiment).map(time).unwrap(), ran, "of both runs");
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
    // The same capacity in another key is no difference: 1024 units, 768 exported.
    assert_eq!(faults(&[set("ftl.over_provisioning.reserved", "25 %")]), [""; 0]);
    // Nor is the default, the size of a program, if given explicitly.
    assert_eq!(faults(&[set("ftl.allocation.pool", "plane")]), ["drive.ftl.allocation.pool"]);
    let planes = [set("ftl.allocation.pool", "plane"), set("ftl.allocation.stripe", "4 KiB")];
    assert_eq!(faults(&planes), ["drive.ftl.allocation.pool"]);
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
    assert!(said(&[&whole[..], b"xyz"].concat()).contains("3 bytes stand behind its end"));
    assert!(said(b"").contains("no snapshot") && said(b"flsnap").contains("no snapshot"));
    assert!(said(&[b'x'; 4096]).contains("no snapshot"));
    // Every bit counts: one in each part of the file, except for the padding of columns.
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

/// A snapshot's file whose header `change` has changed, with checksums that are right.
fn forged(whole: &[u8], change: impl Fn(&mut serde_json::Value)) -> Vec<u8> {
    let length = u64::from_le_bytes(whole[8..16].try_into().unwrap()) as usize;
    let mut header: serde_json::Value = serde_json::from_slice(&whole[20..20 + length]).unwrap();
    let mut begin = 20 + length;
    let mut columns = Vec::new();
    for column in header["columns"].as_array().unwrap() {
        begin = begin.next_multiple_of(4096);
        let bytes = column["bytes"].as_u64().unwrap() as usize;
        columns.push(&whole[begin..begin + bytes]);
        begin += bytes;
    }
    change(&mut header);
    for (entry, column) in header["columns"].as_array_mut().unwrap().iter_mut().zip(&mut columns) {
        let bytes = (entry["bytes"].as_u64().unwrap() as usize).min(column.len());
        *column = &column[..bytes];
        entry["crc32"] = json!(crc32fast::hash(column));
    }
    let text = serde_json::to_vec(&header).unwrap();
    let mut file = whole[..8].to_vec();
    file.extend((text.len() as u64).to_le_bytes());
    file.extend(crc32fast::hash(&text).to_le_bytes());
    file.extend(text);
    for column in columns {
        file.resize(file.len().next_multiple_of(4096), 0);
        file.extend(column);
    }
    file
}

#[test]
fn a_file_that_holds_what_no_drive_has_is_refused() {
    let file = Scratch::holding("forged", &taken(&aged(&[])));
    let whole = std::fs::read(&file.0).unwrap();
    let said = |change: &dyn Fn(&mut serde_json::Value)| {
        std::fs::write(&file.0, forged(&whole, change)).unwrap();
        file.read().err().unwrap_or_default()
    };
    assert_eq!(said(&|_| {}), "");
    let impossible = |path: &str, value: serde_json::Value| {
        let said = said(&|header| *header.pointer_mut(path).expect(path) = value.clone());
        assert!(said.contains("what no drive has"), "{path}: {said:?}");
    };
    // The columns of the map are the first three.
    for column in 0..3 {
        impossible(&format!("/columns/{column}/bytes"), json!(64));
    }
    // 64 blocks of 16 batches; the first of them is in use, and not open.
    for (block, next) in [(9999, 1), (64, 1), (0, 16)] {
        impossible("/rest/bins/0/open/0", json!([block, next]));
    }
    impossible("/rest/bins/0/bad", json!(65));
    impossible("/rest/mapped", json!(769));
    let end = said(&|header| header["columns"][0]["bytes"] = json!(u64::MAX - 4095));
    assert!(end.contains("ends too early"), "{end}");
}

#[test]
fn figures_are_the_same_once_they_were_written_and_read() {
    let random = below(1);
    for _ in 0..100_000 {
        let figure = 1.0 + random(1 << 40) as f64 / (1u64 << 40) as f64;
        let read: f64 = serde_json::from_str(&serde_json::to_string(&figure).unwrap()).unwrap();
        assert_eq!(read, figure);
    }
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
