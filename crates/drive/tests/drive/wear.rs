//! Static wear-leveling: the blocks that are passed over, and the blocks that take cold data.

use crate::common::{self, Bench, Override, set};
use ftl::BlockState;
use host::Kind;

const PAGE: u64 = 4_096;

/// A die of 16 blocks of four pages, which endure 100 erases; 36 pages of data, of which the last
/// 32 stay cold in eight blocks.
fn drive(wear: &str) -> Vec<Override> {
    let mut all = vec![
        set("geometry.blocks_per_plane", 16),
        set("geometry.pages_per_block", 4),
        set("ftl.over_provisioning.exported", format!("{} B", 36 * PAGE)),
        set("nand.endurance", 100),
    ];
    for key in ["ftl.gc.background", "ftl.gc.foreground", "ftl.gc.stop"] {
        all.push(set(key, "5 blocks"));
    }
    if !wear.is_empty() {
        all.push(set("ftl.wear", format!("{{ {wear} }}")));
    }
    all
}

/// The drive after `writes` writes of its first four pages in turn.
fn worn(wear: &str, writes: u64) -> Bench {
    let mut bench = Bench::filled(&drive(wear));
    for number in 0..writes {
        bench.alone(Kind::Write, number % 4 * PAGE, PAGE);
    }
    bench.settle();
    bench.device.finish_audit().unwrap_or_else(|fault| panic!("{fault}"));
    bench
}

fn erases(bench: &Bench) -> (u32, u32) {
    let counts = bench.device.ftl().erase_counts();
    (*counts.iter().min().unwrap(), *counts.iter().max().unwrap())
}

#[test]
fn data_that_lies_still_keeps_its_blocks_from_wear_without_migration() {
    // 1,600 writes fill 400 blocks; eight take turns, or seven if one is kept free.
    let bench = worn("", 1_600);
    let (least, most) = erases(&bench);
    assert_eq!(least, 0);
    assert!((50..=58).contains(&most), "{most}");
    assert_eq!(bench.device.ftl().tally.migrations, 0);
}

#[test]
fn migration_has_all_blocks_take_part() {
    // 400 blocks and those of migration, over 16 blocks: 25 each and a little more. A block is
    // retired from the front when it lies 15 % below the mean life of some 75.
    let bench = worn("retirement_age = \"85 %\"", 1_600);
    let ftl = bench.device.ftl();
    let (least, most) = erases(&bench);
    let mean = ftl.erase_counts().iter().sum::<u32>() as f64 / 16.0;
    assert!(ftl.tally.migrations > 4, "{}", ftl.tally.migrations);
    assert!((25.0..32.0).contains(&mean), "{mean}");
    // No block is taken further once it has lost 15 % of the mean life to the mean.
    let lag = 0.15 * (100.0 - mean) + 2.0;
    assert!(f64::from(most) < mean + lag, "{least} to {most}, {mean} in the mean");
    assert!(least > 0, "no block was left out");
}

#[test]
fn a_worn_block_takes_the_data_that_lies_still_for_longest_and_closes_with_its_age() {
    let mut bench = Bench::filled(&drive("retirement_age = \"99 %\""));
    let mut writes = 0;
    while bench.device.ftl().tally.migrations == 0 {
        bench.alone(Kind::Write, writes % 4 * PAGE, PAGE);
        bench.settle();
        writes += 1;
        assert!(writes < 1_000, "the first migration comes early");
    }
    let ftl = bench.device.ftl();
    // Pages 4 to 7 filled block 1 of the fill, the oldest that is still full.
    let home = ftl.layout.block(ftl.lookup(ftl::Lpn(4)).unwrap());
    // Eight of 16 blocks were erased once or twice: a life of 98 is the first below 99 % of the
    // mean of some 99. Then the block is erased when it has been emptied.
    assert_eq!(ftl.erase_counts()[home.0 as usize], 3, "the worn block took them");
    assert_eq!(ftl.valid_units(home), 4);
    assert_eq!(ftl.block_states()[home.0 as usize], BlockState::Closed);
    let moved = (4..8).all(|lpn| ftl.layout.block(ftl.lookup(ftl::Lpn(lpn)).unwrap()) == home);
    assert!(moved, "all of them");
    assert_eq!(ftl.migration(ftl::BinId(0)), None);
}

#[test]
fn a_worn_block_is_passed_over_by_chance() {
    // Free blocks take turns by wear; the data of two hot pages and 30 warm ones makes all blocks
    // take part, but not equally.
    let spread = |wear: &str| {
        let mut bench = Bench::filled(&drive(wear));
        for number in 0..1_500u64 {
            let page = if number % 8 == 0 { 4 + number / 8 % 32 } else { number % 4 };
            bench.alone(Kind::Write, page * PAGE, PAGE);
        }
        let (least, most) = erases(&bench);
        (most - least, bench.device.digest())
    };
    let (without, plain) = spread("");
    let (with, limited) = spread("age_variance = \"3 %\", rate_window = \"5 %\"");
    assert!(plain != limited, "some were passed over");
    assert!(with <= without, "{with} and {without}");
}

#[test]
fn a_drive_wears_out_evenly_with_migration() {
    // Number of writes until a block of the drive is retired.
    let until_retired = |wear: &str| {
        let mut bench = Bench::filled(&drive(wear));
        let mut writes = 0u64;
        while bench.device.ftl().tally.retired == 0 {
            bench.alone(Kind::Write, writes % 4 * PAGE, PAGE);
            writes += 1;
        }
        writes
    };
    // Eight blocks (or seven) of four pages and a hundred lives, or sixteen, less the cost of
    // migration.
    let (without, with) = (until_retired(""), until_retired("retirement_age = \"85 %\""));
    assert!((2_800..=3_200).contains(&without), "{without}");
    assert!(with > 5_000 && with < 6_400, "{with}");
}

// ---- untimed runs --------------------------------------------------------------------------

const UNTIMED: &str = r#"
[precondition]
fill = "sequential"
[[workload]]
name = "writer"
reads = "20 %"
size = "4 KiB"
[run]
untimed = true
requests = 100000
"#;

fn untimed(overrides: &[Override]) -> drive::Run {
    let (text, mut overrides) = common::configuration(UNTIMED, overrides);
    overrides.retain(|(path, _)| path != "run.audit");
    let (experiment, _) = drive::load::load(&text, "untimed.toml", &overrides)
        .unwrap_or_else(|problems| panic!("{problems}"));
    let mut run = drive::Run::new(&experiment, &[None], &mut |_| true).unwrap().unwrap();
    while run.advance(1_000).unwrap() {}
    run.finish();
    run
}

#[test]
fn an_untimed_run_writes_as_much_as_one_with_it() {
    let run = untimed(&[]);
    let writes = run.measured().initiators()[0].kinds[Kind::Write.index()].as_deref().unwrap();
    assert_eq!((run.issued(), run.elapsed().as_ns()), (100_000, 0));
    let host = run.measured().tally().units[ftl::Source::Host as usize];
    assert_eq!((writes.untimed, writes.bytes), (host, host * PAGE));
    assert!((79_000..81_000).contains(&host), "{host} of 100,000 are 80 %, within four sigma");
    assert_eq!(writes.latency.count(), 0);
    run.device().ftl().audit().unwrap();
    // In a timed run, the same requests have the same amplification, except for blocks open at the
    // end.
    let timed = common::run(&common::experiment(&UNTIMED.replace("untimed = true", ""), &[]));
    let of = |run: &drive::Run| run.measured().tally().write_amplification();
    assert!((of(&run) / of(&timed) - 1.0).abs() < 0.02, "{} and {}", of(&run), of(&timed));
}

#[test]
fn an_untimed_run_ends_when_the_drive_is_worn_out() {
    // 64 blocks of 16 pages that endure 20 erases: 20 x 1024 pages and what was free, at a
    // write amplification of more than 1.
    let run = untimed(&[set("nand.endurance", 20)]);
    let bytes = run.worn_out().expect("100,000 requests are more than it endures");
    assert!(run.issued() < 100_000);
    let tally = run.device().ftl().tally;
    let programmed: u64 = tally.units.iter().sum();
    assert!(programmed <= 21 * 1_024, "{programmed}");
    assert!(tally.retired > 10, "{}", tally.retired);
    assert!(bytes > 0);
    run.device().ftl().audit().unwrap();
}

#[test]
fn the_digest_of_an_untimed_run_knows_what_the_firmware_did() {
    let digest = |overrides: &[common::Override]| untimed(overrides).device().digest();
    let plain = digest(&[]);
    assert_eq!(digest(&[]), plain);
    // The same requests each time.
    for other in [
        set("ftl.gc.victim", "fifo"),
        set("ftl.gc.stop", "2 blocks"),
        set("ftl.summary_page", true),
        set("ftl.allocation.streams", "separate"),
        set("ftl.allocation.free_block", "least-worn"),
    ] {
        assert_ne!(digest(std::slice::from_ref(&other)), plain, "{other:?}");
    }
}

#[test]
fn the_digest_of_a_life_has_its_last_command() {
    let folder = std::env::temp_dir();
    let life = |count: u64, last: u64| {
        let row = |number: u64| {
            let page = if number + 1 == count { last } else { number % 700 };
            format!("{},host,0,Write,{},4096,0\n", 128_166_372 + number, page * 4_096)
        };
        let file = folder.join(format!("flashscape-{}-{count}-{last}.csv", std::process::id()));
        std::fs::write(&file, (0..count).map(row).collect::<String>()).unwrap();
        let text = format!(
            "[[workload]]\nname = \"t\"\ntrace = {{ file = {file:?}, format = \"msr\" }}\n"
        );
        let overrides =
            [set("nand.endurance", 3), set("run.untimed", true), set("run.audit", false)];
        let experiment = common::experiment(&text, &overrides);
        let surveys: Vec<_> =
            experiment.workload.iter().map(|workload| workload.survey().unwrap()).collect();
        let mut run = drive::Run::new(&experiment, &surveys, &mut |_| true).unwrap().unwrap();
        while run.advance(1_000).unwrap() {}
        std::fs::remove_file(file).unwrap();
        (run.issued(), run.worn_out().is_some(), run.device().digest())
    };
    // Longer than the drive lives; then so long that the last one wears it out.
    let (count, ..) = life(20_000, 0);
    let [one, other] = [5, 105].map(|last| life(count, last));
    assert_eq!([(one.0, one.1), (other.0, other.1)], [(count, true); 2]);
    assert_ne!(one.2, other.2);
}

#[test]
fn blocks_that_are_erased_in_another_order_give_another_digest() {
    // The second and the third die change places: each does the other's work, so that no sum
    // distinguishes the two runs.
    let run = |order: &str| {
        untimed(&[
            set("geometry.channels", 2),
            set("geometry.dies_per_package", 2),
            set("ftl.allocation.order", order),
        ])
    };
    let (one, other) = (run("CWDP"), run("DWCP"));
    assert_eq!(one.device().ftl().tally, other.device().ftl().tally);
    let erases = |run: &drive::Run| run.device().ftl().erase_counts().to_vec();
    assert_ne!(erases(&one), erases(&other));
    assert_ne!(one.device().digest(), other.device().digest());
}

#[test]
fn an_untimed_run_has_no_rates() {
    let text = UNTIMED.replace("requests = 100000", "requests = 1000");
    let (text, mut overrides) = common::configuration(&text, &[]);
    overrides.retain(|(path, _)| path != "run.audit");
    let (experiment, checked) = drive::load::load(&text, "untimed.toml", &overrides).unwrap();
    let mut run = drive::Run::new(&experiment, &[None], &mut |_| true).unwrap().unwrap();
    while run.advance(1_000).unwrap() {}
    let outcome = drive::results::Outcome { host_cpu_seconds: 0.0, complete: true };
    let summary = drive::results::summary(&mut run, &experiment, &checked, &[None], outcome);
    let of = &summary["initiators"][0];
    let requests = |kind: &str| of[kind]["requests"].as_u64().unwrap();
    assert_eq!(requests("read") + requests("write"), 1_000);
    for kind in ["read", "write", "trim"] {
        assert!(of[kind]["iops"].is_null(), "{}", of[kind]);
    }
    assert!(summary["mean_outstanding"].is_null());
    assert!(summary["utilisation"]["units"].is_null());
    assert!(summary["utilisation"]["channels"].is_null());
    let erases = run.measured().tally().erases;
    assert!(erases > 0);
    assert_eq!(summary["collection"]["blocks"], erases);
    assert!(summary["collection"]["mean_ns"].is_null());
    let why = summary["steady_state"]["latency"]["reason"].as_str().unwrap();
    assert!(why.contains("no time") && !why.contains("interval"), "{why}");
}

#[test]
fn what_was_asked_for_until_the_drive_was_worn_out_is_told_in_units() {
    let (text, mut overrides) = common::configuration(UNTIMED, &[set("nand.endurance", 20)]);
    overrides.retain(|(path, _)| path != "run.audit");
    let (experiment, checked) = drive::load::load(&text, "untimed.toml", &overrides).unwrap();
    let mut run = drive::Run::new(&experiment, &[None], &mut |_| true).unwrap().unwrap();
    while run.advance(1_000).unwrap() {}
    let outcome = drive::results::Outcome { host_cpu_seconds: 0.0, complete: true };
    let summary = drive::results::summary(&mut run, &experiment, &checked, &[None], outcome);
    // Requests of 4 KiB each.
    let bytes = 4_096 * run.issued();
    assert_eq!(summary["worn_out_bytes"], bytes);
    // 42.6 MB, in powers of ten like the tables.
    let told = format!("after {:.1} MB had been asked for", bytes as f64 / 1e6);
    let has = |note: &serde_json::Value| note.as_str().unwrap().contains(&told);
    let notes = summary["notes"].as_array().unwrap();
    assert!(notes.iter().any(has), "{told}: {notes:?}");
}
