//! Updates alone: which units they wait for, and what the auditor makes of wrong parity.

use crate::device::Device;
use crate::device::ids::{EntryId, ParityId};
use crate::device::write::parity::gather::choose_reads;
use crate::device::write::unit::Unit;
use crate::device::write::updates::Updates;
use engine::Instant;
use ftl::{PoolId, StripeId};
use host::{Command, Kind, Priority};

const DRIVE: &str = include_str!("../../../../tests/drive/common/drive.toml");
const PAGE: u64 = 4_096;

/// Eight planes on channels of their own, with stripes over all of them; two mapping units a page.
fn drive() -> Device {
    let workload =
        "[[workload]]\nname = \"none\"\nreads = \"100 %\"\nqueue_depth = 1\n[run]\nrequests = 1\n";
    let given = [
        ("geometry.channels", "8"),
        ("ftl.allocation.pool", "plane"),
        ("ftl.parity.width", "8"),
        ("ftl.unit", "2 KiB"),
        ("ftl.over_provisioning.reserved", "25 %"),
        ("buffer.size", "64 KiB"),
    ];
    let given = given.map(|(key, value)| (format!("drive.{key}"), value.to_owned()));
    let (experiment, _) = crate::load::load(&format!("{DRIVE}{workload}"), "bench.toml", &given)
        .unwrap_or_else(|problems| panic!("{problems}"));
    Device::new(&experiment.drive, 1)
}

/// Submits a command now and lets everything end.
fn alone(device: &mut Device, kind: Kind, page: u64, pages: u64) {
    let command = Command { kind, offset: page * PAGE, bytes: pages * PAGE };
    let now = device.now();
    device.submit(now, now, command, Priority::Normal, 0);
    device.advance(Instant::from_ns(now.as_ns() + 1_000_000_000));
    device.take_done(&mut Vec::new());
}

#[test]
fn parity_is_computed_from_the_fewest_units() {
    // By the members that change and those that do not: 7 of them, all with data.
    for (changed, reads) in [(1, 2), (2, 3), (3, 4), (4, 3), (5, 2), (6, 1), (7, 0)] {
        let found = choose_reads(
            vec!["old"; changed],
            vec!["clean"; 7 - changed],
            Some("parity"),
            (|_| true, |_| false, |_| true),
        );
        assert_eq!(found.len(), reads, "{changed} of 7");
        assert_eq!(found.contains(&"parity"), changed <= 3, "{changed} of 7");
    }
    assert!(
        choose_reads(vec![], vec![], None::<()>, (|_| true, |_| false, |_| true)).is_empty(),
        "the first data of a stripe"
    );
    assert_eq!(
        choose_reads(vec![], vec!["clean"], Some("parity"), (|_| true, |_| false, |_| true)),
        ["parity"],
        "as many either way"
    );
    let held = |held: &'static [&str]| move |unit: &&str| held.contains(unit);
    let old = || {
        choose_reads(
            vec!["old"],
            vec!["clean"; 6],
            Some("parity"),
            (|_| true, held(&["old"]), |_| true),
        )
    };
    assert_eq!(old(), ["clean"; 6], "the others go round");
    for held_units in [&["old", "clean"][..], &["clean"]] {
        let found = choose_reads(
            vec!["old"],
            vec!["clean"; 6],
            Some("parity"),
            (|_| true, held(held_units), |_| true),
        );
        assert_eq!(found, ["old", "parity"], "{held_units:?}: nothing goes round");
    }
}

#[test]
fn parity_is_not_computed_from_what_is_lost() {
    let found = |lost: &'static str| {
        let is_there = move |unit: &&str| *unit != lost;
        // As if collection held what is there, which nothing can go round now.
        let of = (|_: &&str| true, is_there, is_there);
        choose_reads(vec!["old"], vec!["clean"; 6], Some("parity"), of)
    };
    assert_eq!(found("old"), ["clean"; 6]);
    assert_eq!(found("parity"), ["clean"; 6]);
    assert_eq!(found("clean"), ["old", "parity"]);
}

#[test]
fn a_program_waits_for_units_that_come_soon() {
    let device = drive();
    let mut updates: Updates = (**device.write.whole().updates.as_ref().unwrap()).clone();
    let pool = PoolId(3);
    assert!(!updates.forms(pool), "nothing is ready");
    updates.ready[pool].push_back(Unit::Data(EntryId(0)));
    updates.coming[pool] = 1;
    assert!(!updates.forms(pool), "the other half of the page comes");
    updates.coming[pool] = 0;
    assert!(updates.forms(pool), "nothing more comes");
    updates.coming[pool] = 1;
    updates.ready[pool].push_back(Unit::Parity(ParityId(0)));
    assert!(updates.forms(pool), "the page is full");
}

#[test]
fn a_stripe_has_one_update_at_a_time() {
    let mut device = drive();
    let command = |page| Command { kind: Kind::Write, offset: page * PAGE, bytes: 2_048 };
    let now = Instant::START;
    for page in [0, 1, 0] {
        device.submit(now, now, command(page), Priority::Normal, 0);
    }
    device.advance(now);
    let updates = device.write.whole().updates.as_ref().unwrap();
    let of_first = updates.of(StripeId(0)).expect("it is written");
    // All three are of the first stripe, which has the first unit of each of seven pages.
    assert_eq!(updates.of_stripe.len(), 1);
    let update = &updates.updates[of_first];
    assert_eq!((update.entries.len(), update.later.len()), (1, 2));
}

#[test]
fn parity_that_is_wrong_by_a_bit_is_found() {
    let mut device = drive();
    device.audit();
    alone(&mut device, Kind::Write, 0, 20);
    alone(&mut device, Kind::Write, 3, 1);
    alone(&mut device, Kind::Trim, 12, 1);
    assert_eq!(device.finish_audit(), Ok(()));
    let stripes = device.base.space.ftl.layout.stripes.unwrap();
    for stripe in [0, 2, 5].map(StripeId) {
        let place = device.base.space.ftl.lookup(stripes.parity(stripe)).expect("it has data");
        let audit = device.base.audit.as_mut().unwrap();
        audit.corrupt(place);
        let fault = device.finish_audit().expect_err("its parity is wrong");
        assert!(fault.contains(&format!("of {stripe:?} is off by 1")), "{fault}");
        let audit = device.base.audit.as_mut().unwrap();
        audit.corrupt(place);
        assert_eq!(device.finish_audit(), Ok(()));
    }
}
