//! Stripes of superblocks in the eyes of the auditor.

use crate::device::Device;
use engine::Instant;
use ftl::{Lpn, ParityPlace, Ppn};
use host::{Command, Kind, Priority};

const DRIVE: &str = include_str!("../../../tests/drive/common/drive.toml");
const PAGE: u64 = 4_096;

/// A superblock drive of four dies with stripes of four members, two mapping units a page.
fn drive() -> Device {
    let workload = "[[workload]]\nname = \"none\"\nreads = \"100 %\"\n[run]\nrequests = 1\n";
    let given = [
        ("geometry.channels", "4"),
        ("ftl.allocation.streams", "separate"),
        ("ftl.superblock", "{ dies = 4, width = { host = 4 } }"),
        ("ftl.unit", "2 KiB"),
        ("ftl.over_provisioning.reserved", "50 %"),
    ];
    let given = given.map(|(key, value)| (format!("drive.{key}"), value.to_owned()));
    let (experiment, _) = crate::load::load(&format!("{DRIVE}{workload}"), "bench.toml", &given)
        .unwrap_or_else(|problems| panic!("{problems}"));
    Device::new(&experiment.drive, 1)
}

fn write(device: &mut Device, page: u64, pages: u64) {
    let command = Command { kind: Kind::Write, offset: page * PAGE, bytes: pages * PAGE };
    let now = device.now();
    device.submit(now, now, command, Priority::Normal, 0);
    device.advance(Instant::from_ns(now.as_ns() + 1_000_000_000));
    device.take_done(&mut Vec::new());
}

#[test]
fn the_auditor_finds_wrong_parity_and_lost_members_that_are_invalid() {
    let mut device = drive();
    device.audit();
    write(&mut device, 0, 6);
    let old = device.ftl().lookup(Lpn(1)).unwrap();
    // The first page is overwritten: its old place stays a member of its stripe.
    write(&mut device, 0, 1);
    device.finish_audit().unwrap();
    assert!(!device.ftl().is_valid(old));
    let ParityPlace::Flash(parity) = device.ftl().row_stripe(old).unwrap().parity() else {
        panic!("the first stripe is complete")
    };
    for place in [old, parity] {
        let corrupt = |device: &mut Device| device.base.audit.as_mut().unwrap().corrupt(place);
        corrupt(&mut device);
        let found = device.finish_audit().unwrap_err();
        assert!(found.contains("the parity at") && found.contains("off by 1"), "{found}");
        corrupt(&mut device);
    }
    device.finish_audit().unwrap();
}

#[test]
fn the_parity_of_an_open_row_is_in_memory() {
    let mut device = drive();
    device.audit();
    write(&mut device, 0, 4);
    let last = device.ftl().lookup(Lpn(7)).unwrap();
    let stripe = device.ftl().row_stripe(last).unwrap();
    assert_eq!(stripe.parity(), ParityPlace::Ram);
    let pages: Vec<_> = stripe.others().map(|member| member.page).collect();
    assert_eq!(pages, [ftl::PageState::Unwritten; 2]);
    let first: Ppn = device.ftl().lookup(Lpn(0)).unwrap();
    let whole = device.ftl().row_stripe(first).unwrap();
    assert!(whole.others().all(|member| member.page == ftl::PageState::Written));
}
