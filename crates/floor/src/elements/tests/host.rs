//! The link, and the order of events.

use super::*;

/// Four elements, and 10,000 ns for each page over the link.
const LINKED: Rules = Rules { elements: 4, link_ns: 10_000, ..SMALL };

#[test]
fn a_write_crosses_the_link_before_it_is_written() {
    let three = Request { pages: 3, ..write(0, 0) };
    assert_eq!(latencies(&LINKED, &[three]), [3 * 10_000 + WRITE]);
}

#[test]
fn a_read_crosses_the_link_when_all_of_it_is_read() {
    let three = Request { pages: 3, ..read(0, 0) };
    assert_eq!(latencies(&LINKED, &[three]), [READ + 3 * 10_000]);
}

#[test]
fn the_link_carries_in_one_direction_at_a_time() {
    // The write keeps the link from 130,000 to 170,000; the read wants it from 130,600.
    let four = Request { pages: 4, ..write(130_000, 0) };
    let latencies = latencies(&LINKED, &[read(0, 0), four]);
    assert_eq!(latencies, [170_000 + 10_000, 4 * 10_000 + WRITE]);
}

#[test]
fn the_link_serves_in_the_order_of_asking() {
    // The second read asks at 130,601 and the write at 130,602, while the link is kept
    // by the first read until 140,600.
    let requests = [read(0, 0), read(1, 1), write(130_602, 2)];
    let latencies = latencies(&LINKED, &requests);
    assert_eq!(latencies, [140_600, 150_600 - 1, 160_600 - 130_602 + WRITE]);
}

#[test]
fn a_read_waits_for_the_bus_to_begin() {
    // The write has it until 30,000.
    let three = Request { pages: 3, ..write(0, 0) };
    let latencies = latencies(&LINKED, &[three, read(1, 3)]);
    assert_eq!(latencies, [30_000 + WRITE, 30_000 - 1 + READ + 10_000]);
}

#[test]
fn a_write_waits_for_the_bus_to_end() {
    // The first is done at 315,600; the second has the bus from 310,000 to 350,000.
    let four = Request { pages: 4, ..write(310_000, 0) };
    assert_eq!(latencies(&LINKED, &[write(0, 0), four]), [350_000, 40_000 + WRITE]);
}

#[test]
fn what_is_done_has_the_bus_before_what_is_new() {
    // The first write has the bus from 110,000 to 140,000. The second has come at 120,000, the
    // read is done at 130,600: it crosses first. The second write waits for the first one's page.
    let three = Request { pages: 3, ..write(110_000, 0) };
    let latencies = latencies(&LINKED, &[read(0, 3), three, write(120_000, 4)]);
    assert_eq!(latencies, [150_000, 30_000 + WRITE, 20_000 + 2 * WRITE]);
}

#[test]
fn only_so_many_requests_are_under_way() {
    let one = Rules { outstanding: 1, ..LINKED };
    let alone = READ + 10_000;
    assert_eq!(latencies(&one, &[read(0, 0), read(1, 1)]), [alone, 2 * alone - 1]);
}

#[test]
fn what_the_drive_ends_comes_before_what_arrives() {
    // Both ask for the link at 130,600.
    let latencies = latencies(&LINKED, &[read(0, 0), write(READ, 1)]);
    assert_eq!(latencies, [READ + 10_000, 2 * 10_000 + WRITE]);
}

#[test]
fn a_request_that_arrives_when_a_batch_ends_misses_the_next() {
    // The element is free at 130,600 and takes the write alone; the read of that very
    // moment waits for it.
    let rules = Rules { parallel_units: 2, ..SMALL };
    let latencies = latencies(&rules, &[read(0, 0), write(1, 0), read(READ, 1)]);
    assert_eq!(latencies, [READ, READ + WRITE - 1, WRITE + READ]);
}

#[test]
fn without_a_link_nothing_is_carried() {
    let rules = Rules { elements: 4, ..SMALL };
    let all = [read(0, 0), Request { pages: 4, ..write(READ, 0) }];
    assert_eq!(latencies(&rules, &all), [READ, WRITE]);
}
