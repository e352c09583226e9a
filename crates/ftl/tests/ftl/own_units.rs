//! A map that is larger than the host's range: units that the firmware writes for itself are
//! mapped, moved, saved in snapshots and recovered like those of the host.

use crate::common::{self, taken_up};
use engine::{Stream as Numbers, Streams};
use ftl::recovery::{Interrupted, MapFrom, Means};
use ftl::state::Unknown;
use ftl::{BinChoice, Ftl, FtlConfig, Layout, Lpn, PoolId, Source, Untimed};
use serde_json::json;

/// Units that the host may address, and units that the firmware writes for itself.
const HOST: u32 = 72;
const OWN: u32 = 9;

/// Two planes of 8 blocks of 4 pages, each of two units: 128 units.
const PHYSICAL: u32 = 128;

fn config() -> FtlConfig {
    common::config(json!({
        "over_provisioning": { "exported": "288 KiB" },
        "allocation": common::allocation("package", "separate"),
    }))
}

fn layout() -> Layout {
    Layout::new(&common::geometry(2, 8, 8192), &config(), u128::from(HOST) * 4096).unwrap()
}

/// A new drive with units of its own.
fn firmware() -> Ftl {
    Ftl::new(layout().with_units_above(OWN).unwrap(), &config(), 0, Streams::new(1))
}

/// The firmware's own units.
fn own() -> impl Iterator<Item = Lpn> {
    (HOST..HOST + OWN).map(Lpn)
}

/// Writes every unit of the map, then those of the host in random order, many times over.
fn age(ftl: &mut Ftl, numbers: &mut Numbers) {
    let mut writer = Untimed::new(ftl, BinChoice::RoundRobin);
    writer.write_run(ftl, Lpn(0), HOST + OWN).unwrap();
    for _ in 0..40 * HOST {
        writer.write(ftl, Lpn(numbers.below(u64::from(HOST)) as u32)).unwrap();
    }
    writer.flush(ftl).unwrap();
    ftl.audit().unwrap();
}

/// The physical unit of each unit of the map.
fn map(ftl: &Ftl) -> Vec<Option<u32>> {
    let place = |lpn| ftl.lookup(Lpn(lpn)).map(|place| place.0);
    (0..ftl.layout.map_units).map(place).collect()
}

#[test]
fn the_map_ends_behind_the_units_of_the_host() {
    let plain = layout();
    assert_eq!((plain.host_units, plain.map_units), (HOST, HOST));
    let larger = layout().with_units_above(OWN).unwrap();
    assert_eq!((larger.host_units, larger.map_units), (HOST, HOST + OWN));
    assert_eq!(larger.exported_bytes(), plain.exported_bytes());
    assert_eq!(larger.physical_units(), PHYSICAL);
    // Stripes of two units go to two pools in turn: 81 units are 20 pairs of stripes and one.
    let of_pool = [0, 1].map(|pool| larger.map_units_of(PoolId(pool)));
    assert_eq!(of_pool, [41, 40]);
    for pool in [0, 1] {
        let units = (0..larger.map_units).filter(|lpn| larger.pool(Lpn(*lpn)) == PoolId(pool));
        assert_eq!(units.count() as u32, of_pool[pool as usize]);
    }
}

#[test]
fn own_units_are_moved_and_stay_mapped() {
    let mut ftl = firmware();
    let mut writer = Untimed::new(&ftl, BinChoice::RoundRobin);
    writer.write_run(&mut ftl, Lpn(0), HOST + OWN).unwrap();
    writer.flush(&mut ftl).unwrap();
    let at_first: Vec<_> = own().map(|lpn| ftl.lookup(lpn)).collect();
    let mut ftl = firmware();
    age(&mut ftl, &mut Streams::new(floor::seed(2)).stream("overwrites"));
    assert_eq!(ftl.mapped_units(), HOST + OWN);
    assert!(ftl.tally.units[Source::Gc as usize] > 0);
    let now: Vec<_> = own().map(|lpn| ftl.lookup(lpn)).collect();
    assert!(now.iter().all(Option::is_some));
    assert_ne!(now, at_first, "collection has moved them");
    // The firmware may remove one of its mappings, as a trim does.
    assert!(ftl.trim(Lpn(HOST + OWN - 1)));
    assert_eq!(ftl.mapped_units(), HOST + OWN - 1);
    ftl.audit().unwrap();
}

#[test]
fn own_units_are_recovered_by_their_metadata() {
    for from in [MapFrom::Scan, MapFrom::Checkpoint, MapFrom::Memory] {
        let mut ftl = firmware();
        ftl.keep_metadata(true);
        let mut numbers = Streams::new(floor::seed(3)).stream("overwrites");
        age(&mut ftl, &mut numbers);
        ftl.note_checkpoints(1, true);
        ftl.prove_checkpoints();
        assert!(ftl.trim(Lpn(HOST + 1)) && ftl.trim(Lpn(7)));
        age_on(&mut ftl, &mut numbers);
        let before = map(&ftl);
        let means = Means { map: from, logs_trims: true, fault: None };
        let recovered = ftl.recover(&Interrupted::default(), means, &mut |_| {});
        ftl.audit().unwrap();
        assert_eq!((map(&ftl), recovered.unread), (before, None), "{from:?}");
        assert_eq!(ftl.mapped_units(), HOST + OWN - 2);
    }
}

/// Writes units of the host and of the firmware, but none that was trimmed.
fn age_on(ftl: &mut Ftl, numbers: &mut Numbers) {
    let mut writer = Untimed::new(ftl, BinChoice::RoundRobin);
    for _ in 0..4 * HOST {
        let lpn = Lpn(numbers.below(u64::from(HOST + OWN)) as u32);
        if ftl.lookup(lpn).is_some() {
            writer.write(ftl, lpn).unwrap();
        }
    }
    writer.flush(ftl).unwrap();
}

#[test]
fn a_snapshot_keeps_own_units() {
    let mut ftl = firmware();
    age(&mut ftl, &mut Streams::new(floor::seed(4)).stream("overwrites"));
    let again = taken_up(firmware(), &ftl, &ftl.rest()).unwrap();
    again.audit().unwrap();
    assert_eq!(map(&again), map(&ftl));
    assert_eq!(again.mapped_units(), HOST + OWN);
    // A drive without such units has no place for what is mapped above its own.
    let smaller = Ftl::new(layout(), &config(), 0, Streams::new(1));
    assert_eq!(taken_up(smaller, &ftl, &ftl.rest()).err(), Some(Unknown));
}
