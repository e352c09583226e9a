//! The units of a batch that is moved at once end in the same state as if moved one by one,
//! whatever happened to them meanwhile.

use crate::common::{BY_HAND, Override, experiment, set};
use drive::Device;
use ftl::{Batch, BinId, Ftl, Lpn, Ppn, Stream};
use proptest::prelude::*;

/// A firmware of one bin whose batches have `units_per_batch` units, with some units written in
/// order. Blocks hold 3 batches or an odd number, so that valid bits of a batch lie across words.
fn written(units_per_batch: u32, pages: u32, count: u32) -> (Device, Vec<Batch>) {
    let overrides: Vec<Override> = vec![
        set("geometry.planes_per_die", 1),
        set("geometry.pages_per_block", pages),
        set("geometry.page_size", format!("{} B", 512 * units_per_batch)),
        set("ftl.unit", "512 B"),
        set("ftl.over_provisioning.reserved", "50 %"),
    ];
    let experiment = experiment(BY_HAND, &overrides);
    let mut device = Device::new(&experiment.drive, experiment.seed);
    let ftl = device.ftl_mut();
    assert_eq!(ftl.layout.units_per_batch, units_per_batch);
    let mut batches = Vec::new();
    for batch in 0..count {
        let at = ftl.bind(BinId(0), Stream::Host).expect("a new drive has room");
        let first = ftl.layout.first_unit(at.block, at.batch);
        for slot in 0..units_per_batch {
            let (lpn, ppn) = (Lpn(batch * units_per_batch + slot), Ppn(first.0 + slot));
            ftl.note(ppn, lpn);
            ftl.commit_write(lpn, ppn);
        }
        ftl.finish(at);
        batches.push(at);
    }
    (device, batches)
}

/// Moves a batch unit by unit.
fn move_units(ftl: &mut Ftl, from: Batch, to: Batch) {
    let first = ftl.layout.first_unit(from.block, from.batch);
    let first_to = ftl.layout.first_unit(to.block, to.batch);
    for slot in 0..ftl.layout.units_per_batch {
        let (from, to) = (Ppn(first.0 + slot), Ppn(first_to.0 + slot));
        let lpn = ftl.holds(from);
        ftl.note(to, lpn);
        ftl.commit_move(lpn, from, to);
    }
}

proptest! {
    #![proptest_config(floor::cases!())]

    #[test]
    fn a_batch_moves_as_its_units_would(
        units in prop_oneof![Just(1u32), Just(3), Just(16), Just(64)],
        pages in prop_oneof![Just(3u32), Just(5), Just(16)],
        moved in 0usize..7,
        trimmed: u64,
        overwritten: u64,
    ) {
        let run = |move_it: fn(&mut Ftl, Batch, Batch)| {
            let (mut device, batches) = written(units, pages, 7);
            let ftl = device.ftl_mut();
            let from = batches[moved];
            let first = ftl.layout.first_unit(from.block, from.batch).0;
            // While the copy is on its way, data becomes invalid and is rewritten.
            let to = ftl.bind(BinId(0), Stream::Gc).expect("there is room");
            for slot in 0..units {
                let lpn = ftl.holds(Ppn(first + slot));
                if trimmed >> slot & 1 == 1 {
                    assert!(ftl.trim(lpn));
                }
                if overwritten >> slot & 1 == 1 {
                    let at = ftl.bind(BinId(0), Stream::Host).expect("there is room");
                    let ppn = ftl.layout.first_unit(at.block, at.batch);
                    ftl.note(ppn, lpn);
                    ftl.commit_write(lpn, ppn);
                    ftl.finish(at);
                }
            }
            move_it(ftl, from, to);
            ftl.finish(to);
            ftl.audit().expect("the map is sound");
            let places: Vec<_> = (0..7 * units).map(|lpn| ftl.lookup(Lpn(lpn))).collect();
            let valid: Vec<_> = (0..ftl.layout.blocks()).map(|block| ftl.valid_units(ftl::BlockId(block))).collect();
            (places, valid)
        };
        prop_assert_eq!(run(Ftl::commit_batch_move), run(move_units));
    }
}
