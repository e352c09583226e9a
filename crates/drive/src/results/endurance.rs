//! Endurance groups: NVM sets whose wear is told together, by the names of the Endurance Group
//! Information log of [NVMBASE] (09h).

use super::work::{spread, work};
use crate::config::DriveConfig;
use crate::measure::Measured;
use ftl::{BlockId, BlockState, Ftl, SetId, Tally};
use serde_json::{Value, json};
use std::ops::Range;

/// Figures of each endurance group of a drive, numbered from 1. A drive without groups is one. The
/// drive's sets follow the `first` one among those that were measured.
pub fn groups(ftl: &Ftl, drive: &DriveConfig, measured: &Measured, first: u32) -> Value {
    let sets = ftl.layout.set_count();
    let each = drive.ftl.sets.as_ref().map_or(1, |of| of.sets_of_group());
    let of_group = |group: u32| {
        let own = group * each..(group + 1) * each;
        let tally: Tally = own.clone().map(|set| measured.tally_of(SetId(first + set))).sum();
        let blocks = Blocks::of(ftl, |set| set.0 / each == group);
        let mut figures = work(&tally, &ftl.layout);
        figures["group"] = (group + 1).into();
        figures["sets"] = own.map(|set| set + 1).collect::<Vec<_>>().into();
        figures["percentage_used"] = json!(blocks.percentage_used(drive.nand.endurance));
        figures["available_spare"] =
            json!(blocks.available_spare(ftl, group * each..(group + 1) * each));
        figures["erase_count"] = spread(&blocks.erases);
        figures
    };
    (0..sets / each).map(of_group).collect::<Vec<_>>().into()
}

/// The blocks of a group.
struct Blocks {
    /// Erases of each block that is not bad, since the drive was new.
    erases: Vec<f64>,
    /// Blocks that were retired since then.
    retired: u32,
}

impl Blocks {
    /// The blocks of the sets of a group.
    fn of(ftl: &Ftl, is_own: impl Fn(SetId) -> bool) -> Self {
        let (layout, states) = (&ftl.layout, ftl.block_states());
        let (mut erases, mut retired) = (Vec::new(), 0);
        for (block, count) in (0..).map(BlockId).zip(ftl.erase_counts()) {
            if !is_own(layout.set_of_bin(layout.bin(block))) {
                continue;
            }
            match states[block.0 as usize] {
                // What left the factory bad was never erased.
                BlockState::Bad => retired += u32::from(*count > 0),
                _ => erases.push(f64::from(*count)),
            }
        }
        Self { erases, retired }
    }

    /// Percentage Used: mean erases for each rated cycle, in percent; `None` if blocks never wear out or
    /// none is left.
    fn percentage_used(&self, endurance: u32) -> Option<f64> {
        let mean = self.erases.iter().sum::<f64>() / self.erases.len() as f64;
        (endurance > 0 && !self.erases.is_empty()).then(|| 100.0 * mean / f64::from(endurance))
    }

    /// Available Spare: what blocks hold beside the logical units of some sets, in percent of what it was
    /// when the drive was new.
    fn available_spare(&self, ftl: &Ftl, sets: Range<u32>) -> f64 {
        let layout = &ftl.layout;
        let data: f64 = match &layout.sets {
            Some(of) => sets.map(|set| f64::from(of.units(SetId(set)))).sum(),
            None => f64::from(layout.map_units),
        };
        let spare = |blocks: f64| blocks * f64::from(layout.units_per_block()) - data;
        let now = self.erases.len() as f64;
        100.0 * (spare(now) / spare(now + f64::from(self.retired))).max(0.0)
    }
}
