//! Scrubbing and collection that wait for turns, permits or quiet moments: neither keeps the other from
//! its work, in any bin. On the drive of [`crate::detours`]: 8 planes that are one group, and a
//! scrubbed block each 5 ms or more often.

use crate::common::{self, Override, experiment, run_fast, set};
use crate::detours::drive;
use engine::Span;
use host::Kind;

/// Work of a run of 8 s with 1,000 writes a second to a quarter of the data.
struct Work {
    collected: u64,
    scrubbed: u64,
    /// Blocks that each bin erased.
    erases: Vec<u64>,
    slowest_write: Span,
    mean_write_ns: f64,
}

fn work(seed: u64, interval: &'static str, way: Override) -> Work {
    work_of("224 KiB", 1_000, &[set("seed", seed), set("ftl.scrub.interval", interval), way])
}

/// As [`work`], with so many writes a second to a region.
fn work_of(region: &str, rate: u64, more: &[Override]) -> Work {
    let text = format!(
        "[[workload]]\nname = \"writer\"\nreads = \"0 %\"\nsize = \"4 KiB\"\n\
         region = {{ size = \"{region}\" }}\n\
         arrivals = {{ process = \"poisson\", rate = \"{rate} /s\" }}\n\
         [run]\ntime = \"8 s\"\n"
    );
    let own = [
        set("precondition.fill", "sequential"),
        set("geometry.blocks_per_plane", 16),
        set("ftl.gc.background", "4 blocks"),
        set("ftl.gc.stop", "5 blocks"),
        set("ftl.scrub.choice", "oldest"),
        set("run.audit", false),
    ];
    let experiment = experiment(&text, &drive(8, &[&own[..], more].concat()));
    let run = run_fast(&experiment);
    let ftl = run.device().ftl();
    let of_bin = |counts: &[u32]| counts.iter().map(|count| u64::from(*count)).sum();
    let erases = ftl.erase_counts().chunks(ftl.layout.blocks_per_bin() as usize);
    let erases: Vec<u64> = erases.map(of_bin).collect();
    let scrubbed = run.device().scrub_counts().expect("it scrubs").blocks;
    let writes = run.measured().initiators()[0].kinds[Kind::Write.index()].as_ref().unwrap();
    let slowest_write = writes.latency.max().expect("there are writes");
    let mean_write_ns = common::mean_ns(&run, 0, Kind::Write);
    let collected = erases.iter().sum::<u64>() - scrubbed;
    Work { collected, scrubbed, erases, slowest_write, mean_write_ns }
}

const FREE: (&str, &str) = ("scheduler.rotation", "none");

/// Ways in which collections wait for something that scrubbing might keep from them.
const WAYS: [(&str, &str); 7] = [
    ("scheduler.rotation", "rotating"),
    ("scheduler.rotation", "{ policy = 'rotating', at_once = 2 }"),
    ("scheduler.rotation", "dynamic"),
    ("ftl.gc.at_once", "{ drive = 1 }"),
    ("ftl.gc.blocking", "controller"),
    ("ftl.gc.background_begins", "quiet-channel"),
    ("ftl.gc.pacing", "proportional"),
];

/// Collections that wait collect as much as those that need not wait: what scrubbing gains, the former
/// need not gain either. All bins have their share, and writes never wait for much longer than without
/// scrubbing.
#[test]
fn neither_waits_for_ever() {
    let seed = floor::seed(61);
    let alone = work(seed, "1000 s", set(FREE.0, FREE.1));
    for interval in ["20 ms", "5 ms", "1 ms"] {
        let free = work(seed, interval, set(FREE.0, FREE.1));
        for (key, value) in WAYS {
            let of = work(seed, interval, set(key, value));
            let told = format!("{interval}, {key} = {value}: {} collected", of.collected);
            assert!(of.collected as f64 >= 0.9 * free.collected as f64, "{told}");
            // Turns leave room for fewer polls than come, and those that come late are one.
            assert!(of.scrubbed as f64 > 0.15 * free.scrubbed as f64, "{told}, {}", of.scrubbed);
            let mean = of.erases.iter().sum::<u64>() as f64 / 8.0;
            let is_fair = |erases: &u64| (*erases as f64 / mean - 1.0).abs() < 0.1;
            assert!(of.erases.iter().all(is_fair), "{told}, {:?}", of.erases);
            let slowest = of.slowest_write;
            assert!(slowest < alone.slowest_write * 2, "{told}, writes of {slowest:?}");
        }
    }
}

/// Blocks of many pages, of which a scrubbed one takes longer than the interval: there is always one, and
/// collections that waited until none is left would not begin before writes wait for space.
#[test]
fn turns_come_although_a_block_is_always_being_scrubbed() {
    let seed = floor::seed(61);
    let crowded = |rotation: &str| {
        let own = [
            set("seed", seed),
            set("geometry.pages_per_block", 32),
            set("ftl.over_provisioning.exported", "3584 KiB"),
            set("ftl.allocation.streams", "separate"),
            set("ftl.gc.copy_back", false),
            set("ftl.gc.stop", "4 blocks"),
            set("ftl.scrub.interval", "5 ms"),
            set("scheduler.rotation", rotation),
        ];
        work_of("356 KiB", 2_000, &own)
    };
    let (free, rotating) = (crowded("none"), crowded("rotating"));
    println!("{} and {} ns", free.mean_write_ns, rotating.mean_write_ns);
    assert!(rotating.mean_write_ns < 4.0 * free.mean_write_ns, "writes wait for space");
    assert!(rotating.collected > rotating.scrubbed, "{}", rotating.collected);
    let large = |rotation: &str| {
        let own = [
            set("seed", seed),
            set("geometry.pages_per_block", 64),
            set("ftl.over_provisioning.exported", "7 MiB"),
            set("ftl.allocation.streams", "separate"),
            set("ftl.gc.background", "5 blocks"),
            set("ftl.gc.stop", "6 blocks"),
            set("ftl.scrub.interval", "4 ms"),
            set("scheduler.rotation", rotation),
        ];
        work_of("7 MiB", 6_000, &own)
    };
    let (free, rotating) = (large("none"), large("rotating"));
    println!("{} and {} collected", free.collected, rotating.collected);
    assert!(free.collected > 0 && rotating.collected >= free.collected, "{}", rotating.collected);
}
