//! Recovery of small states that are built by hand.

use crate::common;
use engine::Streams;
use ftl::recovery::{Interrupted, MapFrom, Means, Recovered, ScannedBlock};
use ftl::{Batch, BinId, BlockId, BlockState, Ftl, Layout, Lpn, Ppn, Stream};
use serde_json::json;

const BIN: BinId = BinId(0);
/// Pages of a block, of which each holds a unit.
const PAGES: u32 = 4;

/// One plane of 6 blocks that exports 12 units, with metadata. `endurance` of 0 means any number
/// of erases.
fn firmware(endurance: u32) -> Ftl {
    firmware_with(endurance, 0)
}

/// As [`firmware`], with units of its own above those 12.
fn firmware_with(endurance: u32, above: u32) -> Ftl {
    let config = common::config(json!({ "over_provisioning": { "exported": "48 KiB" } }));
    let layout = Layout::new(&common::geometry(1, 6, 4096), &config, 12 * 4096).unwrap();
    let layout = layout.with_units_above(above).unwrap();
    let mut ftl = Ftl::new(layout, &config, endurance, Streams::new(1));
    ftl.keep_metadata(true);
    ftl
}

fn place(ftl: &Ftl, at: Batch) -> Ppn {
    ftl.layout.first_unit(at.block, at.batch)
}

/// Writes host data to a place; its program may not have ended.
fn begin(ftl: &mut Ftl, lpn: u32, version: u32) -> Batch {
    let at = ftl.bind(BIN, Stream::Host).unwrap();
    let ppn = place(ftl, at);
    ftl.note(ppn, Lpn(lpn));
    ftl.note_version(ppn, version);
    at
}

/// Writes a unit; returns its place.
fn write(ftl: &mut Ftl, lpn: u32) -> Ppn {
    let version = ftl.take_version();
    let at = begin(ftl, lpn, version);
    ftl.commit_write(Lpn(lpn), place(ftl, at));
    ftl.finish(at);
    place(ftl, at)
}

/// Moves a unit to an open block of collection.
fn copy(ftl: &mut Ftl, lpn: u32) -> Ppn {
    let from = ftl.lookup(Lpn(lpn)).unwrap();
    let at = ftl.bind(BIN, Stream::Gc).unwrap();
    let to = place(ftl, at);
    ftl.note_copy(from, to, Lpn(lpn));
    assert!(ftl.commit_move(Lpn(lpn), from, to));
    ftl.finish(at);
    to
}

/// Erases the block with the fewest valid units, which are none.
fn collect(ftl: &mut Ftl) -> BlockId {
    let block = ftl.pick_victim(BIN).unwrap();
    ftl.erase(block);
    block
}

const SCAN: Means = Means { map: MapFrom::Scan, logs_trims: true, fault: None };

/// Cuts the power and recovers; returns the blocks read and the result.
fn recover(ftl: &mut Ftl, cut: &Interrupted, means: Means) -> (Vec<ScannedBlock>, Recovered) {
    let mut reads = Vec::new();
    let recovered = ftl.recover(cut, means, &mut |read| reads.push(read));
    ftl.audit().unwrap();
    (reads, recovered)
}

fn quiet() -> Interrupted {
    Interrupted::default()
}

#[test]
fn the_newest_version_wins_wherever_it_is() {
    let mut ftl = firmware(0);
    let [first, second] = [write(&mut ftl, 3), write(&mut ftl, 3)];
    // This host write came before the one whose program started first.
    let late = begin(&mut ftl, 5, 8);
    let early = begin(&mut ftl, 5, 7);
    ftl.commit_write(Lpn(5), place(&ftl, early));
    ftl.finish(late);
    ftl.finish(early);
    // The versions decide, whatever the map was.
    ftl.commit_write(Lpn(5), place(&ftl, late));
    let (_, recovered) = recover(&mut ftl, &quiet(), SCAN);
    assert_eq!(ftl.lookup(Lpn(3)), Some(second));
    assert_eq!(ftl.lookup(Lpn(5)), Some(place(&ftl, late)));
    assert!(!ftl.is_valid(first) && ftl.is_valid(second));
    assert_eq!((recovered.units, ftl.mapped_units()), (2, 2));
    // The next write is newer than all.
    assert_eq!(ftl.take_version(), 9);
}

#[test]
fn a_torn_program_is_nothing_and_a_whole_one_is_data() {
    for is_whole in [false, true] {
        let mut ftl = firmware(0);
        let before = write(&mut ftl, 3);
        let version = ftl.take_version();
        let at = begin(&mut ftl, 3, version);
        let cut = match is_whole {
            true => Interrupted { whole: vec![at], ..quiet() },
            false => Interrupted { torn: vec![(at, 1)], ..quiet() },
        };
        let (reads, recovered) = recover(&mut ftl, &cut, SCAN);
        let there = if is_whole { place(&ftl, at) } else { before };
        assert_eq!(ftl.lookup(Lpn(3)), Some(there));
        assert_eq!(ftl.version(place(&ftl, at)), if is_whole { version } else { 0 });
        // Two rows are not erased, and the third says so.
        assert_eq!(reads[0], ScannedBlock { block: at.block, summary: false, rows: 3 });
        assert_eq!(recovered.closed, 1);
    }
}

#[test]
fn open_blocks_are_closed_where_they_are() {
    let mut ftl = firmware(0);
    (0..3).for_each(|lpn| _ = write(&mut ftl, lpn));
    let block = BlockId(0);
    assert_eq!(ftl.block_states()[0], BlockState::Open);
    let (reads, recovered) = recover(&mut ftl, &quiet(), SCAN);
    assert_eq!((reads.len(), reads[0].rows, recovered.closed), (6, 4, 1));
    assert!(reads[1..].iter().all(|read| read.rows == 1), "free blocks");
    assert_eq!(ftl.block_states()[0], BlockState::Closed);
    let next = write(&mut ftl, 3);
    assert_ne!(ftl.layout.block(next), block, "its last place stays empty");
    // That is known again after another cut, and when nothing was kept to recover by meanwhile.
    ftl.keep_metadata(false);
    ftl.keep_metadata(true);
    let (reads, _) = recover(&mut ftl, &quiet(), SCAN);
    assert_eq!(reads[0], ScannedBlock { block, summary: false, rows: 4 });
}

#[test]
fn what_an_erase_has_left_is_erased_again_and_no_data() {
    let mut ftl = firmware(0);
    (0..4).for_each(|lpn| _ = write(&mut ftl, lpn));
    (0..4).for_each(|lpn| _ = write(&mut ftl, lpn));
    let block = ftl.pick_victim(BIN).unwrap();
    let cut = Interrupted { half_erased: vec![block], ..quiet() };
    let (reads, recovered) = recover(&mut ftl, &cut, SCAN);
    assert_eq!(reads[block.0 as usize].rows, 1);
    assert_eq!((recovered.erased, recovered.units), (vec![block], 4));
    assert_eq!(ftl.erase_counts()[block.0 as usize], 1);
    assert_eq!(ftl.block_states()[block.0 as usize], BlockState::Free);
}

#[test]
fn a_bad_block_stays_bad_and_is_not_read() {
    let mut ftl = firmware(1);
    (0..4).for_each(|lpn| _ = write(&mut ftl, lpn));
    (0..4).for_each(|lpn| _ = write(&mut ftl, lpn));
    let block = collect(&mut ftl);
    assert_eq!(ftl.block_states()[block.0 as usize], BlockState::Bad);
    let (reads, recovered) = recover(&mut ftl, &quiet(), SCAN);
    assert!(reads.len() == 5 && reads.iter().all(|read| read.block != block));
    assert_eq!(recovered.units, 4);
    assert_eq!(ftl.block_states()[block.0 as usize], BlockState::Bad);
    assert_eq!((ftl.good_blocks(BIN), ftl.free_blocks(BIN)), (5, 4));
}

/// Five blocks are full, one by one; the last was opened to take what collection moves, and has
/// taken two units of the first. With each way to find the map: blocks that are read.
#[test]
fn the_last_block_is_undone() {
    let checkpoint = Means { map: MapFrom::Checkpoint, ..SCAN };
    let memory = Means { map: MapFrom::Memory, ..SCAN };
    // A checkpoint knows all but the last block; what it was copied from is looked for in the
    // five others then. Memory knows where everything is, but not that.
    for (means, read) in [(SCAN, 6), (checkpoint, 6), (memory, 5)] {
        let mut ftl = firmware(0);
        let mut sources = Vec::new();
        for turn in 0..5 * PAGES {
            let ppn = write(&mut ftl, turn % 12);
            if (8..10).contains(&turn) {
                sources.push(ppn);
            }
        }
        ftl.note_checkpoints(1, false);
        let moved = [copy(&mut ftl, 8), copy(&mut ftl, 9)];
        assert_eq!(ftl.free_blocks(BIN), 0);
        let last = ftl.layout.block(moved[0]);
        let (reads, recovered) = recover(&mut ftl, &quiet(), means);
        assert_eq!((recovered.undone, recovered.closed, recovered.units), (1, 0, 12));
        assert_eq!(recovered.erased, [last]);
        assert_eq!([8, 9].map(|lpn| ftl.lookup(Lpn(lpn))), [Some(sources[0]), Some(sources[1])]);
        assert_eq!(
            (ftl.free_blocks(BIN), ftl.block_states()[last.0 as usize]),
            (1, BlockState::Free)
        );
        assert_eq!(reads.len(), read, "{means:?}");
        let mut blocks: Vec<u32> = reads.iter().map(|read| read.block.0).collect();
        blocks.sort_unstable();
        blocks.dedup();
        assert_eq!(blocks.len(), read, "each once");
    }
}

#[test]
fn what_was_trimmed_comes_back_from_what_is_read_alone() {
    for (map, comes_back) in [(MapFrom::Scan, true), (MapFrom::Checkpoint, false)] {
        let mut ftl = firmware(0);
        // Block 0 has unit 3 and three that valid on, block 1 has it again.
        let old = write(&mut ftl, 3);
        (0..3).for_each(|lpn| _ = write(&mut ftl, lpn));
        let new = write(&mut ftl, 3);
        (4..7).for_each(|lpn| _ = write(&mut ftl, lpn));
        ftl.note_checkpoints(1, true);
        [3, 4, 5, 6].into_iter().for_each(|lpn| _ = ftl.trim(Lpn(lpn)));
        assert_eq!(collect(&mut ftl), ftl.layout.block(new));
        let means = Means { map, logs_trims: false, fault: None };
        let (reads, recovered) = recover(&mut ftl, &quiet(), means);
        assert_eq!(ftl.lookup(Lpn(3)), comes_back.then_some(old), "{map:?}");
        assert_eq!(recovered.unread, None);
        let is_read = reads.iter().any(|read| read.block == ftl.layout.block(old));
        assert_eq!(is_read, comes_back, "{map:?}");
    }
}

#[test]
fn zeroes_and_what_a_checkpoint_has_without_data_stay_so() {
    let volatile = |map| Means { map, logs_trims: false, fault: None };
    let mut ftl = firmware(0);
    (0..3).for_each(|lpn| _ = write(&mut ftl, lpn));
    ftl.zero(Lpn(0));
    ftl.trim(Lpn(1));
    let mut later = ftl.clone();
    recover(&mut ftl, &quiet(), volatile(MapFrom::Scan));
    assert_eq!([0, 1, 2].map(|lpn| ftl.lookup(Lpn(lpn)).is_some()), [false, true, true]);
    later.note_checkpoints(1, true);
    later.trim(Lpn(2));
    recover(&mut later, &quiet(), volatile(MapFrom::Checkpoint));
    assert_eq!([0, 1, 2].map(|lpn| later.lookup(Lpn(lpn)).is_some()), [false, false, true]);
}

#[test]
fn units_above_the_hosts_are_kept_moved_and_recovered_like_others() {
    let mut ftl = firmware_with(0, 3);
    assert_eq!((ftl.layout.host_units, ftl.layout.map_units), (12, 15));
    // 12 units of 4,096 bytes, as without them.
    assert_eq!(ftl.layout.exported_bytes(), 49_152);
    // A block is full: three that the drive writes for itself and one of the host.
    for lpn in [12, 13, 14, 3] {
        write(&mut ftl, lpn);
    }
    // The next one has newer data of all but one.
    let newer = [12, 13, 3].map(|lpn| write(&mut ftl, lpn));
    let moved = copy(&mut ftl, 14);
    collect(&mut ftl);
    let (_, recovered) = recover(&mut ftl, &quiet(), SCAN);
    let found = [12, 13, 3, 14].map(|lpn| ftl.lookup(Lpn(lpn)));
    assert_eq!(found, [newer[0], newer[1], newer[2], moved].map(Some));
    assert_eq!((recovered.units, ftl.mapped_units()), (4, 4));
}

#[test]
fn a_drive_holds_no_more_than_it_has_places_for() {
    // 24 units of flash, 12 of the host's: 11 more leave one spare, 12 none.
    let layout = firmware(0).layout;
    assert_eq!(layout.clone().with_units_above(11).unwrap().map_units, 23);
    let faults = layout.with_units_above(12).unwrap_err();
    assert_eq!(faults.len(), 1);
    assert_eq!(faults[0].0, "over_provisioning");
}
