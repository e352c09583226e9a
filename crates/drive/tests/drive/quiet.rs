//! Background collection that waits until hosts have nothing to do on its channel, on the drive in
//! `poised` with three blocks of data a die.

use crate::common::{Bench, Override, set};
use crate::poised::{PAGE, page, shape};
use drive::OpKind;
use ftl::BinId;
use host::Kind;
use metrics::Holder;

fn drive(more: &[Override]) -> Vec<Override> {
    let thresholds = [
        set("ftl.over_provisioning.exported", format!("{} B", 24 * PAGE)),
        set("ftl.gc.foreground", "1 block"),
        set("ftl.gc.background", "2 blocks"),
        set("ftl.gc.stop", "3 blocks"),
    ];
    [&shape(&thresholds)[..], more].concat()
}

/// Free blocks of die 0 when all is over after its first collection. Die 1 is read while the first
/// block is erased, and for a while after that.
fn free_after_a_collection(more: &[Override]) -> u32 {
    let mut bench = Bench::filled(&drive(more));
    for number in (0..12).cycle() {
        let now = bench.settle();
        bench.submit(now, Kind::Write, page(0, number), PAGE);
        while bench.step() {
            if bench.device.counters().commands(OpKind::Erase, Holder::Erase) > 0 {
                let now = bench.device.now().as_ns();
                for read in 1..=20 {
                    bench.submit(now + read * 100_000, Kind::Read, page(1, read % 12), PAGE);
                }
                bench.settle();
                return bench.device.ftl().free_blocks(BinId(0));
            }
        }
    }
    unreachable!("it collects")
}

#[test]
fn a_collection_that_has_begun_goes_on_until_it_stops() {
    // Above the background threshold, too: more than three blocks are free then.
    for begins in ["any-time", "quiet-channel"] {
        for more in [&[][..], &[set("ftl.gc.at_once", "{ channel = 1 }")]] {
            let begins = set("ftl.gc.background_begins", begins);
            let free = free_after_a_collection(&[std::slice::from_ref(&begins), more].concat());
            assert_eq!(free, 4, "{begins:?} {more:?}");
        }
    }
}

#[test]
fn foreground_collection_does_not_wait_for_hosts() {
    // A read of die 1 ends every 125 us, and the next one comes before; die 0 is short of space all
    // the time. It collects nevertheless, once it reaches the foreground threshold.
    let begins = set("ftl.gc.background_begins", "quiet-channel");
    let mut bench = Bench::filled(&drive(&[begins]));
    for number in 0..200 {
        let now = number * 100_000;
        bench.submit(now, Kind::Read, page(1, number % 12), PAGE);
        if number % 3 == 0 {
            bench.submit(now, Kind::Write, page(0, number % 12), PAGE);
        }
    }
    bench.settle();
    assert!(bench.device.counters().commands(OpKind::Erase, Holder::Erase) > 5);
}
