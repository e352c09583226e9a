//! NVM sets: which units, pools and bins belong to which.

use crate::common;
use engine::Streams;
use ftl::{BinChoice, BinId, Ftl, FtlConfig, Layout, Lpn, PoolId, SetId, Untimed};
use nand::Geometry;
use proptest::prelude::*;
use serde_json::{Value, json};

fn layout(
    [channels, packages, dies, planes]: [u32; 4],
    sets: Value,
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
        "sets": sets,
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
        // Packages of which sets have different numbers of dies, as a pool counts them.
        let of_package = |set: u32, package: u32| {
            let own = package * dies..(package + 1) * dies;
            own.filter(|die| set_of_die(*die) == set).count()
        };
        let has_uneven = |set: u32| {
            let mut some = (0..packages).map(|package| of_package(set, package)).filter(|dies| *dies > 0);
            let first = some.next();
            some.any(|dies| Some(dies) != first)
        };
        let is_uneven = pool == "package" && (0..parts.1).any(has_uneven);
        let sets = json!({ "channels": parts.0, "dies": parts.1 });
        let made = layout(shape, sets, (bin, pool, order), units);
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
            "sets.channels: 3 does not divide the 4 channels of the drive; give a divisor, or sets of chosen flash (parts)",
        ),
        (
            json!({ "dies": 4 }),
            "plane",
            "sets.dies: 4 does not divide the 2 dies of a channel; give a divisor, or sets of chosen flash (parts)",
        ),
        (
            json!({}),
            "plane",
            "sets: one set is the whole drive; cut the channels or the dies into parts, or leave this out",
        ),
        (
            json!({ "dies": 2 }),
            "channel",
            "allocation.bin: a bin lies in one NVM set (sets); choose a lower level, or other parts of the flash",
        ),
        (
            json!({ "parts": [{ "channels": [0, 1] }, { "channels": [2] }] }),
            "plane",
            "sets.parts: plane 0 of die 0 of channel 3 lies in no set; add it to one, or give it a set",
        ),
        (
            json!({ "parts": [{ "channels": [0, 1] }, { "channels": [1, 2, 3], "dies": [1] }] }),
            "plane",
            "sets.parts: plane 0 of die 1 of channel 1 lies in sets 1 and 2; a plane lies in one",
        ),
        (
            json!({ "parts": [{ "channels": [0, 4] }, { "dies": [] }, { "planes": [0, 0] }] }),
            "plane",
            "sets.parts: set 1: channels: 4 is beyond the last one, 3; sets.parts: set 2: dies names none; \
             leave it out for all; sets.parts: set 3: planes: 0 comes twice",
        ),
        (
            json!({ "channels": 2, "parts": [{ "channels": [0, 1] }, { "channels": [2, 3] }] }),
            "plane",
            "sets.channels: sets of chosen flash (parts) are not cut further; leave one of the two out",
        ),
        (
            json!({ "parts": [{}] }),
            "plane",
            "sets: one set is the whole drive; cut the channels or the dies into parts, or leave this out",
        ),
    ] {
        assert_eq!(refused(parts, bin.into()), expected);
    }
    assert_eq!(refused(json!({ "channels": 2, "dies": 2 }), "plane".into()), "");
}

/// A random cut into boxes: channels, dies of each, planes of each.
fn boxes(shape: [u32; 3], cuts: &[(usize, usize, u64)]) -> Vec<[Vec<u32>; 3]> {
    let mut boxes = vec![shape.map(|count| (0..count).collect::<Vec<u32>>())];
    for (which, level, chosen) in cuts {
        let at = which % boxes.len();
        let whole = boxes[at][level % 3].clone();
        let (one, other): (Vec<u32>, Vec<u32>) =
            whole.into_iter().partition(|number| chosen >> number & 1 == 1);
        if one.is_empty() || other.is_empty() {
            continue;
        }
        let mut second = boxes[at].clone();
        (boxes[at][level % 3], second[level % 3]) = (one, other);
        boxes.push(second);
    }
    boxes
}

proptest! {
    /// A set of chosen flash has units in proportion to its planes, and pools of its own.
    #[test]
    fn sets_of_chosen_flash_have_their_share(
        shape in (1u32..5, 1u32..3, 1u32..3, 1u32..4), units in 100u32..400, pool in 0usize..5, order in 0usize..3,
        cuts in prop::collection::vec((0usize..9, 0usize..3, any::<u64>()), 1..6),
    ) {
        let (channels, packages, dies, planes) = shape;
        let per_channel = packages * dies;
        // A plane holds 30 blocks of 4 units, of which a fifth is spare.
        let units = units.min(channels * per_channel * planes * 30 * 4 * 4 / 5);
        let parts = boxes([channels, per_channel, planes], &cuts);
        prop_assume!(parts.len() > 1);
        let of_parts: Vec<Value> = parts
            .iter()
            .map(|[channels, dies, planes]| json!({ "channels": channels, "dies": dies, "planes": planes }))
            .collect();
        let pool = ["plane", "die", "package", "channel", "drive"][pool];
        let order = ["CWDP", "PDWC", "DCPW"][order];
        let sets = json!({ "parts": of_parts });
        let made = layout([channels, packages, dies, planes], sets, ("plane", pool, order), units);
        let set_of = |plane: u32| {
            let at = [plane / planes / per_channel, plane / planes % per_channel, plane % planes];
            let holds = |part: &[Vec<u32>; 3]| part.iter().zip(at).all(|(of, at)| of.contains(&at));
            parts.iter().position(holds).expect("each plane lies in one") as u32
        };
        let all = channels * per_channel * planes;
        let planes_of = |set: u32| (0..all).filter(|plane| set_of(*plane) == set).count() as u32;
        let layout = match made {
            Ok(layout) => layout,
            // Pools of packages or dies may be cut unevenly, and small sets may export nothing.
            Err(faults) => {
                let is_small = (0..parts.len() as u32).any(|set| units * planes_of(set) / all == 0);
                let is_uneven = ["package", "die"].contains(&pool);
                let is_known = |key: &str| {
                    key == "allocation.pool" && is_uneven || key == "over_provisioning" && is_small
                };
                prop_assert!(faults.iter().all(|(key, _)| is_known(key)), "{:?}", faults);
                return Ok(());
            }
        };
        let mut first = 0;
        let mut in_pool = vec![0; layout.pool_count() as usize];
        for set in layout.set_ids() {
            let expected = units * planes_of(set.0) / all;
            prop_assert_eq!(layout.host_units_of_set(set), expected);
            prop_assert_eq!(layout.first_unit_of_set(set), Lpn(first));
            for lpn in (first..first + expected).map(Lpn) {
                prop_assert_eq!(layout.set_of(lpn), set);
                prop_assert_eq!(layout.set_at(u64::from(lpn.0) * 4096 + 4095), set);
                let pool = layout.pool(lpn);
                prop_assert_eq!(layout.set_of_pool(pool), set);
                prop_assert!(layout.pools_of(set).any(|of| of == pool));
                in_pool[pool.0 as usize] += 1;
            }
            first += expected;
            prop_assert_eq!(layout.bin_count_of_set(set), planes_of(set.0));
        }
        prop_assert_eq!(layout.host_units, first);
        for pool in (0..layout.pool_count()).map(PoolId) {
            prop_assert_eq!(layout.map_units_of(pool), in_pool[pool.0 as usize]);
        }
        for bin in (0..layout.bins).map(BinId) {
            prop_assert_eq!(layout.set_of_bin(bin), SetId(set_of(bin.0)), "{:?}", bin);
        }
    }
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
