//! Duration of recovery.

use crate::common::{Override, set};
use crate::power::{Cutting, LOOK, PAGE, US, collecting, now, ns};
use drive::OpKind;
use engine::Span;
use ftl::BlockState;
use host::Kind;
use metrics::Holder;

#[test]
fn a_scan_reads_what_is_written_and_the_first_row_that_is_not() {
    // 64 blocks of 16 rows in one plane, nothing written: a row of each.
    let empty = Cutting::new(&[]).cut(0).unwrap();
    assert_eq!((empty.pages_scanned, empty.blocks_scanned), (64, 64));
    assert_eq!(ns(empty.took), 64 * LOOK);
    // 48 blocks are full, 16 are free.
    let full = Cutting::filled(&[]).cut(0).unwrap();
    assert_eq!((full.pages_scanned, full.units), (48 * 16 + 16, 768));
    assert_eq!(ns(full.took), (48 * 16 + 16) * LOOK);
    assert_eq!(full.parts, [Span::ZERO, full.took, Span::ZERO, Span::ZERO]);
    // Three pages of an open block, and a fourth row that is found erased.
    let mut some = Cutting::new(&[]);
    (0..3).for_each(|page| _ = some.write(page * 300 * US, page));
    let some = some.cut(900 * US).unwrap();
    assert_eq!((some.pages_scanned, some.units, some.closed_early), (63 + 4, 3, 1));
}

#[test]
fn summaries_spare_the_pages_of_full_blocks() {
    // 15 of 16 rows hold data: 48 blocks are full. A summary takes 512 bytes, 12.5 us.
    let mut drive = Cutting::filled(&[
        set("ftl.summary_page", true),
        set("ftl.over_provisioning.exported", "2880 KiB"),
    ]);
    let outage = drive.cut(0).unwrap();
    assert_eq!(outage.units, 720);
    // The last row of a free block, and then its first.
    assert_eq!((outage.pages_scanned, outage.blocks_scanned), (48 + 16 * 2, 64));
    assert_eq!(ns(outage.took), 64 * 37_500 + 16 * LOOK);
}

#[test]
fn channels_and_units_work_beside_each_other() {
    let blocks = |overrides: &[Override]| {
        let mut all = vec![set("geometry.blocks_per_plane", 16)];
        all.extend_from_slice(overrides);
        ns(Cutting::new(&all).cut(0).unwrap().took)
    };
    // Two channels: as long as one, whose unit is the same.
    assert_eq!(blocks(&[]), 16 * LOOK);
    assert_eq!(blocks(&[set("geometry.channels", 2)]), 16 * LOOK);
    // Two dies of a channel sense in parallel and transfer one after the other.
    assert_eq!(blocks(&[set("geometry.dies_per_package", 2)]), 16 * LOOK);
    // Two planes are read in parallel, or one after the other if the die is the unit.
    let planes = set("geometry.planes_per_die", 2);
    assert_eq!(blocks(std::slice::from_ref(&planes)), 32 * LOOK);
    let apart = [planes, set("concurrency.read", "plane")];
    assert_eq!(blocks(&apart), 16 * LOOK);
    // 1024 spare bytes a page take 25 us, and nothing else changes.
    let spare = set("geometry.page_spare", "1 KiB");
    assert_eq!(blocks(&[spare]), 16 * 50 * US);
    // 64 dies transfer for longer than one of them senses and transfers.
    let many = [set("geometry.dies_per_package", 64), set("geometry.page_spare", "1 KiB")];
    assert_eq!(blocks(&many), 64 * 16 * 25 * US);
    // On two channels, half as many each.
    let spread = [
        set("geometry.channels", 2),
        set("geometry.dies_per_package", 32),
        set("geometry.page_spare", "1 KiB"),
    ];
    assert_eq!(blocks(&spread), 32 * 16 * 25 * US);
}

#[test]
fn a_summary_of_several_planes_is_read_at_once() {
    // Blocks of two planes, which one read covers: 64 of 16 rows of 8 KiB; the last row is a
    // summary of 512 bytes, 12.5 us. 15 rows hold 30 units: 48 full blocks.
    let mut drive = Cutting::filled(&[
        set("geometry.planes_per_die", 2),
        set("ftl.block_planes", 2),
        set("ftl.summary_page", true),
        set("ftl.over_provisioning.exported", "5760 KiB"),
    ]);
    let outage = drive.cut(0).unwrap();
    assert_eq!((outage.units, outage.blocks_scanned), (1_440, 64));
    // Each row is a page of both planes.
    assert_eq!(outage.pages_scanned, 2 * (48 + 16 * 2));
    // The first row of a free block: 2 * 16 bytes of metadata at 40.96 MB/s take 781.25 ns.
    assert_eq!(ns(outage.took), 64 * 37_500 + 16 * (25 * US + 781));
}

#[test]
fn channels_of_a_gang_read_beside_each_other() {
    let took = |control: &str| {
        let gang = format!("{{ channels = 2, control = \"{control}\" }}");
        let mut drive = Cutting::filled(&[
            set("geometry.channels", 2),
            set("geometry.gang", gang),
            set("ftl.allocation.pool", if control == "synchronous" { "drive" } else { "gang" }),
            set("geometry.page_spare", "1 KiB"),
            set("recovery.map", "{ policy = \"checkpoint\", units = 100000 }"),
            // 24 of 32 blocks of a channel's plane.
            set("geometry.blocks_per_plane", 32),
            set("ftl.unit", if control == "synchronous" { "8 KiB" } else { "4 KiB" }),
        ]);
        (0..2).for_each(|turn| _ = drive.bench.submit(0, Kind::Write, turn * 2 * PAGE, 2 * PAGE));
        drive.bench.settle();
        let at = now(&drive);
        drive.cut(at).unwrap()
    };
    // Each channel has a row of its own with 4 KiB and 1 KiB spare, 125 us; a read of the metadata
    // of a row transfers 1 KiB, 25 us. Four pages were written, two on each channel; a third row of
    // each is found erased. The map takes 3 KiB: a row of one bin.
    let looks = 3 * 50 * US;
    let apart = took("asynchronous");
    assert_eq!((apart.blocks_scanned, apart.pages_scanned), (2, 6));
    assert_eq!([apart.parts[0], apart.parts[1]].map(ns), [150 * US, looks]);
    // Together they are one channel, with rows of two pages.
    let together = took("synchronous");
    assert_eq!((together.blocks_scanned, together.pages_scanned), (1, 3));
    assert_eq!([together.parts[0], together.parts[1]].map(ns), [150 * US, looks]);
}

#[test]
fn a_block_that_was_closed_early_is_read_as_far_as_it_was_written() {
    let given = [set("ftl.unit", "16 KiB"), set("nand.program", "[\"200 us\"]")];
    // A unit of four rows of 300 us: the number of rows that are begun, after one unit that is
    // complete.
    for (at, rows) in [(1_299, 0), (1_301, 1), (1_599, 1), (1_701, 2), (2_350, 4)] {
        let mut drive = Cutting::new(&given);
        drive.bench.submit(0, Kind::Write, 0, 4 * PAGE);
        drive.bench.submit(1_200 * US, Kind::Write, 4 * PAGE, 4 * PAGE);
        let outage = drive.cut(at * US).unwrap();
        // The rows that are not erased, and the next; a row of each of 63 free blocks.
        assert_eq!(outage.pages_scanned, 4 + rows + 1 + 63, "at {at} us");
        assert_eq!(ns(outage.took), (4 + rows + 1 + 63) * LOOK, "at {at} us");
        // It is no fuller at the next cut.
        let at = now(&drive);
        assert_eq!(drive.cut(at).unwrap().pages_scanned, outage.pages_scanned);
    }
}

#[test]
fn after_a_cut_the_least_worn_block_is_opened_first() {
    for (order, is_least_worn) in [("least-worn", true), ("fifo", false)] {
        let mut drive = Cutting::filled(&[set("ftl.allocation.free_block", order)]);
        // The free block with the least number, and the one with the fewest erases.
        let free = |drive: &Cutting| {
            let ftl = drive.bench.device.ftl();
            let is_free = |block: &usize| ftl.block_states()[*block] == BlockState::Free;
            let erases = |block: &usize| ftl.erase_counts()[*block];
            let least = (0..64).filter(is_free).min_by_key(erases)?;
            let first = (0..64).find(is_free)?;
            (erases(&least) < erases(&first)).then_some([first, least])
        };
        let mut turn = 0;
        let [first, least] = loop {
            let now = now(&drive);
            drive.write(now, turn * 7 % 300);
            drive.bench.settle();
            turn += 1;
            if let Some(blocks) = free(&drive) {
                break blocks;
            }
            assert!(turn < 20_000, "blocks wear alike");
        };
        let at = now(&drive);
        let up = at + ns(drive.cut(at).unwrap().took);
        drive.write(up, 5);
        drive.bench.settle();
        let opened = if is_least_worn { least } else { first };
        assert_eq!(drive.bench.device.ftl().block_states()[opened], BlockState::Open, "{order}");
    }
}

#[test]
fn an_erase_that_is_suspended_at_the_cut_is_erased_anew() {
    let given = [set("scheduler.read_routing", "suspend"), set("scheduler.suspension", "ideal-es")];
    let mut drive = collecting(&given, OpKind::Erase, Holder::Erase);
    let before = drive.bench.device.ftl().tally.erases;
    // A read of 125 us makes the erase wait.
    let at = now(&drive);
    drive.bench.submit(at + 700 * US, Kind::Read, 300 * PAGE, PAGE);
    let outage = drive.cut(at + 750 * US).unwrap();
    assert_eq!((outage.half_erased, outage.units), (1, 768));
    assert_eq!(ns(outage.parts[3]), 1_500 * US);
    assert_eq!(drive.bench.device.ftl().tally.erases, before + 1);
    drive.bench.settle();
}
