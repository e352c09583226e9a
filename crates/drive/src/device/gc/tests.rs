//! The collector alone, with a space that the test has written.

use crate::device::Device;
use crate::device::flash::counters::OpKind;
use crate::device::flash::op::{Class, Owner};
use crate::device::flash::{Ask, Placement};
use crate::device::gc::gate::{Leave, Maintenance};
use crate::device::gc::why::Rest;
use engine::{Instant, Span};
use ftl::{BinChoice, BinId, BlockId, Level, Lpn, Untimed};
use host::{Command, Kind, Priority};
use metrics::Holder;

const DRIVE: &str = include_str!("../../../tests/drive/common/drive.toml");
const BIN: BinId = BinId(0);

/// A drive of one plane: 64 blocks of 16 units, 48 of them exported.
fn drive(settings: &[(&str, &str)]) -> Device {
    let workload =
        "[[workload]]\nname = \"none\"\nreads = \"100 %\"\nqueue_depth = 1\n[run]\nrequests = 1\n";
    let mut given: Vec<(String, String)> =
        settings.iter().map(|(key, value)| (format!("drive.{key}"), (*value).into())).collect();
    given.push(("drive.ftl.over_provisioning.reserved".into(), "25 %".into()));
    let (experiment, _) = crate::load::load(&format!("{DRIVE}{workload}"), "bench.toml", &given)
        .unwrap_or_else(|problems| panic!("{problems}"));
    Device::new(&experiment.drive, 1)
}

/// Writes units untimed, in order.
fn write(device: &mut Device, units: impl IntoIterator<Item = u32>) {
    let ftl = &mut device.base.space.ftl;
    let mut writer = Untimed::new(ftl, BinChoice::RoundRobin);
    units.into_iter().for_each(|lpn| writer.write(ftl, Lpn(lpn)).expect("it has space"));
    writer.flush(ftl).expect("it has space");
}

/// A drive that has just reached its threshold: block 5 has four valid units, all others more.
fn nearly_full(settings: &[(&str, &str)]) -> Device {
    let mut device = drive(settings);
    write(&mut device, 0..48 * 16);
    write(&mut device, 5 * 16..5 * 16 + 12);
    let mut others = (0..16).flat_map(|unit| (6..48).map(move |block| block * 16 + unit));
    while device.base.space.ftl.level(BIN) == Level::Ample {
        write(&mut device, others.next());
    }
    device
}

/// The operations of collection that are under way or wait.
fn asked(device: &Device) -> Vec<(OpKind, Class, BlockId, u32)> {
    let ops = device.base.flash.op_ids().into_iter().map(|id| device.base.flash.op(id));
    let mut found: Vec<_> = ops
        .filter(|op| op.is_collection())
        .map(|op| (op.kind, op.class, op.block, op.batch))
        .collect();
    found.sort_by_key(|(_, _, block, batch)| (block.0, *batch));
    found
}

#[test]
fn a_bin_with_space_is_left_alone() {
    let mut device = drive(&[]);
    write(&mut device, 0..100);
    device.gc.collect_if_needed(&mut device.base, BIN);
    assert!(device.base.time.agenda.is_empty());
    assert!(device.gc.is_idle(&device.base, BIN));
    // 100 units fill six blocks and open a seventh.
    assert_eq!(device.gc.why_rests(&device.base, BIN), Rest::Victim { free: 57, good: 64 });
}

#[test]
fn the_block_with_the_fewest_valid_units_is_read_first() {
    let mut device = nearly_full(&[]);
    device.gc.collect_if_needed(&mut device.base, BIN);
    // Its first valid unit is the thirteenth: those before were written again.
    assert_eq!(asked(&device), [(OpKind::Read, Class::Foreground, BlockId(5), 12)]);
    assert_eq!(device.gc.jobs[BIN].victim, Some(BlockId(5)));
}

#[test]
fn the_window_says_how_many_moves_are_under_way() {
    let mut device = nearly_full(&[("ftl.gc.window", "3")]);
    device.gc.collect_if_needed(&mut device.base, BIN);
    // One is running, two wait for the unit.
    let batches: Vec<u32> = asked(&device).into_iter().map(|(_, _, _, batch)| batch).collect();
    assert_eq!(batches, [12, 13, 14]);
}

#[test]
fn what_lies_in_front_of_the_bin_goes_on_by_its_class() {
    // Three blocks are free.
    let with_foreground = |foreground| {
        let three = "3 blocks";
        nearly_full(&[
            ("ftl.gc.foreground", foreground),
            ("ftl.gc.background", three),
            ("ftl.gc.stop", three),
        ])
    };
    let mut device = with_foreground("2 blocks");
    assert_eq!(device.base.class_of(BIN), Class::Background);
    // Debt brings it to the foreground.
    device.base.space.task_mut(BIN).debt = 1;
    assert_eq!(device.base.class_of(BIN), Class::Foreground);
    assert_eq!(with_foreground("3 blocks").base.class_of(BIN), Class::Foreground);
}

#[test]
fn a_victim_is_erased_when_its_last_unit_is_moved_and_its_last_reader_gone() {
    let mut device = nearly_full(&[]);
    // A host reads a unit of the victim. This keeps its block from being erased, but leaves the
    // unit free.
    device.base.space.ftl.begin_read(BlockId(5));
    device.gc.collect_if_needed(&mut device.base, BIN);
    device.advance(Instant::from_ns(u64::MAX >> 8));
    assert_eq!(device.base.flash.counters().commands(OpKind::Erase, Holder::Erase), 0);
    assert_eq!(device.base.space.task(BIN).draining, [BlockId(5)]);
    assert_eq!(device.gc.why_rests(&device.base, BIN), Rest::Readers(BlockId(5), 1));
    device.gc.unpin(&mut device.base, BlockId(5));
    assert_eq!(device.base.flash.counters().commands(OpKind::Erase, Holder::Erase), 1);
    assert!(device.base.space.task(BIN).draining.is_empty());
}

#[test]
fn a_host_program_in_a_paced_bin_owes_moves() {
    let mut device = nearly_full(&[
        ("ftl.gc.pacing", "\"proportional\""),
        ("ftl.gc.background", "\"2 blocks\""),
        ("ftl.gc.stop", "\"2 blocks\""),
    ]);
    let pace = 5;
    device.base.space.task_mut(BIN).pace = pace;
    let payload = device.base.flash.payloads.new_empty();
    let ask = Ask {
        slots: 0,
        kind: OpKind::Program,
        holder: Holder::HostProgram,
        owner: Owner::Flush(payload),
        class: Class::Write,
        bin: BIN,
        planes: 1,
        block: BlockId(0),
        batch: 0,
        row: 0,
        rows: 1,
        transfer: engine::Span::ZERO,
        bytes: 0,
    };
    device.base.space.promise(BIN, true);
    let id = device.base.flash.insert(&mut device.base.time, ask);
    let base = &mut device.base;
    let bound = base.flash.bind(&mut base.space, id);
    assert!(bound, "there is a page");
    assert_eq!(base.space.task(BIN).debt, pace as i32);
}

#[test]
fn a_collection_at_the_rate_of_hosts_moves_what_it_owes_and_rests() {
    let five = "\"5 blocks\"";
    let mut device = nearly_full(&[
        ("ftl.gc.pacing", "\"host-rate\""),
        ("ftl.gc.foreground", "\"1 blocks\""),
        ("ftl.gc.background", five),
        ("ftl.gc.stop", five),
    ]);
    let owing = |device: &mut Device, debt: i32| {
        device.base.space.task_mut(BIN).debt = debt;
        device.gc.collect_if_needed(&mut device.base, BIN);
        let until = device.base.time.now + Span::from_ms(100);
        device.advance(until);
        let ftl = &device.base.space.ftl;
        let victim = device.gc.jobs[BIN].victim.map(|block| block.0);
        (victim, ftl.valid_units(BlockId(5)), device.base.space.task(BIN).debt)
    };
    // It learns its price by the first victim, of which it moves the first of four units: four moves
    // gain twelve units.
    assert_eq!(owing(&mut device, 0), (Some(5), 3, -1));
    assert_eq!(device.base.space.ftl.price(BIN), 256 * 4 / 12);
    assert_eq!(device.gc.why_rests(&device.base, BIN), Rest::HostWrites);
    assert_eq!(owing(&mut device, 0), (Some(5), 3, 0), "it owes nothing");
    assert_eq!(owing(&mut device, 2), (Some(5), 1, 0));
    assert_eq!(owing(&mut device, 1), (Some(5), 0, 0), "the erase waits for the next debt");
    let erases =
        |device: &Device| device.base.flash.counters().commands(OpKind::Erase, Holder::Erase);
    assert_eq!(erases(&device), 0);
    // Six blocks are free then, more than the background threshold, so no other victim is chosen.
    assert_eq!(owing(&mut device, 1), (None, 0, 1));
    assert_eq!(erases(&device), 1);
}

#[test]
fn a_collection_without_operations_says_what_it_waits_for() {
    let mut device = drive(&[]);
    device.base.space.task_mut(BIN).deferred = vec![BlockId(3), BlockId(4)];
    assert_eq!(device.gc.why_rests(&device.base, BIN), Rest::Burst(2));
    device.gc.jobs[BIN].victim = Some(BlockId(9));
    assert_eq!(device.gc.why_rests(&device.base, BIN), Rest::Turn(BlockId(9)));
}

#[test]
fn the_gate_lets_a_unit_be_reserved_for_one_collection_at_a_time() {
    let mut device = drive(&[("ftl.gc.preemptible", "false")]);
    let Device { base, gc, .. } = &mut device;
    assert_eq!(gc.asks_leave(base, BIN, Maintenance::Collection), Leave::Go);
    gc.reserve(base, BIN);
    assert_eq!(gc.asks_leave(base, BIN, Maintenance::Collection), Leave::Queue);
    gc.unreserve(base, BIN);
    assert_eq!(gc.asks_leave(base, BIN, Maintenance::Collection), Leave::Go);
}

#[test]
fn the_gate_has_scrubbing_wait_for_a_collection_that_waits_for_channels() {
    let scrub = "{ interval = \"1 ms\", choice = \"oldest\" }";
    let mut device = drive(&[
        ("geometry.channels", "2"),
        ("ftl.gc.preemptible", "false"),
        ("ftl.gc.blocking", "controller"),
        ("ftl.scrub", scrub),
    ]);
    let Device { base, gc, .. } = &mut device;
    let (here, there) = (base.flash.place(BIN).channel, base.flash.place(BinId(1)).channel);
    assert_ne!(here, there);
    // Scrubbing of the other bin does not wait. Its channel is kept, so the collection waits for it.
    assert!(base.flash.claim(&mut base.time, &base.space, there, BinId(1)));
    assert_eq!(gc.asks_leave(base, BIN, Maintenance::Collection), Leave::Queue);
    assert!(base.flash.has_channel(here, BIN));
    assert_eq!(gc.asks_leave(base, BIN, Maintenance::Scrub), Leave::Queue);
    assert_eq!(gc.asks_leave(base, BinId(1), Maintenance::Scrub), Leave::Go);
    base.flash.give_channel_back(&mut base.time, &mut base.space, there, BinId(1));
    assert!(base.flash.has_channel(there, BIN));
    assert_eq!(gc.asks_leave(base, BIN, Maintenance::Collection), Leave::Go);
    assert_eq!(gc.asks_leave(base, BIN, Maintenance::Scrub), Leave::Go);
}

#[test]
fn the_gate_has_erases_wait_for_a_quiet_moment_but_no_more_than_a_few() {
    let batching = ("scheduler.erase_batching", "{ quiet = \"2 ms\", most = 3 }");
    let mut device = drive(&[batching, ("ftl.gc.stop", "5 blocks")]);
    let Device { base, gc, .. } = &mut device;
    let after = Leave::NotBefore(Instant::from_ns(2_000_000));
    assert_eq!(gc.asks_leave(base, BIN, Maintenance::Erase { waiting: 0 }), after);
    assert_eq!(gc.asks_leave(base, BIN, Maintenance::Erase { waiting: 1 }), after);
    assert_eq!(gc.asks_leave(base, BIN, Maintenance::Erase { waiting: 2 }), Leave::Go);
    assert_eq!(gc.asks_leave(base, BIN, Maintenance::Erases), Leave::Go, "no read since");
    // Debt brings GC to the foreground.
    base.space.task_mut(BIN).debt = 1;
    assert_eq!(gc.asks_leave(base, BIN, Maintenance::Erase { waiting: 0 }), Leave::Go);
}

/// Two planes of a die that works on one of them at a time. `reserve_until = "stop"` keeps the die
/// for one plane after the other, and for none once both have enough.
#[test]
fn a_reservation_until_the_stop_ends_with_the_collection() {
    let settings = [
        ("geometry.planes_per_die", "2"),
        ("concurrency.read", "die"),
        ("concurrency.program", "die"),
        ("concurrency.erase", "die"),
        ("ftl.gc.preemptible", "false"),
        ("ftl.gc.reserve_until", "stop"),
        ("ftl.gc.stop", "8 blocks"),
    ];
    let mut device = drive(&settings);
    let units = device.base.space.ftl.layout.host_units;
    write(&mut device, 0..units);
    let bins = [BinId(0), BinId(1)];
    let group = device.base.group_of(BIN);
    let mut needed = [0; 2];
    for round in 0..20 {
        // Units of all blocks in turn, two at a time: one to each plane.
        let mut pair = round * 50;
        while bins.iter().all(|bin| device.base.space.ftl.level(*bin) == Level::Ample) {
            pair += 1;
            write(&mut device, [0, 1].map(|plane| (pair * 34 + plane) % units));
        }
        for (bin, needed) in bins.iter().zip(&mut needed) {
            *needed += u32::from(device.base.space.ftl.level(*bin) != Level::Ample);
            device.gc.collect_if_needed(&mut device.base, *bin);
        }
        assert!(device.base.flash.is_reserved(group), "round {round}");
        device.advance(Instant::from_ns(u64::from(round + 1) * 10_000_000_000));
        assert!(!device.base.flash.is_reserved(group), "round {round}");
        for bin in bins {
            assert!(!device.base.flash.is_kept_for(bin), "round {round}");
            assert!(device.base.space.ftl.level(bin) == Level::Ample, "round {round}");
        }
    }
    assert!(needed.iter().all(|needed| *needed > 5), "{needed:?}");
}

/// A drive in which host data waits for space, and no block gains any but block 0, which is being
/// scrubbed: 15 of its 16 units are valid. One block is free.
fn scrubbed_without_space() -> Device {
    let mut device = drive(&[
        ("ftl.scrub.interval", "1 s"),
        ("ftl.scrub.choice", "oldest"),
        ("ftl.scrub.stream", "own"),
        ("ftl.scrub.task", "own"),
    ]);
    let invalidate = |device: &mut Device, blocks: std::ops::Range<u32>| {
        // Nothing collects them.
        blocks.clone().map(BlockId).for_each(|block| device.base.space.ftl.take_scrub(block));
        write(device, blocks.start * 16..blocks.end * 16);
    };
    // Two units hold no data yet. Two blocks are free, and an open one has two places left.
    write(&mut device, 0..766);
    invalidate(&mut device, 10..24);
    device.firmware_changed();
    device.gc.poll_when_possible(&mut device.base, BIN);
    assert_eq!(asked(&device), [(OpKind::Read, Class::Background, BlockId(0), 0)]);
    invalidate(&mut device, 24..25);
    write(&mut device, 0..1);
    device.base.space.place_homes();
    let now = device.now();
    for page in [766, 767] {
        let command = Command { kind: Kind::Write, offset: page * 4_096, bytes: 4_096 };
        device.submit(now, now, command, Priority::Normal, 0);
    }
    device
}

#[test]
fn scrubbing_goes_first_where_only_its_end_frees_space_that_hosts_wait_for() {
    let mut device = scrubbed_without_space();
    assert_eq!(device.base.space.class_of_scrubbing(BIN), Class::Background);
    while !device.base.space.task(BIN).scrub_goes_first {
        assert!(device.step().is_some(), "{}", device.why_stuck());
    }
    assert_eq!((device.outstanding(), device.base.space.ftl.free_blocks(BIN)), (1, 1));
    assert_eq!(device.base.space.class_of_scrubbing(BIN), Class::Foreground);
    // Collection leaves its space to it.
    device.gc.collect_if_needed(&mut device.base, BIN);
    assert_eq!(device.gc.jobs[BIN].victim, None);
    assert_eq!(device.gc.asks_leave(&mut device.base, BIN, Maintenance::Collection), Leave::Queue);
    while device.outstanding() > 0 {
        assert!(device.step().is_some(), "{}", device.why_stuck());
        let is_later = |(kind, ..): &(OpKind, Class, BlockId, u32)| *kind != OpKind::Read;
        let mut later = asked(&device).into_iter().filter(is_later);
        assert!(later.all(|(_, class, ..)| class == Class::Foreground));
    }
    let counts = device.scrub_counts().expect("it scrubs");
    assert_eq!((counts.taken, counts.blocks), (1, 1));
    assert_eq!(device.base.space.ftl.tally.units[ftl::Source::Scrub as usize], 15);
    assert!(!device.base.space.task(BIN).scrub_goes_first);
}

#[test]
fn a_poll_waits_while_space_is_short() {
    let mut device = nearly_full(&[
        ("ftl.scrub.interval", "1 s"),
        ("ftl.scrub.choice", "oldest"),
        ("ftl.scrub.stream", "own"),
        ("ftl.scrub.task", "own"),
    ]);
    device.firmware_changed();
    assert_eq!(device.base.space.ftl.level(BIN), Level::Foreground);
    device.gc.poll_when_possible(&mut device.base, BIN);
    assert_eq!(asked(&device), []);
    assert_eq!(device.scrub_counts().expect("it scrubs").polls, 0);
    // It comes when collection has freed a block.
    device.gc.collect_if_needed(&mut device.base, BIN);
    while device.scrub_counts().expect("it scrubs").polls == 0 {
        assert!(device.step().is_some());
    }
    assert_eq!(device.base.space.ftl.level(BIN), Level::Ample);
}
