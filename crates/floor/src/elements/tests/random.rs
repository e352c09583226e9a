//! Small drives and requests at random.

use super::*;
use proptest::prelude::*;

fn some_rules() -> impl Strategy<Value = Rules> {
    let sizes = (1..4u32, 0..3u32, 0..3u32, 4..11u32, 2..6u32);
    let space = (30..70u32, 0..25u32);
    let ways = (any::<bool>(), any::<bool>(), 0..3usize, any::<bool>(), any::<bool>());
    let rules = (sizes, space, ways).prop_map(|(sizes, space, ways)| {
        let (elements, planes, units, blocks_per_plane, pages_per_block) = sizes;
        let (copy_back, one_plane, mapping, background_cleaning, linked) = ways;
        Rules {
            elements,
            planes: 1 << planes,
            blocks_per_plane,
            pages_per_block,
            reserve_percent: space.0,
            min_free_percent: space.1,
            copy_back,
            parallel_units: 1 << units.min(planes),
            pool: if one_plane { Pool::Plane } else { Pool::Element },
            mapping: [Mapping::Concatenated, Mapping::PairStriped, Mapping::FullyStriped][mapping],
            background_cleaning,
            link_ns: if linked { 1_907 } else { 0 },
            ..SMALL
        }
    });
    rules.prop_filter("makes a drive", |rules| Drive::new(rules).is_ok())
}

/// Requests with gaps of up to 2 ms, whose pages are shares of the drive.
fn some_requests() -> impl Strategy<Value = Vec<(u64, f64, u32, bool)>> {
    prop::collection::vec((0..2_000_000u64, 0.0..1.0, 1..5u32, any::<bool>()), 1..120)
}

fn requests_on(rules: &Rules, drawn: &[(u64, f64, u32, bool)]) -> Vec<Request> {
    let drive = Drive::new(rules).unwrap();
    let exported = drive.elements.len() * drive.elements[0].flash.layout.exported_pages();
    let mut at_ns = 0;
    let request = |&(gap_ns, share, pages, is_read): &(u64, f64, u32, bool)| {
        at_ns += gap_ns;
        let pages = pages.min(exported as u32);
        let first_page = (share * (exported as f64 - f64::from(pages - 1))) as u64;
        Request { at_ns, first_page, pages, is_read }
    };
    drawn.iter().map(request).collect()
}

/// Shortest time of `request`. One unit serves the pages of an element one after the other.
fn unloaded_ns(rules: &Rules, request: &Request) -> u64 {
    let alone = if request.is_read { READ } else { WRITE };
    let in_a_row = match rules.parallel_units {
        1 => u64::from(request.pages.div_ceil(rules.elements)),
        _ => 1,
    };
    in_a_row * alone + u64::from(request.pages) * rules.link_ns
}

proptest! {
    #![proptest_config(crate::cases!())]

    #[test]
    fn counts_are_right_and_latencies_possible(rules in some_rules(), drawn in some_requests()) {
        let requests = requests_on(&rules, &drawn);
        let served = Drive::new(&rules).unwrap().serve(&requests, Flash::audit);
        prop_assert_eq!(&served, &serve(&rules, &requests), "served twice");
        let served = match served {
            Ok(served) => served,
            // Small drives run out of space.
            Err(Refused::NoFreeBlock { .. } | Refused::CleansInVain { .. }) => return Ok(()),
            Err(refused) => return Err(TestCaseError::fail(refused.to_string())),
        };
        if served.duplicates == 0 {
            for (request, latency_ns) in requests.iter().zip(&served.latencies_ns) {
                prop_assert!(*latency_ns >= unloaded_ns(&rules, request), "{request:?}");
            }
        }
        if rules.copy_back && rules.parallel_units == 1 {
            // What is left is for summaries: 13,200 and 200,000 each.
            let moves = served.pages_moved * MOVE + served.cleans * ERASE;
            let summaries_ns = served.clean_ns - moves;
            prop_assert_eq!(summaries_ns % 213_200, 0);
            prop_assert!(summaries_ns / 213_200 <= served.pages_moved);
        }
    }
}
