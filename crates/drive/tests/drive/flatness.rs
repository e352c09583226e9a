//! Reads beside writes: flat means that mean and 99.9th percentile stay within 1.2 of those without
//! writes.

use crate::common::{Override, experiment, run_fast, set, stats};
use host::Kind;

const FLAT: f64 = 1.2;

/// Eight dies on four channels behind a link and a firmware, full of data that was overwritten.
fn drive(more: &[Override]) -> Vec<Override> {
    let own = [
        set("geometry.channels", 4),
        set("geometry.dies_per_package", 2),
        set("geometry.blocks_per_plane", 40),
        set("geometry.pages_per_block", 16),
        set("ftl.over_provisioning.exported", "16 MiB"),
        set("buffer.size", "256 KiB"),
        set("buffer.durability", "capacitor"),
        set("link", "{ rate = \"3.2 GB/s\", duplex = \"full\" }"),
        set("firmware.read", "2 us"),
        set("firmware.write", "2 us"),
        set("precondition.fill", "random"),
        set("precondition.age.overwrites", 1.0),
        set("run.audit", false),
    ];
    [&own[..], more].concat()
}

/// Mean and 99.9th percentile of reads one by one, in nanoseconds, beside so many writes a second;
/// `sets` tells if both have an NVM set of their own.
fn reads(sets: bool, writes: u32) -> [f64; 2] {
    let more = if sets { vec![set("ftl.sets", "{ channels = 2 }")] } else { Vec::new() };
    let in_set = |number: u32| if sets { format!("nvm_set = {number}\n") } else { String::new() };
    let end = "stop = { time = \"2 s\" }\n";
    let reader = format!(
        "[[workload]]\nname = \"reader\"\nreads = \"100 %\"\nsize = \"4 KiB\"\nqueue_depth = 1\n{}{end}",
        in_set(1)
    );
    let writer = format!(
        "[[workload]]\nname = \"writer\"\nreads = \"0 %\"\nsize = \"4 KiB\"\nqueue_depth = 64\n{}{end}\
         arrivals = {{ process = \"poisson\", rate = \"{writes} IOPS\" }}\n",
        in_set(2)
    );
    let text = if writes > 0 { reader + &writer } else { reader };
    let run = run_fast(&experiment(&text, &drive(&more)));
    let reads = &stats(&run, 0, Kind::Read).latency;
    [reads.mean().expect("reads"), reads.percentile(0.999).expect("reads").as_ns() as f64]
}

#[test]
fn reads_of_a_set_are_flat_beside_writes_of_another() {
    let quiet = reads(true, 0);
    println!("without writes: {quiet:?}");
    for writes in [100, 500, 1_000, 2_000] {
        let (flat, rough) = (reads(true, writes), reads(false, writes));
        println!("{writes} writes a second: sets {flat:?}, no sets {rough:?}");
        for (flat, quiet) in flat.iter().zip(quiet) {
            assert!(*flat <= FLAT * quiet, "{writes}: {flat} {quiet}");
        }
        assert!(rough[1] > 2.0 * quiet[1], "without sets: {rough:?}");
    }
}
