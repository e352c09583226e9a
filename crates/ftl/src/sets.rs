//! NVM sets: parts of a drive that have flash, logical units and spare space of their own. What
//! happens in one costs nothing in another, except for what all share: the link, the firmware, and a
//! channel whose dies belong to several sets. Source: [NVMBASE], NVM Sets and Endurance Groups.

use crate::ids::{Lpn, PoolId, SetId};
use crate::recovery_levels::RecoveryLevel;
use crate::set_parts::{self, SetPart};
use engine::Divisor;
use engine::ids::Id;
use nand::Geometry;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::ops::{Index, IndexMut};

/// The cut of a drive into NVM sets, numbered from 0: equal parts, or parts of chosen flash. Of equal
/// parts, all parts of the dies of the first channels come first, and so on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SetsConfig {
    /// Equal parts into which the channels are cut: neighbours belong together. Default: 1.
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 31))]
    pub channels: u32,
    /// Equal parts into which the dies of each channel are cut. Sets that share a channel wait for each
    /// other's transfers. Default: 1.
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 31))]
    pub dies: u32,
    /// The flash of each set, in place of equal parts: `[{ channels = [0] }, { channels = [1, 2, 3] }]`.
    /// Each plane of the drive lies in one set. Default: equal parts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parts: Option<Vec<SetPart>>,
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
        self.parts.as_ref().map_or(self.channels * self.dies, |parts| parts.len() as u32)
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

    /// Contradictions with the flash, each with its key below `sets`.
    pub(crate) fn faults(&self, geometry: &Geometry) -> Vec<(&'static str, String)> {
        let mut faults = match &self.parts {
            Some(parts) => self.faults_of_parts(parts, geometry),
            None => self.faults_of_cut(geometry),
        };
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

    fn faults_of_cut(&self, geometry: &Geometry) -> Vec<(&'static str, String)> {
        let dies = geometry.dies_per_channel();
        let mut faults = Vec::new();
        for (key, parts, of, things) in [
            ("sets.channels", self.channels, geometry.channels, "channel"),
            ("sets.dies", self.dies, dies, "die"),
        ] {
            if parts == 0 || !of.is_multiple_of(parts) {
                let whole = if things == "die" { "a channel" } else { "the drive" };
                let of = settings::counted(of, things);
                let fault = format!(
                    "{parts} does not divide the {of} of {whole}; give a divisor, or sets of chosen flash (parts)"
                );
                faults.push((key, fault));
            }
        }
        faults
    }

    fn faults_of_parts(
        &self,
        parts: &[SetPart],
        geometry: &Geometry,
    ) -> Vec<(&'static str, String)> {
        let mut faults = Vec::new();
        for (key, cut) in [("sets.channels", self.channels), ("sets.dies", self.dies)] {
            if cut != 1 {
                let fault =
                    "sets of chosen flash (parts) are not cut further; leave one of the two out";
                faults.push((key, fault.to_owned()));
            }
        }
        let of_parts = set_parts::faults(parts, geometry).into_iter();
        faults.extend(of_parts.map(|fault| ("sets.parts", fault)));
        faults
    }

    /// The set of each plane of the drive.
    pub fn of_planes(&self, geometry: &Geometry) -> Vec<SetId> {
        if let Some(parts) = &self.parts {
            return set_parts::of_planes(parts, geometry);
        }
        let (planes, dies) = (geometry.planes_per_die, geometry.dies_per_channel());
        let of_plane = |plane: u32| {
            let (channel, die) = (plane / planes / dies, plane / planes % dies);
            let of_channels = channel / (geometry.channels / self.channels);
            SetId(of_channels * self.dies + die / (dies / self.dies))
        };
        (0..geometry.planes()).map(of_plane).collect()
    }
}

/// Units and pools of a set.
#[derive(Clone, Copy, Debug)]
struct OfSet {
    first_unit: u32,
    units: u32,
    first_pool: u32,
    pools: Divisor,
    /// Planes of its flash.
    planes: u32,
}

/// Arithmetic of sets.
#[derive(Clone, Debug)]
pub struct Sets {
    /// Logical units that hosts may address in each set, if all have as many.
    equal: Option<Divisor>,
    of_sets: Vec<OfSet>,
    of_pools: Vec<SetId>,
}

impl Sets {
    /// Sets of a drive: each has a share of `logical` units in proportion to its planes, and `of_pools`
    /// names the set of each pool. The pools of a set are neighbours.
    pub(crate) fn new(logical: u64, of_planes: &[SetId], of_pools: Vec<SetId>) -> Self {
        let count = of_planes.iter().map(|set| set.0 + 1).max().expect("a drive has planes");
        let mut of_sets: Vec<OfSet> = Vec::new();
        let (mut first_unit, mut first_pool) = (0, 0);
        for set in (0..count).map(SetId) {
            let planes = of_planes.iter().filter(|of| **of == set).count() as u32;
            let pools = of_pools.iter().filter(|of| **of == set).count() as u32;
            let share = u128::from(logical) * u128::from(planes) / of_planes.len() as u128;
            let units = share as u32;
            of_sets.push(OfSet {
                first_unit,
                units,
                first_pool,
                pools: Divisor::new(pools),
                planes,
            });
            first_unit += units;
            first_pool += pools;
        }
        let units = of_sets[0].units;
        let is_equal = units > 0 && of_sets.iter().all(|of| of.units == units);
        Self { equal: is_equal.then(|| Divisor::new(units)), of_sets, of_pools }
    }
    /// Number of sets.
    pub fn count(&self) -> u32 {
        self.of_sets.len() as u32
    }
    /// Logical units that hosts may address in a set.
    pub fn units(&self, set: SetId) -> u32 {
        self.of_sets[set.index()].units
    }
    /// The first logical unit of a set.
    pub fn first_unit(&self, set: SetId) -> Lpn {
        Lpn(self.of_sets[set.index()].first_unit)
    }
    /// Logical units that hosts may address in all sets.
    pub(crate) fn all_units(&self) -> u32 {
        self.of_sets.iter().map(|of| of.units).sum()
    }
    /// Planes of a set.
    pub(crate) fn planes(&self, set: SetId) -> u32 {
        self.of_sets[set.index()].planes
    }
    /// The set of a logical unit, and the unit's number in it.
    #[inline]
    pub fn split(&self, lpn: Lpn) -> (SetId, Lpn) {
        if let Some(units) = &self.equal {
            let (set, unit) = units.split(lpn.0);
            return (SetId(set), Lpn(unit));
        }
        let behind = self.of_sets.iter().position(|of| of.first_unit > lpn.0);
        let set = behind.unwrap_or(self.of_sets.len()) - 1;
        (SetId::from_index(set), Lpn(lpn.0 - self.of_sets[set].first_unit))
    }
    /// The set of a pool.
    #[inline]
    pub fn of_pool(&self, pool: PoolId) -> SetId {
        self.of_pools[pool.index()]
    }
    /// The first pool of a set.
    #[inline]
    pub fn first_pool(&self, set: SetId) -> PoolId {
        PoolId(self.of_sets[set.index()].first_pool)
    }
    /// Pools of a set.
    #[inline]
    pub(crate) fn pools(&self, set: SetId) -> Divisor {
        self.of_sets[set.index()].pools
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
