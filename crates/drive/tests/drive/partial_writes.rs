//! In-plane read-modify-writes: their duration, the requests that wait for them, and their data,
//! which the auditor of every bench checks. On the drive here a page is sensed in 25 us,
//! transferred in 100 us and programmed in 200 us.

use crate::common::{Bench, Override, set, try_experiment};
use drive::OpKind;
use ftl::{BinId, Lpn, Stream};
use host::Kind;
use metrics::{Holder, State};

const US: u64 = 1_000;
const KIB: u64 = 1_024;

fn in_planes(more: &[Override]) -> Vec<Override> {
    [&[set("ftl.partial_writes", "plane")], more].concat()
}

/// Eight channels that do the same at the same time; a unit has a page of each.
fn gang() -> Vec<Override> {
    in_planes(&[
        set("geometry.channels", 8),
        set("geometry.gang", "{ channels = 8, control = \"synchronous\" }"),
        set("ftl.unit", "32 KiB"),
    ])
}

fn modifies(bench: &Bench) -> u64 {
    bench.device.counters().commands(OpKind::Modify, Holder::HostProgram)
}

fn other_work(bench: &Bench) -> [u64; 2] {
    let counters = bench.device.counters();
    [
        counters.commands(OpKind::Read, Holder::RmwRead),
        counters.commands(OpKind::Program, Holder::HostProgram),
    ]
}

// ---- duration -----------------------------------------------------------------

#[test]
fn only_the_part_crosses_the_channel() {
    let mut bench = Bench::filled(&in_planes(&[]));
    for (number, bytes) in [KIB, 2 * KIB, 512].into_iter().enumerate() {
        let before = other_work(&bench);
        let found = bench.alone(Kind::Write, 4 * KIB * number as u64, bytes);
        let carried = 100 * US * bytes / (4 * KIB);
        let expected =
            [(State::Sense, 25 * US), (State::Transfer, carried), (State::Program, 200 * US)];
        assert_eq!(found.latency(), 225 * US + carried, "{bytes} bytes: {:?}", found.blame);
        expected.iter().for_each(|(state, ns)| assert_eq!(found.of(*state), *ns, "{state:?}"));
        assert_eq!((modifies(&bench), other_work(&bench)), (1 + number as u64, before));
    }
    // A whole unit is programmed as usual, and so is a part of one that was never written.
    assert_eq!(bench.alone(Kind::Write, 0, 4 * KIB).latency(), 300 * US);
    let mut bench = Bench::new(&in_planes(&[]));
    assert_eq!(bench.alone(Kind::Write, 0, KIB).latency(), 300 * US);
    assert_eq!(modifies(&bench), 0);
}

#[test]
fn the_fullest_channel_of_a_gang_counts() {
    let mut bench = Bench::filled(&gang());
    // Its beginning in the gang's page, its size, and the transfer of the fullest channel.
    for (offset, bytes, fullest) in [
        (0, 4 * KIB, 4 * KIB),
        (4 * KIB, 8 * KIB, 4 * KIB),
        (2 * KIB, 4 * KIB, 2 * KIB),
        (KIB, 4 * KIB, 3 * KIB),
        (3 * KIB, 2 * KIB, KIB),
        (31 * KIB, KIB, KIB),
        (0, 31 * KIB, 4 * KIB),
    ] {
        let found = bench.alone(Kind::Write, 64 * KIB + offset, bytes);
        let expected = 225 * US + 100 * US * fullest / (4 * KIB);
        assert_eq!(found.latency(), expected, "{bytes} bytes at {offset}: {:?}", found.blame);
    }
    // Through the controller all eight channels read, send, receive and program their pages.
    let controller = [gang(), vec![set("ftl.partial_writes", "controller")]].concat();
    let mut bench = Bench::filled(&controller);
    assert_eq!(bench.alone(Kind::Write, 0, 4 * KIB).latency(), 425 * US);
}

#[test]
fn rows_that_are_not_written_are_only_copied() {
    // Two rows of one page. Each is sensed and programmed; the written part crosses the channel.
    let mut bench = Bench::filled(&in_planes(&[set("ftl.unit", "8 KiB")]));
    for (offset, bytes, carried) in
        [(5 * KIB, KIB, 25 * US), (0, 2 * KIB, 50 * US), (3 * KIB, 2 * KIB, 50 * US)]
    {
        let found = bench.alone(Kind::Write, 16 * KIB + offset, bytes);
        assert_eq!(found.latency(), 2 * 225 * US + carried, "{:?}", found.blame);
    }
}

#[test]
fn what_was_copied_for_long_enough_is_corrected() {
    let limit =
        [set("ftl.gc.copy_back_most", 2), set("nand.decode", "7 us"), set("ftl.unit", "4 KiB")];
    let mut bench = Bench::filled(&in_planes(&limit));
    // Twice it stays; then the page goes out, is decoded and comes back; and so on.
    for turn in 0..7 {
        let found = bench.alone(Kind::Write, 0, KIB);
        let is_corrected = turn % 3 == 2;
        let expected = if is_corrected { 25 + 100 + 7 + 100 + 200 } else { 25 + 25 + 200 };
        assert_eq!(found.latency(), expected * US, "write {turn}: {:?}", found.blame);
        assert_eq!(found.of(State::Decode), if is_corrected { 7 * US } else { 0 });
    }
}

// ---- requests that wait for it ----------------------------------------------------------------

#[test]
fn another_part_of_the_unit_waits_for_the_first() {
    let mut bench = Bench::filled(&in_planes(&[]));
    let start = bench.settle();
    let first = bench.submit(start, Kind::Write, 0, KIB);
    let second = bench.submit(start, Kind::Write, 2 * KIB, KIB);
    let third = bench.submit(start, Kind::Write, KIB, KIB);
    bench.settle();
    for (tag, times) in [(first, 1), (second, 2), (third, 3)] {
        assert_eq!(bench.done(tag).latency(), times * 250 * US, "{:?}", bench.done(tag).blame);
    }
    assert_eq!(modifies(&bench), 3);
    let waits = bench.done(second).of(State::UnitHostProgram);
    assert_eq!(waits, 250 * US, "{:?}", bench.done(second).blame);
}

#[test]
fn a_read_waits_until_the_unit_is_whole_again() {
    for read_hits in [true, false] {
        let mut bench = Bench::filled(&in_planes(&[set("buffer.read_hits", read_hits)]));
        let start = bench.settle();
        bench.submit(start, Kind::Write, 0, KIB);
        let read = bench.submit(start + 10 * US, Kind::Read, 0, 4 * KIB);
        bench.settle();
        assert_eq!(bench.done(read).latency(), (240 + 125) * US, "{:?}", bench.done(read).blame);
    }
}

#[test]
fn what_is_overwritten_before_it_begins_senses_nothing() {
    let mut bench = Bench::filled(&in_planes(&[set("geometry.planes_per_die", 2)]));
    let start = bench.settle();
    let part = bench.submit(start, Kind::Write, 0, KIB);
    let follower = bench.submit(start, Kind::Write, KIB, KIB);
    let whole = bench.submit(start, Kind::Write, 0, 4 * KIB);
    bench.settle();
    // One operation a die at a time: the part, the whole, which waits for no part, and the
    // follower, of which nothing is left: it takes its kibibyte in 25 us and is programmed,
    // invalid.
    let ended = [part, whole, follower].map(|tag| bench.done(tag).latency());
    assert_eq!(ended, [250 * US, (250 + 300) * US, (550 + 25 + 200) * US]);
    assert_eq!(bench.done(follower).of(State::Sense), 0);
    // The newest data is there: the auditor compares it.
    assert_eq!(bench.alone(Kind::Read, 0, 4 * KIB).latency(), 125 * US);
}

#[test]
fn what_is_trimmed_meanwhile_has_no_rest() {
    let mut bench = Bench::filled(&in_planes(&[]));
    let start = bench.settle();
    // Another unit occupies the die, so that the partial write has not begun.
    bench.submit(start, Kind::Write, 64 * KIB, 4 * KIB);
    let part = bench.submit(start, Kind::Write, 0, KIB);
    let follower = bench.submit(start, Kind::Write, KIB, KIB);
    bench.submit(start + 10 * US, Kind::Trim, 0, 4 * KIB);
    bench.settle();
    // Nothing is sensed for invalid data.
    assert_eq!(bench.done(part).latency(), (300 + 25 + 200) * US);
    assert_eq!(bench.done(follower).latency(), (525 + 25 + 200) * US);
    assert_eq!([part, follower].map(|tag| bench.done(tag).of(State::Sense)), [0, 0]);
    assert_eq!(bench.device.ftl().lookup(Lpn(0)), None);
}

// ---- its place --------------------------------------------------------------------

#[test]
fn it_stays_in_its_plane() {
    let mut bench = Bench::filled(&in_planes(&[
        set("geometry.planes_per_die", 4),
        set("concurrency.read", "plane"),
        set("concurrency.program", "plane"),
        set("concurrency.erase", "plane"),
    ]));
    let plane = |bench: &Bench| {
        let layout = &bench.device.ftl().layout;
        layout.bin(layout.block(bench.device.ftl().lookup(Lpn(5)).unwrap()))
    };
    let at_first = plane(&bench);
    for _ in 0..40 {
        bench.alone(Kind::Write, 5 * 4 * KIB, KIB);
        assert_eq!(plane(&bench), at_first);
    }
    // Ten writes of every unit visit every plane.
    let mut seen: Vec<_> = (0..10)
        .map(|_| {
            bench.alone(Kind::Write, 5 * 4 * KIB, 4 * KIB);
            plane(&bench)
        })
        .collect();
    seen.sort_unstable();
    seen.dedup();
    assert_eq!(seen.len(), 4);
}

#[test]
fn rounds_take_it_along() {
    // Two planes, each with a part to write, in one round: both sense, the channel carries one
    // part after the other, and the round ends with the later one.
    let mut bench = Bench::filled(&in_planes(&[
        set("geometry.planes_per_die", 2),
        set("concurrency.read", "plane"),
        set("concurrency.program", "plane"),
        set("concurrency.erase", "plane"),
        set("ftl.gc.preemptible", false),
        set("scheduler.rounds", "{ unit = \"die\", collect = \"when-asked\" }"),
    ]));
    let start = bench.settle();
    // One occupies the die while two come.
    let first = bench.submit(start, Kind::Write, 0, KIB);
    let others = [1, 2].map(|unit| bench.submit(start, Kind::Write, unit * 4 * KIB, KIB));
    bench.settle();
    assert_eq!(bench.done(first).latency(), 250 * US);
    // Both planes have sensed at the same moment: the channel goes to the one that was asked for
    // first.
    let ended = others.map(|tag| bench.done(tag).latency());
    assert_eq!(ended, [500 * US, 525 * US]);
}

#[test]
fn what_the_controller_reads_and_what_stays_hold_the_same() {
    // The auditor knows what every unit must hold; the same writes in both ways, with collection.
    for way in ["plane", "controller"] {
        for seed in floor::seeds(0, 4) {
            let mut bench = Bench::filled(&[
                set("ftl.partial_writes", way),
                set("geometry.planes_per_die", 2),
                set("ftl.unit", "8 KiB"),
                set("ftl.gc.copy_back", true),
                set("ftl.gc.copy_back_most", 3),
            ]);
            let units = u64::from(bench.device.ftl().layout.host_units);
            let mut random = seed * 2 + 1;
            let mut next = |below: u64| {
                random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                (random >> 33) % below
            };
            let mut at = bench.settle();
            for _ in 0..1_500 {
                let (unit, sector) = (next(units), next(16));
                let bytes = (1 + next(16 - sector)) * 512;
                let kind = if next(8) == 0 { Kind::Read } else { Kind::Write };
                at += next(6_000) * US;
                bench.submit(at, kind, unit * 8 * KIB + sector * 512, bytes);
            }
            bench.settle();
            assert!(bench.device.ftl().tally.erases > 50, "seed {seed}");
            let count = modifies(&bench);
            assert_eq!(count > 1_000, way == "plane", "seed {seed}: {count}");
        }
    }
}

#[test]
fn a_drive_is_not_stuck_while_other_planes_have_space() {
    // Parts of the units of one plane wear that out first.
    for (streams, depth) in [("shared", 1), ("shared", 4), ("shared", 16), ("separate", 4)] {
        let mut bench = Bench::filled(&in_planes(&[
            set("geometry.planes_per_die", 2),
            set("concurrency.read", "plane"),
            set("concurrency.program", "plane"),
            set("concurrency.erase", "plane"),
            set("nand.endurance", 12),
            set("ftl.over_provisioning.reserved", "45 %"),
            set("ftl.allocation.streams", streams),
        ]));
        let units = u64::from(bench.device.ftl().layout.host_units);
        for number in 0..u64::MAX {
            while bench.device.outstanding() >= depth && bench.device.next_due().is_some() {
                bench.step();
            }
            if bench.device.outstanding() >= depth {
                break;
            }
            let at = bench.device.now().as_ns();
            let unit = match number % 10 {
                0 => number * 7 % units,
                _ => number * 7 % (units / 2) * 2,
            };
            bench.submit(at, Kind::Write, unit * 4 * KIB, KIB);
        }
        let ftl = bench.device.ftl();
        let rooms = [0, 1].map(|bin| ftl.room(BinId(bin), Stream::Host));
        assert_eq!(rooms, [0, 0], "{streams}, {depth} at a time: {}", bench.device.why_stuck());
    }
}

// ---- its conditions --------------------------------------------------------------------

#[test]
fn what_cannot_stay_in_its_planes_is_refused() {
    let text = "[[workload]]\nname = \"w\"\nreads = \"0 %\"\nstop = { requests = 1 }\n";
    for (more, word) in [
        (vec![set("buffer.durability", "volatile")], "durability"),
        (vec![set("ftl.unit", "2 KiB")], "unit"),
        (vec![set("ftl.allocation.bin", "die"), set("geometry.planes_per_die", 2)], "bin"),
        (vec![set("ftl.gc.streaming", true), set("geometry.packages_per_channel", 2)], "streaming"),
    ] {
        let problem = try_experiment(text, &in_planes(&more)).expect_err(word);
        assert!(problem.contains("drive.ftl.partial_writes"), "{problem}");
        assert!(problem.contains(word), "{problem}");
    }
    let sound = try_experiment(text, &in_planes(&[set("ftl.gc.copy_back_most", 1)]));
    assert!(sound.is_ok(), "{:?}", sound.err());
}
