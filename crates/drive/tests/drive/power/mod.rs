//! Power cuts: the data that survives, the data that is found again, the duration of recovery, and
//! the auditor's detection of a faulty recovery.

mod durability;
mod durations;
mod faults;
mod kept;
mod maps;
mod runs;
mod under_way;

use crate::common::{Bench, Override, set};
use drive::recovery::Outage;
use drive::{Counters, Device, OpKind};
use engine::Span;
use ftl::Lpn;
use host::Kind;
use metrics::Holder;

const PAGE: u64 = 4_096;
const US: u64 = 1_000;
/// Time to read the metadata of a page: 16 bytes at 40.96 MB/s, 390.6 ns, and sensing.
const LOOK: u64 = 25 * US + 391;

/// The small drive, which keeps the metadata for recovery.
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
    /// Cuts the power at a time; afterwards the drive is on again.
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

fn now(drive: &Cutting) -> u64 {
    drive.bench.device.now().as_ns()
}

/// A drive that is full and is overwritten, at the moment at which a collection first begins an
/// operation of a kind, with that moment.
fn collecting(overrides: &[Override], kind: OpKind, by: Holder) -> Cutting {
    written_until(overrides, |counters| counters.commands(kind, by) > 0)
}

/// A drive that was written to until an operation was counted, which has just begun.
fn written_until(overrides: &[Override], is_seen: impl Fn(&Counters) -> bool) -> Cutting {
    let mut drive = Cutting::filled(overrides);
    let mut page = 0;
    while !is_seen(drive.bench.device.counters()) {
        if drive.bench.device.outstanding() == 0 {
            let now = drive.bench.device.now().as_ns();
            let pages = u64::from(drive.bench.device.ftl().layout.host_units);
            // Never the same order twice, so that part of each block stays valid.
            drive.write(now, (page * page * 7 + page) % pages);
            page += 1;
        }
        drive.bench.step();
        assert!(page < 5_000, "nothing is collected");
    }
    drive
}

fn buffered(durability: &str) -> Cutting {
    Cutting::new(&[
        set("buffer.durability", durability),
        set("buffer.flush", "{ policy = \"watermark\", high = \"90 %\", low = \"10 %\" }"),
    ])
}

fn trimmed(trims: &str) -> Cutting {
    let mut drive = Cutting::new(&[set("recovery.trims", trims)]);
    (0..3).for_each(|page| _ = drive.write(page * 300 * US, page));
    drive.bench.submit(900 * US, Kind::Trim, PAGE, PAGE);
    drive
}
