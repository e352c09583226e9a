//! Cleaning of an element: its beginning, its victims and its cost.

use super::flash::{Flash, NoFreeBlock, State};

/// Result of a cleaning.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(super) struct Cleaning {
    /// Time for which the element is busy, in nanoseconds.
    pub cost_ns: u64,
    pub blocks: u64,
    pub pages_moved: u64,
    /// Invalid pages that were erased, without summaries.
    pub gained: u64,
}

impl Flash {
    /// Cleans if too few blocks are free.
    pub fn clean_if_low(&mut self) -> Result<Option<Cleaning>, NoFreeBlock> {
        if self.rules.copy_back { self.clean_planes() } else { self.clean_element() }
    }

    /// Cleans one block of one plane of each parallel unit, all at the same time.
    fn clean_planes(&mut self) -> Result<Option<Cleaning>, NoFreeBlock> {
        let mut together: Option<Cleaning> = None;
        for unit in 0..self.layout.units {
            let Some(plane) = self.next_low_plane(unit) else { continue };
            let victim = self.victim(plane);
            let one = self.clean_block(victim)?;
            let sum = together.get_or_insert_default();
            sum.cost_ns = sum.cost_ns.max(one.cost_ns);
            sum.blocks += one.blocks;
            sum.pages_moved += one.pages_moved;
            sum.gained += one.gained;
        }
        Ok(together)
    }

    /// The next plane of `unit` with too few free blocks. The following search begins after it.
    pub fn next_low_plane(&mut self, unit: usize) -> Option<usize> {
        let low = self.layout.low(&self.rules);
        let planes = self.layout.planes_per_unit();
        let first = self.plane_to_clean[unit];
        let found = (first..first + planes)
            .map(|place| place % planes)
            .find(|place| self.spaces[unit * planes + place].free <= low)?;
        self.plane_to_clean[unit] = (found + 1) % planes;
        Some(unit * planes + found)
    }

    /// The sealed block of `plane` with the fewest valid pages; of equals the one with
    /// the highest number.
    fn victim(&self, plane: usize) -> usize {
        (0..self.layout.blocks_per_plane)
            .map(|index| self.layout.block(plane, index))
            .filter(|number| self.blocks[*number].state == State::Sealed)
            .min_by_key(|number| (self.blocks[*number].valid, usize::MAX - number))
            .expect("where few blocks are free, some are sealed")
    }

    /// Cleans blocks of the whole element one after the other, until one more is free than the
    /// limit at which cleaning begins. The order is fixed at the beginning, by valid pages and
    /// number. Blocks that are not sealed at their turn are left out; those that cleaning itself
    /// has sealed by then are not.
    fn clean_element(&mut self) -> Result<Option<Cleaning>, NoFreeBlock> {
        let low = self.layout.low(&self.rules);
        if self.spaces[0].free > low {
            return Ok(None);
        }
        let mut turns: Vec<usize> = (0..self.layout.blocks()).collect();
        turns.sort_by_key(|number| (self.blocks[*number].valid, *number));

        let mut sum = Cleaning::default();
        for victim in turns {
            if self.spaces[0].free > low + 1 {
                break;
            }
            if self.blocks[victim].state == State::Sealed {
                let one = self.clean_block(victim)?;
                sum.cost_ns += one.cost_ns;
                sum.blocks += one.blocks;
                sum.pages_moved += one.pages_moved;
                sum.gained += one.gained;
            }
        }
        Ok(Some(sum))
    }

    /// Moves the valid pages of `victim` to the active block and erases it.
    fn clean_block(&mut self, victim: usize) -> Result<Cleaning, NoFreeBlock> {
        let space = self.space_of(victim);
        let pages = self.valid_pages(victim);
        let mut cost_ns = self.rules.erase_ns;
        for page in &pages {
            cost_ns += self.rules.read_ns + self.program(*page, space)?;
            let home = self.places[*page].block;
            if self.layout.plane_of(home) != self.layout.plane_of(victim) {
                // Out over the pins, and in again.
                cost_ns += 2 * self.rules.transfer_ns;
            }
        }
        self.erase(victim);
        let pages_moved = pages.len() as u64;
        let gained = self.layout.data_pages as u64 - pages_moved;
        Ok(Cleaning { cost_ns, blocks: 1, pages_moved, gained })
    }
}
