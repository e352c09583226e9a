//! Parity of untimed writes: each stripe with data has parity, and no other; a stripe whose members
//! are written one behind the other has it written once.

use crate::common::{self, taken_up};
use engine::Streams;
use ftl::{Batch, BinChoice, Ftl, FtlConfig, Layout, Lpn, Ppn, Source, Stream, StripeId, Untimed};
use nand::Geometry;
use proptest::prelude::*;
use serde_json::json;

/// Four planes on channels of their own, with 16 blocks of 4 pages.
fn geometry() -> Geometry {
    Geometry { channels: 4, ..common::geometry(1, 16, 4096) }
}

fn config(strip: &str) -> FtlConfig {
    let mut allocation = common::allocation("plane", "separate");
    allocation["stripe"] = json!(strip);
    common::config(json!({
        "over_provisioning": { "reserved": "25 %" },
        "parity": { "width": 4 },
        "allocation": allocation,
    }))
}

fn firmware(config: &FtlConfig) -> Ftl {
    let exported = config.exported_bytes(&geometry()).unwrap();
    Ftl::new(Layout::new(&geometry(), config, exported).unwrap(), config, 0, Streams::new(1))
}

/// Checks that exactly the stripes with data have parity.
fn check(ftl: &Ftl) {
    ftl.audit().unwrap();
    let stripes = ftl.layout.stripes.unwrap();
    for stripe in (0..stripes.count()).map(StripeId) {
        let has_data = stripes.data(stripe).any(|lpn| ftl.lookup(lpn).is_some());
        let has_parity = ftl.lookup(stripes.parity(stripe)).is_some();
        assert_eq!(has_parity, has_data, "{stripe:?}");
    }
    for lpn in (0..ftl.layout.map_units).map(Lpn) {
        let Some(ppn) = ftl.lookup(lpn) else { continue };
        let bin = ftl.layout.bin(ftl.layout.block(ppn));
        assert_eq!(ftl.layout.pool_of_bin(bin), ftl.layout.pool(lpn), "{lpn:?} stays in its pool");
    }
}

#[test]
fn three_quarters_of_what_is_not_reserved_is_the_hosts() {
    // 256 pages, of which 64 are reserved; a quarter of the others is parity.
    let layout = firmware(&config("4 KiB")).layout;
    assert_eq!((layout.host_units, layout.map_units), (144, 192));
    assert_eq!(layout.stripes.unwrap().count(), 48);
}

#[test]
fn data_in_order_has_a_third_of_its_pages_as_parity_and_scattered_data_as_many() {
    for strip in ["4 KiB", "12 KiB"] {
        let mut ftl = firmware(&config(strip));
        let mut writer = Untimed::new(&ftl, BinChoice::RoundRobin);
        writer.write_run(&mut ftl, Lpn(0), 144).unwrap();
        writer.flush(&mut ftl).unwrap();
        check(&ftl);
        let [host, _, _, _, _, parity, _] = ftl.tally.units;
        assert_eq!((host, parity), (144, 48), "{strip}");
        // Each page is of another range than the one before.
        for step in 0..100 {
            writer.write(&mut ftl, Lpn(step * 37 % 144)).unwrap();
        }
        writer.flush(&mut ftl).unwrap();
        check(&ftl);
        let [host, _, _, _, _, parity, _] = ftl.tally.units;
        assert_eq!((host - 144, parity - 48), (100, 100), "{strip}");
    }
}

#[test]
fn a_snapshot_keeps_parity() {
    let config = config("4 KiB");
    let mut ftl = firmware(&config);
    let mut writer = Untimed::new(&ftl, BinChoice::RoundRobin);
    writer.write_run(&mut ftl, Lpn(0), 100).unwrap();
    writer.flush(&mut ftl).unwrap();
    let again = taken_up(firmware(&config), &ftl, &ftl.rest()).unwrap();
    check(&again);
    assert_eq!(again.tally.units[Source::Parity as usize], 34);
}

proptest! {
    #![proptest_config(floor::cases!())]

    #[test]
    fn parity_follows_data(
        strip in 1u32..5,
        steps in proptest::collection::vec((0u32..144, 1u32..9, 0u32..4), 1..120),
    ) {
        let mut ftl = firmware(&config(&format!("{} KiB", 4 * strip)));
        let mut writer = Untimed::new(&ftl, BinChoice::RoundRobin);
        for (first, count, kind) in steps {
            let behind = (first + count).min(144);
            if kind == 0 {
                writer.flush(&mut ftl).unwrap();
                for lpn in first..behind {
                    writer.trim(&mut ftl, Lpn(lpn)).unwrap();
                }
            } else {
                writer.write_run(&mut ftl, Lpn(first), behind - first).unwrap();
            }
        }
        writer.flush(&mut ftl).unwrap();
        check(&ftl);
    }
}

// ---- pages that are valid but not current ---------------------------------------------------

/// Binds the next batch of a unit's bin and notes a program of the unit there.
fn program(ftl: &mut Ftl, lpn: Lpn) -> (Batch, Ppn) {
    let bin = ftl.layout.bins_of(ftl.layout.pool(lpn))[0];
    let at = ftl.bind(bin, Stream::Host).unwrap();
    let ppn = ftl.layout.first_unit(at.block, at.batch);
    ftl.note(ppn, lpn);
    (at, ppn)
}

/// Copies a page to the next batch of its bin, as collection does; returns the new place.
fn copy(ftl: &mut Ftl, lpn: Lpn, from: Ppn) -> (bool, Ppn) {
    let bin = ftl.layout.bin(ftl.layout.block(from));
    let at = ftl.bind(bin, Stream::Gc).unwrap();
    let to = ftl.layout.first_unit(at.block, at.batch);
    ftl.note_copy(from, to, lpn);
    let moved = ftl.commit_move(lpn, from, to);
    ftl.finish(at);
    (moved, to)
}

#[test]
fn a_placed_page_becomes_current_wherever_it_was_moved() {
    let mut ftl = firmware(&config("4 KiB"));
    let (lpn, mut writer) = (Lpn(5), Untimed::new(&ftl, BinChoice::RoundRobin));
    writer.write(&mut ftl, lpn).unwrap();
    writer.flush(&mut ftl).unwrap();
    let old = ftl.lookup(lpn);
    let (at, ppn) = program(&mut ftl, lpn);
    ftl.place(lpn, ppn);
    ftl.finish(at);
    ftl.audit().unwrap();
    assert!(!ftl.is_at_rest(), "an update is under way");
    // Both pages are valid, and both may be moved.
    let (moved, to) = copy(&mut ftl, lpn, ppn);
    let (moved_old, to_old) = copy(&mut ftl, lpn, old.unwrap());
    assert!(moved && moved_old && ftl.lookup(lpn) == Some(to_old));
    ftl.audit().unwrap();
    assert_eq!(ftl.attach(lpn), to);
    assert_eq!(ftl.lookup(lpn), Some(to));
    assert!(!ftl.is_valid(to_old) && !ftl.is_valid(ppn));
    ftl.audit().unwrap();
    assert!(ftl.is_at_rest());
}

#[test]
fn the_page_of_a_trimmed_unit_is_kept_until_its_stripe_does_without() {
    let mut ftl = firmware(&config("4 KiB"));
    let (lpn, mut writer) = (Lpn(5), Untimed::new(&ftl, BinChoice::RoundRobin));
    writer.write(&mut ftl, lpn).unwrap();
    writer.flush(&mut ftl).unwrap();
    let (old, mapped) = (ftl.lookup(lpn), ftl.mapped_units());
    assert!(ftl.detach(lpn) && !ftl.detach(lpn), "it has data once");
    assert_eq!((ftl.lookup(lpn), ftl.member(lpn)), (None, old));
    assert_eq!(ftl.mapped_units(), mapped - 1);
    let (moved, to) = copy(&mut ftl, lpn, old.unwrap());
    assert!(moved && ftl.member(lpn) == Some(to));
    ftl.audit().unwrap();
    // New data takes its place in the stripe.
    let (at, ppn) = program(&mut ftl, lpn);
    ftl.place(lpn, ppn);
    ftl.finish(at);
    // It is trimmed before it is current.
    ftl.keep_placed(lpn);
    assert_eq!((ftl.member(lpn), ftl.is_valid(to)), (Some(ppn), false));
    ftl.audit().unwrap();
    ftl.end_keeping(lpn);
    assert_eq!((ftl.member(lpn), ftl.is_valid(ppn)), (None, false));
    ftl.audit().unwrap();
}

#[test]
fn what_is_neither_current_nor_detached_does_not_move() {
    let mut ftl = firmware(&config("4 KiB"));
    let (at, ppn) = program(&mut ftl, Lpn(5));
    ftl.finish(at);
    assert!(!copy(&mut ftl, Lpn(5), ppn).0);
    ftl.audit().unwrap();
}
