//! Read recovery levels of NVMe: each read is recovered as its own level says.

use crate::common::{
    Bench, Override, experiment, mean_ns, run, run_fast, set, stats, try_experiment,
};
use crate::directions::scratch;
use crate::errors::{errors, ladder, rebuilds, striped};
use drive::OpKind;
use host::Kind;
use metrics::{Holder, State};

const US: u64 = 1_000;
const MS: u64 = 1_000 * US;
const PAGE: u64 = 4_096;
/// Senses, transfers and decodes a page.
const READ: u64 = 135 * US;

fn levels(levels: &str) -> Override {
    set("ftl.read_recovery_levels", format!("{{ {levels} }}"))
}

/// A level that never gives up, one with a re-read, and the one that gives up at once.
fn three() -> Override {
    levels("0 = 'ladder', 9 = { policy = 'ladder', re_reads = 1 }, 15 = 'none'")
}

#[test]
fn each_read_is_recovered_as_its_level_says() {
    // 700 errors take four re-reads, of which the default level has three.
    let mut bench = Bench::filled(&[&errors(700.5, 0.0)[..], &[ladder(3), three()]].concat());
    for (level, attempts, failed) in [(15, 1, 1), (9, 2, 1), (4, 4, 1), (0, 5, 0), (15, 1, 1)] {
        let now = bench.settle();
        let tag = bench.read_at_level(now, level, 0, PAGE);
        bench.settle();
        let read = bench.done(tag);
        assert_eq!((read.latency(), read.failed), (attempts * READ, failed), "{level}");
        assert_eq!(read.of(State::Sense), 25 * US);
    }
    assert_eq!(
        bench.alone(Kind::Read, 0, PAGE).latency(),
        4 * READ,
        "without a level: the default"
    );
    // One more read at the same level, and all of a request's pages have it.
    let now = bench.settle();
    let tag = bench.read_at_level(now, 15, 0, 2 * PAGE);
    bench.settle();
    assert_eq!((bench.done(tag).latency(), bench.done(tag).failed), (125 * US + READ, 2));
}

/// Three workloads of one run, each alone while it reads.
#[test]
fn workloads_of_a_run_have_levels_of_their_own() {
    let trace = scratch::file("levels.csv", "time_us,op,offset,length\n0,R,8192,4096\n");
    let of = |name: &str, start: u32, keys: &str| {
        format!("[[workload]]\nname = \"{name}\"\nstart = \"{start} ms\"\n{keys}\n")
    };
    let synthetic = "reads = \"100 %\"\nstop = { requests = 1 }";
    let text = [
        of("fast", 0, &format!("{synthetic}\nread_recovery_level = 15")),
        of("default", 10, synthetic),
        of("patient", 20, &format!("{synthetic}\nread_recovery_level = 0")),
        of("replay", 30, &format!("trace = {{ file = \"{trace}\" }}\nread_recovery_level = 9")),
        "[run]\nrequests = 4\n".into(),
    ];
    let given =
        [&errors(700.5, 0.0)[..], &[ladder(3), three(), set("precondition.fill", "sequential")]];
    let run = run(&experiment(&text.concat(), &given.concat()));
    for (initiator, attempts, failed) in [(0, 1, 1), (1, 4, 1), (2, 5, 0), (3, 2, 1)] {
        assert_eq!(mean_ns(&run, initiator, Kind::Read), (attempts * READ) as f64, "{initiator}");
        assert_eq!(stats(&run, initiator, Kind::Read).failed_units, failed, "{initiator}");
    }
}

/// A drive of two sets with these levels.
fn two_sets(of_sets: &str) -> Vec<Override> {
    let cut = set("ftl.sets", format!("{{ channels = 2, read_recovery_levels = {of_sets} }}"));
    let more = [set("geometry.channels", 2), ladder(3), three(), cut];
    [&errors(700.5, 0.0)[..], &more].concat()
}

#[test]
fn sets_have_levels_of_their_own() {
    // 700 errors take four re-reads, of which the default level has three.
    let own = [set("workload[0].nvm_set", 1)];
    let mut bench = Bench::filled(&[&two_sets("[15, 4]")[..], &own].concat());
    let second = bench.device.ftl().layout.exported_bytes() / 2;
    for (offset, attempts) in [(0, 1), (second, 4), (PAGE, 1), (second + PAGE, 4)] {
        let read = bench.alone(Kind::Read, offset, PAGE);
        assert_eq!((read.latency(), read.failed), (attempts * READ, 1), "{offset}");
    }
    // The level of a read goes before that of its set, the default one, too.
    for (offset, level, attempts, failed) in
        [(0, 4, 4, 1), (0, 0, 5, 0), (second, 15, 1, 1), (second, 9, 2, 1), (0, 15, 1, 1)]
    {
        let now = bench.settle();
        let tag = bench.read_at_level(now, level, offset, PAGE);
        bench.settle();
        let read = bench.done(tag);
        assert_eq!((read.latency(), read.failed), (attempts * READ, failed), "{offset} {level}");
    }
}

#[test]
fn workloads_have_the_level_of_their_set_unless_they_name_one() {
    let of = |name: &str, start: u32, keys: &str| {
        format!(
            "[[workload]]\nname = \"{name}\"\nstart = \"{start} ms\"\nreads = \"100 %\"\n\
             stop = {{ requests = 1 }}\n{keys}\n"
        )
    };
    let text = [
        of("fast", 0, "nvm_set = 1"),
        of("default", 10, "nvm_set = 2"),
        of("patient", 20, "nvm_set = 1\nread_recovery_level = 0"),
        of("as ever", 30, "nvm_set = 1\nread_recovery_level = 4"),
        "[run]\nrequests = 4\n".into(),
    ];
    let given = [&two_sets("[15, 4]")[..], &[set("precondition.fill", "sequential")]].concat();
    let run = run(&experiment(&text.concat(), &given));
    for (initiator, attempts, failed) in [(0, 1, 1), (1, 4, 1), (2, 5, 0), (3, 4, 1)] {
        assert_eq!(mean_ns(&run, initiator, Kind::Read), (attempts * READ) as f64, "{initiator}");
        assert_eq!(stats(&run, initiator, Kind::Read).failed_units, failed, "{initiator}");
    }
}

#[test]
fn levels_of_sets_are_there_and_one_for_each() {
    let problems = |given: &[Override]| {
        let text =
            "[[workload]]\nname = \"one\"\nreads = \"50 %\"\nnvm_set = 1\n[run]\nrequests = 1\n";
        try_experiment(text, given).err().unwrap_or_default()
    };
    assert_eq!(problems(&two_sets("[15, 4]")), "");
    for (levels, path, expected) in [
        ("[15]", "drive.ftl.sets.read_recovery_levels", "1 level for 2 sets; give one for each"),
        ("[15, 3]", "drive.ftl.sets.read_recovery_levels[1]", "has no level 3; give its policy"),
        ("[15, 16]", "drive.ftl.sets.read_recovery_levels[1]", "the last one is 15"),
    ] {
        let problems = problems(&two_sets(levels));
        assert!(problems.contains(path) && problems.contains(expected), "{levels}: {problems}");
    }
    let cut = set("ftl.sets", "{ channels = 2, read_recovery_levels = [4, 4] }");
    let problems = problems(&[set("geometry.channels", 2), cut]);
    assert!(problems.contains("all that is read can be decoded"), "{problems}");
    assert!(problems.contains(": 1 problem\n"), "all sets lack the same: {problems}");
}

#[test]
fn reads_of_the_drive_itself_have_the_default_level() {
    let scrub = [set("ftl.scrub.interval", "10 ms"), set("ftl.scrub.choice", "oldest")];
    let given = [&errors(150.5, 0.0)[..], &[ladder(1), levels("15 = 'none'")], &scrub];
    let mut bench = Bench::filled(&given.concat());
    let tag = bench.read_at_level(0, 15, 0, PAGE);
    bench.until(9 * MS);
    assert_eq!(bench.done(tag).failed, 1);
    // Block 0 is moved, with a re-read for each page, and nothing is lost.
    bench.until(19 * MS);
    assert_eq!(bench.device.counters().commands(OpKind::Read, Holder::ReRead), 16);
    assert_eq!(bench.device.ftl().poisoned_units(), 0);
}

#[test]
fn members_of_a_rebuild_are_read_as_the_drive_reads_for_itself() {
    let more = [ladder(1), levels("3 = { policy = 'ladder', re_reads = 0 }, 15 = 'none'")];
    let mut bench = Bench::new(&striped(&[&errors(150.5, 0.0), &more]));
    bench.alone(Kind::Write, 0, 7 * PAGE);
    for (level, latency, failed, expected) in [
        // Without a re-read it is rebuilt at once, and each of the members needs one.
        (3, 3 * READ + 3 * US, 0, [1, 7, 0]),
        (4, 2 * READ, 0, [1, 7, 0]),
        // Nothing is tried, not even a rebuild.
        (15, READ, 1, [1, 7, 0]),
    ] {
        let now = bench.settle();
        let tag = bench.read_at_level(now, level, 0, PAGE);
        bench.settle();
        let read = bench.done(tag);
        assert_eq!((read.latency(), read.failed), (latency, failed), "{level}");
        assert_eq!(rebuilds(&bench), expected, "{level}");
    }
}

/// A read fails with 1 - (1 - p)^8 at the level that gives up at once, and never after one re-read,
/// which leaves 34 of 75 errors.
#[test]
fn expected_failures_are_those_of_each_level() {
    let reads = |name: &str, keys: &str| {
        format!(
            "[[workload]]\nname = \"{name}\"\nreads = \"100 %\"\nstop = {{ requests = 10000 }}\n{keys}\n"
        )
    };
    let text = reads("fast", "read_recovery_level = 15") + &reads("default", "") + "[run]\n";
    let drawn = [
        set("nand.errors.counting", "drawn"),
        set("precondition.fill", "sequential"),
        set("run.audit", false),
    ];
    let given = [&errors(68.0, 0.0)[..], &drawn, &[ladder(1), levels("15 = 'none'")]];
    let run = run_fast(&experiment(&text, &given.concat()));
    let errors = run.measured().errors().expect("flash has errors");
    let word = nand::errors::Binomial::new(4096).more_than(75, 68.0 / 4096.0);
    let p = 1.0 - (1.0 - word).powi(8);
    assert!((errors.expected / (10_000.0 * p) - 1.0).abs() < 0.01, "{}", errors.expected);
    let failed = [0, 1].map(|initiator| stats(&run, initiator, Kind::Read).failed_units);
    let deviation = (10_000.0 * p * (1.0 - p)).sqrt();
    assert!((failed[0] as f64 - 10_000.0 * p).abs() < 4.5 * deviation, "{failed:?} {p}");
    assert_eq!(failed[1], 0);
    assert!(errors.re_reads[Holder::HostRead as usize] > 1_000);
}

/// The sum for a level that rebuilds without a re-read: each of the seven other members has the re-read
/// of the drive's own ladder, after which 31.5 errors are expected in a codeword.
#[test]
fn expected_failures_of_rebuilds_take_members_at_the_default_level() {
    let text = "[[workload]]\nname = \"reads\"\nreads = \"100 %\"\nread_recovery_level = 3\n[run]\nrequests = 5000\n";
    let more = [
        set("nand.errors.counting", "drawn"),
        set("precondition.fill", "sequential"),
        ladder(1),
        levels("3 = { policy = 'ladder', re_reads = 0 }"),
    ];
    let run = run_fast(&experiment(text, &striped(&[&errors(63.0, 0.0), &more])));
    let errors = run.measured().errors().expect("flash has errors");
    assert!(errors.rebuilds[Holder::HostRead as usize] > 500);
    assert_eq!(stats(&run, 0, Kind::Read).failed_units, 0);
    let any = |count: i32, each: f64| -f64::exp_m1(f64::from(count) * f64::ln_1p(-each));
    let [own, member] = [63.0, 31.5]
        .map(|mean| any(8, nand::errors::Binomial::new(4096).more_than(75, mean / 4096.0)));
    let expected = 5_000.0 * own * any(7, member);
    assert!((errors.expected / expected - 1.0).abs() < 0.02, "{} {expected}", errors.expected);
}

#[test]
fn levels_that_nobody_chooses_change_nothing() {
    let text = "[[workload]]\nname = \"mixed\"\nreads = \"50 %\"\nqueue_depth = 4\n[run]\nrequests = 5000\n";
    let law = [
        &errors(60.0, 0.05)[..],
        &[ladder(9), set("nand.errors.counting", "drawn"), set("precondition.fill", "sequential")],
    ];
    let digest = |more: &[Override]| {
        run_fast(&experiment(text, &[&law.concat()[..], more].concat())).device().digest()
    };
    let without = digest(&[]);
    assert_eq!(digest(&[three()]), without);
    assert_eq!(digest(&[three(), set("workload[0].read_recovery_level", 4)]), without);
    assert_ne!(digest(&[three(), set("workload[0].read_recovery_level", 15)]), without);
}
