//! Power cuts: what survives, what is found again, how long that takes, and that the auditor
//! finds what a recovery does wrong.

mod common;

use common::{Bench, Override, experiment, run, set, try_experiment};
use drive::recovery::Outage;
use drive::{Device, Experiment, OpKind, Prepared, Run, Snapshot};
use engine::{Instant, Span};
use ftl::recovery::Fault;
use ftl::wear::Migration;
use ftl::{Batch, BinId, BlockId, BlockState, Lpn};
use host::Kind;
use metrics::Holder;

const PAGE: u64 = 4_096;
const US: u64 = 1_000;
/// The metadata of a page, 16 bytes at 40.96 MB/s: 390.6 ns, and sensing.
const LOOK: u64 = 25 * US + 391;

/// The small drive, which keeps what recovery takes.
fn recovering(overrides: &[Override]) -> Vec<Override> {
    let mut all = vec![set("recovery.map", "scan")];
    all.extend_from_slice(overrides);
    all
}

/// A drive on a bench that recovers.
struct Cutting {
    bench: Bench,
}

impl Cutting {
    fn new(overrides: &[Override]) -> Self {
        Self { bench: Bench::new(&recovering(overrides)) }
    }
    fn filled(overrides: &[Override]) -> Self {
        Self { bench: Bench::filled(&recovering(overrides)) }
    }
    fn write(&mut self, ns: u64, page: u64) -> u32 {
        self.bench.submit(ns, Kind::Write, page * PAGE, PAGE)
    }
    fn device(&mut self) -> &mut Device {
        &mut self.bench.device
    }
    /// Cuts the power at a time; the drive is there again afterwards.
    fn cut(&mut self, ns: u64) -> Result<Outage, String> {
        self.bench.cut_power(ns)
    }
    fn holds(&self, page: u32) -> bool {
        self.bench.device.has_data(Lpn(page))
    }
}

fn ns(span: Span) -> u64 {
    span.as_ns()
}

// ---- durations -------------------------------------------------------------------

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
    // Of a free block its last row and then its first.
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
    // Two dies of a channel sense beside each other and carry one after the other.
    assert_eq!(blocks(&[set("geometry.dies_per_package", 2)]), 16 * LOOK);
    // Two planes read apart, or one after the other where the die is the unit.
    let planes = set("geometry.planes_per_die", 2);
    assert_eq!(blocks(std::slice::from_ref(&planes)), 32 * LOOK);
    let apart = [planes, set("concurrency.read", "plane")];
    assert_eq!(blocks(&apart), 16 * LOOK);
    // 1024 spare bytes a page take 25 us, and nothing else changes.
    let spare = set("geometry.page_spare", "1 KiB");
    assert_eq!(blocks(&[spare]), 16 * 50 * US);
    // 64 dies carry for longer than one of them senses and carries.
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
    // Blocks of two planes, which one read takes: 64 of 16 rows of 8 KiB; the last is a summary
    // of 512 bytes, 12.5 us. 15 rows hold 30 units: 48 full blocks.
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
    // Each channel has a row of its own with 4 KiB and 1 KiB spare, 125 us; a look at one
    // carries 1 KiB, 25 us. Four pages were written, two on each channel; a third row of each is
    // found erased. The map takes 3 KiB: a row of one bin.
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
    // A unit of four rows of 300 us: how many of them are begun, after one that is whole.
    for (at, rows) in [(1_299, 0), (1_301, 1), (1_599, 1), (1_701, 2), (2_350, 4)] {
        let mut drive = Cutting::new(&given);
        drive.bench.submit(0, Kind::Write, 0, 4 * PAGE);
        drive.bench.submit(1_200 * US, Kind::Write, 4 * PAGE, 4 * PAGE);
        let outage = drive.cut(at * US).unwrap();
        // The rows that are not erased, and the next; of each of 63 free blocks a row.
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
        // The free block of the least number, and that of the fewest erases.
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
fn an_erase_that_makes_way_at_the_cut_is_erased_anew() {
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

// ---- durability ----------------------------------------------------------------------

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

fn buffered(durability: &str) -> Cutting {
    Cutting::new(&[
        set("buffer.durability", durability),
        set("buffer.flush", "{ policy = \"watermark\", high = \"90 %\", low = \"10 %\" }"),
    ])
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
    // The rest of the page is on its way until 125 us.
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

// ---- trims ---------------------------------------------------------------------------

fn trimmed(trims: &str) -> Cutting {
    let mut drive = Cutting::new(&[set("recovery.trims", trims)]);
    (0..3).for_each(|page| _ = drive.write(page * 300 * US, page));
    drive.bench.submit(900 * US, Kind::Trim, PAGE, PAGE);
    drive
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

/// Page 0 is in a block that the drive was filled with, and again in the block behind it,
/// which has 16 pages of as many blocks. The checkpoint at 200 ms knows both blocks. Then the
/// 16 are trimmed, and one other page is written until that block is erased.
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
    // A scan finds what the drive was filled with.
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
        // A trim of zeroes takes nothing back.
        drive.bench.submit(US, Kind::Trim, 7 * PAGE, PAGE);
        let outage = drive.cut(100 * US).unwrap();
        assert_eq!(outage.units, 767, "{map}");
        assert!(!drive.holds(7) && drive.holds(8), "{map}");
        // Nor does a second cut.
        let at = now(&drive);
        assert_eq!(drive.cut(at + US).unwrap().units, 767, "{map}");
    }
}

// ---- what was under way ----------------------------------------------------------------

/// The moment at which a collection first does something, on a drive that is full and is
/// overwritten, with the drive at that moment.
fn collecting(overrides: &[Override], kind: OpKind, by: Holder) -> Cutting {
    let mut drive = Cutting::filled(overrides);
    let mut page = 0;
    while drive.bench.device.counters().commands(kind, by) == 0 {
        if drive.bench.device.outstanding() == 0 {
            let now = drive.bench.device.now().as_ns();
            let pages = u64::from(drive.bench.device.ftl().layout.logical_units);
            // Never the same order twice, so that some of a block lives on.
            drive.write(now, (page * page * 7 + page) % pages);
            page += 1;
        }
        drive.bench.step();
        assert!(page < 5_000, "nothing is collected");
    }
    drive
}

fn now(drive: &Cutting) -> u64 {
    drive.bench.device.now().as_ns()
}

#[test]
fn a_block_that_was_being_erased_is_erased_anew() {
    let mut drive = collecting(&[], OpKind::Erase, Holder::Erase);
    let before = drive.bench.device.ftl().tally.erases;
    let at = now(&drive) + 700 * US;
    let outage = drive.cut(at).unwrap();
    assert_eq!((outage.half_erased, ns(outage.parts[3])), (1, 1_500 * US));
    assert_eq!(drive.bench.device.ftl().tally.erases, before + 1);
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
fn a_scrub_that_was_cut_off_leaves_its_source() {
    let given = [set("ftl.scrub.interval", "10 ms"), set("ftl.scrub.choice", "oldest")];
    for after in [1, 90, 150, 310, 500, 2_000, 5_000, 7_000] {
        let mut drive = Cutting::filled(&given);
        let outage = drive.cut(10_000 * US + after * US).unwrap();
        assert_eq!(outage.units, 768, "after {after} us");
        let up = now(&drive);
        drive.bench.until(up + 20_000 * US);
        let erases = drive.bench.device.ftl().tally.erases;
        assert!(erases > 0, "it scrubs on");
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
    // Each copy carries a whole batch, so the first program of collection is a summary: nothing
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
            // A part of the drive, so that the rest gets cold.
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
    assert_eq!(drive.bench.device.ftl().tally.migrations, migrations, "it has not ended");
    for turn in 0..200 {
        let now = drive.bench.settle();
        drive.write(now, turn * 11 % 768);
    }
    drive.bench.settle();
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
    let erases = drive.bench.device.ftl().tally.erases;
    let at = now(&drive) + 150 * US;
    let outage = drive.cut(at).unwrap();
    assert_eq!((outage.undone, outage.units), (1, 768));
    assert_eq!(ns(outage.parts[3]), 1_500 * US);
    assert_eq!(drive.bench.device.ftl().tally.erases, erases + 1);
    // It can go on to collect.
    for turn in 0..200 {
        let now = drive.bench.settle();
        drive.write(now, turn * 11 % 768);
    }
    drive.bench.settle();
}

// ---- that faults are found ---------------------------------------------------------------

/// What the auditor says of a recovery that does something wrong.
fn found(mut drive: Cutting, fault: Fault, at: u64) -> String {
    drive.device().recover_badly(fault);
    drive.cut(at).expect_err("it is found")
}

#[test]
fn the_auditor_finds_what_a_recovery_does_wrong() {
    // The third write is in a block of a lower number than the second.
    let overwritten = || {
        let mut drive = Cutting::new(&[]);
        (0..20).for_each(|turn| _ = drive.write(turn * 300 * US, turn % 3));
        drive
    };
    let mut sound = overwritten();
    assert_eq!(sound.cut(6_000 * US).unwrap().units, 3);
    let mut trims = trimmed("logged");
    trims.device().recover_badly(Fault::ForgetsTrims);
    let returned = trims.cut(1_000 * US).expect_err("it returned");
    assert!(returned.contains("it is older"), "{returned}");
    let skipped = found(overwritten(), Fault::SkipsOpen, 6_000 * US);
    assert!(skipped.contains("it is older") || skipped.contains("lost"), "{skipped}");
    let torn = found(overwritten(), Fault::TrustsTorn, 19 * 300 * US + 200 * US);
    assert!(torn.contains("is mapped to"), "{torn}");
    let mut saved = buffered("capacitor");
    saved.write(0, 5);
    let lost = found(saved, Fault::LosesDump, 10 * US);
    assert!(lost.contains("it is lost"), "{lost}");
}

#[test]
fn a_recovery_that_ignores_versions_is_found() {
    // Once blocks were collected, older copies lie in blocks of higher numbers.
    let mut drive = Cutting::filled(&[]);
    for turn in 0..1_000 {
        let now = now(&drive);
        drive.write(now, turn * 7 % 768);
        drive.bench.settle();
    }
    assert!(drive.bench.device.ftl().tally.erases > 40);
    drive.device().recover_badly(Fault::IgnoresVersions);
    let at = now(&drive);
    let wrong = drive.cut(at).expect_err("it is found");
    assert!(wrong.contains("is mapped to") || wrong.contains("it is older"), "{wrong}");
}

#[test]
fn a_recovery_that_reads_too_little_is_found() {
    let given = [set("recovery.map", "{ policy = \"checkpoint\", units = 1000 }")];
    let mut drive = Cutting { bench: Bench::filled(&given) };
    (0..20).for_each(|turn| _ = drive.write(turn * 300 * US, turn));
    let wrong = found(drive, Fault::SkipsChanged, 6_000 * US);
    assert!(wrong.contains("was not read"), "{wrong}");
}

// ---- whole runs ----------------------------------------------------------------------------

const MIXED: &str = "
    [precondition]
    fill = \"random\"
    age.overwrites = 2.0
    [[workload]]
    name = \"closed\"
    mix = { read = \"30 %\", write = \"60 %\", trim = \"5 %\", flush = \"5 %\" }
    queue_depth = 8
    [[workload]]
    name = \"open\"
    reads = \"50 %\"
    arrivals = { process = \"poisson\", rate = \"500 IOPS\" }
    [run]
    requests = 2000
";

#[test]
fn a_run_goes_on_after_power_cuts_and_is_the_same_each_time() {
    for (durability, map) in [
        ("none", "scan"),
        ("volatile", "scan"),
        ("capacitor", "{ policy = \"checkpoint\", units = 100 }"),
        ("volatile", "{ policy = \"checkpoint\", every = \"20 ms\" }"),
        ("capacitor", "persistent"),
    ] {
        let experiment = experiment(
            MIXED,
            &[
                set("buffer.durability", durability),
                set("recovery.map", map),
                set(
                    "run.power_cut",
                    "[{ at = \"50 ms\" }, { after_events = 3000 }, { within = \"300 ms\" }]",
                ),
            ],
        );
        let first = run(&experiment);
        let again = run(&experiment);
        assert_eq!(first.outages().len(), 3, "{durability}, {map}");
        assert_eq!(first.outages(), again.outages());
        assert_eq!(first.device().digest(), again.device().digest());
        // The one whose moment is given comes then, whatever comes before.
        let at = Instant::from_ns(50_000 * US);
        assert_eq!(first.outages().iter().filter(|outage| outage.at == at).count(), 1);
        assert!(first.lost_requests() > 0);
    }
}

#[test]
fn requests_of_open_loops_wait_for_the_drive() {
    let text = "
        [[workload]]
        name = \"open\"
        reads = \"0 %\"
        size = \"4 KiB\"
        arrivals = { process = \"constant\", rate = \"1 kIOPS\" }
        [run]
        requests = 10
    ";
    let given = recovering(&[
        set("geometry.blocks_per_plane", 64),
        set("run.power_cut", "{ at = \"1.5 ms\" }"),
    ]);
    let run = run(&experiment(text, &given));
    let [outage] = run.outages() else { panic!("one cut") };
    assert_eq!((outage.at, outage.lost_requests), (Instant::from_ns(1_500_000), 0));
    // Two requests came before, at 0 and at 1 ms; 64 blocks are looked into, one of them twice more.
    assert_eq!(ns(outage.took), (63 + 3) * LOOK);
    let up_at = 1_500 * US + 66 * LOOK;
    let waiting = (2..10).filter(|ms| ms * 1_000 * US < up_at).count();
    assert_eq!(waiting, 2);
    let stats = common::stats(&run, 0, Kind::Write);
    assert_eq!(stats.latency.count(), 10);
    // The first that waited came at 2 ms and is written in 300 us.
    let longest = stats.latency.max().unwrap();
    assert_eq!(ns(longest), up_at + 300 * US - 2_000 * US);
}

#[test]
fn a_second_cut_begins_the_recovery_anew() {
    let given = recovering(&[set("run.power_cut", "[{ at = \"1 ms\" }, { at = \"2 ms\" }]")]);
    let text = "[[workload]]\nname = \"host\"\nreads = \"0 %\"\n[run]\nrequests = 20\n";
    let run = run(&experiment(text, &given));
    let [first, second] = run.outages() else { panic!("two cuts") };
    assert!(first.interrupted && !second.interrupted);
    // The fourth write is being programmed. It was so once.
    let did = |of: &Outage| (of.half_programmed, of.closed_early, of.units);
    assert_eq!((did(first), did(second)), ((1, 1, 3), (0, 0, 3)));
    assert_eq!(ns(first.took), 1_000 * US);
    assert_eq!(second.took, first.parts[1]);
    assert_eq!((first.lost_requests, second.lost_requests), (1, 0));
}

#[test]
fn a_cut_at_the_beginning_finds_what_was_preconditioned() {
    let given = recovering(&[
        set("run.power_cut", "{ after_events = 0 }"),
        set("precondition.fill", "random"),
    ]);
    let text = "[[workload]]\nname = \"host\"\nreads = \"50 %\"\n[run]\nrequests = 100\n";
    let run = run(&experiment(text, &given));
    let [outage] = run.outages() else { panic!("one cut") };
    assert_eq!((outage.at, outage.units), (Instant::START, 768));
}

// ---- checkpoints, and a map that stays --------------------------------------------------------

#[test]
fn a_checkpoint_spares_blocks_that_have_not_changed() {
    let given = [
        set("recovery.map", "{ policy = \"checkpoint\", units = 1000 }"),
        set("precondition.fill", "sequential"),
    ];
    let mut bench = Cutting { bench: Bench::new(&given) };
    let outage = bench.cut(0).unwrap();
    assert_eq!((outage.pages_scanned, outage.units), (0, 768));
    // 768 entries of 4 bytes lie in one page.
    assert_eq!((outage.checkpoint_pages, ns(outage.took)), (1, 125 * US));
    // Twenty pages fill a block and open another.
    let up = now(&bench);
    (0..20).for_each(|turn| _ = bench.write(up + turn * 300 * US, turn * 3));
    let outage = bench.cut(up + 6_000 * US).unwrap();
    assert_eq!((outage.blocks_scanned, outage.pages_scanned), (2, 16 + 5));
    assert_eq!(outage.units, 768);
}

#[test]
fn checkpoints_are_counted() {
    let given = [
        set("recovery.map", "{ policy = \"checkpoint\", units = 30 }"),
        set("precondition.fill", "sequential"),
    ];
    let text =
        "[[workload]]\nname = \"host\"\nreads = \"0 %\"\nsize = \"4 KiB\"\n[run]\nrequests = 100\n";
    let run = run(&experiment(text, &given));
    assert_eq!(run.device().checkpoints(), Some((3, 1)));
}

#[test]
fn no_checkpoint_is_written_while_the_drive_is_off() {
    let given = [
        set("recovery.map", "{ policy = \"checkpoint\", every = \"50 us\" }"),
        set("precondition.fill", "sequential"),
    ];
    let mut drive = Cutting { bench: Bench::new(&given) };
    let outage = drive.cut(1_020 * US).unwrap();
    assert_eq!((ns(outage.took), now(&drive)), (125 * US, 1_145 * US));
    assert_eq!(drive.bench.device.checkpoints(), Some((20, 1)));
    // 20 us of its time were gone: the next is due 30 us later.
    drive.bench.until(1_174 * US);
    assert_eq!(drive.bench.device.checkpoints(), Some((20, 1)));
    drive.bench.until(1_175 * US);
    assert_eq!(drive.bench.device.checkpoints(), Some((21, 1)));
}

#[test]
fn a_map_that_stays_needs_no_scan() {
    let mut drive = Cutting { bench: Bench::filled(&[set("recovery.map", "persistent")]) };
    drive.write(0, 5);
    drive.bench.until(US);
    let outage = drive.cut(150 * US).unwrap();
    assert_eq!((outage.pages_scanned, outage.took, outage.units), (0, Span::ZERO, 768));
    assert_eq!(outage.half_programmed, 1);
    drive.bench.settle();
}

// ---- drives that are kept -----------------------------------------------------------------------

#[test]
fn versions_survive_a_snapshot() {
    let text = "
        [precondition]
        fill = \"random\"
        age.overwrites = 2.0
        [[workload]]
        name = \"mix\"
        mix = { read = \"20 %\", write = \"70 %\", trim = \"10 %\" }
        queue_depth = 4
        [run]
        requests = 2000
    ";
    let volatile = [set("recovery.trims", "volatile"), set("run.power_cut", "{ at = \"90 ms\" }")];
    let cutting = experiment(text, &volatile);
    let plain = experiment(text, &[]);
    let path = std::env::temp_dir().join(format!("flashscape-versions-{}", std::process::id()));
    let from = |kept: &Snapshot, experiment: &Experiment| {
        let prepared = Prepared::new(experiment, Some(kept), &mut |_| true).unwrap().unwrap();
        let mut run = Run::start(experiment, &[None], prepared).unwrap();
        while run.advance(1 << 14).unwrap_or_else(|error| panic!("{error}")) {}
        run
    };
    // The snapshot of a drive that has been cut off and has run on.
    let kept = run(&cutting).into_snapshot(&cutting).unwrap();
    kept.write(&mut std::fs::File::create(&path).unwrap()).unwrap();
    let read = Snapshot::read(&path, &mut |_| true).unwrap().unwrap();
    let (one, other) = (from(&kept, &cutting), from(&read, &cutting));
    assert_eq!(one.device().digest(), other.device().digest());
    assert_eq!(one.outages(), other.outages());
    assert_eq!(one.outages().len(), 1);
    // A drive that keeps nothing may be started from it, and the other way round.
    assert!(!from(&read, &plain).device().ftl().keeps_metadata());
    let without = run(&plain).into_snapshot(&plain).unwrap();
    assert_eq!(from(&without, &cutting).outages().len(), 1);
    std::fs::remove_file(path).unwrap();
}

#[test]
fn what_was_trimmed_before_a_snapshot_stays_so() {
    let text = "
        [precondition]
        fill = \"random\"
        age.overwrites = 2.0
        [[workload]]
        name = \"mix\"
        mix = { read = \"20 %\", write = \"60 %\", trim = \"20 %\" }
        queue_depth = 4
        [run]
        requests = 2000
    ";
    let path = std::env::temp_dir().join(format!("flashscape-trims-{}", std::process::id()));
    for trims in ["logged", "volatile"] {
        let plain = [set("recovery.trims", trims)];
        let at_once = [plain.as_slice(), &[set("run.power_cut", "{ after_events = 0 }")]].concat();
        let (plain, at_once) = (experiment(text, &plain), experiment(text, &at_once));
        let kept = run(&plain).into_snapshot(&plain).unwrap();
        kept.write(&mut std::fs::File::create(&path).unwrap()).unwrap();
        let read = Snapshot::read(&path, &mut |_| true).unwrap().unwrap();
        let mapped = kept.origin.mapped_units;
        assert!((1..768).contains(&mapped), "{mapped}");
        let from = |kept: &Snapshot| {
            let prepared = Prepared::new(&at_once, Some(kept), &mut |_| true).unwrap().unwrap();
            let mut run = Run::start(&at_once, &[None], prepared).unwrap();
            while run.advance(1 << 14).unwrap_or_else(|error| panic!("{error}")) {}
            (run.outages().to_vec(), run.device().digest())
        };
        let (of_memory, of_file) = (from(&kept), from(&read));
        assert_eq!(of_memory.0[0].units, mapped, "{trims}");
        assert_eq!(of_memory, of_file, "{trims}");
    }
    std::fs::remove_file(path).unwrap();
}

#[test]
fn copies_of_a_drive_recover_alike_and_apart() {
    let mut drive = Cutting::filled(&[set("buffer.durability", "capacitor")]);
    (0..40).for_each(|turn| _ = drive.write(turn * 100 * US, turn * 5));
    let mut copy = drive.bench.device.clone();
    let outage = drive.cut(5_000 * US).unwrap();
    copy.advance(Instant::from_ns(5_000 * US));
    copy.take_done(&mut Vec::new());
    assert_eq!(copy.cut_power().unwrap().outage, outage);
}

// ---- what is refused ----------------------------------------------------------------------------

#[test]
fn cuts_that_mean_nothing_are_refused() {
    let text = "[[workload]]\nname = \"host\"\nreads = \"0 %\"\n[run]\ntime = \"10 ms\"\n";
    for (overrides, said) in [
        (vec![set("run.power_cut", "{ at = \"1 ms\" }")], "[drive.recovery]"),
        (recovering(&[set("run.power_cut", "{ at = \"10 ms\" }")]), "the run ends before"),
        (recovering(&[set("run.power_cut", "{ within = \"11 ms\" }")]), "may end before"),
        (recovering(&[set("run.power_cut", "[]")]), "an empty list"),
        (recovering(&[set("run.power_cut", "{ at = \"1 ms\", after_events = 3 }")]), "exactly one"),
        (recovering(&[set("recovery.map", "{ policy = \"checkpoint\" }")]), "exactly one"),
        (vec![set("recovery.map", "persistent"), set("recovery.trims", "volatile")], "keeps trims"),
        // 64 blocks of 16 rows, each read for a year.
        (recovering(&[set("nand.read", "[\"8760 h\"]")]), "longer than 146 years"),
        // 2^32 checkpoints of 1.6 * 10^9 entries.
        (
            vec![
                set("recovery.map", "{ policy = \"checkpoint\", every = \"1 ns\" }"),
                set("geometry.channels", 64),
                set("geometry.dies_per_package", 8),
                set("geometry.blocks_per_plane", 4096),
                set("geometry.pages_per_block", 1024),
            ],
            "more than 2^64 bytes",
        ),
    ] {
        let refused = try_experiment(text, &overrides).err();
        let refused = refused.unwrap_or_else(|| panic!("{overrides:?} is not refused"));
        assert!(refused.contains(said), "{overrides:?}: {refused}");
    }
}
