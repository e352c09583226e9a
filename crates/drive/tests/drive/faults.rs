//! Faults of flash: pages, word lines and dies whose data cannot be decoded. Scenes by arithmetic, and
//! shares by the binomial distribution.

use crate::common::{BY_HAND, Bench, Override, experiment, run_fast, set};
use crate::errors::{errors, ladder, rebuilds, striped};
use drive::{Device, OpKind, Run};
use host::Kind;
use metrics::{HOLDERS, Holder, State};
use nand::errors::Fault;

const US: u64 = 1_000;
const MS: u64 = 1_000 * US;
const PAGE: u64 = 4_096;
/// Senses and transfers of a page, and its decoding.
const READ: u64 = 125 * US;
const DECODE: u64 = 10 * US;
const HOST: usize = Holder::HostRead as usize;

/// Flash without bit errors whose code corrects any number of them, with these faults.
fn faults(faults: &str, re_reads: u32) -> Vec<Override> {
    let mut all = errors(0.0, 0.0);
    all.retain(|(key, _)| *key != "nand.errors.corrects");
    all.extend([set("nand.faults", format!("{{ {faults} }}")), ladder(re_reads)]);
    all
}

const FIRST_PAGE: &str = "pages = [{ plane = 0, block = 0, page = 0 }]";

fn faulty(device: &Device) -> [u64; 3] {
    let of = device.errors().expect("flash has errors");
    Fault::ALL.map(|fault| of.faulty[fault as usize][HOST])
}

/// True if a read of a page on its own gets its data.
fn reads(bench: &mut Bench, page: u64) -> bool {
    bench.alone(Kind::Read, page * PAGE, PAGE).failed == 0
}

/// Pages of a filled drive that hosts do not get.
fn lost_pages(bench: &mut Bench) -> Vec<u64> {
    let pages = bench.device.ftl().layout.exported_bytes() / PAGE;
    (0..pages).filter(|page| !reads(bench, *page)).collect()
}

/// Fails unless `count` of `of` draws is within 4.5 deviations of a binomial distribution.
#[track_caller]
fn assert_share(count: usize, of: usize, p: f64) {
    let n = of as f64;
    let deviation = (n * p * (1.0 - p)).sqrt();
    assert!((count as f64 - n * p).abs() < 4.5 * deviation, "{count} of {of}, {p}");
}

#[test]
fn a_faulty_page_is_read_again_up_to_the_limit_and_then_lost() {
    for re_reads in [0, 3] {
        let mut bench = Bench::filled(&faults(FIRST_PAGE, re_reads));
        let read = bench.alone(Kind::Read, 0, PAGE);
        assert_eq!((read.failed, read.latency()), (1, u64::from(re_reads + 1) * (READ + DECODE)));
        assert_eq!(bench.alone(Kind::Read, PAGE, PAGE).latency(), READ + DECODE);
        assert_eq!(faulty(&bench.device), [1, 0, 0]);
        let errors = bench.device.errors().expect("flash has errors");
        assert_eq!((errors.undecoded[HOST], errors.unrecovered[HOST]), (1, 1));
        assert_eq!(errors.re_reads[HOST], u64::from(re_reads));
        // Of two pages, only those of the second have codewords whose errors count.
        assert_eq!((errors.first_decodes(), errors.later_decodes()), (8, 0));
        assert_eq!(errors.expected, 0.0, "no bit error is expected");
    }
}

#[test]
fn a_fault_of_one_plane_costs_the_units_on_that_plane() {
    // Two planes with two mapping units on each of their pages; of the first four units the last one is
    // trimmed. So the move of the others reads two on plane 0, and one on plane 1.
    let two_planes = [
        set("geometry.planes_per_die", 2),
        set("ftl.block_planes", 2),
        set("ftl.unit", "2 KiB"),
        set("concurrency", "{ read = 'die', program = 'die', erase = 'die' }"),
        set("ftl.scrub.interval", "10 ms"),
        set("ftl.scrub.choice", "oldest"),
    ];
    let unit = PAGE / 2;
    for (plane, lost) in [(0, &[0, 1][..]), (1, &[2])] {
        let fault = format!("pages = [{{ plane = {plane}, block = 0, page = 0 }}]");
        let mut bench = Bench::filled(&[&faults(&fault, 0)[..], &two_planes].concat());
        bench.submit(0, Kind::Trim, 3 * unit, unit);
        bench.until(19 * MS);
        assert_eq!(bench.device.ftl().poisoned_units() as usize, lost.len(), "plane {plane}");
        let reads: Vec<u32> =
            (0..3).map(|at| bench.submit(19 * MS, Kind::Read, at * unit, unit)).collect();
        bench.until(20 * MS - 1);
        let failed = (0..3).filter(|at| bench.done(reads[*at as usize]).failed > 0);
        assert_eq!(failed.collect::<Vec<u64>>(), lost, "plane {plane}");
    }
}

#[test]
fn neither_re_reads_nor_soft_decoding_mend_a_fault_but_the_stripe_does() {
    let softly = [
        set("nand.errors.corrects", 75),
        set("nand.errors.soft_decoding", "{ corrects = 4000, senses = 2, decode = \"40 us\" }"),
    ];
    let mut bench = Bench::new(&striped(&[&faults(FIRST_PAGE, 3), &softly]));
    bench.alone(Kind::Write, 0, 7 * PAGE);
    let read = bench.alone(Kind::Read, 0, PAGE);
    // Four attempts, two senses, and the seven other members, which are on dies of their own.
    let attempts = 4 * (READ + DECODE) + 2 * READ + 40 * US;
    assert_eq!((read.failed, read.latency()), (0, attempts + READ + DECODE + 3 * US));
    assert_eq!((read.of(State::Xor), rebuilds(&bench)), (3 * US, [1, 7, 0]));
    assert_eq!(faulty(&bench.device), [1, 0, 0]);
    assert_eq!(bench.device.counters().commands(OpKind::Read, Holder::Rebuild), 7);
    // A member that is faulty fails the rebuild of another one.
    let both = "pages = [{ plane = 0, block = 0, page = 0 }, { plane = 1, block = 0, page = 0 }]";
    let mut bench = Bench::new(&striped(&[&faults(both, 0)]));
    bench.alone(Kind::Write, 0, 7 * PAGE);
    assert_eq!([0, 1, 2].map(|page| reads(&mut bench, page)), [false, false, true]);
    assert_eq!(rebuilds(&bench), [2, 14, 2]);
}

#[test]
fn a_listed_fault_begins_with_the_erases_that_it_says() {
    let listed = |from: u32| {
        let of = format!("pages = [{{ plane = 0, block = 0, page = 3, from_erases = {from} }}]");
        let mut bench = Bench::filled(&faults(&of, 0));
        let early = lost_pages(&mut bench);
        // Each round writes more than the flash holds, so that block 0 has been erased and filled.
        for page in 0..2 * 768 {
            bench.alone(Kind::Write, page % 768 * PAGE, PAGE);
        }
        let erases = bench.device.ftl().erases_of(ftl::BlockId(0));
        assert!(erases > 0);
        (early, erases, lost_pages(&mut bench).len())
    };
    let (early, erases, late) = listed(0);
    assert_eq!((early, late), (vec![3], 1));
    assert_eq!(listed(erases), (vec![], erases, 1));
    assert_eq!(listed(erases + 1), (vec![], erases, 0));
}

#[test]
fn a_word_line_takes_all_its_pages_with_it() {
    // Pages 2 and 3 of lane 0 are in word line 1 of two bits a cell, or 3 to 5 of three.
    for (cell, pages) in [("mlc", [2, 3].as_slice()), ("tlc", &[3, 4, 5])] {
        let line = "word_lines = [{ plane = 0, block = 0, word_line = 1 }]";
        let mut bench = Bench::filled(&[&faults(line, 1)[..], &[set("nand.cell", cell)]].concat());
        assert_eq!(lost_pages(&mut bench), pages);
        assert_eq!(faulty(&bench.device), [0, pages.len() as u64, 0]);
    }
    let line = "word_lines = [{ plane = 2, block = 0, word_line = 0 }]";
    let mut bench = Bench::new(&striped(&[&faults(line, 1), &[set("nand.cell", "mlc")]]));
    bench.alone(Kind::Write, 0, 28 * PAGE);
    // The pages of lane 2 in the first four rows.
    let is_rebuilt = |bench: &mut Bench, page: u64| {
        let before = rebuilds(bench)[0];
        assert!(reads(bench, page));
        rebuilds(bench)[0] > before
    };
    let rebuilt: Vec<u64> = (0..28).filter(|page| is_rebuilt(&mut bench, *page)).collect();
    assert_eq!(rebuilt, [2, 9]);
}

#[test]
fn a_program_also_ruins_the_earlier_pages_of_its_word_line() {
    let (mut at_once, mut later) = (0, 0);
    for seed in floor::seeds(0, 400) {
        let line = faults("word_line_per_program = '30 %'", 0);
        let more = [set("nand.cell", "mlc"), set("seed", seed)];
        let mut bench = Bench::new(&[&line[..], &more].concat());
        bench.alone(Kind::Write, 0, PAGE);
        let was_there = reads(&mut bench, 0);
        bench.alone(Kind::Write, PAGE, PAGE);
        let [first, second] = [0, 1].map(|page| reads(&mut bench, page));
        assert_eq!(first, second, "seed {seed}: both are in one word line");
        assert!(was_there || !first, "seed {seed}: nothing mends it");
        at_once += usize::from(!was_there);
        later += usize::from(!first);
    }
    assert_share(at_once, 400, 0.3);
    assert_share(later, 400, 1.0 - 0.7 * 0.7);
}

#[test]
fn faults_at_random_are_as_many_as_their_probability_says() {
    let mut bench = Bench::filled(&faults("page_per_program = '5 %'", 0));
    let lost = lost_pages(&mut bench);
    assert_share(lost.len(), 768, 0.05);
    assert_eq!(faulty(&bench.device), [lost.len() as u64, 0, 0]);
    assert_eq!(lost_pages(&mut bench), lost, "nothing changes until they are written again");
    // Snapshots keep them without keeping anything.
    let experiment = experiment(BY_HAND, &faults("page_per_program = '5 %'", 0));
    let copy = bench.device.clone();
    let kept = drive::Snapshot::of(copy, &experiment.drive, None, 1, &Default::default());
    let mut of_snapshot = Bench::of(&experiment);
    of_snapshot.device = kept.unwrap().device(&experiment.drive, experiment.seed).unwrap();
    of_snapshot.device.audit();
    assert_eq!(lost_pages(&mut of_snapshot), lost);
    // Written again, other pages are faulty.
    for page in 0..768 {
        bench.alone(Kind::Write, page * PAGE, PAGE);
    }
    let again = lost_pages(&mut bench);
    assert_share(again.len(), 768, 0.05);
    let both = again.iter().filter(|page| lost.contains(page)).count();
    assert!(both < 16, "{both} of 768 pages, of which a 400th is expected");

    // A full word line of two pages, and of three: 5 of them in a block, and one of a single page.
    for (cell, lines, pages) in [("mlc", 384, 2), ("tlc", 48 * 5, 3)] {
        let line = faults("word_line_per_program = '10 %'", 0);
        let mut bench = Bench::filled(&[&line[..], &[set("nand.cell", cell)]].concat());
        let lost = lost_pages(&mut bench);
        let line_of = |page: &u64| (page / 16, page % 16 / pages);
        let is_whole = |line: &&[u64]| line[0] % 16 < 15 || pages == 2;
        let failed: Vec<_> = lost.chunk_by(|one, next| line_of(one) == line_of(next)).collect();
        let whole: Vec<_> = failed.into_iter().filter(is_whole).collect();
        assert!(whole.iter().all(|line| line.len() as u64 == pages));
        assert_share(whole.len(), lines, 1.0 - 0.9f64.powi(pages as i32));
    }
}

/// Reads and writes of a drive that is full, by four at a time, until GC has moved much of it.
fn mixed(given: &[Override]) -> Run {
    let text = "[[workload]]\nname = \"mixed\"\nreads = \"50 %\"\nsize = \"4 KiB\"\nqueue_depth = 4\n[run]\nrequests = 12000\n";
    let filled = [set("precondition.fill", "sequential")];
    let run = run_fast(&experiment(text, &[given, &filled].concat()));
    run.device().finish_audit().expect("the map is sound");
    run
}

fn unrecovered(run: &Run) -> [u64; HOLDERS] {
    run.measured().errors().expect("flash has errors").unrecovered
}

#[test]
fn a_die_is_lost_from_its_moment_on() {
    let die = "dies = [{ die = 0, at = '10 ms' }]";
    let mut bench = Bench::new(&striped(&[&faults(die, 0)]));
    bench.alone(Kind::Write, 0, 14 * PAGE);
    assert!(reads(&mut bench, 0) && bench.device.now().as_ns() < 10 * MS);
    assert_eq!((faulty(&bench.device), rebuilds(&bench)), ([0; 3], [0; 3]));
    bench.until(10 * MS);
    for page in [0, 7] {
        let read = bench.alone(Kind::Read, page * PAGE, PAGE);
        assert_eq!((read.failed, read.latency()), (0, 2 * (READ + DECODE) + 3 * US));
    }
    assert!(reads(&mut bench, 1));
    assert_eq!((faulty(&bench.device), rebuilds(&bench)), ([0, 0, 2], [2, 14, 0]));
    // What is programmed there now is lost, too: the next row has its parity in lane 5.
    bench.alone(Kind::Write, 0, PAGE);
    let read = bench.alone(Kind::Read, 0, PAGE);
    // Nothing else of its stripe is on flash.
    assert_eq!((read.failed, read.latency()), (0, READ + DECODE + 3 * US));
    assert_eq!(rebuilds(&bench), [3, 14, 0]);
}

/// A stripe never has two members on a die, so that it loses one at most.
#[test]
fn with_parity_nothing_is_lost_with_a_die() {
    for (width, reserved) in [(2, "65 %"), (4, "50 %"), (8, "40 %")] {
        let die = faults("dies = [{ die = 5, at = '200 ms' }]", 1);
        let widths = format!("{{ host = {width}, collection = {width} }}");
        // Half of the flash is parity with a width of 2.
        let more = [set("ftl.over_provisioning.reserved", reserved)];
        let run = mixed(&[&crate::errors::striped_by(&widths, &[&die])[..], &more].concat());
        let errors = run.measured().errors().expect("flash has errors");
        assert!(errors.rebuilds[HOST] > 100, "{width}: {:?}", errors.rebuilds);
        assert!(errors.rebuilds[Holder::GcRead as usize] > 20, "{width}: {:?}", errors.rebuilds);
        assert_eq!(unrecovered(&run), [0; HOLDERS], "{width}");
        assert_eq!(run.device().ftl().poisoned_units(), 0, "{width}");
    }
}

/// Redundancy is the only thing that saves data from a word line or a die: no code, re-read or
/// soft decoding does.
#[test]
fn without_parity_nothing_saves_what_a_word_line_or_a_die_held() {
    let softly = [
        set("nand.errors.corrects", 75),
        set("nand.errors.soft_decoding", "{ corrects = 4000, senses = 1, decode = \"40 us\" }"),
    ];
    for (of, fault) in [
        ("word_line_per_program = '0.2 %'", Fault::WordLine),
        ("dies = [{ die = 5, at = '200 ms' }]", Fault::Die),
    ] {
        let lost = |width: &str| {
            let of = crate::errors::striped_by(width, &[&faults(of, 2), &softly]);
            let more = [set("ftl.over_provisioning.reserved", "60 %"), set("nand.cell", "mlc")];
            let run = mixed(&[&of[..], &more].concat());
            let met = run.measured().errors().expect("flash has errors").faulty[fault as usize];
            assert!(met[HOST] > 20, "{fault:?}: {met:?}");
            assert!(unrecovered(&run)[HOST] <= met[HOST]);
            (unrecovered(&run)[HOST], met[HOST])
        };
        let (without, met) = lost("{}");
        assert_eq!(without, met, "{fault:?}: each is lost");
        // Two word lines of a stripe of eight fail with 7 in 250 of those that fail.
        let (with, met) = lost("{ host = 8, collection = 8 }");
        assert!(with * 8 <= met, "{fault:?}: {with} of {met}");
    }
}

#[test]
fn a_die_may_fail_while_a_read_is_recovered() {
    // 150 errors take one re-read, from 135 us to 260 us, and the die fails before its end.
    for (at, latency, failed) in [(261, 2, 0), (260, 4, 1), (126, 4, 1)] {
        let die = format!("{{ dies = [{{ die = 0, at = '{at} us' }}] }}");
        let more = [ladder(3), set("nand.faults", die)];
        let mut bench = Bench::filled(&[&errors(150.5, 0.0)[..], &more].concat());
        let read = bench.alone(Kind::Read, 0, PAGE);
        assert_eq!((read.failed, read.latency()), (failed, latency * (READ + DECODE)), "{at}");
        assert_eq!(faulty(&bench.device), [0, 0, u64::from(failed)]);
        assert_eq!(bench.device.errors().expect("errors").unrecovered[HOST], u64::from(failed));
    }
}

#[test]
fn a_move_of_a_faulty_page_poisons_its_unit_alone() {
    let scrub = [set("ftl.scrub.interval", "10 ms"), set("ftl.scrub.choice", "oldest")];
    let page = "pages = [{ plane = 0, block = 0, page = 5 }]";
    let mut bench = Bench::filled(&[&faults(page, 1)[..], &scrub].concat());
    bench.until(19 * MS);
    assert_eq!(bench.device.ftl().poisoned_units(), 1);
    let errors = bench.device.errors().expect("flash has errors");
    assert_eq!(errors.unrecovered[Holder::Scrub as usize], 1);
    assert_eq!(errors.faulty[Fault::Page as usize][Holder::Scrub as usize], 1);
    let now = bench.device.now().as_ns();
    let read = bench.submit(now, Kind::Read, 5 * PAGE, PAGE);
    bench.until(now);
    // It is known to be lost, so nothing is sensed.
    assert_eq!((bench.done(read).failed, bench.done(read).latency()), (1, 0));
    assert_eq!(faulty(&bench.device), [0; 3]);
}

#[test]
fn dies_fail_at_random_as_their_rate_says() {
    // A die fails within a second with 1 - 1/e.
    let mut failed = 0;
    for seed in floor::seeds(0, 60) {
        let rate = faults("die_per_hour = 3600.0", 0);
        let dies = [set("geometry.channels", 8), set("seed", seed)];
        let mut bench = Bench::filled(&[&rate[..], &dies].concat());
        bench.until(1_000 * MS);
        // The first eight pages are on eight dies.
        failed += (0..8).filter(|page| !reads(&mut bench, *page)).count();
    }
    assert_share(failed, 480, 1.0 - 1.0 / std::f64::consts::E);
}

#[test]
fn faults_that_never_come_change_nothing() {
    let none = "page_per_program = '0 %', word_line_per_program = '0 %', die_per_hour = 0.0, \
                dies = [{ die = 0, at = '365 d' }]";
    let law = [&errors(60.0, 0.05)[..], &[ladder(9), set("nand.errors.counting", "drawn")]];
    let without = mixed(&striped(&law));
    let with = mixed(&striped(&[&law.concat(), &[set("nand.faults", format!("{{ {none} }}"))]]));
    assert_eq!(with.device().digest(), without.device().digest());
    let [with, without] = [&with, &without].map(|run| run.measured().errors().expect("errors"));
    assert_eq!((with.re_reads, with.expected), (without.re_reads, without.expected));
    assert!(with.re_reads[HOST] > 100);
}

/// Notes of check, and of the results, on a run of reads every 10 ms, with these faults and limits.
fn notes(dies: &str, limits: &str) -> [Vec<String>; 2] {
    let text = format!(
        "[[workload]]\nname = \"reads\"\nreads = \"100 %\"\narrivals = {{ process = \"constant\", rate = \"100 /s\" }}\n[run]\n{limits}\n"
    );
    let filled = [set("precondition.fill", "sequential")];
    let experiment = experiment(&text, &[&faults(dies, 0)[..], &filled].concat());
    let checked = drive::check::check(&experiment).expect("a sound experiment");
    let mut run = run_fast(&experiment);
    let outcome = drive::results::Outcome { host_cpu_seconds: 1.0, complete: true };
    let summary = drive::results::summary(&mut run, &experiment, &checked, &[None], outcome);
    let of_results: Vec<String> =
        serde_json::from_value(summary["notes"].clone()).expect("a list of texts");
    let of_dies = |notes: Vec<String>| notes.into_iter().filter(|note| note.contains("die 0"));
    [of_dies(checked.notes.clone()).collect(), of_dies(of_results).collect()]
}

#[test]
fn a_die_that_fails_after_the_run_is_told() {
    let dies = |ms: u32| format!("dies = [{{ die = 0, at = '{ms} ms' }}]");
    let none: [Vec<String>; 2] = Default::default();
    assert_eq!(notes(&dies(80), "time = \"100 ms\""), none);
    // Nothing arrives from the end of the run on: check knows it, and results repeat it.
    let [check, results] = notes(&dies(100), "time = \"100 ms\"");
    assert_eq!(
        check,
        [
            "die 0 fails at 100 ms (drive.nand.faults.dies[0].at), but the run issues nothing from 100 ms on (run.time): give an earlier moment, or a longer run"
        ]
    );
    assert_eq!(results, check);
    // The fifth read arrives at 40 ms or 50 ms, and ends a run whose length is not known before.
    assert_eq!(notes(&dies(30), "requests = 5"), none);
    let told = [
        "the run ended before die 0 failed at 60 ms (drive.nand.faults.dies[0].at): give an earlier moment, or a longer run",
    ];
    for limits in ["requests = 5", "time = \"100 ms\"\nrequests = 5"] {
        let [check, results] = notes(&dies(60), limits);
        assert!(check.is_empty(), "{check:?}");
        assert_eq!(results, told);
    }
}
