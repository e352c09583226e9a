//! Whole runs with power cuts, and refusals.

use crate::common::{self, experiment, run, set, try_experiment};
use crate::power::{LOOK, US, ns, recovering};
use drive::recovery::Outage;
use engine::Instant;
use host::Kind;
use metrics::State;

const MIXED: &str = "
    [precondition]
    fill = \"random\"
    age.overwrites = 2.0
    [[workload]]
    name = \"closed\"
    mix = { read = \"30 %\", write = \"60 %\", trim = \"5 %\", flush = \"5 %\" }
    queue_depth = 8
    [[workload]]
    name = \"open\"
    reads = \"50 %\"
    arrivals = { process = \"poisson\", rate = \"500 IOPS\" }
    [run]
    requests = 2000
";

#[test]
fn a_run_goes_on_after_power_cuts_and_is_the_same_each_time() {
    for (durability, map) in [
        ("none", "scan"),
        ("volatile", "scan"),
        ("capacitor", "{ policy = \"checkpoint\", units = 100 }"),
        ("volatile", "{ policy = \"checkpoint\", every = \"20 ms\" }"),
        ("capacitor", "persistent"),
    ] {
        let experiment = experiment(
            MIXED,
            &[
                set("buffer.durability", durability),
                set("recovery.map", map),
                set(
                    "run.power_cut",
                    "[{ at = \"50 ms\" }, { after_events = 3000 }, { within = \"300 ms\" }]",
                ),
            ],
        );
        let first = run(&experiment);
        let again = run(&experiment);
        assert_eq!(first.outages().len(), 3, "{durability}, {map}");
        assert_eq!(first.outages(), again.outages());
        assert_eq!(first.device().digest(), again.device().digest());
        // The cut with a given moment comes then, whatever comes before.
        let at = Instant::from_ns(50_000 * US);
        assert_eq!(first.outages().iter().filter(|outage| outage.at == at).count(), 1);
        assert!(first.lost_requests() > 0);
    }
}

#[test]
fn requests_of_open_loops_wait_for_the_drive() {
    // With one place the second waiting request also waits for the first, which takes 300 us.
    for (depth, queued) in [("", 0), ("queue_depth = 1", 300 * US)] {
        open_loop_waits_for_the_drive(depth, queued);
    }
}

fn open_loop_waits_for_the_drive(depth: &str, queued: u64) {
    let text = format!(
        "
        [[workload]]
        name = \"open\"
        reads = \"0 %\"
        size = \"4 KiB\"
        arrivals = {{ process = \"constant\", rate = \"1 kIOPS\" }}
        {depth}
        [run]
        requests = 10
    "
    );
    let given = recovering(&[
        set("geometry.blocks_per_plane", 64),
        set("run.power_cut", "{ at = \"1.5 ms\" }"),
    ]);
    let run = run(&experiment(&text, &given));
    let [outage] = run.outages() else { panic!("one cut") };
    assert_eq!((outage.at, outage.lost_requests), (Instant::from_ns(1_500_000), 0));
    // Two requests came before, at 0 and at 1 ms; 64 blocks are scanned, two more pages of one of
    // them.
    assert_eq!(ns(outage.took), (63 + 3) * LOOK);
    let up_at = 1_500 * US + 66 * LOOK;
    let waiting = (2..10).filter(|ms| ms * 1_000 * US < up_at).count();
    assert_eq!(waiting, 2);
    let stats = common::stats(&run, 0, Kind::Write);
    assert_eq!(stats.latency.count(), 10);
    // The first waiting request came at 2 ms and is written in 300 us.
    let longest = stats.latency.max().unwrap();
    assert_eq!(ns(longest), up_at + 300 * US - 2_000 * US);
    let blamed = |state: State| stats.bands.total()[state as usize];
    assert_eq!(blamed(State::PowerOff), 2 * up_at - (2_000 + 3_000) * US);
    assert_eq!(blamed(State::QueueDepth), queued);
}

#[test]
fn a_think_time_that_ends_without_power_is_followed_by_waiting_for_it() {
    // Writes of 300 us, a millisecond of think time before each: at 1 ms, and at 2.3 ms, when the
    // drive is off; the next comes 1.3 ms after the earliest possible start of that one.
    let text = "
        [[workload]]
        name = \"thinker\"
        reads = \"0 %\"
        size = \"4 KiB\"
        think_time = \"1 ms\"
        [run]
        requests = 3
    ";
    let run = run(&experiment(text, &recovering(&[set("run.power_cut", "{ at = \"1.5 ms\" }")])));
    let [outage] = run.outages() else { panic!("one cut") };
    assert_eq!(outage.lost_requests, 0);
    // One page of each of 64 blocks, and one more page of the block that is written.
    let up_at = 1_500 * US + 65 * LOOK;
    assert_eq!(ns(outage.took), 65 * LOOK);
    let stats = common::stats(&run, 0, Kind::Write);
    assert_eq!(stats.latency.count(), 3);
    assert_eq!(ns(stats.latency.max().unwrap()), up_at + 300 * US - 2_300 * US);
    let blamed = |state: State| stats.bands.total()[state as usize];
    assert_eq!(blamed(State::PowerOff), up_at - 2_300 * US);
    assert_eq!(blamed(State::QueueDepth), 0);
    assert_eq!(run.elapsed().as_ns(), up_at + (300 + 1_000 + 300) * US);
}

#[test]
fn what_replaces_a_lost_request_is_asked_for_when_the_drive_is_there() {
    // Without think time the cut hits the fourth write; with half a millisecond before each write
    // it hits the second, from 1.3 to 1.6 ms. The next write, or its think time, begins when the
    // drive is on again.
    for (think, cut, written) in [(0, "1.1 ms", 3), (500, "1.5 ms", 1)] {
        let text = format!(
            "[[workload]]\nname = \"closed\"\nreads = \"0 %\"\nsize = \"4 KiB\"\n\
             think_time = \"{think} us\"\n[run]\nrequests = 5\n"
        );
        let given = recovering(&[set("run.power_cut", format!("{{ at = \"{cut}\" }}"))]);
        let run = run(&experiment(&text, &given));
        let [outage] = run.outages() else { panic!("one cut") };
        assert_eq!((outage.lost_requests, run.issued()), (1, 5));
        let stats = common::stats(&run, 0, Kind::Write);
        assert_eq!(stats.latency.count(), 4);
        assert_eq!(ns(stats.latency.max().unwrap()), 300 * US);
        assert_eq!(stats.bands.total()[State::PowerOff as usize], 0);
        let up_at = outage.at + outage.took;
        let left = (4 - written) * (think + 300) * US;
        assert_eq!(run.elapsed().as_ns(), up_at.as_ns() + left);
    }
}

#[test]
fn a_run_that_ends_in_an_outage_answers_what_was_asked_for_before() {
    // The second request comes at 2.3 ms and the run ends at 2.5 ms; the drive is on again at 3.2
    // ms.
    let text = "
        [[workload]]
        name = \"thinker\"
        reads = \"0 %\"
        size = \"4 KiB\"
        think_time = \"1 ms\"
        [run]
        time = \"2.5 ms\"
    ";
    let run = run(&experiment(text, &recovering(&[set("run.power_cut", "{ at = \"1.5 ms\" }")])));
    let stats = common::stats(&run, 0, Kind::Write);
    assert_eq!((run.issued(), stats.latency.count()), (2, 2));
    assert_eq!(run.elapsed().as_ns(), 1_500 * US + 65 * LOOK + 300 * US);
}

#[test]
fn a_second_cut_begins_the_recovery_anew() {
    let given = recovering(&[set("run.power_cut", "[{ at = \"1 ms\" }, { at = \"2 ms\" }]")]);
    let text = "[[workload]]\nname = \"host\"\nreads = \"0 %\"\n[run]\nrequests = 20\n";
    let run = run(&experiment(text, &given));
    let [first, second] = run.outages() else { panic!("two cuts") };
    assert!(first.interrupted && !second.interrupted);
    // The fourth write is being programmed; it was under way only at the first cut.
    let did = |of: &Outage| (of.half_programmed, of.closed_early, of.units);
    assert_eq!((did(first), did(second)), ((1, 1, 3), (0, 0, 3)));
    assert_eq!(ns(first.took), 1_000 * US);
    assert_eq!(second.took, first.parts[1]);
    assert_eq!((first.lost_requests, second.lost_requests), (1, 0));
}

#[test]
fn a_cut_at_the_beginning_finds_what_was_preconditioned() {
    let given = recovering(&[
        set("run.power_cut", "{ after_events = 0 }"),
        set("precondition.fill", "random"),
    ]);
    let text = "[[workload]]\nname = \"host\"\nreads = \"50 %\"\n[run]\nrequests = 100\n";
    let run = run(&experiment(text, &given));
    let [outage] = run.outages() else { panic!("one cut") };
    assert_eq!((outage.at, outage.units), (Instant::START, 768));
}

#[test]
fn the_cuts_of_a_file_are_left_out_by_a_word() {
    for cuts in ["{ at = \"1 ms\" }", "[{ at = \"1 ms\" }, { within = \"2 ms\" }]"] {
        let text = format!(
            "[[workload]]\nname = \"host\"\nreads = \"0 %\"\n[run]\ntime = \"10 ms\"\npower_cut = {cuts}\n"
        );
        assert!(experiment(&text, &recovering(&[])).run.power_cut.is_some());
        let without = experiment(&text, &recovering(&[set("run.power_cut", "none")]));
        assert!(without.run.power_cut.is_none(), "{cuts}");
        // Requests of another kind take their places and are not joined with them.
        let other =
            experiment(&text, &recovering(&[set("run.power_cut", "{ within = \"3 ms\" }")]));
        assert_eq!(other.run.power_cut.map(|cuts| cuts.all().len()), Some(1), "{cuts}");
        for nothing in ["{}", "[]"] {
            let refused = try_experiment(&text, &recovering(&[set("run.power_cut", nothing)]));
            let problem = refused.expect_err("nothing is no power cut");
            assert!(problem.contains("\"none\""), "{problem}");
        }
    }
}

#[test]
fn cuts_that_mean_nothing_are_refused() {
    let text = "[[workload]]\nname = \"host\"\nreads = \"0 %\"\n[run]\ntime = \"10 ms\"\n";
    for (overrides, said) in [
        (vec![set("run.power_cut", "{ at = \"1 ms\" }")], "[drive.recovery]"),
        (recovering(&[set("run.power_cut", "{ at = \"10 ms\" }")]), "the run ends before"),
        (recovering(&[set("run.power_cut", "{ within = \"11 ms\" }")]), "may end before"),
        (recovering(&[set("run.power_cut", "[]")]), "an empty list"),
        (recovering(&[set("run.power_cut", "{ at = \"1 ms\", after_events = 3 }")]), "exactly one"),
        (recovering(&[set("recovery.map", "{ policy = \"checkpoint\" }")]), "exactly one"),
        (vec![set("recovery.map", "persistent"), set("recovery.trims", "volatile")], "keeps trims"),
        // 64 blocks of 16 rows, each read for a year.
        (recovering(&[set("nand.read", "[\"8760 h\"]")]), "longer than 146 years"),
        // 2^32 checkpoints of 1.6 * 10^9 entries.
        (
            vec![
                set("recovery.map", "{ policy = \"checkpoint\", every = \"1 ns\" }"),
                set("geometry.channels", 64),
                set("geometry.dies_per_package", 8),
                set("geometry.blocks_per_plane", 4096),
                set("geometry.pages_per_block", 1024),
            ],
            "more than 2^64 bytes",
        ),
    ] {
        let refused = try_experiment(text, &overrides).err();
        let refused = refused.unwrap_or_else(|| panic!("{overrides:?} is not refused"));
        assert!(refused.contains(said), "{overrides:?}: {refused}");
    }
}
