//! A run is a function of its experiment: it has the same digest again, in one process and in
//! parallel threads; and each user of random numbers has a stream of its own, named after it.

use crate::common::{Override, experiment, run, set};
use drive::{Experiment, Run};
use host::Command;

/// A drive with many random draws, queues and ties: two initiators, all kinds of request on two
/// channels, random victims, wear, bad blocks, a nearly full drive.
fn mixed(more: &[Override]) -> Experiment {
    let text = "
[precondition]
fill = \"random\"
age = { overwrites = 0.5 }
[[workload]]
name = \"closed\"
mix = { read = \"60 %\", write = \"35 %\", trim = \"3 %\", flush = \"1 %\", write_zeroes = \"1 %\" }
size = [{ size = \"512 B\", share = \"30 %\" }, { size = \"16 KiB\", share = \"70 %\" }]
addresses = { pattern = \"zipf\", theta = 0.9 }
queue_depth = 16
[[workload]]
name = \"open\"
reads = \"50 %\"
priority = \"high\"
arrivals = { process = \"poisson\", rate = \"800 /s\" }
queue_depth = 8
[run]
requests = 6000
";
    let mut overrides = vec![
        set("geometry.channels", 2),
        set("geometry.dies_per_package", 2),
        set("geometry.planes_per_die", 2),
        set("geometry.blocks_per_plane", 40),
        set("ftl.block_planes", 2),
        set("ftl.over_provisioning.spare", "20 %"),
        set("ftl.bad_blocks", "{ factory = \"0 %\", grown_per_erase = \"0.01 %\" }"),
        set("ftl.gc.victim", "{ policy = \"d-choices\", choices = 3 }"),
        set("ftl.gc.background", "3 blocks"),
        set("ftl.gc.stop", "4 blocks"),
        set("concurrency.read", "plane"),
        set("buffer.durability", "volatile"),
        set("buffer.size", "256 KiB"),
        set("link.rate", "100 MB/s"),
        set("firmware", "{ read = '1 us', write = '1 us', trim = '1 us', flush = '1 us' }"),
    ];
    overrides.extend_from_slice(more);
    experiment(text, &overrides)
}

fn digest(experiment: &Experiment) -> u64 {
    run(experiment).device().digest()
}

#[test]
fn the_same_experiment_gives_the_same_digest() {
    let experiment = mixed(&[]);
    let first = digest(&experiment);
    println!("digest {first:016x}");
    assert_eq!(digest(&experiment), first, "again");
    let threads: Vec<_> = (0..4)
        .map(|_| {
            let experiment = experiment.clone();
            std::thread::spawn(move || digest(&experiment))
        })
        .collect();
    for thread in threads {
        assert_eq!(thread.join().expect("it ends"), first, "beside others");
    }
}

#[test]
fn how_far_it_advances_at_a_time_does_not_matter() {
    let experiment = mixed(&[]);
    let by = |events: u64| {
        let mut run = Run::new(&experiment, &[None, None], &mut |_| true)
            .unwrap_or_else(|error| panic!("{error}"))
            .expect("nobody interrupts it");
        while run.advance(events).unwrap_or_else(|error| panic!("{error}")) {}
        run.device().digest()
    };
    assert_eq!(by(1), by(1_000_000));
    assert_eq!(by(1), by(7));
}

#[test]
fn another_seed_gives_another_digest() {
    let digests: Vec<u64> = (1..=8).map(|seed| digest(&mixed(&[set("seed", seed)]))).collect();
    let mut distinct = digests.clone();
    distinct.sort_unstable();
    distinct.dedup();
    assert_eq!(distinct.len(), digests.len(), "{digests:x?}");
}

#[test]
fn the_audit_changes_nothing() {
    assert_eq!(digest(&mixed(&[])), digest(&mixed(&[set("run.audit", false)])));
}

/// The requests of one initiator, by arrival; and its arrivals.
fn requests(run: &Run, initiator: u32) -> Vec<(u64, Command)> {
    let kept = run.measured().slowest();
    assert_eq!(kept.len() as u64, run.issued(), "all requests are kept");
    let own = kept.iter().filter(|(_, request)| request.initiator == initiator);
    let mut own: Vec<_> =
        own.map(|(_, request)| (request.arrived.as_ns(), request.command)).collect();
    own.sort_by_key(|(at, command)| (*at, command.offset, command.bytes));
    own
}

#[test]
fn a_second_initiator_does_not_move_the_first_ones_requests() {
    let open = |name: &str, requests: u32| {
        format!(
            "[[workload]]\nname = \"{name}\"\nreads = \"50 %\"\n\
             size = {{ mean = \"8 KiB\" }}\naddresses = {{ pattern = \"jesd219\" }}\n\
             arrivals = {{ process = \"poisson\", rate = \"900 /s\" }}\n\
             stop = {{ requests = {requests} }}\n"
        )
    };
    let of = |text: &str| {
        let overrides = [set("record.slowest", 100_000), set("precondition.fill", "sequential")];
        requests(&run(&experiment(text, &overrides)), 0)
    };
    let alone = of(&open("first", 1_500));
    let beside = of(&format!("{}{}", open("first", 1_500), open("second", 2_000)));
    assert_eq!(alone.len(), 1_500);
    assert_eq!(alone, beside, "arrivals and commands stay");
    let renamed = of(&open("other", 1_500));
    assert_ne!(alone, renamed, "numbers depend on the name");
}

#[test]
fn techniques_are_compared_under_the_same_requests() {
    // A policy that draws more numbers, and another drive: the same arrivals.
    let of = |victim: &str, dies: u32| {
        let text = "[precondition]\nfill = \"random\"\n[[workload]]\nname = \"host\"\n\
                    reads = \"30 %\"\narrivals = { process = \"poisson\", rate = \"1000 /s\" }\n\
                    [run]\nrequests = 3000\n";
        let overrides = [
            set("record.slowest", 100_000),
            set("geometry.dies_per_package", dies),
            set("geometry.blocks_per_plane", 128 / dies),
            set("ftl.gc.victim", format!("{{ policy = \"{victim}\" }}")),
        ];
        requests(&run(&experiment(text, &overrides)), 0)
    };
    let greedy = of("greedy", 1);
    assert_eq!(greedy, of("random", 1));
    assert_eq!(greedy, of("random", 4));
}
