//! Bit errors beside parity over logical stripes: 8 planes on channels of their own make stripes of 7
//! pages of data and one of parity. A page is read in 25 + 100 us and decoded in 10 us, and parity is
//! computed in 3 us.

use crate::common::{Bench, Override, experiment, run_fast, set, stats};
use crate::detours::{ERASE, drive, first_of};
use crate::errors::errors;
use drive::OpKind;
use ftl::StripeId;
use host::Kind;
use metrics::{Holder, State};

const US: u64 = 1_000;
const MS: u64 = 1_000 * US;
const PAGE: u64 = 4_096;
const READ: u64 = 125 * US;
const DECODE: u64 = 10 * US;
const XOR: u64 = 3 * US;

/// A filled drive whose code corrects 75 errors. So many re-reads are made before data is rebuilt.
fn striped(base: f64, per_read: f64, re_reads: u32, more: &[Override]) -> Vec<Override> {
    let ladder = format!("{{ policy = \"ladder\", re_reads = {re_reads} }}");
    let own = [
        set("ftl.gc.preemptible", "true"),
        set("ftl.gc.copy_back", "false"),
        set("scheduler.read_routing", "suspend"),
        set("ftl.read_recovery", ladder),
    ];
    drive(8, &[&errors(base, per_read)[..], &own, more].concat())
}

/// A page cannot be read once its erase block has been read before.
fn read_once(more: &[Override]) -> Bench {
    Bench::filled(&striped(0.0, 80.5, 0, more))
}

fn rebuilds(bench: &Bench) -> [u64; 3] {
    let of = bench.device.errors().expect("flash has errors");
    let host = Holder::HostRead as usize;
    [of.rebuilds[host], of.read_for_rebuilds, of.rebuild_failures[host]]
}

#[test]
fn what_cannot_be_decoded_is_computed_from_the_rest_of_its_stripe() {
    let mut bench = read_once(&[]);
    assert_eq!(bench.alone(Kind::Read, 0, PAGE).latency(), READ + DECODE);
    let read = bench.alone(Kind::Read, 0, PAGE);
    assert_eq!(read.latency(), 2 * (READ + DECODE) + XOR);
    assert_eq!((read.of(State::Xor), read.of(State::Decode)), (XOR, 2 * DECODE));
    assert_eq!((read.of(State::Sense), read.of(State::Transfer)), (50 * US, 200 * US));
    assert_eq!((read.failed, rebuilds(&bench)), (0, [1, 7, 0]));
    // By now a page of each member's erase block has been read, so that no member can be read.
    let read = bench.alone(Kind::Read, PAGE, PAGE);
    assert_eq!((read.failed, rebuilds(&bench)), (1, [2, 14, 1]));
    assert_eq!(bench.device.counters().commands(OpKind::Read, Holder::Rebuild), 14);
}

#[test]
fn members_are_re_read_but_not_rebuilt() {
    let mut bench = Bench::filled(&striped(0.0, 80.5, 1, &[]));
    for (latency, rebuilt) in [(1, 0), (2, 0), (3, 1)] {
        let read = bench.alone(Kind::Read, 0, PAGE);
        let xor = if rebuilt > 0 { XOR } else { 0 };
        assert_eq!(read.latency(), latency * (READ + DECODE) + xor);
        assert_eq!((read.failed, rebuilds(&bench)), (0, [rebuilt, 7 * rebuilt, 0]));
    }
    let read = bench.alone(Kind::Read, 0, PAGE);
    assert_eq!(read.latency(), 4 * (READ + DECODE) + XOR);
    assert_eq!((read.failed, rebuilds(&bench)), (0, [2, 14, 0]));
}

#[test]
fn each_unit_of_a_read_has_a_stripe_of_its_own() {
    // Pages of two mapping units: two neighbours on a page are members of two stripes, whose other
    // members share pages, too. Each is read for itself.
    let halves = [
        set("ftl.unit", "2 KiB"),
        set("nand.errors.codeword", "512 B"),
        set("ftl.allocation.stripe", "4 KiB"),
    ];
    let mut bench = read_once(&halves);
    bench.alone(Kind::Read, 0, PAGE);
    let read = bench.alone(Kind::Read, 0, PAGE);
    // The second read of an erase block finds too many errors: one of the two units cannot be rebuilt
    // from blocks that the rebuild of the other one has read.
    assert_eq!((read.failed, rebuilds(&bench)), (1, [1, 14, 1]));
}

#[test]
fn a_move_is_rebuilt_before_its_data_is_lost() {
    let scrub = [set("ftl.scrub.interval", "10 ms"), set("ftl.scrub.choice", "oldest")];
    let mut bench = read_once(&scrub);
    // The first read of the block that is moved can be decoded, and all others cannot. Of its 8 stripes
    // those whose other members lie in blocks that were not read yet are rebuilt: the first of them.
    bench.until(19 * MS);
    let of = bench.device.errors().expect("flash has errors");
    let scrub = Holder::Scrub as usize;
    assert_eq!((of.undecoded[scrub], of.rebuilds[scrub]), (7, 7));
    assert_eq!((of.rebuild_failures[scrub], of.unrecovered[scrub]), (6, 6));
    // One of them is the parity of the eighth stripe.
    assert_eq!(bench.device.ftl().poisoned_units(), 5);
    // A poisoned unit is never sensed, and no other member of its stripe can be rebuilt. Block 0 of
    // plane 1 was read by rebuilds, so that it cannot be read.
    let before = rebuilds(&bench);
    let poisoned = bench.submit(19 * MS, Kind::Read, first_of(4), PAGE);
    let beside = bench.submit(19 * MS, Kind::Read, first_of(4) + PAGE, PAGE);
    bench.until(20 * MS - 1);
    assert_eq!((bench.done(poisoned).failed, bench.done(poisoned).latency()), (1, 0));
    assert_eq!(bench.done(beside).failed, 1);
    assert_eq!(rebuilds(&bench), before, "nothing is read in vain");
}

#[test]
fn parity_that_is_computed_from_what_cannot_be_read_tells_nothing() {
    // Nothing can be read. Writing a page of a stripe reads the old page and parity.
    let mut bench = Bench::filled(&striped(200.5, 0.0, 0, &[]));
    bench.alone(Kind::Write, 0, PAGE);
    let of = bench.device.errors().expect("flash has errors");
    assert_eq!(of.undecoded[Holder::Parity as usize], 2);
    let stripes = bench.device.ftl().layout.stripes.unwrap();
    let parity = bench.device.ftl().lookup(stripes.parity(StripeId(0))).unwrap();
    assert!(bench.device.ftl().is_poisoned(parity));
    // It is not data of hosts.
    assert_eq!(bench.device.ftl().poisoned_units(), 0);
    // With all seven pages written nothing has to be read, and the new parity is sound.
    bench.alone(Kind::Write, 0, 7 * PAGE);
    let parity = bench.device.ftl().lookup(stripes.parity(StripeId(0))).unwrap();
    assert!(!bench.device.ftl().is_poisoned(parity));
}

#[test]
fn new_parity_is_computed_without_the_old_if_that_tells_nothing() {
    let mut bench = Bench::filled(&striped(0.0, 8.05, 0, &[]));
    let stripes = bench.device.ftl().layout.stripes.unwrap();
    let is_void = |bench: &Bench| {
        let ppn = bench.device.ftl().lookup(stripes.parity(StripeId(0))).unwrap();
        bench.device.ftl().is_poisoned(ppn)
    };
    // Ten reads of other stripes disturb the blocks of the first page of stripe 0 and of its parity, which
    // is on plane 7. There stripe 1 has its last page.
    for _ in 0..10 {
        bench.alone(Kind::Read, first_of(1), PAGE);
        bench.alone(Kind::Read, first_of(1) + 6 * PAGE, PAGE);
    }
    bench.alone(Kind::Write, 0, PAGE);
    assert!(is_void(&bench), "neither the old page nor its parity can be read");
    // The six pages that stay can be read.
    let parity_reads =
        |bench: &Bench| bench.device.counters().commands(OpKind::Read, Holder::Parity);
    let before = parity_reads(&bench);
    bench.alone(Kind::Write, 0, PAGE);
    assert_eq!((parity_reads(&bench) - before, is_void(&bench)), (6, false));
}

#[test]
fn data_that_its_stripe_cannot_tell_is_read_again_as_if_it_had_no_parity() {
    let conditional = "{ policy = \"conditional\", protected = 0, unprotected = 3 }";
    let mut bench =
        Bench::filled(&striped(200.5, 0.0, 0, &[set("ftl.read_recovery", conditional)]));
    // 200 errors take two re-reads; nothing is read again for parity, which is void afterwards.
    let write = bench.alone(Kind::Write, 0, PAGE);
    assert_eq!(write.failed, 0);
    let stripes = bench.device.ftl().layout.stripes.unwrap();
    let parity = bench.device.ftl().lookup(stripes.parity(StripeId(0))).unwrap();
    // Members are read as data without parity: a rebuild gets them all.
    assert!(!bench.device.ftl().is_poisoned(parity));
    let read = bench.alone(Kind::Read, PAGE, PAGE);
    assert_eq!(read.latency(), READ + DECODE + 3 * (READ + DECODE) + XOR);
}

#[test]
fn a_stale_page_beside_what_is_read_is_not_what_is_rebuilt() {
    // Four mapping units on a page, of which the first was written anew elsewhere: three are read from
    // the page, and each is rebuilt from its own stripe.
    let quarters = [set("ftl.unit", "1 KiB"), set("nand.errors.codeword", "512 B")];
    let quarters = [&quarters[..], &[set("ftl.allocation.stripe", "4 KiB")]].concat();
    let mut bench = Bench::filled(&striped(0.0, 80.5, 0, &quarters));
    bench.alone(Kind::Write, 0, 1024);
    bench.alone(Kind::Read, PAGE / 2, 1024);
    let before = bench.device.errors().expect("flash has errors").read_for_rebuilds;
    let read = bench.alone(Kind::Read, 0, PAGE);
    let of = bench.device.errors().expect("flash has errors");
    assert_eq!(of.read_for_rebuilds - before, 3 * 7);
    assert!(read.failed <= 3);
}

#[test]
fn a_move_whose_stripe_tells_nothing_gives_its_task_back() {
    // Nothing can be read. The first moves are rebuilt in vain and poison their units; later ones find
    // members that are poisoned.
    let more = [
        set("ftl.tasks.most", 1),
        set("ftl.scrub.interval", "10 ms"),
        set("ftl.scrub.choice", "oldest"),
    ];
    let mut bench = Bench::filled(&striped(200.5, 0.0, 0, &more));
    bench.until(600 * MS);
    assert!(bench.device.ftl().poisoned_units() > 7 * 8);
    // One block after the other was moved, in 8 planes of four blocks of data.
    assert!(bench.device.counters().commands(OpKind::Erase, Holder::Erase) > 20);
}

#[test]
fn a_read_that_goes_round_in_vain_is_read_as_it_is() {
    let more = [
        set("scheduler.read_routing", "{ policy = \"reconstruct\", convert = \"always\" }"),
        set("ftl.scrub.interval", "10 ms"),
        set("ftl.scrub.choice", "oldest"),
    ];
    let mut bench = Bench::filled(&striped(0.0, 8.05, 0, &more));
    bench.device.record_collection();
    // After ten reads the second block of plane 1 has too many errors.
    for read in 0..10 {
        bench.submit(read * 500 * US, Kind::Read, first_of(9) + PAGE, PAGE);
    }
    // The first block of plane 0 is scrubbed, and erased then.
    let commands = |bench: &Bench, kind, of| bench.device.counters().commands(kind, of);
    while commands(&bench, OpKind::Erase, Holder::Erase) == 0 {
        assert!(bench.step());
    }
    let (begin, before) = (bench.device.now().as_ns(), *bench.device.counters());
    let read = bench.submit(begin, Kind::Read, first_of(9), PAGE);
    bench.until(begin + 2 * MS);
    let after = bench.device.counters().since(&before);
    assert_eq!((after.rebuilt, after.read_beside), (1, 7));
    assert_eq!(after.commands(OpKind::Read, Holder::HostRead), 8);
    let read = bench.done(read);
    assert_eq!((read.failed, read.latency()), (0, ERASE + READ + DECODE));
    assert!(read.met && read.blocked);
    assert_eq!(rebuilds(&bench), [0, 0, 0]);
}

#[test]
fn failures_of_stripes_are_those_of_equal_members() {
    // p of a unit, from reads of which none is rebuilt; then p (1 - (1 - p)^7) with stripes.
    let text = "[[workload]]\nname = \"reads\"\nreads = \"100 %\"\nsize = \"4 KiB\"\nqueue_depth = 1\n[run]\nrequests = 20000\n";
    let of = |failing: f64| {
        // No read disturbs, so that all pages have the same rate.
        let mut given = striped(failing, 0.0, 0, &[]);
        given.push(set("nand.errors.counting", "drawn"));
        given.push(set("precondition.fill", "sequential"));
        given.push(set("run.audit", false));
        let run = run_fast(&experiment(text, &given));
        let of = run.measured().errors().expect("flash has errors");
        let host = Holder::HostRead as usize;
        assert_eq!(stats(&run, 0, Kind::Read).failed_units, of.unrecovered[host]);
        (of.undecoded[host], of.unrecovered[host], of.expected)
    };
    for errors in [58.0, 62.0, 66.0] {
        let reads = 20_000.0;
        let (undecoded, unrecovered, expected) = of(errors);
        let p = undecoded as f64 / reads;
        let fails = reads * p * (1.0 - (1.0 - p).powi(7));
        let deviation = fails.sqrt();
        assert!(fails > 30.0, "{fails}");
        assert!((unrecovered as f64 - fails).abs() < 4.0 * deviation, "{unrecovered} {fails}");
        assert!((expected - fails).abs() < 4.0 * deviation, "{expected} {fails}");
    }
}

/// A sum of independent draws has at most the variance of a Poisson distribution.
#[test]
fn unequal_members_count_with_their_own_rates() {
    let text = "[[workload]]\nname = \"reads\"\nreads = \"100 %\"\nsize = \"4 KiB\"\nqueue_depth = 1\n[run]\nrequests = 20000\n";
    let mut given = striped(44.0, 0.0, 0, &[]);
    given.push(set("nand.errors.counting", "drawn"));
    given.push(set("nand.errors.spread.blocks", "30 %"));
    given.push(set("nand.errors.spread.pages", "10 %"));
    given.push(set("precondition.fill", "sequential"));
    given.push(set("run.audit", false));
    let run = run_fast(&experiment(text, &given));
    let of = run.measured().errors().expect("flash has errors");
    let failed = of.unrecovered[Holder::HostRead as usize] as f64;
    assert!(of.expected > 30.0, "{}", of.expected);
    let deviation = of.expected.sqrt();
    assert!((failed - of.expected).abs() < 3.0 * deviation, "{failed} {}", of.expected);
}
