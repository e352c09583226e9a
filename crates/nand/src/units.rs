//! Units: the parts of the flash that work independently.
//!
//! A *cell* here (not a memory cell) is the smallest part that any command occupies, a *group*
//! the largest. A command occupies a run of cells inside one group, stored as a bit mask, so "may
//! it start?" is one AND. With reads on planes and programs on dies, a group is a die and its
//! cells are its planes; with all commands on the package, group and cell are the package.

use crate::config::ConcurrencyConfig;
use crate::geometry::{ChannelId, Geometry, PlaneId};
use engine::{Column, typed_id};

typed_id! {
    /// A group of cells that share a queue: the largest part that a command occupies.
    pub struct GroupId;
    /// The smallest part that a command occupies, counted over the drive: `group *
    /// cells_per_group + cell`.
    pub struct CellId;
}

/// Place of a plane among the units.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    /// The group of the plane.
    pub group: GroupId,
    /// The channel that serves the plane.
    pub channel: ChannelId,
    /// Cells of the group that a read of the plane occupies.
    pub read: u64,
    /// Cells that a program in the plane occupies.
    pub program: u64,
    /// Cells that an erase in the plane occupies.
    pub erase: u64,
}

/// The units of a drive.
#[derive(Clone, Debug)]
pub struct Units {
    places: Column<PlaneId, Place>,
    /// Groups in the drive.
    pub groups: u32,
    /// Cells in each group.
    pub cells_per_group: u32,
}

/// Most cells of a group: the bits of a mask.
pub const MOST_CELLS: u32 = 64;

impl Units {
    /// The units of `geometry` with the levels of `concurrency`. A group has at least as many
    /// planes as `group`, if that is given.
    ///
    /// # Errors
    /// The part that does not fit: planes without a pair, or more than 64 cells.
    pub fn new(
        geometry: &Geometry,
        concurrency: &ConcurrencyConfig,
        group: Option<u32>,
    ) -> Result<Self, String> {
        let planes_in = |level, key: &str| {
            geometry.planes_in(level).ok_or_else(|| {
                format!("{key} = \"plane-pair\" needs an even number of planes a die")
            })
        };
        let read = planes_in(concurrency.read, "read")?;
        let program = planes_in(concurrency.program, "program")?;
        let erase = planes_in(concurrency.erase, "erase")?;
        let cell = read.min(program).min(erase);
        let group = read.max(program).max(erase).max(group.unwrap_or(1));
        let cells_per_group = group / cell;
        if cells_per_group > MOST_CELLS {
            return Err(format!(
                "the largest unit holds {cells_per_group} of the smallest, and at most \
                 {MOST_CELLS} can be told apart; choose units that are nearer to each other"
            ));
        }
        let place = |plane: PlaneId| {
            let in_group = plane.0 % group;
            let mask = |unit: u32| {
                let first = in_group / unit * unit / cell;
                (u64::MAX >> (64 - unit / cell)) << first
            };
            Place {
                group: GroupId(plane.0 / group),
                channel: geometry.channel_of(plane),
                read: mask(read),
                program: mask(program),
                erase: mask(erase),
            }
        };
        Ok(Self {
            places: Column::from_fn(geometry.planes() as usize, place),
            groups: geometry.planes() / group,
            cells_per_group,
        })
    }

    /// Cells of the drive.
    pub fn cells(&self) -> u32 {
        self.groups * self.cells_per_group
    }
    /// The channel that serves a cell.
    pub fn channel_of(&self, cell: CellId) -> ChannelId {
        let planes = self.places.len() as u32 / self.cells();
        self.places[PlaneId(cell.0 * planes)].channel
    }

    /// Place of `plane` among the units.
    #[inline]
    pub fn place(&self, plane: PlaneId) -> &Place {
        &self.places[plane]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::UnitLevel;

    fn geometry() -> Geometry {
        Geometry {
            channels: 2,
            gang_channels: 1,
            lanes: 1,
            packages_per_channel: 3,
            dies_per_package: 2,
            planes_per_die: 4,
            blocks_per_plane: 8,
            pages_per_block: 16,
            page_bytes: 4096,
            spare_bytes: 128,
        }
    }

    #[test]
    fn a_group_is_the_largest_unit_and_a_cell_the_smallest() {
        let levels = ConcurrencyConfig {
            read: UnitLevel::Plane,
            program: UnitLevel::PlanePair,
            erase: UnitLevel::Die,
        };
        let units = Units::new(&geometry(), &levels, None).unwrap();
        assert_eq!((units.groups, units.cells_per_group), (12, 4));
        // Plane 30 = die 7, plane 2; channel 1 serves die 7 (24 planes a channel).
        let place = units.place(PlaneId(30));
        assert_eq!((place.group, place.channel), (GroupId(7), ChannelId(1)));
        assert_eq!((place.read, place.program, place.erase), (0b0100, 0b1100, 0b1111));
    }

    #[test]
    fn one_level_for_all_makes_one_cell_a_group() {
        let levels = ConcurrencyConfig {
            read: UnitLevel::Package,
            program: UnitLevel::Package,
            erase: UnitLevel::Package,
        };
        let units = Units::new(&geometry(), &levels, None).unwrap();
        assert_eq!((units.groups, units.cells_per_group), (6, 1));
        assert_eq!(units.place(PlaneId(47)).erase, 1);
    }

    #[test]
    fn odd_planes_have_no_pairs() {
        let levels = ConcurrencyConfig {
            read: UnitLevel::PlanePair,
            program: UnitLevel::Die,
            erase: UnitLevel::Die,
        };
        let odd = Geometry { planes_per_die: 3, ..geometry() };
        assert!(Units::new(&odd, &levels, None).unwrap_err().contains("even number of planes"));
    }
}
