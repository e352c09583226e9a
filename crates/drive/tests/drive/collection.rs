//! Garbage collection in time: its beginning and end, the operations that go before it, and the
//! fate of blocks that fail or wear out. (The effect of each of its parameters is in
//! `directions/collection.rs`.)
//!
//! Times are those of the drive in [`poised`]: a write takes 100 + 200 us; a page is collected in
//! 25 + 100 us (read) and 100 + 200 us (write), a block erased in 1500 us.

use crate::common::{BY_HAND, Bench, Override, experiment, set, try_run};
use crate::poised::{self, PAGE, filled, page, poised};
use drive::{Device, OpKind, RequestId};
use engine::Streams;
use ftl::{Batch, BinId, BlockId, BlockState, Lpn};
use host::Kind;
use metrics::Holder;

const US: u64 = 1_000;
const DIE: BinId = BinId(0);

/// Thresholds in blocks.
fn thresholds(foreground: u32, background: u32, stop: u32) -> Vec<Override> {
    let blocks = |count: u32| format!("{count} blocks");
    vec![
        set("ftl.gc.foreground", blocks(foreground)),
        set("ftl.gc.background", blocks(background)),
        set("ftl.gc.stop", blocks(stop)),
    ]
}

fn with(overrides: Vec<Override>, more: &[Override]) -> Vec<Override> {
    [&overrides[..], more].concat()
}

/// Reads, programs, copy-backs and erases that collection has begun.
fn begun(bench: &Bench) -> [u64; 4] {
    let count = |kind, holder| bench.device.counters().commands(kind, holder);
    [
        count(OpKind::Read, Holder::GcRead),
        count(OpKind::Program, Holder::GcProgram),
        count(OpKind::CopyBack, Holder::GcProgram),
        count(OpKind::Erase, Holder::Erase),
    ]
}

fn free_blocks(bench: &Bench) -> u32 {
    bench.device.ftl().free_blocks(DIE)
}

/// Writes pages of die 0, each when the one before is done and the drive is idle.
fn overwrite(bench: &mut Bench, numbers: &[u64]) -> u64 {
    for number in numbers {
        bench.alone(Kind::Write, page(0, *number), PAGE);
    }
    bench.settle()
}

/// Ends of writes of some pages of die 0, all submitted at `start`, in us.
fn finished_us(bench: &mut Bench, start: u64, numbers: &[u64]) -> Vec<u64> {
    let tags: Vec<_> = numbers
        .iter()
        .map(|number| bench.submit(start, Kind::Write, page(0, *number), PAGE))
        .collect();
    bench.settle();
    tags.iter().map(|tag| bench.done(*tag).latency() / US).collect()
}

// ---- order of operations -------------------------------------------------------------

#[test]
fn background_gc_waits_for_host_operations() {
    let (mut bench, start) = poised(&thresholds(1, 2, 2));
    // The first write leaves 2 blocks free. The second goes before the page that collection asks
    // for; that page is read from 600 to 725 us.
    bench.submit(start, Kind::Write, page(0, 5), PAGE);
    let second = bench.submit(start + 10 * US, Kind::Write, page(0, 5), PAGE);
    bench.until(start + 600 * US - 1);
    assert_eq!(begun(&bench), [0, 0, 0, 0]);
    bench.until(start + 600 * US);
    assert_eq!(begun(&bench), [1, 0, 0, 0]);
    // A third goes between two moves, from 725 to 1025; then the page is written until 1325, and
    // the block erased.
    let third = bench.submit(start + 610 * US, Kind::Write, page(0, 5), PAGE);
    let end = bench.settle();
    assert_eq!(bench.done(second).latency(), 590 * US);
    assert_eq!(bench.done(third).latency(), (1_025 - 610) * US);
    assert_eq!(end - start, (1_325 + 1_500) * US);
    assert_eq!((begun(&bench), free_blocks(&bench)), ([1, 1, 0, 1], 3));
}

#[test]
fn foreground_gc_goes_before_writes_and_after_reads() {
    let (mut bench, start) = poised(&[]);
    bench.submit(start, Kind::Write, page(0, 5), PAGE);
    let write = bench.submit(start + 10 * US, Kind::Write, page(0, 5), PAGE);
    let read = bench.submit(start + 20 * US, Kind::Read, page(0, 12), PAGE);
    bench.settle();
    // The read from 300 to 425 us, then collection: 125 + 300 + 1500.
    assert_eq!(bench.done(read).finished - start, 425 * US);
    assert_eq!(bench.done(write).finished - start, (425 + 1_925 + 300) * US);
}

#[test]
fn gc_that_comes_to_the_foreground_no_longer_waits() {
    let (mut bench, start) = poised(&thresholds(1, 2, 2));
    // The first four fill block 5; the fifth opens block 6 at 1200 us and leaves one free: the
    // collection's read, which has waited for the writes since 0 us, goes at 1500. At 1925 two
    // erases are asked for: of block 0, and of block 5, which holds no valid data any more. Both
    // are in the foreground, and end at 4925.
    let found = finished_us(&mut bench, start, &[5; 7]);
    assert_eq!(found, [300, 600, 900, 1_200, 1_500, 5_225, 5_525]);
}

#[test]
fn a_collection_that_does_not_yield_withholds_its_unit() {
    for (foreground, preemptible, read_us, write_us) in [
        // Background: the write at 10 us goes before, the read at 310 after that.
        (1, true, 600 + 125, 600),
        // Foreground: the read between two moves, at 425 us, the write after all.
        (2, true, 425 + 125, 300 + 1_925 + 125 + 300),
        // Reserved from 0 us on: nothing goes before 2225 us, and then the read.
        (1, false, 2_225 + 125, 2_225 + 125 + 300),
        (2, false, 2_225 + 125, 2_225 + 125 + 300),
    ] {
        let yields = set("ftl.gc.preemptible", preemptible);
        let (mut bench, start) = poised(&with(thresholds(foreground, 2, 2), &[yields]));
        bench.submit(start, Kind::Write, page(0, 5), PAGE);
        let write = bench.submit(start + 10 * US, Kind::Write, page(0, 5), PAGE);
        let read = bench.submit(start + 310 * US, Kind::Read, page(0, 12), PAGE);
        bench.settle();
        let name = format!("foreground at {foreground}, preemptible: {preemptible}");
        assert_eq!((bench.done(read).finished - start) / US, read_us, "{name}: read");
        assert_eq!((bench.done(write).finished - start) / US, write_us, "{name}: write");
    }
}

#[test]
fn copy_back_leaves_the_channel_alone() {
    let (mut bench, start) = poised(&[set("ftl.gc.copy_back", true)]);
    let busy = bench.device.channel_busy()[0];
    bench.submit(start, Kind::Write, page(0, 5), PAGE);
    // The other die reads while this one copies, from 300 to 525 us.
    let read = bench.submit(start + 310 * US, Kind::Read, page(1, 13), PAGE);
    let end = bench.settle();
    assert_eq!(bench.done(read).latency(), 125 * US);
    assert_eq!(end - start, (300 + 225 + 1_500) * US);
    assert_eq!(begun(&bench), [0, 0, 1, 1]);
    // The write's data and the read's.
    assert_eq!((bench.device.channel_busy()[0] - busy).as_ns(), 200 * US);
}

/// Two packages to which pages go in turn, on one channel or on two. Pages of package 0 were
/// rewritten, so that only page 3 of its block 0 is valid; the next write leaves 1 block free there
/// and causes the collection of block 0. 8 pages are valid there. In package 1, which has 2 blocks
/// free, trims have left 7. If it opens a block for the page, it is at its threshold, too, and
/// erases an invalid block.
fn poised_to_stream(channels: u32, more: &[Override]) -> (Bench, u64) {
    let packages = [
        set("geometry.channels", channels),
        set("geometry.packages_per_channel", 2 / channels),
        set("geometry.dies_per_package", 1),
        set("ftl.allocation.pool", "drive"),
        set("ftl.gc.streaming", true),
        set("ftl.gc.victim", "fifo"),
    ];
    let all = [&packages[..], &thresholds(1, 1, 1), more].concat();
    let mut bench = filled(&all);
    overwrite(&mut bench, &[0, 1, 2, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 0]);
    let old = (0..16).filter(|number| *number != 13).map(|number| page(1, number));
    for place in old.chain([page(0, 1), page(0, 4)]) {
        bench.alone(Kind::Trim, place, PAGE);
    }
    let now = bench.settle();
    (bench, now)
}

#[test]
fn a_page_streams_to_another_package_in_one_transfer() {
    for channels in [1, 2] {
        let (mut bench, start) = poised_to_stream(channels, &[]);
        let busy = bench.device.channel_busy().to_vec();
        bench.submit(start, Kind::Write, page(0, 2), PAGE);
        // The victim's package is free while the other one programs, from 425 to 625 us.
        let read = bench.submit(start + 430 * US, Kind::Read, page(0, 13), PAGE);
        let write = bench.submit(start + 430 * US, Kind::Read, page(1, 13), PAGE);
        let end = bench.settle();
        // Package 1 erases, too, after the page and the read.
        assert_eq!((end - start) / US, 625 + 125 + 1_500, "{channels} channels");
        assert_eq!(bench.done(read).latency(), 125 * US);
        assert_eq!((bench.done(write).finished - start) / US, 625 + 125);
        assert_eq!(begun(&bench), [1, 1, 0, 2]);
        assert_eq!(bench.device.counters().streamed, 1);
        let after = bench.device.channel_busy();
        let busy: Vec<u64> = after.iter().zip(&busy).map(|(a, b)| (*a - *b).as_ns() / US).collect();
        // The write's data, the page that streams on the lines of both, and a read of each.
        let each: &[u64] = if channels == 1 { &[400] } else { &[300, 200] };
        assert_eq!(busy, each, "{channels} channels");
    }
}

#[test]
fn who_waits_for_a_package_that_latches_a_page_is_told_so() {
    // The page is on its way from 325 to 425 us.
    let (mut bench, start) = poised_to_stream(2, &[]);
    bench.submit(start, Kind::Write, page(0, 2), PAGE);
    bench.until(start + 349 * US);
    bench.submit(start + 350 * US, Kind::Read, page(1, 13), PAGE);
    bench.until(start + 400 * US);
    let told = bench.device.standings(RequestId(0));
    let behind = &told[0].behind;
    assert_eq!(behind.len(), 1, "{told:#?}");
    assert!(
        behind[0].words.contains("program of GC is at work on channel 1, for 25 us"),
        "{told:#?}"
    );
    bench.settle();
}

#[test]
fn a_unit_that_is_kept_for_a_collection_stays_so_while_its_page_is_programmed_elsewhere() {
    let (mut bench, start) = poised_to_stream(2, &[set("ftl.gc.preemptible", false)]);
    bench.submit(start, Kind::Write, page(0, 2), PAGE);
    let read = bench.submit(start + 430 * US, Kind::Read, page(0, 13), PAGE);
    bench.settle();
    assert_eq!(bench.device.counters().streamed, 1);
    assert_eq!((bench.done(read).finished - start) / US, 625 + 1_500 + 125);
}

#[test]
fn a_page_goes_through_the_controller_where_no_package_can_take_it_at_once() {
    // Package 1 senses for a host from 310 to 335 us; the page is ready to leave at 325.
    let (mut bench, start) = poised_to_stream(2, &[]);
    bench.submit(start, Kind::Write, page(0, 2), PAGE);
    bench.submit(start + 310 * US, Kind::Read, page(1, 13), PAGE);
    assert_eq!((bench.settle() - start) / US, 300 + 125 + 300 + 1_500);
    assert_eq!(bench.device.counters().streamed, 0);
    // Its lines are occupied: it has sensed from 100 to 125 us, and transfers from 325 to 425.
    let (mut bench, start) = poised_to_stream(2, &[]);
    bench.submit(start, Kind::Write, page(0, 2), PAGE);
    bench.submit(start + 299 * US, Kind::Read, page(1, 13), PAGE);
    assert_eq!((bench.settle() - start) / US, 300 + 125 + 300 + 1_500);
    assert_eq!(bench.device.counters().streamed, 0);
}

#[test]
fn a_page_that_streamed_was_not_corrected() {
    for (most, may_again) in [(1, false), (2, true)] {
        let (mut bench, start) = poised_to_stream(1, &[set("ftl.gc.copy_back_most", most)]);
        bench.submit(start, Kind::Write, page(0, 2), PAGE);
        bench.settle();
        let ftl = bench.device.ftl();
        assert_eq!(bench.device.counters().streamed, 1);
        let place = ftl.lookup(Lpn(6)).expect("page 3 of package 0 holds data");
        let (block, place) = ftl.layout.block_and_place(place);
        assert_eq!(ftl.layout.bin(block), BinId(1));
        assert_eq!(ftl.may_be_copied(Batch { block, batch: place }), may_again, "{most} in a row");
    }
}

#[test]
fn copy_back_is_for_batches_that_are_valid_as_a_whole() {
    // Two units in a page. The second half of page 3 stays: read and written in half the channel
    // time, with padding.
    let units = [set("ftl.unit", "2 KiB"), set("ftl.gc.copy_back", true)];
    let mut bench = filled(&units);
    overwrite(&mut bench, &[0, 1, 2]);
    bench.alone(Kind::Write, page(0, 3), PAGE / 2);
    let start = bench.settle();
    let padding = bench.device.ftl().tally.units[2];
    bench.submit(start, Kind::Write, page(0, 5), PAGE);
    let end = bench.settle();
    assert_eq!(begun(&bench), [1, 1, 0, 1]);
    assert_eq!(end - start, (300 + (25 + 50) + (50 + 200) + 1_500) * US);
    assert_eq!(bench.device.ftl().tally.units[1], 1);
    assert_eq!(bench.device.ftl().tally.units[2] - padding, 1);
}

// ---- beginning and end ------------------------------------------------------

/// Five writes, one after the other, that end at 1500 us. They leave 2 blocks
/// free, which is above `background` and not above `stop`, and two pages valid in each
/// of blocks 0 and 1.
fn idle_since_1500_us() -> Bench {
    let mut bench = filled(&with(thresholds(1, 1, 2), &[set("ftl.gc.idle_gap", "10 ms")]));
    for (turn, number) in [0, 1, 4, 5, 8].into_iter().enumerate() {
        bench.submit(turn as u64 * 300 * US, Kind::Write, page(0, number), PAGE);
    }
    bench
}

#[test]
fn an_idle_unit_collects_exactly_after_the_gap() {
    let mut bench = idle_since_1500_us();
    bench.until(11_500 * US - 1);
    assert_eq!(begun(&bench), [0, 0, 0, 0]);
    bench.until(11_500 * US);
    assert_eq!(begun(&bench), [1, 0, 0, 0]);
    assert_eq!(bench.settle(), (11_500 + 2 * 425 + 1_500) * US);
    assert_eq!((begun(&bench), free_blocks(&bench)), ([2, 2, 0, 1], 3));
}

#[test]
fn a_unit_that_no_command_has_touched_collects_too() {
    // Filled and never used: 16 of 32 pages hold data, of which ageing has
    // overwritten some, and 4 blocks or less are free.
    let more = [
        set("ftl.gc.idle_gap", "10 ms"),
        set("precondition.fill", "sequential"),
        set("precondition.age.overwrites", "0.5"),
    ];
    let mut bench = Bench::new(&poised::shape(&with(thresholds(1, 1, 2), &more)));
    let ftl = bench.device.ftl();
    let needy = (0..2).filter(|bin| ftl.free_blocks(BinId(*bin)) <= 2).count();
    assert_eq!(needy, 2, "ageing leaves both dies with two blocks or less");
    bench.until(10_000 * US - 1);
    assert_eq!(begun(&bench), [0, 0, 0, 0]);
    bench.until(10_000 * US);
    assert_eq!(begun(&bench)[0] + begun(&bench)[3], 2, "each die reads or erases a victim");
}

#[test]
fn an_idle_unit_looks_again_once_data_has_died() {
    // 16 pages fill 4 of 8 blocks, and no victim gains space in the first idle gap.
    let more = [set("ftl.gc.idle_gap", "10 ms"), set("workload[0].region.size", "16 KiB")];
    let mut bench = Bench::new(&poised::shape(&with(thresholds(1, 1, 4), &more)));
    let full = overwrite(&mut bench, &(0..16).collect::<Vec<_>>());
    bench.until(full + 20_000 * US);
    assert_eq!(begun(&bench), [0, 0, 0, 0]);
    // A trim does not use flash. Ten milliseconds later three pages are moved.
    bench.submit(full + 20_000 * US, Kind::Trim, page(0, 0), PAGE);
    bench.until(full + 30_000 * US - 1);
    assert_eq!(begun(&bench), [0, 0, 0, 0]);
    bench.until(full + 30_000 * US);
    assert_eq!(begun(&bench), [1, 0, 0, 0]);
}

#[test]
fn a_command_begins_the_idle_gap_anew() {
    let mut bench = idle_since_1500_us();
    let read = bench.submit(11_499 * US, Kind::Read, page(0, 12), PAGE);
    bench.until((11_499 + 125 + 10_000) * US - 1);
    assert_eq!(bench.done(read).latency(), 125 * US);
    assert_eq!(begun(&bench), [0, 0, 0, 0]);
    bench.until((11_499 + 125 + 10_000) * US);
    assert_eq!(begun(&bench), [1, 0, 0, 0]);
}

#[test]
fn another_die_does_not_disturb_an_idle_one() {
    let mut bench = idle_since_1500_us();
    bench.submit(11_400 * US, Kind::Read, page(1, 13), PAGE);
    bench.until(11_500 * US);
    assert_eq!(begun(&bench), [1, 0, 0, 0]);
}

#[test]
fn idle_gc_yields_until_the_unit_is_idle_again() {
    let mut bench = idle_since_1500_us();
    // The first page is moved until 11925 us. A write that came meanwhile is done
    // at 12225, and the second page's turn comes 10 ms later.
    let write = bench.submit(11_700 * US, Kind::Write, page(0, 9), PAGE);
    bench.until(22_225 * US - 1);
    assert_eq!(bench.done(write).finished, 12_225 * US);
    assert_eq!(begun(&bench), [1, 1, 0, 0]);
    assert_eq!(bench.settle(), (22_225 + 425 + 1_500) * US);
    assert_eq!((begun(&bench), free_blocks(&bench)), ([2, 2, 0, 1], 3));
}

#[test]
fn collection_ends_where_no_block_gains_space() {
    // `check` refuses a stop threshold that cannot be passed; so the workload names
    // a small region, and the rest is written here. 16 pages fill 4 of 8 blocks.
    let more = [set("ftl.gc.idle_gap", "10 ms"), set("workload[0].region.size", "16 KiB")];
    let mut bench = Bench::new(&poised::shape(&with(thresholds(1, 1, 4), &more)));
    let full = overwrite(&mut bench, &(0..16).collect::<Vec<_>>());
    assert_eq!((begun(&bench), free_blocks(&bench)), ([0, 0, 0, 0], 4));
    // One invalid page: the others of block 0 fill the open block together with the new one.
    let end = overwrite(&mut bench, &[0]);
    assert_eq!((begun(&bench), free_blocks(&bench)), ([3, 3, 0, 1], 4));
    // At the end another idle gap passes, in vain.
    assert_eq!(end - full, (300 + 10_000 + 3 * 425 + 1_500 + 10_000) * US);
}

#[test]
fn thresholds_in_pages_count_pages_and_those_in_blocks_whole_blocks() {
    // 16 of 32 pages are free. The eighth write leaves 8, a quarter; the fifth
    // opens a block and leaves 2 of 8 free, a quarter of the blocks.
    for (threshold, writes) in [("25 % of pages", 8), ("25 % of blocks", 5), ("2 blocks", 5)] {
        let keys = ["ftl.gc.foreground", "ftl.gc.background", "ftl.gc.stop"];
        let mut bench = filled(&keys.map(|key| set(key, threshold)));
        overwrite(&mut bench, &(0..writes - 1).collect::<Vec<_>>());
        assert_eq!(begun(&bench), [0, 0, 0, 0], "{threshold}");
        // Block 0 is invalid as a whole.
        overwrite(&mut bench, &[writes - 1]);
        assert_eq!(begun(&bench), [0, 0, 0, 1], "{threshold}");
    }
}

// ---- victims ------------------------------------------------------------------------

#[test]
fn greedy_takes_the_lowest_of_equals() {
    let mut bench = filled(&[]);
    let start = overwrite(&mut bench, &[12, 13, 8, 9]);
    bench.submit(start, Kind::Write, page(0, 0), PAGE);
    bench.until(start);
    assert_eq!(bench.device.ftl().block_states()[2], BlockState::Collecting);
}

// ---- wear -----------------------------------------------------------------------------

/// A die of 40 blocks of 4 pages, of which 16 hold data.
fn spacious(overrides: &[Override]) -> Vec<Override> {
    let shape = [
        set("geometry.blocks_per_plane", 40),
        set("geometry.pages_per_block", 4),
        set("ftl.over_provisioning.exported", format!("{} B", 64 * PAGE)),
    ];
    with(shape.to_vec(), overrides)
}

fn bad_blocks(device: &Device) -> Vec<u32> {
    let states = device.ftl().block_states();
    (0..states.len() as u32).filter(|block| states[*block as usize] == BlockState::Bad).collect()
}

/// Random overwrites, none of which may go to a bad block; returns the bad blocks with their
/// erases, in the order in which they became bad.
fn overwrite_beside_bad_blocks(bench: &mut Bench) -> Vec<(u32, u32)> {
    let mut numbers = Streams::new(floor::seed(7)).stream("pages");
    let mut bad = Vec::new();
    for _ in 0..1_000 {
        let lpn = numbers.below(64);
        bench.alone(Kind::Write, lpn * PAGE, PAGE);
        let ftl = bench.device.ftl();
        for block in bad_blocks(&bench.device) {
            if bad.iter().all(|(known, _)| *known != block) {
                bad.push((block, ftl.erase_counts()[block as usize]));
            }
        }
        let at = ftl.layout.block(ftl.lookup(Lpn(lpn as u32)).expect("it was written"));
        assert!(bad.iter().all(|(block, _)| *block != at.0), "{at:?} is bad");
    }
    let ftl = bench.device.ftl();
    for (block, erases) in &bad {
        assert_eq!(ftl.block_states()[*block as usize], BlockState::Bad);
        assert_eq!(ftl.erase_counts()[*block as usize], *erases, "block {block} was erased");
        assert_eq!(ftl.valid_units(BlockId(*block)), 0);
    }
    assert_eq!(ftl.good_blocks(DIE), 40 - bad.len() as u32);
    assert_eq!(ftl.tally.retired, bad.len() as u64);
    bad
}

#[test]
fn blocks_that_left_the_factory_bad_are_never_written() {
    let mut bench = Bench::filled(&spacious(&[set("ftl.bad_blocks.factory", "10 %")]));
    let factory = bad_blocks(&bench.device);
    let bad = overwrite_beside_bad_blocks(&mut bench);
    println!("bad from the factory: {factory:?}");
    assert!((1..=10).contains(&factory.len()), "10 % of 40 blocks are about 4");
    assert_eq!(bad, factory.into_iter().map(|block| (block, 0)).collect::<Vec<_>>());
}

#[test]
fn blocks_that_went_bad_are_never_written_again() {
    let mut bench = Bench::filled(&spacious(&[set("ftl.bad_blocks.grown_per_erase", "3 %")]));
    let bad = overwrite_beside_bad_blocks(&mut bench);
    let erases = bench.device.ftl().tally.erases;
    println!("{} of {erases} erases failed: {bad:?}", bad.len());
    assert!(bad.iter().all(|(_, erases)| *erases > 0));
    let expected = 0.03 * erases as f64;
    assert!((bad.len() as f64 - expected).abs() < 3.5 * expected.sqrt(), "{expected} expected");
}

#[test]
fn a_block_is_retired_by_the_erase_that_wears_it_out() {
    let mut bench = Bench::filled(&spacious(&[set("nand.endurance", 3)]));
    let mut numbers = Streams::new(floor::seed(7)).stream("pages");
    let mut writes = 0;
    // Until a write never ends.
    while bench.device.outstanding() == 0 {
        let now = bench.device.now().as_ns();
        bench.submit(now, Kind::Write, numbers.below(64) * PAGE, PAGE);
        while bench.step() {}
        let ftl = bench.device.ftl();
        for (state, erases) in ftl.block_states().iter().zip(ftl.erase_counts()) {
            assert_eq!(*state == BlockState::Bad, *erases == 3, "{state:?} after {erases} erases");
        }
        writes += 1;
    }
    let ftl = bench.device.ftl();
    println!("{writes} writes, {} erases, {} blocks left", ftl.tally.erases, ftl.good_blocks(DIE));
    assert!(ftl.tally.retired > 10 && ftl.tally.erases >= 3 * ftl.tally.retired);
    ftl.audit().expect("the map is sound");
}

/// Wears the spacious drive out and expects the error to name the missing space.
fn wear_out(durability: &str, host: &str, seed: u64) {
    let text = format!(
        "[precondition]\nfill = \"sequential\"\n[[workload]]\nname = \"host\"\n\
         reads = \"0 %\"\n{host}\n[run]\nrequests = 100000\n"
    );
    let overrides = spacious(&[
        set("nand.endurance", 3),
        set("buffer.durability", durability),
        set("buffer.size", "16 KiB"),
        set("seed", seed),
    ]);
    let error = try_run(&experiment(&text, &overrides)).err().expect("it wears out");
    println!("{durability}, {host}, seed {seed}: {error}");
    for phrase in ["the drive is stuck", "no free space", "bin 0", "of 40 blocks good"] {
        assert!(error.contains(phrase), "no \"{phrase}\" in \"{error}\"");
    }
}

#[test]
fn a_drive_that_is_worn_out_ends_its_run_with_what_is_missing() {
    for durability in ["none", "capacitor"] {
        for depth in [1, 4] {
            floor::seeds(0, 5)
                .for_each(|seed| wear_out(durability, &format!("queue_depth = {depth}"), seed));
        }
    }
}

#[test]
fn a_worn_out_drive_says_what_is_missing_to_a_host_that_takes_its_time_too() {
    // The last write comes when collection has ended, in vain.
    for durability in ["none", "capacitor"] {
        floor::seeds(0, 5).for_each(|seed| wear_out(durability, "think_time = \"50 ms\"", seed));
    }
}

#[test]
fn a_drive_that_wears_out_while_it_is_aged_says_so() {
    let text =
        format!("[precondition]\nfill = \"sequential\"\nage = {{ overwrites = 100.0 }}\n{BY_HAND}");
    let error = try_run(&experiment(&text, &spacious(&[set("nand.endurance", 3)])));
    let error = error.err().expect("it wears out");
    assert!(error.contains("preconditioning") && error.contains("no space left"), "{error}");
}

// ---- permits ----------------------------------------------------------------------------

/// Four aged planes on two channels, whose collections go on to 20 free blocks.
fn four_planes(more: &[Override]) -> Bench {
    let planes = [
        set("geometry.channels", 2),
        set("geometry.dies_per_package", 2),
        set("ftl.allocation.pool", "plane"),
        set("ftl.over_provisioning.reserved", "50 %"),
        set("ftl.gc.background", "4 blocks"),
        set("ftl.gc.foreground", "2 blocks"),
        set("ftl.gc.stop", "20 blocks"),
        set("precondition.age.overwrites", "1.5"),
    ];
    Bench::filled(&[&planes[..], more].concat())
}

#[test]
fn every_collection_that_waits_for_a_permit_goes_on_until_enough_is_free() {
    let copied = [set("ftl.gc.preemptible", false), set("ftl.gc.reserve_until", "copied")];
    let idle = set("ftl.gc.idle_gap", "1 ms");
    let one_task = set("ftl.tasks", "{ most = 1, think = \"100 us\" }");
    for limits in [
        vec![set("ftl.gc.at_once", "{ drive = 2 }"), one_task],
        vec![set("ftl.gc.at_once", "{ channel = 1 }")],
        vec![set("ftl.gc.at_once", "{ drive = 1 }")],
        [&copied[..], &[set("ftl.gc.blocking", "channel")]].concat(),
        [&copied[..], &[set("ftl.gc.blocking", "controller")]].concat(),
    ] {
        let mut bench = four_planes(&[&limits[..], std::slice::from_ref(&idle)].concat());
        bench.settle();
        for bin in (0..4).map(BinId) {
            let ftl = bench.device.ftl();
            let free = ftl.free_blocks(bin);
            assert!(ftl.has_enough(bin), "{limits:?}: {free} blocks of bin {} are free", bin.0);
        }
        bench.finish();
    }
}
