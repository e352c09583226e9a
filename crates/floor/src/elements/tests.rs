//! Tests of the rules, in cases that can be followed by hand.

mod cleaning;
mod host;
mod layout;
mod placement;
mod random;
mod refusals;
mod rounds;

use super::drive::Drive;
use super::flash::{Flash, Place, Space};
use super::{Mapping, Pool, Refused, Request, Rules, Served, serve};

/// One element of two planes. Each has 8 blocks, of which 2 are reserved: one active,
/// one free. Blocks hold 3 pages of data: pages 0 to 17 lie in plane 0, pages 18 to 35
/// in plane 1. A plane is cleaned when none of its blocks is free.
const SMALL: Rules = Rules {
    elements: 1,
    planes: 2,
    blocks_per_plane: 8,
    pages_per_block: 4,
    reserve_percent: 25,
    min_free_percent: 0,
    copy_back: true,
    parallel_units: 1,
    pool: Pool::Plane,
    mapping: Mapping::Concatenated,
    background_cleaning: false,
    read_ns: 25_000,
    program_ns: 200_000,
    erase_ns: 1_500_000,
    transfer_ns: 105_600,
    summary_transfer_ns: 13_200,
    link_ns: 0,
    outstanding: u32::MAX,
};

/// 25,000 to sense and 105,600 over the pins.
const READ: u64 = 130_600;
/// 105,600 over the pins and 200,000 to program.
const WRITE: u64 = 305_600;
/// As above, and the summary: 13,200 over the pins and 200,000 to program.
const SEALING_WRITE: u64 = 518_800;
/// 25,000 to sense and 200,000 to program, inside a plane.
const MOVE: u64 = 225_000;
/// As above, and the summary.
const SEALING_MOVE: u64 = 438_200;
const ERASE: u64 = 1_500_000;
/// Longer than all that one request of these tests causes.
const LATER: u64 = 20_000_000;

fn read(at_ns: u64, page: u64) -> Request {
    Request { at_ns, first_page: page, pages: 1, is_read: true }
}

fn write(at_ns: u64, page: u64) -> Request {
    Request { is_read: false, ..read(at_ns, page) }
}

/// Writes of one page each that never wait for each other.
fn spaced(pages: &[u64]) -> Vec<Request> {
    (0..).zip(pages).map(|(place, page)| write(place * LATER, *page)).collect()
}

fn latencies(rules: &Rules, requests: &[Request]) -> Vec<u64> {
    serve(rules, requests).unwrap().latencies_ns
}

/// Serves `requests` on one element, with audits; returns the results and the element's content.
fn after(rules: &Rules, requests: &[Request]) -> (Served, Flash) {
    let mut drive = Drive::new(rules).unwrap();
    let served = drive.serve(requests, Flash::audit).unwrap();
    (served, drive.elements.swap_remove(0).flash)
}

fn place(block: usize, page: usize) -> Place {
    Place { block, page }
}
