//! Each cause that a request can be blamed on, in a scene made for it. The expected blame of each
//! scene is calculated beside it, to the nanosecond; the whole blame is compared, so that no other
//! cause may be charged.

use crate::common::{Bench, Done, Override, experiment, run, set, stats};
use crate::parity;
use crate::poised::{self, PAGE, page, poised};
use engine::Streams;
use ftl::Lpn;
use host::{Command, Kind, Priority};
use metrics::State;
use std::cell::Cell;

const US: u64 = 1_000;
/// Phases of the drives here: 4 KiB cross the channel in 100 us.
const SENSE: (State, u64) = (State::Sense, 25 * US);
const TRANSFER: (State, u64) = (State::Transfer, 100 * US);
const PROGRAM: (State, u64) = (State::Program, 200 * US);

thread_local! {
    /// States that [`expect`] has seen charged in this test, as bits.
    static SEEN: Cell<u64> = const { Cell::new(0) };
}

/// Checks the whole blame of a command, in nanoseconds, and so its latency.
#[track_caller]
fn expect(done: &Done, blame: &[(State, u64)]) {
    let mut blame = blame.to_vec();
    blame.sort_by_key(|(state, _)| *state as u32);
    assert_eq!(done.blame, blame, "{:?}", done.command);
    assert_eq!(done.latency(), blame.iter().map(|(_, ns)| ns).sum::<u64>());
    let states = blame.iter().fold(0, |states, (state, _)| states | 1u64 << *state as u32);
    SEEN.set(SEEN.get() | states);
}

/// Two dies on a channel, or on one each, with a pool for each: page 2n lies on
/// die 0, page 2n + 1 on die 1.
fn two_dies(channels: u32) -> Vec<Override> {
    vec![
        set("geometry.channels", channels),
        set("geometry.dies_per_package", 2 / channels),
        set("ftl.allocation.pool", "die"),
    ]
}

/// Pages and units of 16 KiB: a write of 4 KiB reads the rest first (25 + 400 us)
/// and takes 400 + 200 us to be programmed.
fn large_pages() -> [Override; 2] {
    [set("geometry.page_size", "16 KiB"), set("ftl.unit", "16 KiB")]
}

// ---- every state has its scene ------------------------------------------------

/// The test that shows a state.
fn scene(state: State) -> fn() {
    match state {
        State::UnitHostRead => a_unit_occupied_by_a_host_read,
        State::UnitHostProgram => a_unit_occupied_by_a_host_program,
        State::UnitRmwRead => a_unit_occupied_by_the_read_before_a_partial_write,
        State::UnitReRead | State::ReRead => a_unit_occupied_by_a_re_read,
        State::ChannelReRead => a_channel_that_carries_a_re_read,
        State::UnitGcRead => a_unit_occupied_by_collection,
        State::UnitGcProgram => a_unit_occupied_by_a_copy_back,
        State::UnitErase => a_write_waits_for_a_whole_foreground_gc,
        State::UnitScrub => a_unit_occupied_by_scrubbing,
        State::ChannelScrub => a_channel_that_carries_scrubbed_data,
        State::UnitParity => a_unit_occupied_by_a_read_for_parity,
        State::ChannelParity => a_channel_that_carries_data_for_parity,
        State::UnitRebuild | State::ChannelRebuild => reads_that_wait_for_a_rebuild,
        State::Xor => a_write_whose_parity_is_computed,
        State::ChannelHostRead => a_channel_that_carries_a_host_read,
        State::ChannelHostProgram => a_channel_that_carries_host_data_in,
        State::ChannelRmwRead => a_channel_that_carries_the_read_before_a_partial_write,
        State::ChannelGcRead | State::ChannelGcProgram => a_channel_that_carries_collected_data,
        State::ChannelCommand => a_channel_that_carries_the_command_of_an_erase,
        State::Suspended => a_suspended_program,
        State::Reserved => an_idle_plane_reserved_for_collection,
        State::Order => an_idle_plane_withheld_for_an_older_program,
        State::QueueDepth => a_queue_that_is_full,
        State::PowerOff => a_drive_that_is_off,
        State::HostRoom | State::HostTurn => a_write_that_the_host_keeps_back,
        State::HostCache => a_write_to_the_cache_of_the_host,
        State::HedgeDelay => a_read_that_a_hedge_answers,
        State::TaskLimit => a_rebuild_that_waits_for_tasks,
        State::BufferFull => a_batch_that_waits_to_be_full,
        State::SpaceGcRead | State::SpaceGcProgram | State::SpaceErase => {
            a_write_without_space_waits_for_what_collection_does
        }
        State::Pressure => a_write_behind_the_limit_of_programs,
        State::SpaceIdle => a_write_without_space_waits_for_a_trim,
        State::LinkBusy => a_link_busy_with_others,
        State::Link | State::Firmware | State::Sense | State::Transfer | State::Decode => {
            a_read_is_served
        }
        State::Program => a_write_is_served_by_flash,
        State::BufferBusy => a_buffer_busy_with_others,
        State::Buffer => the_buffer_serves_writes_and_reads,
    }
}

#[test]
fn every_state_has_a_scene_that_shows_it() {
    for state in State::ALL {
        SEEN.set(0);
        scene(state)();
        assert!(SEEN.get() >> state as u32 & 1 == 1, "{} is not shown", state.name());
    }
}

// ---- several drives ----------------------------------------------------------------

#[test]
fn a_write_that_the_host_keeps_back() {
    let waits = [(State::HostRoom, 10_300 * US), (State::HostTurn, 300 * US)];
    let write = crate::array::a_write_that_waits_for_room_and_its_turn();
    expect(&write, &[waits[0], waits[1], TRANSFER, PROGRAM]);
}

#[test]
fn a_write_to_the_cache_of_the_host() {
    expect(&crate::array::a_write_to_the_cache(), &[(State::HostCache, US)]);
}

#[test]
fn a_read_that_a_hedge_answers() {
    let delay = (State::HedgeDelay, 10 * US);
    expect(&crate::array::a_read_that_a_hedge_answers(), &[delay, SENSE, TRANSFER]);
}

// ---- failed flash ------------------------------------------------------------------

#[test]
fn reads_that_wait_for_a_rebuild() {
    let [on_its_plane, on_its_channel] = crate::failing::reads_beside_a_rebuild();
    let own = [(State::Sense, 25_000), (State::Transfer, 100_000)];
    // The other one has the channel from 125 to 225 us.
    let waits = [(State::UnitRebuild, 115_000), (State::ChannelHostRead, 75_000)];
    expect(&on_its_plane, &[own[0], own[1], waits[0], waits[1]]);
    expect(&on_its_channel, &[own[0], own[1], (State::ChannelRebuild, 90_000)]);
}

// ---- errors ------------------------------------------------------------------------

/// Every page takes one re-read. Page 0 is read from 0 to 125 us, and again from 135 to 260.
#[test]
fn a_rebuild_that_waits_for_tasks() {
    // One task reads seven members, and thinks for 20 us after each. The page itself was read before.
    let waits = (State::TaskLimit, 6 * (125 + 20) * US);
    let own = [(State::Sense, 50 * US), (State::Transfer, 200 * US), (State::Decode, 20 * US)];
    let expected = [waits, own[0], own[1], own[2], (State::Xor, 3 * US)];
    expect(&crate::tasks::rebuilt_by_one_task(), &expected);
}

fn beside_a_re_read(at: u64, page: u64) -> Done {
    let mut bench = Bench::filled(&[&two_dies(1)[..], &crate::errors::errors(150.5, 0.0)].concat());
    bench.submit(0, Kind::Read, 0, PAGE);
    let read = bench.submit(at * US, Kind::Read, page * PAGE, PAGE);
    bench.settle();
    bench.done(read).clone()
}

/// Decoded in vain and then not, after the same read again.
const AGAIN: [(State, u64); 2] = [(State::Decode, 20 * US), (State::ReRead, 125 * US)];

#[test]
fn a_unit_occupied_by_a_re_read() {
    let waits = (State::UnitReRead, 120 * US);
    expect(&beside_a_re_read(140, 2), &[waits, SENSE, TRANSFER, AGAIN[0], AGAIN[1]]);
}

#[test]
fn a_channel_that_carries_a_re_read() {
    let waits = (State::ChannelReRead, 85 * US);
    expect(&beside_a_re_read(150, 1), &[waits, SENSE, TRANSFER, AGAIN[0], AGAIN[1]]);
}

// ---- suspension --------------------------------------------------------------------

/// A program from 100 to 300 us in four steps: at 220 the third has executed 15 us. It recovers for
/// 10; after the read it verifies for 5 and does its last two steps.
#[test]
fn a_suspended_program() {
    let steps = "{ steps = 4, ramp = \"5 us\", recover = \"10 us\", verify = \"5 us\" }";
    let scheme = [set("nand.program_steps", steps), set("scheduler.program_suspension", "i-es")];
    let mut bench = Bench::filled(&scheme);
    let write = bench.submit(0, Kind::Write, 20 * PAGE, PAGE);
    let read = bench.submit(220 * US, Kind::Read, PAGE, PAGE);
    bench.settle();
    expect(bench.done(read), &[(State::Suspended, 10 * US), SENSE, TRANSFER]);
    let suspended_for = 355 - 220 + 5 + 100 - 80;
    expect(bench.done(write), &[(State::Suspended, suspended_for * US), PROGRAM, TRANSFER]);
}

// ---- scrubbing --------------------------------------------------------------------

/// A first poll at 10 ms begins with a page of block 0 on die 0, which is sensed for 25 us and then
/// transferred for 100.
fn scrubbed() -> [Override; 2] {
    [set("ftl.scrub.interval", "10 ms"), set("ftl.scrub.choice", "oldest")]
}

#[test]
fn a_unit_occupied_by_scrubbing() {
    let mut bench = Bench::filled(&scrubbed());
    let read = bench.submit(10_050 * US, Kind::Read, 400 * PAGE, PAGE);
    bench.until(11_000 * US);
    let read = bench.done(read).clone();
    expect(&read, &[(State::UnitScrub, 75 * US), SENSE, TRANSFER]);
}

#[test]
fn a_channel_that_carries_scrubbed_data() {
    let mut bench = Bench::filled(&[&two_dies(1)[..], &scrubbed()].concat());
    let read = bench.submit(10_010 * US, Kind::Read, PAGE, PAGE);
    bench.until(11_000 * US);
    let read = bench.done(read).clone();
    expect(&read, &[SENSE, (State::ChannelScrub, 90 * US), TRANSFER]);
}

// ---- parity -----------------------------------------------------------------------

/// A page other than page 7 on the same channel: on the same die, or on another one.
fn beside_page_7(bench: &Bench, same_die: bool) -> u64 {
    let layout = &bench.device.ftl().layout;
    let pool = |lpn| layout.pool(Lpn(lpn)).0;
    let fits = |lpn: &u32| pool(*lpn) % 8 == pool(7) % 8 && (pool(*lpn) == pool(7)) == same_die;
    u64::from((8..layout.host_units).find(fits).expect("there is one"))
}

/// The write of page 7 reads its old data and the parity of its stripe from the beginning: they are
/// sensed until 25 us, and then transferred until 125.
fn beside_a_read_for_parity(same_die: bool) -> Done {
    let mut bench = Bench::filled(&parity::drive(&[set("geometry.dies_per_package", 2)]));
    let beside = beside_page_7(&bench, same_die);
    bench.submit(0, Kind::Write, 7 * PAGE, PAGE);
    let read = bench.submit(10 * US, Kind::Read, beside * PAGE, PAGE);
    bench.settle();
    bench.done(read).clone()
}

#[test]
fn a_unit_occupied_by_a_read_for_parity() {
    expect(&beside_a_read_for_parity(true), &[(State::UnitParity, 115 * US), SENSE, TRANSFER]);
}

#[test]
fn a_channel_that_carries_data_for_parity() {
    expect(&beside_a_read_for_parity(false), &[SENSE, (State::ChannelParity, 90 * US), TRANSFER]);
}

#[test]
fn a_write_whose_parity_is_computed() {
    let mut bench = Bench::filled(&parity::drive(&[set("ftl.parity.xor", "7 us")]));
    let write = bench.alone(Kind::Write, 7 * PAGE, PAGE);
    let both = (State::Transfer, 200 * US);
    expect(&write, &[SENSE, both, (State::Xor, 7 * US), PROGRAM]);
}

// ---- service --------------------------------------------------------------------

/// A drive on which link, firmware, buffer and decoder take time.
fn with_surroundings(durability: &str) -> Vec<Override> {
    vec![
        set("buffer.durability", durability),
        set("buffer.latency", "2 us"),
        set("nand.decode", "7 us"),
        set("link.rate", "1 GB/s"),
        set("firmware.read", "3 us"),
        set("firmware.write", "5 us"),
        set("firmware.trim", "11 us"),
        set("firmware.flush", "13 us"),
    ]
}

const LINK: (State, u64) = (State::Link, 4_096);

#[test]
fn a_read_is_served() {
    let mut bench = Bench::filled(&with_surroundings("none"));
    let firmware = (State::Firmware, 3 * US);
    let decode = (State::Decode, 7 * US);
    let read = bench.alone(Kind::Read, 0, PAGE);
    expect(&read, &[firmware, SENSE, TRANSFER, decode, LINK]);
}

#[test]
fn a_write_is_served_by_flash() {
    let mut bench = Bench::filled(&with_surroundings("none"));
    let write = bench.alone(Kind::Write, 0, PAGE);
    expect(&write, &[LINK, (State::Firmware, 5 * US), TRANSFER, PROGRAM]);
    // Neither transfers data over the link, and neither has any work to do.
    expect(&bench.alone(Kind::Trim, 0, PAGE), &[(State::Firmware, 11 * US)]);
    expect(&bench.alone(Kind::WriteZeroes, 0, PAGE), &[(State::Firmware, 11 * US)]);
    expect(&bench.alone(Kind::Flush, 0, 0), &[(State::Firmware, 13 * US)]);
}

#[test]
fn the_buffer_serves_writes_and_reads() {
    let mut bench = Bench::filled(&with_surroundings("capacitor"));
    let buffer = (State::Buffer, 2 * US);
    let write = bench.submit(0, Kind::Write, 0, PAGE);
    // Taken in at 9.1 us; on flash after another 300.
    let read = bench.submit(50 * US, Kind::Read, 0, PAGE);
    bench.settle();
    expect(bench.done(write), &[LINK, (State::Firmware, 5 * US), buffer]);
    expect(bench.done(read), &[(State::Firmware, 3 * US), buffer, LINK]);
}

#[test]
fn a_buffer_busy_with_others() {
    let serial = [&with_surroundings("capacitor")[..], &[set("buffer.serial", true)]].concat();
    let mut bench = Bench::filled(&serial);
    let buffer = (State::Buffer, 2 * US);
    // A write comes to the buffer 5 us after it has crossed the link, and two reads 0.5 and 1 us
    // after it. The second also waits until the first has crossed the link.
    let (_, link) = LINK;
    let write = bench.submit(0, Kind::Write, 0, PAGE);
    let reads = [2_500, 3_000].map(|at| bench.submit(link + at, Kind::Read, 0, PAGE));
    bench.settle();
    expect(bench.done(write), &[LINK, (State::Firmware, 5 * US), buffer]);
    let firmware = (State::Firmware, 3 * US);
    let waits = (State::BufferBusy, 1_500);
    expect(bench.done(reads[0]), &[firmware, waits, buffer, LINK]);
    let waits = [(State::BufferBusy, 3_000), (State::LinkBusy, link - 2 * US)];
    expect(bench.done(reads[1]), &[firmware, waits[0], buffer, waits[1], LINK]);
}

// ---- units ----------------------------------------------------------------------

#[test]
fn a_unit_occupied_by_a_host_read() {
    let mut bench = Bench::filled(&[]);
    bench.submit(0, Kind::Read, 0, PAGE);
    let second = bench.submit(10 * US, Kind::Read, PAGE, PAGE);
    bench.settle();
    // The unit is occupied to the end of the transfer, at 125 us.
    expect(bench.done(second), &[(State::UnitHostRead, 115 * US), SENSE, TRANSFER]);
}

#[test]
fn a_unit_occupied_by_a_host_program() {
    for durability in ["none", "capacitor"] {
        let mut bench = Bench::filled(&[set("buffer.durability", durability)]);
        bench.submit(0, Kind::Write, 0, PAGE);
        let read = bench.submit(50 * US, Kind::Read, PAGE, PAGE);
        bench.settle();
        expect(bench.done(read), &[(State::UnitHostProgram, 250 * US), SENSE, TRANSFER]);
    }
}

#[test]
fn a_unit_occupied_by_the_read_before_a_partial_write() {
    let mut bench = Bench::filled(&large_pages());
    let write = bench.submit(0, Kind::Write, 0, PAGE);
    let read = bench.submit(10 * US, Kind::Read, 64 * 1024, PAGE);
    bench.settle();
    // The rest is there at 425 us; the read then goes before the program, to 850.
    let long = (State::Transfer, 400 * US);
    expect(bench.done(read), &[(State::UnitRmwRead, 415 * US), SENSE, long]);
    let both = (State::Transfer, 800 * US);
    let behind = (State::UnitHostRead, 425 * US);
    expect(bench.done(write), &[SENSE, behind, both, PROGRAM]);
}

#[test]
fn the_read_before_a_partial_write_waits_for_a_unit_too() {
    let mut bench = Bench::filled(&large_pages());
    bench.submit(0, Kind::Read, 64 * 1024, PAGE);
    let write = bench.submit(10 * US, Kind::Write, 0, PAGE);
    bench.settle();
    let both = (State::Transfer, 800 * US);
    expect(bench.done(write), &[(State::UnitHostRead, 415 * US), SENSE, both, PROGRAM]);
}

/// A command `after` the write that starts collection. The unit of die 0 then runs the write to 300
/// us, GC's read to 425 (on the channel from 325), its program to 725 (on the channel to 525), and
/// the erase to 2225.
fn beside_collection(overrides: &[Override], after: u64, kind: Kind, offset: u64) -> (Bench, Done) {
    let (mut bench, start) = poised(overrides);
    let trigger = bench.submit(start, Kind::Write, page(0, 5), PAGE);
    let tag = bench.submit(start + after, kind, offset, PAGE);
    bench.settle();
    expect(bench.done(trigger), &[TRANSFER, PROGRAM]);
    let done = bench.done(tag).clone();
    (bench, done)
}

#[test]
fn a_unit_occupied_by_collection() {
    for (after, wait) in [
        (310 * US, (State::UnitGcRead, (425 - 310) * US)),
        (430 * US, (State::UnitGcProgram, (725 - 430) * US)),
        (800 * US, (State::UnitErase, (2_225 - 800) * US)),
    ] {
        let (_, read) = beside_collection(&[], after, Kind::Read, page(0, 12));
        expect(&read, &[wait, SENSE, TRANSFER]);
    }
}

#[test]
fn a_unit_occupied_by_a_copy_back() {
    // Sense and program from 300 to 525 us.
    let overrides = [set("ftl.gc.copy_back", true)];
    let (_, read) = beside_collection(&overrides, 310 * US, Kind::Read, page(0, 12));
    expect(&read, &[(State::UnitGcProgram, (525 - 310) * US), SENSE, TRANSFER]);
}

#[test]
fn a_write_waits_for_a_whole_foreground_gc() {
    let (_, write) = beside_collection(&[], 310 * US, Kind::Write, page(0, 12));
    let waits = [
        (State::UnitGcRead, (425 - 310) * US),
        (State::UnitGcProgram, 300 * US),
        (State::UnitErase, 1_500 * US),
    ];
    expect(&write, &[&waits[..], &[TRANSFER, PROGRAM]].concat());
}

// ---- channels ---------------------------------------------------------------------

#[test]
fn a_channel_that_carries_a_host_read() {
    let mut bench = Bench::filled(&two_dies(1));
    bench.submit(0, Kind::Read, 0, PAGE);
    let read = bench.submit(0, Kind::Read, PAGE, PAGE);
    let write = bench.submit(0, Kind::Write, 3 * PAGE, PAGE);
    bench.settle();
    expect(bench.done(read), &[SENSE, (State::ChannelHostRead, 100 * US), TRANSFER]);
    // The write waits for the unit that the second read occupies until 225 us.
    expect(bench.done(write), &[(State::UnitHostRead, 225 * US), TRANSFER, PROGRAM]);
}

#[test]
fn a_channel_that_carries_host_data_in() {
    let mut bench = Bench::filled(&two_dies(1));
    bench.submit(0, Kind::Write, 0, PAGE);
    let read = bench.submit(10 * US, Kind::Read, PAGE, PAGE);
    bench.settle();
    // Sensed at 35 us, the channel is free at 100.
    expect(bench.done(read), &[SENSE, (State::ChannelHostProgram, 65 * US), TRANSFER]);
}

#[test]
fn a_program_waits_for_its_channel_without_its_unit() {
    let mut bench = Bench::filled(&two_dies(1));
    bench.submit(0, Kind::Write, 0, PAGE);
    let write = bench.submit(10 * US, Kind::Write, PAGE, PAGE);
    // Its turn comes at 100 us; the read has occupied the unit at 50, is sensed at 75, and its data
    // goes before the write's.
    let read = bench.submit(50 * US, Kind::Read, 3 * PAGE, PAGE);
    bench.settle();
    expect(bench.done(read), &[SENSE, (State::ChannelHostProgram, 25 * US), TRANSFER]);
    // To 50 us the channel carries the first write, then the read occupies the unit.
    let waits = [(State::ChannelHostProgram, 40 * US), (State::UnitHostRead, 150 * US)];
    expect(bench.done(write), &[&waits[..], &[TRANSFER, PROGRAM]].concat());
}

#[test]
fn a_channel_that_carries_the_read_before_a_partial_write() {
    let mut bench = Bench::filled(&[&two_dies(1)[..], &large_pages()].concat());
    bench.submit(0, Kind::Write, 0, PAGE);
    let read = bench.submit(10 * US, Kind::Read, 16 * 1024, PAGE);
    bench.settle();
    // Both are sensed, at 25 and at 35 us; the first is transferred until 425.
    let wait = (State::ChannelRmwRead, 390 * US);
    expect(bench.done(read), &[SENSE, wait, (State::Transfer, 400 * US)]);
}

#[test]
fn a_channel_that_carries_collected_data() {
    for (after, wait) in [
        (310 * US, (State::ChannelGcRead, (425 - 335) * US)),
        (430 * US, (State::ChannelGcProgram, (525 - 455) * US)),
    ] {
        let (_, read) = beside_collection(&[], after, Kind::Read, page(1, 12));
        expect(&read, &[SENSE, wait, TRANSFER]);
    }
}

/// The erase's command occupies the channel from 725 us on for 100; the read of the other die
/// begins only then.
#[test]
fn a_channel_that_carries_the_command_of_an_erase() {
    let cycles = "{ read = \"0 us\", program = \"0 us\", erase = \"100 us\" }";
    let cycles = [set("nand.command_cycles", cycles)];
    let (_, read) = beside_collection(&cycles, 750 * US, Kind::Read, page(1, 12));
    expect(&read, &[(State::ChannelCommand, 75 * US), SENSE, TRANSFER]);
}

#[test]
fn an_erase_leaves_the_channel_alone() {
    let (_, read) = beside_collection(&[], 800 * US, Kind::Read, page(1, 12));
    expect(&read, &[SENSE, TRANSFER]);
}

// ---- idle but reserved ------------------------------------------------------------

#[test]
fn an_idle_plane_reserved_for_collection() {
    // Planes instead of dies. Collection moves pages on plane 0 alone, but the erase will occupy
    // the die, which is completely reserved until then.
    let overrides = [
        set("geometry.dies_per_package", 1),
        set("geometry.planes_per_die", 2),
        set("ftl.allocation.pool", "plane"),
        set("concurrency.read", "plane"),
        set("concurrency.program", "plane"),
        set("ftl.gc.preemptible", false),
    ];
    let (_, read) = beside_collection(&overrides, 310 * US, Kind::Read, page(1, 12));
    let reserved = (State::Reserved, (725 - 310) * US);
    expect(&read, &[reserved, (State::UnitErase, 1_500 * US), SENSE, TRANSFER]);
}

/// The channel is reserved from 100 us, when the write's data has crossed it, until the one valid
/// page is moved: it is read until 425 us, crosses again until 525, and is programmed until 725.
#[test]
fn an_idle_channel_reserved_for_collection() {
    let blocking = [set("ftl.gc.preemptible", false), set("ftl.gc.blocking", "channel")];
    let (_, read) = beside_collection(&blocking, 310 * US, Kind::Read, page(1, 12));
    let waits = [
        (State::ChannelGcRead, (425 - 335) * US),
        (State::ChannelGcProgram, 100 * US),
        (State::Reserved, 200 * US),
    ];
    expect(&read, &[&waits[..], &[SENSE, TRANSFER]].concat());
}

/// If commands take cycles, a read does not even begin on a channel that is reserved. The write is
/// programmed from 101 us to 301. The command of the collection's read counts as reserved until 302;
/// its data crosses from 327 us on, and again after the command of its program.
#[test]
fn a_read_whose_command_meets_a_channel_reserved_for_collection() {
    let cycles = "{ read = \"1 us\", program = \"1 us\", erase = \"0 us\" }";
    let (mut bench, start) = poised(&[
        set("ftl.gc.preemptible", false),
        set("ftl.gc.blocking", "channel"),
        set("nand.command_cycles", cycles),
    ]);
    bench.submit(start, Kind::Write, page(0, 5), PAGE);
    let read = bench.submit(start + 310 * US, Kind::Read, page(1, 12), PAGE);
    bench.settle();
    let waits = [
        (State::Reserved, (327 - 310 + 200) * US),
        (State::ChannelGcRead, 100 * US),
        (State::ChannelGcProgram, 101 * US),
    ];
    expect(bench.done(read), &[&waits[..], &[SENSE, (State::Transfer, 101 * US)]].concat());
}

#[test]
fn a_collection_that_does_not_yield_is_blamed_for_what_it_does() {
    let overrides = [set("ftl.gc.preemptible", false)];
    let (_, read) = beside_collection(&overrides, 310 * US, Kind::Read, page(0, 12));
    let waits = [
        (State::UnitGcRead, (425 - 310) * US),
        (State::UnitGcProgram, 300 * US),
        (State::UnitErase, 1_500 * US),
    ];
    expect(&read, &[&waits[..], &[SENSE, TRANSFER]].concat());
}

#[test]
fn an_idle_plane_withheld_for_an_older_program() {
    // First come, first served: a program that needs both planes waits for the
    // read of one of them, and the read of the other for the program.
    let mut bench = Bench::filled(&[
        set("geometry.planes_per_die", 2),
        set("ftl.allocation.pool", "plane"),
        set("concurrency.read", "plane"),
        set("scheduler.bypass", "none"),
    ]);
    bench.submit(0, Kind::Read, 0, PAGE);
    let write = bench.submit(10 * US, Kind::Write, 2 * PAGE, PAGE);
    let read = bench.submit(20 * US, Kind::Read, PAGE, PAGE);
    bench.settle();
    expect(bench.done(write), &[(State::UnitHostRead, 115 * US), TRANSFER, PROGRAM]);
    let waits = [(State::Order, 105 * US), (State::UnitHostProgram, 300 * US)];
    expect(bench.done(read), &[&waits[..], &[SENSE, TRANSFER]].concat());
}

#[test]
fn a_queue_that_is_full() {
    let mut bench = Bench::filled(&[]);
    let command = Command { kind: Kind::Read, offset: 0, bytes: PAGE };
    let read = bench.submit_as(70 * US, 30 * US, command, Priority::Normal);
    bench.settle();
    expect(bench.done(read), &[(State::QueueDepth, 40 * US), SENSE, TRANSFER]);
}

/// A page in each of 64 blocks: 390.6 ns for 16 bytes of metadata, and sensing. The map is in 48
/// full blocks of 16 pages; one page of each of the other 16 blocks shows that they are empty.
#[test]
fn a_drive_that_is_off() {
    let mut bench = Bench::filled(&[set("recovery.map", "scan")]);
    let took = bench.cut_power(100 * US).unwrap().took.as_ns();
    assert_eq!(took, (48 * 16 + 16) * (25 * US + 391));
    let up_at = 100 * US + took;
    let command = Command { kind: Kind::Read, offset: 0, bytes: PAGE };
    // The cut comes while the command waits for a place in the queue, or the command arrives while
    // the drive is off, or afterwards.
    for (arrived, submitted, off, queued) in [
        (60 * US, up_at + 10 * US, took, 50 * US),
        (130 * US, up_at + 200 * US, took - 30 * US, 200 * US),
        (up_at, up_at + 400 * US, 0, 400 * US),
    ] {
        let read = bench.submit_as(submitted, arrived, command, Priority::Normal);
        bench.settle();
        let waits = [(State::PowerOff, off), (State::QueueDepth, queued)];
        let waits = waits.into_iter().filter(|(_, ns)| *ns > 0);
        expect(bench.done(read), &waits.chain([SENSE, TRANSFER]).collect::<Vec<_>>());
    }
    // Of two cuts each counts.
    let at = up_at + 1_000 * US;
    let again = bench.cut_power(at).unwrap().took.as_ns();
    let read = bench.submit_as(at + again, 60 * US, command, Priority::Normal);
    bench.settle();
    let waits = [(State::PowerOff, took + again), (State::QueueDepth, 40 * US + 1_000 * US)];
    expect(bench.done(read), &[&waits[..], &[SENSE, TRANSFER]].concat());
}

#[test]
fn an_open_loop_with_one_place_waits_in_the_host() {
    // A read every 100 us that takes 125: the nth comes at 100 n and begins at 125 n.
    let text = "[precondition]\nfill = \"sequential\"\n[[workload]]\nname = \"host\"\n\
                reads = \"100 %\"\nqueue_depth = 1\n\
                arrivals = { process = \"constant\", rate = \"10000 /s\" }\n\
                [run]\nrequests = 10\n";
    let run = run(&experiment(text, &[]));
    let blamed = |state: State| stats(&run, 0, Kind::Read).bands.total()[state as usize];
    assert_eq!(blamed(State::QueueDepth), (0..10).map(|n| 25 * n * US).sum::<u64>());
    assert_eq!(blamed(State::Sense) + blamed(State::Transfer), 10 * 125 * US);
}

// ---- the buffer ---------------------------------------------------------------------

/// Batches of two pages.
fn pairs(durability: &str) -> Vec<Override> {
    vec![
        set("geometry.planes_per_die", 2),
        set("ftl.block_planes", 2),
        set("buffer.durability", durability),
    ]
}

#[test]
fn a_batch_that_waits_to_be_full() {
    let partial = set("buffer.partial_after", "50 us");
    let mut bench = Bench::new(&[&pairs("none")[..], &[partial]].concat());
    let alone = bench.submit(0, Kind::Write, 0, PAGE);
    let first = bench.submit(1_000 * US, Kind::Write, 0, PAGE);
    let second = bench.submit(1_030 * US, Kind::Write, PAGE, PAGE);
    bench.settle();
    expect(bench.done(alone), &[(State::BufferFull, 50 * US), TRANSFER, PROGRAM]);
    let both = (State::Transfer, 200 * US);
    expect(bench.done(first), &[(State::BufferFull, 30 * US), both, PROGRAM]);
    expect(bench.done(second), &[both, PROGRAM]);
}

#[test]
fn a_write_behind_the_limit_of_programs() {
    let write = crate::pressure::a_write_behind_the_limit();
    expect(&write, &[(State::Pressure, 300 * US), TRANSFER, PROGRAM]);
}

#[test]
fn a_wait_for_room_inherits_the_program_that_made_it() {
    // A buffer of one page: each write is admitted when the one before is on flash.
    let size = set("buffer.size", "4 KiB");
    let mut bench = Bench::new(&[set("buffer.durability", "capacitor"), size]);
    let first = bench.submit(0, Kind::Write, 0, PAGE);
    let second = bench.submit(50 * US, Kind::Write, PAGE, PAGE);
    let third = bench.submit(60 * US, Kind::Write, 2 * PAGE, PAGE);
    bench.settle();
    expect(bench.done(first), &[]);
    expect(bench.done(second), &[(State::UnitHostProgram, 250 * US)]);
    // From 300 to 600 us the second's program explains it. Before that, the second was not in the
    // buffer.
    let waits = [(State::UnitHostProgram, 300 * US), (State::BufferFull, 240 * US)];
    expect(bench.done(third), &waits);
}

#[test]
fn a_wait_for_room_inherits_what_the_program_waited_for() {
    let size = set("buffer.size", "4 KiB");
    let mut bench = Bench::filled(&[set("buffer.durability", "capacitor"), size]);
    bench.submit(0, Kind::Read, 5 * PAGE, PAGE);
    bench.submit(0, Kind::Write, 0, PAGE);
    let second = bench.submit(0, Kind::Write, PAGE, PAGE);
    bench.settle();
    // The first write's program begins after the read, at 125 us.
    let waits = [(State::UnitHostRead, 125 * US), (State::UnitHostProgram, 300 * US)];
    expect(bench.done(second), &waits);
}

#[test]
fn a_wait_for_room_inherits_on_a_drive_that_acknowledges_from_flash() {
    let mut bench = Bench::new(&[set("buffer.size", "4 KiB")]);
    bench.submit(0, Kind::Write, 0, PAGE);
    let second = bench.submit(50 * US, Kind::Write, PAGE, PAGE);
    bench.settle();
    // It waits for room until 300 us, behind the first write's program.
    expect(bench.done(second), &[(State::UnitHostProgram, 250 * US), TRANSFER, PROGRAM]);
}

#[test]
fn data_that_waits_in_the_buffer_inherits_the_program_before_it() {
    // One program in a bin at a time: the second is asked for at 300 us, and a
    // flush at 0 waits for both.
    let programs = set("buffer.programs_per_bin", 1);
    let mut bench = Bench::new(&[set("buffer.durability", "volatile"), programs]);
    bench.submit(0, Kind::Write, 0, PAGE);
    bench.submit(0, Kind::Write, PAGE, PAGE);
    let flush = bench.submit(0, Kind::Flush, 0, 0);
    bench.settle();
    expect(bench.done(flush), &[(State::UnitHostProgram, 300 * US), TRANSFER, PROGRAM]);
}

// ---- blame that is cut off ------------------------------------------------------------------

#[test]
fn a_flush_inherits_only_what_came_after_it() {
    let mut bench = Bench::new(&[set("buffer.durability", "volatile")]);
    bench.submit(0, Kind::Write, 0, PAGE);
    let flush = bench.submit(10 * US, Kind::Flush, 0, 0);
    bench.settle();
    // 290 of the program's 300 us: transfer and program keep their shares, 1 : 2.
    // Shares are cumulative and rounded down: 193 333.3, and the rest.
    expect(bench.done(flush), &[(State::Program, 193_333), (State::Transfer, 96_667)]);
}

#[test]
fn a_deferred_read_inherits_the_program_and_then_reads() {
    let read_hits = set("buffer.read_hits", false);
    let mut bench = Bench::new(&[set("buffer.durability", "capacitor"), read_hits]);
    bench.submit(0, Kind::Write, 0, PAGE);
    let read = bench.submit(50 * US, Kind::Read, 0, PAGE);
    bench.settle();
    // 250 of 300 us, of which 166 666.7 are programming; then the page is read.
    let transfers = (State::Transfer, 83_334 + 100 * US);
    expect(bench.done(read), &[(State::Program, 166_666), transfers, SENSE]);
}

#[test]
fn a_deferred_read_inherits_waits_behind_service() {
    let read_hits = set("buffer.read_hits", false);
    let mut bench = Bench::filled(&[set("buffer.durability", "capacitor"), read_hits]);
    bench.submit(0, Kind::Read, 5 * PAGE, PAGE);
    bench.submit(10 * US, Kind::Write, 0, PAGE);
    let read = bench.submit(30 * US, Kind::Read, 0, PAGE);
    bench.settle();
    // The program waits from 10 to 125 us and is over at 425. Its last 395 us are its service and
    // 95 us of its wait.
    let inherited = [(State::UnitHostRead, 95 * US), PROGRAM];
    let transfers = (State::Transfer, 200 * US);
    expect(bench.done(read), &[&inherited[..], &[transfers, SENSE]].concat());
}

// ---- space ----------------------------------------------------------------------------

/// Die 0 with room for four more writes before it is out of space. Of its blocks
/// 0 and 2 have one valid page each, 1 has two (6 and 7), others only valid ones.
fn nearly_out_of_space(overrides: &[Override]) -> (Bench, u64) {
    let mut all = vec![
        set("ftl.gc.background", "1 block"),
        set("ftl.gc.foreground", "1 block"),
        set("ftl.gc.stop", "1 block"),
        set("ftl.allocation.streams", "separate"),
    ];
    all.extend_from_slice(overrides);
    let mut bench = poised::filled(&all);
    for number in [0, 1, 2, 8, 9, 10, 4, 5] {
        bench.alone(Kind::Write, page(0, number), PAGE);
    }
    let now = bench.settle();
    (bench, now)
}

/// Five writes at once; the last finds no space.
fn five_writes(bench: &mut Bench, at: u64) -> [u32; 5] {
    [6, 12, 13, 14, 15].map(|number| bench.submit(at, Kind::Write, page(0, number), PAGE))
}

#[test]
fn a_write_without_space_waits_for_what_collection_does() {
    let (mut bench, start) = nearly_out_of_space(&[]);
    let writes = five_writes(&mut bench, start);
    bench.settle();
    // The first write opens block 6, which leaves one free, and takes to 300 us. Block 0 is
    // collected: its page is read until 425 and written until 725, and the block is erased until
    // 2225. That leaves no more than one free; page 7 of block 1 follows until 2350 and 2650, the
    // erase until 4150.
    let one_by_one = |before: u64| {
        let waits = [
            (State::UnitHostProgram, (1 + before) * 300 * US),
            (State::UnitGcRead, 2 * 125 * US),
            (State::UnitGcProgram, 2 * 300 * US),
            (State::UnitErase, 2 * 1_500 * US),
        ];
        [&waits[..], &[TRANSFER, PROGRAM]].concat()
    };
    expect(bench.done(writes[0]), &[TRANSFER, PROGRAM]);
    for (before, tag) in writes[1..4].iter().enumerate() {
        expect(bench.done(*tag), &one_by_one(before as u64));
    }
    // The fifth has no space until then; while collection waits for the first program, the fifth is
    // charged with that program. Then the other three are programmed.
    let programs = (State::UnitHostProgram, (300 + 900) * US);
    expect(bench.done(writes[4]), &[&TWO_BLOCKS[..], &[programs, TRANSFER, PROGRAM]].concat());
}

/// Two blocks with one valid page each are collected for want of space.
const TWO_BLOCKS: [(State, u64); 3] = [
    (State::SpaceGcRead, 2 * 125 * US),
    (State::SpaceGcProgram, 2 * 300 * US),
    (State::SpaceErase, 2 * 1_500 * US),
];

#[test]
fn a_write_without_space_is_charged_with_what_collection_waits_for() {
    let (mut bench, start) = nearly_out_of_space(&[]);
    let writes = five_writes(&mut bench, start);
    // Two reads of hosts come while block 0's page is read, from 300 to 425 us, and
    // go before its move, so that all that follows ends 250 us later.
    for number in [3, 11] {
        bench.submit(start + 400 * US, Kind::Read, page(0, number), PAGE);
    }
    bench.settle();
    let waits = [(State::UnitHostRead, 250 * US), (State::UnitHostProgram, (300 + 900) * US)];
    expect(bench.done(writes[4]), &[&TWO_BLOCKS[..], &waits, &[TRANSFER, PROGRAM]].concat());
}

/// Checks the blame of a sixth write that came `after` the five, after it had `space` and (without
/// space too) `in_space` of waiting for programs: the four before it in the queue, and the fifth,
/// which opens a block and leaves one free. So block 2 is collected before the sixth is programmed.
#[track_caller]
fn expect_sixth(after: u64, in_space: u64, space: &[(State, u64)]) {
    let (mut bench, start) = nearly_out_of_space(&[]);
    five_writes(&mut bench, start);
    let sixth = bench.submit(start + after, Kind::Write, page(0, 3), PAGE);
    bench.settle();
    let queue = [
        (State::UnitHostProgram, in_space + 1_200 * US),
        (State::UnitGcRead, 125 * US),
        (State::UnitGcProgram, 300 * US),
        (State::UnitErase, 1_500 * US),
        TRANSFER,
        PROGRAM,
    ];
    expect(bench.done(sixth), &[space, &queue].concat());
}

#[test]
fn a_second_write_without_space_waits_for_collection_too() {
    expect_sixth(0, 300 * US, &TWO_BLOCKS);
}

#[test]
fn a_write_that_comes_when_space_is_short_already_waits_for_the_rest() {
    // Block 0 is being erased until 2225 us.
    let space = [
        (State::SpaceGcRead, 125 * US),
        (State::SpaceGcProgram, 300 * US),
        (State::SpaceErase, (2_225 - 1_000 + 1_500) * US),
    ];
    expect_sixth(1_000 * US, 0, &space);
}

#[test]
fn a_wait_for_room_inherits_a_wait_for_space() {
    // The buffer has five pages, so a sixth write is admitted at the end of the first program, a
    // seventh at the end of the second, and so on.
    let overrides = [set("buffer.durability", "capacitor"), set("buffer.size", "20 KiB")];
    let (mut bench, start) =
        nearly_out_of_space(&[&overrides[..], &[set("buffer.programs_per_bin", 8)]].concat());
    five_writes(&mut bench, start);
    let late: Vec<_> = (0..5).map(|n| bench.submit(start, Kind::Write, page(0, n), PAGE)).collect();
    bench.settle();
    expect(bench.done(late[0]), &[(State::UnitHostProgram, 300 * US)]);
    // The second program was over at 4450 us.
    let waits = [
        (State::UnitHostProgram, 600 * US),
        (State::UnitGcRead, 2 * 125 * US),
        (State::UnitGcProgram, 2 * 300 * US),
        (State::UnitErase, 2 * 1_500 * US),
    ];
    expect(bench.done(late[1]), &waits);
    // The fifth had no space until 4150 us, and was over at 5350.
    let programs = (State::UnitHostProgram, (300 + 900 + 300) * US);
    expect(bench.done(late[4]), &[&TWO_BLOCKS[..], &[programs]].concat());
}

#[test]
fn a_write_without_space_waits_for_a_trim() {
    // 8 blocks of 4 pages, of which the host may fill 7, and does: no block can be collected. (The
    // workload names a small region; otherwise `check` would refuse.)
    let mut bench = Bench::new(&[
        set("geometry.blocks_per_plane", 8),
        set("geometry.pages_per_block", 4),
        set("ftl.over_provisioning.exported", format!("{} B", 28 * PAGE)),
        set("workload[0].region.size", "16 KiB"),
    ]);
    for number in 0..28 {
        bench.alone(Kind::Write, number * PAGE, PAGE);
    }
    let start = bench.settle();
    let write = bench.submit(start, Kind::Write, 20 * PAGE, PAGE);
    bench.submit(start + 700 * US, Kind::Trim, 0, 4 * PAGE);
    bench.settle();
    let space = [(State::SpaceIdle, 700 * US), (State::SpaceErase, 1_500 * US)];
    expect(bench.done(write), &[&space[..], &[TRANSFER, PROGRAM]].concat());
}

#[test]
fn an_erase_that_waits_for_a_reader_passes_the_blame_on() {
    let (mut bench, start) = nearly_out_of_space(&[]);
    let writes = five_writes(&mut bench, start);
    // The read of the page that is being moved uses the old place: from 725 to 850 us, and the
    // block's erase waits for that.
    let read = bench.submit(start + 430 * US, Kind::Read, page(0, 3), PAGE);
    bench.settle();
    expect(bench.done(read), &[(State::UnitGcProgram, 295 * US), SENSE, TRANSFER]);
    let waits = [(State::UnitHostRead, 125 * US), (State::UnitHostProgram, (300 + 900) * US)];
    expect(bench.done(writes[4]), &[&TWO_BLOCKS[..], &waits, &[TRANSFER, PROGRAM]].concat());
}

// ---- the link ---------------------------------------------------------------------------

#[test]
fn a_link_busy_with_others() {
    let link = [set("link.rate", "1 GB/s"), set("buffer.durability", "capacitor")];
    let mut bench = Bench::new(&link);
    let at = 10 * US;
    let tags = [Kind::Read, Kind::Read, Kind::Write, Kind::Write]
        .map(|kind| bench.submit(at, kind, 0, 2 * PAGE));
    bench.settle();
    // Reads of unwritten data cross at once, one after the other; writes cross in the other
    // direction.
    let link = (State::Link, 8_192);
    for pair in tags.chunks(2) {
        expect(bench.done(pair[0]), &[link]);
        expect(bench.done(pair[1]), &[(State::LinkBusy, 8_192), link]);
    }
}

// ---- parallel parts -----------------------------------------------------------------------

#[test]
fn the_part_that_ends_last_is_blamed() {
    let mut bench = Bench::filled(&two_dies(2));
    bench.submit(0, Kind::Read, 3 * PAGE, PAGE);
    let read = bench.submit(50 * US, Kind::Read, 0, 2 * PAGE);
    bench.settle();
    // Die 0 reads from 50 to 175 us, die 1 from 125 to 250.
    expect(bench.done(read), &[(State::UnitHostRead, 75 * US), SENSE, TRANSFER]);
}

#[test]
fn of_parts_that_end_together_the_first_is_blamed() {
    for (read_on, program_on) in [(0, 1), (1, 0)] {
        let mut bench = Bench::filled(&two_dies(2));
        bench.submit(0, Kind::Write, (2 + program_on) * PAGE, PAGE);
        bench.submit(175 * US, Kind::Read, (4 + read_on) * PAGE, PAGE);
        let read = bench.submit(200 * US, Kind::Read, 0, 2 * PAGE);
        bench.settle();
        // Both dies are free at 300 us.
        let wait = if read_on == 0 { State::UnitHostRead } else { State::UnitHostProgram };
        expect(bench.done(read), &[(wait, 100 * US), SENSE, TRANSFER]);
    }
}

#[test]
fn a_write_of_many_parts_takes_its_last_programs_blame() {
    let mut bench = Bench::filled(&two_dies(1));
    let write = bench.alone(Kind::Write, 0, 2 * PAGE);
    expect(&write, &[(State::ChannelHostProgram, 100 * US), TRANSFER, PROGRAM]);
}

#[test]
fn an_operation_on_several_cells_waits_for_the_last() {
    // Reads of both planes, at 0 and at 30 us; the program takes both. The second
    // read waits for the channel from 55 to 125 us.
    let mut bench = Bench::filled(&[
        set("geometry.planes_per_die", 2),
        set("ftl.allocation.pool", "plane"),
        set("concurrency.read", "plane"),
    ]);
    bench.submit(0, Kind::Read, 0, PAGE);
    let read = bench.submit(30 * US, Kind::Read, PAGE, PAGE);
    let write = bench.submit(40 * US, Kind::Write, 2 * PAGE, PAGE);
    bench.settle();
    expect(bench.done(read), &[SENSE, (State::ChannelHostRead, 70 * US), TRANSFER]);
    expect(bench.done(write), &[(State::UnitHostRead, 185 * US), TRANSFER, PROGRAM]);
}

#[test]
fn a_wait_for_several_cells_names_who_still_holds_one() {
    // A slow page is read for a host on one plane, from 0 to 1100 us. On the other plane the rest
    // of a partly written page is read meanwhile, from 10 to 35 us, and transferred until 135. A
    // program occupies both planes.
    for (slow, quick) in [(0, 1), (1, 0)] {
        let mut bench = Bench::filled(&[
            set("geometry.planes_per_die", 2),
            set("ftl.allocation.pool", "plane"),
            set("concurrency.read", "plane"),
            set("nand.cell", "mlc"),
            set("nand.read", "[\"25 us\", \"1000 us\"]"),
            set("nand.program", "[\"200 us\", \"200 us\"]"),
        ]);
        // Fill wrote pages 0 and 1 to the first rows, 2 and 3 to the second ones.
        bench.submit(0, Kind::Read, (2 + slow) * PAGE, PAGE);
        let part = bench.submit(10 * US, Kind::Write, quick * PAGE, 512);
        let whole = bench.submit(20 * US, Kind::Write, (4 + quick) * PAGE, PAGE);
        bench.settle();
        // The operation on the lower plane is named while both are occupied.
        let by_part = if slow == 0 { 0 } else { (135 - 20) * US };
        let by_read = (1_100 - 20) * US - by_part;
        let waits: Vec<_> = [(State::UnitRmwRead, by_part), (State::UnitHostRead, by_read)]
            .into_iter()
            .filter(|(_, ns)| *ns > 0)
            .collect();
        expect(bench.done(whole), &[&waits[..], &[TRANSFER, PROGRAM]].concat());
        let rest = [
            (State::UnitHostRead, (1_100 - 135) * US),
            (State::UnitHostProgram, 300 * US),
            SENSE,
            (State::Transfer, 200 * US),
            PROGRAM,
        ];
        expect(bench.done(part), &rest);
    }
}

// ---- any sequence -----------------------------------------------------------------------

/// The drive and the commands that follow from a seed.
fn random_sequence(seed: u64) -> Vec<Done> {
    let mut numbers = Streams::new(seed).stream("sequence");
    let mut of = |choices: &[&'static str]| choices[numbers.below(choices.len() as u64) as usize];
    let durability = of(&["none", "volatile", "capacitor"]);
    let orders: &[&str] = if durability == "none" { &["fifo"] } else { &["fifo", "lru"] };
    let mut bench = poised::filled(&[
        set("buffer.durability", durability),
        set("buffer.size", of(&["8 KiB", "16 KiB", "1 MiB"])),
        set("buffer.read_hits", of(&["true", "false"])),
        set("buffer.order", of(orders)),
        set("buffer.latency", of(&["0 us", "3 us"])),
        set("scheduler.bypass", of(&["none", "batch", "drain"])),
        set("concurrency.read", of(&["plane", "die", "package"])),
        set("concurrency.erase", of(&["die", "package"])),
        set("ftl.gc.preemptible", of(&["true", "false"])),
        set("ftl.gc.copy_back", of(&["true", "false"])),
        set("ftl.gc.pacing", of(&["none", "proportional"])),
        set("ftl.unit", of(&["4 KiB", "2 KiB", "8 KiB"])),
        set("link.rate", of(&["777 MB/s", "40 MB/s"])),
        set("link.duplex", of(&["full", "half", "bus"])),
        set("nand.decode", of(&["0 us", "7 us"])),
    ]);
    let mut at = 0;
    for _ in 0..80 {
        at += numbers.below(4) * numbers.below(200_000);
        let kind =
            [Kind::Read, Kind::Write, Kind::Write, Kind::Trim, Kind::WriteZeroes, Kind::Flush]
                [numbers.below(6) as usize];
        let sectors = 1 + numbers.below(40);
        let offset = numbers.below(256 - sectors) * 512;
        let (offset, bytes) = if kind.has_range() { (offset, sectors * 512) } else { (0, 0) };
        let arrived = at - numbers.below(1 + at.min(50_000));
        let priority = [Priority::High, Priority::Normal, Priority::Low][numbers.below(3) as usize];
        bench.submit_as(at, arrived, Command { kind, offset, bytes }, priority);
    }
    bench.finish()
}

#[test]
fn blame_sums_to_latency_in_any_sequence() {
    for seed in floor::seeds(0, 60) {
        println!("seed {seed}");
        let done = random_sequence(seed);
        assert_eq!(done.len(), 80);
        for done in &done {
            let blamed: u64 = done.blame.iter().map(|(_, ns)| ns).sum();
            assert_eq!(blamed, done.latency(), "seed {seed}: {done:?}");
            // States that no other request can cause.
            let host_link =
                if matches!(done.command.kind, Kind::Read | Kind::Write) { 1 } else { 0 };
            assert_eq!(u64::from(done.of(State::Link) > 0), host_link, "seed {seed}: {done:?}");
        }
    }
}
