//! Tests of refused drives and requests.

use super::*;

#[test]
fn rules_that_make_no_drive_are_refused() {
    let faulty = [
        Rules { planes: 0, ..SMALL },
        Rules { pages_per_block: 1, ..SMALL },
        Rules { planes: 3, mapping: Mapping::PairStriped, ..SMALL },
        Rules { planes: 6, parallel_units: 4, ..SMALL },
        Rules { reserve_percent: 100, ..SMALL },
    ];
    for rules in faulty {
        assert!(matches!(serve(&rules, &[]), Err(Refused::Rules(_))), "{rules:?}");
    }
}

#[test]
fn cleaning_is_not_due_in_the_beginning() {
    // With copy-back 8 / 4 - 1 blocks of a plane are free, and 13 % of 8 are 1.
    let due = Rules { min_free_percent: 13, ..SMALL };
    assert!(matches!(serve(&due, &[]), Err(Refused::Rules(_))));
    assert!(serve(&Rules { min_free_percent: 12, ..due }, &[]).is_ok());
    // Without, 2 * 8 / 4 count as free, and 25 % of 16 are 4.
    let due = Rules { min_free_percent: 25, copy_back: false, ..SMALL };
    assert!(matches!(serve(&due, &[]), Err(Refused::Rules(_))));
    assert!(serve(&Rules { min_free_percent: 24, ..due }, &[]).is_ok());
}

#[test]
fn requests_are_in_order_and_inside_the_drive() {
    let faulty = [
        Request { pages: 0, ..read(9, 0) },
        // 2 planes of 6 blocks of 3 pages.
        read(9, 36),
        Request { pages: 2, ..read(9, 35) },
        read(9, u64::MAX),
        read(8, 0),
    ];
    for request in faulty {
        let refused = serve(&SMALL, &[read(9, 35), request]);
        assert!(matches!(refused, Err(Refused::Request { index: 1, .. })), "{request:?}");
    }
}

#[test]
fn a_batch_can_want_more_than_is_free() {
    // Plane 0 has 3 pages in its active block and 3 in the free one. Seven writes come
    // while a read keeps the element busy, and cleaning is not considered in between.
    let rules = Rules { parallel_units: 2, ..SMALL };
    let mut requests = vec![read(0, 0)];
    requests.extend((0..7).map(|page| write(1, page)));
    let refused = serve(&rules, &requests);
    assert_eq!(refused, Err(Refused::NoFreeBlock { element: 0, at_ns: READ }));
    assert!(serve(&rules, &requests[..7]).is_ok());
}

#[test]
fn a_plane_of_valid_pages_alone_cannot_be_cleaned() {
    // Blocks of one page. Planes have 5 blocks of data, an active one and 2 free, and are
    // cleaned when 1 is free. Of pages 5, 6 and 7, of plane 1, the first and the last go
    // to plane 0, which opens a block for the second of these. Then it has 7 blocks of
    // one valid page each.
    let rules = Rules {
        pages_per_block: 2,
        reserve_percent: 38,
        min_free_percent: 13,
        pool: Pool::Element,
        ..SMALL
    };
    let mut requests = spaced(&[5, 6, 7]);
    assert!(serve(&rules, &requests).is_ok());
    requests.push(read(3 * LATER, 0));
    // The fourth cleaning, two for each plane, begins after three.
    let at_ns = 3 * LATER + 3 * (SEALING_MOVE + ERASE);
    assert_eq!(serve(&rules, &requests), Err(Refused::CleansInVain { element: 0, at_ns }));
}

#[test]
fn a_refusal_says_what_is_wrong() {
    let refused = serve(&SMALL, &[read(0, 99)]).unwrap_err();
    assert_eq!(refused.to_string(), "request 0 goes beyond the drive");
}
