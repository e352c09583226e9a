//! Scrubbing: its times, and the choice of a block.

use crate::common::{Bench, Override, set};
use crate::directions::case::{Case, Scene, case};
use crate::directions::requests::{PAGE, US};
use crate::directions::scratch::file;
use crate::errors::errors;
use ftl::scrub::{ScrubChoice, ScrubOutside, Written};
use host::Kind;
use std::fs;

/// A policy in Python, which only Python can find; here it is found by name in a file of the test.
struct ByName(String);

impl ScrubOutside for ByName {
    fn pick(&self, written: Written<'_>) -> Result<Option<usize>, String> {
        let mut fitting = written.fitting();
        Ok(if self.0 == "lowest" { fitting.next() } else { fitting.last() })
    }
}

/// The drive, in which block 7 was read five times and block 5 three times.
fn read_drive(scene: &Scene) -> Bench {
    let mut experiment = scene.experiment();
    let scrub = experiment.drive.ftl.scrub.as_mut().expect("it scrubs");
    if let ScrubChoice::Python(python) = &mut scrub.choice {
        let outside = python.outside();
        let text = fs::read_to_string(&outside.file).expect("it was just written");
        let mut functions = text.lines().filter_map(|line| line.split_once(' '));
        let which = functions.find(|(name, _)| *name == outside.function).expect("it is there").1;
        outside.find(Box::new(ByName(which.to_owned())));
    }
    let mut bench = Bench::of(&experiment);
    for (turn, page) in [112, 113, 114, 115, 116, 80, 81, 82].into_iter().enumerate() {
        bench.submit(turn as u64 * 125 * US, Kind::Read, page * PAGE, PAGE);
    }
    bench
}

/// The first block that is erased by 100 ms; 64 if none is.
fn first_erased(scene: &Scene) -> u64 {
    let mut bench = read_drive(scene);
    (1..100).for_each(|ms| {
        if erased(&bench).next().is_none() {
            bench.until(ms * 1_000 * US);
        }
    });
    erased(&bench).next().unwrap_or(64)
}

fn erased(bench: &Bench) -> impl Iterator<Item = u64> {
    let counts = bench.device.ftl().erase_counts().iter().enumerate();
    counts.filter(|(_, count)| **count > 0).map(|(block, _)| block as u64)
}

/// A case on 48 full blocks, one of which is moved and erased in 8.3 ms.
fn of_scrubbing(parameter: &'static str, choice: &str) -> Case {
    let given: Vec<Override> =
        vec![set("ftl.scrub.interval", "10 ms"), set("ftl.scrub.choice", choice)];
    case(parameter).filled().given(&given)
}

fn of_choice(parameter: &'static str, choice: &str) -> Case {
    of_scrubbing(parameter, choice).see("the block erased by 19 ms; 64: none", |scene| {
        let mut bench = read_drive(scene);
        bench.until(19_000 * US);
        erased(&bench).next().unwrap_or(64)
    })
}

/// As [`of_scrubbing`], where each codeword has 150 errors, and 10 more for each read of its block.
fn of_errors(parameter: &'static str, choice: &str) -> Case {
    let own = [set("ftl.scrub.stream", "own"), set("ftl.scrub.task", "own")];
    let case = of_scrubbing(parameter, choice).given(&own).given(&errors(150.5, 10.0));
    case.see("the first block erased; 64: none", first_erased)
}

/// Place of the first page of the first block, relative to data that a host writes while that block
/// is moved.
fn scrubbed_beside_host_data(scene: &Scene) -> &'static str {
    let mut bench = read_drive(scene);
    bench.until(12_000 * US);
    bench.submit(12_000 * US, Kind::Write, 400 * PAGE, PAGE);
    bench.until(19_000 * US);
    let ftl = bench.device.ftl();
    let block = |lpn| ftl.layout.block(ftl.lookup(ftl::Lpn(lpn)).expect("it has data"));
    if block(0) == block(400) { "beside" } else { "apart" }
}

/// 48 full blocks of 56, five of which are half written again. At 20 ms block 0 is scrubbed: if a block
/// is opened for it, collection begins.
fn beside_collection(scene: &Scene) -> Bench {
    let mut bench = Bench::of(&scene.experiment());
    let pages = (5..10).flat_map(|block| 16 * block..16 * block + 8);
    for (turn, page) in pages.enumerate() {
        bench.submit(turn as u64 * 300 * US, Kind::Write, page * PAGE, PAGE);
    }
    bench
}

fn beside(parameter: &'static str) -> Case {
    of_scrubbing(parameter, "oldest").given(&[
        set("ftl.scrub.stream", "own"),
        set("ftl.scrub.interval", "20 ms"),
        set("geometry.blocks_per_plane", 56),
        set("ftl.over_provisioning", format!("{{ exported = \"{} KiB\" }}", 48 * 64)),
        set("ftl.gc.background", "4 blocks"),
        set("ftl.gc.stop", "4 blocks"),
    ])
}

/// The time at which the second block is erased, in microseconds.
fn second_erased(scene: &Scene) -> u64 {
    let mut bench = Bench::of(&scene.experiment());
    while erased(&bench).count() < 2 {
        assert!(bench.step());
    }
    bench.device.now().as_ns() / US
}

/// Scrubbing of superblocks of four dies as a task of its own.
fn of_superblocks(parameter: &'static str) -> Case {
    of_scrubbing(parameter, "oldest").given(&[
        set("ftl.scrub.stream", "own"),
        set("ftl.scrub.task", "own"),
        set("geometry.channels", 4),
        set("ftl.allocation.streams", "separate"),
        set("ftl.superblock", "{ dies = 4, width = {} }"),
    ])
}

pub fn cases() -> Vec<Case> {
    let functions = file("scrubs", "first lowest\nlast highest\n");
    let others = file("other-scrubs", "first highest\n");
    let python: &str =
        format!("{{ policy = 'python', function = 'first', file = '{functions}' }}").leak();
    vec![
        // Polls at 10, 20, 30 and 40 ms; the work of the last is over at 48.3.
        of_scrubbing("drive.ftl.scrub.interval", "oldest")
            .see("blocks erased by 45 ms", |scene| {
                let mut bench = read_drive(scene);
                bench.until(45_000 * US);
                erased(&bench).count() as u64
            })
            .under([("10 ms", 3), ("20 ms", 1), ("36 ms", 1), ("37 ms", 0)]),
        // Host and collection share a block here.
        of_scrubbing("drive.ftl.scrub.stream", "oldest")
            .see("where a scrubbed page lies", scrubbed_beside_host_data)
            .under([("collection", "beside"), ("own", "apart")]),
        // In turns, collection begins when block 0 is erased.
        beside("drive.ftl.scrub.task")
            .see("the block erased first", |scene| {
                let mut bench = beside_collection(scene);
                bench.until(29_000 * US);
                erased(&bench).next().expect("one is erased")
            })
            .under([("turns", 0), ("own", 5)]),
        // A page takes 425 us, and 64 pages lie on four dies.
        of_superblocks("drive.ftl.scrub.window")
            .see("end of the second block, us", second_erased)
            .left_out(10_000 + 2 * (64 * 425 + 1_500) as u64)
            .under([("1", 10_000 + 2 * (64 * 425 + 1_500) as u64)])
            .under([("4", 10_000 + 8_300 + 10_000)]),
        // 64 KiB in 20 and in 50 ms; the next poll is due at 20 ms.
        of_scrubbing("drive.ftl.scrub.rate", "oldest")
            .given(&[set("ftl.scrub.stream", "own"), set("ftl.scrub.task", "own")])
            .see("end of the second block, us", second_erased)
            .left_out(28_300u64)
            .under([("3276800 B/s", 38_300u64), ("1310720 B/s", 68_300)]),
        of_errors("drive.ftl.scrub.choice.policy", "oldest").at("drive.ftl.scrub.choice").under([
            ("oldest", 0),
            ("{ policy = 'most-read', reads = 1 }", 7),
            ("expected-errors", 7),
            ("{ policy = 'refresh', age = '1 ms' }", 0),
            ("{ policy = 'cost-benefit', above = 0.2 }", 7),
            ("patrol", 0),
            (python, 0),
        ]),
        // The first read of block 7 needs one re-read and the others two: 14 senses.
        of_errors("drive.ftl.scrub.choice(expected-errors).above", "expected-errors")
            .under([("290", 7), ("291", 64)]),
        of_errors("drive.ftl.scrub.choice(refresh).age", "refresh")
            .under([("10 ms", 0), ("1 h", 64)]),
        // Nine re-reads for its 16 valid pages are 0.5625.
        of_errors("drive.ftl.scrub.choice(cost-benefit).above", "cost-benefit")
            .under([("0.56", 7), ("0.57", 64)]),
        // Block 0 was not read before: its first read needs one. Block 5 needs two, after eight reads.
        of_errors("drive.ftl.scrub.choice(patrol).re_reads", "patrol").under([("1", 0), ("2", 5)]),
        of_choice("drive.ftl.scrub.choice(most-read).reads", "{ policy = 'most-read', reads = 2 }")
            .under([("1", 7), ("5", 7), ("6", 64)]),
        of_choice("drive.ftl.scrub.choice(python).function", python)
            .under([("first", 0), ("last", 47)]),
        of_choice("drive.ftl.scrub.choice(python).file", python)
            .under([(functions, 0), (others, 47)]),
    ]
}
