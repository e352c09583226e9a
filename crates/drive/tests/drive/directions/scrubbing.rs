//! Scrubbing: its times, and the choice of a block.

use crate::common::{Bench, Override, set};
use crate::directions::case::{Case, Scene, case};
use crate::directions::requests::{PAGE, US};
use crate::directions::scratch::file;
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
        of_choice("drive.ftl.scrub.choice.policy", "oldest").at("drive.ftl.scrub.choice").under([
            ("oldest", 0),
            ("{ policy = 'most-read', reads = 1 }", 7),
            (python, 0),
        ]),
        of_choice("drive.ftl.scrub.choice(most-read).reads", "{ policy = 'most-read', reads = 2 }")
            .under([("1", 7), ("5", 7), ("6", 64)]),
        of_choice("drive.ftl.scrub.choice(python).function", python)
            .under([("first", 0), ("last", 47)]),
        of_choice("drive.ftl.scrub.choice(python).file", python)
            .under([(functions, 0), (others, 47)]),
    ]
}
