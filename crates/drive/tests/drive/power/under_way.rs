//! Data left by operations that were cut off.

use crate::common::set;
use crate::power::{Cutting, PAGE, US, collecting, now, ns, written_until};
use drive::OpKind;
use ftl::wear::Migration;
use ftl::{Batch, BinId, BlockId, BlockState};
use host::Kind;
use metrics::Holder;

#[test]
fn a_block_that_was_being_erased_is_erased_anew() {
    let mut drive = written_until(&[], |count| count.commands(OpKind::Erase, Holder::Erase) > 20);
    let before = drive.bench.device.ftl().tally;
    let at = now(&drive) + 700 * US;
    let outage = drive.cut(at).unwrap();
    assert_eq!((outage.half_erased, ns(outage.parts[3])), (1, 1_500 * US));
    let after = drive.bench.device.ftl().tally;
    assert_eq!((before.erases, after.erases), (20, 21));
    // Victims come one after the other: all moved units came from those.
    let moved = after.units[ftl::Source::Gc as usize];
    assert!(moved > 0);
    assert_eq!((after.collected, after.moved), (21, moved));
    assert_eq!(outage.units, 768);
    drive.bench.settle();
}

#[test]
fn a_move_that_was_cut_off_leaves_its_source() {
    // In the transfer, in the program, and after it.
    for (after, torn) in [(50, 0), (200, 1), (299, 1)] {
        let mut drive = collecting(&[], OpKind::Program, Holder::GcProgram);
        let at = now(&drive) + after * US;
        let outage = drive.cut(at).unwrap();
        assert_eq!(outage.half_programmed, torn, "after {after} us");
        assert_eq!(outage.units, 768, "after {after} us");
        drive.bench.settle();
    }
}

#[test]
fn a_copy_back_that_was_cut_off_leaves_its_source() {
    // It senses for 25 us, and then it programs.
    for (after, torn) in [(24, 0), (26, 1), (224, 1)] {
        let given = [set("ftl.gc.copy_back", true)];
        let mut drive = collecting(&given, OpKind::CopyBack, Holder::GcProgram);
        let at = now(&drive) + after * US;
        let outage = drive.cut(at).unwrap();
        assert_eq!((outage.half_programmed, outage.units), (torn, 768), "after {after} us");
        drive.bench.settle();
    }
}

#[test]
fn a_partial_write_that_was_cut_off_inside_its_planes_leaves_the_old_page() {
    // Two rows of one page: each is sensed for 25 us and programmed for 200; the first takes a
    // kibibyte in 25 us.
    let given = [set("ftl.partial_writes", "plane"), set("ftl.unit", "8 KiB")];
    for (after, torn) in [(24, 0), (49, 0), (51, 1), (249, 1), (251, 1), (474, 1), (475, 0)] {
        let mut drive = Cutting::filled(&given);
        let at = now(&drive);
        drive.bench.submit(at, Kind::Write, 16 * 1024, 1024);
        let outage = drive.cut(at + after * US).unwrap();
        assert_eq!((outage.half_programmed, outage.units), (torn, 384), "after {after} us");
        assert_eq!(outage.lost_requests, u32::from(after < 475), "after {after} us");
        drive.bench.settle();
    }
}

#[test]
fn a_page_that_was_cut_off_as_it_streamed_leaves_its_source() {
    // It crosses both channels for 100 us, and is then programmed for 200. A host's program may
    // be cut off with it.
    let given = [set("geometry.channels", 2), set("ftl.gc.streaming", true)];
    for (after, torn) in [(0, 0), (99, 0), (101, 1), (299, 1), (301, 0)] {
        let mut drive = written_until(&given, |counters| counters.streamed > 0);
        let units = drive.bench.device.ftl().mapped_units();
        let at = now(&drive) + after * US;
        let outage = drive.cut(at).unwrap();
        let of_hosts = outage.half_programmed - torn;
        assert!(of_hosts <= 1, "{} are torn after {after} us", outage.half_programmed);
        assert_eq!(outage.units, units, "after {after} us");
        drive.bench.settle();
    }
}

#[test]
fn a_scrub_that_was_cut_off_leaves_its_source() {
    for stream in ["collection", "own"] {
        let given = [
            set("ftl.scrub.interval", "10 ms"),
            set("ftl.scrub.choice", "oldest"),
            set("ftl.scrub.stream", stream),
        ];
        for after in [1, 90, 150, 310, 500, 2_000, 5_000, 7_000] {
            let mut drive = Cutting::filled(&given);
            let outage = drive.cut(10_000 * US + after * US).unwrap();
            assert_eq!(outage.units, 768, "after {after} us, {stream}");
            let up = now(&drive);
            drive.bench.until(up + 20_000 * US);
            let erases = drive.bench.device.ftl().tally.erases;
            assert!(erases > 0, "it scrubs on");
        }
    }
}

#[test]
fn a_unit_of_several_rows_is_whole_or_lost() {
    let given = [set("ftl.unit", "16 KiB"), set("nand.program", "[\"200 us\"]")];
    // Four rows of 300 us each. Nothing of the first is on flash before 100 us.
    for (at, torn) in [(99, 0), (101, 1), (350, 1), (950, 1), (1_199, 1)] {
        let mut drive = Cutting::new(&given);
        drive.bench.submit(0, Kind::Write, 0, 4 * PAGE);
        let outage = drive.cut(at * US).unwrap();
        assert_eq!((outage.half_programmed, outage.units), (torn, 0), "at {at} us");
        assert_eq!(outage.closed_early, torn, "at {at} us");
    }
    let mut drive = Cutting::new(&given);
    drive.bench.submit(0, Kind::Write, 0, 4 * PAGE);
    let outage = drive.cut(1_200 * US).unwrap();
    assert_eq!((outage.half_programmed, outage.units), (0, 1));
}

#[test]
fn a_block_whose_summary_was_cut_off_is_scanned() {
    let given = [set("ftl.summary_page", true), set("ftl.over_provisioning.exported", "2880 KiB")];
    // The fifteenth page fills a block; its data is on flash at 300 us, the summary's transfer
    // takes 12.5 us, and its program 200 us.
    for (after, is_there) in [(299, false), (300, true), (312, true), (400, true), (512, true)] {
        let mut drive = Cutting::new(&given);
        (0..14).for_each(|page| _ = drive.write(page * 300 * US, page));
        let begin = 14 * 300 * US;
        drive.write(begin, 14);
        let outage = drive.cut(begin + after * US).unwrap();
        assert_eq!(outage.units, 14 + u32::from(is_there), "after {after} us");
        let written = drive.bench.device.ftl().tally.units[ftl::Source::Host as usize];
        assert_eq!(written, 14 + u64::from(is_there), "after {after} us");
        // The last row of each block, and rows from the first on of those that have no summary.
        assert_eq!(outage.pages_scanned, 64 + 63 + 15, "after {after} us");
        assert_eq!(drive.bench.device.ftl().block_states()[0], BlockState::Closed);
    }
    let mut drive = Cutting::new(&given);
    (0..15).for_each(|page| _ = drive.write(page * 300 * US, page));
    let outage = drive.cut(14 * 300 * US + 513 * US).unwrap();
    assert_eq!((outage.units, outage.pages_scanned), (15, 64 + 63));
}

#[test]
fn a_copy_whose_summary_was_cut_off_is_a_copy() {
    // Each copy transfers a whole batch, so the first program of collection is a summary: nothing
    // is copied twice by then.
    let given = [
        set("ftl.allocation.streams", "separate"),
        set("ftl.summary_page", true),
        set("ftl.over_provisioning.exported", "2880 KiB"),
        set("ftl.gc.copy_back", true),
        set("ftl.gc.copy_back_most", 1),
    ];
    let mut drive = collecting(&given, OpKind::Program, Holder::GcProgram);
    let ftl = drive.bench.device.ftl();
    let is_filled = |block: &BlockId| {
        ftl.block_states()[block.0 as usize] == BlockState::Open && ftl.bound_units(*block) == 0
    };
    let block = (0..64).map(BlockId).find(is_filled).expect("it is not closed yet");
    assert_eq!(drive.bench.device.counters().commands(OpKind::Read, Holder::GcRead), 0);
    let moved = ftl.tally.units[ftl::Source::Gc as usize];
    let at = now(&drive);
    assert_eq!(drive.cut(at).unwrap().units, 720);
    let ftl = drive.bench.device.ftl();
    assert!(!ftl.may_be_copied(Batch { block, batch: 14 }), "it was copied once");
    assert_eq!(ftl.tally.units[ftl::Source::Gc as usize], moved + 1);
    drive.bench.settle();
}

#[test]
fn a_migration_that_was_cut_off_leaves_its_source() {
    let mut drive =
        Cutting::filled(&[set("nand.endurance", 200), set("ftl.wear.retirement_age", "99 %")]);
    let is_under_way = |drive: &Cutting| {
        let migration = drive.bench.device.ftl().migration(BinId(0));
        matches!(migration, Some(Migration::Takes { next: 1.., from: Some(_), .. }))
    };
    let mut turn = 0;
    while !is_under_way(&drive) {
        if drive.bench.device.outstanding() == 0 {
            let now = now(&drive);
            // A part of the drive, so that the rest becomes cold.
            drive.write(now, turn * 7 % 200);
            turn += 1;
        }
        drive.bench.step();
        assert!(turn < 20_000, "nothing migrates");
    }
    let migrations = drive.bench.device.ftl().tally.migrations;
    let at = now(&drive);
    let outage = drive.cut(at).unwrap();
    assert_eq!((outage.migrating, outage.units), (1, 768));
    assert_eq!(drive::results::outage(&outage)["migrations_cut_off"], 1);
    assert_eq!(drive.bench.device.ftl().tally.migrations, migrations, "it has not ended");
    for turn in 0..200 {
        let now = drive.bench.settle();
        drive.write(now, turn * 11 % 768);
    }
    drive.bench.settle();
}

#[test]
fn what_was_moved_before_a_cut_counts_with_its_block() {
    // One page of sixteen is invalid in each full block, and the power is cut during moves.
    let mut drive = Cutting::filled(&[
        set("ftl.over_provisioning.exported", "3584 KiB"),
        set("ftl.gc.background", "3 blocks"),
        set("ftl.gc.foreground", "3 blocks"),
        set("ftl.gc.stop", "3 blocks"),
    ]);
    let moves = |drive: &Cutting| drive.bench.device.ftl().tally.units[ftl::Source::Gc as usize];
    let places = |drive: &Cutting| -> Vec<_> {
        let ftl = drive.bench.device.ftl();
        (0..ftl.layout.host_units).map(|lpn| ftl.lookup(ftl::Lpn(lpn))).collect()
    };
    let (mut page, mut undone, mut next_cut) = (0, 0, 8);
    for _ in 0..2_000 {
        let at = now(&drive);
        page = (page + 16) % 896 + u64::from(page + 16 >= 896);
        drive.write(at, page % 896);
        while drive.bench.device.outstanding() > 0 {
            drive.bench.step();
            if moves(&drive) >= next_cut {
                let before = places(&drive);
                let at = now(&drive);
                drive.cut(at).unwrap();
                // A copy that recovery does not take for the newer one is one move less.
                let after = places(&drive);
                undone += before.iter().zip(&after).filter(|(was, is)| was != is).count() as u64;
                next_cut = moves(&drive) + 24;
            }
        }
    }
    drive.bench.settle();
    let (tally, moved) = (drive.bench.device.ftl().tally, moves(&drive) - undone);
    // Except for one or two victims that were not erased yet.
    assert!(
        undone > 100 && tally.moved <= moved && moved < tally.moved + 32,
        "{tally:?}, {undone}"
    );
}

#[test]
fn a_collection_of_the_last_free_block_is_undone() {
    // Moved pages have blocks of their own, and the last free block is theirs.
    let given = [set("ftl.allocation.streams", "separate")];
    let mut drive = Cutting::filled(&given);
    let mut page = 0;
    let is_full = |drive: &Cutting| {
        let device = &drive.bench.device;
        device.ftl().free_blocks_in_all() == 0
            && device.ftl().tally.units[ftl::Source::Gc as usize] > 0
    };
    while !is_full(&drive) {
        if drive.bench.device.outstanding() == 0 {
            let now = now(&drive);
            drive.write(now, page * 7 % 768);
            page += 1;
        }
        drive.bench.step();
        assert!(page < 5_000, "there is always a free block");
    }
    let before = drive.bench.device.ftl().tally;
    let at = now(&drive) + 150 * US;
    let outage = drive.cut(at).unwrap();
    assert_eq!((outage.undone, outage.units), (1, 768));
    assert_eq!(ns(outage.parts[3]), 1_500 * US);
    // That collected nothing, and the moved data is at its old place.
    let after = drive.bench.device.ftl().tally;
    assert_eq!(after.erases, before.erases + 1);
    assert_eq!((after.collected, after.moved), (before.collected, before.moved));
    // It can collect on, and no block counts more valid units than it holds.
    for turn in 0..200 {
        let now = drive.bench.settle();
        drive.write(now, turn * 11 % 768);
    }
    drive.bench.settle();
    let ended = drive.bench.device.ftl().tally.since(&before);
    assert!(ended.collected > 10 && ended.moved <= ended.collected * 16, "{ended:?}");
}
