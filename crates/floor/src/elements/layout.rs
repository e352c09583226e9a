//! Places of blocks in planes, and numbers of pages.

use super::rules::{Mapping, Refused, Rules};

/// The blocks of one element. A block has a number, which sets the order of filling, and an index
/// in its plane.
#[derive(Clone, Copy, Debug)]
pub(super) struct Layout {
    pub planes: usize,
    pub blocks_per_plane: usize,
    /// Pages of a block that hold data: all but the last.
    pub data_pages: usize,
    /// Blocks of a plane that are not exported: its last.
    pub reserved: usize,
    /// Planes that work at the same time.
    pub units: usize,
    mapping: Mapping,
}

impl Layout {
    pub fn new(rules: &Rules) -> Result<Self, Refused> {
        let sizes = [rules.elements, rules.planes, rules.blocks_per_plane, rules.parallel_units];
        if sizes.contains(&0) {
            return Err(Refused::Rules("there is at least one of everything"));
        }
        if rules.pages_per_block < 2 {
            return Err(Refused::Rules("a block has a page of data and a summary"));
        }
        if rules.mapping == Mapping::PairStriped && !rules.planes.is_multiple_of(2) {
            return Err(Refused::Rules("pairs need an even number of planes"));
        }
        if !rules.planes.is_multiple_of(rules.parallel_units) {
            return Err(Refused::Rules("parallel units have equally many planes"));
        }
        let reserved = percent(rules.reserve_percent, rules.blocks_per_plane as usize);
        if reserved >= rules.blocks_per_plane as usize {
            return Err(Refused::Rules("nothing is exported"));
        }
        let layout = Self {
            planes: rules.planes as usize,
            blocks_per_plane: rules.blocks_per_plane as usize,
            data_pages: rules.pages_per_block as usize - 1,
            reserved,
            units: if rules.copy_back { rules.parallel_units as usize } else { 1 },
            mapping: rules.mapping,
        };
        if layout.free_at_start(rules) <= layout.low(rules) {
            return Err(Refused::Rules("cleaning is due at once, and has nothing to gain"));
        }
        Ok(layout)
    }

    pub fn blocks(&self) -> usize {
        self.planes * self.blocks_per_plane
    }

    /// Blocks of each plane that are exported: its first.
    pub fn exported_per_plane(&self) -> usize {
        self.blocks_per_plane - self.reserved
    }

    /// Pages of the element that the host can address.
    pub fn exported_pages(&self) -> usize {
        self.exported_per_plane() * self.planes * self.data_pages
    }

    /// Number of free blocks at or below which cleaning begins, of a plane with copy-back or of
    /// the element without.
    pub fn low(&self, rules: &Rules) -> usize {
        percent(rules.min_free_percent, self.blocks_per_space(rules))
    }

    /// Blocks among which the next one to write is chosen.
    pub fn blocks_per_space(&self, rules: &Rules) -> usize {
        if rules.copy_back { self.blocks_per_plane } else { self.blocks() }
    }

    /// Blocks that count as free in the beginning, of a plane with copy-back or of the element
    /// without. One of the reserved blocks of a plane is active and not free. The active block of
    /// an element without copy-back counts as free all the same, as in the authors' simulator.
    /// The count stays one too high for ever.
    pub fn free_at_start(&self, rules: &Rules) -> usize {
        if rules.copy_back { self.reserved.saturating_sub(1) } else { self.reserved * self.planes }
    }

    pub fn plane_of(&self, block: usize) -> usize {
        match self.mapping {
            Mapping::Concatenated => block / self.blocks_per_plane,
            Mapping::PairStriped => block / (2 * self.blocks_per_plane) * 2 + block % 2,
            Mapping::FullyStriped => block % self.planes,
        }
    }

    pub fn index_of(&self, block: usize) -> usize {
        match self.mapping {
            Mapping::Concatenated => block % self.blocks_per_plane,
            Mapping::PairStriped => block % (2 * self.blocks_per_plane) / 2,
            Mapping::FullyStriped => block / self.planes,
        }
    }

    /// The block at `index` of `plane`.
    pub fn block(&self, plane: usize, index: usize) -> usize {
        match self.mapping {
            Mapping::Concatenated => plane * self.blocks_per_plane + index,
            Mapping::PairStriped => plane / 2 * 2 * self.blocks_per_plane + 2 * index + plane % 2,
            Mapping::FullyStriped => index * self.planes + plane,
        }
    }

    /// The parallel unit of `plane`.
    pub fn unit_of(&self, plane: usize) -> usize {
        plane / self.planes_per_unit()
    }

    pub fn planes_per_unit(&self) -> usize {
        self.planes / self.units
    }
}

fn percent(percent: u32, of: usize) -> usize {
    percent as usize * of / 100
}
