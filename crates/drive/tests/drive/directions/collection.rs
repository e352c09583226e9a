//! Garbage collection: the choice of a block, its time, its pace, and its priority.
//!
//! On the drive in `poised` a write takes 100 + 200 us, a page is collected in 25 + 100 us (read)
//! and 100 + 200 us (write), and a block is erased in 1500 us.

use crate::common::{Bench, Override, set};
use crate::directions::case::{Case, Predicted, Scene, all_about, case};
use crate::directions::requests::{US, four_sigma};
use crate::directions::scratch::file;
use crate::poised::{PAGE, page, shape};
use drive::{Experiment, OpKind};
use ftl::gc::{Candidates, ChooseOutside, VictimPolicy};
use ftl::{BinId, BlockId, BlockState};
use host::Kind;
use metrics::Holder;
use std::fs;

fn reads_begun(bench: &Bench) -> u64 {
    bench.device.counters().commands(OpKind::Read, Holder::GcRead)
}

fn programs_begun(bench: &Bench) -> u64 {
    bench.device.counters().commands(OpKind::Program, Holder::GcProgram)
}

fn free_blocks(bench: &Bench) -> u64 {
    u64::from(bench.device.ftl().free_blocks(BinId(0)))
}

fn erases_begun(bench: &Bench) -> u64 {
    bench.device.counters().commands(OpKind::Erase, Holder::Erase)
}

/// Writes pages of die 0, each when the one before is done and the drive is idle.
fn overwrite(bench: &mut Bench, numbers: impl IntoIterator<Item = u64>) -> u64 {
    for number in numbers {
        bench.alone(Kind::Write, page(0, number), PAGE);
    }
    bench.settle()
}

/// Block 0 is left with one valid page, and the next write opens a block, which leaves 2 free.
fn poised(scene: &Scene) -> (Bench, u64) {
    let mut bench = scene.bench();
    let now = overwrite(&mut bench, [0, 1, 2, 4]);
    (bench, now)
}

fn thresholds(foreground: u32, background: u32, stop: u32) -> [Override; 3] {
    let blocks = |count: u32| format!("{count} blocks");
    [
        set("ftl.gc.foreground", blocks(foreground)),
        set("ftl.gc.background", blocks(background)),
        set("ftl.gc.stop", blocks(stop)),
    ]
}

/// Two packages on a channel, to which pages go in turn.
fn two_packages() -> Vec<Override> {
    vec![
        set("geometry.packages_per_channel", 2),
        set("geometry.dies_per_package", 1),
        set("ftl.allocation.pool", "drive"),
        set("ftl.gc.victim", "fifo"),
        set("ftl.gc.foreground", "1 block"),
        set("ftl.gc.background", "1 block"),
        set("ftl.gc.stop", "1 block"),
    ]
}

fn of_collection(parameter: &'static str, more: &[Override]) -> Case {
    case(parameter).filled().given(&shape(more))
}

// ---- victims ------------------------------------------------------------------------

const SEEDS: u64 = 400;

/// Number of seeds for which each of blocks 0, 1 and 4 is the victim, when die 0 is in this state
/// at a host's unit 40:
///
/// | block | valid | closed at |
/// |---|---|---|
/// | 0 | 3 | 8 |
/// | 1 | 2 | 16 |
/// | 2 | 2 | 24 |
/// | 3 | 4 | 32 |
/// | 4 | 1 | 36 |
/// | 5 | 4 | 40 |
///
/// (To the 32nd unit both dies were filled in turn, so it may be a unit less.)
fn victims(scene: &Scene) -> [u64; 3] {
    let mut counts = [0; 6];
    let mut experiment = scene.experiment();
    find_outside(&mut experiment);
    for seed in floor::seeds(0, SEEDS) {
        let mut bench = Bench::of(&Experiment { seed, ..experiment.clone() });
        let start = overwrite(&mut bench, [0, 4, 5, 8, 0, 4, 5, 9]);
        let ftl = bench.device.ftl();
        let valid: Vec<_> = (0..6).map(|block| ftl.valid_units(BlockId(block))).collect();
        assert_eq!((valid, free_blocks(&bench)), (vec![3, 2, 2, 4, 1, 4], 3));
        // Opens the block that leaves 2 free.
        bench.submit(start, Kind::Write, page(0, 12), PAGE);
        bench.until(start);
        let states = bench.device.ftl().block_states();
        let victim = states.iter().position(|state| *state == BlockState::Collecting);
        let victim = victim.expect("a victim was chosen");
        counts[victim] += 1;
        bench.settle();
        assert!(bench.device.ftl().erase_counts()[victim] > 0, "it is collected in the end");
    }
    assert_eq!((counts[3], counts[5]), (0, 0), "a block full of valid data gains nothing");
    [counts[0], counts[1], counts[4]]
}

/// Number of seeds for which each of blocks 0 to 3 is the victim, when two of the four pages of
/// each are valid, and each was closed before the next.
fn victims_of_equals(scene: &Scene) -> [u64; 4] {
    let mut counts = [0; 6];
    let experiment = scene.experiment();
    for seed in floor::seeds(0, SEEDS) {
        let mut bench = Bench::of(&Experiment { seed, ..experiment.clone() });
        let start = overwrite(&mut bench, [0, 4, 8, 12, 1, 5, 9, 13]);
        let ftl = bench.device.ftl();
        let valid: Vec<_> = (0..6).map(|block| ftl.valid_units(BlockId(block))).collect();
        assert_eq!((valid, free_blocks(&bench)), (vec![2, 2, 2, 2, 4, 4], 3));
        bench.submit(start, Kind::Write, page(0, 3), PAGE);
        bench.until(start);
        let states = bench.device.ftl().block_states();
        let victim = states.iter().position(|state| *state == BlockState::Collecting);
        counts[victim.expect("a victim was chosen")] += 1;
    }
    assert_eq!((counts[4], counts[5]), (0, 0), "all of them is valid");
    [counts[0], counts[1], counts[2], counts[3]]
}

/// A policy in Python, which only Python can find; here it is found by name in a file of the test.
struct ByName(String);

impl ChooseOutside for ByName {
    fn choose(&self, candidates: Candidates<'_>, _: u64) -> Result<usize, String> {
        let mut gaining = candidates.gaining();
        let chosen = if self.0 == "lowest" { gaining.next() } else { gaining.last() };
        Ok(chosen.expect("it is asked where something gains"))
    }
}

/// Finds the policy that an experiment names, as Python does.
fn find_outside(experiment: &mut Experiment) {
    let VictimPolicy::Python(python) = &mut experiment.drive.ftl.gc.victim else { return };
    let outside = python.outside();
    let text = fs::read_to_string(&outside.file).expect("it was just written");
    let mut functions = text.lines().filter_map(|line| line.split_once(' '));
    let found = functions.find(|(name, _)| *name == outside.function);
    let (_, which) = found.expect("the file has the function");
    outside.find(Box::new(ByName(which.to_owned())));
}

/// Counts of these shares of all seeds.
fn drawn(shares: [f64; 3]) -> Predicted {
    let seeds = SEEDS as f64;
    all_about(&shares.map(|share| (seeds * share, four_sigma(seeds, share))))
}

/// The best of `draws` draws out of four blocks: block 4 unless all miss it, block 0, which is the
/// worst, if all hit it, and the other two alike.
fn best_of(draws: i32) -> Predicted {
    let (best, worst) = (1.0 - 0.75f64.powi(draws), 0.25f64.powi(draws));
    // Among equals the one drawn first.
    drawn([worst, ((1.0 - best - worst) / 2.0).max(0.0), best])
}

fn victim_cases() -> Vec<Case> {
    // Names of policies, and the block that each takes among those that gain space.
    let policies = file("policies", "first lowest\nlast highest\n");
    let others = file("other-policies", "first highest\n");
    let python: &str =
        format!("{{ policy = 'python', function = 'first', file = '{policies}' }}").leak();
    let of_victims = |parameter| {
        of_collection(parameter, &[set("geometry.blocks_per_plane", 9)])
            .see("how often blocks 0, 1 and 4 are the victim, of 400", victims)
    };
    vec![
        // Least valid data, 4. Closed first, 0. Gained times age over twice the valid:
        // 1 * 33 / 6 = 5.5, 2 * 25 / 4 = 12.5, 2 * 17 / 4 = 8.5, none, 3 * 5 / 2 = 7.5,
        // so 1. Random: a quarter each. Of ten draws the best.
        of_victims("drive.ftl.gc.victim.policy").at("drive.ftl.gc.victim").under([
            ("greedy", [0, 0, SEEDS].into()),
            ("fifo", [SEEDS, 0, 0].into()),
            ("cost-benefit", [0, SEEDS, 0].into()),
            ("random", drawn([0.25; 3])),
            ("d-choices", best_of(10)),
            // Its window includes all blocks.
            ("windowed-greedy", [0, 0, SEEDS].into()),
            (python, [SEEDS, 0, 0].into()),
        ]),
        // Block 0 is the lowest that gains space, block 4 the highest.
        of_victims("drive.ftl.gc.victim(python).function")
            .given(&[set("ftl.gc.victim", python)])
            .under([("first", [SEEDS, 0, 0]), ("last", [0, 0, SEEDS])]),
        of_victims("drive.ftl.gc.victim(python).file")
            .given(&[set("ftl.gc.victim", python)])
            .under([(policies, [SEEDS, 0, 0]), (others, [0, 0, SEEDS])]),
        of_collection("drive.ftl.gc.victim(greedy).ties", &[set("geometry.blocks_per_plane", 9)])
            .given(&[set("ftl.gc.victim", "greedy")])
            .see("how often blocks 0 to 3 are the victim, of 400", victims_of_equals)
            .under([
                ("first", [SEEDS, 0, 0, 0].into()),
                ("last", [0, 0, 0, SEEDS].into()),
                ("oldest", [SEEDS, 0, 0, 0].into()),
                ("random", all_about(&[(SEEDS as f64 / 4.0, four_sigma(SEEDS as f64, 0.25)); 4])),
            ])
            .left_out([SEEDS, 0, 0, 0]),
        // By age 0, 1, 2 and 4 gain.
        of_victims("drive.ftl.gc.victim(windowed-greedy).window")
            .given(&[set("ftl.gc.victim", "windowed-greedy")])
            .under([("1", [SEEDS, 0, 0]), ("2", [0, SEEDS, 0]), ("4", [0, 0, SEEDS])])
            .left_out([0, 0, SEEDS]),
        of_victims("drive.ftl.gc.victim(d-choices).choices")
            .given(&[set("ftl.gc.victim", "d-choices")])
            .under([("1", best_of(1)), ("2", best_of(2)), ("200", best_of(200))])
            .left_out(best_of(10)),
        // Ten draws of nine blocks, each at most once, are all of them.
        of_victims("drive.ftl.gc.victim(d-choices).among")
            .given(&[set("ftl.gc.victim", "d-choices")])
            .under([("gaining", best_of(10)), ("all", [0, 0, SEEDS].into())])
            .left_out(best_of(10)),
    ]
}

// ---- beginning and end --------------------------------------------------------

/// The write with which the first block is erased. Of 12 blocks 4 hold data; writes 1, 5, 9 and so
/// on open a block and leave 7, 6, 5 … free; from the fourth on, block 0 has no valid page.
fn first_erase(scene: &Scene) -> u64 {
    let mut bench = scene.bench();
    let mut writes = 0;
    while erases_begun(&bench) == 0 {
        overwrite(&mut bench, [writes % 16]);
        writes += 1;
    }
    writes
}

/// The end of all operations, in us, after five writes, one after the other, that end at 1500 us
/// and leave 2 blocks free and two pages valid in each of blocks 0 and 1.
fn end_of_an_idle_time(scene: &Scene) -> u64 {
    let mut bench = scene.bench();
    for (turn, number) in [0, 1, 4, 5, 8].into_iter().enumerate() {
        bench.submit(turn as u64 * 300 * US, Kind::Write, page(0, number), PAGE);
    }
    bench.settle() / US
}

fn threshold_cases() -> Vec<Case> {
    let twelve = set("geometry.blocks_per_plane", 12);
    vec![
        of_collection("drive.ftl.gc.background", &thresholds(1, 6, 6))
            .given(std::slice::from_ref(&twelve))
            .see("the write with which the first block is erased", first_erase)
            .under([("4 blocks", 13), ("5 blocks", 9), ("6 blocks", 5)]),
        // The second write goes before background GC, and after foreground GC.
        of_collection("drive.ftl.gc.foreground", &thresholds(1, 2, 2))
            .see("a write beside collection, us", |scene| {
                let (mut bench, start) = poised(scene);
                bench.submit(start, Kind::Write, page(0, 5), PAGE);
                let write = bench.submit(start, Kind::Write, page(0, 5), PAGE);
                bench.settle();
                bench.done(write).latency() / US
            })
            .under([("1 block", 600), ("2 blocks", 300 + 425 + 1_500 + 300)]),
        // Rewriting pages 0 to 11 makes blocks 0 to 2 invalid and fills 4 to 6; the next write
        // opens block 7, which leaves 4 free: background. One erase more for each block.
        of_collection("drive.ftl.gc.stop", &thresholds(4, 4, 4))
            .given(&[twelve])
            .see("erases, free blocks, and how long the last write and they take, us", |scene| {
                let mut bench = scene.bench();
                let start = overwrite(&mut bench, 0..12);
                assert_eq!((erases_begun(&bench), free_blocks(&bench)), (0, 5));
                let end = overwrite(&mut bench, [12]);
                [erases_begun(&bench), free_blocks(&bench), (end - start) / US]
            })
            .under([
                ("4 blocks", [1, 5, 300 + 1_500]),
                ("5 blocks", [2, 6, 300 + 2 * 1_500]),
                ("6 blocks", [3, 7, 300 + 3 * 1_500]),
            ]),
        // A victim gains three of four pages, while one block more than the foreground threshold is
        // free.
        of_collection("drive.ftl.gc.least_gain", &thresholds(1, 2, 2))
            .see("erases after a write that leaves 2 blocks free", |scene| {
                let (mut bench, _) = poised(scene);
                overwrite(&mut bench, [5]);
                erases_begun(&bench)
            })
            .left_out(1)
            .under([("1 page", 1), ("3 pages", 1), ("75 % of pages", 1), ("76 % of pages", 0)]),
        // After the gap two pages are moved and a block is erased.
        of_collection("drive.ftl.gc.idle_gap", &thresholds(1, 1, 2))
            .see("when nothing goes on any more, us", end_of_an_idle_time)
            .left_out(1_500)
            .under([("10 ms", 11_500 + 2 * 425 + 1_500), ("20 ms", 21_500 + 2 * 425 + 1_500)]),
    ]
}

// ---- sharing of the drive ---------------------------------------------------------

/// Ends of four writes that come together, in us, on a drive of 9 blocks on which gaining a page
/// takes a move, and whose space stays between the background and the foreground threshold.
fn four_writes(scene: &Scene) -> Vec<u64> {
    let mut bench = scene.bench();
    let start = overwrite(&mut bench, [0, 1, 4, 5]);
    let tags = [8, 9, 10, 11].map(|n| bench.submit(start, Kind::Write, page(0, n), PAGE));
    bench.settle();
    tags.iter().map(|tag| bench.done(*tag).latency() / US).collect()
}

/// Two channels of two dies, with page 4 n + 2 d + c on die d of channel c.
fn four_dies(parameter: &'static str) -> Case {
    let exported = format!("{} B", 64 * PAGE);
    of_collection(
        parameter,
        &[set("geometry.channels", 2), set("ftl.over_provisioning.exported", exported)],
    )
}

/// The four dies, with one valid page in a block of each of these; the next write of each opens a
/// block.
fn one_valid_page<const N: usize>(scene: &Scene, dies: [u64; N]) -> (Bench, u64) {
    let mut bench = scene.bench();
    for die in dies {
        for number in [0, 1, 2, 4] {
            bench.alone(Kind::Write, (4 * number + die) * PAGE, PAGE);
        }
    }
    let now = bench.settle();
    (bench, now)
}

/// End of the collections of two dies that begin at the same time, in us.
fn both_end(scene: &Scene, dies: [u64; 2]) -> u64 {
    let (mut bench, start) = one_valid_page(scene, dies);
    for die in dies {
        bench.submit(start, Kind::Write, (4 * 5 + die) * PAGE, PAGE);
    }
    (bench.settle() - start) / US
}

fn sharing_cases() -> Vec<Case> {
    vec![
        // The first opens a block. From the second on each owes a move, which takes
        // 425 us; the fourth owes the erase, which comes after it. At the rate of hosts, the band is 6 to
        // 14 units: one and three blocks, and half of the open one. The second write finds 14 units and
        // owes no move, the third finds 13 and owes a quarter, the fourth 12 and a half.
        of_collection("drive.ftl.gc.pacing", &thresholds(1, 3, 3))
            .given(&[set("geometry.blocks_per_plane", 9)])
            .see("four writes beside collection, us", four_writes)
            .under([
                ("none", [300, 600, 900, 1_200]),
                ("proportional", [300, 600, 1_325, 2_050]),
                ("host-rate", [300, 600, 900, 1_200]),
            ]),
        // Without hosts, a collection goes on until four blocks are free. It takes a victim of two valid
        // pages, and then the block that the four writes have made invalid. At the rate of hosts it has
        // moved one page, by which it knows its price.
        of_collection("drive.ftl.gc.pacing", &thresholds(1, 3, 3))
            .given(&[set("geometry.blocks_per_plane", 9)])
            .see("pages moved after four writes", |scene| {
                let mut bench = scene.bench();
                let start = overwrite(&mut bench, [0, 1, 4, 5]);
                (8..12).for_each(|n| {
                    bench.submit(start, Kind::Write, page(0, n), PAGE);
                });
                bench.settle();
                programs_begun(&bench)
            })
            .under([("none", 2), ("proportional", 2), ("host-rate", 1)]),
        // The write goes on until 300 us, and the valid page is moved until 725. The read
        // goes between its read and its write, or after the erase.
        of_collection("drive.ftl.gc.preemptible", &[])
            .see("when a read beside collection is done, us", |scene| {
                let (mut bench, start) = poised(scene);
                bench.submit(start, Kind::Write, page(0, 5), PAGE);
                let read = bench.submit(start + 310 * US, Kind::Read, page(0, 12), PAGE);
                bench.settle();
                (bench.done(read).finished - start) / US
            })
            .under([("true", 425 + 125), ("false", 300 + 425 + 1_500 + 125)]),
        // Two invalid blocks are erased after the write that opens a block (see `stop`). The read
        // starts after the first or after the second erase.
        of_collection("drive.ftl.gc.reserve_until", &thresholds(4, 4, 5))
            .given(&[set("geometry.blocks_per_plane", 12), set("ftl.gc.preemptible", "false")])
            .see("erases, and when a read beside them is done, us", |scene| {
                let mut bench = scene.bench();
                let start = overwrite(&mut bench, 0..12);
                bench.submit(start, Kind::Write, page(0, 12), PAGE);
                let read = bench.submit(start + 310 * US, Kind::Read, page(0, 13), PAGE);
                bench.settle();
                [erases_begun(&bench), (bench.done(read).finished - start) / US]
            })
            .left_out([2, 300 + 1_500 + 125])
            .under([("erase", [2, 300 + 1_500 + 125]), ("stop", [2, 300 + 2 * 1_500 + 125])]),
        // A page moves in 425 us, and the read goes before the erase or after it.
        of_collection("drive.ftl.gc.reserve_until", &[])
            .given(&[set("ftl.gc.preemptible", "false")])
            .see("when a read beside a collection is done, us", |scene| {
                let (mut bench, start) = poised(scene);
                bench.submit(start, Kind::Write, page(0, 5), PAGE);
                let read = bench.submit(start + 310 * US, Kind::Read, page(0, 6), PAGE);
                bench.settle();
                (bench.done(read).finished - start) / US
            })
            .left_out(300 + 425 + 1_500 + 125)
            .under([("copied", 300 + 425 + 125), ("erase", 300 + 425 + 1_500 + 125)]),
        // The page is copied back from 300 us until 525. A read of another die of the channel, and
        // one of the other channel, cross from 335 us on, or once the copies are over.
        four_dies("drive.ftl.gc.blocking")
            .given(&[set("ftl.gc.preemptible", "false"), set("ftl.gc.copy_back", "true")])
            .see("when reads beside a collection are done, us", |scene| {
                let (mut bench, start) = one_valid_page(scene, [0]);
                bench.submit(start, Kind::Write, 4 * 5 * PAGE, PAGE);
                let reads = [2, 1].map(|die| {
                    bench.submit(start + 310 * US, Kind::Read, (4 * 12 + die) * PAGE, PAGE)
                });
                bench.settle();
                reads.map(|read| (bench.done(read).finished - start) / US)
            })
            .left_out([435, 435])
            .under([("plane", [435, 435]), ("channel", [625, 435]), ("controller", [625, 625])]),
        // Two dies of a channel collect: one copies until 525 us. The other has its write until 400,
        // and copies after that, or after the first one's copies.
        four_dies("drive.ftl.gc.at_once.channel")
            .given(&[set("ftl.gc.copy_back", "true")])
            .see("end of two collections of a channel, us", |scene| both_end(scene, [0, 2]))
            .left_out(400 + 225 + 1_500)
            .under([("1", 525 + 225 + 1_500), ("2", 400 + 225 + 1_500)]),
        // Two dies of two channels have their writes until 300 us.
        four_dies("drive.ftl.gc.at_once.drive")
            .given(&[set("ftl.gc.copy_back", "true")])
            .see("end of two collections of two channels, us", |scene| both_end(scene, [0, 1]))
            .left_out(300 + 225 + 1_500)
            .under([("1", 525 + 225 + 1_500), ("2", 300 + 225 + 1_500)]),
        // Off the channel: sensed and programmed in 225 us.
        of_collection("drive.ftl.gc.copy_back", &[])
            .see("time and channel time of a write and the collection it causes, us", |scene| {
                let (mut bench, start) = poised(scene);
                let carried = bench.device.channel_busy()[0];
                overwrite(&mut bench, [5]);
                let carried = bench.device.channel_busy()[0] - carried;
                [(bench.settle() - start) / US, carried.as_ns() / US]
            })
            .under([("false", [300 + 425 + 1_500, 300]), ("true", [300 + 225 + 1_500, 100])]),
        // A read of die 1, from 290 us on, has its data out at 415. Die 0 has a victim and is idle from
        // 300 us on.
        of_collection("drive.ftl.gc.background_begins", &thresholds(1, 2, 2))
            .see("the beginning of a collection beside a read of another die, us", |scene| {
                let (mut bench, start) = poised(scene);
                bench.submit(start, Kind::Write, page(0, 5), PAGE);
                bench.submit(start + 290 * US, Kind::Read, page(1, 6), PAGE);
                while reads_begun(&bench) == 0 {
                    assert!(bench.step(), "it collects");
                }
                (bench.device.now().as_ns() - start) / US
            })
            .left_out(300)
            .under([("any-time", 300), ("quiet-channel", 415)]),
        // Past the controller: read in 125 us, and programmed elsewhere in 200 us.
        of_collection("drive.ftl.gc.streaming", &[])
            .given(&two_packages())
            .see("time and channel time of a write and the collection it causes, us", |scene| {
                let mut bench = scene.bench();
                overwrite(&mut bench, [0, 1, 2, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 0]);
                // The other package holds less.
                for place in (0..16).map(|number| page(1, number)).chain([page(0, 1)]) {
                    bench.alone(Kind::Trim, place, PAGE);
                }
                let (start, carried) = (bench.settle(), bench.device.channel_busy()[0]);
                overwrite(&mut bench, [2]);
                let carried = bench.device.channel_busy()[0] - carried;
                [(bench.settle() - start) / US, carried.as_ns() / US]
            })
            .left_out([300 + 425 + 1_500, 300])
            .under([("false", [300 + 425 + 1_500, 300]), ("true", [300 + 325 + 1_500, 200])]),
        // In turn the oldest block is collected, and only page 3 moves, again and again.
        of_collection("drive.ftl.gc.copy_back_most", &[])
            .given(&[set("ftl.gc.copy_back", "true"), set("ftl.gc.victim", "fifo")])
            .see("of twelve moves those through the controller", |scene| {
                let mut bench = scene.bench();
                let copies = |bench: &Bench| {
                    bench.device.counters().commands(OpKind::CopyBack, Holder::GcProgram)
                };
                let mut numbers = (0..3).cycle().take(1_000);
                while copies(&bench) + reads_begun(&bench) < 12 {
                    overwrite(&mut bench, numbers.next());
                }
                reads_begun(&bench)
            })
            .left_out(0)
            .under([("1", 6), ("2", 4), ("3", 3)]),
        // Two valid pages, from 300 us on. One by one: read until 425, written until 725.
        // Two at a time: read until 425 and 550. In the end it is the same time.
        of_collection("drive.ftl.gc.window", &[])
            .see("pages that collection reads and writes by 420 and 540 us, and its end", |scene| {
                let mut bench = scene.bench();
                let start = overwrite(&mut bench, [0, 1, 4, 5]);
                bench.submit(start, Kind::Write, page(0, 8), PAGE);
                let mut begun_by = |at: u64| {
                    bench.until(start + at * US);
                    [reads_begun(&bench), programs_begun(&bench)]
                };
                let ([read, written], [reads, writes]) = (begun_by(420), begun_by(540));
                [read, written, reads, writes, (bench.settle() - start) / US]
            })
            .under([
                ("1", [1, 0, 1, 1, 300 + 2 * 425 + 1_500]),
                ("2", [1, 0, 2, 0, 300 + 2 * 425 + 1_500]),
            ]),
    ]
}

pub fn cases() -> Vec<Case> {
    [victim_cases(), threshold_cases(), sharing_cases()].into_iter().flatten().collect()
}
