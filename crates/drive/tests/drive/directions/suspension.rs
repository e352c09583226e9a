//! Suspension of erases and programs for reads.

use crate::common::{self, Bench, Override, set};
use crate::directions::case::{Case, Scene, case};
use crate::directions::requests::{PAGE, US};
use crate::directions::scheduler::{collecting, find_outside, functions};
use crate::poised::{page, shape};
use host::Kind;

/// Three steps of 50 us of ramp, 300 of execution, 100 of recovery and 50 of verify.
const ERASE: &str =
    "{ steps = 3, ramp = '50 us', execute = '300 us', recover = '100 us', verify = '50 us' }";
/// Four steps of a program of 200 us, of which 30 execute.
const PROGRAM: &str = "{ steps = 4, ramp = '5 us', recover = '10 us', verify = '5 us' }";

/// Answers to reads at 1000 and 1400 us, and the end of the erase, in us.
fn reads_beside_an_erase(scene: &Scene) -> [u64; 3] {
    let (mut bench, start) = collecting(scene);
    let reads = [(1_000, 1), (1_400, 2)]
        .map(|(at, number)| bench.submit(start + at * US, Kind::Read, page(0, number), PAGE));
    let end = bench.settle();
    let [first, second] = reads.map(|read| (bench.done(read).finished - start) / US);
    [first, second, (end - start) / US]
}

fn of_erases(parameter: &'static str, more: &[Override]) -> Case {
    case(parameter)
        .filled()
        .given(&shape(&[&[set("nand.erase", ERASE)], more].concat()))
        .see("two reads beside an erase and the erase's end, us", reads_beside_an_erase)
}

/// Answers to reads at 220 and 400 us, and to a write that is programmed from 100 on.
fn reads_beside_a_program(scene: &Scene) -> [u64; 3] {
    let mut experiment = scene.experiment();
    find_outside(&mut experiment);
    let mut bench = Bench::of(&experiment);
    let write = bench.submit(0, Kind::Write, 20 * PAGE, PAGE);
    let reads = [(220, 1), (400, 2)]
        .map(|(at, number)| bench.submit(at * US, Kind::Read, number * PAGE, PAGE));
    bench.settle();
    [reads[0], reads[1], write].map(|tag| bench.done(tag).finished / US)
}

fn of_programs(parameter: &'static str, more: &[Override]) -> Case {
    case(parameter)
        .filled()
        .given(more)
        .see("two reads beside a program and the program's end, us", reads_beside_a_program)
}

/// The moment at which a write is on flash that reads its other half first, from 1000 us on.
fn a_partial_write_beside_an_erase(scene: &Scene) -> u64 {
    let (mut bench, start) = collecting(scene);
    let write = bench.submit(start + 1_000 * US, Kind::Write, page(0, 1), PAGE / 2);
    bench.settle();
    (bench.done(write).finished - start) / US
}

/// The moment at which a write is on flash that reads its other half first, from 220 us on, beside
/// a program from 100 to 300.
fn a_partial_write_beside_a_program(scene: &Scene) -> u64 {
    let mut bench = scene.bench();
    bench.submit(0, Kind::Write, 20 * PAGE, PAGE);
    let write = bench.submit(220 * US, Kind::Write, PAGE, PAGE / 2);
    bench.settle();
    bench.done(write).finished / US
}

/// End of the erase, in us, if a read comes at 900 and GC is not in the foreground.
fn end_of_an_erase(scene: &Scene) -> u64 {
    let (mut bench, start) = collecting(scene);
    bench.submit(start + 900 * US, Kind::Read, page(0, 1), PAGE);
    (bench.settle() - start) / US
}

/// Ends of two erases, of blocks of three invalid pages each, in us, after a write that leaves two
/// blocks free.
fn end_of_two_erases(scene: &Scene) -> u64 {
    let mut bench = scene.bench();
    for number in [0, 1, 2, 4, 8, 9, 10, 12] {
        bench.alone(Kind::Write, page(0, number), PAGE);
    }
    let start = bench.settle();
    bench.submit(start, Kind::Write, page(0, 5), PAGE);
    (bench.settle() - start) / US
}

/// A drive that erases and interrupts all the time: the mean factor of its blocks' error rates in
/// the summary, less 1, divided by the effect of their extra ramps at 1 % for each of 1000.
fn error_rate(scene: &Scene) -> String {
    let experiment = scene.experiment();
    let mut run = common::run(&experiment);
    let checked = drive::check::check(&experiment).expect("it ran");
    let outcome = drive::results::Outcome { host_cpu_seconds: 0.0, complete: true };
    let summary = drive::results::summary(&mut run, &experiment, &checked, &[None, None], outcome);
    let mean = |key: &str| summary["wear"]["suspension"][key]["mean"].as_f64().expect("a mean");
    assert!(mean("extra_ramps") > 0.1, "{}", summary["wear"]);
    let percent = (mean("error_rate_factor") - 1.0) / mean("extra_ramps") * 1000.0 * 100.0;
    format!("{percent:.3} %")
}

pub fn cases() -> Vec<Case> {
    let mut cases = erases();
    let work = "[precondition]\nfill = 'random'\n[[workload]]\nname = 'r'\nreads = '100 %'\n\
                think_time = '200 us'\n[[workload]]\nname = 'w'\nreads = '0 %'\nqueue_depth = 4\n[run]\nrequests = 4000";
    let t_es = "{ policy = 't-es', after = '2 ms' }";
    let interrupted = [set("nand.erase", ERASE), set("scheduler.suspension", t_es)];
    cases.push(
        case("drive.nand.error_rate_per_1000_suspensions")
            .text(work)
            .given(&interrupted)
            .see("what 1000 interruptions add to the error rate", error_rate)
            .under([("14.4 %", "14.400 %"), ("100 %", "100.000 %")])
            .left_out("0.000 %"),
    );
    cases.extend(programs());
    cases
}

fn python(functions: &str, function: &str) -> &'static str {
    format!("{{ policy = 'python', function = '{function}', file = '{functions}' }}").leak()
}

fn erases() -> Vec<Case> {
    let [file, other] = functions();
    // Both wait at 1725, where two steps are done.
    let later = [1_850, 1_975, 2_475];
    // At 1225 the first is read, until 1350; the second waits until 1850.
    let deferred = [1_350, 1_975, 2_475];
    // Cancelled at 1000; resumed at 1225: a verify until 1275, a ramp until 1325, and 75 us of the
    // pulse. Cancelled again at 1400; resumed at 1625.
    let cancelled = [1_225, 1_625, 1_625 + 50 + 1_500];
    // Without a bound: resumed at 1225, a verify and three steps.
    let once = [1_225, 2_775 + 125, 2_775 + 125];
    let suspension = "drive.scheduler.suspension.policy";
    let scheme = |name: &str| set("scheduler.suspension", name);
    let bounded = |key: &'static str| of_erases(key, &[scheme("i-es")]);
    let level = [
        set("ftl.gc.background", "2 blocks"),
        set("ftl.gc.stop", "2 blocks"),
        set("ftl.gc.foreground", "1 block"),
    ];
    let batching = |key: &'static str| {
        let more = [&[set("nand.erase", ERASE)][..], &level].concat();
        case(key).filled().given(&shape(&more)).see("the end of an erase, us", end_of_an_erase)
    };
    vec![
        of_erases(suspension, &[]).at("drive.scheduler.suspension").under([
            ("baseline", [2_350, 2_475, 2_475]),
            ("d-es", deferred),
            ("i-es", cancelled),
            // 225 us were executed by 1000. Resumed at 1225, it executes the other 75 by 1350; its
            // recovery is over at 1450: at 1400 half of that is left. Then the verify.
            ("es", [1_225, 1_450 + 125, 1_575 + 50 + 1_000]),
            ("ideal-es", [1_125, 1_525, 2_475]),
            ("t-es", cancelled),
            ("{ policy = 't-es', after = '500 us' }", [1_225, 1_775 + 125, 1_900 + 1_000]),
            (python(file, "later"), later),
        ]),
        of_erases("drive.scheduler.suspension(t-es).after", &[scheme("t-es")]).under([
            ("1 ms", cancelled),
            ("500 us", [1_225, 1_900, 2_900]),
            ("0 s", deferred),
        ]),
        of_erases("drive.scheduler.suspension(python).function", &[scheme(python(file, "always"))])
            .under([("always", deferred), ("later", later)]),
        of_erases("drive.scheduler.suspension(python).file", &[scheme(python(file, "always"))])
            .under([(file, deferred), (other, later)]),
        bounded("drive.scheduler.suspension_bounds.most")
            .given(&[set("scheduler.suspension_bounds.by", "host-reads")])
            .under([("1", once), ("2", cancelled)])
            .left_out(cancelled),
        bounded("drive.scheduler.suspension_bounds.gap")
            .given(&[set("scheduler.suspension_bounds.by", "host-reads")])
            .under([
                ("0 s", cancelled),
                // Resumed at 1225, it is cancelled at 1500.
                ("275 us", [1_225, 1_600 + 125, 1_725 + 50 + 1_500]),
            ]),
        of_erases("drive.scheduler.suspension_bounds.by", &[scheme("i-es")])
            .see("a partial write beside an erase, us", a_partial_write_beside_an_erase)
            .under([("host-reads", 2_225 + 125 + 300), ("reads", 2_775 + 300)]),
        batching("drive.scheduler.erase_batching.quiet")
            .under([("100 us", 825 + 1_500 + 125), ("300 us", 1_325 + 1_500)]),
        // The first is ready at 725. The second's valid page is read for 125 us and programmed for
        // 300 until then.
        of_erases("drive.scheduler.erase_batching.most", &level)
            .given(&[
                set("scheduler.erase_batching.quiet", "3 ms"),
                set("ftl.gc.stop", "3 blocks"),
                set("geometry.blocks_per_plane", 9),
            ])
            .see("the end of two erases, us", end_of_two_erases)
            .under([("2", 725 + 425 + 2 * 1_500)])
            .left_out(725 + 3_000 + 2 * 1_500),
    ]
}

fn programs() -> Vec<Case> {
    let [file, other] = functions();
    // Three steps are done at 250.
    let waits = [300 + 125, 425 + 125, 300];
    let deferred = [250 + 125, 425 + 125, 425];
    // Cancelled at 220 in its third step, and resumed at 355: a verify until 360, a ramp, the pulse
    // until 395. At 400 its recovery has 5 us to go; then come its verify and the fourth step.
    let cancelled = [230 + 125, 405 + 125, 530 + 5 + 50];
    // Without the second interruption it is over at 460.
    let once = [355, 460 + 125, 460];
    // In the third step 15 us were executed; the other 15 are by 375, and the step is over at
    // 390. The fourth has executed 5 at 400.
    let suspended = [355, 410 + 125, 535 + 5 + 25 + 10 + 5];
    let scheme = |name: &str| {
        [set("nand.program_steps", PROGRAM), set("scheduler.program_suspension", name)]
    };
    let bounded = |key: &'static str| of_programs(key, &scheme("i-es"));
    let host_reads = [set("scheduler.program_suspension_bounds.by", "host-reads")];
    vec![
        of_programs("drive.scheduler.program_suspension.policy", &scheme("baseline"))
            .at("drive.scheduler.program_suspension")
            .under([
                ("baseline", waits),
                ("d-es", deferred),
                ("i-es", cancelled),
                ("es", suspended),
                ("ideal-es", [345, 400 + 125, 525 + 25]),
                ("t-es", cancelled),
                ("{ policy = 't-es', after = '200 us' }", [355, 410 + 125, 535 + 50]),
                (python(file, "never"), waits),
            ]),
        of_programs("drive.scheduler.program_suspension(t-es).after", &scheme("t-es"))
            .under([("1 ms", cancelled), ("0 s", deferred)]),
        of_programs(
            "drive.scheduler.program_suspension(python).function",
            &scheme(python(file, "always")),
        )
        .under([("always", deferred), ("never", waits)]),
        of_programs(
            "drive.scheduler.program_suspension(python).file",
            &scheme(python(file, "never")),
        )
        .under([(file, waits), (other, deferred)]),
        bounded("drive.scheduler.program_suspension_bounds.most")
            .given(&host_reads)
            .under([("1", once), ("2", cancelled)])
            .left_out(cancelled),
        bounded("drive.scheduler.program_suspension_bounds.gap")
            .given(&host_reads)
            // At 250, the end of a step; then not before 525.
            .under([("0 s", cancelled), ("150 us", deferred)]),
        bounded("drive.scheduler.program_suspension_bounds.by")
            .see("a partial write beside a program, us", a_partial_write_beside_a_program)
            .under([("host-reads", 300 + 125 + 300), ("reads", 460 + 300)]),
        of_programs("drive.nand.program_steps.steps", &scheme("i-es"))
            // The second of two steps is cancelled twice.
            .under([("4", cancelled), ("2", [355, 410 + 125, 535 + 5 + 100])]),
        of_programs("drive.nand.program_steps.ramp", &scheme("es"))
            // It has ramped for 20 us, and executes from 380 to 390; 400 is in its verify.
            .under([("5 us", suspended), ("25 us", [355, 400 + 125, 525 + 5 + 50])]),
        of_programs("drive.nand.program_steps.recover", &scheme("i-es"))
            .under([("10 us", cancelled), ("20 us", [240 + 125, 415 + 125, 540 + 5 + 50])]),
        of_programs("drive.nand.program_steps.verify", &scheme("i-es"))
            .under([("5 us", cancelled), ("15 us", [355, 405 + 125, 530 + 15 + 50])]),
    ]
}
