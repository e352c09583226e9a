//! The path of a failure, from an operation's end to its command's completion.

use crate::device::flash::op::Owner;
use crate::device::{Completion, Device};
use engine::{Instant, Span};
use ftl::{BinChoice, Lpn, Untimed};
use host::{Command, Kind, Priority};

const DRIVE: &str = include_str!("../../../tests/drive/common/drive.toml");
const PAGE: u64 = 4_096;

/// A drive of one plane, 64 blocks of 16 pages, of which 100 are written; a page has `units` units.
fn drive(units: u64) -> Device {
    let text = format!(
        "{DRIVE}[[workload]]\nname = \"none\"\nreads = \"100 %\"\nqueue_depth = 1\n[run]\nrequests = 1\n"
    );
    let given = [
        ("drive.ftl.over_provisioning.reserved".into(), "25 %".into()),
        ("drive.ftl.unit".into(), format!("{} B", PAGE / units)),
    ];
    let (experiment, _) = crate::load::load(&text, "bench.toml", &given)
        .unwrap_or_else(|problems| panic!("{problems}"));
    let mut device = Device::new(&experiment.drive, 1);
    let ftl = device.ftl_mut();
    let mut writer = Untimed::new(ftl, BinChoice::RoundRobin);
    writer.write_run(ftl, Lpn(0), 100 * units as u32).expect("it has space");
    writer.flush(ftl).expect("it has space");
    device.firmware_changed();
    device
}

/// Submits a read of whole pages when the drive is idle.
fn read(device: &mut Device, first: u64, pages: u64) {
    let command = Command { kind: Kind::Read, offset: first * PAGE, bytes: pages * PAGE };
    let now = device.now();
    device.submit(now, now, command, Priority::Normal, 0);
    device.step();
}

/// Lets the parts of the read under way fail in the given numbers of units; returns its completion.
fn fail(device: &mut Device, units: &[u8]) -> Completion {
    let flash = &mut device.base.flash;
    for id in flash.op_ids() {
        if let Owner::Read(_, part) = flash.op(id).owner {
            flash.fail(id, units[part as usize]);
        }
    }
    while device.step().is_some() {}
    let mut done = Vec::new();
    device.take_done(&mut done);
    let [completion] = done[..] else { panic!("{done:?}") };
    completion
}

#[test]
fn a_command_completes_with_the_units_that_failed_in_all_its_parts() {
    let mut device = drive(4);
    // Three pages are three operations; the last to end is not the one that failed most.
    read(&mut device, 10, 3);
    let completion = fail(&mut device, &[1, 4, 0]);
    assert_eq!((completion.failed, completion.unmapped), (5, 0));
    // Sensing takes 25 us and the channel 100 us a page, one page after the other: a failed
    // operation ends like any other.
    assert_eq!(completion.finished, Instant::START + Span::from_us(3 * 125));
    assert_eq!(device.blame(completion.id).total(), completion.finished - completion.arrived);
}

#[test]
fn the_next_command_has_not_failed() {
    let mut device = drive(1);
    for (failed, expected) in [(1, 1), (0, 0)] {
        // One operation: its slot and its command's are used again.
        read(&mut device, 7, 1);
        assert_eq!(fail(&mut device, &[failed]).failed, expected);
    }
}
