//! Places of writes: the bin that takes a batch, in timed and untimed runs. The expected places
//! follow from the rules of the model (docs/model/mapping-and-placement.md), by hand or by the few
//! lines of [`Turns`], which share nothing with the firmware.

use crate::common::{BY_HAND, Bench, Override, experiment, set};
use drive::{Device, Experiment};
use engine::Streams;
use ftl::{BinChoice, BinId, Ftl, Layout, Lpn, PoolId, Ppn, Untimed};
use host::Kind;
use nand::Geometry;

const PAGE: u64 = 4_096;

/// The bin that a logical unit is in.
fn bin_of(device: &Device, lpn: u32) -> u32 {
    let ppn = device.ftl().lookup(Lpn(lpn)).expect("it was written");
    let layout = &device.ftl().layout;
    layout.bin(layout.block(ppn)).0
}

// ---- the choice of a bin --------------------------------------------------------

#[test]
fn most_free_fills_up_what_bad_blocks_have_left_uneven() {
    // Bins with different numbers of good blocks are filled so that their free pages become equal
    // first, in untimed and timed runs.
    for seed in floor::seeds(1, 5) {
        let overrides = [
            set("geometry.channels", 2),
            set("geometry.planes_per_die", 3),
            set("geometry.blocks_per_plane", 32),
            set("ftl.over_provisioning.reserved", "50 %"),
            set("ftl.bad_blocks.factory", "15 %"),
            set("ftl.allocation.choice", "most-free"),
            set("seed", seed),
        ];
        let mut turns = Turns::new(&overrides);
        let spread = turns.free.iter().max().unwrap() - turns.free.iter().min().unwrap();
        assert!(spread >= 16, "seed {seed}: free pages {:?}", turns.free);
        let units: Vec<u32> = (0..150).collect();
        let expected: Vec<u32> = units.iter().map(|lpn| turns.place(*lpn)).collect();
        assert_eq!(untimed(&overrides, &units), expected, "seed {seed}, untimed");
        assert_eq!(timed(&overrides, &units), expected, "seed {seed}, in time");
    }
}

// ---- timed and untimed ---------------------------------------------------------

/// A naive account of turns, of an idle drive on which no block is ever collected.
struct Turns {
    choice: BinChoice,
    pools: Vec<Vec<u32>>,
    pool_of: Vec<u32>,
    turn: Vec<usize>,
    free: Vec<u32>,
    batch: u32,
}

impl Turns {
    /// Follows the pools of the drive: the tests at the end check those.
    fn new(overrides: &[Override]) -> Self {
        let experiment = experiment(BY_HAND, overrides);
        let device = Device::new(&experiment.drive, experiment.seed);
        let layout = &device.ftl().layout;
        let bins = |pool| layout.bins_of(PoolId(pool)).iter().map(|bin| bin.0).collect();
        let good = |bin| device.ftl().good_blocks(BinId(bin));
        Self {
            choice: experiment.drive.ftl.allocation.choice,
            pools: (0..layout.pool_count()).map(bins).collect(),
            pool_of: (0..layout.host_units).map(|lpn| layout.pool(Lpn(lpn)).0).collect(),
            turn: vec![0; layout.pool_count() as usize],
            free: (0..layout.bins).map(|bin| good(bin) * layout.units_per_block()).collect(),
            batch: layout.units_per_batch,
        }
    }

    /// The bin that takes a batch that begins with a unit: if no program waits, all bins are
    /// equally queued.
    fn place(&mut self, lpn: u32) -> u32 {
        let pool = self.pool_of[lpn as usize] as usize;
        let bins = &self.pools[pool];
        let mut chosen = self.turn[pool];
        if self.choice == BinChoice::MostFree {
            for step in 0..bins.len() {
                let place = (self.turn[pool] + step) % bins.len();
                if self.free[bins[place] as usize] > self.free[bins[chosen] as usize] {
                    chosen = place;
                }
            }
        }
        self.turn[pool] = (chosen + 1) % bins.len();
        self.free[bins[chosen] as usize] -= self.batch;
        bins[chosen]
    }
}

/// The bin of each batch, by its first unit, written one after the other, untimed.
fn untimed(overrides: &[Override], batches: &[u32]) -> Vec<u32> {
    let experiment = experiment(BY_HAND, overrides);
    let mut device = Device::new(&experiment.drive, experiment.seed);
    let ftl = device.ftl_mut();
    let mut writer = Untimed::new(ftl, experiment.drive.ftl.allocation.choice);
    let count = ftl.layout.units_per_batch;
    let mut bins = Vec::new();
    for first in batches {
        writer.write_run(ftl, Lpn(*first), count).expect("there is space");
        let ppn = ftl.lookup(Lpn(*first)).expect("a full batch is committed");
        bins.push(ftl.layout.bin(ftl.layout.block(ppn)).0);
    }
    assert_eq!(ftl.tally.erases, 0, "nothing is collected");
    bins
}

/// As [`untimed`], each as a command on the idle drive.
fn timed(overrides: &[Override], batches: &[u32]) -> Vec<u32> {
    let mut bench = Bench::new(overrides);
    let layout = &bench.device.ftl().layout;
    let (unit, batch) = (layout.unit_bytes, u64::from(layout.units_per_batch));
    let mut bins = Vec::new();
    for first in batches {
        bench.alone(Kind::Write, u64::from(*first) * unit, batch * unit);
        bins.push(bin_of(&bench.device, *first));
    }
    assert_eq!(bench.device.ftl().tally.erases, 0, "nothing is collected");
    bins
}

#[test]
fn an_idle_drive_places_writes_as_untimed_and_as_the_rules_say() {
    for seed in floor::seeds(0, 40) {
        let mut numbers = Streams::new(seed).stream("placement");
        let mut of = |from: &[&'static str]| from[numbers.below(from.len() as u64) as usize];
        let choice = of(&["round-robin", "least-queued", "most-free", "least-busy"]);
        let pool = of(&["plane", "die", "package", "channel", "drive"]);
        let order = of(&["CWDP", "PDWC", "DCPW", "WPCD", "PCWD"]);
        let durability = of(&["none", "capacitor"]);
        // A batch is one unit, or four: of one page, of four planes.
        let (page, planes) = [("4 KiB", 1), ("16 KiB", 1), ("4 KiB", 4)][numbers.below(3) as usize];
        let stripe = ["16 KiB", "32 KiB", "48 KiB"][numbers.below(3) as usize];
        println!("seed {seed}: {choice} in {pool}s, {order}, {stripe}, {durability}");
        let overrides = [
            set("geometry.channels", 2),
            set("geometry.packages_per_channel", 2),
            set("geometry.dies_per_package", 3),
            set("geometry.planes_per_die", 4),
            set("geometry.blocks_per_plane", 16),
            set("geometry.page_size", page),
            set("ftl.block_planes", planes),
            set("ftl.allocation.choice", choice),
            set("ftl.allocation.pool", pool),
            set("ftl.allocation.order", order),
            set("ftl.bad_blocks.factory", "5 %"),
            set("ftl.over_provisioning.reserved", "50 %"),
            set("buffer.durability", durability),
            set("seed", seed),
        ];
        let mut overrides = overrides.to_vec();
        if pool != "drive" {
            // With one pool there is nothing to stripe over.
            overrides.push(set("ftl.allocation.stripe", stripe));
        }
        let mut turns = Turns::new(&overrides);
        let most = turns.pool_of.len() as u64 / u64::from(turns.batch) / 4;
        // No unit twice, so that no batch makes another's data invalid.
        let mut left: Vec<u32> = (0..most as u32).map(|number| number * turns.batch).collect();
        let mut batches = Vec::new();
        while batches.len() < 150 && !left.is_empty() {
            batches.push(left.swap_remove(numbers.below(left.len() as u64) as usize));
        }
        let expected: Vec<u32> = batches.iter().map(|lpn| turns.place(*lpn)).collect();
        assert_eq!(untimed(&overrides, &batches), expected, "seed {seed}, untimed");
        assert_eq!(timed(&overrides, &batches), expected, "seed {seed}, in time");
    }
}

/// In rounds the choice is made anew when a round begins: each pool's turn advances by itself
/// there, too, whatever is written to other pools of the group in between.
#[test]
fn rounds_of_several_pools_place_writes_in_the_turn_of_each() {
    for seed in floor::seeds(0, 30) {
        let mut numbers = Streams::new(seed).stream("rounds");
        let mut of = |from: &[&'static str]| from[numbers.below(from.len() as u64) as usize];
        let choice = of(&["round-robin", "least-queued", "most-free"]);
        let (pool, unit) = (of(&["package", "die"]), of(&["package", "channel"]));
        println!("seed {seed}: {choice} in {pool}s, rounds of {unit}s");
        let overrides = [
            set("geometry.channels", 2),
            set("geometry.packages_per_channel", 3),
            set("geometry.planes_per_die", 4),
            set("geometry.blocks_per_plane", 16),
            set("ftl.allocation.choice", choice),
            set("ftl.allocation.pool", pool),
            set("ftl.bad_blocks.factory", "5 %"),
            set("ftl.over_provisioning.reserved", "50 %"),
            set("ftl.gc.preemptible", false),
            set("scheduler.rounds", format!("{{ unit = \"{unit}\", collect = \"when-asked\" }}")),
            set("seed", seed),
        ];
        let mut turns = Turns::new(&overrides);
        let most = turns.pool_of.len() as u64 / 4;
        let batches: Vec<u32> = (0..150).map(|_| numbers.below(most) as u32).collect();
        let expected: Vec<u32> = batches.iter().map(|lpn| turns.place(*lpn)).collect();
        assert_eq!(timed(&overrides, &batches), expected, "seed {seed}");
    }
}

#[test]
fn units_of_a_batch_lie_side_by_side() {
    // Four units of a page, in any order of their arrival.
    let mut bench = Bench::new(&[set("geometry.page_size", "16 KiB")]);
    bench.alone(Kind::Write, 8 * PAGE, 4 * PAGE);
    let ppns: Vec<Ppn> =
        (8..12).map(|lpn| bench.device.ftl().lookup(Lpn(lpn)).expect("written")).collect();
    assert_eq!(ppns, [Ppn(0), Ppn(1), Ppn(2), Ppn(3)]);
}

// ---- pools and turns ------------------------------------------------------------

/// Channels, packages on a channel, dies in a package and planes in a die, of a drive whose counts
/// all differ, so that no two levels can be mistaken for each other.
const COUNTS: [u32; 4] = [2, 3, 5, 4];

/// A drive of [`COUNTS`].
fn shaped(pool: &str, order: &str, more: &[Override]) -> Device {
    let mut overrides = vec![
        set("geometry.channels", COUNTS[0]),
        set("geometry.packages_per_channel", COUNTS[1]),
        set("geometry.dies_per_package", COUNTS[2]),
        set("geometry.planes_per_die", COUNTS[3]),
        set("geometry.blocks_per_plane", 8),
        set("ftl.allocation.pool", pool),
        set("ftl.allocation.order", order),
        set("ftl.over_provisioning.reserved", "50 %"),
    ];
    overrides.extend_from_slice(more);
    let experiment = experiment(BY_HAND, &overrides);
    Device::new(&experiment.drive, experiment.seed)
}

/// A bin as channel, way, die and plane: digits in the order of the numbers of planes.
fn coordinates(device: &Device, bin: BinId) -> [u32; 4] {
    let plane = device.ftl().layout.first_plane(bin, 0).0;
    let [_, ways, dies, planes] = COUNTS;
    [
        plane / planes / dies / ways,
        plane / planes / dies % ways,
        plane / planes % dies,
        plane % planes,
    ]
}

/// As [`coordinates`], for the bins of a pool, written `cwdp`.
fn bins_of(device: &Device, pool: u32) -> Vec<String> {
    let bins = device.ftl().layout.bins_of(PoolId(pool)).iter();
    bins.map(|bin| coordinates(device, *bin).map(|digit| digit.to_string()).concat()).collect()
}

#[test]
fn the_first_letter_of_the_order_varies_fastest() {
    // One pool: turns 0, 1, 2 … by hand, on 2 channels of 3 ways of 5 dies of 4 planes.
    for (order, expected) in [
        // Channels, then ways; the seventh turn is the next die.
        ("CWDP", ["0000", "1000", "0100", "1100", "0200", "1200", "0010", "1010"]),
        // Planes, then dies.
        ("PDWC", ["0000", "0001", "0002", "0003", "0010", "0011", "0012", "0013"]),
        // Ways, then planes.
        ("WPCD", ["0000", "0100", "0200", "0001", "0101", "0201", "0002", "0102"]),
        // Dies, then channels.
        ("DCPW", ["0000", "0010", "0020", "0030", "0040", "1000", "1010", "1020"]),
    ] {
        let found = bins_of(&shaped("drive", order, &[]), 0);
        assert_eq!(found.len(), 120, "{order}");
        assert_eq!(found[..8], expected, "{order}");
        assert_eq!(found[119], "1243", "{order}: the last turn has every digit at its most");
    }
}

#[test]
fn a_pool_is_all_of_its_level_and_takes_its_turns_in_order() {
    // By hand, for the third pool (number 2): its number of bins and the first of them.
    for (pool, order, pools, bins, expected) in [
        // Planes: turn 2 is way 1 of channel 0.
        ("plane", "CWDP", 120, 1, &["0100"][..]),
        ("plane", "PDWC", 120, 1, &["0002"]),
        // Dies are counted without planes: in PDWC the third die of the first package.
        ("die", "PDWC", 30, 4, &["0020", "0021", "0022", "0023"]),
        ("die", "CWDP", 30, 4, &["0100", "0101", "0102", "0103"]),
        ("package", "CWDP", 6, 20, &["0100", "0110", "0120", "0130", "0140", "0101"]),
        // In WPCD the third package is the third way; planes come before dies.
        ("package", "WPCD", 6, 20, &["0200", "0201", "0202", "0203", "0210", "0211"]),
    ] {
        let device = shaped(pool, order, &[]);
        assert_eq!(device.ftl().layout.pool_count(), pools, "{pool}, {order}");
        let found = bins_of(&device, 2);
        assert_eq!(found.len(), bins, "{pool}, {order}");
        assert_eq!(found[..expected.len()], *expected, "{pool}, {order}");
    }
    let device = shaped("channel", "DWPC", &[]);
    assert_eq!(device.ftl().layout.pool_count(), 2);
    let found = bins_of(&device, 1);
    assert_eq!(found[..7], ["1000", "1010", "1020", "1030", "1040", "1100", "1110"]);
    assert_eq!(found.len(), 60);
}

/// Number `turn` of the coordinates of some letters, the first varying fastest:
/// x1 = t mod n1, x2 = floor(t / n1) mod n2, …; those of other letters are 0.
fn turn(letters: &str, mut turn: u32) -> [u32; 4] {
    let mut at = [0; 4];
    for letter in letters.chars() {
        let level = "CWDP".find(letter).unwrap();
        at[level] = turn % COUNTS[level];
        turn /= COUNTS[level];
    }
    at
}

#[test]
fn every_order_and_level_follows_the_formula() {
    let mut orders = Vec::new();
    for code in 0..256 {
        let order: String =
            [0, 2, 4, 6].map(|shift| ['C', 'W', 'D', 'P'][code >> shift & 3]).iter().collect();
        if "CWDP".chars().all(|letter| order.contains(letter)) {
            orders.push(order);
        }
    }
    assert_eq!(orders.len(), 24);
    for order in &orders {
        for (level, fixed) in
            [("plane", "CWDP"), ("die", "CWD"), ("package", "CW"), ("channel", "C"), ("drive", "")]
        {
            let device = shaped(level, order, &[]);
            let (across, within): (String, String) =
                order.chars().partition(|letter| fixed.contains(*letter));
            let count = |letters: &str| -> u32 {
                letters.chars().map(|letter| COUNTS["CWDP".find(letter).unwrap()]).product()
            };
            assert_eq!(device.ftl().layout.pool_count(), count(&across), "{order}, {level}");
            for pool in 0..count(&across) {
                let bins = device.ftl().layout.bins_of(PoolId(pool));
                assert_eq!(bins.len() as u32, count(&within), "{order}, {level}");
                for (place, bin) in bins.iter().enumerate() {
                    let (own, of_pool) = (turn(&within, place as u32), turn(&across, pool));
                    let expected = [0, 1, 2, 3].map(|level| own[level] + of_pool[level]);
                    assert_eq!(coordinates(&device, *bin), expected, "{order}, {level}, {pool}");
                    assert_eq!(device.ftl().layout.pool_of_bin(*bin), PoolId(pool));
                }
            }
        }
    }
}

#[test]
fn blocks_over_several_planes_make_fewer_bins() {
    // Two planes a bin: dies have two, the first planes of which are 0 and 2.
    let device = shaped("die", "PDWC", &[set("ftl.block_planes", 2)]);
    assert_eq!(bins_of(&device, 1), ["0010", "0012"]);
    let device = shaped("drive", "PCWD", &[set("ftl.block_planes", 4)]);
    let found = bins_of(&device, 0);
    assert_eq!((found.len(), &found[..3]), (30, &["0000", "1000", "0100"].map(String::from)[..]));
}

/// The pools of the first units of a drive with six (packages).
fn pools_of(units: u32, more: &[Override]) -> Vec<u32> {
    let device = shaped("package", "CWDP", more);
    (0..units).map(|lpn| device.ftl().layout.pool(Lpn(lpn)).0).collect()
}

#[test]
fn a_stripe_goes_to_one_pool_and_the_next_to_the_next() {
    // pool(l) = floor(l / s) mod 6, s = stripe / unit.
    let stripe = |size: &str| vec![set("ftl.allocation.stripe", size)];
    let batch = [set("geometry.page_size", "16 KiB")];
    for (name, overrides, expected) in [
        ("a page: what one program writes", vec![], [0, 1, 2, 3, 4, 5, 0, 1, 2, 3, 4, 5, 0, 1]),
        ("one unit", stripe("4 KiB"), [0, 1, 2, 3, 4, 5, 0, 1, 2, 3, 4, 5, 0, 1]),
        ("two units", stripe("8 KiB"), [0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 0, 0]),
        ("three units", stripe("12 KiB"), [0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4]),
        ("four units of a page", batch.to_vec(), [0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3]),
        (
            "a unit, though a page holds four",
            [&batch[..], &stripe("4 KiB")].concat(),
            [0, 1, 2, 3, 4, 5, 0, 1, 2, 3, 4, 5, 0, 1],
        ),
        (
            "units of two pages",
            vec![set("ftl.unit", "8 KiB"), set("ftl.allocation.stripe", "16 KiB")],
            [0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 0, 0],
        ),
    ] {
        assert_eq!(pools_of(14, &overrides), expected, "{name}");
    }
}

#[test]
fn pools_are_counted_as_their_units_are() {
    for (pool, stripe) in
        [("channel", "20 KiB"), ("package", "28 KiB"), ("die", "64 KiB"), ("plane", "4 KiB")]
    {
        let device = shaped(pool, "CWDP", &[set("ftl.allocation.stripe", stripe)]);
        let layout = &device.ftl().layout;
        let mut counted = vec![0; layout.pool_count() as usize];
        (0..layout.map_units).for_each(|lpn| counted[layout.pool(Lpn(lpn)).0 as usize] += 1);
        let found: Vec<u32> =
            (0..layout.pool_count()).map(|pool| layout.map_units_of(PoolId(pool))).collect();
        assert_eq!(found, counted, "{pool}s, {stripe}");
    }
}

// ---- a map that is larger than the host's range ------------------------------------

/// The drive of an experiment whose firmware keeps `own` units that no host may access, written
/// once.
fn with_own_units(experiment: &Experiment, own: u32) -> Device {
    let (drive, geometry) = (&experiment.drive, Geometry::from(&experiment.drive.geometry));
    let exported = drive.ftl.exported_bytes(&geometry).unwrap();
    let layout = Layout::new(&geometry, &drive.ftl, exported).unwrap();
    let layout = layout.with_units_above(own).unwrap();
    let mut ftl = Ftl::new(layout, &drive.ftl, drive.nand.endurance, Streams::new(1));
    ftl.keep_metadata(drive.recovery.is_some());
    let mut writer = Untimed::new(&ftl, drive.ftl.allocation.choice);
    let first = Lpn(ftl.layout.host_units);
    writer.write_run(&mut ftl, first, own).unwrap();
    writer.flush(&mut ftl).unwrap();
    Device::with_firmware(drive, ftl, 1)
}

#[test]
fn units_of_the_firmware_stay_beside_those_of_the_host() {
    const OWN: u32 = 40;
    let overrides = [
        set("precondition.fill", "random"),
        set("precondition.age.overwrites", 2.0),
        set("recovery.map", "{ policy = 'checkpoint', units = 100 }"),
    ];
    let experiment = experiment(BY_HAND, &overrides);
    let host = Device::new(&experiment.drive, experiment.seed).ftl().layout.host_units;
    let mut bench = Bench::with(with_own_units(&experiment, OWN), &experiment);
    let own = |bench: &Bench| -> Vec<_> {
        (host..host + OWN).map(|lpn| bench.device.ftl().lookup(Lpn(lpn))).collect()
    };
    // Preconditioning writes the host's range, all of it and nothing else.
    let ftl = bench.device.ftl();
    assert_eq!((ftl.layout.host_units, ftl.layout.map_units), (host, host + OWN));
    assert_eq!(ftl.mapped_units(), host + OWN);
    assert_eq!(ftl.layout.exported_bytes(), u64::from(host) * PAGE);
    let before = own(&bench);
    assert!(before.iter().all(Option::is_some));
    let mut numbers = Streams::new(floor::seed(1)).stream("writes");
    for index in 0..2_000 {
        let offset = numbers.below(u64::from(host)) * PAGE;
        bench.submit(index * 100_000, Kind::Write, offset, PAGE);
    }
    // The auditor compares the map with the writes, at rest and after a power cut.
    let now = bench.settle();
    bench.cut_power(now + 1).unwrap();
    let now = bench.settle();
    assert_ne!(own(&bench), before, "collection has moved them");
    assert_eq!(bench.device.ftl().mapped_units(), host + OWN);
    for lpn in 0..host {
        bench.submit(now, Kind::Read, u64::from(lpn) * PAGE, PAGE);
    }
    bench.settle();
    assert!(bench.completed().iter().all(|done| done.unmapped == 0));
}

// ---- a fill -----------------------------------------------------------------------

#[test]
fn a_random_fill_is_the_same_whatever_the_seed() {
    let filled = |seed: u64| {
        let bench = Bench::new(&[set("precondition.fill", "random"), set("seed", seed)]);
        let ftl = bench.device.ftl();
        (0..768).map(|lpn| ftl.lookup(Lpn(lpn)).expect("all is filled").0).collect::<Vec<_>>()
    };
    assert_eq!(filled(1), filled(2));
}
