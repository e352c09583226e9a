//! Superblocks: blocks on several dies, written row by row, with stripes inside them.

use crate::common::{self, taken_up};
use engine::Streams;
use ftl::{
    Batch, BinChoice, BinId, Ftl, FtlConfig, Layout, Lpn, PageState, ParityPlace, Ppn, Source,
    Stream, Untimed,
};
use nand::{Geometry, PlaneId};
use proptest::prelude::*;
use serde_json::{Value, json};

const BIN: BinId = BinId(0);

/// Four channels of two dies of `planes` planes, with blocks of 8 pages, each a unit.
fn geometry(planes: u32, blocks: u32) -> Geometry {
    Geometry {
        channels: 4,
        planes_per_die: planes,
        pages_per_block: 8,
        ..common::geometry(2, blocks, 4096)
    }
}

fn config(dies: u32, width: Value, changes: &[(&str, Value)]) -> FtlConfig {
    let mut all = json!({
        "over_provisioning": { "exported": "4 MiB" },
        "superblock": { "dies": dies, "width": width },
    });
    for (key, value) in changes {
        all[*key] = value.clone();
    }
    common::config(all)
}

fn firmware_on(geometry: &Geometry, config: &FtlConfig, units: u32) -> Ftl {
    let layout = Layout::new(geometry, config, u128::from(units) * 4096).unwrap();
    Ftl::new(layout, config, 0, Streams::new(1))
}

/// Superblocks of 8 dies: 64 batches of a unit.
fn firmware(width: Value) -> Ftl {
    firmware_on(&geometry(1, 10), &config(8, width, &[]), 200)
}

#[test]
fn a_bin_takes_dies_in_turn_and_the_same_planes_of_each() {
    let of = |order: &str, dies: u32| {
        let mut allocation = common::allocation("drive", "separate");
        allocation["order"] = json!(order);
        let config = config(dies, json!({}), &[("allocation", allocation)]);
        let layout = firmware_on(&geometry(2, 10), &config, 200).layout;
        let planes = |bin| (0..dies).map(|lane| layout.first_plane(BinId(bin), lane).0).collect();
        let bins: Vec<Vec<u32>> = (0..layout.bins).map(planes).collect();
        let turns: Vec<u32> = layout.bins_of(ftl::PoolId(0)).iter().map(|bin| bin.0).collect();
        (bins, turns)
    };
    // A die has two planes; dies 0 and 1 are on the first channel.
    let (bins, turns) = of("CWDP", 4);
    assert_eq!(bins, [[0, 4, 8, 12], [1, 5, 9, 13], [2, 6, 10, 14], [3, 7, 11, 15]]);
    assert_eq!(turns, [0, 2, 1, 3], "dies before planes");
    let (bins, turns) = of("PWCD", 4);
    assert_eq!(bins, [[0, 2, 4, 6], [1, 3, 5, 7], [8, 10, 12, 14], [9, 11, 13, 15]]);
    assert_eq!(turns, [0, 1, 2, 3], "planes first");
    assert_eq!(of("CWDP", 8).1, [0, 1]);
}

#[test]
fn batches_go_row_by_row_over_the_lanes() {
    let layout = firmware(json!({})).layout;
    assert_eq!((layout.lanes(), layout.batches_per_block), (8, 64));
    for batch in 0..64 {
        assert_eq!((layout.first_row(batch), layout.lane(batch)), (batch / 8, batch % 8));
    }
    assert_eq!(layout.first_plane(BIN, 3), PlaneId(6));
    // A unit of two pages takes two rows of its lane.
    let mut config = config(8, json!({}), &[]);
    config.unit = settings_size("8 KiB");
    let layout = Layout::new(&geometry(1, 10), &config, 800 << 10).unwrap();
    assert_eq!((layout.rows_per_batch, layout.batches_per_block), (2, 32));
    assert_eq!((layout.first_row(17), layout.lane(17)), (4, 1));
}

fn settings_size(text: &str) -> settings::Size {
    serde_json::from_value(json!(text)).unwrap()
}

/// Binds the next batch of a stream, and finishes it and the parity that is due.
fn write(ftl: &mut Ftl, stream: Stream, lpn: u32) -> (Ppn, Option<Batch>) {
    let at = ftl.bind(BIN, stream).unwrap();
    let place = ftl.layout.first_unit(at.block, at.batch);
    ftl.note(place, Lpn(lpn));
    ftl.commit_write(Lpn(lpn), place);
    ftl.finish(at);
    let parity = ftl.parity_after(at);
    if let Some(parity) = parity {
        ftl.finish_parity_at(parity, stream);
    }
    (place, parity)
}

#[test]
fn a_protected_stream_passes_by_the_places_of_parity() {
    let mut ftl = firmware(json!({ "host": 4, "collection": 8 }));
    let data = ftl.layout.data_batches(Stream::Host);
    assert_eq!((data, ftl.layout.data_batches(Stream::Gc)), (48, 56));
    let room = ftl.room(BIN, Stream::Host);
    let (mut parities, mut places) = (Vec::new(), Vec::new());
    for lpn in 0..48 {
        assert_eq!(ftl.room(BIN, Stream::Host), room - lpn);
        let (place, parity) = write(&mut ftl, Stream::Host, lpn);
        places.push(place.0);
        parities.extend(parity.map(|at| at.batch));
    }
    // In row r parity is at member 3 - r % 4 of each of the two stripes.
    let expected: Vec<u32> =
        (0..8).flat_map(|row| [row * 8 + 3 - row % 4, row * 8 + 7 - row % 4]).collect();
    assert_eq!(parities, expected);
    assert!(places.iter().all(|place| !expected.contains(place)));
    assert_eq!(ftl.tally.units[Source::Parity as usize], 16);
    assert_eq!(ftl.tally.parity_of, [16, 0, 0]);
    assert_eq!(ftl.block_states()[0], ftl::BlockState::Closed, "its parity is written, too");
    ftl.audit().unwrap();
}

#[test]
fn a_block_is_closed_once_its_last_parity_is_written() {
    let mut ftl = firmware(json!({ "host": 8 }));
    for lpn in 0..55 {
        write(&mut ftl, Stream::Host, lpn);
    }
    let at = ftl.bind(BIN, Stream::Host).unwrap();
    ftl.finish(at);
    assert_eq!(ftl.block_states()[0], ftl::BlockState::Open);
    ftl.finish_parity_at(ftl.parity_after(at).unwrap(), Stream::Host);
    assert_eq!(ftl.block_states()[0], ftl::BlockState::Closed);
}

#[test]
fn a_stripe_tells_which_members_a_rebuild_can_read() {
    let mut ftl = firmware(json!({ "host": 4 }));
    let bound: Vec<Batch> = (0..5).map(|_| ftl.bind(BIN, Stream::Host).unwrap()).collect();
    let states = |ftl: &Ftl, ppn: u32| -> Vec<(u32, PageState)> {
        let stripe = ftl.row_stripe(Ppn(ppn)).unwrap();
        stripe.others().map(|member| (member.ppn.0, member.page)).collect()
    };
    use PageState::{Programming, Unwritten, Written};
    // Batches 0 to 2 and parity at 3; then 4 and 5 of the second stripe.
    assert_eq!(states(&ftl, 0), [(1, Programming), (2, Programming)]);
    assert_eq!(states(&ftl, 5), [(4, Programming), (6, Unwritten)]);
    ftl.finish(bound[1]);
    assert_eq!(states(&ftl, 0), [(1, Written), (2, Programming)]);
    assert_eq!(ftl.row_stripe(Ppn(0)).unwrap().parity(), ParityPlace::Ram);
    ftl.finish(bound[0]);
    ftl.finish(bound[2]);
    ftl.finish_parity_at(ftl.parity_after(bound[2]).unwrap(), Stream::Host);
    let stripe = ftl.row_stripe(Ppn(2)).unwrap();
    assert_eq!(stripe.parity(), ParityPlace::Flash(Ppn(3)));
    assert!(
        stripe.others().map(|member| (member.lane, member.page)).eq([(0, Written), (1, Written)])
    );
    assert!(ftl.row_stripe(Ppn(3)).unwrap().is_of_parity());
    assert_eq!(states(&ftl, 3).len(), 3, "all data is beside the parity");
    // Collection writes without parity here.
    let own = ftl.bind(BIN, Stream::Gc).unwrap();
    assert!(ftl.row_stripe(ftl.layout.first_unit(own.block, own.batch)).is_none());
}

#[test]
fn a_superblock_takes_the_next_good_block_of_each_lane() {
    let geometry = geometry(2, 200);
    let bad = json!({ "factory": "5 %", "grown_per_erase": "0 %" });
    let changes = [("bad_blocks", bad), ("block_planes", json!(2))];
    let ftl = firmware_on(&geometry, &config(8, json!({}), &changes), 200);
    // 16 draws of 200 blocks: the poorest plane lacks more than the mean of 10.
    let lacks = 200 - ftl.good_blocks(BIN);
    assert!((11..30).contains(&lacks), "{lacks}");
    let states = ftl.block_states();
    let good = states.iter().take_while(|state| **state == ftl::BlockState::Free).count();
    assert_eq!(good, ftl.good_blocks(BIN) as usize, "the last ones are missing");
}

#[test]
fn a_block_that_is_closed_early_keeps_the_parity_of_its_open_row_in_memory() {
    let scrub = json!({ "interval": "1 s", "choice": { "policy": "oldest" }, "stream": "own" });
    let width = json!({ "host": 8, "collection": 8, "scrub": 4 });
    let own = config(8, width.clone(), &[("scrub", scrub)]);
    let mut ftl = firmware_on(&geometry(1, 10), &own, 200);
    let (first, _) = write(&mut ftl, Stream::Scrub, 0);
    (1..5).for_each(|lpn| assert!(write(&mut ftl, Stream::Scrub, lpn).0 > first));
    ftl.audit().unwrap();
    assert!(ftl.is_at_rest());
    ftl.reconfigure(&config(8, json!({ "host": 8, "collection": 8 }), &[]), 0);
    ftl.audit().unwrap();
    assert_eq!(ftl.block_states()[0], ftl::BlockState::Closed);
    let whole = ftl.row_stripe(first).unwrap();
    assert_eq!(whole.parity(), ParityPlace::Flash(Ppn(first.0 + 3)));
    let open = ftl.row_stripe(Ppn(first.0 + 4)).unwrap();
    assert_eq!(open.parity(), ParityPlace::Ram);
    let pages = open.others().map(|member| member.page);
    assert!(pages.eq([PageState::Written, PageState::Unwritten]));
    // It is collected like any other block.
    age(&mut ftl, 2000);
    ftl.audit().unwrap();
}

/// Fills the units of a drive and overwrites them at random.
fn age(ftl: &mut Ftl, writes: u32) {
    let mut writer = Untimed::new(ftl, BinChoice::RoundRobin);
    let units = ftl.layout.host_units;
    writer.write_run(ftl, Lpn(0), units).unwrap();
    let mut numbers = Streams::new(floor::seed(7)).stream("test");
    for _ in 0..writes {
        writer.write(ftl, Lpn(numbers.below(u64::from(units)) as u32)).unwrap();
    }
    writer.flush(ftl).unwrap();
}

#[test]
fn failed_erases_use_up_the_spare_blocks_before_superblocks_are_retired() {
    let geometry = geometry(1, 40);
    let bad = |factory: &str| json!({ "factory": factory, "grown_per_erase": "0.2 %" });
    let retired = [("0 %", 0), ("10 %", 1)].map(|(factory, _)| {
        let config = config(8, json!({ "host": 8 }), &[("bad_blocks", bad(factory))]);
        let mut ftl = firmware_on(&geometry, &config, 600);
        let before = ftl.tally.retired;
        age(&mut ftl, 12_000);
        ftl.audit().unwrap();
        ftl.tally.retired - before
    });
    // 200 erases of 8 blocks break 3 or 4 of them.
    assert!(retired[0] > 0 && retired[1] < retired[0], "{retired:?}");
}

#[test]
fn a_snapshot_keeps_stripes() {
    let config = config(8, json!({ "host": 4, "collection": 8 }), &[]);
    let mut ftl = firmware_on(&geometry(1, 10), &config, 200);
    age(&mut ftl, 777);
    assert!(ftl.is_at_rest());
    let fresh = firmware_on(&geometry(1, 10), &config, 200);
    let mut other = taken_up(fresh, &ftl, &ftl.rest()).ok().unwrap();
    for ftl in [&mut ftl, &mut other] {
        ftl.audit().unwrap();
        age(ftl, 555);
        ftl.audit().unwrap();
    }
    assert_eq!(ftl.tally, other.tally);
    assert_eq!(ftl.order_of_erases() != 0, other.order_of_erases() != 0);
}

proptest! {
    #![proptest_config(floor::cases!(40))]

    /// Filling and overwriting keeps all tables in agreement, and each stripe has parity once.
    #[test]
    fn any_widths_and_dies_work(
        dies in prop::sample::select(vec![2u32, 4, 8]),
        host in 0usize..4, collection in 0usize..4, planes in 1u32..3, writes in 0u32..3000,
    ) {
        let width = |index: usize| [None, Some(2), Some(4), Some(8)][index].filter(|of| *of <= dies);
        let width = json!({ "host": width(host), "collection": width(collection) });
        let config = config(dies, width, &[("block_planes", json!(planes))]);
        let mut ftl = firmware_on(&geometry(planes, 16), &config, 200);
        age(&mut ftl, writes);
        ftl.audit().unwrap();
        let tally = ftl.tally;
        prop_assert_eq!(tally.parity_of.iter().sum::<u64>(), tally.units[Source::Parity as usize]);
    }
}
