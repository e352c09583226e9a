//! Failures of flash during a run: their configuration, and the pools that fail.

use crate::device::Device;
use engine::Instant;
use ftl::{Layout, PoolId};
use nand::Geometry;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use settings::Time;
use std::ops::Range;

/// A failure of flash. Exactly one of `plane`, `die` and `channel` is given.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FailureConfig {
    /// The moment, in simulated time from the beginning of the run.
    pub at: Time,
    /// The number of the plane that fails: planes of a die follow each other, then dies, packages and
    /// channels.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plane: Option<u32>,
    /// The number of the die that fails.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub die: Option<u32>,
    /// The number of the channel that fails, with all of its planes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub channel: Option<u32>,
}

impl FailureConfig {
    /// The part that fails, in words.
    pub fn what(&self) -> String {
        let given = [("plane", self.plane), ("die", self.die), ("channel", self.channel)];
        let named = given.iter().find_map(|(what, number)| Some(format!("{what} {}", (*number)?)));
        named.unwrap_or_default()
    }

    /// The planes that fail.
    ///
    /// # Errors
    /// A sentence if there is no such part, or not exactly one is named.
    fn planes(&self, geometry: &Geometry) -> Result<Range<u32>, String> {
        let (what, number, planes) = match (self.plane, self.die, self.channel) {
            (Some(plane), None, None) => ("plane", plane, 1),
            (None, Some(die), None) => ("die", die, geometry.planes_per_die),
            (None, None, Some(channel)) => ("channel", channel, geometry.planes_per_channel()),
            _ => return Err("give exactly one of plane, die and channel".into()),
        };
        let count = geometry.planes() / planes;
        if number >= count {
            return Err(format!("there is no {what} {number}; the last one is {}", count - 1));
        }
        Ok(number * planes..(number + 1) * planes)
    }

    /// The pools that fail.
    ///
    /// # Errors
    /// A sentence if no such part exists, or if it is not made of whole pools.
    pub fn pools(&self, geometry: &Geometry, layout: &Layout) -> Result<Vec<PoolId>, String> {
        let planes = self.planes(geometry)?;
        let mut pools = Vec::new();
        for pool in (0..layout.pool_count()).map(PoolId) {
            let bins = layout.bins_of(pool).iter().map(|bin| layout.first_plane(*bin, 0).0);
            let of_pool = bins.flat_map(|first| first..first + layout.planes_per_bin());
            let (fail, stay): (Vec<u32>, Vec<u32>) =
                of_pool.partition(|plane| planes.contains(plane));
            if fail.is_empty() {
                continue;
            }
            if !stay.is_empty() {
                return Err(format!(
                    "{} is a part of pool {} only, and whole pools fail (drive.ftl.allocation.pool); choose a smaller pool, or let more fail",
                    self.what(),
                    pool.0
                ));
            }
            pools.push(pool);
        }
        Ok(pools)
    }
}

/// Schedules failures of a drive's flash, which were checked.
pub fn schedule(failures: &[FailureConfig], geometry: &Geometry, device: &mut Device) {
    for failure in failures {
        let pools = failure.pools(geometry, &device.ftl().layout).expect("a checked failure");
        device.fail_at(Instant::START + failure.at.span(), failure.what(), pools);
    }
}
