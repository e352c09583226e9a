//! Erases that are suspended for reads, by arithmetic: refused a nanosecond before the safe point,
//! granted on time, and resumed afterwards.

use crate::common::{self, Bench, Override, set};
use crate::errors::errors;
use crate::poised;
use drive::OpKind;
use drive::policies::suspension::Suspension;
use host::Kind;
use metrics::{Holder, State};

const US: u64 = 1_000;
const PAGE: u64 = 4_096;
const STEPS: &str =
    "{ steps = 3, ramp = \"0 us\", execute = \"500 us\", recover = \"0 us\", verify = \"0 us\" }";

/// An erase of three steps of 500 us that begins at 725 us: a write that opens a block is
/// programmed by 300, the one valid page of the victim is read by 425 and programmed by 725.
/// Undisturbed the erase is over at 2225. A read takes 25 us to sense and 100 us on the channel.
fn erasing(overrides: &[Override]) -> (Bench, u64) {
    let all = [&[set("nand.erase", STEPS)], overrides].concat();
    let (mut bench, start) = poised::poised(&all);
    bench.submit(start, Kind::Write, poised::page(0, 5), PAGE);
    (bench, start)
}

fn routed(routing: &str, suspension: &str) -> Vec<Override> {
    vec![
        set("scheduler.read_routing", format!("{{ {routing} }}")),
        set("scheduler.suspension", format!("{{ {suspension} }}")),
    ]
}

fn by_steps() -> Vec<Override> {
    routed("policy = \"suspend\"", "policy = \"d-es\"")
}

/// Answers to reads submitted at `at` (us after the beginning), in us.
fn answered(overrides: &[Override], at: &[u64]) -> (Vec<u64>, Bench) {
    let (mut bench, start) = erasing(overrides);
    let reads: Vec<u32> = at
        .iter()
        .zip(1..)
        .map(|(at, page)| bench.submit(start + at * US, Kind::Read, poised::page(0, page), PAGE))
        .collect();
    bench.settle();
    let finished = reads.iter().map(|tag| (bench.done(*tag).finished - start) / US).collect();
    (finished, bench)
}

#[test]
fn without_suspension_a_read_waits_for_the_whole_erase() {
    let (finished, bench) = answered(&[], &[1_000]);
    assert_eq!(finished, [2_225 + 125]);
    assert_eq!(bench.device.counters().suspensions, 0);
}

#[test]
fn a_re_read_suspends_the_erase_that_resumed_while_the_read_was_decoded() {
    // 150 errors take one re-read.
    let es = routed("policy = \"suspend\"", "policy = \"es\"");
    let (mut bench, start) = erasing(&[&es[..], &errors(150.5, 0.0)].concat());
    while bench.device.counters().commands(OpKind::Erase, Holder::Erase) == 0 {
        assert!(bench.step());
    }
    let now = bench.device.now().as_ns() + 100 * US;
    assert!(now > start);
    let read = bench.submit(now, Kind::Read, poised::page(0, 1), PAGE);
    bench.settle();
    assert_eq!(bench.done(read).latency(), 2 * (125 + 10) * US);
    assert_eq!(bench.device.counters().suspensions, 2);
}

#[test]
fn an_erase_is_suspended_at_the_end_of_its_step() {
    // Steps end at 1225, 1725 and 2225.
    for (at, safe_point) in [(726, 1_225), (1_000, 1_225), (1_224, 1_225), (1_226, 1_725)] {
        let (finished, bench) = answered(&by_steps(), &[at]);
        assert_eq!(finished, [safe_point + 125], "a read at {at} us");
        assert_eq!(bench.device.counters().suspensions, 1);
    }
    // In its last step it is not interrupted any more.
    assert_eq!(answered(&by_steps(), &[1_726]).0, [2_225 + 125]);
}

#[test]
fn to_the_nanosecond() {
    for (at, safe_point) in [(1_225 * US - 1, 1_225), (1_225 * US + 1, 1_725)] {
        let (mut bench, start) = erasing(&by_steps());
        let read = bench.submit(start + at, Kind::Read, poised::page(0, 1), PAGE);
        bench.settle();
        assert_eq!(bench.done(read).finished - start, (safe_point + 125) * US);
        let waited = bench.done(read).of(State::UnitErase);
        assert_eq!(waited, safe_point * US - at, "all of its wait is charged to the erase");
    }
}

#[test]
fn reads_that_wait_at_the_safe_point_go_first_and_later_ones_wait_for_the_next() {
    // Two wait at 1225 and are read by 1475; then the second step goes on until 1975. The
    // third, at 1300, waits for that: the erase is suspended once more.
    let (finished, bench) = answered(&by_steps(), &[1_000, 1_100, 1_300]);
    assert_eq!(finished, [1_350, 1_475, 1_975 + 125]);
    assert_eq!(bench.device.counters().suspensions, 2);
    // Until none waits: the third is read as well, before the second step.
    let drain = [&by_steps()[..], &[set("scheduler.bypass", "drain")]].concat();
    assert_eq!(answered(&drain, &[1_000, 1_100, 1_300]).0, [1_350, 1_475, 1_600]);
}

#[test]
fn a_read_that_waits_when_the_erase_begins_meets_it() {
    // The first is read from 725 to 850, then it is the erase's turn. The second, which has waited
    // since 800, goes at the end of the erase's first step.
    assert_eq!(answered(&by_steps(), &[700, 800]).0, [850, 1_350 + 125]);
    assert_eq!(answered(&[], &[700, 800]).0, [850, 2_350 + 125]);
}

#[test]
fn an_erase_is_suspended_no_more_often_than_allowed() {
    let once = [&by_steps()[..], &[set("scheduler.suspension_bounds", "{ most = 1 }")]].concat();
    // Two steps are left at 1350.
    assert_eq!(answered(&once, &[1_000, 1_400]).0, [1_350, 1_350 + 1_000 + 125]);
    assert_eq!(answered(&by_steps(), &[1_000, 1_400]).0, [1_350, 1_350 + 500 + 125]);
}

#[test]
fn a_read_that_would_not_wait_for_long_does_not_ask() {
    // At 1000 the erase has 1225 us to go, at 1300 it has 925.
    let within = |us: u64| {
        routed(&format!("policy = \"deadline\", within = \"{us} us\""), "policy = \"d-es\"")
    };
    assert_eq!(answered(&within(1_224), &[1_000]).0, [1_350]);
    assert_eq!(answered(&within(1_225), &[1_000]).0, [2_350]);
    // A read that has not asked goes together with one that has.
    assert_eq!(answered(&within(1_100), &[1_000, 1_200]).0, [1_350, 1_475]);
    // A read that came while the erase was suspended is routed at 1350, with 1000 us to go.
    assert_eq!(answered(&within(999), &[1_000, 1_226]).0, [1_350, 1_850 + 125]);
    assert_eq!(answered(&within(1_000), &[1_000, 1_226]).0, [1_350, 2_350 + 125]);
}

#[test]
fn the_erase_is_counted_once_and_only_delayed() {
    let (_, bench) = answered(&by_steps(), &[1_000, 1_300]);
    let erases = |bench: &Bench| {
        let counters = bench.device.counters();
        counters.commands(drive::OpKind::Erase, metrics::Holder::Erase)
    };
    assert_eq!(erases(&bench), 1);
    assert_eq!(erases(&answered(&[], &[1_000, 1_300]).1), 1);
}

#[test]
fn a_write_does_not_take_the_unit_while_an_erase_is_suspended() {
    let (mut bench, start) = erasing(&by_steps());
    let read = bench.submit(start + 1_000 * US, Kind::Read, poised::page(0, 1), PAGE);
    let write = bench.submit(start + 1_100 * US, Kind::Write, poised::page(0, 9), PAGE);
    bench.settle();
    assert_eq!(bench.done(read).finished, start + 1_350 * US);
    // The erase is over at 2350; then 100 us on the channel and 200 us to program.
    assert_eq!(bench.done(write).finished, start + (2_350 + 300) * US);
}

// ---- inside a step ---------------------------------------------------------------------

/// Steps of 50 us of ramp, 300 of execution, 100 of recovery and 50 of verify.
const PHASES: &str = "{ steps = 3, ramp = \"50 us\", execute = \"300 us\", recover = \"100 us\", verify = \"50 us\" }";

/// Answers to reads at `at` (us after the beginning) under a scheme, and the end of the erase, in
/// us: the write that waits for its unit from 1100 on is on flash 300 later.
fn under(scheme: &str, more: &[Override], at: &[u64]) -> (Vec<u64>, u64, Bench) {
    let scheme = set("scheduler.suspension", scheme);
    let (mut bench, start) = erasing(&[&[set("nand.erase", PHASES), scheme], more].concat());
    let mut reads = Vec::new();
    let mut write = None;
    for (at, page) in at.iter().zip((1..9).cycle()) {
        if *at > 1_100 && write.is_none() {
            write = Some(bench.submit(start + 1_100 * US, Kind::Write, poised::page(0, 9), PAGE));
        }
        reads.push(bench.submit(start + at * US, Kind::Read, poised::page(0, page), PAGE));
    }
    let write = write
        .unwrap_or_else(|| bench.submit(start + 1_100 * US, Kind::Write, poised::page(0, 9), PAGE));
    bench.settle();
    let finished = reads.iter().map(|tag| (bench.done(*tag).finished - start) / US).collect();
    let erased = (bench.done(write).finished - start) / US - 300;
    (finished, erased, bench)
}

fn strain(bench: &Bench) -> [u64; 3] {
    let counters = bench.device.counters();
    [counters.suspensions, counters.extra_ramps, counters.extra_pulses]
}

#[test]
fn without_reads_every_scheme_erases_in_the_same_time() {
    for scheme in Suspension::NAMES.iter().filter(|scheme| **scheme != "python") {
        let (_, erased, bench) = under(scheme, &[], &[]);
        assert_eq!(erased, 2_225, "{scheme}");
        assert_eq!(strain(&bench), [0; 3], "{scheme}");
    }
}

/// A read comes at 1000, after 225 us of the first pulse.
#[test]
fn each_scheme_suspends_inside_a_pulse_in_its_own_way() {
    for (scheme, answered, erased, worn) in [
        ("baseline", 2_225 + 125, 2_225, [0, 0, 0]),
        // At the end of its step.
        ("d-es", 1_225 + 125, 2_225 + 125, [1, 0, 0]),
        // 100 of recovery; after the read a ramp, the other 75 of the pulse, recovery, verify.
        ("es", 1_100 + 125, 1_225 + 50 + 75 + 100 + 50 + 1_000, [1, 1, 0]),
        // After the read a verify, and the whole step.
        ("i-es", 1_100 + 125, 1_225 + 50 + 500 + 1_000, [1, 1, 1]),
        ("t-es", 1_100 + 125, 1_225 + 50 + 500 + 1_000, [1, 1, 1]),
        ("ideal-es", 1_000 + 125, 2_225 + 125, [1, 0, 0]),
    ] {
        let (finished, end, bench) = under(scheme, &[], &[1_000]);
        // Under the baseline the read waits with the write, and goes before it.
        let end = if scheme == "baseline" { end - 125 } else { end };
        assert_eq!((finished, end), (vec![answered], erased), "{scheme}");
        assert_eq!(strain(&bench), worn, "{scheme}");
        let counters = bench.device.counters();
        assert_eq!(counters.deferrals, u64::from(scheme == "d-es"), "{scheme}");
        // The victim is chosen when the write opens a block, at its beginning.
        assert_eq!(counters.collections, 1);
        assert_eq!(counters.longest_collection.as_ns() / US, erased, "{scheme}");
    }
}

#[test]
fn each_phase_of_a_step_costs_what_it_must() {
    // The first step ramps until 775, executes until 1075, recovers until 1175 and verifies
    // until 1225; a write comes at 1100.
    for (scheme, at, answered, erased) in [
        // In the ramp: a whole recovery; `i-es` verifies before the whole step.
        ("es", 750, 850 + 125, 975 + 1_500),
        ("i-es", 750, 850 + 125, 975 + 50 + 1_500),
        // In the recovery: its rest, and the verify afterwards.
        ("es", 1_125, 1_175 + 125, 1_300 + 50 + 1_000),
        ("i-es", 1_125, 1_175 + 125, 1_300 + 50 + 1_000),
        // In the verify: at once, and the verify again.
        ("es", 1_200, 1_200 + 125, 1_325 + 50 + 1_000),
        ("i-es", 1_200, 1_200 + 125, 1_325 + 50 + 1_000),
        // At the end of the step: at once, and nothing again.
        ("es", 1_225, 1_225 + 125, 1_350 + 1_000),
        ("i-es", 1_225, 1_225 + 125, 1_350 + 1_000),
        ("d-es", 1_225, 1_225 + 125, 1_350 + 1_000),
        ("ideal-es", 1_200, 1_200 + 125, 1_325 + 25 + 1_000),
    ] {
        let (finished, end, _) = under(scheme, &[], &[at]);
        assert_eq!((finished, end), (vec![answered], erased), "{scheme}, a read at {at} us");
    }
}

#[test]
fn the_last_step_is_suspended_too_where_the_scheme_is_immediate() {
    // It begins at 1725; deferred, it would be over at 2225.
    assert_eq!(under("i-es", &[], &[1_800]).0, [1_900 + 125]);
    assert_eq!(under("d-es", &[], &[1_800]).0, [2_225 + 125]);
}

#[test]
fn reads_that_come_while_it_is_suspended_go_along_where_they_would_interrupt_it_again() {
    // The first is read from 1100 to 1225. The second came meanwhile: if the erase resumed now, it
    // would be interrupted at the same moment, so it lets the second read go as well.
    let (finished, erased, bench) = under("i-es", &[], &[1_000, 1_150]);
    assert_eq!((finished, erased), (vec![1_225, 1_350], 1_350 + 50 + 1_500));
    assert_eq!(strain(&bench), [1, 1, 1], "interrupted once");
    // Deferred, it resumes with its second step: the second read is answered after that.
    let (finished, _, _) = under("d-es", &[], &[1_000, 1_250]);
    assert_eq!(finished, [1_350, 1_850 + 125]);
}

#[test]
fn a_timeout_turns_from_immediate_to_deferred() {
    // The erase begins at 725: at 1000 it is 275 us old.
    let t_es = |after: &str| format!("{{ policy = \"t-es\", after = \"{after}\" }}");
    for (after, answered) in
        [("276 us", 1_225), ("275001 ns", 1_225), ("275 us", 1_350), ("0 s", 1_350)]
    {
        assert_eq!(under(&t_es(after), &[], &[1_000]).0, [answered], "after {after}");
    }
    // It stays deferred for this erase: cancelled at 1000, resumed at 1225 with a verify and its
    // whole first step until 1775. At 1300 it is 575 us old.
    let (finished, erased, _) = under(&t_es("500 us"), &[], &[1_000, 1_300]);
    assert_eq!((finished, erased), (vec![1_225, 1_775 + 125], 1_900 + 1_000));
}

#[test]
fn an_erase_that_is_interrupted_in_every_attempt_does_not_get_on() {
    // A read every 200 us; a verify and a step take 550. The first comes during the pulse. From
    // then on every second one comes while the erase is suspended (recovery and a read take 225),
    // and goes with the others; the rest come during the ramp.
    let reads: Vec<u64> = (0..16).map(|number| 800 + 200 * number).collect();
    let (_, erased, bench) = under("i-es", &[], &reads);
    assert_eq!(strain(&bench), [8, 8, 1]);
    // The last two are read from 3700 to 3950; then nothing interrupts it.
    assert_eq!(erased, 3_950 + 50 + 1_500);
    // Deferred, it is suspended twice, for 3 reads at 1225 and for 4 at 2100, and is over at 3100;
    // the write lets the 5 reads go that are waiting by then.
    let (_, erased, bench) = under("d-es", &[], &reads);
    assert_eq!((erased, strain(&bench)), (3_100 + 5 * 125, [2, 0, 0]));
}

// ---- bounds ----------------------------------------------------------------------------

#[test]
fn no_more_often_than_allowed() {
    let most = [set("scheduler.suspension_bounds", "{ most = 1 }")];
    // Cancelled at 1000, it goes on at 1225: a verify and three steps until 2775.
    assert_eq!(under("i-es", &most, &[1_000, 1_400]).0, [1_225, 2_775 + 125]);
    assert_eq!(under("i-es", &[], &[1_000, 1_400]).0, [1_225, 1_500 + 125]);
}

#[test]
fn not_within_the_refractory_gap() {
    let gap = |us: u64| [set("scheduler.suspension_bounds", format!("{{ gap = \"{us} us\" }}"))];
    // It began at 725, so with a gap of 275 us it may be interrupted from 1000 on.
    assert_eq!(under("i-es", &gap(275), &[1_000]).0, [1_225]);
    assert_eq!(under("i-es", &gap(275), &[900]).0, [1_225], "it is, at the end of the gap");
    assert_eq!(under("i-es", &gap(275), &[999]).0, [1_225]);
    // It goes on at 1225, and then not before 1500.
    assert_eq!(under("i-es", &gap(275), &[1_000, 1_300]).0, [1_225, 1_600 + 125]);
    // At 2125 its last step recovers for 50 us more.
    assert_eq!(under("i-es", &gap(1_400), &[1_000]).0, [2_175 + 125]);
}

#[test]
fn reads_before_partial_writes_interrupt_only_where_all_reads_may() {
    let by = |by: &str| [set("scheduler.suspension_bounds", format!("{{ by = \"{by}\" }}"))];
    // At 1000 half a page is written: its other half is read first, for 125 us, and then all of it
    // is programmed, for 300, when the erase is over.
    for (who, finished) in [("host-reads", 2_225 + 125 + 300), ("reads", 2_775 + 300)] {
        let scheme = [set("nand.erase", PHASES), set("scheduler.suspension", "i-es")];
        let (mut bench, start) = erasing(&[&scheme[..], &by(who)].concat());
        let write = bench.submit(start + 1_000 * US, Kind::Write, poised::page(0, 1), PAGE / 2);
        bench.settle();
        assert_eq!((bench.done(write).finished - start) / US, finished, "{who}");
    }
}

// ---- erases that wait for a burst to end -----------------------------------------------------

/// End of the erase that a write of its unit causes, which would begin at 725; reads come at `at`
/// (us after the beginning). GC is not in the foreground.
fn deferred(batching: &str, at: &[u64]) -> (u64, Bench) {
    let level = ["background", "stop"].map(|key| match key {
        "background" => set("ftl.gc.background", "2 blocks"),
        _ => set("ftl.gc.stop", "2 blocks"),
    });
    let more = [
        set("ftl.gc.foreground", "1 block"),
        set("scheduler.suspension", "d-es"),
        set("scheduler.erase_batching", format!("{{ {batching} }}")),
    ];
    let more = &more[..if batching.is_empty() { 2 } else { 3 }];
    let (mut bench, start) = erasing(&[&level[..], more].concat());
    for (at, page) in at.iter().zip(1..) {
        bench.submit(start + at * US, Kind::Read, poised::page(0, page), PAGE);
    }
    let end = bench.settle();
    assert_eq!(bench.device.ftl().tally.erases, 1);
    ((end - start) / US, bench)
}

#[test]
fn an_erase_waits_until_its_unit_was_quiet() {
    assert_eq!(deferred("", &[]).0, 725 + 1_500);
    assert_eq!(deferred("quiet = \"300 us\"", &[]).0, 1_025 + 1_500);
    // A read from 900 to 1025: at 1025 the unit was not quiet; at 1325 it was.
    assert_eq!(deferred("quiet = \"300 us\"", &[900]).0, 1_325 + 1_500);
    // A read that is under way at the poll, and one that comes right after.
    assert_eq!(deferred("quiet = \"300 us\"", &[1_000, 1_200]).0, 1_625 + 1_500);
}

#[test]
fn an_erase_that_space_waits_for_does_not_wait() {
    let overrides = [
        set("nand.erase", STEPS),
        set("geometry.blocks_per_plane", 9),
        set("ftl.gc.stop", "3 blocks"),
        set("scheduler.erase_batching", "{ quiet = \"300 us\" }"),
    ];
    // One more block is rewritten, so that two have three invalid pages each.
    let (mut bench, _) = poised::poised(&overrides);
    for number in [8, 9, 10, 12] {
        bench.alone(Kind::Write, poised::page(0, number), PAGE);
    }
    let start = bench.settle();
    bench.submit(start, Kind::Write, poised::page(0, 5), PAGE);
    // The first begins at 725, as its bin is at the foreground threshold. The page of the second
    // is read and programmed after that, and as one block more is free by then, it waits.
    let first = 725 + 1_500;
    assert_eq!((bench.settle() - start) / US, first + 125 + 300 + 300 + 1_500);
    assert_eq!(bench.device.ftl().tally.erases, 2);
}

// ---- equal runs -------------------------------------------------------------------------

/// A drive at work that collects all the time.
fn digest(scheme: &str) -> (u64, u64) {
    let work = r#"
[precondition]
fill = "random"
age.overwrites = 1.0
[[workload]]
name = "mix"
reads = "70 %"
queue_depth = 8
[run]
requests = 6000
"#;
    let overrides = [
        set("nand.erase", PHASES),
        set("geometry.dies_per_package", 2),
        set("ftl.gc.background", "2 blocks"),
        set("ftl.gc.stop", "3 blocks"),
        set("scheduler.suspension", scheme),
    ];
    let run = common::run(&common::experiment(work, &overrides));
    (run.device().digest(), run.device().counters().suspensions)
}

#[test]
fn a_timeout_of_nothing_is_deferred_and_an_endless_one_immediate() {
    let [deferred, none, immediate, endless, between] = [
        "d-es",
        "{ policy = \"t-es\", after = \"0 s\" }",
        "i-es",
        "{ policy = \"t-es\", after = \"8760 h\" }",
        "{ policy = \"t-es\", after = \"1 ms\" }",
    ]
    .map(digest);
    assert!(deferred.1 > 50 && immediate.1 > 50, "{deferred:?} {immediate:?}");
    assert_eq!(none, deferred);
    assert_eq!(endless, immediate);
    assert!(between != deferred && between != immediate && deferred != immediate);
}

#[test]
fn a_cap_ends_what_reads_without_a_gap_would_keep_from_ever_going_on() {
    // Reads of 125 us come every 120 from 800 on: one always waits. The erase is cancelled at 800,
    // delayed for more reads once (its second suspension), and then is not suspended any more: it
    // is over long before the reads are.
    let reads: Vec<u64> = (0..60).map(|number| 800 + 120 * number).collect();
    let most = |most: u32| [set("scheduler.suspension_bounds", format!("{{ most = {most} }}"))];
    let erased = |more: &[Override]| {
        let scheme = [set("nand.erase", PHASES), set("scheduler.suspension", "i-es")];
        let (mut bench, start) = erasing(&[&scheme[..], more].concat());
        let pages = (1..9).cycle();
        for (at, page) in reads.iter().zip(pages) {
            bench.submit(start + at * US, Kind::Read, poised::page(0, page), PAGE);
        }
        bench.settle();
        bench.device.counters().longest_collection.as_ns() / US
    };
    // It recovers until 900, and reads one after the other: the last ends at 900 + 60 * 125.
    assert_eq!(erased(&[]), 900 + 60 * 125 + 50 + 1_500);
    // Until 900 only the first has come, which is read until 1025; the others wait.
    assert_eq!(erased(&most(1)), 1_025 + 50 + 1_500);
    // By 1025 a second one has come; while that is read until 1150 the third comes.
    assert_eq!(erased(&most(2)), 1_150 + 50 + 1_500);
}

#[test]
fn an_erase_with_nothing_left_to_do_does_not_wait_for_reads() {
    // One step without a verify: executed until 1025, recovering until 1125.
    let plain = "{ steps = 1, ramp = \"0 us\", execute = \"300 us\", recover = \"100 us\", verify = \"0 us\" }";
    let scheme = [set("nand.erase", plain), set("scheduler.suspension", "i-es")];
    let (mut bench, start) = erasing(&scheme);
    for (at, page) in [1_050, 1_100, 1_200, 1_300].into_iter().zip(1..) {
        bench.submit(start + at * US, Kind::Read, poised::page(0, page), PAGE);
    }
    bench.settle();
    // The reads that were asked for by 1125 go first.
    assert_eq!(bench.device.counters().longest_collection.as_ns() / US, 1_125 + 2 * 125);
}
