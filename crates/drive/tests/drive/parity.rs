//! Parity over logical stripes: what a write reads and programs, when it becomes current, and what
//! trims change. On the drive here 8 planes work beside each other, each on a channel of its own;
//! a page is programmed in 100 + 200 us and read in 25 + 100. Seven pages of data and one of parity
//! are a stripe.

use crate::common::{Bench, Override, set};
use drive::OpKind;
use ftl::{Lpn, Source};
use host::Kind;
use metrics::{Holder, State};

const US: u64 = 1_000;
const PAGE: u64 = 4_096;
const PROGRAM: u64 = 300 * US;
const READ: u64 = 125 * US;

/// Eight planes on channels of their own, with stripes over all of them.
pub fn drive(more: &[Override]) -> Vec<Override> {
    let stripes = [
        set("geometry.channels", 8),
        set("ftl.allocation.pool", "plane"),
        set("ftl.parity", "{ width = 8 }"),
        set("buffer.size", "64 KiB"),
    ];
    [&stripes[..], more].concat()
}

/// Reads for parity, programs of data and programs of parity so far.
fn work(bench: &Bench) -> [u64; 3] {
    let counters = bench.device.counters();
    [
        counters.commands(OpKind::Read, Holder::Parity),
        counters.commands(OpKind::Program, Holder::HostProgram),
        counters.commands(OpKind::Program, Holder::Parity),
    ]
}

/// Work that a command adds to [`work`], alone on the drive.
fn work_of(bench: &mut Bench, kind: Kind, first: u64, pages: u64) -> [u64; 3] {
    let before = work(bench);
    bench.alone(kind, first * PAGE, pages * PAGE);
    bench.settle();
    let after = work(bench);
    std::array::from_fn(|index| after[index] - before[index])
}

#[test]
fn a_flush_reads_the_fewest_pages_that_give_parity() {
    // With m of 7 pages new, all written before: m + 1 old ones or 7 - m others; on a tie the old.
    for (dirty, reads) in [(1, 2), (2, 3), (3, 4), (4, 3), (5, 2), (6, 1), (7, 0)] {
        let mut bench = Bench::filled(&drive(&[]));
        let found = work_of(&mut bench, Kind::Write, 7, dirty);
        assert_eq!(found, [reads, dirty, 1], "{dirty} of 7 pages");
        bench.finish();
    }
}

#[test]
fn pages_that_were_never_written_are_not_read() {
    let mut bench = Bench::new(&drive(&[]));
    // Parity alone is the data: nothing is read for the first page. Then old parity, or the pages
    // that are there: one each for the second page.
    assert_eq!(work_of(&mut bench, Kind::Write, 0, 1), [0, 1, 1]);
    assert_eq!(work_of(&mut bench, Kind::Write, 1, 1), [1, 1, 1]);
    assert_eq!(work_of(&mut bench, Kind::Write, 2, 1), [1, 1, 1]);
    // Over the first two: two old pages and parity, or the third page.
    assert_eq!(work_of(&mut bench, Kind::Write, 0, 2), [1, 2, 1]);
    // The first again: its old page and parity, or two others.
    assert_eq!(work_of(&mut bench, Kind::Write, 0, 1), [2, 1, 1]);
    bench.finish();
}

#[test]
fn a_trimmed_page_leaves_its_stripe() {
    let mut bench = Bench::filled(&drive(&[]));
    // Its old page and parity, rather than six others.
    assert_eq!(work_of(&mut bench, Kind::Trim, 7, 1), [2, 0, 1]);
    // Five old pages and parity, or the one that stays.
    assert_eq!(work_of(&mut bench, Kind::Trim, 8, 5), [1, 0, 1]);
    // Nothing stays, and parity is dropped.
    let mapped = bench.device.ftl().mapped_units();
    assert_eq!(work_of(&mut bench, Kind::Trim, 13, 1), [0, 0, 0]);
    assert_eq!(bench.device.ftl().mapped_units(), mapped - 2);
    // A whole stripe.
    assert_eq!(work_of(&mut bench, Kind::Trim, 14, 7), [0, 0, 0]);
    assert_eq!(bench.device.ftl().mapped_units(), mapped - 2 - 8);
    assert_eq!(work_of(&mut bench, Kind::Write, 9, 1), [0, 1, 1]);
    bench.finish();
}

#[test]
fn parity_of_whole_stripes_is_a_seventh_of_the_data_and_of_single_pages_as_much() {
    let units = |bench: &Bench| {
        let tally = bench.device.ftl().tally.units;
        [tally[Source::Host as usize], tally[Source::Parity as usize]]
    };
    let mut bench = Bench::new(&drive(&[]));
    for stripe in 0..20 {
        assert_eq!(work_of(&mut bench, Kind::Write, 7 * stripe, 7), [0, 7, 1]);
    }
    assert_eq!(units(&bench), [140, 20]);
    for stripe in 0..20 {
        bench.alone(Kind::Write, (7 * stripe + stripe % 7) * PAGE, PAGE);
    }
    assert_eq!(units(&bench), [160, 40]);
    bench.finish();
}

#[test]
fn the_members_of_an_update_become_current_together() {
    let mut bench = Bench::filled(&drive(&[]));
    let (page, parity) =
        (Lpn(7), bench.device.ftl().layout.stripes.unwrap().parity(ftl::StripeId(1)));
    let places = |bench: &Bench| [page, parity].map(|lpn| bench.device.ftl().lookup(lpn));
    let before = places(&bench);
    // A read of parity's plane delays its program, which needs old data first.
    let write = bench.submit(0, Kind::Write, 7 * PAGE, PAGE);
    bench.until(READ + PROGRAM - 1);
    assert_eq!(places(&bench), before);
    bench.until(READ + PROGRAM);
    let after = places(&bench);
    assert!(after[0] != before[0] && after[1] != before[1]);
    assert_eq!(bench.done(write).latency(), READ + PROGRAM);
    bench.finish();
}

#[test]
fn a_read_meanwhile_finds_the_buffer_or_the_old_page() {
    let mut bench = Bench::filled(&drive(&[]));
    bench.submit(0, Kind::Write, 7 * PAGE, PAGE);
    let hit = bench.submit(10 * US, Kind::Read, 7 * PAGE, PAGE);
    let other = bench.submit(10 * US, Kind::Read, 9 * PAGE, PAGE);
    bench.settle();
    assert_eq!(bench.done(hit).latency(), 0, "the buffer serves it");
    assert_eq!(bench.done(other).latency(), READ, "no member of the stripe is withheld");
    bench.finish();
}

#[test]
fn a_write_waits_for_the_present_update_of_its_stripe() {
    let mut bench = Bench::filled(&drive(&[]));
    let first = bench.submit(0, Kind::Write, 7 * PAGE, PAGE);
    let others = [8, 9].map(|page| bench.submit(page * US, Kind::Write, page * PAGE, PAGE));
    bench.settle();
    assert_eq!(bench.done(first).finished, READ + PROGRAM);
    // Both together, in the next update.
    let next = 2 * (READ + PROGRAM);
    assert_eq!(others.map(|write| bench.done(write).finished), [next, next]);
    assert_eq!(work(&bench), [2 + 3, 3, 2]);
    // One of another stripe does not, except for the planes.
    let start = bench.settle();
    bench.submit(start, Kind::Write, 7 * PAGE, PAGE);
    let elsewhere = bench.submit(start + 10 * US, Kind::Write, 70 * PAGE, PAGE);
    bench.settle();
    assert!(bench.done(elsewhere).latency() < 2 * (READ + PROGRAM));
    bench.finish();
}

#[test]
fn units_that_come_together_are_one_update() {
    for durability in ["none", "volatile", "capacitor"] {
        let mut bench = Bench::filled(&drive(&[set("buffer.durability", durability)]));
        let found = work_of(&mut bench, Kind::Write, 7, 14);
        assert_eq!(found, [0, 14, 2], "two whole stripes");
        bench.finish();
    }
}

#[test]
fn the_time_to_compute_parity_delays_a_write() {
    let mut bench = Bench::filled(&drive(&[set("ftl.parity.xor", "7 us")]));
    let write = bench.alone(Kind::Write, 7 * PAGE, PAGE);
    assert_eq!(write.latency(), READ + 7 * US + PROGRAM);
    assert_eq!(write.of(State::Xor), 7 * US);
    bench.finish();
}

#[test]
fn a_trim_while_its_page_is_written_leaves_the_stripe_without_it() {
    for at in [0, 10, 125, 130, 400, 424, 425] {
        let mut bench = Bench::filled(&drive(&[]));
        bench.submit(0, Kind::Write, 7 * PAGE, PAGE);
        bench.submit(at * US, Kind::Trim, 7 * PAGE, PAGE);
        bench.settle();
        assert_eq!(bench.device.ftl().lookup(Lpn(7)), None, "trimmed at {at} us");
        let read = bench.alone(Kind::Read, 7 * PAGE, PAGE);
        assert_eq!(read.unmapped, 1);
        bench.finish();
    }
}

/// Two planes a channel, of which a pool takes either; the buffer acknowledges writes.
fn two_planes_a_pool() -> Vec<Override> {
    let more = [
        set("geometry.dies_per_package", 2),
        set("ftl.allocation.pool", "channel"),
        set("buffer.durability", "capacitor"),
        set("buffer.programs_per_bin", 1),
    ];
    drive(&more)
}

#[test]
fn a_pool_begins_another_update_when_its_program_has_been_asked_for() {
    let mut bench = Bench::new(&two_planes_a_pool());
    // Pages 0 and 56 are of one pool, and of stripes of their own; nothing is read.
    let layout = &bench.device.ftl().layout;
    assert_eq!(layout.pool(Lpn(0)), layout.pool(Lpn(56)));
    let pages = (1..layout.host_units).filter(|lpn| layout.pool(Lpn(*lpn)) == layout.pool(Lpn(0)));
    let pages: Vec<u32> = [0].into_iter().chain(pages).take(2).collect();
    for page in &pages {
        bench.submit(0, Kind::Write, u64::from(*page) * PAGE, PAGE);
    }
    bench.until(PROGRAM + 100 * US);
    // Both planes of the pool program at a time: one behind the other on the channel.
    for page in pages {
        assert!(bench.device.ftl().lookup(Lpn(page)).is_some(), "page {page} is on flash");
    }
    bench.finish();
}

#[test]
fn more_trims_than_updates_at_a_time_leave_their_stripes() {
    let mut bench = Bench::filled(&drive(&[]));
    let stripes = bench.device.ftl().layout.stripes.unwrap();
    let before = work(&bench);
    for stripe in 0..40 {
        bench.submit(0, Kind::Trim, 7 * stripe * PAGE, PAGE);
    }
    bench.settle();
    let after = work(&bench);
    assert_eq!([after[0] - before[0], after[2] - before[2]], [2 * 40, 40]);
    for stripe in 0..40 {
        let lpn = stripes.data(ftl::StripeId(stripe)).next().unwrap();
        assert_eq!(bench.device.ftl().member(lpn), None);
    }
    bench.finish();
}

#[test]
fn a_flush_waits_for_data_behind_an_update() {
    let mut bench = Bench::filled(&drive(&[set("buffer.durability", "volatile")]));
    bench.submit(0, Kind::Write, 7 * PAGE, PAGE);
    bench.submit(10 * US, Kind::Write, 8 * PAGE, PAGE);
    let flush = bench.submit(20 * US, Kind::Flush, 0, 0);
    bench.settle();
    assert_eq!(bench.done(flush).finished, 2 * (READ + PROGRAM));
    bench.finish();
}

#[test]
fn a_read_past_the_buffer_waits_for_the_end_of_an_update() {
    let past = [set("buffer.durability", "capacitor"), set("buffer.read_hits", false)];
    let mut bench = Bench::filled(&drive(&past));
    bench.submit(0, Kind::Write, 7 * PAGE, PAGE);
    bench.submit(10 * US, Kind::Write, 8 * PAGE, PAGE);
    let reads = [7, 8].map(|page| bench.submit(20 * US, Kind::Read, page * PAGE, PAGE));
    bench.settle();
    let [first, second] = reads.map(|read| bench.done(read).finished);
    assert!(first >= READ + PROGRAM + READ, "{first}");
    assert!(second >= 2 * (READ + PROGRAM) + READ, "{second}");
    bench.finish();
}

#[test]
fn a_drive_that_is_shut_down_has_the_parity_of_its_buffer() {
    let early = [
        set("buffer.durability", "capacitor"),
        set("buffer.flush", "{ policy = \"watermark\", high = \"90 %\", low = \"80 %\" }"),
    ];
    let mut bench = Bench::filled(&drive(&early));
    for page in [3, 9, 10, 20] {
        bench.alone(Kind::Write, page * PAGE, PAGE);
    }
    bench.alone(Kind::Trim, 30 * PAGE, PAGE);
    let ftl = bench.device.shut_down(ftl::BinChoice::RoundRobin).unwrap();
    ftl.audit().unwrap();
    let stripes = ftl.layout.stripes.unwrap();
    for stripe in (0..stripes.count()).map(ftl::StripeId) {
        let has_data = stripes.data(stripe).any(|lpn| ftl.lookup(lpn).is_some());
        assert_eq!(ftl.lookup(stripes.parity(stripe)).is_some(), has_data);
    }
}
