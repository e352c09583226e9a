//! NVM sets: what happens in one costs nothing in another, except what all share.

use crate::common::{Override, experiment, mean_ns, run_fast, set, stats, try_experiment};
use crate::errors;
use drive::Run;
use ftl::SetId;
use host::Kind;
use metrics::State;

/// Four channels of two dies with blocks of 16 pages, full of random data, and cut as `cut` says.
fn drive(cut: &str, more: &[Override]) -> Vec<Override> {
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
fn load(name: &str, set: u32, queue_depth: u32) -> String {
    format!(
        "[[workload]]\nname = \"{name}\"\nreads = \"50 %\"\nsize = \"4 KiB\"\nqueue_depth = {queue_depth}\n\
         nvm_set = {set}\nstop = {{ requests = 8000 }}\n"
    )
}

const WATERMARK: &str = "{ policy = \"watermark\", high = \"75 %\", low = \"50 %\" }";

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
    ] {
        let overrides = drive("{ channels = 2 }", &more);
        let (alone, digest) = first_set(&[load("one", 1, 4)], &overrides);
        let (beside, beside_digest) =
            first_set(&[load("one", 1, 4), load("other", 2, busy)], &overrides);
        assert_eq!(digest, beside_digest, "{more:?}");
        let tally = |run: &Run| run.device().ftl().tally_of(SetId(0));
        assert_eq!(tally(&alone), tally(&beside));
        assert!(tally(&alone).collected > 100, "it collects: {:?}", tally(&alone));
        let other = beside.device().ftl().tally_of(SetId(1));
        assert!(other.collected > 100, "the other one, too: {other:?}");
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
