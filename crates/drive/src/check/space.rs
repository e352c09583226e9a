//! Whether garbage collection can always go on, and end: its thresholds must be
//! reachable with everything mapped that ever will be.

use crate::experiment::Experiment;
use crate::precondition::filled_units;
use engine::Streams;
use ftl::{BinId, FactoryBlocks, Layout, PoolId, RESERVE, StreamSharing, Thresholds};
use settings::Problems;

/// What collection has to work with.
pub struct Space {
    /// The thresholds as free blocks: urgent, soft, stop.
    pub thresholds: [u32; 3],
    /// Spare that collection can use, as a share of the data, where it is least.
    pub spare_for_collection: f64,
}

/// Checks the thresholds.
///
/// In a bin of B good blocks, o of them open, collection is urgent while at most
/// u are free. Then B - o - u blocks are closed, and one of them can be collected
/// with a gain unless live data fills them all (to within a batch, which padding
/// may eat). So live data must fit into B - o - (u + 1) blocks for u + 1 to be
/// reached, and must leave a whole batch dead in one of B - o - u. The same holds
/// of the stop threshold: a collection that cannot pass it would squeeze out every
/// dead batch for every block that is opened, without end.
pub fn check(experiment: &Experiment, layout: &Layout, problems: &mut Problems) -> Space {
    let config = &experiment.drive.ftl;
    let thresholds = Thresholds::new(&config.gc, layout);
    let [urgent, soft, stop] = thresholds.in_blocks();
    let path = "drive.ftl.gc";
    if urgent < RESERVE {
        problems.push(format!("{path}.urgent"), format!("\"{}\" is no block at all; at least {RESERVE} must be kept for collection to move data to", config.gc.urgent));
    }
    if soft < urgent {
        problems.push(
            format!("{path}.soft"),
            format!("{soft} blocks are less than the urgent threshold of {urgent}"),
        );
    }
    if stop < soft {
        problems.push(
            format!("{path}.stop"),
            format!("{stop} blocks are less than the soft threshold of {soft}"),
        );
    }
    let pools = pools(experiment, layout);
    for (what, blocks) in [("urgent", urgent), ("stop", stop)] {
        let shortage = |pool: &Pool| pool.shortage(layout, blocks + 1).map(|short| (short, *pool));
        // The first of the worst.
        let worst = pools.iter().filter_map(shortage).rev().max_by_key(|(short, _)| *short);
        if let Some((short, pool)) = worst {
            problems.push(
                "drive.ftl.over_provisioning",
                format!(
                    "the {what} threshold of {blocks} blocks can never be passed: {} has {} good blocks, of which {} would be open and {} free, \
                     and has to hold {} blocks of data; {short} more spare blocks a bin are needed, or lower thresholds from {path}.{what} down",
                    pool.worst_named(layout),
                    pool.good,
                    pool.open,
                    blocks + 1,
                    pool.units.div_ceil(u64::from(layout.units_per_block()) * pool.bins),
                ),
            );
            break;
        }
    }
    let spares = pools.iter().map(|pool| pool.spare(layout, soft));
    let spare_for_collection = spares.fold(f64::INFINITY, f64::min);
    Space { thresholds: [urgent, soft, stop], spare_for_collection }
}

/// What the bins of a pool have and must hold. Data spreads evenly over them, so the
/// one with the fewest good blocks is the first to run dry.
#[derive(Clone, Copy)]
struct Pool {
    /// Units of data in the pool, and how many bins it has.
    units: u64,
    bins: u64,
    /// The bin with the fewest good blocks, and those.
    worst: BinId,
    good: u32,
    /// Blocks of a bin that are being written.
    open: u32,
}

fn pools(experiment: &Experiment, layout: &Layout) -> Vec<Pool> {
    let config = &experiment.drive.ftl;
    let streams = Streams::new(experiment.seed);
    let mut factory = FactoryBlocks::new(layout, &config.bad_blocks, streams);
    let bad: Vec<u32> = (0..layout.bins).map(|_| factory.of_next_bin().len() as u32).collect();
    let footprint = footprint(experiment, layout);
    let share = |pool: PoolId| {
        (u128::from(layout.logical_units_of(pool)) * u128::from(footprint))
            .div_ceil(u128::from(layout.logical_units)) as u64
    };
    let worst = |pool: PoolId| {
        let bins = layout.bins_of(pool).iter().copied();
        bins.rev().max_by_key(|bin| bad[bin.0 as usize]).expect("a pool has a bin")
    };
    let pool = |pool: PoolId| Pool {
        units: share(pool),
        bins: layout.bins_of(pool).len() as u64,
        worst: worst(pool),
        good: layout.blocks_per_bin() - bad[worst(pool).0 as usize],
        open: if config.allocation.streams == StreamSharing::Shared { 1 } else { 2 },
    };
    (0..layout.pool_count()).map(PoolId).map(pool).collect()
}

impl Pool {
    /// How many blocks the worst bin lacks for `free` of them to come free.
    fn shortage(&self, layout: &Layout, free: u32) -> Option<u64> {
        let per_block = u64::from(layout.units_per_block());
        let kept = self.open + free;
        let filled = u64::from(self.good.saturating_sub(kept)) * per_block;
        let nearly = u64::from((self.good + 1).saturating_sub(kept))
            * u64::from(layout.units_per_block() - layout.units_per_batch + 1);
        let most = filled.min(nearly.saturating_sub(1)) * self.bins;
        (self.units > most).then(|| (self.units - most).div_ceil(per_block * self.bins))
    }

    /// Blocks of the worst bin that are neither data, open, nor kept free, over those
    /// that are data.
    fn spare(&self, layout: &Layout, kept_free: u32) -> f64 {
        let data = self.units as f64 / (f64::from(layout.units_per_block()) * self.bins as f64);
        let usable = f64::from(self.good) - f64::from(self.open + kept_free);
        (usable / data - 1.0).max(0.0)
    }

    fn worst_named(&self, layout: &Layout) -> String {
        let blocks = layout.blocks_per_bin();
        match self.good == blocks {
            true => "each bin".into(),
            false => format!("bin {} (with the bad blocks of this seed)", self.worst.0),
        }
    }
}

/// Units that can ever hold data: what is filled and what is written to.
fn footprint(experiment: &Experiment, layout: &Layout) -> u32 {
    if experiment.precondition.snapshot.is_some() {
        // Unknown until the snapshot is read: it may be full.
        return layout.logical_units;
    }
    let filled = filled_units(&experiment.precondition, layout.logical_units);
    let unit = layout.unit_bytes;
    let written: u64 = experiment
        .workload
        .iter()
        .map(|workload| match workload.region.as_ref().and_then(|region| region.size) {
            Some(size) => size.bytes().div_ceil(unit) + 1,
            None => u64::from(layout.logical_units),
        })
        .sum();
    (u64::from(filled) + written).min(u64::from(layout.logical_units)) as u32
}
