//! The write buffer: the time of a write's answer, the time of its flush, and the writes that it
//! saves. A page is programmed in 100 + 200 us and read in 25 + 100.

use crate::common::{Bench, Override, set};
use crate::directions::case::{Case, Scene, case};
use crate::directions::requests::{PAGE, READ, US, WRITE};
use drive::OpKind;
use ftl::Lpn;
use host::Kind;
use metrics::Holder;

fn programs(bench: &Bench) -> u64 {
    bench.device.counters().commands(OpKind::Program, Holder::HostProgram)
}

/// Writes some pages at once; returns the number of programs.
fn programs_of(scene: &Scene, pages: &[u64]) -> u64 {
    let mut bench = scene.bench();
    for page in pages {
        bench.submit(0, Kind::Write, page * PAGE, PAGE);
    }
    bench.settle();
    programs(&bench)
}

fn early() -> Override {
    set("buffer.durability", "capacitor")
}

/// Ten pages fit. The fifth reaches 50 %; of the five that wait then, three are flushed, until two
/// (20 %) are left.
fn of_a_watermark(parameter: &'static str) -> Case {
    let policy = "{ policy = 'watermark', high = '50 %', low = '20 %' }";
    case(parameter)
        .given(&[early(), set("buffer.size", "40 KiB"), set("buffer.flush", policy)])
        .see("pages that go to flash of five in a buffer of ten", |scene| {
            programs_of(scene, &[0, 1, 2, 3, 4])
        })
}

/// A batch is two pages, on two planes.
fn pairs() -> [Override; 2] {
    [set("geometry.planes_per_die", 2), set("ftl.block_planes", 2)]
}

pub fn cases() -> Vec<Case> {
    let times = [set("buffer.latency", "3 us"), set("firmware.flush", "2 us")];
    vec![
        // Answered from flash or from the buffer; a flush waits for the write's end, or
        // has nothing to do.
        case("drive.buffer.durability")
            .given(&times)
            .see("a write, a flush 10 us later, and another of nothing, us", |scene| {
                let mut bench = scene.bench();
                let write = bench.submit(0, Kind::Write, 0, PAGE);
                let flush = bench.submit(10 * US, Kind::Flush, 0, 0);
                bench.settle();
                let nothing_left = bench.alone(Kind::Flush, 0, 0);
                [bench.done(write), bench.done(flush), &nothing_left]
                    .map(|done| done.latency() / US)
            })
            .under([
                ("none", [300, 2, 2]),
                ("volatile", [3, 300 - 10, 2]),
                ("capacitor", [3, 2, 2]),
            ]),
        // Each write that does not fit waits for the end of a program.
        case("drive.buffer.size")
            .given(&[early()])
            .see("a write of 12 pages, ns", |scene| {
                scene.bench().alone(Kind::Write, 0, 12 * PAGE).latency()
            })
            .under([("4 KiB", 11 * WRITE), ("32 KiB", 4 * WRITE), ("48 KiB", 0)]),
        case("drive.buffer.latency")
            .given(&[early()])
            .see("a write and a read of the same page, ns", |scene| {
                let mut bench = scene.bench();
                let write = bench.submit(0, Kind::Write, 0, PAGE);
                let read = bench.submit(10 * US, Kind::Read, 0, PAGE);
                bench.settle();
                [bench.done(write).latency(), bench.done(read).latency()]
            })
            .under([("0 us", [0, 0]), ("3 us", [3 * US, 3 * US])]),
        // Four copies of 3 us.
        case("drive.buffer.serial")
            .given(&[early(), set("buffer.latency", "3 us")])
            .see("four writes at once, ns", |scene| {
                let mut bench = scene.bench();
                let writes = [0; 4].map(|_| bench.submit(0, Kind::Write, 0, PAGE));
                bench.settle();
                writes.map(|write| bench.done(write).latency())
            })
            .under([("false", [3 * US; 4]), ("true", [3, 6, 9, 12].map(|us| us * US))]),
        case("drive.buffer.flush.policy")
            .at("drive.buffer.flush")
            .given(&[early(), set("buffer.size", "40 KiB")])
            .see("programs after four pages in a buffer of ten", |scene| {
                programs_of(scene, &[0, 1, 2, 3])
            })
            .under([("eager", 4), ("{ policy = 'watermark', high = '50 %', low = '20 %' }", 0)]),
        of_a_watermark("drive.buffer.flush(watermark).high").under([("50 %", 3), ("60 %", 0)]),
        of_a_watermark("drive.buffer.flush(watermark).low").under([
            ("0 %", 5),
            ("20 %", 3),
            ("40 %", 1),
        ]),
        // Four pages fit, and when the buffer is full one is flushed: the page that came first, or
        // the page that was written longest ago (page 0 is written twice).
        case("drive.buffer.order")
            .given(&[
                early(),
                set("buffer.size", "16 KiB"),
                set("buffer.flush", "{ policy = 'watermark', high = '100 %', low = '75 %' }"),
            ])
            .see("the page that goes to flash", |scene| {
                let mut bench = scene.bench();
                for page in [0, 1, 2, 0, 3] {
                    bench.submit(0, Kind::Write, page * PAGE, PAGE);
                }
                assert_eq!(bench.settle(), WRITE);
                let ftl = bench.device.ftl();
                (0..4).filter(|page| ftl.lookup(Lpn(*page)).is_some()).map(u64::from).sum::<u64>()
            })
            .under([("fifo", 0), ("lru", 1)]),
        // Alone in its batch the page is flushed when its time has come, or never.
        case("drive.buffer.partial_after")
            .given(&[early()])
            .given(&pairs())
            .see("when one page is on flash, ns", |scene| {
                let mut bench = scene.bench();
                bench.submit(0, Kind::Write, 0, PAGE);
                bench.settle()
            })
            .left_out(0)
            .under([("70 us", 70 * US + WRITE), ("90 us", 90 * US + WRITE)]),
        // Page 1 is rewritten while page 0 is being programmed: in place if it still waits in the
        // buffer, else by one more program.
        case("drive.buffer.programs_per_bin")
            .given(&[early()])
            .see("programs of pages 0, 1, 2 and 1 again", |scene| programs_of(scene, &[0, 1, 2, 1]))
            .under([("1", 3), ("2", 4)])
            .left_out(4),
        case("drive.buffer.read_hits")
            .given(&[early(), set("buffer.latency", "3 us")])
            .see("a read 10 us behind the write of its page, ns", |scene| {
                let mut bench = scene.bench();
                bench.submit(0, Kind::Write, 0, PAGE);
                let read = bench.submit(10 * US, Kind::Read, 0, PAGE);
                bench.settle();
                bench.done(read).latency()
            })
            .under([("true", 3 * US), ("false", WRITE - 10 * US + READ)]),
    ]
}
