//! Reads that go round collection, and the record of reads that meet it. On the drives here 8 planes
//! make stripes of 7 pages of data and one of parity; a page is read in 25 + 100 us, copied back in 25
//! + 200, and erased in 1500 us. A plane that collects is reserved until its erase has ended.

use crate::common::{Bench, Done, Override, experiment, run_fast, set, stats};
use drive::OpKind;
use engine::Streams;
use ftl::{BinId, BlockId, BlockState};
use host::Kind;
use metrics::{Holder, State};
use std::cell::Cell;
use std::collections::BTreeMap;

const US: u64 = 1_000;
const PAGE: u64 = 4_096;
const SENSE: u64 = 25 * US;
const CARRY: u64 = 100 * US;
pub const ERASE: u64 = 1_500 * US;
const XOR: u64 = 3 * US;

/// Planes of 12 blocks of 8 pages, a third of them used; a plane collects at 2 free blocks.
pub fn drive(channels: u32, more: &[Override]) -> Vec<Override> {
    let shape = [
        set("geometry.channels", channels),
        set("geometry.packages_per_channel", 8 / channels),
        set("geometry.blocks_per_plane", 12),
        set("geometry.pages_per_block", 8),
        set("ftl.over_provisioning.exported", format!("{} B", 7 * 32 * PAGE)),
        set("ftl.allocation.pool", "plane"),
        set("ftl.parity", "{ width = 8, xor = '3 us' }"),
        set("ftl.gc.background", "2 blocks"),
        set("ftl.gc.foreground", "2 blocks"),
        set("ftl.gc.stop", "2 blocks"),
        set("ftl.gc.preemptible", "false"),
        set("ftl.gc.copy_back", "true"),
        set("scheduler.read_routing", "reconstruct"),
        set("buffer.size", "64 KiB"),
    ];
    [&shape[..], more].concat()
}

/// The first page of a stripe. It lies on plane 0, except in every eighth stripe, which has its parity
/// there; the others have theirs on the other planes in turn.
pub fn first_of(stripe: u64) -> u64 {
    7 * stripe * PAGE
}

/// A drive on which only plane 0 collects, at the moment at which it begins to erase the first block
/// with data that it copied. Nothing else is under way.
fn collecting(overrides: &[Override]) -> Bench {
    collect(Bench::filled(overrides))
}

/// As [`collecting`], for a drive that is filled.
pub fn collect(mut bench: Bench) -> Bench {
    bench.device.record_collection();
    let work = |bench: &Bench| {
        let counters = bench.device.counters();
        let copies = counters.commands(OpKind::CopyBack, Holder::GcProgram);
        [copies, counters.commands(OpKind::Erase, Holder::Erase)]
    };
    let mut pages = Streams::new(floor::seed(7)).stream("pages of plane 0");
    for number in 0.. {
        assert!(number < 500, "plane 0 never collects");
        let now = bench.settle();
        let turn = pages.below(28);
        bench.submit(now, Kind::Write, first_of(turn / 7 * 8 + turn % 7), PAGE);
        while bench.step() {
            if work(&bench).iter().all(|count| *count > 0) {
                return bench;
            }
        }
    }
    unreachable!("it collects")
}

/// A read that is submitted now, with what it added to units rebuilt and units read besides.
fn read(bench: &mut Bench, offset: u64, bytes: u64) -> (Done, [u64; 2]) {
    let before = *bench.device.counters();
    let now = bench.device.now().as_ns();
    let tag = bench.submit(now, Kind::Read, offset, bytes);
    bench.until(now + 1);
    let after = bench.device.counters().since(&before);
    while !bench.is_done(tag) {
        bench.step();
    }
    (bench.done(tag).clone(), [after.rebuilt, after.read_beside])
}

#[test]
fn a_rebuilt_read_takes_as_long_as_its_slowest_member_and_the_computation() {
    // On channels of their own, all members are read at the same time. On one channel, one is
    // transferred after the other.
    for (channels, slowest) in [(8, SENSE + CARRY), (2, SENSE + 4 * CARRY), (1, SENSE + 7 * CARRY)]
    {
        let mut bench = collecting(&drive(channels, &[]));
        let (done, counts) = read(&mut bench, first_of(5), PAGE);
        assert_eq!(counts, [1, 7], "six pages and parity, on {channels} channels");
        assert_eq!(done.latency(), slowest + XOR, "on {channels} channels");
        assert_eq!(done.of(State::Xor), XOR);
        assert!(done.met && !done.blocked);
        bench.finish();
    }
}

#[test]
fn a_read_of_part_of_a_page_reads_that_part_of_the_others() {
    let mut bench = collecting(&drive(8, &[set("nand.codeword", "1 KiB")]));
    let (done, counts) = read(&mut bench, first_of(5) + 1024, 2048);
    assert_eq!(counts, [1, 7]);
    assert_eq!(done.latency(), SENSE + CARRY / 2 + XOR);
    // The end of one page and the beginning of the next: that has to be read as a whole.
    let (done, counts) = read(&mut bench, first_of(5) + 3072, 2048);
    assert_eq!(counts, [1, 6]);
    assert_eq!(done.latency(), SENSE + CARRY + XOR);
    bench.finish();
}

#[test]
fn a_read_of_a_whole_stripe_reads_parity_instead_of_the_page_that_is_held() {
    let mut bench = collecting(&drive(8, &[]));
    let (done, counts) = read(&mut bench, first_of(5), 7 * PAGE);
    assert_eq!((counts, done.latency()), ([1, 1], SENSE + CARRY + XOR));
    // Two stripes, of which both have a page there: their reads share planes.
    let (done, counts) = read(&mut bench, first_of(5), 14 * PAGE);
    assert_eq!((counts, done.latency()), ([2, 2], SENSE + CARRY + SENSE + CARRY + XOR));
    assert!(done.met && !done.blocked);
    // What is not held is read as ever.
    let (done, counts) = read(&mut bench, first_of(5) + PAGE, PAGE);
    assert_eq!((counts, done.latency()), ([0, 0], SENSE + CARRY));
    assert!(!done.met && !done.blocked);
    bench.finish();
}

#[test]
fn a_read_that_does_not_go_round_waits_for_the_end_of_the_collection() {
    let mut bench = collecting(&drive(8, &[set("scheduler.read_routing", "suspend")]));
    let (done, counts) = read(&mut bench, first_of(5), PAGE);
    assert_eq!(counts, [0, 0]);
    assert!(done.met && done.blocked);
    assert_eq!(done.latency(), ERASE + SENSE + CARRY);
    bench.finish();
}

/// A read of one page needs 7 reads besides, of 125 us each: it goes round what is left of an erase
/// if that is more than 875 us. A read of all pages of a stripe needs one besides.
#[test]
fn a_read_goes_round_the_last_erase_as_long_as_that_gains_time() {
    let rests = [(876, true), (875, false), (300, false)];
    for (convert, always) in [("profitable", false), ("always", true)] {
        let routing = format!("{{ policy = 'reconstruct', convert = '{convert}' }}");
        let overrides = drive(8, &[set("scheduler.read_routing", routing)]);
        for (rest, gains) in rests {
            let mut bench = collecting(&overrides);
            let ends = bench.device.now().as_ns() + ERASE;
            bench.until(ends - rest * US);
            let now = bench.device.now().as_ns();
            let (done, counts) = read(&mut bench, first_of(5), PAGE);
            let goes_round = gains || always;
            assert_eq!(counts, if goes_round { [1, 7] } else { [0, 0] }, "{rest} us, {convert}");
            let expected = if goes_round { now + XOR } else { ends };
            assert_eq!(done.finished, expected + SENSE + CARRY, "{rest} us, {convert}");
            assert_eq!(done.blocked, !goes_round);
            bench.finish();
            let mut bench = collecting(&overrides);
            bench.until(ends - rest * US);
            let (_, counts) = read(&mut bench, first_of(5), 7 * PAGE);
            assert_eq!(counts, [1, 1], "it needs parity alone");
            bench.finish();
        }
    }
}

#[test]
fn nothing_is_computed_from_a_stripe_that_is_being_updated() {
    let mut bench = collecting(&drive(8, &[]));
    let now = bench.device.now().as_ns();
    // The write reads the old page and parity first, and programs after that.
    let write = bench.submit(now, Kind::Write, first_of(5) + PAGE, PAGE);
    let (done, counts) = read(&mut bench, first_of(5), PAGE);
    assert_eq!(counts, [0, 0]);
    assert!(done.met && done.blocked && bench.is_done(write));
    bench.finish();
}

/// A write of a page that collection does not hold reads its old page and parity; if parity is held
/// (here its data is on the plane), the other pages of the stripe.
#[test]
fn reads_for_parity_go_round_too() {
    for (routing, reads) in [("suspend", 2), ("reconstruct", 6)] {
        let mut bench = collecting(&drive(8, &[set("scheduler.read_routing", routing)]));
        let reads_of =
            |bench: &Bench| bench.device.counters().commands(OpKind::Read, Holder::Parity);
        let before = reads_of(&bench);
        // The eighth stripe has its parity on plane 0.
        let now = bench.device.now().as_ns();
        bench.submit(now, Kind::Write, first_of(7) + 3 * PAGE, PAGE);
        bench.until(now + 10_000 * US);
        assert_eq!(reads_of(&bench) - before, reads, "{routing}");
        bench.finish();
    }
}

/// Random reads see the drive as it is on average over time (Wolff 1982): the share of single-page
/// reads that meet collection is the share of time for which it holds a plane.
#[test]
fn the_share_of_random_reads_that_meet_collection_is_that_of_the_time_for_which_it_holds_a_plane() {
    const RUNS: u64 = 16;
    let text = "
[[workload]]
name = 'reads'
reads = '100 %'
region = { size = '448 KiB' }
arrivals = { process = 'poisson', rate = '2000 /s' }
[[workload]]
name = 'writes'
reads = '0 %'
region = { offset = '448 KiB' }
arrivals = { process = 'poisson', rate = '1500 /s' }
[run]
time = '4 s'
warm_up.time = '1 s'
";
    let overrides = drive(
        8,
        &[set("scheduler.read_routing", "suspend"), set("precondition.fill", "sequential")],
    );
    let shares = |seed: u64| {
        let mut overrides = overrides.clone();
        overrides.extend([set("seed", seed), set("record.collection", true)]);
        let run = run_fast(&experiment(text, &overrides));
        let (reads, held) = (stats(&run, 0, Kind::Read), run.measured().unit_held().unwrap());
        let met = reads.met as f64 / reads.latency.count() as f64;
        assert!(reads.blocked >= reads.met, "whoever meets it waits");
        [met, held.iter().sum::<f64>() / held.len() as f64]
    };
    let runs: Vec<[f64; 2]> = (1..=RUNS).map(shares).collect();
    let differences: Vec<f64> = runs.iter().map(|[met, held]| met - held).collect();
    let mean = differences.iter().sum::<f64>() / RUNS as f64;
    let squares: f64 = differences.iter().map(|found| (found - mean) * (found - mean)).sum();
    let error = (squares / (RUNS - 1) as f64 / RUNS as f64).sqrt();
    println!("{runs:?}: {mean} +- {error}");
    assert!(runs.iter().all(|[met, _]| *met > 0.05), "reads meet it");
    assert!(error < 0.005, "too few runs: {error}");
    // 99 % of Student's distribution with 15 degrees of freedom.
    assert!(mean.abs() < 2.947 * error, "{mean} +- {error}");
}

// ---- the rest of a hold --------------------------------------------------------------------------

/// Pages that the collection of plane 0 has yet to move.
fn left(bench: &Bench) -> u32 {
    left_on(bench, 0)
}

/// Pages that the collection of a plane has yet to move.
fn left_on(bench: &Bench, plane: u32) -> u32 {
    let ftl = bench.device.ftl();
    let count = ftl.layout.blocks_per_bin();
    let blocks = (plane * count..(plane + 1) * count).map(BlockId);
    let collects = |of: &BlockId| ftl.block_states()[of.0 as usize] == BlockState::Collecting;
    blocks.filter(collects).map(|block| ftl.valid_units(block)).sum()
}

/// Writes pages of plane 0, one after the other, until that is what only its collection is at.
fn reach(bench: &mut Bench, is_it: impl Fn(&Bench) -> bool) {
    let mut pages = Streams::new(floor::seed(7)).stream("pages of plane 0");
    for _ in 0..500 {
        let now = bench.settle();
        let turn = pages.below(28);
        bench.submit(now, Kind::Write, first_of(turn / 7 * 8 + turn % 7), PAGE);
        while bench.step() {
            let working = bench.device.bins_at_collection();
            if is_it(bench) && working.iter().eq([&BinId(0)]) && bench.device.outstanding() == 0 {
                return;
            }
        }
    }
    unreachable!("plane 0 never comes to that");
}

/// A question after each event: does a block begin to be erased?
fn begins_to_erase(bench: &Bench) -> impl Fn(&Bench) -> bool + use<> {
    let count = |bench: &Bench| bench.device.counters().commands(OpKind::Erase, Holder::Erase);
    let seen = Cell::new(count(bench));
    move |bench| count(bench) > seen.replace(count(bench))
}

/// Collection keeps the die until all planes of the victim are erased, one after the other.
#[test]
fn all_commands_that_erase_a_block_belong_to_the_rest_of_the_hold() {
    let two_planes = [
        set("geometry.planes_per_die", 2),
        set("geometry.blocks_per_plane", 8),
        set("ftl.allocation.pool", "die"),
        set("ftl.allocation.stripe", "4 KiB"),
        set("ftl.block_planes", 2),
        set("ftl.erase_planes", 1),
        set("buffer.size", "16 KiB"),
    ];
    // A command lasts 1500 us; the read goes round more than 875 us.
    let moments = [(100, true), (1_200, true), (1_600, true), (2_124, true), (2_125, false)];
    for (us, goes_round) in moments {
        let mut bench = Bench::filled(&drive(8, &two_planes));
        let begins = begins_to_erase(&bench);
        reach(&mut bench, begins);
        let begun = bench.device.now().as_ns();
        bench.until(begun + us * US);
        let (done, counts) = read(&mut bench, first_of(5), PAGE);
        assert_eq!(counts, if goes_round { [1, 7] } else { [0, 0] }, "{us} us");
        let alone = begun + us * US + SENSE + CARRY + XOR;
        let behind = begun + 2 * ERASE + SENSE + CARRY;
        assert_eq!(done.finished, if goes_round { alone } else { behind }, "{us} us");
        bench.finish();
    }
}

/// With `reserve_until = "copied"` the read goes before the erase. What is left is a copy-back of 225
/// us for each page, and the read goes round more than 875 us.
#[test]
fn an_erase_after_the_reservation_does_not_belong_to_the_rest_of_the_hold() {
    let copied =
        [set("ftl.gc.reserve_until", "copied"), set("ftl.gc.victim", "{ policy = 'random' }")];
    for (pages, goes_round) in [(4, true), (3, false), (1, false)] {
        let mut bench = Bench::filled(&drive(8, &copied));
        reach(&mut bench, |bench| left(bench) == pages);
        let now = bench.device.now().as_ns();
        let (done, counts) = read(&mut bench, first_of(5), PAGE);
        assert_eq!(counts, if goes_round { [1, 7] } else { [0, 0] }, "{pages} pages");
        assert!(done.met && done.blocked != goes_round);
        let latest = now + if goes_round { XOR } else { u64::from(pages) * 225 * US };
        assert!(done.finished <= latest + SENSE + CARRY, "{pages} pages");
        bench.finish();
    }
}

/// With `reserve_until = "stop"` the next victim follows at once: a plane that begins to collect with
/// two free blocks and is to have four needs two victims or more.
#[test]
fn victims_that_follow_belong_to_the_rest_of_the_hold() {
    for (stop, goes_round) in [("2 blocks", false), ("3 blocks", true)] {
        let settings = [
            set("ftl.gc.reserve_until", "stop"),
            set("ftl.gc.stop", stop),
            set("buffer.size", "16 KiB"),
        ];
        let mut bench = Bench::filled(&drive(8, &settings));
        let begins = begins_to_erase(&bench);
        reach(&mut bench, |bench| begins(bench) && bench.device.ftl().free_blocks(BinId(0)) == 2);
        let ends = bench.device.now().as_ns() + ERASE;
        bench.until(ends - 300 * US);
        let (done, counts) = read(&mut bench, first_of(5), PAGE);
        assert_eq!(counts, if goes_round { [1, 7] } else { [0, 0] }, "{stop}");
        if goes_round {
            bench.until(ends);
            assert!(!bench.device.bins_at_collection().is_empty(), "another victim follows");
        } else {
            assert_eq!(done.finished, ends + SENSE + CARRY);
        }
        bench.finish();
    }
}

// ---- reads that wait for the write buffer -------------------------------------------------------

/// Without read hits a read waits until its page is on flash. The firmware dispatches it then, when
/// the plane of the page may be held; a write ends at the same moment.
#[test]
fn a_read_behind_the_write_buffer_is_routed_when_its_data_is_on_flash() {
    let routings = [("{ policy = 'reconstruct', convert = 'always' }", true), ("suspend", false)];
    for (routing, may_go_round) in routings {
        let overrides =
            drive(8, &[set("buffer.read_hits", "false"), set("scheduler.read_routing", routing)]);
        let mut bench = Bench::filled(&overrides);
        bench.device.record_collection();
        let mut pages = Streams::new(floor::seed(11)).stream("pages");
        let (mut met, mut least) = (0, u64::MAX);
        for _ in 0..1_500 {
            let now = bench.settle();
            let page = pages.below(7 * 32) * PAGE;
            let write = bench.submit(now, Kind::Write, page, PAGE);
            let before = *bench.device.counters();
            let read = bench.submit(now + 1, Kind::Read, page, PAGE);
            while !bench.is_done(write) {
                bench.step();
            }
            let alone = bench.device.bins_at_collection().len() == 1;
            while !bench.is_done(read) {
                bench.step();
            }
            let rebuilt = bench.device.counters().since(&before).rebuilt;
            let [write, read] = [write, read].map(|tag| bench.done(tag).clone());
            if read.met && !alone {
                continue;
            }
            met += u64::from(read.met);
            assert_eq!(rebuilt, u64::from(read.met && may_go_round));
            let took = read.finished - write.finished;
            if read.met && !may_go_round {
                least = least.min(took);
                assert!(read.blocked);
            } else {
                assert_eq!(took, SENSE + CARRY + rebuilt * XOR, "{routing}, met: {}", read.met);
            }
        }
        println!("{routing}: {met} reads met collection");
        assert!(met > 10, "{met}");
        assert!(may_go_round || least > ERASE, "it waits for all of a collection");
        bench.finish();
    }
}

/// Random writes and reads of several pages, under audit: what they read is what was written.
#[test]
fn reads_behind_the_write_buffer_return_what_was_written() {
    let always = "{ policy = 'reconstruct', convert = 'always' }";
    let tolerant = [set("buffer.durability", "capacitor"), set("ftl.parity.flush", "gc-tolerant")];
    let turns = [set("scheduler.rotation", "rotating")];
    for more in [&[][..], &turns[..], &tolerant[..]] {
        let missing = [set("buffer.read_hits", "false"), set("scheduler.read_routing", always)];
        let mut bench = Bench::filled(&drive(8, &[&missing[..], more].concat()));
        let (mut stream, mut under_way) =
            (Streams::new(floor::seed(4)).stream("commands"), Vec::new());
        for _ in 0..4_000 {
            let now = bench.device.now().as_ns();
            let kinds = [Kind::Write, Kind::Read, Kind::Read, Kind::Trim];
            let kind = kinds[if stream.below(9) == 0 { 3 } else { stream.below(3) as usize }];
            // Reads of data that was written just now wait.
            let (first, pages) = (stream.below(7 * 8 - 7), 1 + stream.below(7));
            under_way.push(bench.submit(now + 10 * US, kind, first * PAGE, pages * PAGE));
            while under_way.len() >= 6 {
                assert!(bench.step());
                under_way.retain(|tag| !bench.is_done(*tag));
            }
        }
        bench.settle();
        let met = bench.completed().iter().filter(|done| done.met).count();
        let rebuilt = bench.device.counters().rebuilt;
        println!("{met} reads met collection, {rebuilt} pages were computed");
        assert!(met > 100 && rebuilt > 20, "{met} {rebuilt}");
        bench.finish();
    }
}

// ---- two members of a stripe ---------------------------------------------------------------------

/// The planes that collect, with the moments at which their erases end, as far as they are known: the
/// erase of a reserved plane begins when its last page is copied.
#[derive(Default)]
struct Collecting {
    erases: u64,
    planes: BTreeMap<u32, (u32, Option<u64>)>,
}

impl Collecting {
    /// Notes what the last event has changed.
    fn watch(&mut self, bench: &Bench) {
        let now = bench.device.now().as_ns();
        let working = bench.device.bins_at_collection();
        self.planes.retain(|plane, _| working.contains(&BinId(*plane)));
        let erases = bench.device.counters().commands(OpKind::Erase, Holder::Erase);
        for BinId(plane) in working {
            let left = left_on(bench, plane);
            let (before, ends) = self.planes.entry(plane).or_insert((left, None));
            if left == 0 && *before > 0 && erases > self.erases {
                *ends = Some(now + ERASE);
            }
            *before = left;
        }
        self.erases = erases;
    }
    /// The two planes that are being erased, if no other collects: the first to end first.
    fn two(&self) -> Option<[(u32, u64); 2]> {
        let ends = self.planes.iter().map(|(plane, (_, ends))| Some((*plane, (*ends)?)));
        let mut ends: Vec<(u32, u64)> = ends.collect::<Option<_>>()?;
        ends.sort_by_key(|(_, ends)| *ends);
        ends.try_into().ok()
    }
}

/// The stripe's page of data on a plane, if its parity is not there.
fn page_on(stripe: u64, plane: u32) -> Option<u64> {
    let (parity, plane) = (7 - stripe % 8, u64::from(plane));
    let place = plane - u64::from(plane > parity);
    (plane != parity).then(|| first_of(stripe) + place * PAGE)
}

/// The rule: of a stripe at most one member is dropped, that which is held for longest. A read of one
/// page does not go round if another member is held for as long, nor if it waits for the other and for
/// seven reads of 125 us longer than for its own plane.
#[test]
fn if_two_members_of_a_stripe_are_held_one_is_dropped_at_most() {
    let mut bench = Bench::filled(&drive(8, &[]));
    let (mut pages, mut found) = (Streams::new(floor::seed(13)).stream("pages"), [0; 4]);
    for round in 0..12_000 {
        let mut watch = Collecting::default();
        for _ in 0..8 {
            let now = bench.device.now().as_ns();
            bench.submit(now, Kind::Write, pages.below(7 * 32) * PAGE, PAGE);
        }
        while bench.device.outstanding() > 0 {
            bench.step();
            watch.watch(&bench);
        }
        let now = bench.device.now().as_ns();
        let two = watch.two().filter(|two| two.iter().all(|(_, ends)| *ends > now));
        let Some([(first, sooner), (last, later)]) = two.filter(|[one, two]| one.1 < two.1) else {
            bench.settle();
            continue;
        };
        let stripe = pages.below(32);
        let (Some(of_first), Some(of_last)) = (page_on(stripe, first), page_on(stripe, last))
        else {
            bench.settle();
            continue;
        };
        let alone = SENSE + CARRY;
        let gains = sooner + 7 * alone < later;
        let (offset, bytes, counts, finished, case) = match round % 3 {
            _ if gains => (of_last, PAGE, [1, 7], sooner + alone + XOR, 1),
            0 => (of_first, PAGE, [0, 0], sooner + alone, 0),
            1 => (of_last, PAGE, [0, 0], later + alone, 2),
            // The page on the first plane is read when its erase has ended, and that on the last one
            // is computed.
            _ => (first_of(stripe), 7 * PAGE, [1, 1], sooner + alone + XOR, 3),
        };
        let (done, counted) = read(&mut bench, offset, bytes);
        assert_eq!((counted, done.finished), (counts, finished), "case {case}");
        assert!(done.blocked);
        found[case] += 1;
        bench.settle();
    }
    println!("{found:?} reads");
    assert!(found.iter().all(|found| *found > 2), "{found:?}");
    bench.finish();
}
