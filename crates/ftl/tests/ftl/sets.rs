//! NVM sets: which units, pools and bins belong to which.

use crate::common;
use engine::Streams;
use ftl::{BinChoice, BinId, Ftl, FtlConfig, Layout, Lpn, PoolId, SetId, Untimed};
use nand::Geometry;
use proptest::prelude::*;
use serde_json::{Value, json};

fn layout(
    [channels, packages, dies, planes]: [u32; 4],
    [of_channels, of_dies]: [u32; 2],
    (bin, pool, order): (&str, &str, &str),
    units: u32,
) -> Result<Layout, Vec<(&'static str, String)>> {
    let geometry = Geometry {
        channels,
        dies_per_package: dies,
        planes_per_die: planes,
        ..common::geometry(packages, 30, 4096)
    };
    let mut allocation = common::allocation(pool, "separate");
    allocation["order"] = order.into();
    allocation["bin"] = bin.into();
    let config: FtlConfig = common::config(json!({
        "sets": { "channels": of_channels, "dies": of_dies },
        "allocation": allocation,
        "over_provisioning": { "exported": format!("{} B", u64::from(units) * 4096) },
    }));
    Layout::new(&geometry, &config, u128::from(units) * 4096)
}

proptest! {
    #![proptest_config(floor::cases!())]

    /// A set has the flash of its part of the channels and dies, and units and pools of its own.
    #[test]
    fn each_unit_and_bin_belongs_to_one_set(
        channels in prop::sample::select(vec![2u32, 4, 6]), packages in 1u32..4, dies in 1u32..3, planes in 1u32..3,
        parts in (1u32..4, 1u32..4), pool in 0usize..5, bin in 0usize..4, order in 0usize..3, units in 40u32..200,
    ) {
        // A bin is no larger than its pool.
        let bin = ["plane", "die", "package", "channel"][bin.min(pool)];
        let pool = ["plane", "die", "package", "channel", "drive"][pool];
        let order = ["CWDP", "PDWC", "DCPW"][order];
        let per_channel = packages * dies;
        prop_assume!(channels % parts.0 == 0 && per_channel % parts.1 == 0 && parts.0 * parts.1 > 1);
        let shape = [channels, packages, dies, planes];
        let set_of_die = |die: u32| die * parts.1 / per_channel;
        // Neighbouring dies of a channel that may not lie in different sets.
        let in_bin = match bin { "channel" => per_channel, "package" => dies, _ => 1 };
        let is_cut = (0..per_channel).any(|die| set_of_die(die) != set_of_die(die / in_bin * in_bin));
        // Sets with different numbers of packages, as a pool counts them.
        let packages_of = |set: u32| {
            let own = (0..per_channel).filter(|die| set_of_die(*die) == set);
            own.map(|die| die / dies).collect::<std::collections::BTreeSet<_>>().len()
        };
        let is_uneven = pool == "package"
            && (0..parts.1).any(|set| packages_of(set) * dies as usize != (per_channel / parts.1) as usize)
            && !dies.is_multiple_of(per_channel / parts.1);
        let made = layout(shape, [parts.0, parts.1], (bin, pool, order), units);
        if is_cut || is_uneven {
            let Err(faults) = made else { panic!("a border lies inside") };
            prop_assert!(faults.iter().all(|(key, _)| key.starts_with("allocation.")), "{:?}", faults);
            return Ok(());
        }
        let layout = made.unwrap();
        let count = parts.0 * parts.1;
        prop_assert_eq!(layout.set_count(), count);
        let in_set = units / count;
        prop_assert_eq!(layout.host_units, in_set * count);
        let mut in_pool = vec![0; layout.pool_count() as usize];
        for lpn in (0..layout.host_units).map(Lpn) {
            let pool = layout.pool(lpn);
            in_pool[pool.0 as usize] += 1;
            let set = SetId(lpn.0 / in_set);
            prop_assert_eq!(layout.set_of(lpn), set);
            prop_assert!(layout.bins_of(pool).iter().all(|bin| layout.set_of_bin(*bin) == set));
            prop_assert!(layout.pools_of(set).any(|of| of == pool));
        }
        for pool in (0..layout.pool_count()).map(PoolId) {
            prop_assert_eq!(layout.map_units_of(pool), in_pool[pool.0 as usize]);
        }
        for bin in (0..layout.bins).map(BinId) {
            let plane = layout.first_plane(bin, 0).0;
            let (channel, die) = (plane / (per_channel * planes), plane / planes % per_channel);
            let part = channel * parts.0 / channels;
            let set = SetId(part * parts.1 + die * parts.1 / per_channel);
            prop_assert_eq!(layout.set_of_bin(bin), set, "{:?}", bin);
        }
    }
}

#[test]
fn what_does_not_cut_the_drive_evenly_is_refused() {
    let refused = |parts, bin: Value| {
        let geometry = Geometry { channels: 4, ..common::geometry(2, 8, 4096) };
        let mut allocation = common::allocation("drive", "separate");
        allocation["bin"] = bin;
        let config: FtlConfig = common::config(json!({
            "sets": parts,
            "allocation": allocation,
            "over_provisioning": { "exported": "16 KiB" },
        }));
        let faults = Layout::new(&geometry, &config, 16 * 1024).err().unwrap_or_default();
        faults.iter().map(|(key, fault)| format!("{key}: {fault}")).collect::<Vec<_>>().join("; ")
    };
    for (parts, bin, expected) in [
        (
            json!({ "channels": 3 }),
            "plane",
            "sets.channels: 3 does not divide the 4 channels of the drive",
        ),
        (json!({ "dies": 4 }), "plane", "sets.dies: 4 does not divide the 2 dies of a channel"),
        (
            json!({}),
            "plane",
            "sets: one set is the whole drive; cut the channels or the dies into parts, or leave this out",
        ),
        (
            json!({ "dies": 2 }),
            "channel",
            "allocation.bin: a bin lies in one NVM set (sets); choose a lower level, or fewer parts of the dies",
        ),
    ] {
        assert_eq!(refused(parts, bin.into()), expected);
    }
    assert_eq!(refused(json!({ "channels": 2, "dies": 2 }), "plane".into()), "");
}

/// The state of the first set after random overwrites in both, or in that one alone.
fn first_set_after(both: bool, changes: Value) -> (ftl::Tally, u64, Vec<Option<ftl::Ppn>>) {
    let geometry = Geometry { channels: 4, ..common::geometry(1, 12, 4096) };
    let units = 4 * 7 * 4;
    let mut changes = changes;
    changes["sets"] = json!({ "channels": 2 });
    changes["over_provisioning"] = json!({ "exported": format!("{} B", units * 4096) });
    let config: FtlConfig = common::config(changes);
    let layout = Layout::new(&geometry, &config, units * 4096).unwrap();
    let mut ftl = Ftl::new(layout, &config, 0, Streams::new(5));
    let mut turns =
        [0, 1].map(|set| Streams::new(floor::seed(9)).stream(&format!("writes of set {set}")));
    let in_set = ftl.layout.host_units / 2;
    let mut writer = Untimed::new(&ftl, BinChoice::RoundRobin);
    for _ in 0..3_000 {
        for (set, numbers) in (0..).zip(&mut turns).take(if both { 2 } else { 1 }) {
            let lpn = Lpn(set * in_set + numbers.below(in_set.into()) as u32);
            writer.write(&mut ftl, lpn).unwrap();
        }
    }
    writer.flush(&mut ftl).unwrap();
    ftl.audit().unwrap();
    let of = SetId(0);
    let places = (0..in_set).map(|lpn| ftl.lookup(Lpn(lpn))).collect();
    (ftl.tally_of(of), ftl.order_of_erases_in(of), places)
}

/// Garbage collection with a policy that draws numbers, or asks for the clock.
fn victim(policy: &str) -> Value {
    let mut gc = serde_json::to_value(
        common::config(json!({
            "over_provisioning": { "exported": "4 KiB" },
        }))
        .gc,
    )
    .unwrap();
    gc["victim"] = json!({ "policy": policy });
    gc
}

#[test]
fn a_set_does_not_know_what_others_write() {
    for changes in [
        json!({ "gc": victim("d-choices") }),
        json!({ "gc": victim("cost-benefit") }),
        json!({ "bad_blocks": { "factory": "0 %", "grown_per_erase": "0.2 %" } }),
    ] {
        let alone = first_set_after(false, changes.clone());
        assert!(alone.0.erases > 300, "{:?}", alone.0);
        let beside = first_set_after(true, changes);
        assert_eq!(alone, beside);
    }
}
