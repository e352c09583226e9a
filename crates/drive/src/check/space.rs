//! Checks that garbage collection can always make progress and end: its thresholds must be
//! reachable when every unit is mapped that ever will be.

use super::buffer;
use crate::array::config::ArrayConfig;
use crate::array::config::seed_of;
use crate::device::HOLES_AT_ONCE;
use crate::experiment::Experiment;
use crate::namespaces;
use crate::precondition::filled_units;
use engine::Streams;
use ftl::{
    BinId, FactoryBlocks, Ftl, Layout, Lpn, Pacing, PoolId, RESERVE, SetId, Stream, Thresholds,
};
use host::Region;
use settings::{Problems, counted, each};
use std::ops::Range;

/// Space that collection can use.
pub struct Space {
    /// The thresholds as free blocks: foreground, background, stop.
    pub thresholds: [u32; 3],
    /// Spare that collection can use, as a share of the data, in the pool with the least.
    pub spare_for_collection: f64,
}

/// Facts about a drive that is started from a snapshot.
#[derive(Clone, Debug)]
pub struct Found {
    /// Mapping units that hold data.
    pub mapped_units: u32,
    /// Retired blocks, by bin.
    pub bad_blocks: Vec<u32>,
}

impl Found {
    /// The facts about the drive of a firmware.
    pub fn of(ftl: &Ftl) -> Self {
        let bad = |bin| ftl.layout.blocks_per_bin() - ftl.good_blocks(BinId(bin));
        Self {
            mapped_units: ftl.mapped_units(),
            bad_blocks: (0..ftl.layout.bins).map(bad).collect(),
        }
    }
}

/// Knowledge about the drive before the run.
#[derive(Clone, Copy)]
pub enum Start<'a> {
    /// It is new, or as preconditioning makes it.
    New,
    /// It comes from a snapshot that was not read yet.
    Unknown,
    /// It comes from a snapshot with these facts.
    Found(&'a Found),
}

/// Checks the thresholds.
///
/// In a bin of B good blocks, o of them open, GC is in the foreground while at most u are free.
/// Then B - o - u blocks are closed. One of them can be collected with a gain unless valid data
/// fills them all (to within a batch, which padding may use up). So u + 1 free blocks can be
/// reached only if valid data fits into B - o - (u + 1) blocks and leaves a whole batch invalid in
/// one of B - o - u blocks. The same holds for the stop threshold: a collection that cannot pass
/// it would squeeze out every invalid batch for every block that is opened, without end. A
/// collection that ends early (`ftl.gc.least_gain`) need not pass it.
///
/// With parity, the units of updates that are under way are on flash twice. A stripe has at most one
/// unit in a bin, and there are no more updates than units in the write buffer, and
/// [`HOLES_AT_ONCE`] more because of trims.
///
/// In superblocks a block holds what collection can move to one: a block in which hosts have written
/// less, beside more parity, gains space whenever it is collected.
///
/// To begin in step (`precondition.in_step`), a bin needs one block more: the block to which GC moved
/// data is closed before it is full.
///
/// This cannot be checked for a snapshot that was not read yet; it is checked when the snapshot is
/// read.
pub fn check(
    experiment: &Experiment,
    layout: &Layout,
    start: Start<'_>,
    problems: &mut Problems,
) -> Space {
    let config = &experiment.drive.ftl;
    let thresholds = Thresholds::new(&config.gc, layout);
    let [foreground, background, stop] = thresholds.in_blocks();
    let path = "drive.ftl.gc";
    if foreground < RESERVE {
        problems.push(format!("{path}.foreground"), format!("\"{}\" is no block at all; at least {RESERVE} must be kept for collection to move data to", config.gc.foreground));
    }
    if background < foreground {
        problems.push(
            format!("{path}.background"),
            format!(
                "{} {} less than the foreground threshold of {foreground}",
                counted(background, "block"),
                each(background, "is", "are")
            ),
        );
    }
    if config.gc.pacing == Pacing::HostRate && background == foreground {
        problems.push(format!("{path}.pacing"), "collection at the rate of host writes needs a band of free space, and background equals foreground; raise background, by six blocks if the drive has as many to spare, or choose another pacing");
    }
    if stop < background {
        problems.push(
            format!("{path}.stop"),
            format!(
                "{} {} less than the background threshold of {background}",
                counted(stop, "block"),
                each(stop, "is", "are")
            ),
        );
    }
    let pools = pools(experiment, layout, start, &footprint(experiment, layout, start));
    // Otherwise the updates of stripes would fill any drive.
    if !buffer::is_too_large(&experiment.drive, layout) {
        check_passable(experiment, layout, (&pools, start), &thresholds, problems);
    }
    let spares = pools.iter().map(|pool| pool.spare(layout, thresholds.kept()));
    let spare_for_collection = spares.fold(f64::INFINITY, f64::min);
    Space { thresholds: [foreground, background, stop], spare_for_collection }
}

/// Refuses thresholds that can never be passed.
fn check_passable(
    experiment: &Experiment,
    layout: &Layout,
    (pools, start): (&[Pool], Start<'_>),
    thresholds: &Thresholds,
    problems: &mut Problems,
) {
    let [_, _, stop] = thresholds.in_blocks();
    if !matches!(start, Start::Unknown)
        && let Some((path, shortage)) = shortage_of(pools, layout, thresholds, start)
    {
        problems.push(path, shortage);
    } else if experiment.precondition.in_step
        && let Some(short) = pools.iter().filter_map(|pool| pool.shortage(layout, stop + 2)).max()
    {
        problems.push("precondition.in_step", format!("{} a bin {} needed for new open blocks beside the {} above the stop threshold; lower drive.ftl.gc.stop, or leave in_step out", counted(short, "more spare block"), each(short, "is", "are"), counted(stop + 1, "free block")));
    }
}

/// Spare that collection can use if everything exported holds data, as a share of the data.
pub fn spare_if_full(experiment: &Experiment, layout: &Layout) -> f64 {
    let kept = Thresholds::new(&experiment.drive.ftl.gc, layout).kept();
    let pools = pools(experiment, layout, Start::New, &full(layout));
    pools.iter().map(|pool| pool.spare(layout, kept)).fold(f64::INFINITY, f64::min)
}

/// The threshold that a drive of a snapshot can never pass, if there is one, with its path.
pub fn shortage(experiment: &Experiment, ftl: &Ftl) -> Option<(&'static str, String)> {
    let (layout, found) = (&ftl.layout, Found::of(ftl));
    let start = Start::Found(&found);
    let thresholds = Thresholds::new(&experiment.drive.ftl.gc, layout);
    let short_with = |footprint: &[u32]| {
        shortage_of(&pools(experiment, layout, start, footprint), layout, &thresholds, start)
    };
    // A scan of the map of a large drive takes a second; often even a full map would fit.
    short_with(&full(layout)).and_then(|_| short_with(&footprint_by_set(experiment, ftl)))
}

/// Logical units of an NVM set; of the drive without sets with those that the drive itself writes.
fn map_units_of_set(layout: &Layout, set: SetId) -> u32 {
    match layout.sets.is_some() {
        true => layout.host_units_of_set(set),
        false => layout.map_units,
    }
}

/// The units of each NVM set, or of the drive without sets.
fn full(layout: &Layout) -> Vec<u32> {
    layout.set_ids().map(|set| map_units_of_set(layout, set)).collect()
}

fn shortage_of(
    pools: &[Pool],
    layout: &Layout,
    thresholds: &Thresholds,
    start: Start<'_>,
) -> Option<(&'static str, String)> {
    let [foreground, ..] = thresholds.in_blocks();
    let last = (!thresholds.may_end_early()).then_some(thresholds.last());
    let reached = std::iter::once(("foreground", foreground)).chain(last);
    // A threshold of no block at all is refused as such, and cannot be lowered.
    reached.filter(|(_, blocks)| *blocks > 0).find_map(|(what, blocks)| {
        let shortage = |pool: &Pool| pool.shortage(layout, blocks + 1).map(|short| (short, *pool));
        // The first of the worst pools.
        let worst = pools.iter().filter_map(shortage).rev().max_by_key(|(short, _)| *short);
        let (short, pool) = worst?;
        let problem = format!(
            "the {what} threshold of {} can never be passed: {} has {}, of which {} would be open and {} free, \
             and has to hold {} of data{}{}; {} a bin {} needed, or lower thresholds from drive.ftl.gc.{what} down{}",
            counted(blocks, "block"),
            pool.worst_named(layout, start),
            counted(pool.good, "good block"),
            pool.open,
            blocks + 1,
            counted(pool.blocks_of_data(layout), "block"),
            match pool.blocks_of_victims(layout) > pool.blocks_of_data(layout) + 1 {
                true => ", of which one block must lack a program's data, however the data lies",
                false => "",
            },
            match pool.in_updates {
                0 => String::new(),
                units => format!(" (with {} of stripes that are being updated)", counted(units, "unit")),
            },
            counted(short, "more spare block"),
            each(short, "is", "are"),
            if pool.in_updates > 0 { ", or a smaller drive.buffer.size" } else { "" },
        );
        Some(("drive.ftl.over_provisioning", problem))
    })
}

/// Blocks and data of a pool's bins. Data spreads evenly over them, so the bin with the fewest good
/// blocks runs out of space first.
#[derive(Clone, Copy)]
struct Pool {
    /// Units of data in the pool, and its number of bins.
    units: u64,
    bins: u64,
    /// Units of each bin that are of updates of stripes.
    in_updates: u64,
    /// The bin with the fewest good blocks, and their number.
    worst: BinId,
    good: u32,
    /// Blocks of a bin that are being written.
    open: u32,
}

/// The pools, if so many units of each NVM set can ever hold data.
fn pools(
    experiment: &Experiment,
    layout: &Layout,
    start: Start<'_>,
    footprint: &[u32],
) -> Vec<Pool> {
    let config = &experiment.drive.ftl;
    let bad = match start {
        Start::Found(found) => found.bad_blocks.clone(),
        Start::New | Start::Unknown => {
            // Of several drives, each bin as it is in the worst one.
            let seeds: Vec<u64> = match &experiment.array {
                Some(array) => {
                    (0..array.drives).map(|drive| seed_of(experiment.seed, array, drive)).collect()
                }
                None => vec![experiment.seed],
            };
            let mut bad = vec![0; layout.bins as usize];
            for seed in seeds {
                let mut factory =
                    FactoryBlocks::new(layout, &config.bad_blocks, Streams::new(seed));
                bad.iter_mut()
                    .for_each(|of| *of = factory.of_next_bin().len().max(*of as usize) as u32);
            }
            bad
        }
    };
    let share = |pool: PoolId| {
        let set = layout.set_of_pool(pool);
        let units = u128::from(map_units_of_set(layout, set));
        let footprint = footprint[set.0 as usize];
        (u128::from(layout.map_units_of(pool)) * u128::from(footprint)).div_ceil(units) as u64
    };
    let worst = |pool: PoolId| {
        let bins = layout.bins_of(pool).iter().copied();
        bins.rev().max_by_key(|bin| bad[bin.0 as usize]).expect("a pool has a bin")
    };
    // New data of stripes is on flash before the old data is invalid.
    let parity = config.parity.filter(|_| !experiment.run.untimed);
    // A buffer of all numbers is refused elsewhere.
    let in_buffer = experiment.drive.buffer.units(layout);
    let in_updates = parity.map_or(0, |_| in_buffer.saturating_add(HOLES_AT_ONCE));
    let pool = |pool: PoolId| Pool {
        units: share(pool) + u64::from(in_updates) * layout.bins_of(pool).len() as u64,
        in_updates: u64::from(in_updates),
        bins: layout.bins_of(pool).len() as u64,
        worst: worst(pool),
        good: layout.blocks_per_bin() - bad[worst(pool).0 as usize],
        // A block that is scrubbed beside collection gives its space back at its end only.
        open: config.open_blocks() + u32::from(config.has_scrubber()),
    };
    (0..layout.pool_count()).map(PoolId).map(pool).collect()
}

impl Pool {
    /// Number of blocks that the worst bin lacks for `free` of them to become free.
    fn shortage(&self, layout: &Layout, free: u32) -> Option<u64> {
        let kept = u64::from(self.open + free);
        let needed = kept + self.blocks_of_data(layout).max(self.blocks_of_victims(layout) - 1);
        let short = needed.saturating_sub(u64::from(self.good));
        (self.units > 0 && short > 0).then_some(short)
    }

    /// Blocks of a bin that its data fills.
    fn blocks_of_data(&self, layout: &Layout) -> u64 {
        self.units.div_ceil(u64::from(layout.data_units(Stream::Gc)) * self.bins)
    }

    /// Closed blocks that a bin needs for one of them to have a batch of invalid units, however its
    /// data lies.
    fn blocks_of_victims(&self, layout: &Layout) -> u64 {
        let nearly = u64::from(layout.data_units(Stream::Gc) - layout.units_per_batch + 1);
        (self.units.div_ceil(self.bins) + 1).div_ceil(nearly)
    }

    /// Blocks of the worst bin that neither hold data, nor are open, nor are kept free, over the
    /// blocks that hold data.
    fn spare(&self, layout: &Layout, kept_free: u32) -> f64 {
        let data =
            self.units as f64 / (f64::from(layout.data_units(Stream::Gc)) * self.bins as f64);
        let usable = f64::from(self.good) - f64::from(self.open + kept_free);
        (usable / data - 1.0).max(0.0)
    }

    fn worst_named(&self, layout: &Layout, start: Start<'_>) -> String {
        let of = if let Start::Found(_) = start { "the snapshot" } else { "this seed" };
        match self.good == layout.blocks_per_bin() {
            true => "each bin".into(),
            false => format!("bin {} (with the bad blocks of {of})", self.worst.0),
        }
    }
}

/// Units of each NVM set that can ever hold data: the filled ones and the written ones. For a
/// snapshot, whose map was not read yet, these may be the same units, so it is the larger of the two
/// numbers; all are counted when the drive is started ([`shortage`]).
fn footprint(experiment: &Experiment, layout: &Layout, start: Start<'_>) -> Vec<u32> {
    let written = written_units(experiment, layout);
    // All units that the drive itself writes may hold data.
    let own = layout.map_units - layout.host_units;
    let of_set = |set: SetId| {
        let in_set = layout.host_units_of_set(set);
        let first = layout.first_unit_of_set(set).0;
        let within = |units: &Range<u32>| units.start.max(first)..units.end.min(first + in_set);
        let mut written: Vec<_> =
            written.iter().map(within).filter(|units| !units.is_empty()).collect();
        let units = match start {
            Start::New => {
                written.push(first..first + filled_units(&experiment.precondition, layout, set));
                united(written)
            }
            // It may be full.
            Start::Unknown => in_set,
            Start::Found(found) => united(written).max(found.mapped_units),
        };
        units.min(in_set) + own
    };
    layout.set_ids().map(of_set).collect()
}

/// The number of units in at least one of the ranges.
fn united(mut ranges: Vec<Range<u32>>) -> u32 {
    ranges.sort_unstable_by_key(|range| range.start);
    let (mut units, mut end) = (0, 0);
    for range in ranges {
        units += range.end.saturating_sub(range.start.max(end));
        end = end.max(range.end);
    }
    units
}

/// The units that each workload may write.
fn written_units(experiment: &Experiment, layout: &Layout) -> Vec<Range<u32>> {
    let unit = layout.unit_bytes;
    let within = |units: u64| units.min(u64::from(layout.host_units)) as u32;
    let range_of = |workload: &host::WorkloadConfig, namespace: Region| {
        let region = Region::of(workload, namespace);
        let end = region.end().map_or(u64::MAX, |end| end.div_ceil(unit));
        within(region.offset / unit)..within(end)
    };
    let workloads = experiment.workload.iter();
    if let Some(array) = &experiment.array {
        return workloads.flat_map(|workload| of_array(array, layout, workload)).collect();
    }
    let own = |workload| experiment.namespace(layout, workload);
    workloads.map(|workload| range_of(workload, own(workload))).collect()
}

/// The units of a drive that a workload of an array may write. Every set is a member.
fn of_array(
    array: &ArrayConfig,
    layout: &Layout,
    workload: &host::WorkloadConfig,
) -> Vec<Range<u32>> {
    let (sets, unit) = (layout.set_count(), layout.unit_bytes);
    let region = Region::of(workload, array.bytes(layout).into());
    let bytes = region.offset..region.end().unwrap_or(u64::MAX);
    let rows = match (array.stripes(layout), array.chunks(layout)) {
        (Some(stripes), _) => stripes.rows(bytes),
        // Chunks may come to any place.
        (_, Some(chunks)) => 0..chunks.member_bytes(),
        (None, None) => bytes,
    };
    let within = |bytes: u64| bytes.min(u64::from(layout.host_units)) as u32;
    let of_set = |set| {
        let start = namespaces::of_set(layout, SetId(set)).offset;
        let end = start.saturating_add(rows.end).div_ceil(unit);
        within((start + rows.start) / unit)..within(end)
    };
    (0..sets).map(of_set).collect()
}

/// Units that can ever hold data, of a drive that exists.
pub fn exact_footprint(experiment: &Experiment, ftl: &Ftl) -> u32 {
    footprint_by_set(experiment, ftl).iter().sum()
}

/// Units of each NVM set that can ever hold data, of a drive that exists.
fn footprint_by_set(experiment: &Experiment, ftl: &Ftl) -> Vec<u32> {
    let written = written_units(experiment, &ftl.layout);
    let holds = |lpn: &u32| {
        let is_written = written.iter().any(|units| units.contains(lpn));
        let is_own = *lpn >= ftl.layout.host_units;
        is_written || is_own || ftl.lookup(Lpn(*lpn)).is_some()
    };
    let of_set = |set: SetId| {
        let first = ftl.layout.first_unit_of_set(set).0;
        let units = first..first + map_units_of_set(&ftl.layout, set);
        units.filter(holds).count() as u32
    };
    ftl.layout.set_ids().map(of_set).collect()
}
