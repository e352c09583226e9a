//! Parameters that no other test is about: changing one changes the result as the
//! model says, by as much as the model says.

mod common;
mod poised;

use common::{BY_HAND, Bench, Override, experiment, run, set};
use drive::{Device, OpKind};
use ftl::{Lpn, Source};
use host::Kind;
use metrics::Holder;

const US: u64 = 1_000;
const PAGE: u64 = 4_096;

/// Logical units of a drive of 64 blocks of 16 pages, 1024 in all.
fn logical_units(over_provisioning: Override) -> u32 {
    let experiment = experiment(BY_HAND, &[over_provisioning]);
    Device::new(&experiment.drive, experiment.seed).ftl().layout.logical_units
}

#[test]
fn over_provisioning_is_what_its_key_divides_by() {
    // 1024 / 1.28, 1024 x (1 - 0.28), and the capacity itself.
    assert_eq!(logical_units(set("ftl.over_provisioning.spare", "28 %")), 800);
    assert_eq!(logical_units(set("ftl.over_provisioning.reserved", "28 %")), 737);
    assert_eq!(logical_units(set("ftl.over_provisioning.exported", "3 MiB")), 768);
}

/// What two reads at once take that are of the first page of two bins, in us.
fn two_reads(overrides: &[Override]) -> [u64; 2] {
    let mut bench = Bench::filled(overrides);
    let tags = [0, 1].map(|page| bench.submit(0, Kind::Read, page * PAGE, PAGE));
    bench.settle();
    tags.map(|tag| bench.done(tag).latency() / US)
}

#[test]
fn packages_of_a_channel_work_side_by_side_and_dies_of_a_package_that_is_one_unit_do_not() {
    let by_package = || {
        ["read", "program", "erase"].map(|kind| match kind {
            "read" => set("concurrency.read", "package"),
            "program" => set("concurrency.program", "package"),
            _ => set("concurrency.erase", "package"),
        })
    };
    let with = |path| [&by_package()[..], &[set(path, 2)]].concat();
    // Two units sense at once and share the channel; one unit reads one by one.
    assert_eq!(two_reads(&with("geometry.packages_per_channel")), [125, 225]);
    assert_eq!(two_reads(&with("geometry.dies_per_package")), [125, 250]);
}

#[test]
fn a_program_of_a_package_shuts_its_other_dies_out() {
    for (unit, expected) in [
        // Sensed meanwhile, it waits for the channel until 100.
        ("die", 100 + 100 - 10),
        // It waits for the whole program.
        ("package", 300 + 125 - 10),
    ] {
        let mut bench = poised::filled(&[set("concurrency.program", unit)]);
        bench.submit(0, Kind::Write, poised::page(0, 0), PAGE);
        let read = bench.submit(10 * US, Kind::Read, poised::page(1, 0), PAGE);
        bench.settle();
        assert_eq!(bench.done(read).latency(), expected * US, "{unit}");
    }
}

#[test]
fn an_erase_of_a_package_shuts_its_other_dies_out() {
    // The write that opens a block is programmed by 300; the one live page of the
    // victim is read by 425 and programmed by 725; the erase lasts until 2225.
    for (unit, expected) in [("die", 125), ("package", 2_225 - 1_000 + 125)] {
        let (mut bench, start) = poised::poised(&[set("concurrency.erase", unit)]);
        bench.submit(start, Kind::Write, poised::page(0, 5), PAGE);
        let read = bench.submit(start + 1_000 * US, Kind::Read, poised::page(1, 0), PAGE);
        bench.settle();
        assert_eq!(bench.done(read).latency(), expected * US, "{unit}");
    }
}

#[test]
fn more_programs_in_a_bin_leave_less_in_the_buffer_to_be_overwritten() {
    // Pages 0, 1 and 2, and page 1 again while page 0 is being programmed: in place
    // where it still waits in the buffer, else by a program more.
    for (programs, expected) in [(1, 3), (2, 4), (3, 4)] {
        let mut bench = Bench::new(&[
            set("buffer.durability", "volatile"),
            set("buffer.programs_per_bin", programs),
        ]);
        for page in [0, 1, 2, 1] {
            bench.submit(0, Kind::Write, page * PAGE, PAGE);
        }
        bench.settle();
        let found = bench.device.counters().commands(OpKind::Program, Holder::HostProgram);
        assert_eq!(found, expected, "{programs} programs in the bin");
    }
}

#[test]
fn a_share_of_the_drive_is_filled_from_its_beginning() {
    for (share, mapped) in [("100 %", 768), ("50 %", 384), ("12.5 %", 96)] {
        let bench = Bench::filled(&[set("precondition.share", share)]);
        let ftl = bench.device.ftl();
        let found = (0..768).filter(|lpn| ftl.lookup(Lpn(*lpn)).is_some());
        assert_eq!(found.collect::<Vec<_>>(), (0..mapped).collect::<Vec<_>>(), "{share}");
    }
}

/// Where each unit lies after a fill, by the order of writing.
fn filled(fill: &str, seed: u64) -> Vec<u32> {
    let bench = Bench::new(&[set("precondition.fill", fill), set("seed", seed)]);
    let ftl = bench.device.ftl();
    (0..768).map(|lpn| ftl.lookup(Lpn(lpn)).expect("all is filled").0).collect()
}

#[test]
fn a_random_fill_writes_each_unit_once_in_an_order_of_its_own() {
    let by_address: Vec<u32> = (0..768).collect();
    assert_eq!(filled("sequential", 1), by_address, "one bin, whose blocks are written in order");
    let mut places = filled("random", 1);
    assert_eq!(places, filled("random", 2), "the permutation is fixed");
    let stayed = places.iter().zip(0..).filter(|(place, lpn)| **place == *lpn).count();
    // Of a random permutation one stays in the mean, more than ten 1 in 10^8 times.
    assert!(stayed <= 10, "{stayed} of 768 are where they would be in order");
    places.sort_unstable();
    assert_eq!(places, by_address, "each once, without gaps");
}

#[test]
fn ageing_until_steady_ends_once_write_amplification_stands_still() {
    // Sequential overwrites move nothing: every window is alike from the first on, and
    // three windows of 500 erases are the least. That is 24 000 units written over, and
    // up to the free quarter of the drive before the first erase; a window ends with a
    // quarter of the 768 units.
    let written = |until_steady: bool| {
        let age = format!(
            "{{ overwrites = 50.0, until_steady = {until_steady}, \
             addresses = {{ pattern = \"sequential\" }} }}"
        );
        let overrides = [set("precondition.fill", "sequential"), set("precondition.age", age)];
        let run = run(&experiment(BY_HAND, &overrides));
        // The fill is counted too.
        run.history().preconditioned.tally.units[Source::Host as usize] - 768
    };
    let (steady, all) = (written(true), written(false));
    println!("{steady} and {all} units");
    assert_eq!(all, 50 * 768);
    assert!((24_000..=24_000 + 256 + 3 * 192).contains(&steady), "{steady} units until steady");
    assert_eq!(steady % 192, 0);
}
