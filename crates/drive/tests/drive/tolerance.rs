//! Writes that collection does not hold up, on the drive of [`crate::detours`]: while a plane collects,
//! what is to be programmed there stays in the buffer, and the rest of its stripe goes on.

use crate::common::{Bench, Override, set};
use crate::detours::{ERASE, collect, drive, first_of};
use drive::OpKind;
use engine::Streams;
use host::Kind;
use metrics::Holder;

const US: u64 = 1_000;
const PAGE: u64 = 4_096;
/// Stripes with data, and with parity, on plane 0.
const OF_DATA: u64 = 5;
const OF_PARITY: u64 = 7;

fn tolerant(more: &[Override]) -> Vec<Override> {
    let tolerance = [set("buffer.durability", "capacitor"), set("ftl.parity.flush", "gc-tolerant")];
    drive(8, &[&tolerance[..], more].concat())
}

/// A drive on which only plane 0 collects, at the moment at which it begins to erase.
fn collecting(overrides: &[Override]) -> Bench {
    collect(Bench::filled(overrides))
}

/// Programs of data, programs of parity, and reads for parity so far.
fn work(bench: &Bench) -> [u64; 3] {
    let counters = bench.device.counters();
    [
        counters.commands(OpKind::Program, Holder::HostProgram),
        counters.commands(OpKind::Program, Holder::Parity),
        counters.commands(OpKind::Read, Holder::Parity),
    ]
}

/// Submits a command now; returns what the drive has begun to do since, some time later.
fn within(bench: &mut Bench, us: u64, kind: Kind, offset: u64) -> [u64; 3] {
    let (before, now) = (work(bench), bench.device.now().as_ns());
    bench.submit(now, kind, offset, PAGE);
    bench.until(now + us * US);
    let after = work(bench);
    std::array::from_fn(|index| after[index] - before[index])
}

/// Units of data and of parity that counted as placed so far.
fn held(bench: &Bench) -> [u64; 2] {
    let counters = bench.device.counters();
    [counters.held_data, counters.held_parity]
}

/// Programs of parity in 1.4 ms, of two writes to a stripe whose first page is held.
pub fn held_up(bench: Bench) -> u64 {
    let mut bench = collect(bench);
    let [first, second] = [0, PAGE].map(|page| first_of(OF_DATA) + page);
    within(&mut bench, 500, Kind::Write, first)[1] + within(&mut bench, 900, Kind::Write, second)[1]
}

#[test]
fn a_stripe_goes_on_while_its_data_is_held() {
    // The update of the first write ends in 125 + 3 + 300 us, without its page; the second write to
    // the stripe needs its old page and parity. If updates wait, it waits for the erase.
    for (flush, second) in [("gc-tolerant", [1, 1, 2]), ("wait", [0, 0, 0])] {
        let mut bench = collecting(&tolerant(&[set("ftl.parity.flush", flush)]));
        let before = held(&bench);
        assert_eq!(within(&mut bench, 500, Kind::Write, first_of(OF_DATA)), [0, 1, 6], "{flush}");
        let found = within(&mut bench, 900, Kind::Write, first_of(OF_DATA) + PAGE);
        assert_eq!(found, second, "{flush}");
        let data = held(&bench)[0] - before[0];
        assert_eq!(data, u64::from(flush == "gc-tolerant"));
        bench.finish();
    }
}

#[test]
fn the_page_that_was_held_is_programmed_once_and_without_parity() {
    let mut bench = collecting(&tolerant(&[]));
    let before = work(&bench);
    within(&mut bench, 500, Kind::Write, first_of(OF_DATA));
    let now = bench.device.now().as_ns();
    bench.until(now + ERASE);
    let after = work(&bench);
    assert_eq!([after[0] - before[0], after[1] - before[1]], [1, 1]);
    bench.finish();
}

#[test]
fn held_parity_is_read_from_memory() {
    let mut bench = collecting(&tolerant(&[]));
    let before = held(&bench)[1];
    // Its old page and parity are two reads, but parity is held: the six others.
    assert_eq!(within(&mut bench, 500, Kind::Write, first_of(OF_PARITY)), [1, 0, 6]);
    assert_eq!(held(&bench)[1] - before, 1);
    // Now only the old page is on flash.
    let second = within(&mut bench, 500, Kind::Write, first_of(OF_PARITY) + PAGE);
    assert_eq!((second, held(&bench)[1] - before), ([1, 0, 1], 2));
    bench.finish();
}

#[test]
fn data_that_is_held_is_read_from_memory_when_it_is_replaced_or_trimmed() {
    for kind in [Kind::Write, Kind::Trim] {
        let mut bench = collecting(&tolerant(&[]));
        within(&mut bench, 500, Kind::Write, first_of(OF_DATA));
        // The old data is in memory, so only the old parity is read.
        let found = within(&mut bench, 500, kind, first_of(OF_DATA));
        assert_eq!(found, [0, 1, 1], "{kind:?}");
        // A further write to the stripe finds the same parity as the audit.
        let found = within(&mut bench, 400, Kind::Write, first_of(OF_DATA) + PAGE);
        assert_eq!(found, [1, 1, 2], "{kind:?}");
        bench.finish();
    }
}

/// Random reads, writes and trims on all planes, with detours, under audit.
#[test]
fn nothing_is_lost_while_planes_collect() {
    for seed in floor::seeds(1, 2) {
        for more in [&[][..], &[set("scheduler.rotation", "rotating")]] {
            let always = "{ policy = 'reconstruct', convert = 'always' }";
            let more = [more, &[set("scheduler.read_routing", always)]].concat();
            let mut bench = Bench::filled(&tolerant(&more));
            let mut stream = Streams::new(seed).stream("commands");
            let mut under_way = Vec::new();
            for _ in 0..6_000 {
                let now = bench.device.now().as_ns();
                let kind = [Kind::Write, Kind::Write, Kind::Read, Kind::Trim]
                    [if stream.below(8) == 0 { 3 } else { stream.below(3) as usize }];
                let offset = stream.below(7 * 32) * PAGE;
                under_way.push(bench.submit(now + 20 * US, kind, offset, PAGE));
                while under_way.len() >= 8 {
                    assert!(bench.step(), "seed {seed}");
                    under_way.retain(|tag| !bench.is_done(*tag));
                }
            }
            let [data, parity] = held(&bench);
            println!("seed {seed}: {data} units of data and {parity} of parity were held");
            assert!(data > 50 && parity > 50, "seed {seed}");
            bench.settle();
            bench.finish();
        }
    }
}
