//! Beginning and end of counting, runs that would not end, and the notes on a run.

use crate::common::{self, experiment, run, set, stats, try_run};
use drive::results::{Outcome, summary};
use drive::{Experiment, Run, RunError, load};
use ftl::Source;
use host::Kind;
use metrics::Values;
use serde_json::{Value, json};

const US: u64 = 1_000;

/// A page takes 25 us to sense and 100 us on the channel.
const READ_US: u64 = 125;

fn reads(rest: &str) -> String {
    format!(
        "[precondition]\nfill = \"sequential\"\n[[workload]]\nname = \"host\"\nreads = \"100 %\"\n{rest}"
    )
}

#[test]
fn counting_begins_when_the_warm_up_ends_and_not_with_the_next_event() {
    // Eight reads one after the other: the unit is busy all the time. The warm-up ends in the
    // middle of the sixth.
    let text = reads("[run]\nrequests = 8\nwarm_up = { time = \"700 us\" }\n");
    let run = run(&experiment(&text, &[]));
    let measured = run.measured();
    assert_eq!(measured.begun_at().as_ns(), 700 * US);
    assert_eq!(measured.span().as_ns(), (8 * READ_US - 700) * US);
    assert_eq!(measured.unit_utilisation(), [1.0]);
    // The channel transfers a page in the last 100 us of each read: of the sixth, which ends at 750
    // us, 50 us are left.
    let carried = 50 + 2 * 100;
    assert_eq!(measured.channel_utilisation(), [f64::from(carried) / 300.0]);
    assert_eq!(stats(&run, 0, Kind::Read).latency.count(), 2);
}

#[test]
fn counting_begins_at_the_last_completion_of_the_warm_up() {
    let text = reads("think_time = \"75 us\"\n[run]\nrequests = 8\nwarm_up = { requests = 3 }\n");
    let run = run(&experiment(&text, &[]));
    // A read comes every 200 us, the first at 75 us; the third ends at 600 us.
    assert_eq!(run.measured().begun_at().as_ns(), 600 * US);
    assert_eq!(run.measured().span().as_ns(), 5 * 200 * US);
    assert_eq!(run.measured().unit_utilisation(), [125.0 / 200.0]);
}

#[test]
fn a_run_ends_with_its_last_completion_whatever_was_still_to_come() {
    // The second initiator's request would come in a second, but the first has used up all;
    // collection in the background has time until then.
    let text = reads(
        "[[workload]]\nname = \"late\"\nreads = \"100 %\"\nstart = \"1 s\"\n[run]\nrequests = 4\n",
    );
    let run = run(&experiment(&text, &[set("ftl.gc.idle_gap", "1 ms")]));
    assert_eq!(run.elapsed().as_ns(), 4 * READ_US * US);
    assert_eq!(run.measured().span().as_ns(), 4 * READ_US * US);
}

#[test]
fn a_year_of_nothing_takes_no_time() {
    let text = reads("think_time = \"8000 h\"\n[run]\nrequests = 4\n");
    let run = run(&experiment(&text, &[]));
    let series = run.measured().series();
    assert!(series.len() <= 4096);
    let Some(Values::U64(reads)) = series.column("reads") else { panic!("there are reads") };
    assert_eq!(reads.iter().sum::<u64>(), 4);
    let end = 4 * (8_000 * 3_600 * 1_000_000 + READ_US) * US;
    assert_eq!(series.ends().last().map(|end| end.as_ns()), Some(end));
}

// ---- runs that would not end ------------------------------------------------------------

fn error(text: &str, overrides: &[common::Override]) -> String {
    let error = try_run(&experiment(text, overrides)).map(|_| ()).expect_err("it cannot be");
    println!("{error}");
    error
}

#[test]
fn commands_that_take_no_time_do_not_go_on_for_ever() {
    // `check` cannot know what flushes of a volatile buffer wait for: here nothing.
    let text =
        "[[workload]]\nname = \"barrier\"\nmix = { flush = \"100 %\" }\n[run]\ntime = \"1 s\"\n";
    let error = error(text, &[set("buffer.durability", "volatile")]);
    assert!(error.contains("\"barrier\"") && error.contains("stop.requests"), "{error}");
    // All requests that are asked for are served, however much simulated time that takes.
    let text = text.replace("time = \"1 s\"", "requests = 1500000");
    let bounded =
        experiment(&text, &[set("buffer.durability", "volatile"), set("run.audit", "false")]);
    assert_eq!(common::counted(&common::run_fast(&bounded)), 1_500_000);
}

#[test]
fn requests_beyond_all_time_are_refused_by_the_name_of_their_workload() {
    // A year between two of them: the fifth comes after 4.5 years.
    let error = error(&reads("think_time = \"8760 h\"\n[run]\nrequests = 10\n"), &[]);
    assert!(error.contains("\"host\"") && error.contains("4.5 years"), "{error}");
    // A limit in time ends it before.
    let text = reads("think_time = \"3000 h\"\n[run]\ntime = \"8760 h\"\n");
    assert_eq!(common::counted(&run(&experiment(&text, &[]))), 2);
}

#[test]
fn work_beyond_all_time_is_refused_too() {
    // Each read takes half a year, and they go one after the other.
    let text = reads("queue_depth = 32\n[run]\nrequests = 32\n");
    let error = error(&text, &[set("nand.read", "[\"4380 h\"]")]);
    assert!(error.contains("\"host\"") && error.contains("4.5 years"), "{error}");
}

#[test]
fn a_link_that_is_busy_beyond_all_time_is_refused() {
    // A read of 1 MiB takes 12 days; 256 of them take 8.5 years.
    let text = reads("size = \"1 MiB\"\nqueue_depth = 256\n[run]\nrequests = 256\n");
    let error = error(&text, &[set("link.rate", "1 B/s")]);
    assert!(error.contains("\"host\"") && error.contains("drive.link.rate"), "{error}");
}

#[test]
fn a_queue_that_is_deeper_than_the_run_is_long_takes_no_more() {
    let text = reads("queue_depth = 4294967295\n[run]\nrequests = 20\n");
    let deep = run(&experiment(&text, &[]));
    let same = run(&experiment(&reads("queue_depth = 20\n[run]\nrequests = 20\n"), &[]));
    assert_eq!(deep.device().digest(), same.device().digest());
}

#[test]
fn filling_deep_queues_can_be_interrupted() {
    let text =
        reads("queue_depth = 300000\nthink_time = { mean = \"1 s\" }\n[run]\nrequests = 10\n");
    let experiment = experiment(&text, &[]);
    let mut run = Run::new(&experiment, &[None], &mut |_| true).unwrap().unwrap();
    // 2^16 places were filled when it was made.
    for _ in 0..2 {
        assert!(run.advance(100_000).unwrap());
        assert_eq!(run.issued(), 0);
    }
    while run.advance(100_000).unwrap() {}
    assert_eq!(run.issued(), 10);
}

/// A run that never catches up with a backlog limited to so many bytes, and its end.
fn end_of(text: &str, backlog: u64) -> (Run, RunError) {
    let experiment = experiment(text, &[]);
    let mut run = Run::new(&experiment, &[None], &mut |_| true).unwrap().unwrap();
    run.limit_backlog(backlog);
    loop {
        match run.advance(1 << 10) {
            Ok(more) => assert!(more, "it never catches up"),
            Err(error) => break (run, error),
        }
    }
}

#[test]
fn an_overload_of_large_requests_ends_as_early() {
    // Each of 256 KiB takes 64 operations; they and the request are of 96 bytes: 6,240.
    let text = reads(
        "size = \"256 KiB\"\narrivals = { process = \"constant\", rate = \"1 MIOPS\" }\nqueue_depth = 1000000\n[run]\ntime = \"1 h\"\n",
    );
    let (run, error) = end_of(&text, 32 << 20);
    assert!(error.to_string().contains("overload"), "{error}");
    // 32 MiB hold 5,377 of them. Memory grows by doubling, with the old copy beside the new one.
    assert!((1_344..5_378).contains(&run.issued()), "{}", run.issued());
}

#[test]
fn an_overload_ends_when_memory_would() {
    // 8 k/s are served, a million come.
    let text = reads(
        "arrivals = { process = \"constant\", rate = \"1 MIOPS\" }\nqueue_depth = 4\n[run]\ntime = \"1 h\"\n",
    );
    let (run, error) = end_of(&text, 1 << 20);
    println!("{error}");
    let RunError::Workload { workload, problem } = error else { panic!("it is the workload's") };
    assert_eq!(workload, "host");
    assert!(problem.contains("overload") && problem.contains("lower the rate"), "{problem}");
    // 2^20 bytes are 2^13 requests of 128 bytes; a part of them was under way or done.
    assert!((8_000..8_400).contains(&run.issued()), "{}", run.issued());
}

// ---- collected blocks ----------------------------------------------------------

/// Every full block of the drive has one invalid page of sixteen: 60 writes, a block apart, fill
/// three blocks more, and later writes cause cleaning.
const ONE_OF_SIXTEEN: &str = "
    [precondition]
    fill = \"sequential\"
    age.overwrites = 0.0
    [[workload]]
    name = \"writer\"
    reads = \"0 %\"
    addresses = { pattern = \"strided\", stride = \"64 KiB\" }
    stop.requests = 49
    [[workload]]
    name = \"reader\"
    reads = \"100 %\"
    think_time = \"500 us\"
    [run]
    time = \"60 ms\"
";

fn one_of_sixteen() -> [common::Override; 2] {
    // The last write waits in the buffer and delays nobody.
    [set("ftl.over_provisioning.exported", "3840 KiB"), set("buffer.durability", "volatile")]
}

#[test]
fn a_collected_block_counts_with_all_that_was_moved_of_it_and_no_other() {
    // One page of sixteen of the erased blocks was invalid, whenever counting begins and ends, in
    // the middle of moves or not.
    let (mut before, mut behind) = (0, 0);
    for from in (18..40).step_by(2) {
        for to in (from + 3..60).step_by(7) {
            let mut given = one_of_sixteen().to_vec();
            given.push(set("run.time", format!("{to} ms")));
            given.push(set("run.warm_up.time", format!("{from} ms")));
            let experiment = experiment(ONE_OF_SIXTEEN, &given);
            let mut run = run(&experiment);
            let collection = &summary_of(&mut run, &experiment)["collection"];
            let tally = run.measured().tally();
            let expected = (tally.erases > 0).then_some(1.0 / 16.0);
            assert_eq!(collection["cleaning_efficiency"], json!(expected), "{from} to {to} ms");
            if expected.is_none() {
                continue;
            }
            let moved = tally.units[Source::Gc as usize];
            before += u32::from(moved < tally.moved);
            behind += u32::from(moved > tally.moved);
        }
    }
    assert!(before > 0 && behind > 0, "{before} windows began amid moves, {behind} ended there");
}

// ---- notes ---------------------------------------------------------------------------

fn notes_of(text: &str, overrides: &[common::Override]) -> Vec<String> {
    let experiment = experiment(text, overrides);
    let mut run = run(&experiment);
    notes(&mut run, &experiment)
}

fn notes(run: &mut Run, experiment: &Experiment) -> Vec<String> {
    let summary = summary_of(run, experiment);
    let notes = summary["notes"].as_array().unwrap();
    notes.iter().map(|note| note.as_str().unwrap().to_owned()).collect()
}

fn summary_of(run: &mut Run, experiment: &Experiment) -> Value {
    let text = serde_json::to_string(experiment).unwrap();
    let (_, checked) = load::load_json(&text, "test.json", &[]).unwrap();
    let outcome = Outcome { host_cpu_seconds: 0.0, complete: true };
    let surveys = vec![None; experiment.workload.len()];
    summary(run, experiment, &checked, &surveys, outcome)
}

#[track_caller]
fn expect(notes: &[String], phrases: &[&str]) {
    let says = |note: &String| phrases.iter().all(|phrase| note.contains(phrase));
    assert!(notes.iter().any(says), "no note has {phrases:?}: {notes:#?}");
}

#[track_caller]
fn expect_none(notes: &[String], phrase: &str) {
    assert!(!notes.iter().any(|note| note.contains(phrase)), "{notes:#?}");
}

#[test]
fn a_run_that_counted_nothing_says_so() {
    let warm_up =
        |time: &str| reads(&format!("[run]\nrequests = 8\nwarm_up = {{ time = \"{time}\" }}\n"));
    expect(&notes_of(&warm_up("2 ms"), &[]), &["before its warm-up was over"]);
    // The eighth read arrived before.
    expect(&notes_of(&warm_up("900 us"), &[]), &["no request was counted"]);
    expect_none(&notes_of(&warm_up("700 us"), &[]), "counted");
}

#[test]
fn power_cuts_that_did_not_come_are_told() {
    let told = |cuts: &str| {
        let text = reads("[run]\nrequests = 8\n");
        notes_of(&text, &[set("recovery.map", "scan"), set("run.power_cut", cuts)])
    };
    let (early, late) = ("{ at = \"300 us\" }", "{ at = \"1 h\" }");
    let three = |first: &str| format!("[{first}, {late}, {late}]");
    expect_none(&told(early), "power cut");
    expect(&told(late), &["the run ended before its power cut"]);
    expect(&told(&three(late)), &["the run ended before the first of its 3 power cuts"]);
    expect(&told(&three(early)), &["the run ended after 1 of its 3 power cuts"]);
}

#[test]
fn a_run_that_erases_nothing_says_so() {
    let writes = |fill: &str, requests: u32| {
        format!(
            "{fill}[[workload]]\nname = \"host\"\nreads = \"0 %\"\n[run]\nrequests = {requests}\n"
        )
    };
    let (fill, aged) = (
        "[precondition]\nfill = \"random\"\n",
        "[precondition]\nfill = \"random\"\nage = { overwrites = 2.0 }\n",
    );
    expect(&notes_of(&writes("", 100), &[]), &["no garbage collection happened", "fill and age"]);
    expect(&notes_of(&writes(fill, 100), &[]), &["no garbage collection happened"]);
    expect(&notes_of(&writes(aged, 2), &[]), &["no block was erased while"]);
    let long = notes_of(&writes(aged, 3_000), &[]);
    expect_none(&long, "no block was erased");
    expect_none(&long, "no garbage collection");
    // Reads alone program nothing.
    expect_none(&notes_of(&reads("[run]\nrequests = 8\n"), &[]), "erased");
}

#[test]
fn a_backlog_that_grows_is_noted_and_one_that_does_not_is_not() {
    // 8 k/s are served.
    let at = |rate: &str| {
        reads(&format!(
            "arrivals = {{ process = \"poisson\", rate = \"{rate}\" }}\n[run]\nrequests = 4000\n"
        ))
    };
    expect(&notes_of(&at("12 kIOPS"), &[]), &["overload", "of the 4,000 requests of \"host\""]);
    expect_none(&notes_of(&at("4 kIOPS"), &[]), "overload");
}

#[test]
fn small_drives_are_aged_until_steady_and_others_say_that_they_are_not() {
    let age = |overwrites: &str| {
        format!(
            "[precondition]\nfill = \"random\"\nage = {{ overwrites = {overwrites}, until_steady = true }}\n{}",
            common::BY_HAND
        )
    };
    for (planes, blocks, pages) in [(1, 24, 16), (1, 64, 16), (4, 32, 64), (2, 48, 256)] {
        let overrides = [
            set("geometry.planes_per_die", planes),
            set("geometry.blocks_per_plane", blocks),
            set("geometry.pages_per_block", pages),
            set("run.audit", "false"),
        ];
        let run = run(&experiment(&age("200.0"), &overrides));
        let done = run.history().preconditioned.clone();
        println!("{planes} planes, {blocks} blocks of {pages} pages: {done:?}");
        assert_eq!(done.steady, Some(true), "{planes} planes, {blocks} blocks of {pages} pages");
    }
    let notes = notes_of(&age("1.0"), &[]);
    expect(&notes, &["before write amplification was steady", "in its last window"]);
}

// ---- the log of requests -------------------------------------------------------------

#[test]
fn a_log_has_counted_requests_in_order_of_completion_with_their_numbers() {
    // Reads one behind the other, 125 us each; the warm-up takes the first three.
    let text = reads("[run]\nrequests = 8\nwarm_up = { requests = 3 }\n");
    let mut run = logged(&experiment(&text, &[]));
    let log = run.request_log().expect("it was asked for");
    let numbers: Vec<u64> = log.rows().iter().map(|row| row.number).collect();
    assert_eq!(numbers, [3, 4, 5, 6, 7]);
    let finished: Vec<u64> = log.rows().iter().map(|row| row.finished.as_ns()).collect();
    assert_eq!(finished, [4, 5, 6, 7, 8].map(|nth| nth * READ_US * US));
    log.clear();
    assert!(log.rows().is_empty());
    assert!(metrics::State::ALL.iter().all(|state| log.spent_ns(*state).is_empty()));
}

#[test]
fn a_log_finds_requests_that_think_times_have_reordered() {
    let text = reads("queue_depth = 16\nthink_time = { mean = \"1 ms\" }\n[run]\nrequests = 400\n");
    let mut run = logged(&experiment(&text, &[]));
    let log = run.request_log().expect("it was asked for");
    let mut numbers: Vec<u64> = log.rows().iter().map(|row| row.number).collect();
    assert!(!numbers.is_sorted(), "they come in another order than they are drawn in");
    numbers.sort_unstable();
    // All requests that were issued, once each. Some that were drawn last may never be issued.
    numbers.dedup();
    assert_eq!(numbers.len(), 400);
    assert!(numbers.iter().all(|number| *number < 400 + 16));
    let mut sums = vec![0; log.rows().len()];
    for state in metrics::State::ALL {
        for (sum, ns) in sums.iter_mut().zip(log.spent_ns(state)) {
            *sum += ns;
        }
    }
    let latency = |row: &drive::requests::Logged| (row.finished - row.arrived).as_ns();
    assert_eq!(sums, log.rows().iter().map(latency).collect::<Vec<_>>());
}

/// Runs to the end with a log.
fn logged(experiment: &Experiment) -> Run {
    let mut run = Run::new(experiment, &[None], &mut |_| true)
        .expect("there is space")
        .expect("nothing interrupts it");
    run.log_requests();
    while run.advance(1 << 10).expect("it can be simulated") {}
    run.finish();
    run
}
