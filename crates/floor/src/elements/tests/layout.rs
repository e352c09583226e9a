//! Tests of the initial layout, and of the block that is opened next.

use super::*;

/// Four planes of four blocks, of which two are reserved. Blocks hold 2 pages of data.
const FOUR_PLANES: Rules =
    Rules { planes: 4, blocks_per_plane: 4, pages_per_block: 3, reserve_percent: 50, ..SMALL };

fn filled(mapping: Mapping, copy_back: bool) -> Flash {
    let flash = Flash::new(&Rules { mapping, copy_back, ..FOUR_PLANES }).unwrap();
    flash.audit();
    flash
}

fn active(flash: &Flash) -> Vec<usize> {
    flash.spaces.iter().map(|space| space.active).collect()
}

/// Blocks with data, in the order in which they were filled.
fn with_data(flash: &Flash) -> Vec<usize> {
    let first_pages = flash.places.iter().filter(|place| place.page == 0);
    first_pages.map(|place| place.block).collect()
}

#[test]
fn concatenated_planes_have_runs_of_blocks() {
    let flash = filled(Mapping::Concatenated, true);
    // Planes are blocks 0..4, 4..8, 8..12, 12..16; two of each hold data, the third is
    // active.
    assert_eq!(with_data(&flash), [0, 1, 4, 5, 8, 9, 12, 13]);
    assert_eq!(active(&flash), [2, 6, 10, 14]);
    assert_eq!([3, 4, 11, 12].map(|block| flash.layout.plane_of(block)), [0, 1, 2, 3]);
}

#[test]
fn paired_planes_alternate() {
    let flash = filled(Mapping::PairStriped, true);
    // Plane 0 is blocks 0, 2, 4, 6; plane 1 is 1, 3, 5, 7; the other pair likewise
    // from 8 on.
    assert_eq!(with_data(&flash), [0, 1, 2, 3, 8, 9, 10, 11]);
    assert_eq!(active(&flash), [4, 5, 12, 13]);
    assert_eq!([6, 7, 8, 15].map(|block| flash.layout.plane_of(block)), [0, 1, 2, 3]);
}

#[test]
fn striped_planes_take_turns() {
    let flash = filled(Mapping::FullyStriped, true);
    // Plane 0 is blocks 0, 4, 8, 12.
    assert_eq!(with_data(&flash), [0, 1, 2, 3, 4, 5, 6, 7]);
    assert_eq!(active(&flash), [8, 9, 10, 11]);
    assert_eq!([12, 13, 14, 15].map(|block| flash.layout.plane_of(block)), [0, 1, 2, 3]);
}

#[test]
fn pages_follow_each_other_in_blocks() {
    let flash = filled(Mapping::Concatenated, true);
    // 4 planes of 2 exported blocks of 2 pages.
    assert_eq!(flash.places.len(), 16);
    assert_eq!(
        flash.places[..5],
        [place(0, 0), place(0, 1), place(1, 0), place(1, 1), place(4, 0)]
    );
}

#[test]
fn blocks_are_numbered_as_they_are_filled() {
    let flash = filled(Mapping::Concatenated, true);
    let sequence = |block: usize| flash.blocks[block].sequence;
    assert_eq!([0, 1, 4, 5, 8, 9, 12, 13].map(sequence), [1, 2, 3, 4, 5, 6, 7, 8]);
    assert_eq!([2, 6, 10, 14].map(sequence), [9, 10, 11, 12]);
    assert_eq!([3, 7, 11, 15].map(sequence), [0; 4]);
}

#[test]
fn free_blocks_are_those_reserved_but_for_the_active() {
    let flash = filled(Mapping::PairStriped, true);
    assert!(flash.spaces.iter().all(|space| space.free == 1));
}

#[test]
fn without_copy_back_one_block_is_active_and_counts_as_free() {
    for (mapping, block) in
        [(Mapping::Concatenated, 2), (Mapping::PairStriped, 4), (Mapping::FullyStriped, 8)]
    {
        let flash = filled(mapping, false);
        assert_eq!(active(&flash), [block]);
        assert_eq!(flash.blocks[block].sequence, 9);
        // 4 planes with 2 reserved blocks.
        assert_eq!(flash.spaces[0].free, 8);
    }
}

#[test]
fn without_copy_back_blocks_are_opened_plane_by_plane() {
    let mut flash = filled(Mapping::FullyStriped, false);
    let mut opened = Vec::new();
    for page in 0..8 {
        flash.program(page, 0).unwrap();
        flash.audit();
        opened.push(flash.spaces[0].active);
    }
    // Plane 0 is blocks 0, 4, 8, 12, plane 1 is blocks 1, 5, 9, 13.
    assert_eq!(opened, [8, 8, 12, 12, 9, 9, 13, 13]);
    assert_eq!(flash.spaces[0].free, 8 - 3);
}

#[test]
fn the_search_for_a_free_block_goes_on_where_it_ended() {
    // One plane; blocks 0 and 1 hold pages 0 to 3, block 2 is active, 3 and 4 are free.
    let rules = Rules { planes: 1, blocks_per_plane: 5, reserve_percent: 60, ..FOUR_PLANES };
    let mut flash = Flash::new(&rules).unwrap();
    let mut write = |page| {
        flash.program(page, 0).unwrap();
        flash.spaces[0].active
    };
    assert_eq!([write(0), write(1), write(2)], [2, 2, 3]);
    // Block 0 is invalid and comes after block 4.
    flash.erase(0);
    let mut write = |page| {
        flash.program(page, 0).unwrap();
        flash.spaces[0].active
    };
    assert_eq!([write(3), write(0), write(1), write(2)], [3, 4, 4, 0]);
    flash.audit();
}
