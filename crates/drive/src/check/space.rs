//! Whether garbage collection can always go on: the urgent threshold must be
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
/// reached, and must leave a whole batch dead in one of B - o - u.
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
    let open = if config.allocation.streams == StreamSharing::Shared { 1 } else { 2 };
    let bad = config.bad_blocks.factory.fraction() * f64::from(layout.blocks_per_bin());
    // What is expected, and three standard deviations more.
    let bad = (bad + 3.0 * libm::sqrt(bad)) as u32;
    let good = layout.blocks_per_bin().saturating_sub(bad);
    let kept = open + thresholds.blocks_above_urgent();
    let footprint = footprint(experiment, layout);
    for pool in (0..layout.pool_count()).map(PoolId) {
        let bins = layout.bins_of(pool).len() as u64;
        let filled = u64::from(good.saturating_sub(kept)) * u64::from(layout.units_per_block());
        let nearly = u64::from((good + 1).saturating_sub(kept))
            * u64::from(layout.units_per_block() - layout.units_per_batch + 1);
        let most = filled.min(nearly.saturating_sub(1)) * bins;
        let share = (u128::from(layout.logical_units_of(pool)) * u128::from(footprint))
            .div_ceil(u128::from(layout.logical_units)) as u64;
        if share > most {
            let short = (share - most).div_ceil(u64::from(layout.units_per_block()) * bins);
            problems.push(
                "drive.ftl.over_provisioning",
                format!(
                    "the urgent threshold of {urgent} blocks cannot be reached: each bin has {good} good blocks, keeps {kept} ({open} open and {} free), \
                     and would have to hold {} blocks of data; {short} more spare blocks a bin are needed",
                    thresholds.blocks_above_urgent(),
                    share.div_ceil(u64::from(layout.units_per_block()) * bins),
                ),
            );
            break;
        }
    }
    [urgent, soft, stop]
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
