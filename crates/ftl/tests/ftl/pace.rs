//! Collection at the rate of host writes in untimed runs, bins out of step, and victims that are left.

use crate::common::{allocation, config, geometry, taken_up};
use engine::Streams;
use ftl::{BinChoice, BinId, Ftl, Layout, Lpn, Stream, Untimed};
use serde_json::json;

/// Units of a block, which are its pages.
const BLOCK: u32 = 64;
/// Blocks of a bin, of which a quarter is spare.
const BLOCKS: u32 = 64;

/// A drive of so many bins that is collected at the rate of host writes over a band of two to eight
/// blocks, which settles at five.
fn drive(bins: u32) -> Ftl {
    let gc = json!({
        "victim": { "policy": "greedy" },
        "background": "8 blocks",
        "foreground": "2 blocks",
        "stop": "8 blocks",
        "preemptible": true,
        "pacing": "host-rate",
        "copy_back": false,
        "window": 1,
    });
    let config = config(json!({
        "gc": gc,
        "allocation": allocation("drive", "separate"),
        "over_provisioning": { "reserved": "25 %" },
    }));
    let geometry = nand::Geometry { pages_per_block: BLOCK, ..geometry(bins, BLOCKS, 4096) };
    let exported = u128::from(bins * BLOCKS * BLOCK) * 4096 * 3 / 4;
    let layout = Layout::new(&geometry, &config, exported).expect("a sound layout");
    Ftl::new(layout, &config, 0, Streams::new(7))
}

/// Fills a drive in order, and overwrites it `times` times at random.
fn aged(bins: u32, times: u32) -> (Ftl, Untimed, engine::Stream) {
    let mut ftl = drive(bins);
    let mut writer = Untimed::new(&ftl, BinChoice::RoundRobin);
    let mut numbers = Streams::new(8).stream("addresses");
    let units = ftl.layout.host_units;
    writer.write_run(&mut ftl, Lpn(0), units).unwrap();
    overwrite(&mut ftl, &mut writer, &mut numbers, times * units);
    (ftl, writer, numbers)
}

fn overwrite(ftl: &mut Ftl, writer: &mut Untimed, numbers: &mut engine::Stream, count: u32) {
    let units = u64::from(ftl.layout.host_units);
    for _ in 0..count {
        writer.write(ftl, Lpn(numbers.below(units) as u32)).unwrap();
    }
}

#[test]
fn the_free_space_stays_halfway_and_write_amplification_is_steady() {
    let (mut ftl, mut writer, mut numbers) = aged(1, 4);
    let mut found = Vec::new();
    for _ in 0..40 {
        let before = ftl.tally;
        // A sixteenth of a block: a victim gains more.
        overwrite(&mut ftl, &mut writer, &mut numbers, BLOCK / 16);
        found.push(ftl.tally.since(&before).write_amplification());
        // Halfway are five free blocks and half of each open one, so six blocks. Of these up to
        // two are open and up to one has been moved and is not erased.
        let free = ftl.free_blocks(BinId(0));
        assert!((3..=6).contains(&free), "{free} blocks are free");
    }
    let mean = found.iter().sum::<f64>() / found.len() as f64;
    // Victim by victim, most stretches would have no moves at all, and others ten times the mean.
    let least = found.iter().copied().fold(f64::MAX, f64::min);
    let most = found.iter().copied().fold(0.0, f64::max);
    assert!(1.5 < mean && mean < 4.0, "{mean}");
    assert!(least > 0.6 * mean && most < 1.4 * mean, "{least} to {most}, mean {mean}");
}

#[test]
fn bins_out_of_step_take_less_than_a_block_more_and_then_turns() {
    let bins = 8;
    let mut ftl = drive(bins);
    let mut writer = Untimed::new(&ftl, BinChoice::RoundRobin);
    writer.stagger(&ftl, &mut Streams::new(9).stream("stagger"), u32::MAX);
    // All have had what they lead by after at most a block each.
    let written = |ftl: &Ftl| -> Vec<u32> {
        let units = |bin| BLOCKS * BLOCK - ftl.free_units(bin);
        (0..bins).map(BinId).map(units).collect()
    };
    writer.write_run(&mut ftl, Lpn(0), bins * BLOCK).unwrap();
    let first = written(&ftl);
    let spread = |of: &[u32]| of.iter().max().unwrap() - of.iter().min().unwrap();
    assert!(spread(&first) >= BLOCK / 2 && spread(&first) < BLOCK, "{first:?}");
    let open: std::collections::BTreeSet<u32> = first.iter().map(|units| units % BLOCK).collect();
    assert!(open.len() >= 6, "bins write to different pages: {first:?}");
    // From then on each takes as many as the others.
    writer.write_run(&mut ftl, Lpn(bins * BLOCK), 10 * bins).unwrap();
    let then = written(&ftl);
    let more: Vec<u32> = then.iter().zip(&first).map(|(then, first)| then - first).collect();
    assert_eq!(more, vec![10; bins as usize]);
}

#[test]
fn no_bin_leads_by_more_than_it_is_allowed() {
    let mut ftl = drive(4);
    let mut writer = Untimed::new(&ftl, BinChoice::RoundRobin);
    writer.stagger(&ftl, &mut Streams::new(9).stream("stagger"), 3);
    writer.write_run(&mut ftl, Lpn(0), 4 * 20).unwrap();
    let left: Vec<u32> = (0..4).map(|bin| ftl.free_units(BinId(bin))).collect();
    let spread = left.iter().max().unwrap() - left.iter().min().unwrap();
    assert!(spread <= 3, "{left:?}");
}

#[test]
fn a_snapshot_keeps_a_victim_that_is_left_half_moved() {
    let (ftl, writer, numbers) = aged(2, 3);
    drop(writer);
    assert!(ftl.is_at_rest());
    let go_on = |mut ftl: Ftl| {
        let mut writer = Untimed::new(&ftl, BinChoice::RoundRobin);
        overwrite(&mut ftl, &mut writer, &mut numbers.clone(), 20 * BLOCK);
        ftl.audit().unwrap();
        (ftl.tally, ftl.erase_counts().to_vec())
    };
    let other = taken_up(drive(2), &ftl, &ftl.rest()).unwrap();
    let prices = |ftl: &Ftl| [0, 1].map(|bin| ftl.price(BinId(bin)));
    assert_eq!(prices(&other), prices(&ftl));
    assert!(other.is_at_rest());
    assert_eq!(go_on(other), go_on(ftl));
}

#[test]
fn a_victim_that_is_left_is_taken_up_before_any_other() {
    let (mut ftl, ..) = aged(1, 3);
    let bin = BinId(0);
    assert!(ftl.has_victim(bin));
    let victim = ftl.pick_victim(bin).expect("one is half moved");
    let valid = ftl.valid_units(victim);
    // Its price is that of a whole victim, of which a part has moved.
    let price = ftl.price(bin);
    assert!(price > 256 * valid / (BLOCK - valid), "{price}, {valid} units are left");
    assert_ne!(ftl.pick_victim(bin), Some(victim), "it is being moved");
    assert!(ftl.can_bind(bin, Stream::Gc));
}
