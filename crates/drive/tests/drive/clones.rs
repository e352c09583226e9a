//! Clones: each begins as the prepared drive, has streams of its own, and is aged by an amount that
//! follows from its number.

use crate::common::{self, Override, experiment, set};
use drive::{Experiment, Prepared, Run, Snapshot, preparation};
use ftl::BlockState;
use std::collections::BTreeSet;

/// Units that the preconditioning fills, of 1024 on the flash.
const FILLED: u64 = 768;

/// Reads and writes on an aged drive whose victims are drawn, with bad blocks.
const MIXED: &str = "
    [precondition]
    fill = \"random\"
    age.overwrites = 2.0
    [[workload]]
    name = \"mix\"
    reads = \"40 %\"
    queue_depth = 8
    [run]
    requests = 2000
    audit = true
";

fn mixed(overrides: &[Override]) -> Experiment {
    let mut all = vec![
        set("ftl.gc.victim", "{ policy = \"random\" }"),
        set("ftl.bad_blocks.factory", "5 %"),
        set("ftl.bad_blocks.grown_per_erase", "0.001 %"),
    ];
    all.extend_from_slice(overrides);
    experiment(MIXED, &all)
}

fn clone(number: u32, overwrites: Option<(f64, f64)>) -> Experiment {
    let mut all = vec![set("clone.number", number)];
    if let Some((from, to)) = overwrites {
        all.push(set("clone.overwrites", format!("{{ from = {from:?}, to = {to:?} }}")));
    }
    mixed(&all)
}

fn prepared(experiment: &Experiment, snapshot: Option<&Snapshot>) -> Prepared {
    Prepared::new(experiment, snapshot, &mut |_| true).unwrap().expect("nobody ends it")
}

fn to_its_end(experiment: &Experiment, prepared: Prepared) -> Run {
    let mut run = Run::start(experiment, &[None], prepared).unwrap();
    while run.advance(1 << 14).unwrap_or_else(|error| panic!("{error}")) {}
    run.finish();
    run
}

fn shared() -> Snapshot {
    Snapshot::take(&clone(1, None), &mut |_| true).unwrap().expect("nobody ends it")
}

fn bad_blocks(prepared: &Prepared) -> BTreeSet<usize> {
    let states = prepared.device.ftl().block_states().iter().enumerate();
    states.filter(|(_, state)| **state == BlockState::Bad).map(|(block, _)| block).collect()
}

#[test]
fn a_clone_of_a_shared_drive_is_the_clone_that_prepares_itself() {
    let (kept, plain) = (shared(), mixed(&[]));
    for number in [1, 2, 300] {
        for overwrites in [None, Some((0.0, 1.5))] {
            let experiment = clone(number, overwrites);
            assert_eq!(preparation(&experiment), preparation(&plain));
            let by_itself = to_its_end(&experiment, prepared(&experiment, None));
            let from_shared = Prepared::done_before(&experiment, &kept).unwrap();
            let from_shared = to_its_end(&experiment, from_shared);
            assert_eq!(from_shared.device().digest(), by_itself.device().digest(), "{number}");
            assert_eq!(from_shared.device().counters(), by_itself.device().counters());
            assert_eq!(
                from_shared.device().ftl().erase_counts(),
                by_itself.device().ftl().erase_counts()
            );
            let told = |run: &Run| format!("{:?}", run.history());
            assert_eq!(told(&from_shared), told(&by_itself));
        }
    }
}

#[test]
fn clones_begin_alike_without_ageing_and_then_differ() {
    let plain = prepared(&mixed(&[]), None);
    let mut digests = BTreeSet::new();
    for number in 1..=4 {
        let experiment = clone(number, None);
        let begun = prepared(&experiment, None);
        assert_eq!(begun.device.ftl().erase_counts(), plain.device.ftl().erase_counts());
        assert_eq!(begun.history.preconditioned.aged, plain.history.preconditioned.aged);
        let lies = |of: &Prepared| {
            (0..768).map(|lpn| of.device.ftl().lookup(ftl::Lpn(lpn))).collect::<Vec<_>>()
        };
        assert_eq!(lies(&begun), lies(&plain));
        digests.insert(to_its_end(&experiment, begun).device().digest());
    }
    digests.insert(to_its_end(&mixed(&[]), plain).device().digest());
    assert_eq!(digests.len(), 5, "four clones, and the drive itself");
}

#[test]
fn ageing_is_drawn_between_its_bounds_and_bad_blocks_stay() {
    let kept = shared();
    let factory = bad_blocks(&prepared(&mixed(&[]), None));
    assert!(!factory.is_empty(), "there are bad blocks to keep");
    let before = kept.origin.preconditioned.clone();
    let mut shares = Vec::new();
    for number in 1..=200 {
        let begun = Prepared::done_before(&clone(number, Some((0.5, 2.5))), &kept).unwrap();
        assert!(bad_blocks(&begun).is_superset(&factory), "clone {number} lost a bad block");
        let done = begun.history.preconditioned;
        let written = done.tally.units[ftl::Source::Host as usize];
        assert_eq!(done.filled + done.aged, written, "clone {number}");
        let aged = done.aged - before.aged;
        assert!((FILLED / 2..=5 * FILLED / 2).contains(&aged), "clone {number}: {aged}");
        shares.push((aged as f64 / FILLED as f64 - 0.5) / 2.0);
    }
    // Uniform over 0..1: mean 1/2, deviation 1/√12; four standard errors of 200 draws.
    let mean = shares.iter().sum::<f64>() / 200.0;
    assert!((mean - 0.5).abs() < 4.0 / (12.0f64 * 200.0).sqrt(), "{mean}");
    let different: BTreeSet<_> = shares.iter().map(|share| share.to_bits()).collect();
    assert!(different.len() > 180, "{} amounts of 200", different.len());
}

#[test]
fn a_clone_of_an_equal_seed_has_the_same_number_and_no_other() {
    let seed = |seed: u64, number: u32| {
        experiment(MIXED, &[set("seed", seed), set("clone.number", number)]).run_seed()
    };
    let seeds: BTreeSet<u64> =
        (1..=20).flat_map(|number| [seed(1, number), seed(2, number)]).collect();
    assert_eq!(seeds.len(), 40);
    assert_eq!(experiment(MIXED, &[set("seed", 7)]).run_seed(), 7);
}

#[test]
fn a_run_from_the_snapshot_of_a_clone_is_the_run_of_that_clone() {
    let experiment = clone(5, Some((1.0, 2.0)));
    let kept = Snapshot::take(&experiment, &mut |_| true).unwrap().expect("nobody ends it");
    assert_eq!(kept.origin.preconditioned.aged, shared().origin.preconditioned.aged);
    let from_kept = to_its_end(&experiment, prepared(&experiment, Some(&kept)));
    let direct = to_its_end(&experiment, prepared(&experiment, None));
    assert_eq!(from_kept.device().digest(), direct.device().digest());
    assert!(from_kept.history().preconditioned.aged > kept.origin.preconditioned.aged);
}

#[test]
fn a_drive_that_was_never_filled_is_not_aged_further() {
    let empty = Snapshot::take(&experiment(common::BY_HAND, &[]), &mut |_| true).unwrap().unwrap();
    let aged = clone(1, Some((0.0, 1.0)));
    let aged = Experiment { drive: experiment(common::BY_HAND, &[]).drive, ..aged };
    let error = Prepared::new(&aged, Some(&empty), &mut |_| true).err().expect("it is refused");
    assert!(format!("{error:?}").contains("the drive of the snapshot was not filled"), "{error:?}");
}
