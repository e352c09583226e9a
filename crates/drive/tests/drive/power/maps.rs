//! Checkpoints, and a persistent map.

use crate::common::{Bench, experiment, run, set};
use crate::power::{Cutting, US, now, ns};
use engine::Span;

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
