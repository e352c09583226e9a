//! Homes of units whose pool has failed: other pools take them in as guests, as far as they have room
//! for good. A guest's pool is on dies that hold no other member of its stripe.

use crate::config::DriveConfig;
use ftl::{Ftl, Layout, Lpn, PoolId};
use std::collections::{BTreeMap, BTreeSet};

/// Most updates of stripes at a time because of trimmed members alone: each may take a page of its
/// pools before it frees one. Others wait.
pub const HOLES_AT_ONCE: u32 = 8;

/// Pools that take the units of failed pools in.
#[derive(Clone)]
pub struct Guests {
    // ---- constant ----
    /// Blocks of a bin that are written at a time, and units of updates in a bin.
    open: u32,
    in_updates: u64,
    /// Units of the map that may ever hold data. All, unless it is known.
    footprint: Option<u32>,
    // ---- state ----
    /// The dies of each pool, once one has failed.
    dies: Vec<BTreeSet<u32>>,
    /// Units that a pool can still take in for good.
    room: Vec<u64>,
    /// Units of failed pools that have been taken in, and by which pool.
    guests: BTreeMap<Lpn, PoolId>,
    /// Pools, and the groups of stripes of which they have taken a member in.
    groups: BTreeSet<(PoolId, u32)>,
}

impl Guests {
    /// No pool has failed.
    pub fn new(config: &DriveConfig, layout: &Layout) -> Self {
        Self {
            open: config.ftl.open_blocks(),
            in_updates: u64::from(config.buffer.units(layout) + HOLES_AT_ONCE),
            footprint: None,
            dies: Vec::new(),
            room: Vec::new(),
            guests: BTreeMap::new(),
            groups: BTreeSet::new(),
        }
    }

    /// Notes that a first pool fails: `dies` are those of each pool.
    pub fn begin(&mut self, ftl: &Ftl, dies: Vec<BTreeSet<u32>>) {
        let pools = (0..ftl.layout.pool_count()).map(PoolId);
        self.room = pools.map(|pool| self.room_of(ftl, pool)).collect();
        self.dies = dies;
    }
    /// True once a pool has failed.
    pub fn has_begun(&self) -> bool {
        !self.dies.is_empty()
    }

    /// Notes how many units of the map may ever hold data.
    pub fn expect(&mut self, footprint: u32) {
        self.footprint = Some(footprint);
    }

    /// Units that a pool can take in beside its own, as far as these may hold data, so that it can
    /// collect for ever.
    fn room_of(&self, ftl: &Ftl, pool: PoolId) -> u64 {
        let of_bins = |bin| ftl.most_units(bin, self.open).saturating_sub(self.in_updates);
        let bins = ftl.layout.bins_of(pool);
        let worst = bins.iter().map(|bin| of_bins(*bin)).min().unwrap_or(0);
        let (own, all) = (ftl.layout.map_units_of(pool), u64::from(ftl.layout.map_units));
        let footprint = self.footprint.map_or(all, u64::from);
        let own = (u64::from(own) * footprint).div_ceil(all);
        (worst * bins.len() as u64).saturating_sub(own)
    }

    /// The pool that a unit of a failed pool is a guest of, if one has room for it.
    pub fn host_of(&mut self, ftl: &Ftl, lpn: Lpn, home: PoolId) -> Option<PoolId> {
        let host = self.guests.get(&lpn).copied();
        if let Some(host) = host.filter(|host| !ftl.has_failed(*host)) {
            return Some(host);
        }
        let stripes = ftl.layout.stripes.expect("what fails has parity");
        let host = self.choose(ftl, lpn, home)?;
        self.room[host.0 as usize] -= 1;
        self.guests.insert(lpn, host);
        self.groups.insert((host, stripes.group_of(home)));
        Some(host)
    }

    /// A pool of another group that has room for a member of a stripe, on dies that hold no other
    /// member. Neighbouring ranges of stripes go to pools far from each other.
    fn choose(&self, ftl: &Ftl, lpn: Lpn, home: PoolId) -> Option<PoolId> {
        let stripes = ftl.layout.stripes.expect("what fails has parity");
        let (stripe, group) = (stripes.of(lpn), stripes.group_of(home));
        let others = stripes.data(stripe).chain([stripes.parity(stripe)]).filter(|of| *of != lpn);
        let places = others.filter_map(|of| {
            let pool = stripes.pool(of);
            if ftl.has_failed(pool) { self.guests.get(&of).copied() } else { Some(pool) }
        });
        let taken: BTreeSet<u32> =
            places.flat_map(|pool| self.dies[pool.0 as usize].iter().copied()).collect();
        let is_host = |pool: PoolId| {
            self.room[pool.0 as usize] > 0
                && !ftl.has_failed(pool)
                && stripes.group_of(pool) != group
                && self.dies[pool.0 as usize].is_disjoint(&taken)
        };
        let range = u64::from(stripe.0 / stripes.in_range());
        let first = (range.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as u32;
        let pools = self.dies.len() as u32;
        (0..pools).map(|turn| PoolId((first % pools + turn) % pools)).find(|pool| is_host(*pool))
    }

    /// Notes that a unit has no data any more: if it was a guest, it has left.
    pub fn leaves(&mut self, lpn: Lpn) {
        if let Some(host) = self.guests.remove(&lpn) {
            self.room[host.0 as usize] += 1;
        }
    }

    /// True if a pool has ever taken a unit of a failed pool in.
    pub fn has_hosts(&self) -> bool {
        !self.groups.is_empty()
    }
    /// Groups of stripes of which a pool has taken members in.
    pub fn groups_of(&self, pool: PoolId) -> impl Iterator<Item = u32> {
        self.groups.range((pool, 0)..=(pool, u32::MAX)).map(|(_, group)| *group)
    }
    /// Pools that have taken members of a group of stripes in.
    pub fn hosts_of(&self, group: u32) -> impl Iterator<Item = PoolId> {
        self.groups.iter().filter(move |(_, of)| *of == group).map(|(pool, _)| *pool)
    }
}
