//! Figures that follow from a datasheet by adding and multiplying. Each is calculated here from the
//! configuration's numbers alone.

use crate::common::{self, BY_HAND, Bench, Override, Table, experiment, run, set, transfer_ns};
use drive::{OpKind, Run};
use host::Kind;
use metrics::{Holder, State};

const US: u64 = 1_000;
const KIB: u64 = 1_024;

/// The bytes of `count` KiB as a configuration writes them.
fn kib(count: u64) -> String {
    format!("{count} KiB")
}

// ---- one read ---------------------------------------------------------------

/// A drive for reads, and the expected duration of a read on it.
struct ReadCase {
    cell: &'static str,
    sense_us: &'static [u64],
    page: u64,
    spare: u64,
    unit: u64,
    block_planes: u64,
    dies: u64,
    channels: u64,
    rate_mt: u64,
}

impl ReadCase {
    const PAGES: u64 = 24;
    const FIRMWARE_NS: u64 = 4_321;
    const DECODE_NS: u64 = 7_654;
    const LINK: u64 = 3_938_000_000;

    fn overrides(&self) -> Vec<Override> {
        let sense: Vec<_> = self.sense_us.iter().map(|us| format!("\"{us} us\"")).collect();
        vec![
            set("geometry.channels", self.channels),
            set("geometry.dies_per_package", self.dies),
            set("geometry.planes_per_die", self.block_planes),
            set("geometry.blocks_per_plane", 32),
            set("geometry.pages_per_block", Self::PAGES),
            set("geometry.page_size", format!("{} B", self.page)),
            set("geometry.page_spare", format!("{} B", self.spare)),
            set("nand.cell", self.cell),
            set("nand.read", format!("[{}]", sense.join(", "))),
            set("nand.decode", format!("{} ns", Self::DECODE_NS)),
            set("nand.channel", format!("{} MT/s", self.rate_mt)),
            set("ftl.unit", format!("{} B", self.unit)),
            set("ftl.block_planes", self.block_planes),
            set("link.rate", format!("{} B/s", Self::LINK)),
            set("firmware.read", format!("{} ns", Self::FIRMWARE_NS)),
        ]
    }

    /// The row of the page that holds byte `byte` of the host's address space after a sequential
    /// fill. Rows of all planes of a block are written together, the bins of the drive in turn, and
    /// in each bin one row, or all rows of a unit if it takes several.
    fn row(&self, byte: u64) -> u64 {
        let row_bytes = self.page * self.block_planes;
        let batch_bytes = row_bytes.max(self.unit);
        let rows_per_batch = batch_bytes / row_bytes;
        let bins = self.channels * self.dies;
        let batch_in_bin = byte / batch_bytes / bins;
        (batch_in_bin * rows_per_batch + byte % batch_bytes / row_bytes) % Self::PAGES
    }

    /// Duration of a read of `bytes` from `offset`, all in one page.
    fn read_ns(&self, offset: u64, bytes: u64) -> u64 {
        let sense = self.sense_us[(self.row(offset) % self.sense_us.len() as u64) as usize] * US;
        // The channel transfers whole units, or whole pages of large units.
        let chunk = self.unit.min(self.page);
        let chunks = (offset + bytes).div_ceil(chunk) - offset / chunk;
        Self::FIRMWARE_NS
            + sense
            + transfer_ns(chunks * chunk, self.page, self.spare, self.rate_mt * 1_000_000)
            + Self::DECODE_NS
            + transfer_ns(bytes, 1, 0, Self::LINK)
    }
}

#[test]
fn an_unloaded_read_is_the_sum_of_its_phases() {
    let rates = [40, 133, 166, 200, 333, 400, 533, 667, 800, 1200, 1600, 2400, 3200, 3600, 4800];
    let cells: [(&str, &[u64]); 5] = [
        ("slc", &[25]),
        ("mlc", &[50, 75]),
        ("tlc", &[58, 78, 107]),
        ("qlc", &[85, 110, 140, 170]),
        ("qlc", &[100]),
    ];
    // Page, spare, unit: smaller than, equal to and larger than a page.
    let shapes = [
        (4 * KIB, 128, 4 * KIB),
        (4 * KIB, 224, 512),
        (16 * KIB, 2 * KIB, 4 * KIB),
        (16 * KIB, 1_952, 16 * KIB),
        (8 * KIB, 744, 32 * KIB),
        (2 * KIB, 64, 8 * KIB),
    ];
    let mut checked = 0;
    for (index, rate_mt) in rates.into_iter().enumerate() {
        for (turn, (cell, sense_us)) in cells.into_iter().enumerate() {
            let (page, spare, unit) = shapes[(index + turn) % shapes.len()];
            let block_planes = [1, 2, 4][(index + 2 * turn) % 3];
            let (dies, channels) = [(1, 1), (2, 1), (1, 3), (2, 2)][(index + turn) % 4];
            let case = ReadCase {
                cell,
                sense_us,
                page,
                spare,
                unit,
                block_planes,
                dies,
                channels,
                rate_mt,
            };
            let mut bench = Bench::filled(&case.overrides());
            // Each page of more than a block of every bin, whole and in part.
            let pages = 4 * channels * dies * block_planes * ReadCase::PAGES / 3;
            for offset in (0..pages).map(|number| number * page) {
                let part = (page / 2).max(512);
                for (offset, bytes) in [(offset, page), (offset + page - part, part)] {
                    let found = bench.alone(Kind::Read, offset, bytes);
                    assert_eq!(
                        found.latency(),
                        case.read_ns(offset, bytes),
                        "{cell} page {page}+{spare} unit {unit} planes {block_planes} at \
                         {rate_mt} MT/s: {offset}+{bytes}, {:?}",
                        found.blame
                    );
                    checked += 1;
                }
            }
        }
    }
    println!("{checked} reads, deviation 0 ns");
}

#[test]
fn a_large_unit_is_read_page_by_page_and_only_where_asked() {
    // A unit of four pages, one after the other in a block.
    let rows = [set("ftl.unit", kib(16))];
    // A unit of four planes, read by one command or by four.
    let planes = |read: &str| {
        vec![
            set("ftl.unit", kib(16)),
            set("geometry.planes_per_die", 4),
            set("ftl.block_planes", 4),
            set("concurrency.read", read),
        ]
    };
    let (sense, page) = (25 * US, 100 * US);
    for (name, overrides, one, two, four) in [
        ("rows", rows.to_vec(), sense + page, 2 * (sense + page), 4 * (sense + page)),
        ("planes together", planes("die"), sense + page, sense + 2 * page, sense + 4 * page),
        ("planes apart", planes("plane"), sense + page, sense + 2 * page, sense + 4 * page),
    ] {
        let mut bench = Bench::filled(&overrides);
        for first in 0..4 {
            let read = |bench: &mut Bench, pages: u64| {
                bench.alone(Kind::Read, 32 * KIB + first * 4 * KIB, pages * 4 * KIB).latency()
            };
            assert_eq!(read(&mut bench, 1), one, "{name}: page {first} alone");
            if first < 3 {
                assert_eq!(read(&mut bench, 2), two, "{name}: two pages from {first}");
            }
        }
        assert_eq!(bench.alone(Kind::Read, 32 * KIB, 16 * KIB).latency(), four, "{name}: all");
    }
}

#[test]
fn two_units_of_one_page_are_sensed_once() {
    let mut bench = Bench::filled(&[set("geometry.page_size", kib(16))]);
    // 16 KiB take 400 us on the channel, of which units take their share.
    for (offset, bytes, units) in [(0, 8, 2), (4, 12, 3), (0, 16, 4), (2, 4, 2), (5, 1, 1)] {
        let found = bench.alone(Kind::Read, offset * KIB, bytes * KIB);
        assert_eq!(found.latency(), 25 * US + units * 100 * US, "{offset} + {bytes} KiB");
    }
}

#[test]
fn a_unit_that_would_straddle_pages_is_refused() {
    // 12 KiB divide the 48 KiB of three planes, but not the page: a unit would lie on two pages and
    // take two senses.
    for unit in [12, 24] {
        let overrides = [
            set("geometry.page_size", kib(16)),
            set("geometry.planes_per_die", 3),
            set("ftl.block_planes", 3),
            set("ftl.unit", kib(unit)),
        ];
        let found = common::try_experiment(BY_HAND, &overrides);
        assert!(found.is_err(), "a unit of {unit} KiB in pages of 16 KiB was accepted");
    }
}

// ---- one write --------------------------------------------------------------

#[test]
fn a_write_into_a_capacitor_backed_buffer_costs_link_firmware_and_buffer() {
    let mut bench = Bench::filled(&[
        set("buffer.durability", "capacitor"),
        set("buffer.latency", "1234 ns"),
        set("firmware.write", "3 us"),
        set("link.rate", "1 GB/s"),
    ]);
    for bytes in [512, 4 * KIB, 5 * KIB, 64 * KIB] {
        let found = bench.alone(Kind::Write, 8 * KIB, bytes);
        assert_eq!(found.latency(), bytes + 3 * US + 1_234, "{bytes} B: {:?}", found.blame);
    }
}

#[test]
fn a_write_through_costs_link_firmware_transfer_and_program() {
    for (cell, program_us) in
        [("slc", &[200][..]), ("mlc", &[300, 900]), ("tlc", &[400, 900, 1600]), ("qlc", &[2000])]
    {
        let figures: Vec<_> = program_us.iter().map(|us| format!("\"{us} us\"")).collect();
        let mut bench = Bench::new(&[
            set("nand.cell", cell),
            set("nand.program", format!("[{}]", figures.join(", "))),
            set("firmware.write", "3 us"),
            set("link.rate", "1 GB/s"),
        ]);
        for row in 0..20 {
            let found = bench.alone(Kind::Write, row * 4 * KIB, 4 * KIB);
            let program = program_us[row as usize % 16 % program_us.len()] * US;
            assert_eq!(
                found.latency(),
                4_096 + 3 * US + 100 * US + program,
                "{cell} page {row}: {:?}",
                found.blame
            );
        }
    }
}

/// Link, firmware and phases of a read-modify-write of a part of a unit.
#[test]
fn a_partial_write_reads_the_rest_first() {
    let overrides = [
        set("geometry.page_size", kib(16)),
        set("ftl.unit", kib(16)),
        set("firmware.write", "3 us"),
        set("link.rate", "1 GB/s"),
    ];
    let mut bench = Bench::filled(&overrides);
    for (offset, bytes) in [(0, 4 * KIB), (4 * KIB, 4 * KIB), (15 * KIB, KIB), (16 * KIB, 512)] {
        let found = bench.alone(Kind::Write, offset, bytes);
        let expected = bytes + 3 * US + 25 * US + 400 * US + 400 * US + 200 * US;
        assert_eq!(found.latency(), expected, "{offset} + {bytes}: {:?}", found.blame);
    }
    // A whole unit is only written; one that was never written has nothing to be read.
    assert_eq!(bench.alone(Kind::Write, 16 * KIB, 16 * KIB).latency(), 16 * KIB + 603 * US);
    let mut bench = Bench::new(&overrides);
    assert_eq!(bench.alone(Kind::Write, 0, 4 * KIB).latency(), 4 * KIB + 603 * US);
}

#[test]
fn a_partial_write_decodes_what_it_reads() {
    let mut bench = Bench::filled(&[
        set("geometry.page_size", kib(16)),
        set("ftl.unit", kib(16)),
        set("nand.decode", "7 us"),
    ]);
    let found = bench.alone(Kind::Write, 0, 4 * KIB);
    // read = sense, transfer out, decode; then transfer in, program.
    let expected = (25 + 400 + 7 + 400 + 200) * US;
    assert_eq!(found.latency(), expected, "{:?}", found.blame);
    assert_eq!(found.of(State::Sense), 25 * US, "{:?}", found.blame);
    assert_eq!(found.of(State::Decode), 7 * US, "{:?}", found.blame);
}

#[test]
fn a_partial_write_of_a_large_unit_reads_and_writes_all_its_rows() {
    // Four rows of one page: read one after the other, and written one after the other.
    let mut bench = Bench::filled(&[set("ftl.unit", kib(16))]);
    let found = bench.alone(Kind::Write, 20 * KIB, 4 * KIB);
    assert_eq!(found.latency(), 4 * (25 + 100) * US + 4 * (100 + 200) * US, "{:?}", found.blame);
    assert_eq!(bench.alone(Kind::Write, 32 * KIB, 16 * KIB).latency(), 4 * 300 * US);
}

#[test]
fn a_partial_write_waits_for_the_rest_also_behind_another() {
    // Two parts of one unit are written at once. Neither can be on flash before
    // the unit was read, whichever die takes the new data.
    for written_before in 0..2 {
        let mut bench = Bench::filled(&[
            set("geometry.page_size", kib(16)),
            set("geometry.dies_per_package", 2),
            set("ftl.unit", kib(16)),
        ]);
        for number in 0..written_before {
            bench.alone(Kind::Write, (64 + 16 * number) * KIB, 16 * KIB);
        }
        let start = bench.settle();
        let first = bench.submit(start, Kind::Write, 0, 4 * KIB);
        let second = bench.submit(start, Kind::Write, 8 * KIB, 4 * KIB);
        bench.settle();
        let earliest = (25 + 400 + 400 + 200) * US;
        for tag in [first, second] {
            let found = bench.done(tag);
            assert!(
                found.latency() >= earliest,
                "a part was on flash after {} ns, its unit was read and written after {earliest}: {:?}",
                found.latency(),
                found.blame
            );
        }
    }
}

#[test]
fn a_block_may_span_sixty_four_planes() {
    let mut bench = Bench::filled(&[
        set("geometry.planes_per_die", 64),
        set("ftl.block_planes", 64),
        set("buffer.size", "4 MiB"),
    ]);
    let planes = |bench: &Bench| {
        let counters = bench.device.counters();
        (
            counters.planes(OpKind::Program, Holder::HostProgram),
            counters.planes(OpKind::Erase, Holder::Erase),
            counters.commands(OpKind::Erase, Holder::Erase),
        )
    };
    // 64 pages of 100 us each cross the channel, and are programmed together.
    let found = bench.alone(Kind::Write, 0, 256 * KIB);
    assert_eq!(found.latency(), (6_400 + 200) * US, "{:?}", found.blame);
    assert_eq!(planes(&bench).0, 64);
    while planes(&bench).2 == 0 {
        bench.alone(Kind::Write, 0, 256 * KIB);
    }
    assert_eq!(planes(&bench).1, 64);
}

#[test]
fn planes_are_programmed_together_after_one_transfer_of_all_data() {
    let mut bench = Bench::new(&[
        set("geometry.planes_per_die", 4),
        set("ftl.block_planes", 4),
        set("link.rate", "1 GB/s"),
    ]);
    let found = bench.alone(Kind::Write, 0, 16 * KIB);
    let programs = bench.device.counters().commands(OpKind::Program, Holder::HostProgram);
    println!("{programs} programs: {:?}", found.blame);
    assert_eq!(found.latency(), 16 * KIB + 400 * US + 200 * US, "{:?}", found.blame);
    assert_eq!(programs, 1);
    let padding = bench.device.ftl().tally.units[2];
    assert_eq!(padding, 0, "a full row needs no padding");
}

#[test]
fn a_buffer_fills_rows_before_it_programs_them() {
    let mut bench = Bench::new(&[
        set("geometry.planes_per_die", 4),
        set("ftl.block_planes", 4),
        set("buffer.durability", "capacitor"),
    ]);
    for page in 0..8 {
        bench.submit(0, Kind::Write, page * 4 * KIB, 4 * KIB);
    }
    let end = bench.settle();
    let counters = bench.device.counters();
    assert_eq!(counters.commands(OpKind::Program, Holder::HostProgram), 2);
    assert_eq!(counters.planes(OpKind::Program, Holder::HostProgram), 8);
    // On one die: two rows, each one transfer and one program.
    assert_eq!(end, 2 * (400 + 200) * US);
}

// ---- cleaning ---------------------------------------------------------------

/// A run of uniformly random single-page overwrites on one die, full at first.
fn overwriting(overrides: &[Override]) -> Run {
    let text = "[precondition]\nfill = \"sequential\"\n[[workload]]\nname = \"host\"\n\
                reads = \"0 %\"\nqueue_depth = 4\n[run]\nrequests = 4000\n";
    run(&experiment(text, overrides))
}

/// Checks that each moment at which a unit was occupied is a phase of some command.
fn check_busy(name: &str, mut run: Run, copy_back: bool, erase_us: u64) {
    let counters = run.measured().counters();
    let count = |kind, holder| counters.commands(kind, holder) * US;
    let host = count(OpKind::Program, Holder::HostProgram);
    let gc_reads = count(OpKind::Read, Holder::GcRead);
    let gc_programs = count(OpKind::Program, Holder::GcProgram);
    let copies = count(OpKind::CopyBack, Holder::GcProgram);
    let erases = count(OpKind::Erase, Holder::Erase);
    let channel = 100 * (host + gc_reads + gc_programs);
    let unit =
        channel + 200 * (host + gc_programs) + 25 * gc_reads + 225 * copies + erase_us * erases;
    let device = run.device_mut();
    let measured_unit = device.unit_busy()[0].as_ns();
    let measured_channel = device.channel_busy()[0].as_ns();
    println!(
        "{name}: unit busy {unit} ns, measured {measured_unit}; channel {channel}, {measured_channel}"
    );
    assert_eq!(measured_unit, unit, "{name}: unit");
    assert_eq!(measured_channel, channel, "{name}: channel");
    assert!(erases > 0 && host == 4_000 * US);
    assert_eq!((copies > 0, gc_reads > 0), (copy_back, !copy_back), "{name}");
    let span = run.measured().span().as_ns() as f64;
    let utilisation = run.measured().unit_utilisation()[0];
    assert!((utilisation - unit as f64 / span).abs() < 1e-12, "{name}: utilisation");
    let utilisation = run.measured().channel_utilisation()[0];
    assert!((utilisation - channel as f64 / span).abs() < 1e-12, "{name}: channel utilisation");
}

#[test]
fn cleaning_takes_what_its_commands_take() {
    for preemptible in [true, false] {
        let preemptible = set("ftl.gc.preemptible", preemptible);
        let copy_back = [preemptible.clone(), set("ftl.gc.copy_back", true)];
        check_busy("copy-back", overwriting(&copy_back), true, 1_500);
        check_busy("over the channel", overwriting(&[preemptible]), false, 1_500);
    }
    let steps = "{ steps = 5, ramp = \"50 us\", execute = \"500 us\", recover = \"60 us\", \
                 verify = \"90 us\" }";
    check_busy("erase in steps", overwriting(&[set("nand.erase", steps)]), false, 5 * 700);
}

#[test]
fn a_copied_page_is_sensed_and_programmed_off_the_channel() {
    // Blocks of four pages; block 0 loses three of its pages, then space becomes short: one page is
    // copied back, and the block erased.
    let mut bench = Bench::filled(&[
        set("geometry.pages_per_block", 4),
        set("geometry.blocks_per_plane", 8),
        set("ftl.over_provisioning.exported", kib(64)),
        set("ftl.gc.copy_back", true),
        set("ftl.gc.background", "2 blocks"),
        set("ftl.gc.foreground", "2 blocks"),
        set("ftl.gc.stop", "2 blocks"),
    ]);
    // 16 pages lie in 4 blocks, 4 are free. Writing pages 0 to 2 opens the fifth,
    // 4 to 6 the sixth, which leaves 2: its first program begins the cleaning.
    for page in [0, 1, 2, 4] {
        bench.alone(Kind::Write, page * 4 * KIB, 4 * KIB);
    }
    let before = bench.settle();
    let found = bench.alone(Kind::Write, 5 * 4 * KIB, 4 * KIB);
    let end = bench.settle();
    let counters = bench.device.counters();
    assert_eq!(counters.commands(OpKind::CopyBack, Holder::GcProgram), 1);
    assert_eq!(counters.commands(OpKind::Erase, Holder::Erase), 1);
    assert_eq!(found.latency(), 300 * US, "the write began before the cleaning");
    // transfer + program, then sense + program, then erase.
    assert_eq!(end - before, (300 + 225 + 1_500) * US);
}

// ---- one package ------------------------------------------------------------

/// Pages a second of a closed loop over one package of two dies of four planes.
fn package(kind: &str, unit: &str, queue_depth: u32) -> (f64, Run) {
    let text = format!(
        "[precondition]\nfill = \"{}\"\n[[workload]]\nname = \"host\"\nreads = \"{} %\"\n\
         addresses = {{ pattern = \"sequential\" }}\nqueue_depth = {queue_depth}\n\
         [run]\ntime = \"1 s\"\n",
        if kind == "read" { "sequential" } else { "empty" },
        if kind == "read" { 100 } else { 0 },
    );
    let overrides = [
        set("geometry.dies_per_package", 2),
        set("geometry.planes_per_die", 4),
        set("geometry.blocks_per_plane", 256),
        set("concurrency.read", unit),
        set("concurrency.program", unit),
        set("concurrency.erase", unit),
    ];
    let outcome = run(&experiment(&text, &overrides));
    let pages = common::counted(&outcome) as f64;
    let span = outcome.measured().span().as_secs_f64();
    (pages / span, outcome)
}

#[test]
fn one_package_serves_what_the_paper_says() {
    let mut table =
        Table::new("one package of two dies, 25 + 100 / 100 + 200 us, pages a second", 0.005);
    for (kind, unit, expected) in [
        ("read", "package", 1e6 / 125.0),
        ("read", "die", 1e6 / 100.0),
        ("read", "plane", 1e6 / 100.0),
        ("write", "package", 1e6 / 300.0),
        ("write", "die", 2e6 / 300.0),
        // Four independent pairs: 300 / 4 us are less than the channel's 100 us.
        ("write", "plane-pair", 1e6 / 100.0),
        ("write", "plane", 1e6 / 100.0),
    ] {
        let (found, outcome) = package(kind, unit, 32);
        table.expect(&format!("{kind}, interleaved by {unit}"), expected, found);
        let measured = outcome.measured();
        let channel = measured.channel_utilisation()[0];
        table.expect(&format!("{kind} by {unit}: channel busy"), expected / 1e4, channel);
    }
    table.end();
}

// ---- limits -----------------------------------------------------------------

#[test]
fn bandwidth_reaches_the_limits_of_channels_and_dies() {
    let mut table = Table::new("bandwidth, MB/s", 0.005);
    let page = 16 * KIB;
    for (name, channels, dies, sense_us, program_us, rate_mt, kind) in [
        ("channel-bound reads", 2, 8, 50, 400, 400, "read"),
        ("channel-bound reads, slow bus", 4, 4, 50, 400, 40, "read"),
        ("channel-bound writes", 2, 16, 50, 400, 400, "write"),
        ("die-bound reads", 2, 4, 100, 400, 1_600, "read"),
        ("die-bound writes", 2, 4, 50, 700, 1_600, "write"),
        ("die-bound writes, one die", 1, 1, 50, 1_000, 4_800, "write"),
    ] {
        let text = format!(
            "[precondition]\nfill = \"{}\"\n[[workload]]\nname = \"host\"\nreads = \"{} %\"\n\
             size = \"16 KiB\"\naddresses = {{ pattern = \"sequential\" }}\nqueue_depth = 256\n\
             [run]\nrequests = 20000\n",
            if kind == "read" { "sequential" } else { "empty" },
            if kind == "read" { 100 } else { 0 },
        );
        let overrides = [
            set("geometry.channels", channels),
            set("geometry.dies_per_package", dies),
            set("geometry.blocks_per_plane", 2_048 / (channels * dies)),
            set("geometry.page_size", "16 KiB"),
            set("geometry.page_spare", "2 KiB"),
            set("ftl.unit", "16 KiB"),
            set("nand.read", format!("[\"{sense_us} us\"]")),
            set("nand.program", format!("[\"{program_us} us\"]")),
            set("nand.channel", format!("{rate_mt} MT/s")),
            set("buffer.size", "16 MiB"),
        ];
        let outcome = run(&experiment(&text, &overrides));
        let transfer = transfer_ns(page, page, 2 * KIB, rate_mt * 1_000_000);
        let array = if kind == "read" { sense_us } else { program_us } * US;
        let by_channel = page as f64 * 1e3 / transfer as f64 * f64::from(channels as u32);
        let by_die =
            page as f64 * 1e3 / (transfer + array) as f64 * f64::from((channels * dies) as u32);
        let limit = by_channel.min(by_die);
        let is_channel_bound = by_channel < by_die;
        assert_eq!(is_channel_bound, name.starts_with("channel"), "{name}");
        let measured = outcome.measured();
        let moved = 20_000.0 * page as f64 * 1e3 / measured.span().as_ns() as f64;
        table.expect(name, limit, moved);
        let busy = if is_channel_bound {
            measured.channel_utilisation()
        } else {
            measured.unit_utilisation()
        };
        let least = busy.into_iter().fold(f64::MAX, f64::min);
        table.expect(&format!("{name}: least utilisation"), moved / limit, least);
    }
    table.end();
}

#[test]
fn a_closed_loop_keeps_its_depth_outstanding() {
    println!("{:>6} {:>12} {:>14} {:>12}", "depth", "least", "measured", "most");
    for depth in [1, 2, 3, 8, 32, 200] {
        let text = format!(
            "[precondition]\nfill = \"sequential\"\n[[workload]]\nname = \"host\"\n\
             reads = \"70 %\"\nqueue_depth = {depth}\n[run]\ntime = \"3 s\"\n"
        );
        let overrides = [
            set("geometry.channels", 2),
            set("geometry.dies_per_package", 2),
            set("firmware.read", "2 us"),
            set("link.rate", "1 GB/s"),
        ];
        let outcome = run(&experiment(&text, &overrides));
        let measured = outcome.measured();
        let span = measured.span().as_ns() as f64;
        // All places are occupied until 3 s; after that the requests under way are completed.
        let (least, most) = (f64::from(depth) * 3e9 / span, f64::from(depth));
        let found = measured.mean_outstanding();
        println!("{depth:6} {least:12.4} {found:14.4} {most:12.4}");
        assert!((least..=most).contains(&found), "depth {depth}: {found}");
    }
}

#[test]
fn an_early_acknowledging_drive_keeps_its_depth_outstanding_too() {
    // 2000 writes of 4 KiB into a buffer of 256; the data that is still in the buffer when the last
    // write is acknowledged does not delay the host.
    let text = "[[workload]]\nname = \"host\"\nreads = \"0 %\"\nqueue_depth = 8\n\
                addresses = { pattern = \"sequential\" }\n[run]\nrequests = 600\n";
    let overrides = [set("buffer.durability", "capacitor"), set("geometry.blocks_per_plane", 128)];
    let outcome = run(&experiment(text, &overrides));
    let measured = outcome.measured();
    // 600 - 256 writes wait for room: 300 us each on one die; the last of them is
    // acknowledged when the 344th program is over, and measuring ends there.
    let host = 344.0 * 300e3;
    let span = measured.span().as_ns() as f64;
    println!("host's time {host} ns, measured {span} ns");
    println!("outstanding {} of 8", measured.mean_outstanding());
    assert!((span / host - 1.0).abs() < 0.01, "the span of {span} ns counts time without a host");
}

// ---- the link ---------------------------------------------------------------

#[test]
fn the_link_serves_what_is_ready_first() {
    // A read's data is still being decoded while another's lies ready in the buffer: the ready one
    // crosses first, as the link is idle.
    let mut bench = Bench::filled(&[
        set("buffer.durability", "capacitor"),
        set("nand.decode", "50 us"),
        set("link.rate", "1 GB/s"),
        set("buffer.flush", "{ policy = \"watermark\", high = \"90 %\", low = \"80 %\" }"),
    ]);
    bench.submit(0, Kind::Write, 40 * KIB, 4 * KIB);
    let flash = bench.submit(10 * US, Kind::Read, 0, 4 * KIB);
    // Sensed and transferred at 135 us, decoded at 185 us.
    let buffered = bench.submit(140 * US, Kind::Read, 40 * KIB, 4 * KIB);
    bench.settle();
    assert_eq!(bench.done(flash).latency(), (25 + 100 + 50) * US + 4_096);
    let found = bench.done(buffered);
    assert_eq!(found.latency(), 4_096, "it waited for an idle link: {:?}", found.blame);
}

// ---- reads first, within bounds ----------------------------------------------

#[test]
fn a_read_behind_a_program_waits_for_it_and_no_more() {
    let mut bench = Bench::filled(&[set("buffer.durability", "capacitor")]);
    bench.submit(0, Kind::Write, 0, 4 * KIB);
    let read = bench.submit(50 * US, Kind::Read, 8 * KIB, 4 * KIB);
    bench.settle();
    let found = bench.done(read);
    assert_eq!(found.latency(), (300 - 50 + 125) * US);
    assert_eq!(found.of(State::UnitHostProgram), 250 * US, "{:?}", found.blame);
}

#[test]
fn little_holds_to_the_nanosecond_where_every_event_is_seen() {
    // Reads and writes of one to three pages at moments that share no divisor with any duration.
    // The integral contains each nanosecond of each command.
    println!("{:>12} {:>16} {:>16} {:>12}", "gap, us", "integral", "latencies", "outstanding");
    for gap_us in [900, 400, 300, 150] {
        let mut bench = Bench::filled(&[
            set("geometry.dies_per_package", 2),
            set("geometry.blocks_per_plane", 64),
            set("firmware.read", "3 us"),
            set("link.rate", "777 MB/s"),
        ]);
        for number in 0..600u64 {
            let kind = if number % 3 == 0 { Kind::Write } else { Kind::Read };
            let place = number * 7_919 % 1_500;
            let jitter = number * 104_729 % 99_991;
            bench.submit(
                number * gap_us * US + jitter,
                kind,
                place * 4 * KIB,
                (1 + number % 3) * 4 * KIB,
            );
        }
        let end = bench.settle();
        let latencies: u128 = bench.completed().iter().map(|done| u128::from(done.latency())).sum();
        let outstanding = latencies as f64 / end as f64;
        println!("{gap_us:12} {:16} {latencies:16} {outstanding:12.4}", bench.area_ns);
        assert_eq!(bench.completed().len(), 600);
        assert_eq!(bench.area_ns, latencies);
        for done in bench.completed() {
            let blamed: u64 = done.blame.iter().map(|(_, ns)| ns).sum();
            assert_eq!(blamed, done.latency(), "{done:?}");
        }
    }
}

#[test]
fn what_completes_at_the_end_of_an_interval_is_in_the_series() {
    // Reads of 125 us, one after the other: the 80th completes at 10 ms, at which the first
    // interval ends. Every run checks that the series sum to the totals.
    for requests in [79, 80, 81, 160] {
        let text = format!(
            "[precondition]\nfill = \"sequential\"\n[[workload]]\nname = \"host\"\n\
             reads = \"100 %\"\n[run]\nrequests = {requests}\n[record]\ninterval = \"10 ms\"\n"
        );
        let outcome = run(&experiment(&text, &[]));
        assert_eq!(outcome.now().as_ns(), requests * 125 * US);
    }
}
