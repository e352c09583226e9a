//! Tests of the time that pages take, alone and together.

use super::*;
use crate::elements::round::{BATCH, Batch, PageRequest};

const TWO_UNITS: Rules = Rules { parallel_units: 2, ..SMALL };

/// Ends of `later`, which all arrive at 1 ns and are one batch: a read that arrives at 0 keeps
/// the element busy until 130,600 ns. The ends are counted from there.
fn in_one_batch(rules: &Rules, later: &[Request]) -> Vec<u64> {
    let mut requests = vec![read(0, 35)];
    requests.extend(later.iter().map(|request| Request { at_ns: 1, ..*request }));
    let latencies = latencies(rules, &requests);
    assert_eq!(latencies[0], READ);
    latencies[1..].iter().map(|latency| latency + 1 - READ).collect()
}

#[test]
fn a_lone_read_is_sensed_and_carried_out() {
    assert_eq!(latencies(&SMALL, &[read(7, 5)]), [25_000 + 105_600]);
}

#[test]
fn a_lone_write_is_carried_in_and_programmed() {
    assert_eq!(latencies(&SMALL, &[write(7, 5)]), [105_600 + 200_000]);
}

#[test]
fn the_last_data_page_of_a_block_brings_the_summary() {
    // The third page seals the block, and the fourth opens another.
    let third = 105_600 + 200_000 + 200_000 + 13_200;
    for copy_back in [true, false] {
        let rules = Rules { copy_back, ..SMALL };
        assert_eq!(latencies(&rules, &spaced(&[0, 1, 2, 3])), [WRITE, WRITE, third, WRITE]);
    }
    let (_, flash) = after(&SMALL, &spaced(&[0, 1, 2, 3]));
    assert_eq!(flash.places[..4], [place(6, 0), place(6, 1), place(6, 2), place(7, 0)]);
}

#[test]
fn in_a_round_each_unit_adds_a_transfer() {
    let done = in_one_batch(&TWO_UNITS, &[read(1, 0), read(1, 18), write(1, 1), write(1, 19)]);
    // Both planes sense; the second page waits for the pins of the first. Both writes
    // then begin when the slower read is done.
    let reads = [25_000 + 105_600, 25_000 + 2 * 105_600];
    let writes = [105_600 + 200_000, 2 * 105_600 + 200_000].map(|end| reads[1] + end);
    assert_eq!(done, [reads[0], reads[1], writes[0], writes[1]]);
}

#[test]
fn the_slowest_of_a_round_ends_it() {
    // Planes 0, 0 and 1: the second page of plane 0 has to wait for plane 1.
    let done = in_one_batch(&TWO_UNITS, &[write(1, 0), write(1, 1), write(1, 18)]);
    let first_round = 2 * 105_600 + 200_000;
    assert_eq!(done, [WRITE, first_round + WRITE, first_round]);
}

#[test]
fn a_summary_can_make_the_first_the_slowest() {
    // The first two writes leave one page in the active block of plane 0.
    let mut requests = spaced(&[0, 1]);
    let begin = 2 * LATER;
    requests.push(read(begin, 35));
    requests.extend([2, 18, 3].map(|page| write(begin, page)));
    let done = latencies(&TWO_UNITS, &requests);
    // Carried in at 105,600 and done at 518,800; the other plane is done at 411,200.
    let [sealing, beside] = [518_800, 2 * 105_600 + 200_000];
    assert_eq!(done[3..], [READ + sealing, READ + beside, READ + sealing + WRITE]);
}

#[test]
fn units_without_requests_take_no_place_in_a_round() {
    let done = in_one_batch(&TWO_UNITS, &[write(1, 18), write(1, 19), read(1, 20)]);
    assert_eq!(done, [READ + WRITE, READ + 2 * WRITE, READ]);
}

#[test]
fn a_batch_reads_before_it_writes() {
    assert_eq!(in_one_batch(&TWO_UNITS, &[write(1, 0), read(1, 0)]), [READ + WRITE, READ]);
}

#[test]
fn planes_of_one_unit_take_turns() {
    // Four planes of 4 blocks, 2 reserved: plane n holds pages 6 n to 6 n + 5. Units are
    // planes 0 and 1, 2 and 3.
    let rules = Rules { planes: 4, blocks_per_plane: 4, reserve_percent: 50, ..TWO_UNITS };
    let requests = [read(0, 23), read(1, 0), read(1, 6), read(1, 12)];
    let latencies = latencies(&rules, &requests);
    let first_round = 25_000 + 2 * 105_600;
    assert_eq!(latencies[1..], [READ, first_round + READ, first_round].map(|end| READ + end - 1));
}

#[test]
fn one_unit_serves_in_order_of_arrival() {
    for copy_back in [true, false] {
        // Without copy-back, the number of units does not matter.
        let rules = Rules { copy_back, parallel_units: if copy_back { 1 } else { 2 }, ..SMALL };
        let done = in_one_batch(&rules, &[write(1, 0), read(1, 18), read(1, 0)]);
        assert_eq!(done, [WRITE, WRITE + READ, WRITE + 2 * READ]);
    }
}

#[test]
fn duplicates_of_a_batch_cost_nothing() {
    let requests = [read(1, 0), read(1, 0), write(1, 0), write(1, 0), read(1, 18)];
    let done = in_one_batch(&TWO_UNITS, &requests);
    let reads = [READ, 25_000 + 2 * 105_600];
    assert_eq!(done, [reads[0], 0, reads[1] + WRITE, 0, reads[1]]);

    let mut all = vec![read(0, 35)];
    all.extend(requests);
    let (served, flash) = after(&TWO_UNITS, &all);
    assert_eq!(served.duplicates, 2);
    assert_eq!(flash.spaces[0].next, 1, "one page was written");
}

#[test]
fn one_unit_knows_no_duplicates() {
    assert_eq!(in_one_batch(&SMALL, &[read(1, 0), read(1, 0)]), [READ, 2 * READ]);
}

#[test]
fn a_batch_has_at_most_a_hundred_of_a_kind() {
    let wanted = |page, is_read| PageRequest { request: 0, page, is_read };
    // Reads and writes in turn, and each read once more.
    let in_turn = |page| [wanted(page, true), wanted(page, false), wanted(page, true)];
    let mut queue = (0..150).flat_map(in_turn).collect();
    let batch = Batch::take(&mut queue, 2);
    // The hundredth read is the last that is taken.
    let counts = [batch.reads.len(), batch.writes.len(), batch.duplicates.len()];
    assert_eq!(counts, [BATCH, BATCH - 1, BATCH - 1]);
    assert_eq!(queue.len(), 150 * 3 - (100 + 99 + 99));
    assert_eq!(queue[0], wanted(99, false));

    let batch = Batch::take(&mut queue, 1);
    assert_eq!((batch.reads.len(), batch.writes.len()), (0, 1));
}

#[test]
fn a_request_is_done_with_its_last_page() {
    // Two elements: pages 0 and 2 lie on the one, 1 on the other.
    let rules = Rules { elements: 2, ..SMALL };
    let three = Request { pages: 3, ..read(0, 0) };
    assert_eq!(latencies(&rules, &[three]), [2 * READ]);
}

#[test]
fn the_first_page_of_a_request_does_not_wait_for_the_others() {
    // Planes have every other block: page 2 lies in plane 0, pages 3 and 4 in plane 1.
    // The element begins with page 2, before the others come.
    let rules = Rules { mapping: Mapping::FullyStriped, ..TWO_UNITS };
    let three = Request { pages: 3, ..read(0, 2) };
    assert_eq!(latencies(&rules, &[three]), [3 * READ]);
}
