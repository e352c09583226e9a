//! Tests of the plane to which a page is written.

use super::*;
use crate::elements::round::{Batch, PageRequest};

const ANY_PLANE: Rules = Rules { pool: Pool::Element, ..SMALL };

/// Planes of `pages` after `requests`.
fn planes_of(flash: &Flash, pages: &[usize]) -> Vec<usize> {
    pages.iter().map(|page| flash.layout.plane_of(flash.places[*page].block)).collect()
}

#[test]
fn a_pool_of_a_plane_keeps_its_pages() {
    let (_, flash) = after(&SMALL, &spaced(&[0, 1, 20]));
    assert_eq!(planes_of(&flash, &[0, 1, 20]), [0, 0, 1]);
}

#[test]
fn of_equal_planes_the_next_is_taken() {
    // Free pages of both: 4 of the free block and 4 of the active, 8 and 8. Plane 0
    // takes one (7, 8), plane 1 (7, 7), plane 0 again.
    let (_, flash) = after(&ANY_PLANE, &spaced(&[0, 1, 2]));
    assert_eq!(planes_of(&flash, &[0, 1, 2]), [0, 1, 0]);
    assert_eq!(flash.plane_to_write, 1);
}

#[test]
fn the_plane_with_the_most_free_pages_is_taken() {
    let mut flash = Flash::new(&ANY_PLANE).unwrap();
    flash.program(0, 0).unwrap();
    flash.program(1, 0).unwrap();
    let write = |page| Batch {
        writes: vec![PageRequest { request: 0, page, is_read: false }],
        ..Batch::default()
    };
    // Plane 0 has 6 free pages left, plane 1 has 8: it is taken twice, although the
    // search begins with the other. Then both have 6 and the search begins with 0.
    for (page, plane) in [(2, 1), (3, 1), (4, 0)] {
        flash.serve(&write(page), 0).unwrap();
        assert_eq!(planes_of(&flash, &[page]), [plane]);
    }
    flash.audit();
}

#[test]
fn pages_of_free_blocks_count() {
    // Three free blocks in either plane. Plane 0 fills its active block, plane 1 opens
    // another: 3 * 4 + 1 against 2 * 4 + 3.
    let mut flash = Flash::new(&Rules { reserve_percent: 50, ..ANY_PLANE }).unwrap();
    for (page, plane) in [(0, 0), (1, 0), (2, 0), (3, 1), (4, 1), (5, 1), (6, 1)] {
        flash.program(page, plane).unwrap();
    }
    let writes = vec![PageRequest { request: 0, page: 7, is_read: false }];
    flash.plane_to_write = 1;
    flash.serve(&Batch { writes, ..Batch::default() }, 0).unwrap();
    assert_eq!(planes_of(&flash, &[7]), [0]);
}

#[test]
fn pages_already_assigned_are_not_free() {
    let rules = Rules { parallel_units: 2, ..ANY_PLANE };
    let mut flash = Flash::new(&rules).unwrap();
    for page in 0..3 {
        flash.program(page, 0).unwrap();
    }
    // 4 of the free block and the summary of the active one; 8 in plane 1.
    let writes = (3..8).map(|page| PageRequest { request: page, page, is_read: false }).collect();
    flash.serve(&Batch { writes, ..Batch::default() }, 0).unwrap();
    // Plane 1 goes from 8 over 7 and 6 to 5. Then the search begins with plane 0 and
    // finds 5, which plane 1 does not exceed; then with plane 1, which has 5 against 4.
    assert_eq!(planes_of(&flash, &[3, 4, 5, 6, 7]), [1, 1, 1, 0, 1]);
    flash.audit();
}

#[test]
fn a_new_version_never_goes_to_an_older_block() {
    // Active blocks are opened in order of planes, so that of plane 1 is the newer.
    // Page 0 goes to plane 0 and page 1 to plane 1 (7 free pages each). Page 1 may then
    // not go to plane 0, although that has as many and comes first, and later more; not
    // even when the block in plane 1 is full, which makes plane 1 open another.
    let (served, flash) = after(&ANY_PLANE, &spaced(&[0, 1, 1, 1, 1]));
    assert_eq!(served.latencies_ns, [WRITE, WRITE, WRITE, SEALING_WRITE, WRITE]);
    assert_eq!(flash.places[1], place(15, 0));
    // 13 and 14 are the active blocks of the beginning.
    assert_eq!(flash.blocks[15].sequence, 15);
}

#[test]
fn a_new_version_may_go_to_a_newer_block() {
    // Page 0 goes to plane 0, page 1 to plane 1, page 2 to plane 0 (6, 7). Page 0 then
    // goes to plane 1, whose active block is newer.
    let (_, flash) = after(&ANY_PLANE, &spaced(&[0, 1, 2, 0]));
    assert_eq!(flash.places[0], place(14, 1));
}

#[test]
fn a_plane_whose_active_block_was_erased_can_be_written_to() {
    // Block 6 is full and invalid when it is erased. It is still the active block, with no
    // page left: the next write has to open one. The search, from the first block on,
    // meets block 6 before block 7.
    let mut flash = Flash::new(&SMALL).unwrap();
    for (page, plane) in [(0, 0), (1, 0), (2, 0), (0, 1), (1, 1), (2, 1)] {
        flash.program(page, plane).unwrap();
    }
    flash.erase(6);
    flash.audit();
    let Space { active, next, free, .. } = flash.spaces[0];
    assert_eq!((active, next, free), (6, 3, 2));
    flash.program(5, 0).unwrap();
    assert_eq!(flash.places[5], place(6, 0));
    assert_eq!((flash.blocks[6].sequence, flash.spaces[0].free), (15, 1));
    flash.audit();
}
