//! Whether garbage collection can always go on, and end: its thresholds must be
//! reachable with everything mapped that ever will be.

use crate::experiment::Experiment;
use crate::precondition::filled_units;
use ftl::{Layout, PoolId, RESERVE, StreamSharing, Thresholds};
use settings::Problems;

/// Checks the thresholds; returns them as free blocks: urgent, soft, stop.
///
/// In a bin of B good blocks, o of them open, collection is urgent while at most
/// u are free. Then B - o - u blocks are closed, and one of them can be collected
/// with a gain unless live data fills them all (to within a batch, which padding
/// may eat). So live data must fit into B - o - (u + 1) blocks for u + 1 to be
/// reached, and must leave a whole batch dead in one of B - o - u. The same holds
/// of the stop threshold: a collection that cannot pass it would squeeze out every
/// dead batch for every block that is opened, without end.
pub fn check(experiment: &Experiment, layout: &Layout, problems: &mut Problems) -> [u32; 3] {
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
    let bins = Bins::new(experiment, layout);
    for (what, blocks) in [("urgent", urgent), ("stop", stop)] {
        if let Some(short) = bins.shortage(layout, blocks + 1) {
            problems.push(
                "drive.ftl.over_provisioning",
                format!(
                    "the {what} threshold of {blocks} blocks can never be passed: each bin has {} good blocks, of which {} would be open and {} free, \
                     and has to hold {} blocks of data; {short} more spare blocks a bin are needed, or a lower {path}.{what}",
                    bins.good,
                    bins.open,
                    blocks + 1,
                    bins.blocks_of_data,
                ),
            );
            break;
        }
    }
    [urgent, soft, stop]
}

/// What the bins of a drive have and must hold.
struct Bins {
    /// Blocks of a bin that are not bad, with a margin for chance.
    good: u32,
    /// Blocks of a bin that are being written.
    open: u32,
    /// Units of data in the bins of the fullest pool, and how many bins those are.
    units: u64,
    bins: u64,
    /// The same in blocks a bin.
    blocks_of_data: u64,
}

impl Bins {
    fn new(experiment: &Experiment, layout: &Layout) -> Self {
        let config = &experiment.drive.ftl;
        let bad = config.bad_blocks.factory.fraction() * f64::from(layout.blocks_per_bin());
        // What is expected, and three standard deviations more.
        let bad = (bad + 3.0 * libm::sqrt(bad)) as u32;
        let footprint = footprint(experiment, layout);
        let share = |pool: PoolId| {
            (u128::from(layout.logical_units_of(pool)) * u128::from(footprint))
                .div_ceil(u128::from(layout.logical_units)) as u64
        };
        let (units, bins) = (0..layout.pool_count())
            .map(PoolId)
            .map(|pool| (share(pool), layout.bins_of(pool).len() as u64))
            .max_by(|(units, bins), (others, other_bins)| {
                (units * other_bins).cmp(&(others * bins))
            })
            .expect("a drive has a pool");
        Self {
            good: layout.blocks_per_bin().saturating_sub(bad),
            open: if config.allocation.streams == StreamSharing::Shared { 1 } else { 2 },
            units,
            bins,
            blocks_of_data: units.div_ceil(u64::from(layout.units_per_block()) * bins),
        }
    }

    /// How many blocks a bin lacks for `free` of them to come free.
    fn shortage(&self, layout: &Layout, free: u32) -> Option<u64> {
        let per_block = u64::from(layout.units_per_block());
        let kept = self.open + free;
        let filled = u64::from(self.good.saturating_sub(kept)) * per_block;
        let nearly = u64::from((self.good + 1).saturating_sub(kept))
            * u64::from(layout.units_per_block() - layout.units_per_batch + 1);
        let most = filled.min(nearly.saturating_sub(1)) * self.bins;
        (self.units > most).then(|| (self.units - most).div_ceil(per_block * self.bins))
    }
}

/// Units that can ever hold data: what is filled and what is written to.
fn footprint(experiment: &Experiment, layout: &Layout) -> u32 {
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
