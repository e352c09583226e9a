//! A drive always makes progress: waiting operations are served, whatever else is busy.

use crate::common::{self, Bench, experiment, run, set, stats};
use host::Kind;

const US: u64 = 1_000;
const PAGE: u64 = 4_096;

#[test]
fn a_partial_batch_waits_for_its_bin_without_going_in_circles() {
    // Batches of two pages. The first is being programmed (200 + 200 us), and the bin takes no
    // other; the third page's time has come at 10 us.
    let mut bench = Bench::new(&[
        set("geometry.planes_per_die", 2),
        set("ftl.block_planes", 2),
        set("buffer.durability", "volatile"),
        set("buffer.partial_after", "10 us"),
        set("buffer.programs_per_bin", 1),
    ]);
    for page in 0..3 {
        bench.submit(0, Kind::Write, page * PAGE, PAGE);
    }
    let end = bench.settle();
    // Then one page alone: transfer and program.
    assert_eq!(end, (200 + 200 + 100 + 200) * US);
}

#[test]
fn a_partial_batch_goes_out_when_its_time_has_come() {
    let overrides = [
        set("geometry.planes_per_die", 2),
        set("ftl.block_planes", 2),
        set("buffer.durability", "volatile"),
        set("buffer.partial_after", "1 ms"),
    ];
    let mut bench = Bench::new(&overrides);
    bench.submit(0, Kind::Write, 0, PAGE);
    assert_eq!(bench.settle(), 1_000 * US + 300 * US);
    // A page that came behind a full batch waits for its own time.
    let mut bench = Bench::new(&overrides);
    bench.submit(0, Kind::Write, 0, PAGE);
    bench.submit(400 * US, Kind::Write, PAGE, PAGE);
    bench.submit(500 * US, Kind::Write, 2 * PAGE, PAGE);
    assert_eq!(bench.settle(), 1_500 * US + 300 * US);
}

#[test]
fn a_flush_empties_a_volatile_buffer_and_no_other() {
    for (durability, expected) in [("volatile", 300 * US), ("capacitor", 0), ("none", 0)] {
        let mut bench = Bench::new(&[
            set("geometry.planes_per_die", 2),
            set("ftl.block_planes", 2),
            set("buffer.durability", durability),
        ]);
        bench.submit(0, Kind::Write, 0, PAGE);
        if durability == "none" {
            bench.settle();
        }
        let flush = bench.submit(400 * US, Kind::Flush, 0, 0);
        bench.settle();
        assert_eq!(bench.done(flush).latency(), expected, "{durability}");
    }
}

#[test]
fn a_full_drive_under_random_overwrites_goes_on_at_the_least_spare() {
    // The least over-provisioning that `check` accepts: open blocks, and one more
    // than the foreground threshold.
    for (streams, kept) in [("shared", 3), ("separate", 4)] {
        for preemptible in [true, false] {
            for copy_back in [true, false] {
                for window in [1, 4] {
                    let text = "[precondition]\nfill = \"random\"\n[[workload]]\nname = \"host\"\n\
                                reads = \"0 %\"\nqueue_depth = 32\n[run]\nrequests = 3000\n";
                    let blocks = 24;
                    let overrides = |kept: u32| {
                        [
                            set("geometry.blocks_per_plane", blocks),
                            set("geometry.pages_per_block", 8),
                            set("geometry.dies_per_package", 2),
                            set(
                                "ftl.over_provisioning.exported",
                                format!("{} KiB", 4 * 2 * 8 * (blocks - kept)),
                            ),
                            set("ftl.allocation.streams", streams),
                            set("ftl.gc.preemptible", preemptible),
                            set("ftl.gc.copy_back", copy_back),
                            set("ftl.gc.window", window),
                            set("buffer.durability", "capacitor"),
                        ]
                    };
                    assert!(
                        common::try_experiment(text, &overrides(kept - 1)).is_err(),
                        "{streams}: {} spare blocks are too few",
                        kept - 1
                    );
                    let run = run(&experiment(text, &overrides(kept)));
                    assert_eq!(common::counted(&run), 3_000);
                }
            }
        }
    }
}

#[test]
fn a_drive_with_bad_blocks_goes_on_at_the_least_spare_that_is_accepted() {
    // Eight bins of four planes. The seed determines the number of blocks that the worst of them
    // has left, and so the least spare.
    let text = "[precondition]\nfill = \"random\"\n[[workload]]\nname = \"host\"\n\
                reads = \"0 %\"\nqueue_depth = 32\n[run]\nrequests = 4000\n";
    let mut accepted = Vec::new();
    for seed in floor::seeds(1, 8) {
        let least = (20..40).rev().find_map(|data_blocks| {
            let overrides = [
                set("seed", seed),
                set("geometry.dies_per_package", 8),
                set("geometry.planes_per_die", 4),
                set("ftl.block_planes", 4),
                set("geometry.blocks_per_plane", 40),
                set("geometry.pages_per_block", 8),
                set("ftl.bad_blocks.factory", "4 %"),
                set("ftl.over_provisioning.exported", format!("{} KiB", 4 * 8 * 32 * data_blocks)),
                set("buffer.durability", "capacitor"),
            ];
            Some((data_blocks, common::try_experiment(text, &overrides).ok()?))
        });
        let (data_blocks, experiment) = least.expect("half of the drive is enough");
        assert_eq!(common::counted(&run(&experiment)), 4_000);
        accepted.push(data_blocks);
    }
    println!("blocks of data a bin, of 40: {accepted:?}");
    accepted.dedup();
    assert!(accepted.len() > 1, "it depends on the seed");
}

#[test]
fn what_is_answered_at_once_keeps_its_own_blame() {
    // Without firmware time a flush is over the moment it is submitted, and its
    // place in the drive is free for the next command. Two writes end with one
    // program; both initiators go on at that moment, one with a flush.
    let text = "[[workload]]\nname = \"host\"\nmix = { write = \"50 %\", flush = \"50 %\" }\n\
                queue_depth = 4\n[run]\nrequests = 200\n";
    let overrides = [
        set("geometry.planes_per_die", 2),
        set("ftl.block_planes", 2),
        set("buffer.size", "8 KiB"),
        set("buffer.durability", "capacitor"),
        set("link.rate", "1 GB/s"),
    ];
    let run = run(&experiment(text, &overrides));
    let flushes = stats(&run, 0, Kind::Flush);
    assert_eq!(flushes.latency.sum_ns(), 0);
    assert_eq!(flushes.bands.total().iter().sum::<u64>(), 0, "a flush takes no time here");
}

#[test]
fn a_collection_that_does_not_yield_lets_reads_of_its_victim_end() {
    // A read that was asked for before its page moved delays the erase, and the unit is reserved
    // for the collection until that erase.
    let text = "[precondition]\nfill = \"random\"\n[[workload]]\nname = \"host\"\n\
                reads = \"20 %\"\nqueue_depth = 8\n[run]\nrequests = 3000\n";
    for bypass in ["none", "batch", "drain"] {
        let overrides = [
            set("geometry.blocks_per_plane", 24),
            set("geometry.pages_per_block", 8),
            set("scheduler.bypass", bypass),
            set("ftl.gc.preemptible", false),
            // Three spare blocks of 24: cleaning hardly ever rests.
            set("ftl.over_provisioning.exported", "672 KiB"),
        ];
        let run = run(&experiment(text, &overrides));
        assert_eq!(common::counted(&run), 3_000);
        assert_eq!(stats(&run, 0, Kind::Read).unmapped, 0);
    }
}

/// Preconditioning that must end: `blocks` of a batch of `planes` pages each row, of which `kept`
/// are spare.
fn ages_without_end(planes: u32, kept: u32) {
    let blocks = 16;
    let text = format!(
        "[precondition]\nfill = \"sequential\"\nage = {{ overwrites = 2.0 }}\n{}",
        common::BY_HAND
    );
    let aged = std::thread::spawn(move || {
        let overrides = [
            set("geometry.planes_per_die", planes),
            set("ftl.block_planes", planes),
            set("geometry.blocks_per_plane", blocks),
            set("geometry.pages_per_block", 4),
            set(
                "ftl.over_provisioning.exported",
                format!("{} KiB", 4 * planes * 4 * (blocks - kept)),
            ),
        ];
        match common::try_experiment(&text, &overrides) {
            // A refusal is an acceptable answer.
            Err(refusal) => println!("{planes} planes, {kept} spare: {refusal}"),
            Ok(experiment) => println!("{planes} planes, {kept} spare: {:?}", {
                common::try_run(&experiment).map(|run| run.history().preconditioned.tally)
            }),
        }
    });
    // A host of a second: any longer time is taken as endless.
    for _ in 0..200 {
        if aged.is_finished() {
            return aged.join().expect("it ends without a panic");
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    panic!("{planes} planes, {kept} spare blocks: preconditioning goes in circles");
}

#[test]
fn a_full_drive_of_wide_batches_can_be_aged() {
    // A victim's valid units end in a batch that is padded; if the padding uses up the space of its
    // invalid units, cleaning gains nothing and never ends.
    for planes in [1, 4, 16] {
        for kept in [3, 4, 5, 6] {
            ages_without_end(planes, kept);
        }
    }
}

#[test]
fn a_package_that_takes_pages_of_others_keeps_room_for_its_own() {
    // Thresholds in pages, of which the last may be those of the last free block.
    let text = "
        [precondition]
        fill = \"sequential\"
        [[workload]]
        name = \"host\"
        reads = \"0 %\"
        think_time = \"5 ms\"
        [run]
        requests = 6000
    ";
    let mut streamed = 0;
    for streams in ["separate", "shared"] {
        for (threshold, reserved) in
            [("1 % of pages", "14 %"), ("1 % of pages", "30 %"), ("4 % of pages", "17 %")]
        {
            for seed in floor::seeds(0, 4) {
                let given = [
                    set("geometry.channels", 2),
                    set("geometry.packages_per_channel", 1 + seed % 2),
                    set("geometry.blocks_per_plane", 32),
                    set("geometry.pages_per_block", if seed % 4 < 2 { 4 } else { 16 }),
                    set("ftl.allocation.streams", streams),
                    set("ftl.gc.background", threshold),
                    set("ftl.gc.foreground", threshold),
                    set("ftl.gc.stop", threshold),
                    set("ftl.gc.streaming", true),
                    set("ftl.over_provisioning.reserved", reserved),
                    set("seed", seed),
                ];
                let run = run(&experiment(text, &given));
                streamed += run.device().counters().streamed;
            }
        }
    }
    assert!(streamed > 1_000, "{streamed}");
}
