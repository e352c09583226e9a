//! Audit of an element: its counts against its content.

use super::flash::{Flash, State};

impl Flash {
    /// Recounts everything.
    ///
    /// # Panics
    /// If a count is wrong, or a page is not at its recorded place.
    pub fn audit(&self) {
        self.audit_pages();
        for (number, block) in self.blocks.iter().enumerate() {
            let (stored, data_pages) = (block.written.len(), self.layout.data_pages);
            let is_active = self.spaces[self.space_of(number)].active == number;
            match block.state {
                State::Free => assert_eq!(stored, 0, "free block {number} is empty"),
                State::Open => assert!(
                    is_active && stored < data_pages,
                    "open block {number} is active and has room"
                ),
                State::Sealed => assert_eq!(stored, data_pages, "sealed block {number} is full"),
            }
            assert!(block.sequence <= self.sequence, "block {number} was opened");
        }
        (0..self.spaces.len()).for_each(|space| self.audit_space(space));
    }

    /// Checks that each page lies in one place, and that the counts of blocks are right.
    fn audit_pages(&self) {
        for (page, place) in self.places.iter().enumerate() {
            let stored = self.blocks[place.block].written.get(place.page);
            assert_eq!(stored.copied(), Some(page as u32), "page {page} is where it is mapped");
        }
        for (number, block) in self.blocks.iter().enumerate() {
            assert_eq!(block.valid, self.valid_pages(number).len(), "valid pages of {number}");
        }
        let valid: usize = self.blocks.iter().map(|block| block.valid).sum();
        assert_eq!(valid, self.places.len(), "each page is valid once");
    }

    fn audit_space(&self, number: usize) {
        let space = &self.spaces[number];
        let block = &self.blocks[space.active];
        match block.state {
            State::Open => assert_eq!(space.next, block.written.len(), "the next page is free"),
            State::Sealed | State::Free => {
                assert_eq!(space.next, self.layout.data_pages, "space {number} has to open");
            }
        }
        let blocks = self.layout.blocks_per_space(&self.rules);
        let is_free =
            |offset: &usize| self.blocks[self.block_in_space(number, *offset)].state == State::Free;
        let free = (0..blocks).filter(is_free).count();
        // See `Layout::free_at_start`.
        let counted_too_many = usize::from(!self.rules.copy_back);
        assert_eq!(space.free, free + counted_too_many, "free blocks of space {number}");
    }
}
