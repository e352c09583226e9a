//! Content of one element, and the writing of a page to it.

use super::layout::Layout;
use super::rules::{Refused, Rules};

/// Place of a page.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Place {
    pub block: usize,
    pub page: usize,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum State {
    Free,
    Open,
    /// All data pages and the summary are written.
    Sealed,
}

#[derive(Clone, Debug)]
pub(super) struct Block {
    pub state: State,
    /// The page that each data page was written with, in order, since the last erase.
    pub written: Vec<u32>,
    /// Number of these pages that are current.
    pub valid: usize,
    /// Blocks are numbered in the order in which they are opened, from 1. Kept through
    /// an erase until the block is opened again.
    pub sequence: u64,
}

/// Blocks that share an active block: a plane with copy-back, the element without.
#[derive(Clone, Debug)]
pub(super) struct Space {
    /// The block that is written to.
    pub active: usize,
    /// The page of it that is written next. If that is the summary, another block has to be
    /// opened first; the active block is then sealed, or even erased.
    pub next: usize,
    /// Blocks that count as free ([`Layout::free_at_start`]).
    pub free: usize,
    /// Start of the search for the next block to open: the block's position in the order of
    /// planes and of indices in them, from the first block of the space.
    pub search_from: usize,
}

/// Error: a block is to be opened and none is free.
#[derive(Debug)]
pub(super) struct NoFreeBlock;

/// One element.
#[derive(Clone, Debug)]
pub(super) struct Flash {
    pub rules: Rules,
    pub layout: Layout,
    /// Place of each page of the element.
    pub places: Vec<Place>,
    /// By number.
    pub blocks: Vec<Block>,
    pub spaces: Vec<Space>,
    /// The sequence number that was given last.
    pub sequence: u64,
    /// The plane that is tried first if a page may go to any.
    pub plane_to_write: usize,
    /// The plane of each parallel unit that is examined first for cleaning.
    pub plane_to_clean: Vec<usize>,
}

impl Flash {
    /// A logically full element: data is in the exported blocks, by number, and the reserve is
    /// free except for the active blocks.
    pub fn new(rules: &Rules) -> Result<Self, Refused> {
        let layout = Layout::new(rules)?;
        let free = Block { state: State::Free, written: Vec::new(), valid: 0, sequence: 0 };
        let mut flash = Self {
            rules: *rules,
            layout,
            places: Vec::with_capacity(layout.exported_pages()),
            blocks: vec![free; layout.blocks()],
            spaces: Vec::new(),
            sequence: 0,
            plane_to_write: 0,
            plane_to_clean: vec![0; layout.units],
        };
        let is_exported = |block: &usize| layout.index_of(*block) < layout.exported_per_plane();
        for number in (0..layout.blocks()).filter(is_exported) {
            flash.fill(number);
        }
        for space in 0..layout.blocks() / layout.blocks_per_space(rules) {
            // Without copy-back there is one space, which begins with plane 0.
            let active = layout.block(space, layout.exported_per_plane());
            flash.take(active);
            let free = layout.free_at_start(rules);
            flash.spaces.push(Space { active, next: 0, free, search_from: 0 });
        }
        Ok(flash)
    }

    /// Fills block `number` with the first pages that are not placed yet.
    fn fill(&mut self, number: usize) {
        self.take(number);
        let block = &mut self.blocks[number];
        for page in 0..self.layout.data_pages {
            block.written.push(self.places.len() as u32);
            self.places.push(Place { block: number, page });
        }
        block.valid = self.layout.data_pages;
        block.state = State::Sealed;
    }

    /// Opens block `number`, which is free.
    fn take(&mut self, number: usize) {
        self.sequence += 1;
        let block = &mut self.blocks[number];
        assert_eq!(block.state, State::Free, "a block is opened when it is free");
        block.state = State::Open;
        block.sequence = self.sequence;
    }

    /// Space of `block`.
    pub fn space_of(&self, block: usize) -> usize {
        if self.rules.copy_back { self.layout.plane_of(block) } else { 0 }
    }

    /// The block at `offset` of `space`, in the order in which they are searched.
    pub fn block_in_space(&self, space: usize, offset: usize) -> usize {
        let order = space * self.layout.blocks_per_space(&self.rules) + offset;
        let per_plane = self.layout.blocks_per_plane;
        self.layout.block(order / per_plane, order % per_plane)
    }

    /// Makes the next free block of `space` its active block.
    fn open(&mut self, space: usize) -> Result<(), NoFreeBlock> {
        let blocks = self.layout.blocks_per_space(&self.rules);
        let first = self.spaces[space].search_from;
        let offset = (first..first + blocks)
            .map(|offset| offset % blocks)
            .find(|offset| self.blocks[self.block_in_space(space, *offset)].state == State::Free)
            .ok_or(NoFreeBlock)?;
        let active = self.block_in_space(space, offset);
        self.take(active);
        let free = self.spaces[space].free - 1;
        self.spaces[space] = Space { active, next: 0, free, search_from: (offset + 1) % blocks };
        Ok(())
    }

    /// Writes a new version of `page` to the active block of `space`; opens a block first if the
    /// active one is full. Returns the time of programming in nanoseconds: the last data page of
    /// a block is followed by its summary.
    pub fn program(&mut self, page: usize, space: usize) -> Result<u64, NoFreeBlock> {
        if self.spaces[space].next == self.layout.data_pages {
            self.open(space)?;
        }
        let old = self.places[page];
        self.blocks[old.block].valid -= 1;

        let Space { active, next, .. } = &mut self.spaces[space];
        let block = &mut self.blocks[*active];
        assert_eq!(block.written.len(), *next, "pages are written in order");
        block.written.push(page as u32);
        block.valid += 1;
        self.places[page] = Place { block: *active, page: *next };
        *next += 1;
        if *next < self.layout.data_pages {
            return Ok(self.rules.program_ns);
        }
        block.state = State::Sealed;
        Ok(2 * self.rules.program_ns + self.rules.summary_transfer_ns)
    }

    /// Erases block `number`, which has no current page.
    pub fn erase(&mut self, number: usize) {
        let block = &mut self.blocks[number];
        assert_eq!(
            (block.state, block.valid),
            (State::Sealed, 0),
            "only invalid blocks are erased"
        );
        block.state = State::Free;
        block.written.clear();
        let space = self.space_of(number);
        self.spaces[space].free += 1;
    }

    /// The pages that are current in block `number`, in order of place.
    pub fn valid_pages(&self, number: usize) -> Vec<usize> {
        let is_current = |(place, stored): &(usize, &u32)| {
            self.places[**stored as usize] == Place { block: number, page: *place }
        };
        let written = self.blocks[number].written.iter().enumerate();
        written.filter(is_current).map(|(_, stored)| *stored as usize).collect()
    }
}
