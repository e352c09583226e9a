//! Tests of cleaning: its beginning, its victims and its cost.

use super::*;

/// One plane: blocks 0 to 3 hold pages 0 to 11, block 4 is active, 5 to 7 are free. It is
/// cleaned when no more than 2 are free.
const PLANE: Rules = Rules { planes: 1, reserve_percent: 50, min_free_percent: 25, ..SMALL };

/// Two such planes: pages 0 to 11 and 12 to 23.
const PLANES: Rules = Rules { planes: 2, ..PLANE };

/// Without copy-back, two planes of 4 blocks: blocks 0 and 1 hold pages 0 to 5, 4 and 5
/// pages 6 to 11. Block 2 is active; with it 4 blocks count as free, and 3, 6 and 7 are.
/// Cleaning begins when 2 count as free and ends when 4 do.
const ONE_SPACE: Rules = Rules {
    blocks_per_plane: 4,
    reserve_percent: 50,
    min_free_percent: 25,
    copy_back: false,
    ..SMALL
};

#[test]
fn a_plane_is_cleaned_before_the_next_request() {
    // Pages 0, 1, 4 fill block 4. Page 5 opens block 5, and 2 blocks are free: the next
    // write cleans. Blocks 0 and 1 have one valid page each, 2 and 3; the higher is
    // taken. Page 3 moves to the second page of block 5.
    let (served, flash) = after(&PLANE, &spaced(&[0, 1, 4, 5, 8]));
    let cleaning = MOVE + ERASE;
    // Page 8 seals block 5.
    let expected = [WRITE, WRITE, SEALING_WRITE, WRITE, cleaning + SEALING_WRITE];
    assert_eq!(served.latencies_ns, expected);
    assert_eq!((served.cleans, served.pages_moved, served.clean_ns), (1, 1, cleaning));
    assert_eq!(flash.places[3], place(5, 1));
    assert_eq!(flash.places[8], place(5, 2));
    assert_eq!(flash.spaces[0].free, 3);
}

#[test]
fn a_move_can_seal_a_block() {
    // Pages 0, 3, 6, 9: blocks 0 to 3 have two valid pages each, block 5 has one. Block
    // 3 is the victim: page 10 comes second, page 11 third. Page 1 opens block 6.
    let (served, flash) = after(&PLANE, &spaced(&[0, 3, 6, 9, 1]));
    let cleaning = MOVE + SEALING_MOVE + ERASE;
    assert_eq!(served.latencies_ns[4], cleaning + WRITE);
    let places = [9, 10, 11, 1].map(|page| flash.places[page]);
    assert_eq!(places, [place(5, 0), place(5, 1), place(5, 2), place(6, 0)]);
}

#[test]
fn reads_wait_for_cleaning_too() {
    let mut requests = spaced(&[0, 1, 4, 5]);
    requests.push(read(4 * LATER, 8));
    assert_eq!(latencies(&PLANE, &requests)[4], MOVE + ERASE + READ);
}

#[test]
fn planes_are_cleaned_until_enough_is_free() {
    // Planes of 10 blocks, 5 of them with data: plane 0 has pages 0 to 14, active block
    // 5, and is cleaned when 3 of blocks 6 to 9 are free. Pages 0, 3, 6 fill block 5;
    // pages 9 and 12 come in one batch and go to block 6. All data blocks then have two
    // valid pages.
    let rules = Rules { blocks_per_plane: 10, min_free_percent: 30, parallel_units: 2, ..PLANES };
    let mut requests = spaced(&[0, 3, 6]);
    requests.push(read(3 * LATER, 29));
    requests.extend([9, 12].map(|page| write(3 * LATER, page)));
    requests.push(read(4 * LATER, 0));
    let (served, flash) = after(&rules, &requests);
    // Block 4: page 13 seals block 6, page 14 opens block 7; as few are free as before.
    // Block 3: page 10 is the second of block 7, page 11 seals it.
    let cleanings = (SEALING_MOVE + MOVE + ERASE) + (MOVE + SEALING_MOVE + ERASE);
    assert_eq!(served.latencies_ns[6], cleanings + READ);
    assert_eq!((served.cleans, served.pages_moved, served.clean_ns), (2, 4, cleanings));
    assert_eq!(flash.spaces[0].free, 4);
}

#[test]
fn parallel_units_clean_at_the_same_time() {
    // As in the first test in plane 0. In plane 1, pages 12 to 14 leave an invalid block.
    // Pages 5 and 15 come in one batch: both planes are then low.
    let rules = Rules { parallel_units: 2, ..PLANES };
    let mut requests = spaced(&[0, 1, 4, 12, 13, 14]);
    requests.push(read(6 * LATER, 11));
    requests.extend([5, 15].map(|page| write(6 * LATER, page)));
    requests.push(read(7 * LATER, 11));
    let (served, flash) = after(&rules, &requests);
    // Plane 0 moves a page and plane 1 none: the longer counts.
    assert_eq!(served.latencies_ns[9], MOVE + ERASE + READ);
    assert_eq!((served.cleans, served.pages_moved, served.clean_ns), (2, 1, MOVE + ERASE));
    assert_eq!([flash.spaces[0].free, flash.spaces[1].free], [3, 3]);
}

#[test]
fn one_unit_cleans_one_plane_at_a_time() {
    // As above, one request after the other: page 15 waits for plane 0, the last read
    // for plane 1.
    let mut requests = spaced(&[0, 1, 4, 12, 13, 14, 5, 15]);
    requests.push(read(8 * LATER, 11));
    let (served, flash) = after(&PLANES, &requests);
    assert_eq!(served.latencies_ns[6..], [WRITE, MOVE + ERASE + WRITE, ERASE + READ]);
    assert_eq!(served.clean_ns, MOVE + ERASE + ERASE);
    assert_eq!(flash.plane_to_clean, [0]);
}

#[test]
fn planes_of_a_unit_are_looked_at_in_turn() {
    let rules = Rules { planes: 4, parallel_units: 2, ..PLANE };
    let mut flash = Flash::new(&rules).unwrap();
    let mut low_planes = |free: [usize; 4], unit| {
        flash.spaces.iter_mut().zip(free).for_each(|(space, free)| space.free = free);
        [(); 3].map(|()| flash.next_low_plane(unit))
    };
    assert_eq!(low_planes([2, 2, 2, 2], 0), [Some(0), Some(1), Some(0)]);
    assert_eq!(low_planes([2, 2, 2, 2], 1), [Some(2), Some(3), Some(2)]);
    assert_eq!(low_planes([2, 3, 3, 3], 0), [Some(0); 3]);
    assert_eq!(low_planes([2, 2, 3, 3], 1), [None; 3]);
}

#[test]
fn invalid_blocks_are_erased_and_nothing_else() {
    // Page 0 alone is written. Blocks 4 and 5 become invalid when the next is opened. The fifth
    // write finds 2 blocks free, and block 4 is erased; so does the eighth, and block 5.
    let (served, flash) = after(&PLANE, &spaced(&[0; 8]));
    assert_eq!(served.latencies_ns[..4], [WRITE, WRITE, SEALING_WRITE, WRITE]);
    assert_eq!(served.latencies_ns[4..], [ERASE + WRITE, SEALING_WRITE, WRITE, ERASE + WRITE]);
    assert_eq!((served.cleans, served.pages_moved), (2, 0));
    assert_eq!(flash.places[0], place(6, 1));
}

#[test]
fn without_copy_back_pages_cross_between_planes() {
    // Pages 0, 1, 2 fill block 2, pages 3, 4, 6 block 3; page 7 opens block 6, and 2
    // blocks count as free. The next write cleans block 0, which is invalid, and block 1:
    // page 5 goes from plane 0 to block 6 in plane 1, out and in over the pins.
    let (served, flash) = after(&ONE_SPACE, &spaced(&[0, 1, 2, 3, 4, 6, 7, 9]));
    let cleaning = ERASE + (MOVE + 2 * 105_600) + ERASE;
    assert_eq!(served.latencies_ns[6..], [WRITE, cleaning + SEALING_WRITE]);
    assert_eq!((served.cleans, served.pages_moved, served.clean_ns), (2, 1, cleaning));
    assert_eq!(flash.places[5], place(6, 1));
    assert_eq!(flash.spaces[0].free, 4);
}

#[test]
fn without_copy_back_pages_that_stay_in_the_plane_do_not_cross() {
    // Pages 3, 6, 7 fill block 3 and page 9 opens block 6. Block 0 is invalid, block 4 has
    // one valid page, fewer than block 1: page 8 goes to block 6 of the same plane.
    let mut requests = spaced(&[0, 1, 2, 3, 6, 7, 9]);
    requests.push(read(7 * LATER, 0));
    let (served, flash) = after(&ONE_SPACE, &requests);
    assert_eq!(served.latencies_ns[7], ERASE + MOVE + ERASE + READ);
    assert_eq!(flash.places[8], place(6, 1));
}

#[test]
fn a_block_that_cleaning_sealed_can_be_cleaned_in_its_turn() {
    // One plane, blocks of two pages: 0 and 1 hold pages 0 to 3, block 2 is active and
    // counts as free with block 3. Cleaning begins where 1 counts as free and ends where
    // 3 do.
    let rules = Rules { planes: 1, pages_per_block: 3, ..ONE_SPACE };
    // Pages 0 and 2 fill block 2. Page 0 opens block 3, so that page 2 cleans first:
    //   block 0, page 1 seals block 3 (0, 1); block 1, page 3 opens block 0;
    //   block 2, page 2 seals block 0 (3, 2); 3 count as free.
    // Page 2 opens block 1, page 0 seals it (2, 0), page 2 opens block 2. Now 1 counts
    // as free, and blocks 0 (3), 1 (0), 2 (2, open) and 3 (1) have one valid page each.
    // The read cleans:
    //   block 0, page 3 seals block 2 (2, 3); block 1, page 0 opens block 0;
    //   block 2, page 2 seals block 0 (0, 2), page 3 opens block 1;
    //   block 3, page 1 seals block 1 (3, 1); 3 count as free.
    let mut requests = spaced(&[0, 2, 0, 2, 0, 2]);
    requests.push(read(6 * LATER, 0));
    let (served, flash) = after(&rules, &requests);
    let cleanings = [
        // Pages 1, 3, 2.
        SEALING_MOVE + MOVE + SEALING_MOVE + 3 * ERASE,
        // Pages 3, 0, 2, 3, 1.
        SEALING_MOVE + MOVE + SEALING_MOVE + MOVE + SEALING_MOVE + 4 * ERASE,
    ];
    assert_eq!(served.latencies_ns[..4], [WRITE, SEALING_WRITE, WRITE, cleanings[0] + WRITE]);
    assert_eq!(served.latencies_ns[4..], [SEALING_WRITE, WRITE, cleanings[1] + READ]);
    assert_eq!((served.cleans, served.pages_moved), (7, 8));
    let places = [0, 1, 2, 3].map(|page| flash.places[page]);
    assert_eq!(places, [place(0, 0), place(1, 1), place(0, 1), place(1, 0)]);
}

#[test]
fn in_the_background_cleaning_waits_for_nobody() {
    let rules = Rules { background_cleaning: true, ..PLANE };
    // As in the first test, but block 1 is cleaned when page 5 is written.
    let (served, flash) = after(&rules, &spaced(&[0, 1, 4, 5, 8]));
    assert_eq!(served.latencies_ns[3..], [WRITE, SEALING_WRITE]);
    assert_eq!((served.cleans, served.clean_ns), (1, MOVE + ERASE));
    assert_eq!(flash.spaces[0].free, 3);

    // After the last request, too. In the foreground nothing calls for it.
    assert_eq!(serve(&rules, &spaced(&[0, 1, 4, 5])).unwrap().cleans, 1);
    assert_eq!(serve(&PLANE, &spaced(&[0, 1, 4, 5])).unwrap().cleans, 0);
}

#[test]
fn a_request_waits_for_cleaning_in_the_background() {
    let rules = Rules { background_cleaning: true, ..PLANE };
    let mut requests = spaced(&[0, 1, 4, 5]);
    // Cleaning begins when the write is done, and takes 1,725,000.
    requests.push(read(3 * LATER + WRITE + 25_000, 8));
    assert_eq!(latencies(&rules, &requests)[4], 1_700_000 + READ);
}
