//! Endurance groups: the wear of each, from erases and blocks that are counted one by one.

use crate::common::{Override, experiment, run_fast, set, summary_of, try_experiment};
use crate::sets::{drive, load};
use ftl::SetId;
use serde_json::{Value, json};

/// Two sets of 160 blocks of 16 units, of which hosts see 2048. Only the first one is written to.
fn groups(cut: &str, more: &[Override]) -> (Value, [ftl::Tally; 2]) {
    let experiment = experiment(&load("one", 1, 4), &drive(cut, more));
    let run = run_fast(&experiment);
    let tallies = [0, 1].map(|set| run.device().ftl().tally_of(SetId(set)));
    (summary_of(&experiment)["endurance_groups"].clone(), tallies)
}

#[test]
fn the_wear_of_groups_is_that_of_their_blocks() {
    let (found, tallies) =
        groups("{ channels = 2, endurance_groups = 2 }", &[set("nand.endurance", 5_000)]);
    assert_eq!((&found[0]["sets"], &found[1]["sets"]), (&json!([1]), &json!([2])));
    for (group, tally) in tallies.iter().enumerate() {
        let mean = tally.erases as f64 / 160.0;
        let near = |found: &Value, expected: f64| {
            let found = found.as_f64().expect("a number");
            assert!((found - expected).abs() < 1e-9, "{group}: {found}, expected {expected}");
        };
        near(&found[group]["erase_count"]["mean"], mean);
        near(&found[group]["percentage_used"], mean / 50.0);
        near(&found[group]["available_spare"], 100.0);
    }
    assert!(found[0]["write_amplification"].as_f64().expect("hosts write to it") > 1.0);
    assert_eq!(found[1]["write_amplification"], Value::Null);
    // One group has the figures of both.
    let (both, _) = groups("{ channels = 2 }", &[set("nand.endurance", 5_000)]);
    assert_eq!((both.as_array().map(Vec::len), &both[0]["sets"]), (Some(1), &json!([1, 2])));
    assert_eq!(both[0]["programmed_bytes"], found[0]["programmed_bytes"]);
}

#[test]
fn each_retired_block_takes_its_part_of_the_spare() {
    let fails = [set("ftl.bad_blocks.grown_per_erase", "0.3 %")];
    let (found, tallies) = groups("{ channels = 2, endurance_groups = 2 }", &fails);
    assert!(tallies[0].retired > 2, "{:?}", tallies[0]);
    for (group, tally) in tallies.iter().enumerate() {
        let left = 100.0 * (512.0 - 16.0 * tally.retired as f64) / 512.0;
        assert_eq!(found[group]["available_spare"].as_f64(), Some(left), "{tally:?}");
        assert_eq!(found[group]["percentage_used"], Value::Null, "blocks never wear out");
    }
}

#[test]
fn groups_have_the_same_number_of_sets() {
    for (groups, expected) in [("3", "3 does not divide the 4 sets"), ("0", "at least 1")] {
        let cut = format!("{{ channels = 4, endurance_groups = {groups} }}");
        let problems = try_experiment(&load("one", 1, 4), &drive(&cut, &[])).err();
        let problems = problems.unwrap_or_default();
        assert!(problems.contains("sets.endurance_groups"), "{problems}");
        assert!(problems.contains(expected), "{problems}");
    }
}
