//! The bins of each pool, in turn order.

use crate::allocation::PoolLevel;
use crate::config::FtlConfig;
use crate::ids::{BinId, PoolId, SetId};
use engine::{Column, ids::Id};
use nand::Geometry;
use std::collections::BTreeMap;

/// The place of a bin: channel, package on the channel, die of the package, set of planes of the die. A
/// bin that covers several of a level has the number of its first part, counted in bins.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    channel: u32,
    package: u32,
    die: u32,
    planes: u32,
}

/// Numbers of bins in one part of each level; 1 if the part lies inside a bin.
struct Counts {
    drive: u32,
    channel: u32,
    package: u32,
    die: u32,
}

impl Counts {
    fn new(geometry: &Geometry, planes_per_bin: u32) -> Self {
        let bins_in = |planes: u32| (planes / planes_per_bin).max(1);
        Self {
            drive: bins_in(geometry.planes()),
            channel: bins_in(geometry.planes_per_channel()),
            package: bins_in(geometry.planes_per_die * geometry.dies_per_package),
            die: bins_in(geometry.planes_per_die),
        }
    }
    /// Parts of a level in the next higher one, by the letter of the level.
    fn of(&self, letter: char) -> u32 {
        match letter {
            'C' => self.drive / self.channel,
            'W' => self.channel / self.package,
            'D' => self.package / self.die,
            _ => self.die,
        }
    }
    /// The place whose turn it is, in an order of levels of which the first varies fastest.
    fn in_turn(&self, turn: u32, order: &str) -> Place {
        let mut rest = turn;
        let mut place = Place { channel: 0, package: 0, die: 0, planes: 0 };
        for letter in order.chars() {
            let count = self.of(letter);
            let digit = rest % count;
            rest /= count;
            match letter {
                'C' => place.channel = digit,
                'W' => place.package = digit,
                'D' => place.die = digit,
                _ => place.planes = digit,
            }
        }
        place
    }
    fn bin(&self, at: Place) -> BinId {
        let in_channel = at.package * self.package + at.die * self.die + at.planes;
        BinId(at.channel * self.channel + in_channel)
    }
}

/// The first place of the pool that a place belongs to: the coordinates that its level fixes.
fn first_of_pool(level: PoolLevel, gang_channels: u32, at: Place) -> Place {
    let whole = Place { channel: 0, package: 0, die: 0, planes: 0 };
    match level {
        PoolLevel::Plane => at,
        PoolLevel::Die => Place { planes: 0, ..at },
        PoolLevel::Package => Place { die: 0, planes: 0, ..at },
        PoolLevel::Channel => Place { channel: at.channel, ..whole },
        PoolLevel::Gang => Place { channel: at.channel / gang_channels, ..whole },
        PoolLevel::Drive => whole,
    }
}

/// The bins of each pool, pools and bins both in turn order. The pools of an NVM set are neighbours.
pub(crate) fn pools(
    geometry: &Geometry,
    planes_per_bin: u32,
    config: &FtlConfig,
    set_of_plane: Option<&[SetId]>,
) -> Pools {
    let counts = Counts::new(geometry, planes_per_bin);
    let set_of =
        |bin: BinId| set_of_plane.map_or(SetId(0), |sets| sets[(bin.0 * planes_per_bin) as usize]);
    let allocation = &config.allocation;
    // Each pool by its set and the turn of its first bin.
    let mut first_turns = BTreeMap::new();
    let mut pools: BTreeMap<(SetId, u32), Vec<BinId>> = BTreeMap::new();
    for turn in 0..counts.drive {
        let at = counts.in_turn(turn, &allocation.order);
        let bin = counts.bin(at);
        let key = (set_of(bin), first_of_pool(allocation.pool, geometry.gang_channels, at));
        let first = *first_turns.entry(key).or_insert(turn);
        pools.entry((key.0, first)).or_default().push(bin);
    }
    let of_pools = pools.keys().map(|(set, _)| *set).collect();
    Pools { bins: pools.into_values().collect(), of_pools }
}

/// The bins of each pool, and the NVM set of each pool.
pub(crate) struct Pools {
    pub bins: Vec<Vec<BinId>>,
    pub of_pools: Vec<SetId>,
}

/// The pool of each bin.
pub(crate) fn pool_of_bin(pools: &[Vec<BinId>], bins: u32) -> Column<BinId, PoolId> {
    let mut pool_of_bin = Column::filled(PoolId(0), bins as usize);
    for (pool, members) in pools.iter().enumerate() {
        members.iter().for_each(|bin| pool_of_bin[*bin] = PoolId::from_index(pool));
    }
    pool_of_bin
}
