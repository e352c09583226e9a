//! Standstills of closed loops against a model that reads the log of requests, and reads of a closed loop
//! against those of an open one.

use crate::common::{Override, experiment, run_fast, set};
use drive::Run;
use drive::closed_loop::{LEAST, Stood};
use drive::requests::Logged;
use engine::Span;
use host::Kind;
use metrics::{LEDGER_STATES, State};
use std::collections::BTreeSet;

const PAGE: u64 = 4_096;

/// Dies of which each has a channel and a pool of its own: page *n* lies on die *n* modulo their number.
fn dies(count: u64, more: &[Override]) -> Vec<Override> {
    let own = [
        set("geometry.channels", count),
        set("ftl.allocation.pool", "die"),
        set("precondition.fill", "sequential"),
    ];
    [&own[..], more].concat()
}

/// A request of the log, with its service and its waits for flash.
struct Row {
    of: Logged,
    service: u64,
    on_flash: u64,
}

/// Runs an experiment with a log; returns it, and the requests of its first initiator.
fn logged(text: &str, overrides: &[Override]) -> (Run, Vec<Row>) {
    let experiment = experiment(text, overrides);
    let surveys = vec![None; experiment.workload.len()];
    let mut run = Run::new(&experiment, &surveys, &mut |_| true).unwrap().unwrap();
    run.log_requests();
    while run.advance(1 << 12).unwrap_or_else(|error| panic!("{error}")) {}
    run.finish();
    let log = run.request_log().expect("it is kept");
    let mut rows: Vec<Row> =
        log.rows().iter().map(|of| Row { of: *of, service: 0, on_flash: 0 }).collect();
    for state in State::ALL {
        for (row, ns) in rows.iter_mut().zip(log.spent_ns(state)) {
            row.service += if state.is_service() { ns } else { 0 };
            row.on_flash += if (state as usize) < LEDGER_STATES { ns } else { 0 };
        }
    }
    rows.retain(|row| row.of.initiator == 0);
    (run, rows)
}

/// All standstills, and those behind one die, as a list of all requests tells them.
fn naive(rows: &[Row], depth: usize, dies: u64) -> [Stood; 2] {
    let mut found = [Stood::default(); 2];
    let mut add = |at: usize, lasted: u64| {
        let (stood, lasted) = (&mut found[at], Span::from_ns(lasted));
        stood.count += 1;
        stood.time += lasted;
        stood.longest = stood.longest.max(lasted);
    };
    for (last, row) in rows.iter().zip(rows.iter().skip(1)) {
        let (from, to) = (last.of.finished, row.of.finished);
        let pause = (to - from).as_ns();
        let waits = (to - row.of.arrived).as_ns() - row.service;
        let lasted = pause.saturating_sub(row.service).min(waits);
        let there = |other: &&Row| other.of.arrived <= from && other.of.finished >= to;
        let queue: Vec<&Row> = rows.iter().filter(there).collect();
        if lasted < LEAST.as_ns() || queue.len() < depth {
            continue;
        }
        assert_eq!(queue.len(), depth, "a closed loop has no more");
        add(0, lasted);
        let on: BTreeSet<u64> = queue.iter().map(|of| of.of.command.offset / PAGE % dies).collect();
        let are_reads = queue.iter().all(|of| of.of.command.kind == Kind::Read);
        if on.len() == 1 && are_reads && row.on_flash >= lasted {
            add(1, lasted);
        }
    }
    found
}

#[test]
fn standstills_are_those_of_the_log() {
    let mut seen = [0; 2];
    for (depth, reads, writes) in
        [(1, 100, 900), (2, 100, 900), (6, 100, 900), (3, 80, 300), (1, 60, 500)]
    {
        let text = format!(
            "[[workload]]\nname = \"reader\"\nreads = \"{reads} %\"\nsize = \"4 KiB\"\n\
             queue_depth = {depth}\n\
             [[workload]]\nname = \"writer\"\nreads = \"0 %\"\nsize = \"4 KiB\"\n\
             arrivals = {{ process = \"poisson\", rate = \"{writes} /s\" }}\n\
             [run]\ntime = \"2 s\"\n"
        );
        let seed = floor::seed(51);
        for count in [1, 3] {
            let (run, rows) = logged(&text, &dies(count, &[set("seed", seed)]));
            let [reader, writer] = run.measured().initiators() else { panic!("two of them") };
            assert!(writer.closed_loop.is_none(), "it is an open loop");
            let closed = reader.closed_loop.as_ref().expect("a closed loop");
            let expected = naive(&rows, depth, count);
            assert_eq!([closed.all, closed.behind_one], expected, "{depth} {reads} {count}");
            let waits: u64 = closed.waits_ns.iter().sum();
            // Each is rounded down.
            let lost = closed.behind_one.time.as_ns() - waits;
            assert!(lost <= closed.behind_one.count * LEDGER_STATES as u64, "{lost}");
            seen[0] += closed.all.count - closed.behind_one.count;
            seen[1] += closed.waits_ns[State::UnitErase as usize];
        }
    }
    assert!(seen.iter().all(|seen| *seen > 0), "all kinds occur: {seen:?}");
}

/// Blocks are erased for 5 ms at times of their own: scrubbing takes one each 5 ms, on four dies in turn.
/// Their pages are few, so that erases are most of what reads wait for.
fn erased_in_turn(arrivals: &str) -> Run {
    let text = format!(
        "[[workload]]\nname = \"reader\"\nreads = \"100 %\"\nsize = \"4 KiB\"\n{arrivals}\n\
         [run]\ntime = \"20 s\"\naudit = false\n"
    );
    let scrubbed = [
        set("geometry.pages_per_block", 2),
        set("geometry.blocks_per_plane", 128),
        set("nand.erase.execute", "5 ms"),
        set("ftl.scrub.interval", "25 ms"),
        set("ftl.scrub.choice", "oldest"),
        set("run.audit", false),
    ];
    run_fast(&experiment(&text, &dies(4, &scrubbed)))
}

/// At several depths and rates, reads of an open loop meet erases as often as these last, and their tail
/// is nearer to the corrected one of the closed loop than to its own.
#[test]
fn an_open_loop_has_the_tail_of_the_corrected_closed_one() {
    for (depth, quantile) in [(1, 0.99), (2, 0.99), (4, 0.99), (8, 0.99)] {
        let closed = erased_in_turn(&format!("queue_depth = {depth}"));
        let shares = closed.measured().unit_shares();
        let shares = drive::closed_loop::Shares::of_units(shares.into_iter()).unwrap();
        // A block of four dies each 25 ms.
        assert!((shares.erase - 5.0 / 100.0).abs() < 0.002, "{shares:?}");
        let [stats] = closed.measured().initiators() else { panic!("one") };
        let reads = &stats.kinds[Kind::Read.index()].as_ref().unwrap().latency;
        let queue = stats.closed_loop.as_ref().unwrap();
        let corrected = queue.corrected(reads, shares).expect("too few met erases");
        let (own, corrected) =
            (reads.percentile(quantile).unwrap(), corrected.percentile(quantile));
        let rate = reads.count() as f64 / 20.0;
        for part in [0.9, 0.6] {
            let rate = (rate * part) as u64;
            let open = erased_in_turn(&format!(
                "arrivals = {{ process = \"poisson\", rate = \"{rate} /s\" }}"
            ));
            let [stats] = open.measured().initiators() else { panic!("one") };
            let stats = stats.kinds[Kind::Read.index()].as_ref().unwrap();
            let seen = stats.latency.percentile(quantile).unwrap();
            println!(
                "depth {depth}, {rate}/s: closed {own:?}, corrected {corrected:?}, open {seen:?}"
            );
            let ratio = |of: Span| of.as_ns() as f64 / seen.as_ns() as f64;
            assert!((0.75..1.25).contains(&ratio(corrected)), "depth {depth}, {rate}/s");
            assert!((ratio(corrected) - 1.0).abs() < (ratio(own) - 1.0).abs() || ratio(own) > 0.9);
        }
    }
}
