//! NVM sets: what happens in one costs nothing in another, except what all share.

use crate::common::{
    Override, experiment, mean_ns, run_fast, set, stats, summary_of, try_experiment, try_run,
};
use crate::errors;
use drive::snapshot::unfit;
use drive::{Prepared, Run, Snapshot};
use ftl::{Lpn, SetId, Source};
use host::Kind;
use metrics::State;
use serde_json::{Value, json};

/// Four channels of two dies with blocks of 16 pages, full of random data, and cut as `cut` says.
pub fn drive(cut: &str, more: &[Override]) -> Vec<Override> {
    let own = [
        set("geometry.channels", 4),
        set("geometry.dies_per_package", 2),
        set("geometry.blocks_per_plane", 40),
        set("geometry.pages_per_block", 16),
        set("ftl.over_provisioning.exported", "16 MiB"),
        set("ftl.sets", cut),
        set("ftl.gc.victim", "{ policy = \"d-choices\", choices = 3 }"),
        set("buffer.size", "256 KiB"),
        set("precondition.fill", "random"),
        set("precondition.age.overwrites", 0.5),
        set("run.audit", true),
    ];
    [&own[..], more].concat()
}

/// Reads and writes in a set, whose requests are those of its name.
pub fn load(name: &str, set: u32, queue_depth: u32) -> String {
    format!(
        "[[workload]]\nname = \"{name}\"\nreads = \"50 %\"\nsize = \"4 KiB\"\nqueue_depth = {queue_depth}\n\
         nvm_set = {set}\nstop = {{ requests = 8000 }}\n"
    )
}

const WATERMARK: &str = "{ policy = \"watermark\", high = \"75 %\", low = \"50 %\" }";

/// Scrubbing as a task of its own.
const SCRUBBER: &str = "{ interval = \"1 ms\", choice = \"oldest\", stream = \"own\", task = \"own\", \
                        rate = \"3 MB/s\", window = 2 }";
const PATROL: &str = "{ interval = \"1 ms\", choice = { policy = \"patrol\", re_reads = 1 }, \
                      stream = \"own\", task = \"own\" }";

fn first_set(texts: &[String], overrides: &[Override]) -> (Run, u64) {
    let run = run_fast(&experiment(&texts.concat(), overrides));
    let digest = run.device().digest_of(SetId(0));
    (run, digest)
}

#[test]
fn a_set_is_the_same_whether_others_work_or_idle() {
    for (more, busy) in [
        (vec![], 64),
        (vec![set("ftl.gc.preemptible", "false")], 64),
        (vec![set("ftl.unit", "8 KiB")], 16),
        (vec![set("buffer.durability", "capacitor")], 16),
        (vec![set("buffer.durability", "capacitor"), set("buffer.flush", WATERMARK)], 64),
        // Half of the codewords have more errors than the code corrects.
        ([&errors::errors(75.0, 0.01)[..], &[set("nand.errors.counting", "drawn")]].concat(), 16),
        (vec![set("scheduler.suspension", "{ policy = \"i-es\" }")], 32),
        (vec![set("ftl.tasks", "{ most = 1, think = \"20 us\" }")], 32),
        (vec![set("ftl.scrub", "{ interval = \"2 ms\", choice = \"oldest\" }")], 32),
        (vec![set("ftl.scrub", SCRUBBER), set("ftl.tasks", "{ most = 2 }")], 32),
        (
            [
                &errors::errors(75.0, 0.01)[..],
                &[set("nand.errors.counting", "drawn"), set("ftl.scrub", PATROL)],
            ]
            .concat(),
            16,
        ),
    ] {
        let overrides = drive("{ channels = 2 }", &more);
        let (alone, digest) = first_set(&[load("one", 1, 4)], &overrides);
        let (beside, beside_digest) =
            first_set(&[load("one", 1, 4), load("other", 2, busy)], &overrides);
        assert_eq!(digest, beside_digest, "{more:?}");
        let tally = |run: &Run| run.device().ftl().tally_of(SetId(0));
        // Scrubbing, and collection with few tasks, go on after the last request, for as long as others work.
        if more.iter().any(|(key, _)| ["ftl.tasks", "ftl.scrub"].contains(key)) {
            assert_eq!(tally(&alone).units[0], tally(&beside).units[0]);
        } else if more.iter().any(|(key, _)| key.starts_with("buffer.")) {
            // Flushes, too: of at most the 32 units of its buffer.
            let [alone, beside] = [&alone, &beside].map(|run| tally(run).units[0]);
            assert!((alone..=alone + 32).contains(&beside), "{alone} {beside}");
        } else {
            assert_eq!(tally(&alone), tally(&beside));
        }
        assert!(tally(&alone).collected > 100, "it collects: {:?}", tally(&alone));
        let other = beside.device().ftl().tally_of(SetId(1));
        assert!(other.collected > 100, "the other one, too: {other:?}");
    }
}

/// One channel beside three.
const UNEQUAL: &str = "{ parts = [{ channels = [2] }, { channels = [0, 1, 3] }] }";

#[test]
fn sets_of_chosen_flash_are_the_same_whether_others_work_or_idle() {
    for (own, other) in [(1, 2), (2, 1)] {
        for more in [vec![], vec![set("buffer.durability", "capacitor")]] {
            let overrides = drive(UNEQUAL, &more);
            let digest = |texts: &[String]| {
                let run = run_fast(&experiment(&texts.concat(), &overrides));
                (run.device().digest_of(SetId(own - 1)), run)
            };
            let (alone, _) = digest(&[load("one", own, 4)]);
            let (beside, run) = digest(&[load("one", own, 4), load("other", other, 32)]);
            assert_eq!(alone, beside, "set {own}, {more:?}");
            let collected = [0, 1].map(|set| run.device().ftl().tally_of(SetId(set)).collected);
            assert!(collected.iter().all(|blocks| *blocks > 100), "{collected:?}");
        }
    }
}

/// Sets of which one has a plane of each die and the other the other plane: they share dies.
#[test]
fn sets_inside_dies_wait_for_their_commands() {
    let more = [set("geometry.planes_per_die", 2), set("geometry.dies_per_package", 1)];
    let overrides = drive("{ parts = [{ planes = [0] }, { planes = [1] }] }", &more);
    // Fewer requests, so that the other load goes on until their end.
    let one = load("one", 1, 1).replace("requests = 8000", "requests = 500");
    let (alone, _) = first_set(std::slice::from_ref(&one), &overrides);
    let (beside, _) = first_set(&[one, load("other", 2, 32)], &overrides);
    let [alone, beside] = [&alone, &beside].map(|run| mean_ns(run, 0, Kind::Read));
    assert!(beside > 1.5 * alone, "{alone} {beside}");
}

#[test]
fn sets_of_chosen_flash_export_by_their_size() {
    let run = run_fast(&experiment(&load("one", 2, 1), &drive(UNEQUAL, &[])));
    let layout = &run.device().ftl().layout;
    // 16 MiB in units of 4 KiB on four channels.
    assert_eq!([0, 1].map(|set| layout.host_units_of_set(SetId(set))), [1_024, 3_072]);
    // Its namespace ends 12 MiB behind its beginning.
    let beyond = load("one", 2, 1) + "region = { offset = \"4 MiB\", size = \"8200 KiB\" }\n";
    let refused = try_experiment(&beyond, &drive(UNEQUAL, &[])).expect_err("it is refused");
    let expected = "workload[0].region: reaches beyond its NVM set, which exports 12 MiB";
    assert!(refused.contains(expected), "{refused}");
    // Ageing overwrites all sets as often: half of the units, and the fill.
    let written = [0, 1].map(|set| {
        let aged =
            Run::new(&experiment(&load("one", 1, 1), &drive(UNEQUAL, &[])), &[None], &mut |_| true);
        let run = aged.unwrap().expect("nobody interrupts it");
        run.device().ftl().tally_of(SetId(set)).units[Source::Host as usize]
    });
    let close = |found: u64, expected: u64| found.abs_diff(expected) <= 1;
    assert!(close(written[0], 1_536) && close(written[1], 4_608), "{written:?}");
}

#[test]
fn each_set_may_be_filled_differently() {
    let shares = [set("precondition.share", "['25 %', '0 %']")];
    assert_eq!(filled(UNEQUAL, &shares), [256, 0]);
    assert_eq!(filled(UNEQUAL, &[set("precondition.share", "'50 %'")]), [512, 1_536]);
    let refused = |share: &str| {
        let given = drive(UNEQUAL, &[set("precondition.share", share)]);
        try_experiment(&load("one", 1, 1), &given).expect_err("it is refused")
    };
    for (share, expected) in [
        (
            "['25 %']",
            "precondition.share: 1 share for 2 NVM sets (drive.ftl.sets); give one for each",
        ),
        ("['25 %', '101 %']", "precondition.share[1]: more than the whole drive"),
        ("['0 %', '0 %']", "precondition.share: fills nothing"),
    ] {
        let problems = refused(share);
        assert!(problems.contains(expected), "{expected}: {problems}");
    }
}

#[test]
fn limits_of_programs_are_of_each_set() {
    for (programs, durability) in [(1, "none"), (3, "none"), (1, "capacitor"), (3, "capacitor")] {
        let more = [set("ftl.pressure.programs", programs), set("buffer.durability", durability)];
        let overrides = drive("{ channels = 2 }", &more);
        let (alone, digest) = first_set(&[load("one", 1, 16)], &overrides);
        let (beside, beside_digest) =
            first_set(&[load("one", 1, 16), load("other", 2, 64)], &overrides);
        assert_eq!(digest, beside_digest, "{programs} {durability}");
        for (run, sets) in [(&alone, 1), (&beside, 2)] {
            let all = (0..sets).filter_map(|set| run.measured().pressure(SetId(set)));
            assert!(all.clone().all(|of| of.greatest == programs && of.waited > 1_000));
            assert_eq!(all.count() as u32, sets);
        }
    }
}

#[test]
fn sets_of_dies_wait_for_the_channels_that_they_share() {
    let waits = |cut: &str| {
        let overrides = drive(cut, &[]);
        let (alone, digest) = first_set(&[load("one", 1, 1)], &overrides);
        let (beside, other) = first_set(&[load("one", 1, 1), load("other", 2, 32)], &overrides);
        let rise = mean_ns(&beside, 0, Kind::Read) / mean_ns(&alone, 0, Kind::Read);
        let reads = stats(&beside, 0, Kind::Read);
        let channel = reads.bands.total()[State::ChannelHostRead as usize];
        (digest == other, rise, channel)
    };
    let (is_same, rise, channel) = waits("{ channels = 2 }");
    assert!(is_same && rise == 1.0 && channel == 0);
    let (is_same, rise, channel) = waits("{ dies = 2 }");
    assert!(!is_same && rise > 1.0 && channel > 0, "{rise} {channel}");
}

#[test]
fn the_sets_add_up_to_the_drive() {
    let overrides = drive("{ channels = 2, dies = 2 }", &[set("run.warm_up.requests", 2_000)]);
    let texts = [load("one", 1, 4), load("other", 4, 16)];
    let run = run_fast(&experiment(&texts.concat(), &overrides));
    let (all, mut left) = (run.measured().tally(), run.measured().tally());
    for of in (0..4).map(|set| run.measured().tally_of(SetId(set))) {
        left = left.since(&of);
    }
    assert_eq!(left, ftl::Tally::default(), "{all:?}");
    let written = [0, 1, 2, 3].map(|set| run.measured().tally_of(SetId(set)).units[0] > 0);
    assert_eq!(written, [true, false, false, true]);
}

/// Each of two sets has one task at a time, so that the drive has two.
#[test]
fn each_set_has_tasks_of_its_own() {
    let overrides = drive("{ channels = 2 }", &[set("ftl.tasks", "{ most = 1 }")]);
    let texts = [load("one", 1, 16), load("other", 2, 16)].concat();
    let summary = summary_of(&experiment(&texts, &overrides));
    let (tasks, of_sets) = (&summary["tasks"], summary["tasks"]["sets"].as_array());
    let of_sets = of_sets.expect("a list");
    assert_eq!((&tasks["most"], of_sets.len()), (&json!(1), 2));
    for of in of_sets {
        // One task at a time is busy for as long as no other is free.
        assert_eq!((&of["greatest"], &of["mean_busy"]), (&json!(1), &of["full"]));
    }
    let number = |of: &Value, key: &str| of[key].as_f64().expect("a number");
    for key in ["begun", "mean_busy", "mean_thinking"] {
        let sum: f64 = of_sets.iter().map(|of| number(of, key)).sum();
        assert!((number(tasks, key) - sum).abs() < 1e-9, "{key}");
    }
    let busy = of_sets.iter().map(|of| number(of, "mean_busy"));
    let [most, all] = [busy.clone().fold(0.0, f64::max), busy.sum()];
    assert!(number(tasks, "mean_busy") > 1.5 * most, "{all} of which {most}");
    assert!((number(tasks, "full") - all / 2.0).abs() < 1e-9, "the mean of both");
    // All reads, programs and erases of collection were tasks; some may be under way at the end.
    let own = ["reads", "programs"].map(|kind| &summary["flash"][kind]);
    let moves = [&own[0]["gc_read"], &own[1]["gc_program"], &summary["flash"]["erases"]["erase"]];
    let moves: f64 = moves.iter().map(|of| number(of, "commands")).sum();
    assert!((number(tasks, "begun") - moves).abs() <= 2.0, "{} {moves}", tasks["begun"]);
}

/// Polls come every 2 ms in each set, and a rate is that of each.
#[test]
fn each_set_is_scrubbed_at_its_own_rate() {
    let scrub = SCRUBBER.replace("1 ms", "2 ms");
    let text = format!(
        "{}[run]\nrequests = 1\n",
        load("late", 1, 1).replace("nvm_set", "start = \"500 ms\"\nnvm_set")
    );
    let summary =
        summary_of(&experiment(&text, &drive("{ channels = 2 }", &[set("ftl.scrub", scrub)])));
    let (all, of_sets) = (&summary["scrub"], summary["scrub"]["sets"].as_array());
    let of_sets = of_sets.expect("a list");
    for key in ["polls", "taken", "blocks", "units"] {
        let sum: u64 = of_sets.iter().filter_map(|of| of[key].as_u64()).sum();
        assert_eq!(all[key].as_u64(), Some(sum), "{key}");
    }
    for of in of_sets {
        // 3 MB/s in half a second, in units of 4 KiB, and at most one block of 16 units more.
        let units = of["units"].as_u64().expect("a number") as f64;
        let most = 0.5 * 3e6 / 4096.0;
        assert!((most - 32.0..=most + 16.0).contains(&units), "{units} of {most}");
    }
}

#[test]
fn workloads_name_the_set_that_they_use() {
    let refused = |text: &str, cut: &str| {
        let mut given = drive(cut, &[]);
        if cut.is_empty() {
            given.retain(|(key, _)| *key != "ftl.sets");
        }
        try_experiment(text, &given).err().unwrap_or_default()
    };
    let named = |set: u32| load("one", set, 4);
    for (text, cut, expected) in [
        (named(3), "{ channels = 2 }", "workload[0].nvm_set: 3 is none of the sets 1 to 2"),
        (named(1), "", "workload[0].nvm_set: the drive has no NVM sets"),
        (named(1).replace("nvm_set = 1", ""), "{ channels = 2 }", "choose one from 1 to 2"),
        (
            named(1).replace("nvm_set = 1", "nvm_set = 1\nregion = { offset = \"9 MiB\" }"),
            "{ channels = 2 }",
            "workload[0].region: reaches beyond its NVM set, which exports 8 MiB",
        ),
        (named(1), "{ channels = 8 }", "sets.channels: 8 does not divide the 4 channels"),
    ] {
        let problems = refused(&text, cut);
        assert!(problems.contains(expected), "{expected}: {problems}");
    }
}

#[test]
fn a_flush_is_of_the_set_of_its_workload() {
    let more = [set("buffer.durability", "volatile"), set("buffer.flush", WATERMARK)];
    let overrides = drive("{ channels = 2 }", &more);
    let flushing = load("other", 2, 4)
        .replace("reads = \"50 %\"", "mix = { write = \"80 %\", flush = \"20 %\" }");
    let (_, alone) = first_set(&[load("one", 1, 4)], &overrides);
    let (run, beside) = first_set(&[load("one", 1, 4), flushing], &overrides);
    assert_eq!(alone, beside);
    // It waits for the programs of its own set.
    let slowest = stats(&run, 1, Kind::Flush).latency.max().expect("there were flushes");
    assert!(slowest.as_ns() >= 200_000, "{slowest:?}");
}

/// Units of each set that hold data, before anything runs.
fn filled(cut: &str, more: &[Override]) -> Vec<u32> {
    let run = Run::new(&experiment(&load("one", 1, 1), &drive(cut, more)), &[None], &mut |_| true);
    let run = run.unwrap().expect("nobody interrupts it");
    let ftl = run.device().ftl();
    let of = |set: SetId| {
        let first = ftl.layout.first_unit_of_set(set).0;
        let units = first..first + ftl.layout.host_units_of_set(set);
        units.filter(|lpn| ftl.lookup(Lpn(*lpn)).is_some()).count()
    };
    (0..ftl.layout.set_count()).map(|set| of(SetId(set)) as u32).collect()
}

#[test]
fn each_set_is_filled_and_aged_alike() {
    // 16 MiB in units of 4 KiB.
    assert_eq!(filled("{ channels = 2 }", &[]), [2048, 2048]);
    for fill in ["random", "sequential"] {
        let half = [set("precondition.fill", fill), set("precondition.share", "50 %")];
        assert_eq!(filled("{ channels = 4 }", &half), [512; 4]);
    }
    // Ageing writes as much to each, in its own pattern: the hot half of each set is its first one.
    let hot = "{ pattern = \"hot-cold\", hot_space = \"50 %\", hot_accesses = \"100 %\" }";
    let more = [set("precondition.age.addresses", hot), set("precondition.age.overwrites", 2.0)];
    let run = Run::new(
        &experiment(&load("one", 1, 1), &drive("{ channels = 2 }", &more)),
        &[None],
        &mut |_| true,
    );
    let run = run.unwrap().expect("nobody interrupts it");
    let ftl = run.device().ftl();
    let written = [0, 1].map(|of| ftl.tally_of(SetId(of)).units[Source::Host as usize]);
    assert_eq!(written, [3 * 2048; 2]);
    let erases = [0, 1].map(|of| ftl.tally_of(SetId(of)).erases);
    let ratio = erases[0] as f64 / erases[1] as f64;
    assert!(erases[0] > 300 && (0.9..1.1).contains(&ratio), "{erases:?}");
    assert_ne!(
        ftl.order_of_erases_in(SetId(0)),
        ftl.order_of_erases_in(SetId(1)),
        "random numbers of their own"
    );
}

#[test]
fn a_set_needs_space_for_its_own_data_alone() {
    // 40 blocks of 16 pages on each of 8 dies are 20 MiB. All of the data is in one set: 4.9 MiB of
    // 5 MiB cannot be collected, and 4.9 MiB spread over all four sets could.
    let tight = [
        set("ftl.over_provisioning.exported", "19600 KiB"),
        set("precondition.fill", "empty"),
        set("run.audit", false),
    ];
    let mut given = drive("{ channels = 4 }", &tight);
    given.retain(|(key, _)| *key != "precondition.age.overwrites");
    let refused = try_experiment(&load("one", 1, 1), &given).err().unwrap_or_default();
    assert!(refused.contains("can never be passed"), "{refused}");
    given.retain(|(key, _)| *key != "ftl.sets");
    let part = load("one", 1, 1).replace("nvm_set = 1", "region = { size = \"4900 KiB\" }");
    assert_eq!(try_experiment(&part, &given).err(), None);
}

#[test]
fn what_joins_sets_is_refused() {
    let refused = |more: &[Override]| {
        try_experiment(&load("one", 1, 4), &drive("{ channels = 2 }", more)).err()
    };
    assert_eq!(refused(&[]), None);
    for (path, value) in [
        ("drive.recovery", "{ map = \"scan\", trims = \"logged\" }"),
        ("drive.ftl.gc.idle_gap", "1 ms"),
        ("drive.ftl.gc.at_once", "{ channel = 1 }"),
        ("drive.ftl.gc.background_begins", "quiet-channel"),
        ("drive.ftl.gc.blocking", "channel"),
        ("drive.ftl.gc.blocking", "controller"),
        ("drive.ftl.partial_writes", "plane"),
        ("drive.scheduler.rounds", "{ unit = \"die\", collect = \"when-asked\" }"),
        ("run.untimed", "true"),
    ] {
        let problems = refused(&[set(path, value)]).unwrap_or_else(|| panic!("{path} = {value}"));
        let expected = format!("{path}: does not know of NVM sets yet");
        assert!(problems.contains(&expected), "{expected}: {problems}");
    }
    for (path, value) in [
        ("ftl.parity", "{ width = 4 }"),
        ("ftl.superblock", "{ dies = 8, width = { host = 8, collection = 8 } }"),
    ] {
        let problems = refused(&[set(path, value)]).unwrap_or_else(|| panic!("{path} = {value}"));
        assert!(problems.contains("does not lie in NVM sets yet"), "{path}: {problems}");
    }
    // A remedy that would be refused is not named.
    let problems = refused(&[set("run.power_cut", "{ at = \"1 ms\" }")]).expect("no recovery");
    let expected = "run.power_cut: a drive of NVM sets (drive.ftl.sets) does not know of recovery from \
                    power cuts yet; leave run.power_cut out, or leave drive.ftl.sets out";
    assert!(problems.contains(expected) && !problems.contains("map = "), "{problems}");
    let gang = "{ channels = 4, control = \"asynchronous\" }";
    let problems = refused(&[set("geometry.gang", gang), set("ftl.allocation.pool", "gang")]);
    let problems = problems.expect("a gang of all channels");
    assert!(
        problems.contains("a gang of 4 channels (drive.geometry.gang) would lie in several sets"),
        "{problems}"
    );
}

#[test]
fn the_buffer_is_large_enough_for_each_set_and_not_too_large() {
    let refused = |size: &str| {
        let overrides = drive("{ channels = 4 }", &[set("buffer.size", size)]);
        try_experiment(&load("one", 1, 4), &overrides).err().unwrap_or_default()
    };
    assert_eq!(refused("16 KiB"), "");
    let small = refused("12 KiB");
    assert!(small.contains("at least 16384 bytes are needed"), "{small}");
    // 2^22 entries of 4 KiB in each of four sets.
    let large = refused("65 GiB");
    assert!(large.contains("units in each NVM set; at most 4194304 are supported"), "{large}");
}

#[test]
fn a_snapshot_of_other_sets_does_not_fit() {
    let text = load("one", 1, 4);
    let kept = experiment(&text, &drive("{ channels = 2 }", &[]));
    let snapshot = Snapshot::take(&kept, &mut |_| true).unwrap().expect("nobody ends it");
    let faults = |cut: &str| -> Vec<&str> {
        let other = experiment(&text, &drive(cut, &[]));
        unfit(&snapshot.origin, &other.drive).into_iter().map(|(path, _)| path).collect()
    };
    assert_eq!(faults("{ channels = 2 }"), [""; 0]);
    for cut in ["{ channels = 4 }", "{ dies = 2 }", "{ channels = 2, dies = 2 }"] {
        assert_eq!(faults(cut), ["drive.ftl.sets"]);
    }
    // It goes on with the counts and the random numbers of each set.
    let direct = run_fast(&kept);
    let prepared = Prepared::new(&kept, Some(&snapshot), &mut |_| true).unwrap().unwrap();
    let mut run = Run::start(&kept, &[None], prepared).unwrap();
    while run.advance(1 << 14).unwrap() {}
    assert_eq!(run.device().digest_of(SetId(0)), direct.device().digest_of(SetId(0)));
    assert_eq!(run.device().ftl().tally_of(SetId(1)), direct.device().ftl().tally_of(SetId(1)));
}

#[test]
fn a_set_that_is_worn_out_is_named() {
    let text = "[[workload]]\nname = \"writes\"\nreads = \"0 %\"\nsize = \"4 KiB\"\nnvm_set = 2\n\
                [run]\nrequests = 1000000\n";
    let more = [set("nand.endurance", 20)];
    let error = try_run(&experiment(text, &drive("{ channels = 2 }", &more)));
    let error = error.err().expect("it wears out");
    assert!(error.contains("of NVM set 2 ("), "{error}");
    assert!(!error.contains("of NVM set 1 ("), "{error}");
}
