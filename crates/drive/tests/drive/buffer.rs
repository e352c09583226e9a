//! The write buffer: the time at which data leaves it, the writes that it saves, and the requests
//! that wait for it. On the drive here a page is programmed in 100 + 200 us and read in 25 + 100.

use crate::common::{Bench, Done, Override, set};
use drive::OpKind;
use ftl::Lpn;
use host::{Command, Kind, Priority};
use metrics::{Holder, State};

const US: u64 = 1_000;
const PAGE: u64 = 4_096;
const PROGRAM: u64 = 300 * US;
const READ: u64 = 125 * US;

/// Programs of host data so far.
fn programs(bench: &Bench) -> u64 {
    bench.device.counters().commands(OpKind::Program, Holder::HostProgram)
}

/// Units programmed so far: the host's, moved ones, and padding.
fn programmed_units(bench: &Bench) -> [u64; 3] {
    let [host, moved, padding, ..] = bench.device.ftl().tally.units;
    [host, moved, padding]
}

/// The pages among the first ones that are on flash.
fn on_flash(bench: &Bench, pages: u32) -> Vec<u32> {
    (0..pages).filter(|page| bench.device.ftl().lookup(Lpn(*page)).is_some()).collect()
}

fn durability(class: &str) -> Override {
    set("buffer.durability", class)
}

/// An early acknowledging drive whose batches are two pages (two planes).
fn pairs() -> Vec<Override> {
    vec![set("geometry.planes_per_die", 2), set("ftl.block_planes", 2), durability("volatile")]
}

/// An early acknowledging drive with one program at a time: the earlier data is under way,
/// everything else waits in the buffer.
fn one_by_one() -> Vec<Override> {
    vec![durability("volatile"), set("buffer.programs_per_bin", 1)]
}

fn with(overrides: Vec<Override>, more: &[Override]) -> Vec<Override> {
    [&overrides[..], more].concat()
}

/// Writes some pages at a moment.
fn write_pages(bench: &mut Bench, at: u64, pages: &[u64]) -> Vec<u32> {
    pages.iter().map(|page| bench.submit(at, Kind::Write, page * PAGE, PAGE)).collect()
}

// ---- flushing to flash --------------------------------------------------

#[test]
fn eager_flushing_waits_for_a_batch_and_no_longer() {
    let planes = [set("geometry.planes_per_die", 4), set("ftl.block_planes", 4)];
    let mut bench = Bench::new(&with(planes.to_vec(), &[durability("capacitor")]));
    write_pages(&mut bench, 0, &[0, 1, 2]);
    bench.settle();
    assert_eq!(programs(&bench), 0);
    write_pages(&mut bench, 50 * US, &[3]);
    // Four pages cross the channel, and are programmed together.
    assert_eq!(bench.settle(), (50 + 400 + 200) * US);
    assert_eq!((programs(&bench), programmed_units(&bench)), (1, [4, 0, 0]));
}

#[test]
fn a_watermark_flushes_from_high_to_low() {
    // Ten pages fit. The fifth reaches 50 %; of the five that wait then, three are flushed, until
    // two (20 %) are left.
    for (high, low, written, flushed) in
        [(50, 20, 4, 0), (50, 20, 5, 3), (50, 0, 5, 5), (100, 90, 9, 0), (100, 90, 10, 1)]
    {
        let policy =
            format!("{{ policy = \"watermark\", high = \"{high} %\", low = \"{low} %\" }}");
        let mut bench = Bench::new(&[
            durability("capacitor"),
            set("buffer.size", "40 KiB"),
            set("buffer.flush", policy),
        ]);
        write_pages(&mut bench, 0, &(0..written).collect::<Vec<_>>());
        assert_eq!(bench.settle(), flushed * PROGRAM, "{high} to {low} %, {written} written");
        assert_eq!(on_flash(&bench, 10).len() as u64, flushed, "{high} to {low} %");
    }
}

#[test]
fn the_data_that_waited_longest_is_flushed_first_whatever_its_pool() {
    // Two dies on channels of their own, each a pool. Four of ten pages are flushed at 40 %, down to
    // three: the oldest one, on either die.
    for oldest in [0, 1] {
        let mut bench = Bench::new(&[
            durability("capacitor"),
            set("geometry.channels", 2),
            set("ftl.allocation.pool", "die"),
            set("buffer.size", "40 KiB"),
            set("buffer.flush", "{ policy = \"watermark\", high = \"40 %\", low = \"30 %\" }"),
        ]);
        let pages = [oldest, 1 - oldest, 2, 3];
        for (number, page) in pages.into_iter().enumerate() {
            write_pages(&mut bench, number as u64 * US, &[page]);
        }
        bench.settle();
        assert_eq!(on_flash(&bench, 4), [oldest as u32]);
    }
}

#[test]
fn a_flush_empties_a_buffer_below_its_watermark() {
    let policy = "{ policy = \"watermark\", high = \"50 %\", low = \"20 %\" }";
    let overrides =
        [durability("volatile"), set("buffer.size", "40 KiB"), set("buffer.flush", policy)];
    let mut bench = Bench::new(&overrides);
    write_pages(&mut bench, 0, &[0, 1, 2]);
    let flush = bench.submit(10 * US, Kind::Flush, 0, 0);
    bench.settle();
    assert_eq!(bench.done(flush).latency(), 3 * PROGRAM);
    assert_eq!(on_flash(&bench, 10), [0, 1, 2]);
}

#[test]
fn a_partial_batch_goes_out_exactly_when_its_time_has_come() {
    // Alone it is flushed at 70 us, with padding. With a second page at 50 us both are flushed
    // then, in a transfer of 200 us.
    for (class, second, end, units) in [
        ("volatile", None, 70 * US + PROGRAM, [1, 0, 1]),
        ("none", None, 70 * US + PROGRAM, [1, 0, 1]),
        ("volatile", Some(50 * US), 50 * US + PROGRAM + 100 * US, [2, 0, 0]),
        ("none", Some(50 * US), 50 * US + PROGRAM + 100 * US, [2, 0, 0]),
    ] {
        let partial = [set("buffer.partial_after", "70 us"), durability(class)];
        let mut bench = Bench::new(&with(pairs(), &partial));
        let mut tags = write_pages(&mut bench, 0, &[0]);
        tags.extend(second.into_iter().flat_map(|at| write_pages(&mut bench, at, &[1])));
        assert_eq!(bench.settle(), end, "{class}, second {second:?}");
        assert_eq!((programs(&bench), programmed_units(&bench)), (1, units), "{class}");
        for tag in tags {
            let done = bench.done(tag);
            let acknowledged = if class == "none" { end } else { done.arrived };
            assert_eq!(done.finished, acknowledged, "{class}, second {second:?}");
        }
    }
}

/// Two dies of two planes, and a buffer of three pages, which is full: pages 0 and 2 are a batch of
/// the first die and under way from 0 on, page 1 waits on the second for another.
fn full_with_a_partial_batch() -> Bench {
    let dies = [
        set("geometry.dies_per_package", 2),
        set("ftl.allocation.pool", "die"),
        set("buffer.partial_after", "10 ms"),
        set("buffer.size", "12 KiB"),
    ];
    let mut bench = Bench::new(&with(pairs(), &dies));
    write_pages(&mut bench, 0, &[0, 2, 1]);
    bench
}

#[test]
fn a_full_buffer_waits_for_no_batch() {
    let mut bench = full_with_a_partial_batch();
    write_pages(&mut bench, 50 * US, &[4, 6]);
    bench.until(60 * US);
    assert_eq!(programs(&bench), 1, "what is programmed makes room for those that wait");
    write_pages(&mut bench, 60 * US, &[8]);
    // The channel is free at 200 us.
    bench.until(210 * US);
    assert_eq!(programs(&bench), 2, "three wait for two");
    bench.until(510 * US);
    assert_eq!(programmed_units(&bench), [3, 0, 1]);
}

#[test]
fn a_full_buffer_waits_for_no_batch_if_one_large_write_waits() {
    let mut bench = full_with_a_partial_batch();
    // One write of three pages waits for the two that are being programmed.
    bench.submit(50 * US, Kind::Write, 4 * PAGE, 3 * PAGE);
    bench.until(210 * US);
    assert_eq!(programs(&bench), 2, "three units wait for two");
}

#[test]
fn a_write_through_goes_out_at_once_and_padded() {
    let mut bench = Bench::new(&with(pairs(), &[durability("none")]));
    let three = bench.submit(0, Kind::Write, 0, 3 * PAGE);
    bench.settle();
    // A full batch, then one page with padding.
    assert_eq!(bench.done(three).latency(), (200 + 200) * US + PROGRAM);
    assert_eq!((programs(&bench), programmed_units(&bench)), (2, [3, 0, 1]));
}

// ---- durability ---------------------------------------------------------------

#[test]
fn a_flush_waits_for_all_that_came_before_and_nothing_later() {
    let mut bench = Bench::new(&one_by_one());
    write_pages(&mut bench, 0, &[0, 1, 2]);
    let first = bench.submit(10 * US, Kind::Flush, 0, 0);
    write_pages(&mut bench, 20 * US, &[3]);
    let second = bench.submit(30 * US, Kind::Flush, 0, 0);
    let third = bench.submit(40 * US, Kind::Flush, 0, 0);
    write_pages(&mut bench, 50 * US, &[4]);
    assert_eq!(bench.settle(), 5 * PROGRAM);
    assert_eq!(bench.done(first).finished, 3 * PROGRAM);
    assert_eq!(bench.done(second).finished, 4 * PROGRAM);
    assert_eq!(bench.done(third).finished, 4 * PROGRAM);
}

#[test]
fn data_written_anew_during_a_flush_keeps_its_place() {
    // Page 1 is written again while the flush waits: under LRU too it must not
    // move behind page 2, which came after the flush.
    for order in ["fifo", "lru"] {
        let mut bench = Bench::new(&with(one_by_one(), &[set("buffer.order", order)]));
        write_pages(&mut bench, 0, &[0, 1]);
        let flush = bench.submit(10 * US, Kind::Flush, 0, 0);
        write_pages(&mut bench, 20 * US, &[2, 1]);
        assert_eq!(bench.settle(), 3 * PROGRAM, "{order}");
        assert_eq!(bench.done(flush).finished, 2 * PROGRAM, "{order}");
    }
}

#[test]
fn a_flush_sends_a_partial_batch_out() {
    let mut bench = Bench::new(&pairs());
    write_pages(&mut bench, 0, &[0, 1, 2]);
    let flush = bench.submit(10 * US, Kind::Flush, 0, 0);
    bench.settle();
    assert_eq!(bench.done(flush).finished, (200 + 200) * US + PROGRAM);
    assert_eq!(programmed_units(&bench), [3, 0, 1]);
}

#[test]
fn a_flush_waits_for_a_partial_write_whose_rest_is_being_read() {
    let large = [set("geometry.page_size", "16 KiB"), set("ftl.unit", "16 KiB")];
    let mut bench = Bench::filled(&with(large.to_vec(), &[durability("volatile")]));
    let write = bench.submit(0, Kind::Write, 0, PAGE);
    let flush = bench.submit(10 * US, Kind::Flush, 0, 0);
    bench.settle();
    assert_eq!(bench.done(write).latency(), 0);
    assert_eq!(bench.done(flush).finished, (25 + 400 + 400 + 200) * US);
}

// ---- reads ----------------------------------------------------------------------

#[test]
fn read_hits_are_served_by_the_buffer_or_wait_for_flash() {
    // A page that waits for its batch to fill: without read hits, the read forces its flush at
    // once.
    for (hits, found, end) in [(true, 3 * US, 0), (false, PROGRAM + READ, PROGRAM + READ)] {
        let times = [set("buffer.read_hits", hits), set("buffer.latency", "3 us")];
        let mut bench = Bench::new(&with(pairs(), &times));
        write_pages(&mut bench, 0, &[0]);
        let read = bench.submit(100 * US, Kind::Read, 0, PAGE);
        let ended = bench.settle();
        assert_eq!(bench.done(read).latency(), found, "hits: {hits}");
        assert_eq!(bench.done(read).unmapped, 0);
        assert_eq!(ended, 100 * US + end.max(3 * US), "hits: {hits}");
    }
}

#[test]
fn a_read_that_waited_for_flash_reads_the_page_that_its_data_went_to() {
    // Pages of a block take 25, 50, 75 us to be sensed in turn. A page that is written after two
    // others goes to the third.
    let mut bench = Bench::new(&[
        durability("volatile"),
        set("buffer.read_hits", false),
        set("nand.cell", "tlc"),
        set("nand.read", "[\"25 us\", \"50 us\", \"75 us\"]"),
    ]);
    write_pages(&mut bench, 0, &[3]);
    write_pages(&mut bench, 0, &[1]);
    let start = bench.settle();
    write_pages(&mut bench, start, &[2]);
    let read = bench.submit(start, Kind::Read, 2 * PAGE, PAGE);
    bench.settle();
    assert_eq!(bench.done(read).latency(), PROGRAM + (75 + 100) * US);
}

#[test]
fn a_read_of_which_part_is_buffered_waits_for_flash_only() {
    let mut bench = Bench::filled(&with(pairs(), &[set("buffer.latency", "3 us")]));
    write_pages(&mut bench, 0, &[0]);
    let read = bench.submit(100 * US, Kind::Read, 0, 2 * PAGE);
    bench.settle();
    assert_eq!(bench.done(read).latency(), READ);
    assert_eq!(bench.done(read).of(State::Buffer), 0);
}

// ---- merging ----------------------------------------------------------------------

#[test]
fn a_page_that_waits_is_overwritten_in_place() {
    for (class, units) in [("volatile", [2, 0, 0]), ("capacitor", [2, 0, 0]), ("none", [4, 0, 4])] {
        let mut bench = Bench::new(&with(pairs(), &[durability(class)]));
        for at in [0, 10, 20] {
            write_pages(&mut bench, at * US, &[0]);
        }
        write_pages(&mut bench, 30 * US, &[1]);
        bench.settle();
        assert_eq!(programmed_units(&bench), units, "{class}");
    }
}

#[test]
fn a_page_that_is_being_programmed_is_not_overwritten_in_place() {
    let mut bench = Bench::new(&one_by_one());
    for at in [0, 10, 20] {
        write_pages(&mut bench, at * US, &[0]);
    }
    // The second write waits behind the first, and the third joins it.
    assert_eq!(bench.settle(), 2 * PROGRAM);
    assert_eq!(programmed_units(&bench), [2, 0, 0]);
}

#[test]
fn overwriting_in_place_needs_no_room() {
    let mut bench = Bench::new(&with(one_by_one(), &[set("buffer.size", "8 KiB")]));
    write_pages(&mut bench, 0, &[0, 1]);
    let again = bench.submit(10 * US, Kind::Write, PAGE, PAGE);
    let another = bench.submit(20 * US, Kind::Write, 2 * PAGE, PAGE);
    bench.settle();
    assert_eq!(bench.done(again).latency(), 0);
    assert_eq!(bench.done(another).latency(), PROGRAM - 20 * US);
}

// ---- parts of units ---------------------------------------------------------------

/// Partial writes on pages and units of 16 KiB; returns the reads and the programs that they took.
fn partial_writes(class: &str, writes: &[(u64, u64, u64)]) -> (Vec<Done>, [u64; 2]) {
    let mut bench = Bench::filled(&[
        set("geometry.page_size", "16 KiB"),
        set("ftl.unit", "16 KiB"),
        durability(class),
    ]);
    for (at, offset, bytes) in writes {
        bench.submit(at * US, Kind::Write, offset * 1_024, bytes * 1_024);
    }
    bench.settle();
    let reads = bench.device.counters().commands(OpKind::Read, Holder::RmwRead);
    let programs = programs(&bench);
    (bench.finish(), [reads, programs])
}

#[test]
fn a_partial_write_reads_the_rest_unless_the_buffer_has_it() {
    // Parts of one unit, of a unit that is whole in the buffer, of two units, and of a unit next to
    // one that is covered completely.
    for (writes, counts) in [
        (&[(0, 0, 4)][..], [1, 1]),
        (&[(0, 0, 16), (10, 4, 4)], [0, 2]),
        (&[(0, 12, 8)], [2, 2]),
        (&[(0, 0, 20)], [1, 2]),
        (&[(0, 0, 32)], [0, 2]),
    ] {
        for class in ["none", "volatile"] {
            let (done, found) = partial_writes(class, writes);
            assert_eq!(found, counts, "{class}: {writes:?}");
            let early = class == "volatile";
            assert!(done.iter().all(|done| (done.latency() == 0) == early), "{class}: {done:?}");
        }
    }
}

#[test]
fn two_parts_of_a_unit_read_the_rest_once() {
    // With early acknowledgement the second joins the first while that waits for its rest; without,
    // it is written after it.
    let writes = [(0, 0, 4), (10, 8, 4)];
    assert_eq!(partial_writes("volatile", &writes).1, [1, 1]);
    let (done, counts) = partial_writes("none", &writes);
    assert_eq!(counts, [1, 2]);
    let rest = (25 + 400) * US;
    assert_eq!(done[0].finished, rest + 600 * US);
    assert_eq!(done[1].finished, rest + 2 * 600 * US);
}

// ---- discarded data --------------------------------------------------------

#[test]
fn a_trim_drops_data_that_waits() {
    let mut bench = Bench::new(&pairs());
    write_pages(&mut bench, 0, &[0]);
    bench.submit(10 * US, Kind::Trim, 0, PAGE);
    write_pages(&mut bench, 20 * US, &[1, 2]);
    let read = bench.submit(30 * US, Kind::Read, 0, PAGE);
    assert_eq!(bench.settle(), (20 + 200 + 200) * US);
    assert_eq!((bench.done(read).unmapped, bench.done(read).latency()), (1, 0));
    assert_eq!(programmed_units(&bench), [2, 0, 0]);
    assert_eq!(on_flash(&bench, 3), [1, 2]);
}

#[test]
fn a_trim_of_data_that_is_being_programmed_leaves_it_invalid() {
    for class in ["none", "volatile"] {
        let mut bench = Bench::filled(&[durability(class)]);
        let before = bench.device.ftl().mapped_units();
        let write = bench.submit(0, Kind::Write, 0, PAGE);
        bench.submit(10 * US, Kind::Trim, 0, PAGE);
        let read = bench.submit(20 * US, Kind::Read, 0, PAGE);
        bench.settle();
        assert_eq!(bench.done(write).latency(), if class == "none" { PROGRAM } else { 0 });
        assert_eq!(bench.done(read).unmapped, 1, "{class}");
        assert_eq!(programs(&bench), 1, "{class}");
        assert_eq!(bench.device.ftl().mapped_units(), before - 1, "{class}");
    }
}

#[test]
fn a_trim_leaves_units_alone_that_it_covers_in_part() {
    let mut bench = Bench::new(&pairs());
    write_pages(&mut bench, 0, &[0, 1, 2]);
    bench.submit(10 * US, Kind::Trim, 512, 3 * PAGE - 1_024);
    let read = bench.submit(20 * US, Kind::Read, 0, 3 * PAGE);
    bench.settle();
    assert_eq!(bench.done(read).unmapped, 1);
}

#[test]
fn a_flush_does_not_wait_for_what_was_trimmed() {
    let mut bench = Bench::new(&one_by_one());
    write_pages(&mut bench, 0, &[0, 1]);
    let flush = bench.submit(10 * US, Kind::Flush, 0, 0);
    bench.submit(20 * US, Kind::Trim, PAGE, PAGE);
    assert_eq!(bench.settle(), PROGRAM);
    assert_eq!(bench.done(flush).finished, PROGRAM);
}

#[test]
fn a_trim_makes_room_for_a_write_that_waits() {
    let mut bench = Bench::new(&with(one_by_one(), &[set("buffer.size", "8 KiB")]));
    write_pages(&mut bench, 0, &[0, 1]);
    let write = bench.submit(10 * US, Kind::Write, 2 * PAGE, PAGE);
    bench.submit(50 * US, Kind::Trim, PAGE, PAGE);
    bench.settle();
    assert_eq!(bench.done(write).latency(), 40 * US);
    assert_eq!(bench.done(write).of(State::BufferFull), 40 * US);
}

#[test]
fn zeroes_are_a_trim_of_whole_units_and_a_write_of_parts() {
    let large = [set("geometry.page_size", "16 KiB"), set("ftl.unit", "16 KiB")];
    let times = [set("firmware.trim", "11 us"), set("link.rate", "1 GB/s"), durability("none")];
    let mut bench = Bench::filled(&with(large.to_vec(), &times));
    let kib = 1_024;
    let whole = bench.alone(Kind::WriteZeroes, 0, 32 * kib);
    assert_eq!((whole.latency(), programs(&bench)), (11 * US, 0));
    let read = bench.alone(Kind::Read, 0, 32 * kib);
    assert_eq!(read.unmapped, 2);
    // One unit and a quarter of the next, whose rest is read first.
    let part = bench.alone(Kind::WriteZeroes, 32 * kib, 20 * kib);
    assert_eq!(part.latency(), (11 + 25 + 400 + 400 + 200) * US);
    assert_eq!(part.of(State::Link), 0);
    let read = bench.alone(Kind::Read, 32 * kib, 32 * kib);
    assert_eq!(read.unmapped, 1);
    // A partial write to a unit without data has no rest.
    let part = bench.alone(Kind::WriteZeroes, 0, 4 * kib);
    assert_eq!(part.latency(), (11 + 400 + 200) * US);
}

#[test]
fn zeroes_drop_data_that_waits() {
    let mut bench = Bench::new(&pairs());
    write_pages(&mut bench, 0, &[0]);
    bench.submit(10 * US, Kind::WriteZeroes, 0, PAGE);
    bench.settle();
    let read = bench.alone(Kind::Read, 0, PAGE);
    assert_eq!((read.unmapped, programs(&bench)), (1, 0));
}

// ---- order, size, priority -----------------------------------------------------------

#[test]
fn a_buffer_takes_what_fits_and_the_rest_as_room_comes() {
    for pages in [1, 3, 8] {
        let bytes = format!("{} B", pages * PAGE);
        let mut bench = Bench::new(&[durability("capacitor"), set("buffer.size", bytes)]);
        let writes = write_pages(&mut bench, 0, &(0..10).collect::<Vec<_>>());
        bench.settle();
        // The nth page that does not fit is admitted at the end of program n.
        for (number, tag) in writes.iter().enumerate() {
            let late = (number as u64 + 1).saturating_sub(pages);
            assert_eq!(bench.done(*tag).latency(), late * PROGRAM, "{pages} pages, write {number}");
        }
        let large = bench.alone(Kind::Write, 100 * PAGE, 12 * PAGE);
        assert_eq!(large.latency(), (12 - pages) * PROGRAM, "{pages} pages");
    }
}

#[test]
fn writes_that_wait_are_let_in_by_priority() {
    for (class, own) in [("capacitor", 0), ("none", PROGRAM)] {
        let mut bench = Bench::new(&[durability(class), set("buffer.size", "4 KiB")]);
        let order = [
            (Priority::Normal, 1),
            (Priority::Low, 6),
            (Priority::Normal, 4),
            (Priority::High, 2),
            (Priority::Normal, 5),
            (Priority::High, 3),
        ];
        for (tag, (priority, _)) in order.iter().enumerate() {
            let at = tag as u64 * 10 * US;
            let command = Command { kind: Kind::Write, offset: tag as u64 * PAGE, bytes: PAGE };
            bench.submit_as(at, at, command, *priority);
        }
        bench.settle();
        // By priority, and then in order.
        for (tag, (_, place)) in order.iter().enumerate() {
            let found = bench.done(tag as u32).finished;
            assert_eq!(found, (place - 1) * PROGRAM + own, "{class}, write {tag}");
        }
    }
}
