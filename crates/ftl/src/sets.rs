//! NVM sets: parts of a drive that have flash, logical units and spare space of their own. What
//! happens in one costs nothing in another, except for what all share: the link, the firmware, and a
//! channel whose dies belong to several sets. Source: [NVMBASE], NVM Sets and Endurance Groups.

use crate::ids::{Lpn, PoolId, SetId};
use crate::recovery_levels::RecoveryLevel;
use engine::Divisor;
use engine::ids::Id;
use nand::Geometry;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::ops::{Index, IndexMut};

/// The cut of a drive into NVM sets of the same size, numbered from 0: first all parts of the dies of
/// the first channels, and so on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SetsConfig {
    /// Parts into which the channels are cut: neighbours belong together. Default: 1.
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 31))]
    pub channels: u32,
    /// Parts into which the dies of each channel are cut. Sets that share a channel wait for each
    /// other's transfers. Default: 1.
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 31))]
    pub dies: u32,
    /// Endurance groups, of which results tell the wear: each has the same number of neighbouring sets.
    /// The drive levels no wear between sets. Default: 1.
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 31))]
    pub endurance_groups: u32,
    /// Read recovery level of each set, in order: that of its reads for which no other level is chosen.
    /// Default: 4 in all sets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Vec<u8>>", inner(inner(range(min = 0, max = 15))))]
    pub read_recovery_levels: Option<Vec<RecoveryLevel>>,
}

fn one() -> u32 {
    1
}

/// Most sets of a drive. Source: [NVMBASE], the NVM Set List has 31 entries.
pub const MOST_SETS: u32 = 31;

impl SetsConfig {
    /// Number of sets.
    pub fn count(&self) -> u32 {
        self.channels * self.dies
    }

    /// Number of sets of each endurance group.
    pub fn sets_of_group(&self) -> u32 {
        self.count() / self.endurance_groups
    }

    /// The read recovery level of a set.
    pub fn read_recovery_level(&self, set: SetId) -> RecoveryLevel {
        let levels = self.read_recovery_levels.as_ref();
        levels.and_then(|levels| levels.get(set.index())).copied().unwrap_or_default()
    }

    /// Sets that share so many logical units equally, and have so many pools each.
    pub(crate) fn of_units(&self, logical: u32, pools: u32) -> Sets {
        Sets {
            count: self.count(),
            units: Divisor::new(logical / self.count()),
            pools: Divisor::new(pools),
        }
    }

    /// Contradictions with the flash, each with its key below `sets`.
    pub(crate) fn faults(&self, geometry: &Geometry) -> Vec<(&'static str, String)> {
        let dies = geometry.dies_per_package * geometry.packages_per_channel;
        let mut faults = Vec::new();
        for (key, parts, of, things) in [
            ("sets.channels", self.channels, geometry.channels, "channel"),
            ("sets.dies", self.dies, dies, "die"),
        ] {
            if parts == 0 || !of.is_multiple_of(parts) {
                let whole = if things == "die" { "a channel" } else { "the drive" };
                let of = settings::counted(of, things);
                faults.push((key, format!("{parts} does not divide the {of} of {whole}")));
            }
        }
        if self.count() < 2 {
            faults.push((
                "sets",
                "one set is the whole drive; cut the channels or the dies into parts, or leave this out"
                    .into(),
            ));
        } else if self.count() > MOST_SETS {
            let fault = format!("{} sets; NVMe has room for {MOST_SETS}", self.count());
            faults.push(("sets", fault));
        } else if self.endurance_groups == 0 || !self.count().is_multiple_of(self.endurance_groups)
        {
            let fault = format!(
                "{} does not divide the {} sets; give a divisor",
                self.endurance_groups,
                self.count()
            );
            faults.push(("sets.endurance_groups", fault));
        }
        if let Some(levels) = &self.read_recovery_levels
            && levels.len() != self.count() as usize
        {
            let levels = settings::counted(levels.len() as u32, "level");
            let fault = format!("{levels} for {} sets; give one for each", self.count());
            faults.push(("sets.read_recovery_levels", fault));
        }
        faults
    }

    /// The set of a die: its channel, and its number on the channel.
    pub(crate) fn of_die(&self, geometry: &Geometry, channel: u32, die: u32) -> SetId {
        let dies = geometry.dies_per_package * geometry.packages_per_channel;
        let of_channels = channel / (geometry.channels / self.channels);
        SetId(of_channels * self.dies + die / (dies / self.dies))
    }
}

/// Arithmetic of sets.
#[derive(Clone, Copy, Debug)]
pub struct Sets {
    count: u32,
    /// Logical units that hosts may address in each set.
    units: Divisor,
    /// Pools of each set.
    pools: Divisor,
}

impl Sets {
    /// Number of sets.
    pub fn count(&self) -> u32 {
        self.count
    }
    /// Logical units that hosts may address in each set.
    pub fn units(&self) -> u32 {
        self.units.get()
    }
    /// The set of a logical unit, and the unit's number in it.
    #[inline]
    pub fn split(&self, lpn: Lpn) -> (SetId, Lpn) {
        let (set, unit) = self.units.split(lpn.0);
        (SetId(set), Lpn(unit))
    }
    /// The set of a pool.
    #[inline]
    pub fn of_pool(&self, pool: PoolId) -> SetId {
        SetId(self.pools.quotient(pool.0))
    }
    /// The first pool of a set.
    #[inline]
    pub fn first_pool(&self, set: SetId) -> PoolId {
        PoolId(set.0 * self.pools.get())
    }
}

/// A thing for each set: one without sets. The first one is as near as without them.
#[derive(Clone, Debug, Default)]
pub struct BySet<T> {
    first: T,
    others: Vec<T>,
}

impl<T> BySet<T> {
    /// Makes a value for each of `count` sets.
    pub fn from_fn(count: u32, mut make: impl FnMut(SetId) -> T) -> Self {
        let first = make(SetId(0));
        Self { first, others: (1..count).map(|set| make(SetId(set))).collect() }
    }
    /// The thing of a drive without sets.
    ///
    /// # Panics
    /// If there are several.
    pub fn whole(&self) -> &T {
        assert!(self.others.is_empty(), "it belongs to the whole drive");
        &self.first
    }
    /// The value of the only set, to be changed.
    ///
    /// # Panics
    /// If there are several.
    pub fn whole_mut(&mut self) -> &mut T {
        assert!(self.others.is_empty(), "it belongs to the whole drive");
        &mut self.first
    }
    /// The thing of the first set: what is the same in all sets can be asked from it.
    #[inline]
    pub fn first(&self) -> &T {
        &self.first
    }
    /// Number of sets.
    pub fn count(&self) -> u32 {
        1 + self.others.len() as u32
    }
    /// All sets.
    pub fn ids(&self) -> impl Iterator<Item = SetId> + use<T> {
        (0..self.count()).map(SetId)
    }
    /// The things, by set.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        std::iter::once(&self.first).chain(&self.others)
    }
    /// The things, by set, to be changed.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut T> {
        std::iter::once(&mut self.first).chain(&mut self.others)
    }
}

impl<T> Index<SetId> for BySet<T> {
    type Output = T;
    #[inline]
    fn index(&self, set: SetId) -> &T {
        if set.0 == 0 { &self.first } else { &self.others[set.index() - 1] }
    }
}
impl<T> IndexMut<SetId> for BySet<T> {
    #[inline]
    fn index_mut(&mut self, set: SetId) -> &mut T {
        if set.0 == 0 { &mut self.first } else { &mut self.others[set.index() - 1] }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn things_of_sets_are_apart() {
        let mut names = BySet::from_fn(3, |set| format!("set {}", set.0));
        names[SetId(2)].push('!');
        assert_eq!(names.iter().collect::<Vec<_>>(), ["set 0", "set 1", "set 2!"]);
        assert_eq!((names.count(), &*names[SetId(0)]), (3, "set 0"));
    }
}
