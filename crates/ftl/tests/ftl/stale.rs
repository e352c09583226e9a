//! Stale pages that untimed writes find on the drive. A bin has 16 blocks of 4 pages.

use crate::common;
use engine::Streams;
use ftl::{BinChoice, BinId, BlockId, BlockState, Ftl, Layout, Lpn, Source, Untimed};
use nand::Geometry;
use serde_json::json;

fn firmware(geometry: &Geometry, pool: &str) -> Ftl {
    let allocation = common::allocation(pool, "separate");
    let config = common::config(json!({
        "over_provisioning": { "reserved": "25 %" },
        "allocation": allocation,
    }));
    let exported = config.exported_bytes(geometry).unwrap();
    Ftl::new(Layout::new(geometry, &config, exported).unwrap(), &config, 0, Streams::new(1))
}

/// Valid and stale pages of each block that is not free, in order; after untimed writes of `units`
/// units beside stale pages.
fn laid(ftl: &mut Ftl, share: f64, of_block: f64, units: u32) -> (Vec<[u32; 2]>, Option<BinId>) {
    let mut writer = Untimed::new(ftl, BinChoice::RoundRobin);
    writer.lay_stale(ftl, share, of_block);
    writer.write_run(ftl, Lpn(0), units).unwrap();
    writer.flush(ftl).unwrap();
    let missing = writer.end_stale().err();
    ftl.audit().unwrap();
    let pages = (0..ftl.layout.blocks()).map(|block| {
        let written = match ftl.block_states()[block as usize] {
            BlockState::Free => 0,
            BlockState::Open => ftl.bound_units(BlockId(block)),
            _ => ftl.layout.units_per_block(),
        };
        let valid = ftl.valid_units(BlockId(block));
        [valid, written - valid]
    });
    (pages.filter(|pages| *pages != [0, 0]).collect(), missing)
}

#[test]
fn the_first_blocks_begin_with_stale_pages_and_the_others_have_none() {
    // A quarter of 64 pages, two in a block: eight blocks, with room for 16 units; 21 units take one
    // block more, and a page.
    let mut ftl = firmware(&common::geometry(1, 16, 4096), "plane");
    let (pages, missing) = laid(&mut ftl, 0.25, 0.5, 21);
    let expected: Vec<[u32; 2]> = std::iter::repeat_n([2, 2], 8).chain([[4, 0], [1, 0]]).collect();
    assert_eq!((pages, missing), (expected, None));
    assert_eq!(ftl.tally.units[Source::Padding as usize], 16);
    assert_eq!(ftl.tally.erases, 0);
}

#[test]
fn both_shares_round_up_and_a_block_keeps_a_page_for_data() {
    // 15 % of 64 pages are 9.6: ten, of which 30 % of a block (1.2) are two: five blocks.
    let mut ftl = firmware(&common::geometry(1, 16, 4096), "plane");
    let (pages, missing) = laid(&mut ftl, 0.15, 0.3, 10);
    assert_eq!((pages, missing), (vec![[2, 2]; 5], None));
    let mut ftl = firmware(&common::geometry(1, 16, 4096), "plane");
    let (pages, missing) = laid(&mut ftl, 0.3, 0.99, 7);
    assert_eq!((pages, missing), (vec![[1, 3]; 7], None), "20 of 64 pages, three in a block");
}

#[test]
fn each_bin_has_its_own_and_one_with_too_few_is_named() {
    // Two packages take pages in turn.
    let mut ftl = firmware(&common::geometry(2, 16, 4096), "plane");
    let (pages, missing) = laid(&mut ftl, 0.25, 0.5, 31);
    let expected: Vec<[u32; 2]> = std::iter::repeat_n([2, 2], 15).chain([[1, 2]]).collect();
    assert_eq!((pages, missing), (expected, None), "the last unit is the second package's");
    let mut ftl = firmware(&common::geometry(2, 16, 4096), "plane");
    let (_, missing) = laid(&mut ftl, 0.25, 0.5, 29);
    assert_eq!(missing, Some(BinId(1)), "14 units opened seven blocks there");
}
