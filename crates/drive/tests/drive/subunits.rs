//! Subunits: a write of a part of a unit reads the rest only if some of it holds data. On the drive here a
//! page is sensed in 25 us, transferred in 100 us and programmed in 200 us.

use crate::common::{Bench, Override, run_fast, set, try_experiment};
use drive::{Experiment, OpKind, Run, Snapshot};
use engine::{Stream, Streams};
use ftl::Lpn;
use host::Kind;
use metrics::Holder;

const US: u64 = 1_000;
const KIB: u64 = 1_024;
const UNIT: u64 = 4 * KIB;
/// Channel time of a KiB.
const KIB_NS: u64 = 25 * US;

fn with(subunit: &str, more: &[Override]) -> Vec<Override> {
    let own = [set("ftl.subunit", subunit), set("nand.codeword", "512 B")];
    [&own[..], more].concat()
}

fn reads(bench: &Bench) -> u64 {
    bench.device.counters().commands(OpKind::Read, Holder::RmwRead)
}

#[test]
fn a_part_that_is_written_again_reads_nothing() {
    let mut bench = Bench::new(&with("512 B", &[]));
    for round in 0..3 {
        // Only what holds data crosses the channel.
        let found = bench.alone(Kind::Write, 0, 2 * KIB);
        assert_eq!(found.latency(), 2 * KIB_NS + 200 * US, "round {round}: {:?}", found.blame);
    }
    assert_eq!(reads(&bench), 0);
    // The first half would be lost: it is read, and both halves are programmed.
    let found = bench.alone(Kind::Write, 2 * KIB, KIB);
    assert_eq!(found.latency(), 25 * US + 2 * KIB_NS + 3 * KIB_NS + 200 * US, "{:?}", found.blame);
    // Three quarters hold data, of which one is written again.
    let found = bench.alone(Kind::Write, 0, KIB);
    assert_eq!(found.latency(), 25 * US + 2 * KIB_NS + 3 * KIB_NS + 200 * US, "{:?}", found.blame);
    let found = bench.alone(Kind::Write, 0, 3 * KIB);
    assert_eq!((found.latency(), reads(&bench)), (3 * KIB_NS + 200 * US, 2), "{:?}", found.blame);
}

#[test]
fn a_part_of_a_subunit_needs_the_rest_of_it() {
    let mut bench = Bench::new(&with("2 KiB", &[]));
    assert_eq!(bench.alone(Kind::Write, 0, KIB).latency(), 2 * KIB_NS + 200 * US);
    let found = bench.alone(Kind::Write, 0, KIB);
    assert_eq!(found.latency(), 25 * US + 2 * (2 * KIB_NS) + 200 * US, "{:?}", found.blame);
    assert_eq!(bench.alone(Kind::Write, 0, 2 * KIB).latency(), 2 * KIB_NS + 200 * US);
    assert_eq!(reads(&bench), 1);
}

#[test]
fn what_was_trimmed_is_not_read() {
    let mut bench = Bench::filled(&with("512 B", &[]));
    let found = bench.alone(Kind::Write, 0, KIB);
    assert_eq!(found.latency(), 25 * US + 3 * KIB_NS + UNIT / KIB * KIB_NS + 200 * US);
    // 512 B are left of what the write below does not cover, and then nothing.
    bench.alone(Kind::Trim, KIB, 2 * KIB + 512);
    let found = bench.alone(Kind::Write, 0, KIB);
    let carried = KIB_NS / 2 + (KIB + 512) * KIB_NS / KIB;
    assert_eq!(found.latency(), 25 * US + carried + 200 * US, "{:?}", found.blame);
    bench.alone(Kind::Trim, 3 * KIB, KIB);
    assert_eq!(bench.alone(Kind::Write, 0, KIB).latency(), KIB_NS + 200 * US);
    // A unit of which all parts were trimmed has no data.
    assert!(bench.device.ftl().lookup(Lpn(0)).is_some());
    bench.alone(Kind::Trim, 0, 512);
    bench.alone(Kind::Trim, 512, 512);
    assert!(bench.device.ftl().lookup(Lpn(0)).is_none());
    assert_eq!(bench.alone(Kind::Read, 0, UNIT).latency(), 0);
    // A trim of less than a subunit trims nothing.
    bench.alone(Kind::Trim, UNIT + 100, 600);
    assert_eq!(bench.device.ftl().written(Lpn(1)), 0xff);
}

#[test]
fn reads_find_the_whole_unit_on_flash() {
    let mut bench = Bench::new(&with("512 B", &[]));
    bench.alone(Kind::Write, 0, KIB);
    assert_eq!(bench.alone(Kind::Read, 3 * KIB, KIB).latency(), 25 * US + KIB_NS);
}

#[test]
fn without_subunits_a_unit_with_data_is_read() {
    let mut bench = Bench::new(&[set("nand.codeword", "512 B")]);
    assert_eq!(bench.alone(Kind::Write, 0, KIB).latency(), 300 * US);
    assert_eq!(bench.alone(Kind::Write, 0, KIB).latency(), 425 * US);
}

// ---- a naive model -------------------------------------------------------------

/// A drive that keeps a flag for each byte, the obvious way.
struct Naive {
    subunit: u64,
    codeword: u64,
    /// By unit: true for a unit on flash, and the bytes of its subunits that hold data.
    units: Vec<(bool, Vec<bool>)>,
}

impl Naive {
    fn new(subunit: u64, codeword: u64, units: usize) -> Self {
        let unit = (false, vec![false; UNIT as usize]);
        Self { subunit, codeword, units: vec![unit; units] }
    }
    /// Channel time of the codewords in which some bytes of a unit lie.
    fn carried(&self, bytes: &[bool]) -> u64 {
        let words = bytes.chunks(self.codeword as usize).filter(|word| word.contains(&true));
        words.count() as u64 * self.codeword * KIB_NS / KIB
    }
    fn latency(&mut self, kind: Kind, unit: usize, from: u64, to: u64) -> u64 {
        let (size, subunit) = (UNIT, self.subunit);
        let is_in = |byte: u64| from <= byte && byte < to;
        let first_of = |byte: u64| byte / subunit * subunit;
        let is_covered = |byte: u64| from <= first_of(byte) && first_of(byte) + subunit <= to;
        let is_touched = |byte: u64| from < first_of(byte) + subunit && first_of(byte) < to;
        let (mapped, held) = self.units[unit].clone();
        match kind {
            Kind::Read if !mapped => 0,
            Kind::Read => {
                let read: Vec<bool> = (0..size).map(is_in).collect();
                25 * US + self.carried(&read)
            }
            Kind::Trim => {
                let left: Vec<bool> =
                    (0..size).map(|at| held[at as usize] && !is_covered(at)).collect();
                self.units[unit] = (mapped && left.contains(&true), left);
                0
            }
            _ => {
                let rest: Vec<bool> =
                    (0..size).map(|at| held[at as usize] && !is_covered(at)).collect();
                let after: Vec<bool> =
                    (0..size).map(|at| held[at as usize] || is_touched(at)).collect();
                let reads = if rest.contains(&true) { 25 * US + self.carried(&rest) } else { 0 };
                let programs = self.carried(&after) + 200 * US;
                self.units[unit] = (true, after);
                reads + programs
            }
        }
    }
}

/// A range within a unit, in sectors.
fn range(numbers: &mut Stream) -> (u64, u64) {
    let [one, other] = [0; 2].map(|_| numbers.below(9));
    if one == other { (0, 8) } else { (one.min(other), one.max(other)) }
}

#[test]
fn parts_cost_what_a_naive_model_says() {
    for seed in 1..=12 {
        for (subunit, codeword) in
            [(512, 512), (1_024, 512), (2_048, 512), (512, 2_048), (512, 4_096)]
        {
            let sizes = [
                set("ftl.subunit", format!("{subunit} B")),
                set("nand.codeword", format!("{codeword} B")),
            ];
            let mut bench = Bench::new(&sizes);
            let mut naive = Naive::new(subunit, codeword, 6);
            let mut numbers = Streams::new(seed).stream("parts");
            for step in 0..150 {
                let kind =
                    [Kind::Write, Kind::Write, Kind::Trim, Kind::Read][numbers.below(4) as usize];
                let unit = numbers.below(6);
                let (from, to) = range(&mut numbers);
                let (from, to) = (from * 512, to * 512);
                let expected = naive.latency(kind, unit as usize, from, to);
                let found = bench.alone(kind, unit * UNIT + from, to - from);
                assert_eq!(
                    found.latency(),
                    expected,
                    "seed {seed}, subunits of {subunit}, codewords of {codeword}, step {step}: {kind:?} of \
                     {from}..{to} of unit {unit}: {:?}",
                    found.blame
                );
            }
        }
    }
}

// ---- with other features ---------------------------------------------------------

/// Partial writes, trims and reads of a few units at a time, whatever buffers them.
const PARTS: &str = "[[workload]]\nname = \"parts\"\nmix = { read = \"20 %\", write = \"55 %\", trim = \"15 %\", \
     flush = \"5 %\", write_zeroes = \"5 %\" }\nsize = [{ size = \"512 B\", share = \"40 %\" }, { size = \"1536 B\", \
     share = \"30 %\" }, { size = \"6 KiB\", share = \"30 %\" }]\nalign = \"512 B\"\nqueue_depth = 8\n\
     region = { size = \"512 KiB\" }\n[run]\nrequests = 6000\n";

fn of_parts(more: &[Override]) -> Experiment {
    let own = [
        set("geometry.channels", 4),
        set("buffer.size", "64 KiB"),
        set("precondition.fill", "random"),
        set("precondition.share", "50 %"),
    ];
    try_experiment(PARTS, &with("512 B", &[&own[..], more].concat()))
        .unwrap_or_else(|of| panic!("{of}"))
}

#[test]
fn parts_are_sound_with_other_features() {
    let recovery = set("recovery", "{ map = \"scan\", trims = \"volatile\" }");
    let cut = set("run.power_cut", "[{ after_events = 2000 }, { after_events = 9000 }]");
    let superblock = [
        set("ftl.allocation.streams", "separate"),
        set("ftl.superblock", "{ dies = 4, width = { host = 4 } }"),
    ];
    let lists: [&[Override]; 15] = [
        &[],
        &[set("buffer.durability", "volatile")],
        &[set("buffer.durability", "capacitor"), set("buffer.read_hits", "false")],
        &[set("buffer.durability", "capacitor"), set("buffer.order", "lru")],
        &[set("ftl.partial_writes", "plane")],
        &[set("ftl.unit", "8 KiB")],
        &[set("ftl.gc.copy_back", "true")],
        &superblock,
        &[set("ftl.unit", "2 KiB")],
        &[set("ftl.allocation.pool", "channel"), set("ftl.parity", "{ width = 4 }")],
        &[
            set("ftl.allocation.pool", "channel"),
            set("ftl.sets", "{ channels = 2 }"),
            set("workload[0].nvm_set", 2),
        ],
        &[recovery.clone(), cut.clone()],
        &[recovery.clone(), cut.clone(), set("buffer.durability", "capacitor")],
        &[set("recovery", "{ map = \"scan\" }"), cut.clone(), set("buffer.durability", "volatile")],
        &[set("recovery", "{ map = \"persistent\" }"), cut, set("buffer.durability", "capacitor")],
    ];
    for more in lists {
        let run = run_fast(&of_parts(more));
        let commands = |kind, holder| run.measured().counters().commands(kind, holder);
        // Planes that complete units themselves send nothing of the rest to the controller.
        let completed = match more {
            [(key, _)] if *key == "ftl.partial_writes" => {
                commands(OpKind::Modify, Holder::HostProgram)
            }
            _ => commands(OpKind::Read, Holder::RmwRead),
        };
        assert!(completed > 100, "{completed}: {more:?}");
    }
    assert_eq!(untimed(&[]).issued(), 6_000);
}

/// A run without commands, which the conservation of timed runs says nothing about.
fn untimed(more: &[Override]) -> Run {
    let own = [set("run.untimed", "true"), set("run.audit", "false")];
    let experiment = of_parts(&[&own[..], more].concat());
    let mut run = Run::new(&experiment, &[None], &mut |_| true).unwrap().expect("nobody ends it");
    while run.advance(1 << 20).unwrap() {}
    run.finish();
    run.device().ftl().audit().unwrap();
    run
}

/// Subunits of the first units that hold data.
fn written(run: &Run) -> Vec<u64> {
    (0..128).map(|lpn| run.device().ftl().written(Lpn(lpn))).collect()
}

#[test]
fn an_untimed_run_knows_the_same_parts() {
    // One request at a time, so that all are in the same order.
    let one = [set("workload[0].queue_depth", 1)];
    let timed = written(&run_fast(&of_parts(&one)));
    assert_eq!(timed, written(&untimed(&one)));
    assert!(timed.iter().any(|mask| ![0, 0xff].contains(mask)), "{timed:?}");
}

#[test]
fn a_snapshot_keeps_the_parts() {
    for recovery in [vec![], vec![set("recovery", "{ map = \"scan\" }")]] {
        let experiment = of_parts(&recovery);
        let run = run_fast(&experiment);
        let before = written(&run);
        let kept = run.into_snapshot(&experiment).expect("the drive is at rest");
        let file = std::env::temp_dir().join(format!("subunits-{}.snapshot", std::process::id()));
        kept.write(&mut std::fs::File::create(&file).expect("a file")).expect("room");
        let read =
            Snapshot::read(&file, &mut |_| true).expect("it is whole").expect("nobody ends it");
        std::fs::remove_file(&file).expect("it is there");
        for kept in [&kept, &read] {
            let device = kept.device(&experiment.drive, 1).expect("it fits");
            let after: Vec<u64> = (0..128).map(|lpn| device.ftl().written(Lpn(lpn))).collect();
            assert_eq!(before, after);
        }
    }
}

#[test]
fn the_fill_writes_the_parts_that_it_is_told() {
    let filled = |parts: &str| {
        let bench = Bench::filled(&with("512 B", &[set("precondition.parts", parts)]));
        (0..768).map(|lpn| bench.device.ftl().written(Lpn(lpn))).collect::<Vec<u64>>()
    };
    assert!(filled("{ size = \"2 KiB\", align = \"4 KiB\" }").iter().all(|mask| *mask == 0xf));
    assert!(filled("{ size = \"2 KiB\" }").iter().all(|mask| *mask == 0xff));
    assert!(
        filled("{ size = \"1 KiB\", align = \"4 KiB\", share = \"0 %\" }")
            .iter()
            .all(|mask| *mask == 0)
    );
    // At 3, 9, 15, … KiB: a part that reaches into the next unit.
    let odd = filled("{ size = \"2 KiB\", align = \"3 KiB\" }");
    assert_eq!(odd[..3], [0b1100_1111, 0b1111_0011, 0b0011_1100]);
    // Of two places a unit has one with 1/3 each and both with 1/3, if half of the places were written
    // and units without any do not count.
    let half = filled("{ size = \"2 KiB\", share = \"50 %\" }");
    for mask in [0x0f, 0xf0, 0xff] {
        let count = half.iter().filter(|of| **of == mask).count() as f64;
        let (mean, sigma) = (768.0 / 3.0, (768.0f64 * 2.0 / 9.0).sqrt());
        assert!((count - mean).abs() < 4.0 * sigma, "{mask:x}: {count} of 768");
    }
}

#[test]
fn parts_that_make_no_sense_are_refused() {
    for (more, expected) in [
        (
            set("ftl.subunit", "4 KiB"),
            "drive.ftl.subunit: 4096 bytes are no part of the mapping unit of 4096 bytes",
        ),
        (set("ftl.subunit", "3 KiB"), "drive.ftl.subunit: 3072 bytes are no part"),
        (
            set("ftl.subunit", "32 B"),
            "drive.ftl.subunit: a mapping unit has 128 of 32 bytes; at most 64 are supported",
        ),
        (
            set("precondition.parts", "{ size = \"1 KiB\" }"),
            "precondition.parts: an empty drive has no data for this",
        ),
    ] {
        let problems = try_experiment(PARTS, &[more]).expect_err("it is refused");
        assert!(problems.contains(expected), "{expected}: {problems}");
    }
    let filled =
        |parts: &str| [set("precondition.fill", "sequential"), set("precondition.parts", parts)];
    let without = try_experiment(PARTS, &filled("{ size = \"1 KiB\" }")).expect_err("no subunits");
    assert!(
        without.contains("precondition.parts: the drive does not know which parts"),
        "{without}"
    );
    let given = with("512 B", &filled("{ size = \"0 B\", share = \"101 %\" }"));
    let problems = try_experiment(PARTS, &given).expect_err("it is refused");
    for expected in
        ["precondition.parts.size: must be more than 0", "precondition.parts.share: more than all"]
    {
        assert!(problems.contains(expected), "{problems}");
    }
}
