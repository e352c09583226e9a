//! Data that survives a cut: acknowledged data, and trims.

use crate::common::{Bench, set};
use crate::power::{Cutting, PAGE, US, buffered, now, ns, trimmed};
use drive::OpKind;
use ftl::BlockState;
use host::Kind;
use metrics::Holder;

#[test]
fn what_is_acknowledged_from_flash_is_there() {
    let mut drive = Cutting::new(&[]);
    drive.write(0, 7);
    drive.write(300 * US, 8);
    // The second write is half programmed.
    let outage = drive.cut(450 * US).unwrap();
    assert_eq!((outage.half_programmed, outage.lost_requests, outage.units), (1, 1, 1));
    assert!(drive.holds(7) && !drive.holds(8));
    // The drive goes on, in another block.
    let now = drive.bench.device.now().as_ns();
    drive.write(now, 8);
    assert_eq!(drive.bench.settle(), now + 300 * US);
    assert_eq!(drive.bench.device.ftl().block_states()[1], BlockState::Open);
}

#[test]
fn a_place_that_was_bound_and_not_begun_stays_erased() {
    let mut drive = Cutting::new(&[]);
    drive.write(0, 7);
    // The transfer takes until 100 us.
    let outage = drive.cut(99 * US).unwrap();
    assert_eq!((outage.half_programmed, outage.lost_requests, outage.closed_early), (0, 1, 0));
    assert_eq!(drive.bench.device.ftl().block_states()[0], BlockState::Free);
}

#[test]
fn a_volatile_buffer_keeps_what_a_flush_covers() {
    let mut drive = buffered("volatile");
    drive.write(0, 1);
    drive.bench.submit(US, Kind::Flush, 0, 0);
    drive.bench.until(400 * US);
    drive.write(400 * US, 1);
    drive.write(400 * US, 2);
    let outage = drive.cut(500 * US).unwrap();
    assert_eq!((outage.units, outage.saved_units), (1, 0));
    assert!(drive.holds(1) && !drive.holds(2));
    drive.bench.settle();
}

#[test]
fn a_capacitor_saves_the_buffer() {
    let mut drive = buffered("capacitor");
    (0..5).for_each(|page| _ = drive.write(0, page));
    let outage = drive.cut(500 * US).unwrap();
    assert_eq!((outage.units, outage.saved_units), (0, 5));
    // Five pages are read back: 125 us each.
    assert_eq!(ns(outage.parts[2]), 5 * 125 * US);
    assert!((0..5).all(|page| drive.holds(page)));
    // They are served from the buffer, before they are on flash.
    let now = drive.bench.device.now().as_ns();
    assert_eq!(drive.bench.submit(now, Kind::Read, 0, 5 * PAGE), 5);
    drive.bench.until(now);
    assert!(drive.bench.is_done(5));
    assert_eq!(drive.bench.device.ftl().mapped_units(), 0);
    // The power is cut again: they are saved again.
    let again = drive.cut(now + US).unwrap();
    assert_eq!((again.units, again.saved_units), (0, 5));
    let now = drive.bench.device.now().as_ns();
    drive.bench.submit(now, Kind::Write, 0, 240 * PAGE);
    drive.bench.settle();
    assert!(drive.bench.device.ftl().mapped_units() > 0);
}

#[test]
fn a_part_that_a_capacitor_saves_is_merged_afterwards() {
    let mut drive = Cutting::filled(&[
        set("buffer.durability", "capacitor"),
        set("buffer.flush", "{ policy = \"watermark\", high = \"90 %\", low = \"10 %\" }"),
    ]);
    let reads =
        |drive: &Cutting| drive.bench.device.counters().commands(OpKind::Read, Holder::RmwRead);
    // The rest of the page is being read until 125 us.
    drive.bench.submit(0, Kind::Write, 5 * PAGE, PAGE / 4);
    drive.bench.until(59 * US);
    assert_eq!(reads(&drive), 1);
    let outage = drive.cut(60 * US).unwrap();
    assert_eq!((outage.saved_units, reads(&drive)), (1, 2), "the rest is read again");
    let up = now(&drive);
    drive.bench.until(up + 124 * US);
    let again = drive.cut(up + 124 * US).unwrap();
    assert_eq!((again.saved_units, reads(&drive)), (1, 3), "it was not whole yet");
    drive.bench.settle();
    assert_eq!(reads(&drive), 3);
    let at = now(&drive);
    assert_eq!(drive.cut(at).unwrap().saved_units, 1);
    assert_eq!(reads(&drive), 3, "it is whole");
}

#[test]
fn a_flush_under_way_covers_nothing() {
    let mut drive = buffered("volatile");
    drive.write(0, 1);
    drive.bench.submit(US, Kind::Flush, 0, 0);
    let outage = drive.cut(250 * US).unwrap();
    assert_eq!((outage.units, outage.lost_requests, outage.half_programmed), (0, 1, 1));
}

#[test]
fn a_logged_trim_stays_and_a_volatile_one_may_return() {
    for (trims, returns) in [("logged", false), ("volatile", true)] {
        let mut drive = trimmed(trims);
        let outage = drive.cut(1_000 * US).unwrap();
        assert_eq!(outage.units, 2 + u32::from(returns), "{trims}");
        assert_eq!(drive.holds(1), returns, "{trims}");
        drive.bench.settle();
    }
}

#[test]
fn what_was_written_after_a_trim_wins() {
    for trims in ["logged", "volatile"] {
        let mut drive = trimmed(trims);
        drive.write(900 * US, 1);
        drive.cut(1_300 * US).unwrap();
        assert!(drive.holds(1));
        // Older data is on flash, too, and does not come back later.
        let now = drive.bench.device.now().as_ns();
        drive.bench.submit(now, Kind::Trim, PAGE, PAGE);
        let outage = drive.cut(now + US).unwrap();
        assert_eq!(outage.units, 2 + u32::from(trims == "volatile"), "{trims}");
    }
}

/// Page 0 is in a block that the drive was filled with, and again in the block after it, which has
/// 16 pages of as many blocks. The checkpoint at 200 ms includes both blocks. Then the 16 are
/// trimmed, and one other page is written until that block is erased.
fn trimmed_since_a_checkpoint(map: &str) -> Cutting {
    let mut drive = Cutting {
        bench: Bench::filled(&[set("recovery.map", map), set("recovery.trims", "volatile")]),
    };
    let of_block = |turn: u64| turn * 16;
    (0..16).for_each(|turn| _ = drive.write((195_000 + turn * 300) * US, of_block(turn)));
    for turn in 0..16 {
        drive.bench.submit(201_000 * US, Kind::Trim, of_block(turn) * PAGE, PAGE);
    }
    drive.bench.until(201_000 * US);
    let mut writes = 0;
    while drive.bench.device.ftl().tally.erases == 0 {
        let now = now(&drive);
        drive.write(now, 300);
        drive.bench.settle();
        writes += 1;
        assert!(writes < 16 * 16, "15 free blocks are left");
    }
    assert_eq!(drive.bench.device.ftl().erase_counts()[48], 1, "nothing lives in the block");
    drive
}

#[test]
fn a_checkpoint_does_not_lead_to_what_was_older_than_it() {
    // A scan finds the data that the drive was filled with.
    let scan = trimmed_since_a_checkpoint("scan").cut(300_000 * US).unwrap();
    assert_eq!(scan.units, 768);
    // The checkpoint leads to a block that was erased since, and no other block is read.
    let mut drive = trimmed_since_a_checkpoint("{ policy = \"checkpoint\", every = \"200 ms\" }");
    let outage = drive.cut(300_000 * US).unwrap();
    assert_eq!(outage.units, 768 - 16);
    assert!((0..16).all(|turn| !drive.holds(turn * 16)));
    drive.bench.settle();
}

#[test]
fn what_a_checkpoint_leads_to_may_return() {
    let given = [
        set("recovery.map", "{ policy = \"checkpoint\", every = \"1 ms\" }"),
        set("recovery.trims", "volatile"),
    ];
    // Trimmed after the last checkpoint, and before it.
    for (at, returns) in [(1_500, true), (900, false)] {
        let mut drive = Cutting { bench: Bench::filled(&given) };
        drive.bench.submit(at * US, Kind::Trim, 7 * PAGE, PAGE);
        let outage = drive.cut(1_600 * US).unwrap();
        assert_eq!(outage.units, 767 + u32::from(returns), "at {at} us");
        assert_eq!(drive.holds(7), returns, "at {at} us");
    }
}

#[test]
fn zeroes_stay_though_trims_may_not() {
    for map in ["scan", "{ policy = \"checkpoint\", every = \"1 s\" }"] {
        let given = [set("recovery.map", map), set("recovery.trims", "volatile")];
        let mut drive = Cutting { bench: Bench::filled(&given) };
        drive.bench.submit(0, Kind::WriteZeroes, 7 * PAGE, PAGE);
        drive.bench.submit(0, Kind::Trim, 8 * PAGE, PAGE);
        // A trim after zeroes does not bring data back.
        drive.bench.submit(US, Kind::Trim, 7 * PAGE, PAGE);
        let outage = drive.cut(100 * US).unwrap();
        assert_eq!(outage.units, 767, "{map}");
        assert!(!drive.holds(7) && drive.holds(8), "{map}");
        // Nor does a second cut.
        let at = now(&drive);
        assert_eq!(drive.cut(at + US).unwrap().units, 767, "{map}");
    }
}
