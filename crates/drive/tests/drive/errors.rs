//! Bit errors by arithmetic: the times of re-reads, what a read disturbs, and data that cannot be read.

use crate::common::{BY_HAND, Bench, Override, experiment, run_fast, set, stats};
use drive::{Device, OpKind};
use host::Kind;
use metrics::{Holder, State};
use nand::errors::Chip;

const US: u64 = 1_000;
const MS: u64 = 1_000 * US;
const PAGE: u64 = 4_096;
/// Senses and transfers of a page.
const READ: u64 = 125 * US;
const DECODE: u64 = 10 * US;

/// Errors of a codeword of 512 bytes, as expected: of new flash, and per read of its block.
pub fn errors(base: f64, per_read: f64) -> Vec<Override> {
    vec![
        set("nand.decode", "10 us"),
        set("nand.errors.codeword", "512 B"),
        set("nand.errors.counting", "expected"),
        set("nand.errors.corrects", 75),
        set("nand.errors.re_read_scale", 2.0),
        set("nand.errors.constants.base", base / 4096.0),
        set("nand.errors.constants.wear", "{ factor = 0.0, exponent = 1.0 }"),
        set(
            "nand.errors.constants.retention",
            "{ factor = 0.0, cycles_exponent = 1.0, days_exponent = 1.0 }",
        ),
        set(
            "nand.errors.constants.disturb",
            format!(
                "{{ factor = {:e}, cycles_exponent = 0.0, reads_exponent = 1.0 }}",
                per_read / 4096.0
            ),
        ),
    ]
}

pub fn ladder(re_reads: u32) -> Override {
    set("ftl.read_recovery", format!("{{ policy = \"ladder\", re_reads = {re_reads} }}"))
}

fn filled(parts: &[&[Override]]) -> Bench {
    Bench::filled(&parts.concat())
}

#[test]
fn each_re_read_senses_transfers_and_decodes_again() {
    // 70, 150.5 and 700.5 expected errors take 0, 1 and 4 halvings to be at most 75.
    for (expected, re_reads) in [(70.5, 0), (150.5, 1), (700.5, 4)] {
        let mut bench = filled(&[&errors(expected, 0.0)]);
        let read = bench.alone(Kind::Read, 5 * PAGE, PAGE);
        assert_eq!(read.latency(), (1 + re_reads) * (READ + DECODE), "{expected}");
        assert_eq!((read.of(State::Sense), read.of(State::Transfer)), (25 * US, 100 * US));
        // The first and the last decoding are its own; those between are part of re-reads.
        let own = if re_reads > 0 { 2 } else { 1 };
        assert_eq!(read.of(State::Decode), own * DECODE);
        assert_eq!(read.of(State::ReRead), re_reads * READ + (re_reads + 1 - own) * DECODE);
        assert_eq!(read.failed, 0);
        let counters = *bench.device.counters();
        assert_eq!(counters.commands(OpKind::Read, Holder::HostRead), 1);
        assert_eq!(counters.commands(OpKind::Read, Holder::ReRead), re_reads);
        let errors = bench.device.errors().expect("flash has errors");
        assert_eq!(errors.re_reads[Holder::HostRead as usize], re_reads);
        assert_eq!(errors.undecoded[Holder::HostRead as usize], u64::from(re_reads > 0));
        // Eight codewords a page, all decoded again each time.
        assert_eq!((errors.host.codewords(), errors.later_decodes()), (8, 8 * re_reads));
        assert_eq!(errors.internal.codewords(), 0);
    }
}

#[test]
fn the_host_gets_an_error_when_the_last_re_read_fails_and_tries_anew() {
    let mut bench = filled(&[&errors(700.5, 0.0), &[ladder(3)]]);
    for _ in 0..2 {
        let read = bench.alone(Kind::Read, 5 * PAGE, 2 * PAGE);
        // Both pages lie in one plane: the second is sensed while the first is decoded, and so on.
        assert_eq!(read.failed, 2);
        assert_eq!(read.latency(), 8 * READ + DECODE);
    }
    let errors = bench.device.errors().expect("flash has errors");
    assert_eq!(errors.unrecovered[Holder::HostRead as usize], 4);
    assert_eq!(bench.device.ftl().poisoned_units(), 0, "only a move poisons");
}

#[test]
fn the_unit_is_free_while_it_decodes_and_a_re_read_goes_first_in_its_class() {
    let mut bench =
        filled(&[&errors(0.0, 0.0), &[set("nand.errors.constants.disturb.factor", 80.5 / 4096.0)]]);
    // The first row of block 5 has no errors, and all others of it 80, 161, ...: of the reads of this
    // block only the second needs a re-read.
    bench.alone(Kind::Read, 80 * PAGE, PAGE);
    let start = bench.device.now().as_ns();
    let first = bench.submit(start, Kind::Read, 80 * PAGE, PAGE);
    // Two of another block wait behind it.
    let [second, third] = [96, 112].map(|page| bench.submit(start, Kind::Read, page * PAGE, PAGE));
    bench.settle();
    let ended = |tag: u32| bench.done(tag).finished - start;
    assert_eq!(ended(second), 2 * READ + DECODE);
    // Decoded at 135 us; the unit reads for the second until 250 us.
    assert_eq!(ended(first), 3 * READ + DECODE);
    assert_eq!(ended(third), 4 * READ + DECODE);
    let waits = |tag: u32, state| bench.done(tag).of(state);
    assert_eq!(waits(first, State::UnitHostRead), READ - DECODE);
    assert_eq!(waits(third, State::UnitReRead), READ);
    assert_eq!(waits(third, State::UnitHostRead), 2 * READ);
}

#[test]
fn reads_and_re_reads_disturb_their_block_until_it_is_erased() {
    let mut bench = filled(&[&errors(0.5, 10.0), &[ladder(9)]]);
    let re_reads = |bench: &mut Bench, page: u64| {
        let before = bench.device.counters().commands(OpKind::Read, Holder::ReRead);
        bench.alone(Kind::Read, page * PAGE, PAGE);
        bench.device.counters().commands(OpKind::Read, Holder::ReRead) - before
    };
    // Before the ninth read of block 5 there are 80 expected errors.
    for read in 0..8 {
        assert_eq!(re_reads(&mut bench, 80 + read), 0, "{read}");
    }
    assert_eq!(re_reads(&mut bench, 80), 1);
    // Ten reads by now, then 12 and 14; after 16 reads 160 errors take two re-reads.
    for expected in [1, 1, 1, 2] {
        assert_eq!(re_reads(&mut bench, 81), expected);
    }
    assert_eq!(re_reads(&mut bench, 96), 0, "another block is not disturbed");
}

#[test]
fn moves_disturb_their_source_and_begin_a_block_anew() {
    let scrub = [set("ftl.scrub.interval", "100 ms"), set("ftl.scrub.choice", "oldest")];
    let mut bench = filled(&[&errors(0.5, 10.0), &scrub]);
    bench.until(150 * MS);
    // 16 rows of block 0 were sensed one after the other, and those that could not be decoded again,
    // which disturbs the next rows further.
    let read = |bench: &Bench, holder| bench.device.counters().commands(OpKind::Read, holder);
    assert_eq!(read(&bench, Holder::Scrub), 16);
    let mut reads = 0u64;
    let mut again = 0;
    for _ in 0..16 {
        let mut errors = (0.5 + 10.0 * reads as f64) as u64;
        reads += 1;
        while errors > 75 {
            errors /= 2;
            reads += 1;
            again += 1;
        }
    }
    assert_eq!(read(&bench, Holder::ReRead), again);
    // The data is in another block, which was not read since.
    let moved = bench.submit(150 * MS, Kind::Read, 0, PAGE);
    bench.until(160 * MS);
    assert_eq!(bench.done(moved).latency(), READ + DECODE);
}

#[test]
fn a_move_that_fails_poisons_its_unit_until_it_is_written() {
    let scrub = [set("ftl.scrub.interval", "10 ms"), set("ftl.scrub.choice", "oldest")];
    let mut bench = filled(&[&errors(200.5, 0.0), &[ladder(0)], &scrub]);
    let read = bench.submit(0, Kind::Read, 0, PAGE);
    bench.until(9 * MS);
    assert_eq!((bench.done(read).failed, bench.device.ftl().poisoned_units()), (1, 0));
    // Block 0 is moved, and none of its 16 units can be read.
    bench.until(19 * MS);
    assert_eq!(bench.device.ftl().poisoned_units(), 16);
    let sensed = |bench: &Bench| bench.device.counters().commands(OpKind::Read, Holder::HostRead);
    let before = sensed(&bench);
    let poisoned = bench.submit(19 * MS, Kind::Read, 0, 2 * PAGE);
    bench.until(19 * MS);
    assert_eq!((bench.done(poisoned).failed, bench.done(poisoned).latency()), (2, 0));
    assert_eq!((bench.done(poisoned).unmapped, sensed(&bench)), (0, before), "nothing is sensed");
    // Written as a whole, it is sensed again, and fails as all flash of this drive does.
    let write = bench.submit(19 * MS, Kind::Write, 0, PAGE);
    bench.until(20 * MS - 300 * US);
    assert!(bench.is_done(write));
    assert_eq!(bench.device.ftl().poisoned_units(), 15);
    let healed = bench.submit(20 * MS - 300 * US, Kind::Read, 0, PAGE);
    bench.until(20 * MS - 1);
    assert_eq!(bench.done(healed).latency(), READ + DECODE);
    let unrecovered = bench.device.errors().expect("flash has errors").unrecovered;
    assert_eq!(unrecovered[Holder::Scrub as usize], 16);
    assert_eq!(unrecovered[Holder::HostRead as usize], 2, "poison does not count");
}

#[test]
fn a_partial_write_keeps_the_poison_of_what_it_cannot_read() {
    let mut bench = filled(&[&errors(200.5, 0.0), &[ladder(0)]]);
    bench.alone(Kind::Write, 0, 512);
    assert_eq!(bench.device.ftl().poisoned_units(), 1);
    assert_eq!(bench.alone(Kind::Read, 0, PAGE).failed, 1);
    bench.alone(Kind::Write, 0, PAGE);
    assert_eq!(bench.device.ftl().poisoned_units(), 0);
}

/// A drive whose first block was moved when none of its 16 units could be read. Its flash can be read
/// again, because nobody has read the new block so far.
fn moved_in_vain(more: &[Override]) -> Bench {
    let scrub = [set("ftl.scrub.interval", "10 ms"), set("ftl.scrub.choice", "oldest")];
    let mut bench = filled(&[&errors(0.5, 10.0), &[ladder(0)], &scrub, more]);
    for read in 0..8 {
        bench.submit(read * MS, Kind::Read, 0, PAGE);
    }
    bench.until(19 * MS);
    assert_eq!(bench.device.ftl().poisoned_units(), 16);
    bench
}

#[test]
fn the_rest_of_a_poisoned_unit_is_not_read() {
    let mut bench = moved_in_vain(&[]);
    let rests = |bench: &Bench| bench.device.counters().commands(OpKind::Read, Holder::RmwRead);
    bench.submit(19 * MS, Kind::Write, 0, 512);
    bench.until(19 * MS + 500 * US);
    let read = bench.submit(19 * MS + 500 * US, Kind::Read, 0, PAGE);
    bench.until(19 * MS + 500 * US);
    assert_eq!((rests(&bench), bench.done(read).failed), (0, 1));
    assert_eq!(bench.device.ftl().poisoned_units(), 16);
}

#[test]
fn a_read_that_waits_for_a_poisoned_unit_fails_as_well() {
    let mut bench = moved_in_vain(&[set("buffer.read_hits", "false")]);
    bench.submit(19 * MS, Kind::Write, 0, 512);
    let read = bench.submit(19 * MS + 10 * US, Kind::Read, 0, PAGE);
    bench.until(19 * MS + 500 * US);
    assert_eq!(bench.done(read).failed, 1);
}

#[test]
fn soft_decoding_takes_its_senses_and_its_time() {
    let soft_decoding =
        [set("nand.errors.soft_decoding", "{ corrects = 100, senses = 3, decode = \"40 us\" }")];
    // 190 errors: 95 after a re-read, which soft decoding corrects. 210: 105, which it does not.
    for (expected, failed) in [(190.5, 0), (210.5, 1)] {
        let mut bench = filled(&[&errors(expected, 0.0), &[ladder(1)], &soft_decoding]);
        let read = bench.alone(Kind::Read, 0, PAGE);
        assert_eq!(read.failed, failed, "{expected}");
        // The first read and the re-read are decoded in vain; of the senses of soft decoding, the
        // next begins when the data of the last has come.
        let expected = 2 * (READ + DECODE) + 3 * READ + 40 * US;
        assert_eq!(read.latency(), expected);
        let errors = bench.device.errors().expect("flash has errors");
        assert_eq!(errors.soft_decodings[Holder::HostRead as usize], 1);
    }
}

#[test]
fn blocks_begin_with_their_cycles_and_age() {
    let begin = |more: &[Override]| {
        let chip = [
            set("nand.errors.chip", "mlc-2y-nm"),
            set("nand.errors.codeword", "512 B"),
            set("nand.errors.re_read_scale", 2.0),
        ];
        let mut bench = filled(&[&chip, more]);
        bench.alone(Kind::Read, 0, PAGE);
        bench.device.errors().expect("flash has errors").mean_errors().expect("a read")
    };
    let mlc = Chip::Mlc2yNm.mechanisms();
    let cycles = set("nand.errors.initial_cycles", 10_000);
    for days in [0, 30, 60, 90] {
        let age = set("nand.errors.initial_age", format!("{} s", days * 86_400));
        let expected = 4096.0 * mlc.rate(10_000, f64::from(days), 0);
        let got = begin(&[cycles.clone(), age]);
        // The read itself takes 125 us.
        assert!((got / expected - 1.0).abs() < 1e-6, "{days} days: {got} {expected}");
    }
    let fresh = 4096.0 * mlc.rate(0, 0.0, 0);
    assert!((begin(&[]) / fresh - 1.0).abs() < 1e-6);
}

#[test]
fn re_reads_of_a_block_are_counted_until_its_erase_and_kept_in_snapshots() {
    let scrub = [set("ftl.scrub.interval", "100 ms"), set("ftl.scrub.choice", "oldest")];
    let fill = [set("precondition.fill", "sequential")];
    let experiment = experiment(BY_HAND, &[&errors(150.5, 0.0)[..], &scrub, &fill].concat());
    let mut bench = Bench::of(&experiment);
    for page in [0, 1, 80] {
        bench.submit(page * MS, Kind::Read, page * PAGE, PAGE);
    }
    bench.until(99 * MS);
    let counted = |device: &Device| [0, 5].map(|block| device.ftl().re_reads(ftl::BlockId(block)));
    assert_eq!(counted(&bench.device), [2, 1]);
    let copy = bench.device.clone();
    let kept = drive::Snapshot::of(copy, &experiment.drive, None, 1, &Default::default());
    let device = kept.unwrap().device(&experiment.drive, 1).unwrap();
    assert_eq!(counted(&device), [2, 1]);
    bench.until(150 * MS);
    assert_eq!(counted(&bench.device), [0, 1], "block 0 was scrubbed");
}

#[test]
fn snapshots_keep_ages_and_reads() {
    let more = [
        set("nand.errors.chip", "mlc-2y-nm"),
        set("nand.errors.codeword", "512 B"),
        set("nand.errors.re_read_scale", 2.0),
        set("nand.errors.initial_cycles", 10_000),
        set("nand.errors.initial_age", "720 h"),
        set("precondition.fill", "sequential"),
    ];
    let experiment = experiment(BY_HAND, &more);
    let mut bench = Bench::of(&experiment);
    let day = 86_400_000 * MS;
    // Block 0 is read; a page is written anew after a day, into a new block.
    bench.submit(0, Kind::Read, 0, PAGE);
    bench.submit(day, Kind::Write, 700 * PAGE, PAGE);
    bench.until(3 * day);
    let device = std::mem::replace(&mut bench.device, Device::new(&experiment.drive, 1));
    let kept = drive::Snapshot::of(device, &experiment.drive, None, 1, &Default::default());
    let device = kept.unwrap().device(&experiment.drive, 1).unwrap();
    let mut bench = Bench::of(&experiment);
    bench.device = device;
    bench.device.audit();
    let mlc = Chip::Mlc2yNm.mechanisms();
    let mut read = |offset: u64| {
        let errors = |bench: &Bench| {
            let of = bench.device.errors().expect("flash has errors");
            of.mean_errors().unwrap_or(0.0) * of.first_decodes() as f64
        };
        let before = errors(&bench);
        let now = bench.device.now().as_ns();
        bench.submit(now, Kind::Read, offset, PAGE);
        bench.until(now + MS);
        (errors(&bench) - before) / 8.0
    };
    for (offset, days, reads) in [(0, 33.0, 1), (16 * PAGE, 33.0, 0), (700 * PAGE, 2.0, 0)] {
        let (expected, got) = (4096.0 * mlc.rate(10_000, days, reads), read(offset));
        assert!((got / expected - 1.0).abs() < 1e-5, "{offset}: {got} {expected}");
    }
}

/// Uniform reads of a page of a filled drive with the errors of TLC.
fn reads_of_tlc(more: &[Override]) -> drive::Run {
    let text = "[[workload]]\nname = \"reads\"\nreads = \"100 %\"\nsize = \"4 KiB\"\nqueue_depth = 1\n[run]\nrequests = 30000\n";
    let tlc = [
        set("nand.errors.chip", "tlc-72-layer"),
        set("nand.errors.codeword", "512 B"),
        set("nand.errors.re_read_scale", 2.0),
        set("nand.errors.initial_cycles", 5_000),
        set("precondition.fill", "sequential"),
        set("run.audit", false),
    ];
    run_fast(&experiment(text, &[&tlc, more].concat()))
}

#[test]
fn failures_that_are_counted_are_those_that_are_expected() {
    // 48 blocks are read about 600 times each: from 67 to 82 expected errors a codeword.
    for (re_reads, corrects, words) in [(0, 75, 8), (0, 75, 1), (1, 46, 8), (1, 55, 8)] {
        let run = reads_of_tlc(&[
            set("nand.errors.corrects", corrects),
            set("nand.errors.codewords_per_page", words),
            ladder(re_reads),
        ]);
        let errors = run.measured().errors().expect("flash has errors");
        let failed = errors.unrecovered[Holder::HostRead as usize] as f64;
        assert!(errors.expected > 30.0, "{}", errors.expected);
        // A sum of independent draws has at most the variance of a Poisson distribution.
        let deviation = errors.expected.sqrt();
        assert!((failed - errors.expected).abs() < 3.0 * deviation, "{failed} {}", errors.expected);
        assert_eq!(stats(&run, 0, Kind::Read).failed_units as f64, failed);
    }
}

#[test]
fn a_code_that_corrects_everything_runs_like_flash_without_errors() {
    let text = "[[workload]]\nname = \"mixed\"\nreads = \"50 %\"\nsize = \"4 KiB\"\nqueue_depth = 4\n[run]\nrequests = 20000\n";
    let filled = [set("precondition.fill", "sequential"), set("run.audit", false)];
    let errors = [
        set("nand.errors.chip", "tlc-72-layer"),
        set("nand.errors.codeword", "512 B"),
        set("nand.errors.re_read_scale", 2.0),
        set("nand.errors.initial_cycles", 5_000),
    ];
    let without = run_fast(&experiment(text, &filled));
    let with = run_fast(&experiment(text, &[&filled[..], &errors].concat()));
    assert_eq!(with.device().digest(), without.device().digest());
    assert_eq!(with.measured().counters(), without.measured().counters());
    let of = with.measured().errors().expect("flash has errors");
    assert!(of.mean_errors() > Some(67.0) && of.re_reads == [0; metrics::HOLDERS]);
}

#[test]
fn first_decodes_of_hosts_are_counted_apart_from_those_of_the_drive() {
    // Collection and partial writes read, too. Every page has eight codewords of its 4 KiB.
    let text = "[[workload]]\nname = \"mixed\"\nreads = \"50 %\"\nsize = \"2 KiB\"\nqueue_depth = 4\n[run]\nrequests = 20000\n[run.warm_up]\nrequests = 5000\n";
    let run = run_fast(&experiment(
        text,
        &[
            set("nand.errors.chip", "tlc-72-layer"),
            set("nand.errors.codeword", "512 B"),
            set("nand.errors.re_read_scale", 2.0),
            set("nand.errors.initial_cycles", 5_000),
            set("precondition.fill", "random"),
            set("precondition.age.overwrites", 1.0),
            set("run.audit", false),
        ],
    ));
    let (of, counters) =
        (run.measured().errors().expect("flash has errors"), run.measured().counters());
    let planes = |holder| counters.planes(OpKind::Read, holder);
    // All reads transfer whole mapping units, which are pages here. Commands are counted when they begin
    // and codewords when they end: at both ends of the count a few reads are under way.
    let are_of = |words: u64, reads: u64| words.abs_diff(8 * reads) <= 8 * 8;
    assert!(are_of(of.host.codewords(), planes(Holder::HostRead)), "{}", of.host.codewords());
    let others = [Holder::RmwRead, Holder::GcRead].map(planes);
    assert!(others[0] > 1_000 && others[1] > 1_000, "{others:?}");
    assert!(are_of(of.internal.codewords(), others.iter().sum()), "{}", of.internal.codewords());
    // The parts are whole distributions, with the mean of their rates.
    for first in [&of.host, &of.internal] {
        let by_errors = first.by_errors();
        let words: f64 = by_errors.iter().sum();
        let errors: f64 = by_errors.iter().zip(0u32..).map(|(words, n)| words * f64::from(n)).sum();
        let (count, mean) = (first.codewords() as f64, first.mean_errors().expect("some"));
        assert!((words / count - 1.0).abs() < 1e-6, "{words} {count}");
        assert!((errors / words / mean - 1.0).abs() < 1e-3, "{errors} {words} {mean}");
    }
}

// ---- rebuilds from the rest of a stripe -------------------------------------------

/// Superblocks of eight dies on a channel each, all of whose rows have parity; pages of which a stripe
/// of seven holds the first seven.
pub fn striped(parts: &[&[Override]]) -> Vec<Override> {
    striped_by("{ host = 8, collection = 8 }", parts)
}

pub fn striped_by(width: &str, parts: &[&[Override]]) -> Vec<Override> {
    let own = [
        set("geometry.channels", 8),
        set("ftl.allocation.streams", "separate"),
        set("ftl.superblock", format!("{{ dies = 8, width = {width}, xor = \"3 us\" }}")),
        set("ftl.over_provisioning.reserved", "40 %"),
    ];
    [&[&own[..]], parts].concat().concat()
}

/// A page cannot be read once its erase block has been read before.
fn read_once(more: &[Override]) -> Vec<Override> {
    striped(&[&errors(0.0, 80.5), &[ladder(0)], more])
}

pub fn rebuilds(bench: &Bench) -> [u64; 3] {
    let of = bench.device.errors().expect("flash has errors");
    let host = Holder::HostRead as usize;
    [of.rebuilds[host], of.read_for_rebuilds, of.rebuild_failures[host]]
}

#[test]
fn what_cannot_be_decoded_is_computed_from_the_rest_of_its_stripe() {
    let mut bench = Bench::new(&read_once(&[]));
    bench.alone(Kind::Write, 0, 7 * PAGE);
    assert_eq!(bench.alone(Kind::Read, 0, PAGE).latency(), READ + DECODE);
    // The other seven members are on dies and channels of their own.
    let read = bench.alone(Kind::Read, 0, PAGE);
    assert_eq!(read.latency(), 2 * (READ + DECODE) + 3 * US);
    assert_eq!((read.of(State::Xor), read.of(State::Decode)), (3 * US, 2 * DECODE));
    assert_eq!((read.of(State::Sense), read.of(State::Transfer)), (50 * US, 200 * US));
    assert_eq!((read.failed, rebuilds(&bench)), (0, [1, 7, 0]));
    // By now every erase block has been read, so that no page of the stripe can be rebuilt.
    let read = bench.alone(Kind::Read, PAGE, PAGE);
    assert_eq!((read.failed, rebuilds(&bench)), (1, [2, 14, 1]));
    assert_eq!(bench.device.counters().commands(OpKind::Read, Holder::Rebuild), 14);
}

#[test]
fn members_that_are_in_memory_are_not_read() {
    for (pages, members) in [(1, 0), (3, 2), (6, 5)] {
        let mut bench = Bench::new(&read_once(&[]));
        bench.alone(Kind::Write, 0, pages * PAGE);
        bench.alone(Kind::Read, 0, PAGE);
        let read = bench.alone(Kind::Read, 0, PAGE);
        assert_eq!((read.failed, rebuilds(&bench)), (0, [1, members, 0]), "{pages} pages");
        let beside = if members > 0 { READ + DECODE } else { 0 };
        assert_eq!(read.latency(), READ + DECODE + beside + 3 * US);
    }
}

#[test]
fn members_are_re_read_but_not_rebuilt() {
    let mut bench = Bench::new(&striped(&[&errors(0.0, 80.5), &[ladder(1)]]));
    bench.alone(Kind::Write, 0, 7 * PAGE);
    // 80 errors take a re-read; then 161 do, and 241 are too many for one.
    for (latency, rebuilt) in [(1, 0), (2, 0), (3, 1)] {
        let read = bench.alone(Kind::Read, 0, PAGE);
        let xor = if rebuilt > 0 { 3 * US } else { 0 };
        assert_eq!(read.latency(), latency * (READ + DECODE) + xor);
        assert_eq!((read.failed, rebuilds(&bench)), (0, [rebuilt, 7 * rebuilt, 0]));
    }
    // All others were read once, so that each of them is read twice now.
    let read = bench.alone(Kind::Read, 0, PAGE);
    assert_eq!(read.latency(), 4 * (READ + DECODE) + 3 * US);
    assert_eq!((read.failed, rebuilds(&bench)), (0, [2, 14, 0]));
}

#[test]
fn conditional_re_reads_depend_on_parity() {
    let policy = |text: &str| [set("ftl.read_recovery", text)];
    let conditional = policy("{ policy = \"conditional\", protected = 0, unprotected = 9 }");
    let of = |width: &str| {
        let mut bench = Bench::new(&striped_by(width, &[&errors(0.0, 80.5), &conditional]));
        bench.alone(Kind::Write, 0, 7 * PAGE);
        bench.alone(Kind::Read, 0, PAGE);
        bench.alone(Kind::Read, 0, PAGE);
        let re_reads = bench.device.errors().expect("flash has errors").re_reads;
        (rebuilds(&bench)[0], re_reads[Holder::HostRead as usize])
    };
    assert_eq!(of("{ host = 8, collection = 8 }"), (1, 0));
    assert_eq!(of("{ collection = 8 }"), (0, 1));
}

#[test]
fn collection_rebuilds_what_it_moves() {
    // Every page of a block is read once by collection; the second page of an erase block fails.
    let text = "[[workload]]\nname = \"writes\"\nreads = \"0 %\"\nsize = \"4 KiB\"\nqueue_depth = 4\n[run]\nrequests = 6000\n";
    let (law, fill) = (errors(0.0, 20.0), [set("precondition.fill", "sequential")]);
    let run = run_fast(&experiment(text, &striped(&[&law, &[ladder(0)], &fill])));
    let errors = run.measured().errors().expect("flash has errors");
    let gc = Holder::GcRead as usize;
    assert!(errors.rebuilds[gc] > 100, "{:?}", errors.rebuilds);
    assert_eq!(errors.unrecovered[gc] > 0, errors.rebuild_failures[gc] > 0);
    assert!(run.device().ftl().poisoned_units() as u64 <= errors.unrecovered[gc]);
}

/// A stripe fails with p (1 - (1 - p)^s), for drawn errors and equal members.
#[test]
fn stripes_fail_with_the_probability_of_two_members() {
    let text = "[[workload]]\nname = \"reads\"\nreads = \"100 %\"\nsize = \"4 KiB\"\nqueue_depth = 1\n[run]\nrequests = 20000\n";
    let law = errors(63.0, 0.0);
    let drawn = [
        set("nand.errors.counting", "drawn"),
        set("precondition.fill", "sequential"),
        set("run.audit", false),
    ];
    let run = run_fast(&experiment(text, &striped(&[&law, &[ladder(0)], &drawn])));
    let errors = run.measured().errors().expect("flash has errors");
    let word = nand::errors::Binomial::new(4096).more_than(75, 63.0 / 4096.0);
    let p = 1.0 - (1.0 - word).powi(8);
    let failing = p * (1.0 - (1.0 - p).powi(7));
    let (reads, host) = (20_000.0, Holder::HostRead as usize);
    let close = |counted: u64, probability: f64| {
        let deviation = (reads * probability * (1.0 - probability)).sqrt();
        let expected = reads * probability;
        assert!((counted as f64 - expected).abs() < 3.0 * deviation, "{counted} {expected}");
    };
    assert!(p > 0.2 && p < 0.8, "{p}");
    close(errors.rebuilds[host], p);
    close(errors.unrecovered[host], failing);
    // All pages have the same rate, and are in whole stripes, but for the open row.
    assert!((errors.expected / (reads * failing) - 1.0).abs() < 0.01, "{}", errors.expected);
}

/// Other lanes of a superblock have other rates, and so have the pages of a lane. A sum of independent draws
/// has at most the variance of a Poisson distribution.
#[test]
fn members_of_superblocks_count_with_their_own_rates() {
    let text = "[[workload]]\nname = \"reads\"\nreads = \"100 %\"\nsize = \"4 KiB\"\nqueue_depth = 1\n[run]\nrequests = 20000\n";
    let drawn = [
        set("nand.errors.counting", "drawn"),
        set("nand.errors.spread.blocks", "30 %"),
        set("nand.errors.spread.pages", "10 %"),
        set("precondition.fill", "sequential"),
        set("run.audit", false),
    ];
    let run = run_fast(&experiment(text, &striped(&[&errors(44.0, 0.0), &[ladder(0)], &drawn])));
    let errors = run.measured().errors().expect("flash has errors");
    let failed = errors.unrecovered[Holder::HostRead as usize] as f64;
    assert!(errors.expected > 30.0, "{}", errors.expected);
    let deviation = errors.expected.sqrt();
    assert!((failed - errors.expected).abs() < 3.0 * deviation, "{failed} {}", errors.expected);
}
