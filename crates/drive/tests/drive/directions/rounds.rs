//! Operations in rounds.

use crate::common::{Override, set};
use crate::directions::case::{Case, Scene, case};
use crate::directions::requests::{PAGE, US};
use crate::directions::scheduler::collecting;
use crate::poised::{page, shape};
use host::Kind;

/// Two packages on a channel, of two dies of four planes, which sense independently.
fn planes() -> Vec<Override> {
    vec![
        set("geometry.packages_per_channel", 2),
        set("geometry.dies_per_package", 2),
        set("geometry.planes_per_die", 4),
        set("concurrency", "{ read = \"plane\", program = \"plane\", erase = \"plane\" }"),
        set("ftl.gc.preemptible", "false"),
    ]
}

/// Four dies with a channel each, and gangs of them.
fn gangs(gang: &str) -> Vec<Override> {
    vec![
        set("geometry.channels", 4),
        set("geometry.gang", gang),
        set("ftl.allocation.pool", "gang"),
        set("ftl.gc.preemptible", "false"),
    ]
}

/// Die 0 is read from 0 to 125 us. Returns the answers to reads of dies 1 and 2 that come at 10:
/// pages take gangs in turn, and dies in them.
fn reads_of_other_dies(scene: &Scene) -> [u64; 2] {
    let mut bench = scene.bench();
    bench.submit(0, Kind::Read, 0, PAGE);
    let reads = [2, 1].map(|page| bench.submit(10 * US, Kind::Read, page * PAGE, PAGE));
    bench.settle();
    reads.map(|read| bench.done(read).finished / US)
}

/// A page is read from 0 to 125 us. Returns the answers, in us, to reads that come at 10: of the
/// next plane, of the next pair, of the next die, of the next package.
fn reads_beside_a_read(scene: &Scene) -> [u64; 4] {
    let mut bench = scene.bench();
    bench.submit(0, Kind::Read, 0, PAGE);
    // The fill took packages, dies and planes in turn.
    let reads = [4, 8, 2, 1].map(|page| bench.submit(10 * US, Kind::Read, page * PAGE, PAGE));
    bench.settle();
    reads.map(|read| bench.done(read).finished / US)
}

/// Answer to a read that comes 1000 us after a write that leaves too little space.
fn a_read_after_a_write(scene: &Scene) -> u64 {
    let (mut bench, start) = collecting(scene);
    let read = bench.submit(start + 1_000 * US, Kind::Read, page(0, 1), PAGE);
    bench.settle();
    (bench.done(read).finished - start) / US
}

/// A package of two dies reads from 0 to 125 us. Returns the ends of a write and two reads that
/// come meanwhile, to dies 1, 0 and 1.
fn a_write_and_two_reads(scene: &Scene) -> [u64; 3] {
    let mut bench = scene.bench();
    bench.submit(0, Kind::Read, page(0, 0), PAGE);
    let write = bench.submit(10 * US, Kind::Write, page(1, 1), PAGE);
    let reads = [(20, page(0, 2)), (30, page(1, 2))]
        .map(|(at, page)| bench.submit(at * US, Kind::Read, page, PAGE));
    bench.settle();
    [write, reads[0], reads[1]].map(|tag| bench.done(tag).finished / US)
}

pub fn cases() -> Vec<Case> {
    let own =
        [set("ftl.gc.preemptible", "false"), set("scheduler.rounds", "{ unit = \"package\" }")];
    vec![
        // Dies with rounds of their own are sensed by 35 and wait for the channel until 125; the
        // others are sensed from then on.
        case("drive.scheduler.rounds.unit")
            .filled()
            .given(&planes())
            .see("reads beside a read, us", reads_beside_a_read)
            .under([
                ("plane", [225, 325, 425, 525]),
                ("plane-pair", [525, 225, 325, 425]),
                ("die", [425, 525, 225, 325]),
                ("package", [325, 425, 525, 225]),
                ("channel", [250, 350, 450, 550]),
            ]),
        // Four dies with a channel each, of which two are a gang. The read of the other one in it
        // begins at 125 us with those of a gang, at once without.
        case("drive.scheduler.rounds.unit")
            .filled()
            .given(&gangs("{ channels = 2, control = \"asynchronous\" }"))
            .see("reads of two other dies, us", reads_of_other_dies)
            .under([("channel", [10 + 125, 10 + 125]), ("gang", [125 + 125, 10 + 125])]),
        case("drive.geometry.gang.channels")
            .filled()
            .given(&gangs("{ control = \"asynchronous\" }"))
            .given(&[set("scheduler.rounds.unit", "gang")])
            .see("reads of two other dies, us", reads_of_other_dies)
            .under([("2", [125 + 125, 10 + 125]), ("4", [125 + 125, 125 + 125])]),
        // As one channel, two channels carry both pages of 4 KiB of a page of 8 KiB at a time: a
        // unit of 8 KiB crosses in 100 us, and in 200 over each channel alone.
        case("drive.geometry.gang.control")
            .filled()
            .given(&gangs("{ channels = 2 }"))
            .given(&[set("scheduler.rounds.unit", "channel"), set("ftl.unit", "8 KiB")])
            .see("a read of 8 KiB, us", |scene| {
                scene.bench().alone(Kind::Read, 0, 2 * PAGE).latency() / US
            })
            .under([("asynchronous", 2 * 125), ("synchronous", 25 + 100)]),
        // The write ends at 300. A page is moved in 125 + 300 and a block erased in 1500: from
        // then on, or when the read has come.
        case("drive.scheduler.rounds.collect")
            .filled()
            .given(&shape(&[set("ftl.gc.preemptible", "false")]))
            .given(&[set("scheduler.rounds", "{ unit = \"die\" }")])
            .see("a read after a write, us", a_read_after_a_write)
            .left_out(1_000 + 1_925 + 125)
            .under([("when-asked", 1_000 + 1_925 + 125), ("at-once", 300 + 1_925 + 125)]),
        // Together reads go first. One by one they go in order.
        case("drive.scheduler.rounds.most")
            .filled()
            .given(&shape(&own))
            .see("a write and two reads, us", a_write_and_two_reads)
            .left_out([350 + 300, 250, 350])
            .under([("1", [125 + 300, 425 + 125, 550 + 125]), ("2", [350 + 300, 250, 350])]),
    ]
}
