//! Flash that fails. Planes of the drive of [`crate::detours`], in one or two groups of 8.

use crate::common::{Bench, Done, Override, set, try_experiment, try_run};
use crate::detours::{drive, first_of};
use engine::{Instant, Streams};
use ftl::{PoolId, StripeId};
use host::Kind;
use metrics::State;

const US: u64 = 1_000;
const PAGE: u64 = 4_096;
const SENSE: u64 = 25 * US;
const CARRY: u64 = 100 * US;
const XOR: u64 = 3 * US;

/// Two groups of 8 planes; each plane has `blocks` blocks of 8 pages, and 32 pages are its own.
pub fn two_groups(blocks: u32, more: &[Override]) -> Vec<Override> {
    let shape = [
        set("geometry.packages_per_channel", 2),
        set("geometry.blocks_per_plane", blocks),
        set("ftl.over_provisioning.exported", format!("{} B", 2 * 7 * 32 * PAGE)),
    ];
    drive(8, &[&shape[..], more].concat())
}

/// Lets a pool fail now.
fn fail(bench: &mut Bench, pool: u32) {
    let now = bench.device.now();
    bench.device.fail_at(now, format!("pool {pool}"), vec![PoolId(pool)]);
    bench.until(now.as_ns());
}

#[test]
fn a_failure_has_come_once_its_event_is_over() {
    let mut bench = Bench::filled(&drive(8, &[]));
    let now = bench.device.now();
    bench.device.fail_at(now, "pool 0".to_owned(), vec![PoolId(0)]);
    assert_eq!(bench.device.failures().count(), 0, "it is due, and a drive saved now has no fault");
    bench.until(now.as_ns());
    assert_eq!(bench.device.failures().count(), 1);
}

#[test]
fn a_lost_page_is_computed_from_the_rest_of_its_stripe() {
    let mut bench = Bench::filled(&drive(8, &[]));
    fail(&mut bench, 0);
    let done = bench.alone(Kind::Read, first_of(5), PAGE);
    assert_eq!((done.latency(), done.of(State::Xor)), (SENSE + CARRY + XOR, XOR));
    assert_eq!(bench.device.counters().computed_lost, 1);
    // The others are read as ever.
    assert_eq!(bench.alone(Kind::Read, first_of(5) + PAGE, PAGE).latency(), SENSE + CARRY);
    assert_eq!(bench.device.counters().computed_lost, 1);
    bench.finish();
}

/// Checks that no plane holds two members of a stripe.
fn assert_members_are_apart(bench: &Bench) {
    let ftl = bench.device.ftl();
    let stripes = ftl.layout.stripes.expect("there is parity");
    for stripe in (0..stripes.count()).map(StripeId) {
        let members = stripes.data(stripe).chain([stripes.parity(stripe)]);
        let pages = members.filter_map(|lpn| ftl.lookup(lpn)).filter(|ppn| !ftl.is_lost(*ppn));
        let mut bins: Vec<_> =
            pages.map(|ppn| ftl.layout.bin(ftl.layout.block_and_place(ppn).0)).collect();
        let members = bins.len();
        bins.sort_unstable();
        bins.dedup();
        assert_eq!(bins.len(), members, "{stripe:?}");
    }
}

/// Random commands, of which pool `pool` sees some when it fails.
fn at_random(seed: u64, overrides: &[Override], pages: u64, size: u64) {
    let mut bench = Bench::filled(overrides);
    let mut stream = Streams::new(seed).stream("commands");
    let mut under_way = Vec::new();
    for number in 0..3_000 {
        let now = bench.device.now().as_ns();
        if number == 1_000 {
            let at = Instant::from_ns(now + stream.below(500) * US);
            bench.device.fail_at(at, "pool 3".into(), vec![PoolId(3)]);
        }
        if number == 2_000
            && bench.device.rebuild().ended.is_some()
            && bench.device.lost_units() == 0
        {
            fail(&mut bench, 5);
        }
        let kind = match stream.below(8) {
            0 => Kind::Trim,
            1..=4 => Kind::Write,
            _ => Kind::Read,
        };
        let bytes = (1 + stream.below(3)) * size;
        let offset = (stream.below(pages * PAGE / size) * size).min(pages * PAGE - bytes);
        under_way.push(bench.submit(now + 20 * US, kind, offset, bytes));
        while under_way.len() >= 8 {
            assert!(bench.step(), "seed {seed}");
            under_way.retain(|tag| !bench.is_done(*tag));
        }
    }
    bench.settle();
    if let Some(progress) = bench.device.rebuild().began.map(|_| bench.device.rebuild()) {
        assert!(progress.lacks_room || bench.device.lost_units() == 0, "seed {seed}");
    }
    assert_members_are_apart(&bench);
    let counters = bench.device.counters();
    println!(
        "seed {seed}: {} computed, {} retried, {} without room",
        counters.computed_lost, counters.retried, counters.degraded
    );
    assert!(counters.computed_lost > 0);
    bench.finish();
}

#[test]
fn nothing_is_lost_if_a_plane_fails() {
    let always = "{ policy = 'reconstruct', convert = 'always' }";
    let tolerant = [set("buffer.durability", "capacitor"), set("ftl.parity.flush", "gc-tolerant")];
    let ways: [&[Override]; 6] = [
        &[],
        &[rebuilds(3)],
        &[set("buffer.durability", "volatile"), set("buffer.read_hits", "false")],
        &tolerant,
        &[set("scheduler.rotation", "rotating"), set("scheduler.read_routing", always)],
        &[set("scheduler.read_routing", "wait"), set("ftl.gc.preemptible", "true")],
    ];
    for (seed, way) in (floor::seed(1)..).zip(ways) {
        for size in [PAGE, PAGE / 4] {
            println!("way {seed}, {size} bytes");
            at_random(seed, &drive(8, way), 7 * 32, size);
            at_random(seed, &two_groups(12, way), 2 * 7 * 32, size);
            at_random(seed, &two_groups(16, way), 2 * 7 * 32, size);
        }
    }
}

/// Rebuilds lost data at once, `at_once` pages at a time.
fn rebuilds(at_once: u32) -> Override {
    set("ftl.parity.rebuild", format!("{{ policy = 'background', at_once = {at_once} }}"))
}

#[test]
fn what_is_rebuilt_is_read_as_ever() {
    let mut bench = Bench::filled(&two_groups(16, &[rebuilds(1)]));
    fail(&mut bench, 0);
    assert_eq!(bench.device.failures().map(|failure| failure.lost).sum::<u64>(), 32);
    bench.settle();
    assert_members_are_apart(&bench);
    let progress = bench.device.rebuild();
    assert_eq!((progress.units, progress.lacks_room), (32, false));
    // One page after the other: it is read, computed, and programmed.
    let took = progress.ended.unwrap() - progress.began.unwrap();
    assert_eq!(took.as_ns(), 32 * (SENSE + CARRY + XOR + CARRY + 200 * US));
    assert_eq!(bench.device.lost_units(), 0);
    assert_eq!(bench.alone(Kind::Read, first_of(10), PAGE).latency(), SENSE + CARRY);
    assert_eq!(bench.device.counters().computed_lost, 0);
    bench.finish();
}

#[test]
fn a_rebuild_keeps_to_its_rate_and_to_what_its_planes_allow() {
    // A page of 4 KiB in 2 ms; the last one is begun after 31 such times.
    let slow = set("ftl.parity.rebuild", "{ policy = 'background', rate = '2 MiB/s' }");
    let fast = rebuilds(32);
    let times = [slow, fast].map(|rebuild| {
        let mut bench = Bench::filled(&two_groups(16, &[rebuild]));
        fail(&mut bench, 0);
        bench.settle();
        let progress = bench.device.rebuild().clone();
        assert_eq!(progress.units, 32);
        bench.finish();
        (progress.ended.unwrap() - progress.began.unwrap()).as_ns()
    });
    let period = 4_096 * 1_000_000_000 / (2 << 20);
    assert_eq!(times[0], 31 * period + SENSE + CARRY + XOR + CARRY + 200 * US);
    // Each of the 7 others of the group is read 32 times, and each channel carries that.
    assert!(times[1] >= 32 * (SENSE + CARRY) && times[1] < times[0] / 4, "{}", times[1]);
}

#[test]
fn a_drive_without_room_stays_degraded() {
    // One group: no plane holds no other member of a stripe.
    let mut bench = Bench::filled(&drive(8, &[rebuilds(4)]));
    fail(&mut bench, 0);
    bench.settle();
    let progress = bench.device.rebuild();
    assert_eq!((progress.units, progress.lacks_room, progress.ended.is_some()), (0, true, true));
    assert_eq!(bench.device.lost_units(), 32);
    // New data is where parity tells it.
    let before = bench.device.counters().degraded;
    bench.alone(Kind::Write, first_of(5), PAGE);
    bench.settle();
    assert_eq!(bench.device.counters().degraded, before + 1);
    assert_eq!(bench.alone(Kind::Read, first_of(5), PAGE).latency(), SENSE + CARRY + XOR);
    bench.finish();
}

#[test]
fn planes_that_fail_one_after_the_other_are_rebuilt() {
    // A plane of the other group can hold 32 pages more, so 8 of them two planes.
    let mut bench = Bench::filled(&two_groups(16, &[rebuilds(4)]));
    for (pool, units) in [(0, 32), (1, 32), (9, 32 + 8)] {
        fail(&mut bench, pool);
        let lost = bench.device.failures().last().unwrap().lost;
        // A plane of the second group has guests of the first: of 64 pages on 8 planes, 8.
        assert!(lost >= units.min(33), "{lost} units were on plane {pool}");
        bench.settle();
        assert_eq!(bench.device.lost_units(), 0, "after plane {pool}");
        assert_members_are_apart(&bench);
    }
    bench.finish();
}

/// The end of a run of random reads and writes in which planes 0 and 2 fail, the first ones of the two
/// channels and of one group.
fn end_of(first: &str, second: &str, more: &[Override]) -> Result<drive::Run, String> {
    let failures = format!("[{{ at = '{first}', plane = 0 }}, {{ at = '{second}', plane = 2 }}]");
    let overrides = two_groups(16, &[&[set("run.failures", failures)], more].concat());
    let load = "[[workload]]\nname = \"host\"\nreads = \"50 %\"\naddresses = \"uniform\"\n\
                size = \"1 KiB\"\nalign = \"1 KiB\"\nqueue_depth = 8\n[run]\nrequests = 2000\n";
    try_run(&try_experiment(load, &overrides)?)
}

#[test]
fn two_members_of_a_stripe_are_beyond_repair() {
    let filled = set("precondition.fill", "sequential");
    for rebuild in [set("ftl.parity.rebuild", "none"), rebuilds(1)] {
        let ended = end_of("1 ms", "2 ms", &[filled.clone(), rebuild]);
        let fault = ended.err().expect("data is lost");
        assert!(fault.contains("at 2 ms two members of stripe"), "{fault}");
    }
    // The first is rebuilt in 32 times 428 us, if hosts do not delay it.
    let rebuilt = end_of("1 ms", "1 s", &[filled, rebuilds(8)]);
    assert!(rebuilt.is_ok(), "{:?}", rebuilt.err());
}

#[test]
fn two_members_are_not_written_to_parity_alone() {
    // Nothing is lost when the planes of an empty drive fail, but there is one group, and no other
    // plane.
    let mut bench = Bench::new(&drive(8, &[]));
    fail(&mut bench, 0);
    fail(&mut bench, 1);
    assert_eq!((bench.device.lost_units(), bench.device.data_loss()), (0, None));
    let now = bench.device.now().as_ns();
    bench.submit(now, Kind::Write, 0, 7 * PAGE);
    while bench.step() {}
    let loss = bench.device.data_loss().expect("neither page is anywhere");
    assert!(loss.contains("two members of stripe 0 were lost"), "{loss}");
}

#[test]
fn room_of_trimmed_guests_is_free_again() {
    let mut bench = Bench::filled(&two_groups(16, &[rebuilds(4)]));
    fail(&mut bench, 0);
    bench.settle();
    // 16 times as many pages as the other planes have room for, one stripe after the other.
    for _ in 0..16 {
        for stripe in (0..64).step_by(2) {
            bench.alone(Kind::Trim, first_of(stripe), 7 * PAGE);
            bench.settle();
            bench.alone(Kind::Write, first_of(stripe), 7 * PAGE);
            bench.settle();
        }
    }
    assert_eq!(bench.device.counters().degraded, 0);
    bench.finish();
}

#[test]
fn of_64_planes_one_that_fails_costs_its_group_as_many_reads_again() {
    let shape = [
        set("geometry.packages_per_channel", 8),
        set("ftl.over_provisioning.exported", format!("{} B", 8 * 7 * 32 * PAGE)),
    ];
    let mut bench = Bench::filled(&drive(8, &shape));
    fail(&mut bench, 5 * 8);
    let pages = 8 * 7 * 32;
    for page in 0..pages {
        bench.alone(Kind::Read, page * PAGE, PAGE);
    }
    assert_eq!(bench.device.counters().computed_lost * 64, pages);
    let reads: Vec<u64> =
        bench.device.unit_busy().iter().map(|busy| busy.as_ns() / (SENSE + CARRY)).collect();
    for (plane, reads) in reads.into_iter().enumerate() {
        // Pool 40 is plane 0 of the sixth chip; its group has a plane of each channel.
        let expected = match (plane / 8, plane % 8) {
            (0, 5) => 0,
            (_, 5) => 2 * 28,
            _ => 28,
        };
        assert_eq!(reads, expected, "plane {plane}");
    }
    bench.finish();
}

/// Two reads of a host 10 us after the beginning of a rebuild: of the third plane, which reads for it
/// and whose channel then carries that for 100 us; and of the other plane on that channel, which is of
/// the other group.
pub fn reads_beside_a_rebuild() -> [Done; 2] {
    let mut bench = Bench::filled(&two_groups(16, &[rebuilds(32)]));
    fail(&mut bench, 0);
    let now = bench.device.now().as_ns() + 10 * US;
    let reads =
        [0, 1].map(|stripe| bench.submit(now, Kind::Read, first_of(stripe) + 2 * PAGE, PAGE));
    while !reads.iter().all(|read| bench.is_done(*read)) {
        bench.step();
    }
    let done = reads.map(|read| bench.done(read).clone());
    bench.settle();
    bench.finish();
    done
}
