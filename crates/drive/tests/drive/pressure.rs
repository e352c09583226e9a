//! The limit of outstanding programs, by arithmetic. A page is read in 25 + 100 us and programmed in
//! 100 + 200 us, on dies of which each has a channel of its own.

use crate::common::{
    BY_HAND, Bench, Done, Override, experiment, mean_ns, run, run_fast, set, stats, try_experiment,
};
use crate::tasks::scrubbed;
use drive::RequestId;
use drive::device::Window;
use engine::{Instant, Span};
use ftl::{SetId, Source};
use host::Kind;
use metrics::State;
use serde_json::json;

const US: u64 = 1_000;
const PAGE: u64 = 4_096;
const PROGRAM: u64 = 300 * US;

fn limit(programs: u32) -> Override {
    set("ftl.pressure.programs", programs)
}

fn dies(count: u32, more: &[Override]) -> Vec<Override> {
    let own = [set("geometry.channels", count), set("ftl.allocation.choice", "least-queued")];
    [&own[..], more].concat()
}

/// Writes of one page each that come at the beginning to an empty drive of four dies, when they end.
fn written(programs: u32, count: u64) -> Vec<Done> {
    let mut bench = Bench::new(&dies(4, &[limit(programs)]));
    let tags: Vec<u32> =
        (0..count).map(|page| bench.submit(0, Kind::Write, page * PAGE, PAGE)).collect();
    bench.settle();
    tags.into_iter().map(|tag| bench.done(tag).clone()).collect()
}

/// The second of two writes that come at once, of which one may be programmed at a time.
pub fn a_write_behind_the_limit() -> Done {
    written(1, 2)[1].clone()
}

#[test]
fn as_many_dies_program_as_the_limit_says() {
    for programs in [1, 2, 3, 4, 8, 1_000_000] {
        let done = written(programs, 48);
        let at_once = u64::from(programs.min(4));
        for (number, write) in done.iter().enumerate() {
            let rounds = number as u64 / at_once;
            assert_eq!(write.latency(), (rounds + 1) * PROGRAM, "{programs}: write {number}");
            // Below the number of dies, none waits for its die.
            let (limited, unit) = (write.of(State::Pressure), write.of(State::UnitHostProgram));
            assert_eq!(limited + unit, rounds * PROGRAM, "{programs}: write {number}");
            assert!(programs > 4 || unit == 0, "{programs}: write {number} waits {unit} ns");
            assert!(programs < 48 || limited == 0, "{programs}: write {number} is limited");
        }
    }
}

/// Reads that come by chance, while hosts write without a pause, to a drive with much free space.
fn beside_writes(programs: u32, bypass: &str) -> drive::Run {
    let text = "[[workload]]\nname = \"writes\"\nreads = \"0 %\"\nsize = \"4 KiB\"\nqueue_depth = 64\n\
                [[workload]]\nname = \"reads\"\nreads = \"100 %\"\nsize = \"4 KiB\"\n\
                arrivals = { process = \"poisson\", rate = \"1 kIOPS\" }\n\
                [run]\ntime = \"2 s\"\n";
    let more = [
        set("geometry.blocks_per_plane", 2_000),
        set("precondition.fill", "sequential"),
        set("scheduler.bypass", bypass),
        limit(programs),
    ];
    run(&experiment(text, &dies(4, &more)))
}

#[test]
fn a_read_meets_one_program_on_a_share_of_the_dies() {
    for programs in [1, 2, 4] {
        let run = beside_writes(programs, "drain");
        assert_eq!(run.device().ftl().tally.collected, 0, "there is space");
        let reads = stats(&run, 1, Kind::Read);
        let count = reads.latency.count() as f64;
        assert!(count > 1_800.0, "{count} reads");
        // A program is half over on average when a read comes.
        let expected = f64::from(programs) / 4.0 * PROGRAM as f64 / 2.0;
        let waits = reads.bands.total()[State::UnitHostProgram as usize] as f64 / count;
        assert!(
            (waits / expected - 1.0).abs() < 0.12,
            "{programs}: {waits} ns, {expected} expected"
        );
        // Reads are rare: hardly any waits for another one, and none for a second program.
        let longest = reads.latency.max().expect("there were reads").as_ns();
        assert!(longest < PROGRAM + 3 * 125 * US, "{programs}: {longest} ns");
        // Programs that wait for a read are outstanding, too.
        let rate = f64::from(programs) / PROGRAM as f64;
        let found = stats(&run, 0, Kind::Write).latency.count() as f64
            / run.measured().span().as_ns() as f64;
        assert!(found <= rate && found > 0.95 * rate, "{programs}: {found} per ns of {rate}");
        let counts = run.measured().pressure(SetId(0)).expect("programs are limited");
        assert_eq!(counts.greatest, programs);
    }
}

/// Mostly small writes to a full drive.
const WRITES: &str = "[[workload]]\nname = \"mixed\"\nreads = \"30 %\"\nsize = \"4 KiB\"\nqueue_depth = 8\n[run]\nrequests = 8000\n";

/// A limit of the firmware's tasks, beside other settings.
fn tasks(most: u32, think_us: u64, more: &[Override]) -> Vec<Override> {
    let limit = set("ftl.tasks", format!("{{ most = {most}, think = \"{think_us} us\" }}"));
    [&[limit], more].concat()
}

/// Full drives of two dies, of which each has something that moves or delays data.
fn drives() -> Vec<Vec<Override>> {
    let busy = |more: &[Override]| {
        let own = [
            set("precondition.fill", "random"),
            set("ftl.gc.background", "3 blocks"),
            set("ftl.gc.stop", "3 blocks"),
            set("geometry.channels", 2),
        ];
        [&own[..], more].concat()
    };
    let watermark = "{ policy = \"watermark\", high = \"75 %\", low = \"50 %\" }";
    vec![
        busy(&[set("ftl.gc.window", 4)]),
        busy(&[set("ftl.gc.copy_back", true)]),
        busy(&[
            set("ftl.gc.pacing", "proportional"),
            set("ftl.gc.background", "4 blocks"),
            set("ftl.gc.stop", "4 blocks"),
        ]),
        busy(&[set("ftl.wear.retirement_age", "85 %"), set("nand.endurance", 1_000)]),
        busy(&[set("ftl.unit", "8 KiB"), set("geometry.page_size", "16 KiB")]),
        busy(&[set("buffer.durability", "capacitor"), set("buffer.size", "64 KiB")]),
        busy(&[
            set("buffer.durability", "capacitor"),
            set("buffer.size", "64 KiB"),
            set("buffer.flush", watermark),
        ]),
        busy(&[
            set("scheduler.bypass", "drain"),
            set("scheduler.suspension", "{ policy = \"i-es\" }"),
        ]),
        busy(&[set("scheduler.bypass", "none")]),
        busy(&[set(
            "nand.command_cycles",
            "{ read = \"1 us\", program = \"1 us\", erase = \"1 us\" }",
        )]),
        busy(&tasks(2, 10, &[set("ftl.gc.window", 4)])),
        busy(&tasks(1, 50, &[set("ftl.gc.copy_back", true)])),
        busy(&tasks(3, 0, &scrubbed("own", &[set("ftl.scrub.window", 3)]))),
        busy(&scrubbed("turns", &[])),
        busy(&scrubbed("own", &[])),
        busy(&scrubbed("own", &[set("ftl.scrub.window", 3), set("ftl.unit", "2 KiB")])),
        busy(&scrubbed("turns", &[set("ftl.gc.copy_back", true), set("ftl.gc.window", 3)])),
    ]
}

#[test]
fn a_limit_that_is_never_reached_changes_nothing() {
    for drive in drives() {
        let without = run_fast(&experiment(WRITES, &drive));
        let with = run_fast(&experiment(WRITES, &[&drive[..], &[limit(1_000_000)]].concat()));
        assert_eq!(with.device().digest(), without.device().digest(), "{drive:?}");
        assert_eq!(with.measured().counters(), without.measured().counters(), "{drive:?}");
        assert_eq!(without.measured().pressure(SetId(0)), None);
        let counts = with.measured().pressure(SetId(0)).expect("programs are limited");
        assert!(counts.programs > 1_000 && counts.waited == 0, "{drive:?}: {counts:?}");
    }
}

#[test]
fn a_die_at_work_is_busier_than_an_idle_one() {
    for (choice, expected) in [("round-robin", 0), ("least-queued", 0), ("least-busy", 1)] {
        let more = [set("ftl.allocation.choice", choice), set("precondition.fill", "sequential")];
        let mut bench = Bench::filled(&dies(2, &more));
        // The fill went round and ended with the last die. Die 0 is read, and nothing waits for it.
        bench.submit(0, Kind::Read, 0, PAGE);
        bench.submit(10 * US, Kind::Write, 101 * PAGE, PAGE);
        bench.settle();
        let layout = &bench.device.ftl().layout;
        let at = bench.device.ftl().lookup(ftl::Lpn(101)).expect("it was written");
        assert_eq!(layout.bin(layout.block(at)).0, expected, "{choice}");
    }
}

#[test]
fn whole_drives_work_with_few_programs() {
    for drive in drives() {
        for programs in [1, 2] {
            let limited = [&drive[..], &[limit(programs)]].concat();
            let run = run(&experiment(WRITES, &limited));
            let units = run.measured().tally().units;
            assert!(units[Source::Gc as usize] > 100, "{drive:?}: {units:?}");
            let counts = run.measured().pressure(SetId(0)).expect("programs are limited");
            assert_eq!(counts.greatest, programs, "{drive:?}");
            assert!(counts.waited > 1_000, "{drive:?}: {counts:?}");
            if programs == 1 {
                assert_eq!(counts.taken_ns, u128::from(counts.full.as_ns()));
            }
        }
    }
}

#[test]
fn fewer_programs_mean_shorter_reads_and_slower_writes() {
    let of = |programs| {
        let run = beside_writes(programs, "batch");
        (mean_ns(&run, 1, Kind::Read), mean_ns(&run, 0, Kind::Write))
    };
    let [one, two, four] = [1, 2, 4].map(of);
    assert!(one.0 < two.0 && two.0 < four.0, "{one:?} {two:?} {four:?}");
    assert!(one.1 > 1.8 * two.1 && two.1 > 1.8 * four.1, "{one:?} {two:?} {four:?}");
}

/// Two sets of two dies each.
fn sets(more: &[Override]) -> Vec<Override> {
    let own = [
        set("ftl.sets", "{ channels = 2 }"),
        set("geometry.blocks_per_plane", 40),
        set("ftl.over_provisioning.exported", "8 MiB"),
    ];
    dies(4, &[&own[..], more].concat())
}

#[test]
fn each_set_has_its_own_limit() {
    let mut bench = Bench::new(&sets(&[limit(1), set("workload[0].nvm_set", 1)]));
    let writes = |bench: &mut Bench, first: u64| -> Vec<u32> {
        (0..6).map(|page| bench.submit(0, Kind::Write, first + page * PAGE, PAGE)).collect()
    };
    let (one, other) = (writes(&mut bench, 0), writes(&mut bench, 4 << 20));
    bench.settle();
    for tags in [one, other] {
        for (number, tag) in tags.into_iter().enumerate() {
            assert_eq!(bench.done(tag).latency(), (number as u64 + 1) * PROGRAM);
        }
    }
}

/// The share of a run of 3 ms in which ten pages are written, one or two at a time.
#[test]
fn results_tell_how_many_programs_were_outstanding() {
    let text = "[[workload]]\nname = \"ten\"\nreads = \"0 %\"\nsize = \"4 KiB\"\nqueue_depth = 10\nnvm_set = 2\n[run]\nrequests = 10\n";
    let experiment = experiment(text, &sets(&[limit(1)]));
    let checked = drive::check::check(&experiment).expect("a sound experiment");
    let mut run = run(&experiment);
    let outcome = drive::results::Outcome { host_cpu_seconds: 1.0, complete: true };
    let summary = drive::results::summary(&mut run, &experiment, &checked, &[None], outcome);
    let idle = json!({
        "set": 1, "most": 1, "programs": 0, "waited": 0, "mean": 0.0, "full": 0.0, "greatest": 0,
    });
    let busy = json!({
        "set": 2, "most": 1, "programs": 10, "waited": 9, "mean": 1.0, "full": 1.0, "greatest": 1,
    });
    assert_eq!(summary["counted_ns"], 10 * PROGRAM);
    assert_eq!(summary["pressure"], json!([idle, busy]));
}

#[test]
fn check_tells_what_the_limit_allows() {
    let of = |programs: u32, more: &[Override]| {
        let experiment = experiment(BY_HAND, &dies(4, &[more, &[limit(programs)]].concat()));
        let checked = drive::check::check(&experiment).expect("a sound experiment");
        checked.derived(&experiment)["pressure"].clone()
    };
    let rate = |programs: f64| programs * PAGE as f64 * 1e9 / PROGRAM as f64;
    let expected = |programs: u32, units: u32, most: u32| {
        json!({
            "programs": programs, "flash_units": units, "programming_at_most": most,
            "programmed_bytes_per_second": rate(f64::from(most)),
        })
    };
    assert_eq!(of(2, &[]), expected(2, 4, 2));
    assert_eq!(of(9, &[]), expected(9, 4, 4));
    let two = [set("geometry.planes_per_die", 2)];
    assert_eq!(of(9, &two), expected(9, 4, 4), "planes of a die program together");
    let cut = [
        set("ftl.sets", "{ channels = 2 }"),
        set("geometry.blocks_per_plane", 40),
        set("ftl.over_provisioning.exported", "8 MiB"),
        set("workload[0].nvm_set", 1),
    ];
    assert_eq!(of(9, &cut), expected(9, 2, 2));
}

#[test]
fn a_request_is_told_that_it_waits_for_the_limit() {
    let mut bench = Bench::new(&dies(4, &[limit(2)]));
    (0..3).for_each(|page| {
        bench.submit(0, Kind::Write, page * PAGE, PAGE);
    });
    bench.until(150 * US);
    let told = bench.device.standings(RequestId(2));
    let words = told.first().map(|of| of.words.as_str()).unwrap_or_default();
    assert!(words.contains("2 programs of its NVM set may be outstanding"), "{told:?}");
}

#[test]
fn the_limit_refuses_what_it_does_not_support() {
    let of = |settings: &[(&'static str, &str)]| {
        let all: Vec<_> = settings.iter().map(|(key, value)| set(key, value)).collect();
        try_experiment(BY_HAND, &all).err().unwrap_or_default()
    };
    let most = ("ftl.pressure.programs", "8");
    assert_eq!(of(&[most]), "");
    let rounds = [
        ("scheduler.rounds.unit", "die"),
        ("ftl.gc.preemptible", "false"),
        ("ftl.gc.foreground", "1 block"),
    ];
    let parity = [
        ("geometry.channels", "4"),
        ("ftl.allocation.pool", "die"),
        ("ftl.parity", "{ width = 4 }"),
        ("ftl.over_provisioning.reserved", "50 %"),
    ];
    let superblock = [
        ("geometry.channels", "4"),
        ("ftl.allocation.streams", "separate"),
        ("ftl.superblock", "{ dies = 4, width = {} }"),
    ];
    let streaming = [("ftl.gc.streaming", "true"), ("geometry.packages_per_channel", "2")];
    let cases: [(&[(&'static str, &str)], &str); 7] = [
        (&[("ftl.gc.preemptible", "false")], "preemptible = true"),
        (&rounds, "leave rounds out"),
        (&parity, "leave parity out"),
        (&superblock, "leave superblock out"),
        (&streaming, "streaming = false"),
        (&[("ftl.gc.idle_gap", "1 ms")], "leave idle_gap out"),
        (&[("ftl.gc.at_once", "{ drive = 1 }")], "leave at_once out"),
    ];
    for (settings, remedy) in cases {
        assert_eq!(of(settings), "", "{settings:?}");
        let problems = of(&[settings, &[most]].concat());
        assert!(problems.contains(": 1 problem\n"), "{settings:?}: {problems}");
        let is_told = problems.contains("drive.ftl.pressure: ") && problems.contains(remedy);
        assert!(is_told, "{settings:?}: {problems}");
    }
    assert!(of(&[("ftl.pressure", "{}")]).contains("programs"), "it must be given");
    assert!(of(&[("ftl.pressure.programs", "0")]).contains("pressure.programs"), "at least one");
}

#[test]
fn a_batch_is_charged_with_the_program_that_made_room_before_its_credit_came() {
    // Data waits for a bin of its pool, whose programs take turns with those of others for credits.
    let text = "[[workload]]\nname = \"writes\"\nreads = \"0 %\"\nsize = \"16 KiB\"\nqueue_depth = 8\n\
                [run]\nrequests = 4000\n";
    let more = [
        limit(4),
        set("geometry.dies_per_package", 2),
        set("buffer.durability", "capacitor"),
        set("precondition.fill", "random"),
        set("precondition.age.overwrites", 1.0),
    ];
    let run = run(&experiment(text, &dies(1, &more)));
    let total = stats(&run, 0, Kind::Write).bands.total();
    let all: u64 = total.iter().sum();
    let [buffer, limited] =
        [State::BufferFull, State::Pressure].map(|state| total[state as usize] as f64 / all as f64);
    println!("of the time of writes: buffer {buffer:.3}, limit {limited:.3}");
    // The buffer is no cause: its data waits for programs and for credits.
    assert!(buffer < 0.02, "{buffer}");
}

/// Programs for each write of random writes to a full drive of eight dies.
fn write_amplification(limits: &[Override]) -> f64 {
    let text = "[[workload]]\nname = \"writes\"\nreads = \"0 %\"\nsize = \"4 KiB\"\nqueue_depth = 64\n\
                [run]\nrequests = 40000\n";
    let more = [
        set("geometry.blocks_per_plane", 40),
        set("ftl.over_provisioning.reserved", "25 %"),
        set("ftl.gc.background", "8 blocks"),
        set("ftl.gc.foreground", "8 blocks"),
        set("ftl.gc.stop", "8 blocks"),
        set("precondition.fill", "random"),
        set("precondition.age.overwrites", 2.0),
    ];
    let run = run_fast(&experiment(text, &dies(8, &[&more[..], limits].concat())));
    let units = run.measured().tally().units;
    1.0 + units[Source::Gc as usize] as f64 / units[Source::Host as usize] as f64
}

/// GC that is late leaves less free space than its threshold: victims are older and emptier, and it
/// moves less. With seven credits for eight dies it is late now and then, because a program of hosts that
/// has a credit stands on the die of a collection that has none.
#[test]
fn collection_in_the_foreground_is_not_late_with_few_programs() {
    let without = write_amplification(&[]);
    for (programs, bound) in [(1, 0.1), (2, 0.1), (4, 0.1), (6, 0.1), (7, 0.2)] {
        let with = write_amplification(&[limit(programs)]);
        println!("{programs} programs: {with:.3}; without a limit: {without:.3}");
        assert!((with / without - 1.0).abs() < bound, "{programs}: {with}, {without}");
    }
}

/// One die of eight is read without a pause, and reads go first.
#[test]
fn a_program_does_not_keep_its_credit_for_reads_of_a_busy_die() {
    let text = "[[workload]]\nname = \"writes\"\nreads = \"0 %\"\nsize = \"4 KiB\"\nqueue_depth = 64\n\
                [[workload]]\nname = \"reads\"\nreads = \"100 %\"\nsize = \"4 KiB\"\nqueue_depth = 4\n\
                region = { offset = \"0 B\", size = \"4 KiB\" }\n[run]\ntime = \"1 s\"\n";
    let more = |choice: &'static str| {
        [
            set("geometry.blocks_per_plane", 2_000),
            set("precondition.fill", "sequential"),
            set("scheduler.bypass", "drain"),
            set("workload[0].region", "{ offset = \"4 MiB\", size = \"64 MiB\" }"),
            set("ftl.allocation.choice", choice),
            limit(2),
        ]
    };
    let written = |choice| {
        let run = run(&experiment(text, &dies(8, &more(choice))));
        stats(&run, 0, Kind::Write).latency.count()
    };
    // Two programs at a time.
    let expected = 2 * 1_000_000_000 / PROGRAM;
    let found = written("least-busy");
    assert!(found.abs_diff(expected) < expected / 50, "{found} writes of {expected}");
    // In turn, the busy die gets both credits, and keeps them.
    let blind = written("round-robin");
    assert!(blind < expected / 50, "{blind} writes of {expected}");
}

/// A host gives up windows that close, at random: credits that are kept for GC of a closing set go to
/// others then. The audit finds what waits in vain.
#[test]
fn credits_go_on_when_a_window_is_given_up() {
    let (mut asked, mut begun, mut moved) = (0, 0, 0);
    for seed in floor::seeds(0, 100) {
        let more = [
            limit([1, 2, 3][(seed % 3) as usize]),
            set("ftl.windows", "{ dtwin = \"1 s\", ndwin_low = \"0 ms\", ndwin_high = \"50 ms\" }"),
            set("ftl.gc.foreground", "2 blocks"),
            set("ftl.gc.background", "6 blocks"),
            set("ftl.gc.stop", "8 blocks"),
            set("workload[0].nvm_set", 1),
            set("ftl.over_provisioning.exported", "7 MiB"),
        ];
        println!("seed {seed}");
        let mut bench = Bench::filled(&sets(&more));
        let mut dice = engine::Streams::new(seed).stream("windows");
        let gap = [150, 400, 900][(seed / 9 % 3) as usize];
        let choices = [12, 60, 200][(seed / 3 % 3) as usize];
        let (depth, mut now) = ([1, 3, 8, 32][(seed % 4) as usize], 0);
        for _ in 0..4_000 {
            now += dice.below(gap * US);
            bench.until(now);
            let at = Instant::START + Span::from_ns(now);
            match dice.below(choices) {
                0 => bench.device.set_window(at, SetId(0), Window::Dtwin),
                1 => bench.device.set_window(at, SetId(0), Window::Ndwin),
                _ if bench.device.outstanding() < depth => {
                    let half = dice.below(2) * (7 << 19);
                    bench.submit(now, Kind::Write, half + dice.below(890) * PAGE, PAGE);
                }
                _ => {}
            }
        }
        let counts = bench.device.window_records(SetId(0)).expect("it has windows").0;
        (asked, begun) = (asked + counts.asked, begun + counts.begun);
        moved += bench.device.ftl().tally.moved;
    }
    println!("{asked} windows asked for, {begun} begun, {moved} units moved");
    assert!(begun > 100 && asked > begun + 100 && moved > 10_000);
}

/// Hosts write without a pause, and their data would take each credit before GC in the background.
#[test]
fn a_set_that_closes_gives_its_collection_the_credits() {
    let text = "[[workload]]\nname = \"writes\"\nreads = \"0 %\"\nsize = \"4 KiB\"\nqueue_depth = 8\n\
                [run]\ntime = \"600 ms\"\nwindows = { dtwin = \"40 ms\", ndwin = \"20 ms\" }\n";
    let more = [
        limit(1),
        set("ftl.windows", "{ dtwin = \"1 s\", ndwin_low = \"0 ms\", ndwin_high = \"20 ms\" }"),
        set("ftl.gc.foreground", "2 blocks"),
        set("ftl.gc.background", "15 blocks"),
        set("ftl.gc.stop", "16 blocks"),
        set("ftl.over_provisioning.reserved", "35 %"),
        set("precondition.fill", "random"),
        set("precondition.age.overwrites", 0.5),
    ];
    let run = run(&experiment(text, &dies(2, &more)));
    let counts = run.device().window_records(SetId(0)).expect("it has windows").0;
    println!("{counts:?}");
    // A set closes within the collection of a block: a read and a program for each of its 16 pages,
    // and an erase.
    assert!(counts.begun > 5, "{counts:?}");
    assert!(counts.longest_wait <= Span::from_us(2 * (16 * 425 + 1_500)), "{counts:?}");
}
